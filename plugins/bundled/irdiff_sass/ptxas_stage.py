"""The stage ``ptxas``: what the assembler said while it made the cubin, where its log was kept."""

from __future__ import annotations

from collections.abc import Sequence

from irdiff.api import (
    Artifact,
    Canonical,
    Context,
    Coverage,
    Fact,
    FactSpec,
    Issue,
    Normalization,
    StageSpec,
    Summary,
)
from irdiff_sass.ptxas_log import Line, note_key, parts, read_lines

SUFFIX = ".ptxas-log"
SERIALIZED = "wgmma.mma_async instructions are serialized"
UNKNOWN_SHOWN = 50

_LOG = "Source: the log of `ptxas -v`, CUDA 12.4 to 13.5."


def _resource(
    name: str, title: str, kind: str, unit: str, doc: str, repeats: str, role: str | None = None
) -> FactSpec:
    return FactSpec(
        id=f"ptxas.{name}",
        title=title,
        kind=kind,
        unit=unit,
        better="neutral" if kind == "count" else "lower",
        role=role,
        repeats=repeats,
        group="resources",
        doc=f"{doc} {_LOG}",
    )


FACTS = (
    _resource(
        "registers",
        "registers per thread, as ptxas says",
        "quantity",
        "registers",
        "`Used N registers`; the largest of several kernels.",
        "sass.registers",
        "registers",
    ),
    _resource(
        "stack",
        "stack per thread, as ptxas says",
        "quantity",
        "B",
        "Cumulative stack size where it is given, else the kernel's own frame.",
        "sass.stack",
        "stack",
    ),
    _resource(
        "spill_store_bytes",
        "spill stores per thread, as ptxas says",
        "quantity",
        "B",
        "Of the kernel and the functions it calls.",
        "sass.spill_store_bytes",
        "spills",
    ),
    _resource(
        "spill_load_bytes",
        "spill loads per thread, as ptxas says",
        "quantity",
        "B",
        "Of the kernel and the functions it calls.",
        "sass.spill_load_bytes",
        "spills",
    ),
    _resource(
        "barriers",
        "named barriers, as ptxas says",
        "count",
        "barriers",
        "`used N barriers`; 12.4 does not say it.",
        "sass.named_barriers",
    ),
    FactSpec(
        id="ptxas.notes",
        title="notes of ptxas",
        kind="tally",
        unit="notes",
        better="lower",
        group="notes",
        doc="Notes with a code and warnings, without kernel names and line numbers: `C7514` and `C7515` say that wgmma "
        f"is serialized, `C7517` and `C7519` that a wait or an arrive was put in. {_LOG}",
    ),
    FactSpec(
        id="ptxas.wgmma_serialized",
        title="wgmma is serialized",
        kind="flag",
        better="lower",
        group="notes",
        doc="Whether a note says that wgmma.mma_async instructions run one after the other: each waits for the one "
        f"before, and the tensor cores idle. {_LOG}",
    ),
)

NORMALIZATIONS = (
    Normalization(id="compile-times", title="compile times", doc="`Compile time = ...` is dropped."),
    Normalization(
        id="assembler-name",
        title="name of the assembler",
        doc="`ptxas info` and `ptxas-blackwell info` are one.",
    ),
    Normalization(id="kernel-names", title="names of kernels", doc="Names of functions are dropped."),
    Normalization(id="log-lines", title="line numbers", doc="Lines of the PTX in notes are dropped."),
    Normalization(
        id="other-output",
        title="other output",
        doc="Lines that are not ptxas's, and its global memory, are dropped.",
    ),
)


def summarize(artifact: Artifact, context: Context) -> Summary:
    """What the log says. Raises ParseError where it is none of ptxas."""
    lines = context.once("ptxas", lambda: read_lines(artifact.read()))
    unknown = [(line.number, line.text[:200]) for line in lines if line.kind == "?"]
    entries = [line for line in lines if line.kind == "entry"]
    issues = [
        Issue(
            severity="error", code="assembler-error", message=line.text[:400], stage="ptxas", line=line.number
        )
        for line in lines
        if line.kind == "error"
    ]
    if len(entries) > 1:
        names = ", ".join(str(line.kernel) for line in entries[:8])
        issues.append(
            Issue(
                severity="note",
                code="several-kernels",
                message=f"the log speaks of {len(entries)} kernels ({names}): registers, stack and barriers are the "
                "largest of them, spills their sums",
                stage="ptxas",
            )
        )
    return Summary(
        facts=tuple(_facts(lines)),
        coverage=Coverage(
            understood=len(lines) - len(unknown), total=len(lines), unknown=tuple(unknown[:UNKNOWN_SHOWN])
        ),
        issues=tuple(issues),
    )


def _facts(lines: Sequence[Line]) -> list[Fact]:
    used = [line for line in lines if line.kind == "used"]
    frames = [line for line in lines if line.kind == "frame"]
    facts: list[Fact] = []
    if used:
        facts.append(_largest("ptxas.registers", [(line.values[0], line.number) for line in used]))
        if all(line.values[1] >= 0 for line in used):
            facts.append(_largest("ptxas.barriers", [(line.values[1], line.number) for line in used]))
    if frames:
        stacks = [(line.values[0], line.number) for line in frames]
        stacks += [(line.values[2], line.number) for line in used if line.values[2] >= 0]
        facts.append(_largest("ptxas.stack", stacks))
        places = tuple(line.number for line in frames)
        for index, name in ((1, "store"), (2, "load")):
            total = sum(line.values[index] for line in frames)
            facts.append(Fact(id=f"ptxas.spill_{name}_bytes", value=total, evidence={"": places}))
    if used or frames:
        facts += _notes(lines)
    return facts


def _notes(lines: Sequence[Line]) -> list[Fact]:
    notes: dict[str, list[int]] = {}
    for line in lines:
        if line.kind in ("note", "warning"):
            notes.setdefault(note_key(line.text), []).append(line.number)
    serialized = tuple(line.number for line in lines if line.kind == "note" and SERIALIZED in line.text)
    return [
        Fact(
            id="ptxas.notes",
            value={key: len(notes[key]) for key in sorted(notes)},
            evidence={key: tuple(notes[key]) for key in sorted(notes)},
        ),
        Fact(
            id="ptxas.wgmma_serialized",
            value=bool(serialized),
            evidence={"": serialized} if serialized else {},
        ),
    ]


def _largest(fact_id: str, found: Sequence[tuple[int, int]]) -> Fact:
    value, place = max(found)
    return Fact(id=fact_id, value=value, evidence={"": (place,)})


def canonical(artifact: Artifact, context: Context) -> Canonical:
    """What the log says of the code, line by line. Raises ParseError as ``summarize`` does."""
    from irdiff_sass.executed import digest

    data = artifact.read()
    lines = context.once("ptxas", lambda: read_lines(data))
    numbers = {line.number for line in lines}
    texts = data.decode("utf-8", "replace").split("\n")
    taken: dict[str, list[str]] = {rule.id: [] for rule in NORMALIZATIONS}
    kept: list[tuple[int, str]] = []
    for line in lines:
        text = line.text
        if line.kind in ("time", "memory"):
            rule = "compile-times" if line.kind == "time" else "other-output"
            taken[rule].append(text)
            if not context.normalizes(rule):
                kept.append((line.number, text))
            continue
        if line.kernel is not None and context.normalizes("kernel-names"):
            taken["kernel-names"].append(line.kernel)
            text = text.replace(f"'{line.kernel}'", "'K'")
            text = "Function properties for K" if line.kind == "properties" else text
        if line.kind in ("note", "warning") and context.normalizes("log-lines"):
            taken["log-lines"].append(text)
            text = note_key(text)
        kept.append((line.number, text))
    names = [texts[number - 1].partition(":")[0].split()[:1] for number in sorted(numbers)]
    taken["assembler-name"] = sorted({name[0] for name in names if name and "ptxas" in name[0]})
    other = [(number, text) for number, text in enumerate(texts, 1) if number not in numbers]
    taken["other-output"] += [text for _, text in other]
    if not context.normalizes("other-output"):
        kept += [(number, text) for number, text in other if text.strip()]
    if not context.normalizes("assembler-name"):
        kept += [(1, name) for name in taken["assembler-name"]]
    kept.sort()
    return Canonical.of(
        (text for _, text in kept),
        places=(number for number, _ in kept),
        erased={rule: digest(found) for rule, found in taken.items() if context.normalizes(rule)},
    )


PTXAS = StageSpec(
    id="ptxas",
    title="assembler's log",
    suffixes=(SUFFIX,),
    facts=FACTS,
    summarize=summarize,
    canonical=canonical,
    after=("ptx", "sass"),
    normalizations=NORMALIZATIONS,
    pipeline=False,
    parts=parts,
)
