"""Findings that somebody accepted, and acceptances that accept nothing any more."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import date

import msgspec

from irdiff.model.facts import FactSpec, Value
from irdiff.model.gate import Acceptance, Finding, Stale
from irdiff.model.words import value_words


def with_fingerprints(findings: Sequence[Finding], specializations: Sequence[str] = ()) -> list[Finding]:
    """The findings, each with a name that later runs give it too: values, paths and lines are no part of it.

    ``specializations`` says of each which one of its kernel it is about (see ``Subjects``); those that nothing tells
    apart are told apart by their order.
    """
    prints = _fingerprints(findings, specializations or [""] * len(findings))
    return [
        msgspec.structs.replace(finding, fingerprint=digest)
        for finding, digest in zip(findings, prints, strict=True)
    ]


def _fingerprints(findings: Sequence[Finding], specializations: Sequence[str]) -> list[str]:
    seen: Counter[tuple[str, ...]] = Counter()
    prints = []
    for finding, specialization in zip(findings, specializations, strict=True):
        key: tuple[str, ...] = (
            finding.rule,
            finding.kernel,
            finding.target or "",
            finding.fact or "",
            finding.scope,
        )
        if specialization:
            key = (*key, specialization)
        text = "\0".join((*key, str(seen[key])))
        seen[key] += 1
        prints.append(hashlib.sha256(text.encode()).hexdigest()[:32])
    return prints


def words_of(value: Value | None, fact: str | None, specs: Mapping[str, FactSpec]) -> str:
    """A value of a finding as an acceptance writes it down; empty for a finding that rests on no value.

    Keys are sorted: artifacts and baselines name them in orders of their own.
    """
    if value is None:
        return ""
    if isinstance(value, dict):
        value = dict(sorted(value.items()))
    spec = specs.get(fact or "")
    return value_words(value, spec.unit if spec is not None else "")


def accept(
    findings: Sequence[Finding],
    accepted: Sequence[Acceptance],
    specs: Mapping[str, FactSpec],
    today: date,
    compared: Collection[str],
) -> tuple[list[Finding], list[Stale]]:
    """The findings, those accepted with by whom and why; and the acceptances that accepted nothing, with why.

    An acceptance holds for one finding with its values before and after: a number that moved further is not accepted,
    nor is what another specialization of the kernel does under the same fingerprint. Those of kernels that are not in
    ``compared`` (names) are left alone. Files written before fingerprints held the specialization are still read:
    theirs are found by the order in which specializations of a kernel come.
    """
    valid: dict[str, Acceptance] = {}
    stale: list[Stale] = []
    for each in accepted:
        if _expired(each, today):
            stale.append(_stale(each, f"expired {each.expires}"))
        else:
            valid[each.fingerprint] = each
    used: set[str] = set()
    result = []
    by_order = _fingerprints(findings, [""] * len(findings))
    for finding, earlier in zip(findings, by_order, strict=True):
        acceptance = valid.get(finding.fingerprint) or valid.get(earlier)
        if acceptance is None:
            result.append(finding)
            continue
        used.add(acceptance.fingerprint)
        other = _difference(acceptance, finding, specs)
        if other is None:
            result.append(msgspec.structs.replace(finding, accepted=_who(acceptance)))
        else:
            stale.append(_stale(acceptance, f"no longer matches: {other}"))
            result.append(finding)
    stale += [
        _stale(each, "no longer matches: nothing is found there any more")
        for fingerprint, each in valid.items()
        if fingerprint not in used and each.kernel in compared
    ]
    return result, sorted(stale, key=lambda each: (each.kernel, each.rule, each.target or "", each.why))


def _difference(acceptance: Acceptance, finding: Finding, specs: Mapping[str, FactSpec]) -> str | None:
    """What was accepted and what is found now, where they are not the same.

    A fingerprint alone does not say so: specializations that nothing recorded tells apart have their order in it, and
    a file can be edited.
    """
    before = words_of(finding.before, finding.fact, specs)
    after = words_of(finding.after, finding.fact, specs)
    for what, accepted, now in (
        ("rule ", acceptance.rule, finding.rule),
        ("kernel ", acceptance.kernel, finding.kernel),
        ("target ", acceptance.target, finding.target),
        ("", acceptance.after, after),
        ("from ", acceptance.before, before),
    ):
        if accepted != now:
            return f"{what}{accepted or 'none'} accepted, now {what}{now or 'none'}"
    return None


def _expired(acceptance: Acceptance, today: date) -> bool:
    """Whether its last day is over; one whose date cannot be read accepts nothing."""
    if acceptance.expires is None:
        return False
    try:
        return date.fromisoformat(acceptance.expires) < today
    except ValueError:
        return True


def _who(acceptance: Acceptance) -> str:
    until = f", until {acceptance.expires}" if acceptance.expires else ""
    return f"{acceptance.reason} ({acceptance.owner}{until})"


def _stale(acceptance: Acceptance, why: str) -> Stale:
    return Stale(
        rule=acceptance.rule,
        kernel=acceptance.kernel,
        why=why,
        owner=acceptance.owner,
        target=acceptance.target,
    )
