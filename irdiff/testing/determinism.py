"""DeterminismContract: two processes with other hash seeds say the same, to the byte."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import ClassVar

import msgspec

from irdiff.errors import ParseError
from irdiff.model.bundle import Artifact
from irdiff.model.specs import Context, StageSpec
from irdiff.testing.reading import NoTools, StageReading

_SECONDS = 120.0
_RUN = "from irdiff.testing.determinism import answer; answer()"


class DeterminismContract(StageReading):
    """Beside StageContract: what depends on the order of a set shows only in another process."""

    plugin: ClassVar[str]
    """The module that a new process finds the stage in, by its hook ``irdiff_stages``: ``irdiff_ptx.plugin``."""

    def test_two_processes_say_the_same(self) -> None:
        """Summaries and canonical forms, encoded, are equal under two hash seeds, without tools."""
        assert self.samples, "samples is empty: nothing would be tested"
        names = [name for name, _ in self._contents()]
        first, second = (self._answers(seed) for seed in ("1", "20240"))
        assert len(first) == len(second) == len(names), "a process did not answer for every sample"
        for name, one, other in zip(names, first, second, strict=True):
            assert one == other, f"{name}: the answer depends on the process: {one[:200]} or {other[:200]}"

    def _answers(self, seed: str) -> list[str]:
        """One line for each sample from a process with that hash seed."""
        question = [
            self.plugin,
            self.stage.id,
            *(base64.b64encode(data).decode() for _, data in self._contents()),
        ]
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        done = subprocess.run(  # noqa: S603  # this Python, with code written above
            [sys.executable, "-c", _RUN],
            input=msgspec.json.encode(question),
            capture_output=True,
            env=environment,
            timeout=_SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")[-2000:]
        return msgspec.json.decode(done.stdout, type=list[str])


def answer() -> None:
    """In the new process: read the question from standard input, write the answers."""
    plugin, stage_id, *samples = msgspec.json.decode(sys.stdin.buffer.read(), type=list[str])
    stages: Sequence[StageSpec] = import_module(plugin).irdiff_stages()
    (stage,) = (stage for stage in stages if stage.id == stage_id)
    answers = []
    for sample in samples:
        data = base64.b64decode(sample)
        artifact = Artifact.of_bytes(data, stage=stage.id, suffix=stage.suffixes[0], location="sample")
        prepared = stage.prepare([artifact], NoTools()).get(artifact.sha256) if stage.prepare else None
        context = Context(tools=NoTools(), prepared=prepared)
        try:
            made = stage.summarize(artifact, context), stage.canonical(artifact, context)
        except ParseError as error:
            answers.append(f"ParseError: {error}")
            continue
        answers.append(msgspec.json.encode(made).decode())
    sys.stdout.buffer.write(msgspec.json.encode(answers))
