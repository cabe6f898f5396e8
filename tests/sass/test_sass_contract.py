"""The stages of machine code keep the promises that every stage keeps."""

from __future__ import annotations

import msgspec

import corpus
from irdiff.testing import DeterminismContract, StageContract, TruncationContract
from irdiff_sass.plugin import STAGE
from irdiff_sass.ptxas_stage import PTXAS


class TestCubin(StageContract, TruncationContract, DeterminismContract):
    stage = STAGE
    plugin = "irdiff_sass.plugin"
    prefixes = 40
    samples = (
        *corpus.entry("3.6.0", "sm_90", "vector_add_kernel").glob("*.cubin"),
        *corpus.entry("3.1.0", "sm_80", "matmul_kernel").glob("*.cubin"),
        *corpus.entry("3.9.0", "sm_100", "tma_matmul_kernel").glob("*.cubin"),
        corpus.FIXTURES / "ptxas/layer_norm_sm90_24.cubin",
        corpus.FIXTURES / "ptxas/many_live_sm90_32_cuda124.cubin",
    )
    damaged = 240

    def test_lines_of_damaged_line_tables_are_read_or_left_out(self) -> None:
        """As for the summary: nothing but ParseError leaves it."""
        import random

        from irdiff.api import ParseError
        from irdiff.damage import damage, time_limit

        assert STAGE.source_lines is not None
        chance = random.Random(11)
        for number in range(240):
            path = self.samples[number % len(self.samples)]
            how, broken = damage(path.read_bytes(), chance)
            with time_limit(self.seconds, f"{path.name}, {how}"):
                try:
                    found = STAGE.source_lines(self._artifact(broken, str(path)), self._context(broken))
                except ParseError:
                    continue
                assert all(where.rpartition(":")[2].isdecimal() for where in found.values())


class TestSassText(StageContract, TruncationContract):
    stage = msgspec.structs.replace(STAGE, suffixes=(".sass",), prepare=None)
    samples = tuple(corpus.FIXTURES.glob("dumps/triton-3.6.0/*/*.sass"))
    damaged = 120


class TestPtxasLog(StageContract, TruncationContract, DeterminismContract):
    stage = PTXAS
    plugin = "irdiff_sass.plugin"
    samples = tuple(sorted((corpus.FIXTURES / "ptxas/logs").glob("*.log")))
    damaged = 240
