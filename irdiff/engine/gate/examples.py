"""A rule's examples as kernels: a pair that is there in facts alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from irdiff.engine.compare import Comparer, Side
from irdiff.engine.gate.judge import Gate
from irdiff.engine.kernels import Kernel, Reading
from irdiff.engine.summarize import Reader
from irdiff.model.bundle import Artifact, Bundle, Target
from irdiff.model.facts import Fact, Scope
from irdiff.model.issues import Issue
from irdiff.model.policy import Policy
from irdiff.model.report import Report
from irdiff.model.rules import RuleExample
from irdiff.model.summary import Coverage, Summary
from irdiff.model.tools import Tool, ToolResult
from irdiff.registry import Registry

NAME = "kernel"


class NoTools:
    """A toolbox in which nothing is found."""

    def find(self, tool_id: str) -> tuple[Tool, ...]:  # noqa: ARG002  # the protocol names it
        """No copy of any tool."""
        return ()

    def run(self, tool: Tool, arguments: Sequence[str], *, timeout: float) -> ToolResult:
        """Never called, since nothing is found."""
        raise NotImplementedError


def judge_example(example: RuleExample, registry: Registry, policy: Policy | None = None) -> Report:
    """The report on an example, judged by every rule at its default. Raises ValueError for a fact there is not."""
    gate = Gate(registry, policy or Policy())
    before = _kernel(example, registry, side=0)
    after = () if example.gone else (_kernel(example, registry, side=1),)
    reader = Reader(registry, NoTools(), canonical=True)
    report = Comparer(registry, reader, each=gate.each).compare(
        Side(described="before", kernels=(before,)), Side(described="after", kernels=after)
    )
    return gate.judged(report, today=date.max)


def _kernel(example: RuleExample, registry: Registry, *, side: int) -> Kernel:
    stages: dict[str, list[Fact]] = {}
    derived: list[Fact] = []
    known = {stage.id for stage in registry.stages}
    for name, value in (example.before, example.after)[side].items():
        fact_id, _, scope = (part.strip() for part in name.partition("@"))
        if fact_id not in registry.facts:
            raise ValueError(f"no fact is called {fact_id!r}")
        stage_id = fact_id.partition(".")[0]
        fact = Fact(id=fact_id, value=value, scope=scope)
        (stages.setdefault(stage_id, []) if stage_id in known else derived).append(fact)
    unreadable = example.unreadable if side else ()
    last = [stage.id for stage in registry.stages if stage.machine_code][-1:]
    if derived and not stages.keys() & set(last):
        stages |= {stage_id: [] for stage_id in last}  # what is computed from stages differs where they do
    readings = {
        stage.id: _reading(
            registry, stage.id, stages.get(stage.id, ()), example, side, broken=stage.id in unreadable
        )
        for stage in registry.stages
        if stage.id in stages or stage.id in unreadable
    }
    failed = example.failed[side]
    trouble = Issue(
        severity="error", code="compilation-failed", message="did not compile: an error", where=NAME
    )
    return Kernel(
        bundle=Bundle(
            name=NAME,
            path=NAME,
            layout="failed" if failed else "cache",
            target=Target(backend="any", arch="1"),
            artifacts={stage_id: _artifact(stage_id) for stage_id in readings},
            issues=(trouble,) if failed else (),
        ),
        target="any:1",
        readings=readings,
        derived=tuple(derived),
        issues=(trouble,) if failed else (),
    )


def _reading(
    registry: Registry, stage_id: str, facts: Sequence[Fact], example: RuleExample, side: int, *, broken: bool
) -> Reading:
    stage = registry.stage(stage_id)
    assert stage is not None
    sha256 = f"{stage_id} {side}"
    if broken:
        issue = Issue(severity="error", code="unreadable", message="cut off", stage=stage_id, where=NAME)
        return Reading(stage=stage, sha256=sha256, summary=None, issues=(issue,))
    scopes = {fact.scope for fact in facts if fact.scope} | set(example.trips)
    summary = Summary(
        facts=tuple(facts),
        scopes=tuple(
            Scope(id=scope, trip_count=example.trips.get(scope, (None, None))[side])
            for scope in sorted(scopes)
        ),
        coverage=Coverage(understood=1, total=1),
    )
    names = {name for facts in (example.before, example.after) for name in facts}
    same = all(
        example.before.get(name) == example.after.get(name)
        for name in names
        if name.startswith(f"{stage_id}.")
        or (stage.machine_code and registry.stage(name.partition(".")[0]) is None)
    )
    return Reading(
        stage=stage, sha256=sha256, summary=summary, canonical=stage_id if same else sha256, recorded=True
    )


def _artifact(stage_id: str) -> Artifact:
    return Artifact.of_bytes(b"", stage=stage_id, suffix=f".{stage_id}", location=NAME)
