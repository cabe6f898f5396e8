"""Report: what a comparison or a look at some kernels found. Its JSON form is the published schema."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from irdiff.model.facts import FactSpec, Value
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

    method: Annotated[str, Meta(description="entry, specialization, ir, nearest or name")]
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


class KernelRef(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel on one side only."""

    name: str
    path: str
    target: str | None = None


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


class Show(msgspec.Struct, frozen=True, kw_only=True):
    """What ``irdiff show --format json`` prints."""

    schema: str = SHOW_SCHEMA
    kernels: tuple[ShownKernel, ...]
    issues: tuple[Issue, ...] = ()
