"""The PTX stage keeps the promises that every stage keeps."""

from __future__ import annotations

import corpus
from irdiff.testing import StageContract
from ptx.ptx_samples import STAGE


class TestPtx(StageContract):
    stage = STAGE
    samples = (
        *corpus.entry("3.6.0", "sm_90", "vector_add_kernel").glob("*.ptx"),
        *corpus.entry("3.1.0", "sm_90", "vector_add_kernel").glob("*.ptx"),
        *corpus.entry("3.9.0", "sm_100", "tma_matmul_kernel").glob("*.ptx"),
        *corpus.entry("3.6.0", "sm_90", "locked_sum_kernel").glob("*.ptx"),
    )
    damaged = 240
