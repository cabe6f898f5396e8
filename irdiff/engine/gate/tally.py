"""How often each rule could judge, and the rules as they were applied, for the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from irdiff.engine.gate.policy import Decider
from irdiff.model.gate import Level, RuleTold
from irdiff.model.policy import Policy
from irdiff.model.rules import RuleSpec


class Tally:
    """Counts for each rule the kernels that it judged and those that do not record what it judges."""

    def __init__(self, policy: Policy, rules: Sequence[RuleSpec]) -> None:
        self._policy = policy
        self._rules = rules
        self._for_all = Decider(msgspec.structs.replace(policy, overrides=()), rules)
        self._judged: Counter[str] = Counter()
        self._passed_over: Counter[str] = Counter()

    def count(self, code: str, *, judged: bool) -> None:
        """One kernel more."""
        (self._judged if judged else self._passed_over)[code] += 1

    def level(self, code: str) -> Level:
        """The level for all kernels: overrides for some are left out."""
        return self._for_all.level(code, "", None)[0]

    def told(self) -> dict[str, RuleTold]:
        """Every rule and every expectation, by code."""
        return dict(sorted(self._each()))

    def _each(self) -> Iterator[tuple[str, RuleTold]]:
        for rule in self._rules:
            yield (
                rule.code,
                RuleTold(
                    title=rule.title,
                    level=self.level(rule.code),
                    default=rule.level,
                    why=rule.why,
                    judged=self._judged[rule.code],
                    not_applicable=self._passed_over[rule.code],
                ),
            )
        for own in self._policy.expectations:
            yield (
                own.code,
                RuleTold(
                    title=own.title or own.text,
                    level=self.level(own.code),
                    judged=self._judged[own.code],
                    not_applicable=self._passed_over[own.code],
                ),
            )
