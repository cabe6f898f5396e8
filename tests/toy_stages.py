"""Two made-up stages and a registry, so that the engine is tested without any real stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from irdiff.api import (
    Artifact,
    Bundle,
    Canonical,
    Context,
    Coverage,
    Fact,
    FactSpec,
    Normalization,
    ParseError,
    RuleSpec,
    StageSpec,
    Summary,
    Target,
    Tool,
    ToolResult,
)
from irdiff.engine.compare import Comparer, Side
from irdiff.engine.summarize import Reader
from irdiff.model.kinds import standard_kinds
from irdiff.model.report import Report
from irdiff.registry import Registry


class NoTools:
    """A toolbox in which nothing is found."""

    def find(self, tool_id: str) -> tuple[Tool, ...]:
        return ()

    def run(self, tool: Tool, arguments: Sequence[str], *, timeout: float) -> ToolResult:
        raise AssertionError("nothing was found that could be run")


def _lines(artifact: Artifact) -> list[str]:
    try:
        text = artifact.read().decode()
    except UnicodeDecodeError as error:
        raise ParseError("not UTF-8", offset=error.start) from None
    if text.startswith("BROKEN"):
        raise ParseError("cut off", line=1, hint="compile it again")
    if text.startswith("BUG"):
        raise ZeroDivisionError("a plugin's own mistake")
    return text.splitlines()


def _summarize(artifact: Artifact, context: Context) -> Summary:
    lines = _lines(artifact)
    stage = artifact.stage
    values = {"adds": 0, "spills": 0}
    known = 0
    for line in lines:
        word = line.partition(" ")[0]
        if word in {"add", "spill", "#", ""}:
            known += 1
        if word == "add":
            values["adds"] += 1
        if word == "spill":
            values["spills"] += 1
    places = {"": tuple(range(1, len(lines) + 1))}
    facts = tuple(Fact(id=f"{stage}.{name}", value=value, evidence=places) for name, value in values.items())
    return Summary(facts=facts, coverage=Coverage(understood=known, total=len(lines)))


def _canonical(artifact: Artifact, context: Context) -> Canonical:
    lines, places, comments = [], [], []
    for number, line in enumerate(_lines(artifact), 1):
        if line.startswith("#") and context.normalizes("comments"):
            comments.append(line)
            continue
        lines.append(line)
        places.append(number)
    return Canonical.of(lines, places=places, erased={"comments": "\n".join(comments)})


def stage(stage_id: str, *, after: tuple[str, ...] = (), machine_code: bool = False) -> StageSpec:
    """A stage of lines: ``add ...``, ``spill ...``, ``# comment``; BROKEN and BUG make it fail."""
    return StageSpec(
        id=stage_id,
        title=f"stage {stage_id}",
        suffixes=(f".{stage_id}",),
        facts=(
            FactSpec(id=f"{stage_id}.adds", title=f"{stage_id} additions", kind="count"),
            FactSpec(
                id=f"{stage_id}.spills",
                title=f"{stage_id} spills",
                kind="count",
                better="lower",
                role="spills",
            ),
        ),
        summarize=_summarize,
        canonical=_canonical,
        after=after,
        produced_by=f"the {stage_id} passes",
        normalizations=(Normalization(id="comments", title="comments"),),
        expected=lambda entry: entry.layout == "cache",
        minimum_coverage=0.5,
        machine_code=machine_code,
    )


def registry(*stages: StageSpec, **changes: object) -> Registry:
    """A registry of the two toy stages, or of those given."""
    chosen = stages or (stage("one"), stage("two", after=("one",), machine_code=True))
    fields: dict[str, object] = {
        "stages": chosen,
        "facts": {fact.id: fact for made in chosen for fact in made.facts},
        "derived": (),
        "sources": (),
        "tools": (),
        "kinds": standard_kinds(),
        "rules": (
            RuleSpec(
                code="RES101",
                title="spills grow",
                level="error",
                role="spills",
                fires=lambda change: isinstance(change.delta, int) and change.delta > 0,
            ),
        ),
        "renderers": (),
        "explainers": (),
        "plugins": (),
        "problems": (),
        "owners": {},
    }
    return Registry(**{**fields, **changes})  # type: ignore[arg-type]


def bundle(
    name: str = "kernel",
    *,
    target: str = "90",
    path: str = "entry",
    layout: str = "cache",
    **texts: str | bytes,
) -> Bundle:
    """A bundle whose artifacts are the keyword arguments: ``one="add x"``."""
    data: Mapping[str, bytes] = {
        key: value.encode() if isinstance(value, str) else value for key, value in texts.items()
    }
    return Bundle(
        name=name,
        path=path,
        layout=layout,  # type: ignore[arg-type]
        target=Target(backend="cuda", arch=target),
        artifacts={
            key: Artifact.of_bytes(value, stage=key, suffix=f".{key}", location=f"{path}/{name}.{key}")
            for key, value in data.items()
        },
    )


def compare(
    before: Sequence[Bundle], after: Sequence[Bundle], using: Registry | None = None, **options: object
) -> Report:
    """Read and compare two lists of bundles."""
    chosen = using or registry()
    reader = Reader(chosen, NoTools(), canonical=True, **options)  # type: ignore[arg-type]
    kernels_before, kernels_after = reader.read_both(before, after)
    return Comparer(chosen, reader).compare(
        Side(described="before", kernels=tuple(kernels_before)),
        Side(described="after", kernels=tuple(kernels_after)),
    )
