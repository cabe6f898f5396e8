"""MLIR that the tests of this folder read, and short ways to read it."""

from __future__ import annotations

from pathlib import Path

import corpus
from irdiff.api import Artifact, Canonical, Context, Fact, Summary
from irdiff.model.facts import Value
from irdiff.testing import NoTools
from irdiff_ttgir.plugin import irdiff_stages as ttgir_stages
from irdiff_ttir.plugin import irdiff_stages as ttir_stages

SOURCE, TTIR = ttir_stages()
(TTGIR,) = ttgir_stages()
STAGES = {stage.suffixes[0]: stage for stage in (SOURCE, TTIR, TTGIR)}
SUFFIXES = tuple(STAGES)


def artifact(text: str | bytes) -> Artifact:
    return Artifact.of_bytes(text.encode() if isinstance(text, str) else text)


def context(*switched_off: str) -> Context:
    return Context(tools=NoTools(), switched_off=frozenset(switched_off))


def summary_of(text: str | bytes, suffix: str = ".ttgir") -> Summary:
    return STAGES[suffix].summarize(artifact(text), context())


def canonical_of(text: str | bytes, *switched_off: str) -> Canonical:
    return TTGIR.canonical(artifact(text), context(*switched_off))


def facts_of(summary: Summary, scope: str = "") -> dict[str, Value]:
    return {fact.id: fact.value for fact in summary.facts if fact.scope == scope}


def fact_of(summary: Summary, fact_id: str, scope: str = "") -> Fact:
    (found,) = (fact for fact in summary.facts if (fact.id, fact.scope) == (fact_id, scope))
    return found


def file_of(release: str, target: str, kernel: str, suffix: str, specialization: str | None = None) -> Path:
    (found,) = corpus.entry(release, target, kernel, specialization).glob(f"*{suffix}")
    return found


def kernel(body: str, *, head: str = "%p: !tt.ptr<f32>, %n: i32, %c: i1") -> str:
    """A whole file around the body of a kernel."""
    lines = "\n".join(f"    {line}" for line in body.strip("\n").splitlines())
    return f"module {{\n  tt.func public @k({head}) {{\n{lines}\n    tt.return\n  }}\n}}\n"
