"""The LLVM IR stage keeps the promises that every stage keeps."""

from __future__ import annotations

import corpus
from irdiff.testing import StageContract
from llir.llir_samples import STAGE


class TestLlir(StageContract):
    stage = STAGE
    samples = (
        *corpus.entry("3.6.0", "sm_90", "vector_add_kernel").glob("*.llir"),
        *corpus.entry("3.1.0", "sm_90", "vector_add_kernel").glob("*.llir"),
        *corpus.entry("3.9.0", "gfx942", "vector_add_kernel").glob("*.llir"),
        *corpus.entry("3.6.0", "sm_90", "locked_sum_kernel").glob("*.llir"),
    )
    damaged = 240
