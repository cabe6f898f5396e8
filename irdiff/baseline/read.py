"""The strict reader of baselines: every line is understood, or the error names it and says what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NoReturn, cast

from irdiff.baseline.block import Block, check_kind, known
from irdiff.baseline.content import FORMAT, Baseline, RecordedKernel, RecordedSpec
from irdiff.baseline.lines import AGAIN, CONFLICT, NAME, Lines, Section
from irdiff.baseline.write import Usual
from irdiff.model.facts import Value
from irdiff.model.kinds import standard_kinds
from irdiff.model.notation import parse_key, parse_scalar
from irdiff.model.specs import KindSpec

_FACTS_OF = re.compile(rf"facts of (?P<stage>{NAME}), read by (?P<reader>.+)")


def parse_baseline(data: bytes, *, where: str, kinds: Mapping[str, KindSpec] | None = None) -> Baseline:
    """The baseline that a file holds. Raises InputError, with the line, where it is none.

    ``kinds`` holds the kinds that values must be of (the standard ones); values of other kinds are not checked.
    """
    return _Parser(where, standard_kinds() if kinds is None else kinds).baseline(data)


class _Parser:
    def __init__(self, where: str, kinds: Mapping[str, KindSpec]) -> None:
        self._lines = Lines(where)
        self._kinds = kinds
        self._readers: dict[str, str] = {}
        self._known: dict[str, RecordedSpec] = {}
        self._shared = Usual()
        self._kernels: list[RecordedKernel] = []

    def baseline(self, data: bytes) -> Baseline:
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            self._lines.fail(data.count(b"\n", 0, error.start) + 1, "is not UTF-8")
        lines = [line.removesuffix("\r") for line in text.split("\n")]
        if lines[0] != FORMAT:
            self._fail_format(lines[0])
        for section in self._lines.sections(lines):
            self._section(section)
        return Baseline(readers=self._readers, specs=self._known, kernels=tuple(self._kernels))

    def _section(self, section: Section) -> None:
        number, text = section.number, section.text
        found = _FACTS_OF.fullmatch(text)
        if text.startswith("kernel "):
            name = self._lines.understood(number, lambda: parse_scalar(text[7:]))
            if not isinstance(name, str):
                self._lines.fail(number, "the name of a kernel is a text", hint='write kernel "12"')
            block = Block(self._lines, section, name, self._known, self._shared, self._kinds)
            self._kernels.append(block.kernel())
        elif found is not None:
            stage = self._lines.understood(number, lambda: parse_key(found["stage"]))
            if stage in self._readers:
                self._lines.fail(number, f"the facts of {stage} stand there twice")
            self._readers[stage] = str(self._lines.understood(number, lambda: parse_scalar(found["reader"])))
            self._specs(section, stage, self._known)
        elif text == "facts of several stages":
            self._specs(section, "", self._known)
        elif text == "usual":
            self._shared = self._usual(section, self._known)
        else:
            self._lines.fail(number, f"{text[:60]!r} is no part of a baseline")

    def _specs(self, section: Section, stage: str, specs: dict[str, RecordedSpec]) -> None:
        for line in section.inside:
            words = self._lines.strings(line)
            if not words or line.key in specs:
                self._lines.fail(line.number, f"{line.key} stands there twice, or without its kind")
            roles = [word.removeprefix("role ") for word in words[1:] if word.startswith("role ")]
            rest = [word for word in words[1:] if not word.startswith("role ")]
            if len(roles) > 1 or rest not in ([], ["in loops"]):
                self._lines.fail(line.number, "behind the kind only `role NAME` and `in loops` may stand")
            specs[line.key] = RecordedSpec(
                stage=stage, kind=words[0], role=roles[0] if roles else None, in_loops=bool(rest)
            )

    def _usual(self, section: Section, specs: Mapping[str, RecordedSpec]) -> Usual:
        values: dict[str, Value] = {}
        fields: dict[str, Mapping[str, Value]] = {}
        folded: dict[str, tuple[str, ...]] = {}
        for line in section.inside:
            if line.key == "folded":
                folded = self._lines.lists(line)
                continue
            spec = known(self._lines, line, specs)
            if line.key in values or line.key in fields:
                self._lines.fail(line.number, f"{line.key} stands there twice")
            if line.inside:
                record = self._lines.record(line)
                check_kind(self._lines, line, spec, record, self._kinds)
                fields[line.key] = cast("Mapping[str, Value]", record)
            else:
                values[line.key] = self._lines.value(line)
                check_kind(self._lines, line, spec, values[line.key], self._kinds)
        return Usual(values=values, fields=fields, folded=folded)

    def _fail_format(self, first: str) -> NoReturn:
        if first.startswith("irdiff-baseline/"):
            self._lines.fail(
                1,
                f"has the format {first[:40]}; this irdiff reads {FORMAT}",
                hint=f"use the irdiff that wrote it, or {AGAIN}",
            )
        if first.startswith(CONFLICT):
            self._lines.fail(1, "a merge conflict is not resolved", hint=f"resolve it, or {AGAIN}")
        self._lines.fail(
            1,
            f"is no baseline: its first line is not {FORMAT}",
            hint="make one: irdiff baseline write DIR -o FILE",
        )
