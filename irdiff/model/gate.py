"""The gate: what rules found, what could not be judged, and what was accepted. Part of the published report."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import Meta

from irdiff.model.facts import Value

Level: TypeAlias = Literal["error", "warn", "off"]
Told: TypeAlias = Literal["error", "warn"]


class Tolerance(msgspec.Struct, frozen=True, kw_only=True):
    """How far a number may move before a rule fires; either allowance is enough."""

    absolute: Annotated[float, Meta(ge=0, description="in the unit of the fact")] = 0.0
    percent: Annotated[float, Meta(ge=0, description="of the value before")] = 0.0


class RuleTold(msgspec.Struct, frozen=True, kw_only=True):
    """A rule as it was applied: a saved report is rendered where its plugin is not installed."""

    title: str
    level: Annotated[Level, Meta(description="as the policy sets it for all kernels")]
    default: Annotated[Level, Meta(description="as its plugin sets it; `off` for none")] = "off"
    why: str = ""
    judged: Annotated[int, Meta(ge=0, description="kernels that it could judge")] = 0
    not_applicable: Annotated[int, Meta(ge=0, description="kernels that do not record what it judges")] = 0


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One rule that fired on one kernel."""

    rule: str
    level: Told
    message: Annotated[str, Meta(description="numbers in words: `0 → 288 B, in loop0`")]
    kernel: str
    path: Annotated[str, Meta(description="of the entry after; of the one before where there is none after")]
    target: str | None = None
    fact: Annotated[str | None, Meta(description="fact id; null where the rule judges no fact")] = None
    scope: Annotated[str, Meta(description="`loop0`; empty for the whole kernel")] = ""
    before: Value | None = None
    after: Value | None = None
    source: Annotated[str | None, Meta(description="file.py:line of the user's Python, where known")] = None
    decided: Annotated[
        str, Meta(description="which setting gave the level: `default`, `irdiff.toml: [check.rules]`")
    ] = "default"
    fingerprint: Annotated[
        str,
        Meta(description="stable over runs and lines: rule, kernel, target, specialization, fact and scope"),
    ] = ""
    accepted: Annotated[
        str | None, Meta(description="reason and owner, where the change was accepted; then nothing fails")
    ] = None


class Silenced(msgspec.Struct, frozen=True, kw_only=True):
    """A rule that would have fired and did not: within a tolerance, an estimate, switched off, not selected."""

    rule: str
    kernel: str
    target: str | None = None
    message: str
    why: Annotated[str, Meta(description="`within the tolerance of 10 % (default)`")]


class Unjudged(msgspec.Struct, frozen=True, kw_only=True):
    """Something that had to be judged and could not be: never a pass (bit 2)."""

    code: Annotated[
        str, Meta(description="the issue's code: `missing-stage`, `plugin-skipped`, `not-decoded`")
    ]
    message: str
    kernel: Annotated[str | None, Meta(description="null for the input as a whole")] = None
    path: str | None = None
    stage: str | None = None
    rules: Annotated[tuple[str, ...], Meta(description="codes of the rules that needed it")] = ()
    hint: str | None = None


class Acceptance(msgspec.Struct, frozen=True, kw_only=True):
    """A change that somebody accepted: kept in a file beside the baseline, reviewed like code."""

    rule: str
    kernel: str
    fingerprint: Annotated[str, Meta(description="as Finding.fingerprint")]
    before: Annotated[str, Meta(description="the value before, in words, when it was accepted")]
    after: Annotated[str, Meta(description="the value accepted, in words: another one is not accepted")]
    reason: str
    owner: str
    expires: Annotated[str | None, Meta(description="ISO date; the day itself is still accepted")] = None
    target: str | None = None


class Stale(msgspec.Struct, frozen=True, kw_only=True):
    """An acceptance that accepts nothing any more."""

    rule: str
    kernel: str
    why: Annotated[
        str, Meta(description="`expired 2026-01-31`, `no longer matches: 288 B accepted, now 512 B`")
    ]
    owner: str = ""
    target: str | None = None


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate decided. Exit code: bit 1 where ``failed``, bit 2 where ``unsure``."""

    failed: Annotated[bool, Meta(description="a rule of level error fired and was not accepted")]
    unsure: Annotated[bool, Meta(description="something could not be judged")]
    findings: Annotated[tuple[Finding, ...], Meta(description="errors first, then by rule and kernel")] = ()
    unjudged: tuple[Unjudged, ...] = ()
    silenced: tuple[Silenced, ...] = ()
    stale: tuple[Stale, ...] = ()
    rules: Annotated[dict[str, RuleTold], Meta(description="every rule there is, by code")] = {}
    policy: Annotated[str | None, Meta(description="file of the policy, as the user would name it")] = None
