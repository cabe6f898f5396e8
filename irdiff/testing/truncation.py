"""TruncationContract: a file that was cut off is never taken for the whole."""

from __future__ import annotations

from typing import ClassVar

from irdiff.damage import time_limit
from irdiff.errors import ParseError
from irdiff.model.facts import Value
from irdiff.model.summary import Canonical, Summary
from irdiff.testing.contract import check_coverage, check_places
from irdiff.testing.reading import StageReading


class TruncationContract(StageReading):
    """Beside StageContract: every sample cut at its line borders (a binary one at bytes), evenly chosen."""

    prefixes: ClassVar[int] = 24
    """Cuts read of each sample; a sample with fewer lines is cut at every one of them."""

    def test_a_prefix_is_read_for_what_it_holds(self) -> None:
        """It ends in a summary or a ParseError, and no fact rests on what was cut off."""
        for name, data, cut in self._cuts():
            prefix = data[:cut]
            with time_limit(self.seconds, name):
                try:
                    summary = self._summarize(prefix, name)
                except ParseError:
                    continue
                except Exception as error:
                    raise AssertionError(
                        f"{name}: {type(error).__name__} leaves the parser: {error}"
                    ) from error
                check_coverage(name, summary)
                for fact in summary.facts:
                    check_places(name, prefix, self._spec(name, fact), fact)

    def test_a_prefix_does_not_pass_for_the_whole(self) -> None:
        """What was cut off is told, or shows in the canonical form, or means nothing in any fact either."""
        whole: dict[bytes, tuple[Canonical, Summary]] = {}
        for name, data, cut in self._cuts():
            if data not in whole:
                whole[data] = self._canonical(data, name), self._summarize(data, name)
            try:
                summary, form = self._summarize(data[:cut], name), self._canonical(data[:cut], name)
            except ParseError:
                continue
            form_of_all, summary_of_all = whole[data]
            told = len(summary.issues) > len(summary_of_all.issues) or summary.degraded
            if told or form.lines != form_of_all.lines:
                continue
            moved = _moved(self._meant(summary), self._meant(summary_of_all))
            assert not moved, f"{name}: its canonical form is the whole file's, and {moved[0]} is another"

    def _cuts(self) -> list[tuple[str, bytes, int]]:
        """(label, content, length of the prefix), evenly over each sample."""
        found = []
        for name, data in self._contents():
            borders = range(len(data)) if b"\0" in data else _borders(data)
            step = max(1, -(-len(borders) // self.prefixes))
            found += [(f"{name}, first {cut} bytes", data, cut) for cut in borders[::step]]
        assert found, "samples is empty: nothing would be tested"
        return found

    def _meant(self, summary: Summary) -> dict[tuple[str, str], Value]:
        """The facts that can be part of a verdict."""
        provenance = {spec.id for spec in self.stage.facts if spec.provenance}
        return {(fact.id, fact.scope): fact.value for fact in summary.facts if fact.id not in provenance}


def _borders(data: bytes) -> list[int]:
    """Where lines begin: 0, and behind each newline but the last byte."""
    return [0, *(place + 1 for place in range(len(data) - 1) if data[place : place + 1] == b"\n")]


def _moved(one: dict[tuple[str, str], Value], other: dict[tuple[str, str], Value]) -> list[str]:
    return sorted(key[0] for key in one.keys() | other.keys() if one.get(key) != other.get(key))
