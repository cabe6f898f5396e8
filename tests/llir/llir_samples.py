"""LLVM IR that the tests of this folder read, and short ways to read it."""

from __future__ import annotations

from pathlib import Path

import corpus
from irdiff.api import Artifact, Canonical, Context, Summary
from irdiff.model.facts import Value
from irdiff.testing import NoTools
from irdiff_llir.plugin import irdiff_stages

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
    (path,) = corpus.entry(release, target, kernel, specialization).glob("*.llir")
    return path.read_text()


def every_fixture() -> list[Path]:
    return corpus.artifacts(".llir")


def kernel(body: str, *, tail: str = "") -> str:
    """A whole LLVM IR file around some instructions."""
    return (
        "define ptx_kernel void @k(ptr addrspace(1) %0, i32 %1, float %2) local_unnamed_addr #0 {\n"
        f'{body}\n  ret void\n}}\n\nattributes #0 = {{ nounwind "nvvm.reqntid"="128" }}\n{tail}'
    )
