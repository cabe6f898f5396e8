"""The MLIR stages keep the promises that every stage keeps."""

from __future__ import annotations

from pathlib import Path

from irdiff.testing import (
    DeterminismContract,
    Edit,
    EditContract,
    GoldenContract,
    StageContract,
    TruncationContract,
)
from kit_edits import edits_of, respelling
from mlir.mlir_samples import SOURCE, TTGIR, TTIR, file_of
from mlir.test_mlir_canonical import SPELLINGS
from mutation import mlir_kinds, ttgir_kinds

GOLDEN = Path(__file__).parent / "golden"
KERNELS = ("vector_add_kernel", "matmul_kernel", "softmax_kernel", "locked_sum_kernel")
QUOTED = ("addresses", "arguments", "loops", "masks")
"""Facts that show the names of the kernel's arguments, which are the user's own."""


def respellings(stage: str) -> tuple[Edit, ...]:
    quoted = tuple(f"{stage}.{fact}" for fact in QUOTED)
    return tuple(
        respelling(name, spell, quoted)
        for name, spell in SPELLINGS.items()
        if name != "attribute-aliases" or stage == "ttgir"
    )


class TestSource(StageContract, TruncationContract, DeterminismContract, GoldenContract):
    stage = SOURCE
    samples = (
        file_of("3.6.0", "sm_90", "vector_add_kernel", ".source"),
        file_of("3.9.0", "sm_90", "tma_matmul_kernel", ".source"),
    )
    plugin = "irdiff_ttir.plugin"
    goldens = GOLDEN / "source"


class TestTtir(StageContract, TruncationContract, DeterminismContract):
    stage = TTIR
    samples = (
        file_of("3.1.0", "sm_90", "vector_add_kernel", ".ttir"),
        file_of("3.6.0", "sm_90", "locked_sum_kernel", ".ttir"),
        file_of("3.9.0", "sm_90", "tma_matmul_kernel", ".ttir"),
    )
    plugin = "irdiff_ttir.plugin"


class TestTtirEdits(EditContract):
    stage = TTIR
    samples = tuple(file_of("3.6.0", "sm_90", kernel, ".ttir") for kernel in KERNELS)
    draws = 1
    edits = edits_of("ttir", mlir_kinds.SHARED)
    respellings = respellings("ttir")


class TestTtgir(StageContract, TruncationContract, DeterminismContract):
    stage = TTGIR
    samples = (
        file_of("3.1.0", "sm_90", "vector_add_kernel", ".ttgir"),
        file_of("3.3.1", "gfx942", "matmul_kernel", ".ttgir"),
        file_of("3.6.0", "sm_90", "locked_sum_kernel", ".ttgir"),
        file_of("3.9.0", "sm_100", "tma_matmul_kernel", ".ttgir"),
    )
    plugin = "irdiff_ttgir.plugin"
    damaged = 120


class TestTtgirEdits(EditContract):
    """Without the element type, which the edit may change where no tensor is made: the suite of mutants counts that."""

    stage = TTGIR
    samples = (
        *(file_of("3.6.0", "sm_90", kernel, ".ttgir") for kernel in KERNELS),
        file_of("3.6.0", "sm_80", "matmul_kernel", ".ttgir"),
        file_of("3.6.0", "sm_90", "tma_matmul_kernel", ".ttgir"),
    )
    draws = 1
    edits = edits_of("ttgir", (kind for kind in ttgir_kinds.KINDS if kind.name != "element type"))
    respellings = respellings("ttgir")


class TestTtirGolden(GoldenContract):
    stage = TTIR
    samples = (file_of("3.6.0", "sm_90", "locked_sum_kernel", ".ttir"),)
    goldens = GOLDEN / "ttir"


class TestTtgirGolden(GoldenContract):
    stage = TTGIR
    samples = (file_of("3.6.0", "sm_90", "locked_sum_kernel", ".ttgir"),)
    goldens = GOLDEN / "ttgir"
