"""StageContract: the promises every stage keeps, as tests that a plugin's own suite runs by subclassing.

In a test module of the plugin::

    from irdiff.testing import StageContract

    class TestPtx(StageContract):
        stage = PTX
        samples = sorted(Path("samples").glob("*.ptx"))

pytest collects the subclass; nothing here needs pytest itself. ``versionadded``: 0.1.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, TypeVar

import msgspec

from irdiff.damage import damage, time_limit
from irdiff.errors import ParseError, ToolError
from irdiff.model.bundle import Artifact
from irdiff.model.facts import Fact, FactSpec
from irdiff.model.kinds import standard_kinds
from irdiff.model.specs import Context, KindSpec, StageSpec, Tool, Toolbox, ToolResult
from irdiff.model.summary import Canonical, Summary
from irdiff.plugin_checks import Contributions, check

T = TypeVar("T")

_SCOPE = re.compile(r"[a-z][a-z_]*[0-9]+(?:/[a-z][a-z_]*[0-9]+)*")
_MOST_UNKNOWN = 50
_FIRST_PLACE = {"line": 1, "byte": 0, "address": 0}


class NoTools:
    """A toolbox that finds nothing: what a stage meets where no tool is installed."""

    def find(self, tool_id: str) -> tuple[Tool, ...]:  # noqa: ARG002  # the protocol's names
        """Nothing."""
        return ()

    def run(self, tool: Tool, arguments: Sequence[str], *, timeout: float) -> ToolResult:  # noqa: ARG002  # the protocol's names
        """Raises ToolError."""
        raise ToolError(f"{tool.id}: there are no tools here")


class StageContract:
    """Subclass it with a name that pytest collects; set ``stage`` and ``samples``, and more where needed."""

    stage: ClassVar[StageSpec]
    samples: ClassVar[Sequence[Path | bytes]]
    """Real artifacts of the stage, files or contents; small ones keep the damaged readings quick."""
    kinds: ClassVar[Sequence[KindSpec]] = ()
    """Kinds of values that the plugin registers."""
    tools: ClassVar[Toolbox] = NoTools()
    damaged: ClassVar[int] = 60
    """Damaged copies read in all, spread over the samples."""
    seed: ClassVar[int] = 20240
    """Of the damage: the same every run."""
    seconds: ClassVar[float] = 5.0
    """Time one damaged copy may take."""

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
                for key in _counted(spec, fact):
                    assert fact.evidence.get(key), f"{name}: {fact.id} {key!r} has no evidence"
                lowest = _FIRST_PLACE[spec.place]
                highest = {"line": data.count(b"\n") + 1, "byte": max(len(data) - 1, 0)}.get(spec.place)
                for places in fact.evidence.values():
                    for place in places:
                        inside = lowest <= place and (highest is None or place <= highest)
                        assert inside, f"{name}: {fact.id} rests on {spec.place} {place}, which is not there"

    def test_coverage_is_a_share(self) -> None:
        """Understood is between 0 and total."""
        for name, _, summary in self._summaries():
            _check_coverage(name, summary)

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
                        _check_coverage(label, made)
                        msgspec.json.encode(made)

    def _kinds(self) -> Mapping[str, KindSpec]:
        return standard_kinds() | {kind.id: kind for kind in self.kinds}

    def _contents(self) -> Iterator[tuple[str, bytes]]:
        for number, sample in enumerate(self.samples):
            if isinstance(sample, bytes):
                yield f"sample {number}", sample
            else:
                yield str(sample), sample.read_bytes()

    def _summaries(self) -> Iterator[tuple[str, bytes, Summary]]:
        for name, data in self._contents():
            yield name, data, self._summarize(data, name)

    def _artifact(self, data: bytes, location: str) -> Artifact:
        return Artifact.of_bytes(data, stage=self.stage.id, suffix=self.stage.suffixes[0], location=location)

    def _context(self, data: bytes, switched_off: frozenset[str] = frozenset()) -> Context:
        prepared = None
        if self.stage.prepare is not None:
            artifact = self._artifact(data, "prepared")
            prepared = self.stage.prepare([artifact], self.tools).get(artifact.sha256)
        return Context(tools=self.tools, prepared=prepared, switched_off=switched_off)

    def _summarize(self, data: bytes, location: str) -> Summary:
        return self._checked(
            Summary, self.stage.summarize, self._artifact(data, location), self._context(data)
        )

    def _canonical(
        self, data: bytes, location: str, *, switched_off: frozenset[str] = frozenset()
    ) -> Canonical:
        context = self._context(data, switched_off)
        return self._checked(Canonical, self.stage.canonical, self._artifact(data, location), context)

    @staticmethod
    def _checked(
        kind: type[T], call: Callable[[Artifact, Context], object], artifact: Artifact, context: Context
    ) -> T:
        made = call(artifact, context)
        assert isinstance(made, kind), (
            f"{artifact.location}: returned {type(made).__name__}, not {kind.__name__}"
        )
        return made

    def _spec(self, name: str, fact: Fact) -> FactSpec:
        spec = next((spec for spec in self.stage.facts if spec.id == fact.id), None)
        assert spec is not None, f"{name}: {fact.id} is not declared"
        return spec


def _counted(spec: FactSpec, fact: Fact) -> list[str]:
    """Keys of the evidence that a fact must have."""
    if spec.kind == "tally" and isinstance(fact.value, dict):
        return [key for key, count in fact.value.items() if count]
    return [""] if spec.kind == "count" and fact.value else []


def _check_coverage(name: str, summary: Summary) -> None:
    coverage = summary.coverage
    inside = 0 <= coverage.understood <= coverage.total
    assert inside, f"{name}: {coverage.understood} of {coverage.total} lines are understood"
    assert len(coverage.unknown) <= _MOST_UNKNOWN, (
        f"{name}: more than {_MOST_UNKNOWN} unknown lines are listed"
    )
