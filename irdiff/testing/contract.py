"""StageContract: the promises every stage keeps."""

from __future__ import annotations

import random
import re
from typing import ClassVar

import msgspec

from irdiff.damage import damage, time_limit
from irdiff.errors import ParseError
from irdiff.model.facts import Fact, FactSpec
from irdiff.model.summary import Canonical, Summary
from irdiff.plugin_checks import Contributions, check
from irdiff.testing.reading import StageReading

_SCOPE = re.compile(r"[a-z][a-z_]*[0-9]+(?:/[a-z][a-z_]*[0-9]+)*")
_MOST_UNKNOWN = 50
_FIRST_PLACE = {"line": 1, "byte": 0, "address": 0}


class StageContract(StageReading):
    """Subclass it with a name that pytest collects; set ``stage`` and ``samples``, and more where needed."""

    damaged: ClassVar[int] = 60
    """Damaged copies read in all, spread over the samples."""
    evident: ClassVar[tuple[str, ...]] = ("count", "tally")
    """Kinds of values each of which must rest on places; a tally rests on them key by key."""

    def test_there_are_samples(self) -> None:
        """Without samples nothing below would be tested."""
        assert self.samples, "samples is empty: nothing would be tested"

    def test_the_specification_would_be_loaded(self) -> None:
        """Ids, suffixes, kinds, roles and titles are such that the host accepts them; facts are documented."""
        check(Contributions(stages=(self.stage,)), self.stage.id)
        known = self._kinds()
        for spec in self.stage.facts:
            assert spec.kind in known, f"{spec.id} is of kind {spec.kind}, which nobody registers"
            assert spec.doc.strip(), f"{spec.id} has no doc: say exactly what it means, and the source"
        ids = [spec.id for spec in self.stage.facts]
        assert len(ids) == len(set(ids)), "a fact id is declared twice"

    def test_samples_are_understood(self) -> None:
        """Real artifacts reach the stage's own ``minimum_coverage``."""
        for name, _, summary in self._summaries():
            ratio = summary.coverage.ratio
            least = self.stage.minimum_coverage
            assert ratio >= least, f"{name}: coverage {ratio:.3f} is below minimum_coverage {least}"

    def test_facts_are_declared_and_of_their_kind(self) -> None:
        """Every fact has a spec and a value its kind accepts, once in each scope."""
        known = self._kinds()
        for name, _, summary in self._summaries():
            scopes = {"", *(scope.id for scope in summary.scopes)}
            seen: set[tuple[str, str]] = set()
            for fact in summary.facts:
                spec = self._spec(name, fact)
                assert known[spec.kind].accepts(fact.value), (
                    f"{name}: {fact.id} = {fact.value!r} is no {spec.kind}"
                )
                assert fact.scope in scopes, (
                    f"{name}: {fact.id} is in scope {fact.scope!r}, which is not listed"
                )
                assert (fact.id, fact.scope) not in seen, (
                    f"{name}: {fact.id} occurs twice in scope {fact.scope!r}"
                )
                seen.add((fact.id, fact.scope))

    def test_the_same_bytes_give_the_same_summary(self) -> None:
        """A summary depends on the bytes alone, its order too."""
        for name, data, summary in self._summaries():
            again = self._summarize(data, "another/place")
            assert again == summary, f"{name}: two readings differ"
            assert msgspec.json.encode(again) == msgspec.json.encode(summary), f"{name}: the order differs"

    def test_the_same_bytes_give_the_same_canonical_form(self) -> None:
        """A canonical form depends on the bytes alone, whatever was called before."""
        for name, data in self._contents():
            context = self._context(data)
            first = self._checked(Canonical, self.stage.canonical, self._artifact(data, name), context)
            self.stage.summarize(self._artifact(data, name), context)
            again = self._checked(Canonical, self.stage.canonical, self._artifact(data, name), context)
            assert again == first, f"{name}: the canonical form differs after summarize"
            elsewhere = self._canonical(data, "another/place")
            assert elsewhere == first, f"{name}: the canonical form depends on more than the bytes"
            assert len(first.places) in (0, len(first.lines)), f"{name}: places do not go with lines"

    def test_what_is_counted_has_evidence_in_the_artifact(self) -> None:
        """Each count, and each key of a tally, rests on places that the artifact has."""
        for name, data, summary in self._summaries():
            for fact in summary.facts:
                spec = self._spec(name, fact)
                for key in _counted(spec, fact, self.evident):
                    assert fact.evidence.get(key), f"{name}: {fact.id} {key!r} has no evidence"
                check_places(name, data, spec, fact)

    def test_coverage_is_a_share(self) -> None:
        """Understood is between 0 and total."""
        for name, _, summary in self._summaries():
            check_coverage(name, summary)

    def test_scopes_are_well_formed(self) -> None:
        """Scopes are named ``loop0/loop1``, once each, with their parents."""
        for name, _, summary in self._summaries():
            ids = [scope.id for scope in summary.scopes]
            assert len(ids) == len(set(ids)), f"{name}: a scope is listed twice"
            for scope in summary.scopes:
                assert _SCOPE.fullmatch(scope.id), f"{name}: scope {scope.id!r} is not like loop0/loop1"
                parent = scope.id.rpartition("/")[0]
                assert not parent or parent in ids, f"{name}: {scope.id} is in {parent}, which is not listed"
                assert scope.first <= scope.last, f"{name}: {scope.id} ends before it begins"
                assert scope.trip_count is None or scope.trip_count >= 0, (
                    f"{name}: {scope.id} has negative trips"
                )

    def test_each_normalisation_can_be_switched_off(self) -> None:
        """Switched off, it erases nothing; nothing undeclared is erased."""
        declared = {rule.id for rule in self.stage.normalizations}
        for name, data in self._contents():
            everything = self._canonical(data, name)
            extra = sorted(everything.erased.keys() - declared)
            assert not extra, f"{name}: erased names {extra}, which are not declared normalizations"
            for off in [{rule} for rule in sorted(declared)] + [declared]:
                made = self._canonical(data, name, switched_off=frozenset(off))
                still = sorted(made.erased.keys() & off)
                assert not still, f"{name}: {still} is switched off and still erases"

    def test_damaged_files_end_in_a_summary_or_a_parse_error(self) -> None:
        """Cut, flipped, zeroed, doubled and swapped bytes raise ParseError alone, within ``seconds``."""
        chance = random.Random(self.seed)  # noqa: S311  # chance that repeats, nothing secret
        contents = list(self._contents())
        for number in range(self.damaged if contents else 0):
            name, data = contents[number % len(contents)]
            how, broken = damage(data, chance)
            label = f"{name}, damaged copy {number} ({how})"
            with time_limit(self.seconds, label):
                for kind, read in ((Summary, self._summarize), (Canonical, self._canonical)):
                    try:
                        made = read(broken, name)
                    except ParseError:
                        continue
                    except Exception as error:
                        raise AssertionError(
                            f"{label}: {type(error).__name__} leaves the parser: {error}"
                        ) from error
                    assert isinstance(made, kind)
                    if isinstance(made, Summary):
                        check_coverage(label, made)
                        msgspec.json.encode(made)


def check_places(name: str, data: bytes, spec: FactSpec, fact: Fact) -> None:
    """Fail where a fact rests on a place that its artifact does not have."""
    lowest = _FIRST_PLACE[spec.place]
    highest = {"line": data.count(b"\n") + 1, "byte": max(len(data) - 1, 0)}.get(spec.place)
    for places in fact.evidence.values():
        for place in places:
            inside = lowest <= place and (highest is None or place <= highest)
            assert inside, f"{name}: {fact.id} rests on {spec.place} {place}, which is not there"


def _counted(spec: FactSpec, fact: Fact, evident: tuple[str, ...]) -> list[str]:
    """Keys of the evidence that a fact must have."""
    if spec.kind not in evident or not fact.value:
        return []
    if spec.kind == "tally" and isinstance(fact.value, dict):
        return [key for key, count in fact.value.items() if count]
    return [""]


def check_coverage(name: str, summary: Summary) -> None:
    """Fail where more is understood than there is, or where too much of the rest is listed."""
    coverage = summary.coverage
    inside = 0 <= coverage.understood <= coverage.total
    assert inside, f"{name}: {coverage.understood} of {coverage.total} lines are understood"
    assert len(coverage.unknown) <= _MOST_UNKNOWN, (
        f"{name}: more than {_MOST_UNKNOWN} unknown lines are listed"
    )
