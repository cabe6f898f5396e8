"""PTX that the tests of this folder read, and short ways to read it."""

from __future__ import annotations

from pathlib import Path

import corpus
from irdiff.api import Artifact, Canonical, Context, Summary
from irdiff.model.facts import Value
from irdiff.testing import NoTools
from irdiff_ptx.plugin import irdiff_stages

(STAGE,) = irdiff_stages()


def summary_of(text: str | bytes) -> Summary:
    data = text.encode() if isinstance(text, str) else text
    return STAGE.summarize(Artifact.of_bytes(data), Context(tools=NoTools()))


def canonical_of(text: str | bytes, *switched_off: str) -> Canonical:
    data = text.encode() if isinstance(text, str) else text
    return STAGE.canonical(
        Artifact.of_bytes(data), Context(tools=NoTools(), switched_off=frozenset(switched_off))
    )


def facts_of(summary: Summary, scope: str = "") -> dict[str, Value]:
    return {fact.id: fact.value for fact in summary.facts if fact.scope == scope}


def fixture(release: str, target: str, kernel: str, specialization: str | None = None) -> str:
    (path,) = corpus.entry(release, target, kernel, specialization).glob("*.ptx")
    return path.read_text()


def every_fixture() -> list[Path]:
    return corpus.artifacts(".ptx")


def kernel(body: str, *, head: str = ".version 8.7\n.target sm_90a\n.address_size 64\n") -> str:
    """A whole PTX file around some instructions; registers are declared in plenty."""
    return (
        f"{head}\n.visible .entry k(\n\t.param .u64 .ptr .global .align 1 k_param_0,\n\t.param .u32 k_param_1\n)\n"
        ".reqntid 128\n{\n\t.reg .pred \t%p<9>;\n\t.reg .b16 \t%rs<9>;\n\t.reg .b32 \t%r<40>;\n\t.reg .b64 \t%rd<9>;\n"
        f"{body}\n\tret;\n}}\n"
    )
