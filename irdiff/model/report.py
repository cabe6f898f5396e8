"""Report: what a comparison or a look at some kernels found. Its JSON form is the published schema."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from irdiff.model.facts import FactSpec, Place, Value
from irdiff.model.gate import Judgement
from irdiff.model.issues import Issue

REPORT_SCHEMA = "irdiff-report/1"
SHOW_SCHEMA = "irdiff-show/1"

Sameness: TypeAlias = Literal["identical", "equivalent", "changed", "missing", "unreadable"]
Status: TypeAlias = Literal["identical", "equivalent", "changed", "incomplete"]
Direction: TypeAlias = Literal["better", "worse", "mixed", "neutral"]
MachineCode: TypeAlias = Literal["identical", "equivalent", "changed", "unknown"]
Effect: TypeAlias = Literal["better", "worse", "neutral", "incomparable", "unexplained"]


class Pairing(msgspec.Struct, frozen=True, kw_only=True):
    """How two kernels were found to be the same one."""

    method: Annotated[str, Meta(description="only, entry, specialization, ir, nearest or name")]
    confidence: Annotated[float, Meta(ge=0, le=1, description="1 where the match cannot be another")]


class StageReport(msgspec.Struct, frozen=True, kw_only=True):
    """One stage of one pair."""

    sameness: Sameness
    reasons: Annotated[
        tuple[str, ...],
        Meta(description="why bytes differ though nothing changed, or why it was not compared"),
    ] = ()


class FirstDivergence(msgspec.Struct, frozen=True, kw_only=True):
    """Where a change begins."""

    stage: Annotated[str, Meta(description="first stage whose canonical form differs")]
    fact_stage: Annotated[str | None, Meta(description="first stage whose facts differ")]
    cause: Annotated[str | None, Meta(description="likely cause, in words; null where the data does not say")]


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One fact that moved, or one stage that moved and no fact with it."""

    fact: Annotated[
        str, Meta(description="fact id; for an unexplained change the stage id and `.unexplained`")
    ]
    scope: Annotated[str, Meta(description="kernel name, or kernel name and loop: `matmul_kernel/loop0`")]
    before: Annotated[Value | None, Meta(description="null where it is not known")]
    after: Value | None
    delta: Value | None
    effect: Effect
    evidence_before: Annotated[tuple[int, ...], Meta(description="places in the artifact before")] = ()
    evidence_after: tuple[int, ...] = ()
    source: Annotated[str | None, Meta(description="file.py:line of the user's Python, where known")] = None
    rules: Annotated[tuple[str, ...], Meta(description="codes of the rules it fires")] = ()
    trips: Annotated[
        int | msgspec.UnsetType,
        Meta(description="how often the loop of the scope runs for one start of the kernel, where constant"),
    ] = msgspec.UNSET
    limits: Annotated[
        tuple[str, str] | None,
        Meta(description="what keeps the value from being better, before and after, where known: registers"),
    ] = None


class HunkLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line of a hunk."""

    mark: Annotated[Literal[" ", "-", "+"], Meta(description="` ` on both sides, `-` before, `+` after")]
    text: Annotated[str, Meta(description="the canonical line with the names that the artifact uses")]
    canonical: str
    place_before: Annotated[int | None, Meta(description="line or address; null where it has none")] = None
    place_after: int | None = None
    written: Annotated[str | None, Meta(description="the artifact's own line, where there is one")] = None


class Hunk(msgspec.Struct, frozen=True, kw_only=True):
    """Lines that differ, with the lines around them."""

    scope: Annotated[str, Meta(description="function, loop and block: `matmul_kernel/loop0/b3`")]
    before: Annotated[
        tuple[int, int] | None, Meta(description="first and last place that differs; null for none")
    ]
    after: tuple[int, int] | None
    size: Annotated[int, Meta(ge=1, description="lines that differ, counted on the longer side")]
    source: Annotated[str | None, Meta(description="path:line of the user's Python, where known")] = None
    note: Annotated[
        str, Meta(description="said instead of the lines: the same instructions in another order")
    ] = ""
    lines: tuple[HunkLine, ...] = ()


class StageHunks(msgspec.Struct, frozen=True, kw_only=True):
    """Where the canonical forms of one stage differ."""

    stage: str
    place: Annotated[Place, Meta(description="what the places of the hunks count")]
    hunks: tuple[Hunk, ...] = ()
    more: Annotated[int, Meta(description="smaller hunks left out")] = 0
    missing: Annotated[str | None, Meta(description="why there are none, where they could not be made")] = (
        None
    )


class KernelReport(msgspec.Struct, frozen=True, kw_only=True):
    """One pair of kernels."""

    name: str
    name_after: Annotated[str | None, Meta(description="set where it is another name")] = None
    path_before: str
    path_after: str
    target: Annotated[str | None, Meta(description="`cuda:90`, or `before -> after`")] = None
    pairing: Pairing
    status: Status
    direction: Direction | None
    machine_code: MachineCode
    first_divergence: FirstDivergence | None
    stages: dict[str, StageReport]
    changes: tuple[Change, ...] = ()
    provenance: Annotated[
        dict[str, Value], Meta(description="provenance facts that differ: fact id to delta")
    ] = {}
    issues: tuple[Issue, ...] = ()
    hunks: Annotated[
        StageHunks | msgspec.UnsetType, Meta(description="lines of one stage, where asked for with --ir")
    ] = msgspec.UNSET


class KernelRef(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel on one side only."""

    name: str
    path: str
    target: str | None = None
    specialization: Annotated[
        str, Meta(description="of a kernel that is gone, by check alone: digest of what it was compiled for")
    ] = ""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything one comparison found."""

    schema: str = REPORT_SCHEMA
    before: str
    """The input as the user named it."""
    after: str
    verdict: Status
    direction: Direction | None
    kernels: tuple[KernelReport, ...]
    added: tuple[KernelRef, ...] = ()
    removed: tuple[KernelRef, ...] = ()
    issues: tuple[Issue, ...] = ()
    facts: Annotated[dict[str, FactSpec], Meta(description="the declarations of the facts in `changes`")] = {}
    stages: Annotated[
        dict[str, str], Meta(description="stage id to title, in the order of the compiler")
    ] = {}
    steps: Annotated[
        tuple[str, ...], Meta(description="the stages that are steps of the compiler, in order")
    ] = ()
    stages_compared: Annotated[
        tuple[str, str] | None,
        Meta(description="set where two stages of one dialect are compared with each other: before, after"),
    ] = None
    times: Annotated[
        dict[str, float] | msgspec.UnsetType,
        Meta(description="kernel name to its share of the time, 0 to 1, where given with --weights"),
    ] = msgspec.UNSET
    judgement: Annotated[
        Judgement | msgspec.UnsetType, Meta(description="what the gate decided; set by check alone")
    ] = msgspec.UNSET

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes of all kernels, in their order."""
        return tuple(change for kernel in self.kernels for change in kernel.changes)


class LoopInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A loop of one stage."""

    trip_count: int | None
    first: int
    last: int


class ShownStage(msgspec.Struct, frozen=True, kw_only=True):
    """One stage of one kernel."""

    sha256: str | None
    coverage: Annotated[
        float | None, Meta(description="share understood, 0 to 1; null where nothing was read")
    ]
    issues: tuple[Issue, ...]
    degraded: str | None
    file: str | None = None
    loops: dict[str, LoopInfo] = {}
    unknown: Annotated[
        tuple[tuple[int, str], ...], Meta(description="place and text of what was not understood, at most 50")
    ] = ()


class ShownKernel(msgspec.Struct, frozen=True, kw_only=True):
    """All facts of one kernel."""

    name: str
    path: str
    target: str | None
    facts: dict[str, Value]
    scopes: dict[str, dict[str, Value]]
    stages: dict[str, ShownStage]
    road: Annotated[
        dict[str, dict[str, dict[str, int]]],
        Meta(description="action (copy, dot, ...) to stage to operation to how many"),
    ] = {}
    evidence: Annotated[
        dict[str, dict[str, tuple[int, ...]]], Meta(description="fact id to key to places; with --evidence")
    ] = {}
    issues: tuple[Issue, ...] = ()


class Specialization(msgspec.Struct, frozen=True, kw_only=True):
    """What it does to the machine code that one kernel was compiled for several kinds of one argument."""

    kernel: str
    target: str | None
    argument: str
    values: Annotated[
        tuple[str, ...],
        Meta(description="what it was compiled for: `i32, tt.divisibility = 16`; empty for none"),
    ]
    entries: Annotated[int, Meta(ge=2, description="entries that differ in this argument alone")]
    codes: Annotated[int, Meta(ge=1, description="different machine codes among them")]
    buys_nothing: Annotated[
        bool, Meta(description="whether every value of the argument gives the same machine codes")
    ]


class Show(msgspec.Struct, frozen=True, kw_only=True):
    """What ``irdiff show --format json`` prints."""

    schema: str = SHOW_SCHEMA
    kernels: tuple[ShownKernel, ...]
    issues: tuple[Issue, ...] = ()
    specializations: Annotated[
        tuple[Specialization, ...],
        Meta(description="arguments in which entries of one kernel differ, and what that does"),
    ] = ()
