"""Made-up kernels of two toy stages, compared and judged inside this process."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any

import toy_stages
from irdiff.api import Bundle, Judgement
from irdiff.engine.compare import Comparer, Side
from irdiff.engine.gate.acceptance import words_of
from irdiff.engine.gate.judge import Gate
from irdiff.engine.summarize import Reader
from irdiff.model.gate import Acceptance, Finding
from irdiff.model.policy import Policy
from irdiff.model.report import Report
from irdiff.registry import Registry
from toy_stages import bundle, registry

TODAY = date(2026, 6, 1)
CLEAN, SPILLS = {"one": "add x", "two": "add x"}, {"one": "add x", "two": "add x\nspill x\nspill y"}


def gated(
    before: Bundle | Iterable[Bundle],
    after: Bundle | Iterable[Bundle],
    policy: Policy | None = None,
    using: Registry | None = None,
    accepted: Iterable[Acceptance] = (),
) -> Report:
    """Two sides, compared and judged."""
    chosen = using or registry()
    gate = Gate(chosen, policy or Policy())
    reader = Reader(chosen, toy_stages.NoTools(), canonical=True)
    sides = [[side] if isinstance(side, Bundle) else list(side) for side in (before, after)]
    read = reader.read_both(*sides)
    report = Comparer(chosen, reader, each=gate.each).compare(
        *(Side(described=name, kernels=tuple(kernels)) for name, kernels in zip("ab", read, strict=True))
    )
    return gate.judged(report, accepted=tuple(accepted), today=TODAY)


def judgement(report: Report) -> Judgement:
    assert isinstance(report.judgement, Judgement)
    return report.judgement


def spilling(policy: Policy | None = None, **more: Any) -> Judgement:
    return judgement(gated(bundle(**CLEAN), bundle(**SPILLS), policy, **more))


def acceptance(finding: Finding, **changes: Any) -> Acceptance:
    fields: dict[str, Any] = {
        "rule": finding.rule,
        "kernel": finding.kernel,
        "fingerprint": finding.fingerprint,
        "before": words_of(finding.before, None, {}),
        "after": words_of(finding.after, None, {}),
        "reason": "larger tile",
        "owner": "somebody",
        "target": finding.target,
    }
    return Acceptance(**{**fields, **changes})
