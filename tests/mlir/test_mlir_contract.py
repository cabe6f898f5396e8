"""The MLIR stages keep the promises that every stage keeps."""

from __future__ import annotations

from irdiff.testing import StageContract
from mlir.mlir_samples import SOURCE, TTGIR, TTIR, file_of


class TestSource(StageContract):
    stage = SOURCE
    samples = (
        file_of("3.6.0", "sm_90", "vector_add_kernel", ".source"),
        file_of("3.9.0", "sm_90", "tma_matmul_kernel", ".source"),
    )


class TestTtir(StageContract):
    stage = TTIR
    samples = (
        file_of("3.1.0", "sm_90", "vector_add_kernel", ".ttir"),
        file_of("3.6.0", "sm_90", "locked_sum_kernel", ".ttir"),
        file_of("3.9.0", "sm_90", "tma_matmul_kernel", ".ttir"),
    )


class TestTtgir(StageContract):
    stage = TTGIR
    samples = (
        file_of("3.1.0", "sm_90", "vector_add_kernel", ".ttgir"),
        file_of("3.3.1", "gfx942", "matmul_kernel", ".ttgir"),
        file_of("3.6.0", "sm_90", "locked_sum_kernel", ".ttgir"),
        file_of("3.9.0", "sm_100", "tma_matmul_kernel", ".ttgir"),
    )
    damaged = 120
