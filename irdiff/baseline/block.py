"""The block of one kernel in a baseline."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import cast, get_args

import msgspec

from irdiff.baseline.content import EMPTY_KINDS, Form, RecordedKernel, RecordedSpec
from irdiff.baseline.lines import Line, Lines, Section
from irdiff.baseline.write import Usual
from irdiff.model.bundle import Layout
from irdiff.model.facts import Fact, Scalar, Scope, Value
from irdiff.model.notation import value_text
from irdiff.model.specs import KindSpec

_DIGEST = re.compile(r"[0-9a-f]{16,128}")


def known(lines: Lines, line: Line, specs: Mapping[str, RecordedSpec]) -> RecordedSpec:
    """The spec of a line's fact."""
    if line.key not in specs:
        lines.fail(line.number, f"the head of the file does not name the fact {line.key}")
    return specs[line.key]


def check_kind(
    lines: Lines, line: Line, spec: RecordedSpec, value: Value, kinds: Mapping[str, KindSpec]
) -> None:
    """An error where a value is not of its fact's kind."""
    kind = kinds.get(spec.kind)
    if kind is not None and not kind.accepts(value):
        lines.fail(line.number, f"{value_text(value)[:60]} is no value of {line.key}, which is a {spec.kind}")


class Block:
    """One kernel."""

    def __init__(
        self,
        lines: Lines,
        section: Section,
        name: str,
        specs: Mapping[str, RecordedSpec],
        usual: Usual,
        kinds: Mapping[str, KindSpec],
    ) -> None:
        self._lines = lines
        self._section = section
        self._name = name
        self._specs = specs
        self._usual = usual
        self._kinds = kinds
        self._plain = {line.key: line for line in section.inside if not line.within and "." not in line.key}
        self._facts = [line for line in section.inside if not line.within and "." in line.key]
        self._loops = [line for line in section.inside if line.within]
        twice = len(section.inside) - len({(line.within, line.key) for line in section.inside})
        if twice:
            lines.fail(section.number, f"a name stands twice in the block of {name}")

    def kernel(self) -> RecordedKernel:
        """The kernel."""
        unread = self._plain.keys() - {
            *("target", "layout", "missing", "unreadable", "forms", "unknown", "estimates"),
            *("degraded", "folded"),
        }
        for key in sorted(unread):
            self._lines.fail(self._plain[key].number, f"{key} is nothing that a kernel has")
        forms = self._forms()
        held = {"", *forms}
        facts = self._read(self._facts, self._plain, held, scope="")
        scopes: dict[str, list[Scope]] = {}
        for line in self._loops:
            facts += self._loop(line, scopes, forms)
        return RecordedKernel(
            name=self._name,
            target=self._text("target"),
            layout=self._layout(),
            forms=forms,
            unreadable=self._list("unreadable"),
            missing=self._list("missing"),
            facts=tuple(sorted(facts, key=lambda fact: (fact.scope, fact.id))),
            scopes={stage: tuple(found) for stage, found in sorted(scopes.items())},
            line=self._section.number,
        )

    def _text(self, key: str) -> str | None:
        line = self._plain.get(key)
        if line is None:
            return None
        made = self._lines.value(line)
        if not isinstance(made, str):
            self._lines.fail(line.number, f"{key} is no text")
        return made

    def _layout(self) -> Layout:
        made = self._text("layout") or "cache"
        if made not in get_args(Layout):
            self._lines.fail(self._plain["layout"].number, f"there is no layout {made!r}")
        return cast("Layout", made)

    def _list(self, key: str, lines: Mapping[str, Line] | None = None) -> tuple[str, ...]:
        line = (self._plain if lines is None else lines).get(key)
        return self._lines.strings(line) if line is not None else ()

    def _forms(self) -> dict[str, Form]:
        line = self._plain.get("forms")
        if line is None:
            return {}
        forms: dict[str, Form] = {}
        for name, digest in self._lines.record(line).items():
            stage, _, part = name.partition(" without ")
            text = str(digest)
            if digest is not None and not _DIGEST.fullmatch(text):
                self._lines.fail(line.number, f"the form of {name} is no digest")
            if not part:
                forms[stage] = Form(canonical=None if digest is None else text)
            elif stage in forms and digest is not None:
                without = {**forms[stage].without, part: text}
                forms[stage] = msgspec.structs.replace(forms[stage], without=without)
            else:
                self._lines.fail(line.number, f"{name} stands before the form of {stage}")
        return self._with_notes(forms)

    def _with_notes(self, forms: Mapping[str, Form]) -> dict[str, Form]:
        """The forms with what is special about the reading of each stage."""
        lines = [self._plain[key] for key in ("degraded", "folded") if key in self._plain]
        for line in lines:
            for each in line.inside:
                if each.key not in forms:
                    self._lines.fail(each.number, f"the kernel has no stage {each.key}")
        degraded = self._lines.record(self._plain["degraded"]) if "degraded" in self._plain else {}
        folded = {**self._usual.folded}
        folded |= self._lines.lists(self._plain["folded"]) if "folded" in self._plain else {}
        return {
            stage: msgspec.structs.replace(
                form,
                degraded=str(degraded[stage]) if stage in degraded else None,
                folded=folded.get(stage, ()),
            )
            for stage, form in forms.items()
        }

    def _loop(self, line: Line, scopes: dict[str, list[Scope]], forms: Mapping[str, Form]) -> list[Fact]:
        plain = {each.key: each for each in line.inside if "." not in each.key}
        facts = [each for each in line.inside if "." in each.key]
        names = {each.key for each in line.inside}
        if len(names) != len(line.inside) or plain.keys() - {"stages", "trips", "unknown", "estimates"}:
            self._lines.fail(
                line.number, f"something in {line.key} stands there twice, or has no place there"
            )
        stages = self._list("stages", plain)
        trips: Value = self._lines.value(plain["trips"]) if "trips" in plain else {}
        if not isinstance(trips, dict) or not trips.keys() <= set(stages) or not set(stages) <= forms.keys():
            self._lines.fail(line.number, f"the stages of {line.key} are not those of the kernel")
        for stage in stages:
            count = trips.get(stage)
            if count is not None and (not isinstance(count, int) or isinstance(count, bool)):
                self._lines.fail(line.number, f"{count!r} is no number of trips")
            scopes.setdefault(stage, []).append(Scope(id=line.key, trip_count=count))
        return self._read(facts, plain, set(stages), scope=line.key)

    def _read(
        self, lines: Sequence[Line], plain: Mapping[str, Line], held: set[str], *, scope: str
    ) -> list[Fact]:
        """The facts of one scope: those that are written, those that are usual, and empty ones."""
        values: dict[str, Value] = {}
        absent: set[str] = set(self._list("unknown", plain))
        for line in lines:
            spec = known(self._lines, line, self._specs)
            if spec.stage not in held:
                self._lines.fail(line.number, f"the kernel has no stage {spec.stage}")
            if line.absent:
                absent.add(line.key)
            else:
                values[line.key] = self._value(line, values, scope)
                check_kind(self._lines, line, spec, values[line.key], self._kinds)
        if not scope:
            self._add_usual(values, absent, held)
        for name, spec in self._specs.items():
            empty = spec.kind in EMPTY_KINDS and (spec.in_loops or not scope)
            if empty and spec.stage in held and name not in values and name not in absent:
                values[name] = {} if spec.kind == "tally" else ()
        estimates = set(self._list("estimates", plain))
        return [
            Fact(id=name, value=value, scope=scope, exactness="estimate" if name in estimates else None)
            for name, value in values.items()
        ]

    def _value(self, line: Line, earlier: Mapping[str, Value], scope: str) -> Value:
        if line.same_as is None:
            return self._record(line, scope) if line.inside else self._lines.value(line)
        if line.same_as not in earlier:
            self._lines.fail(line.number, f"{line.same_as} does not stand before it")
        return earlier[line.same_as]

    def _record(self, line: Line, scope: str) -> dict[str, Scalar]:
        """A record, with the fields that are usual and not said to be absent."""
        absent = {field.key for field in line.inside if field.absent}
        present = [field for field in line.inside if not field.absent]
        own = self._lines.record(msgspec.structs.replace(line, inside=present))
        usual = {} if scope else self._usual.fields.get(line.key, {})
        return {**{f: cast("Scalar", v) for f, v in usual.items() if f not in absent}, **own}

    def _add_usual(self, values: dict[str, Value], absent: set[str], held: set[str]) -> None:
        found: dict[str, Value] = {**self._usual.values}
        found |= {
            name: cast("dict[str, Scalar]", dict(fields)) for name, fields in self._usual.fields.items()
        }
        for name, value in found.items():
            if name not in values and name not in absent and self._specs[name].stage in held:
                values[name] = value
