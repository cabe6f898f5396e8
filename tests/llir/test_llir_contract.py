"""The LLVM IR stage keeps the promises that every stage keeps."""

from __future__ import annotations

from pathlib import Path

import corpus
from irdiff.testing import (
    DeterminismContract,
    EditContract,
    GoldenContract,
    StageContract,
    TruncationContract,
)
from kit_edits import edits_of, respellings_of
from llir import llir_edits
from llir.llir_samples import STAGE
from mutation import llir_kinds

SAMPLES = (
    *corpus.entry("3.6.0", "sm_90", "vector_add_kernel").glob("*.llir"),
    *corpus.entry("3.1.0", "sm_90", "vector_add_kernel").glob("*.llir"),
    *corpus.entry("3.9.0", "gfx942", "vector_add_kernel").glob("*.llir"),
    *corpus.entry("3.6.0", "sm_90", "locked_sum_kernel").glob("*.llir"),
)


class TestLlir(StageContract, TruncationContract, DeterminismContract):
    stage = STAGE
    samples = SAMPLES
    plugin = "irdiff_llir.plugin"
    damaged = 240


class TestLlirEdits(EditContract):
    stage = STAGE
    samples = (*SAMPLES, *corpus.entry("3.3.1", "sm_80", "matmul_kernel").glob("*.llir"))
    edits = edits_of("llir", llir_kinds.KINDS)
    respellings = respellings_of(llir_edits.HARMLESS)


class TestLlirGolden(GoldenContract):
    stage = STAGE
    samples = SAMPLES[-1:]
    goldens = Path(__file__).parent / "golden"
