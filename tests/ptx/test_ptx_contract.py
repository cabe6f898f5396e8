"""The PTX stage keeps the promises that every stage keeps."""

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
from mutation import ptx_kinds
from ptx import ptx_edits
from ptx.ptx_samples import STAGE

SAMPLES = (
    *corpus.entry("3.6.0", "sm_90", "vector_add_kernel").glob("*.ptx"),
    *corpus.entry("3.1.0", "sm_90", "vector_add_kernel").glob("*.ptx"),
    *corpus.entry("3.9.0", "sm_100", "tma_matmul_kernel").glob("*.ptx"),
    *corpus.entry("3.6.0", "sm_90", "locked_sum_kernel").glob("*.ptx"),
)


class TestPtx(StageContract, TruncationContract, DeterminismContract):
    stage = STAGE
    samples = SAMPLES
    plugin = "irdiff_ptx.plugin"
    damaged = 240


class TestPtxEdits(EditContract):
    stage = STAGE
    samples = (*SAMPLES, *corpus.entry("3.6.0", "sm_80", "matmul_kernel").glob("*.ptx"))
    edits = edits_of("ptx", ptx_kinds.KINDS)
    respellings = respellings_of(ptx_edits.HARMLESS)


class TestPtxGolden(GoldenContract):
    stage = STAGE
    samples = SAMPLES[-1:]
    goldens = Path(__file__).parent / "golden"
