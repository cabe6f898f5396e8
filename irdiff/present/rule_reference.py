"""What a rule judges, in words: the one wording that the reference page and ``irdiff rules`` share."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from irdiff.model.facts import Value
from irdiff.model.gate import Tolerance
from irdiff.model.rules import RuleExample, RuleSpec
from irdiff.model.words import value_words

COLUMNS = ("rule", "level", "title")
"""Headings of the rows of :func:`row`."""
WIDTH = 110
"""Columns of a page on a terminal."""


def row(rule: RuleSpec) -> tuple[str, ...]:
    """One rule as a row of a table."""
    return (rule.code, rule.level, rule.title)


def notes(rule: RuleSpec) -> tuple[str, ...]:
    """What is to be known beside the text: level, role, tolerance, and where it says nothing."""
    words = [f"default level {rule.level}"]
    words += [f"judges the role {rule.role}"] if rule.role else []
    words += [f"reads {', '.join(rule.also)} as well"] if rule.also else []
    words += [f"tolerance {tolerance(rule.tolerance)}"] if rule.tolerance != Tolerance() else []
    words += ["sets bit 2 and not bit 1"] if rule.uncertain else []
    words += ["also between two targets"] if rule.across_targets else []
    words += ["also where the machine code is the same"] if rule.launch else []
    return tuple(words)


def tolerance(allowed: Tolerance) -> str:
    """``10 %``, ``16 or 10 %``."""
    parts = [f"{allowed.absolute:g}"] if allowed.absolute else []
    parts += [f"{allowed.percent:g} %"] if allowed.percent else []
    return " or ".join(parts) or "0"


def example_lines(example: RuleExample) -> Iterator[str]:
    """A pair of kernels, one fact a line: ``sass.registers: 64 → 72``."""
    if example.failed != (False, False):
        yield " → ".join("does not compile" if failed else "compiles" for failed in example.failed)
    if example.gone:
        yield "a kernel → none"
        return
    for stage in example.unreadable:
        yield f"{stage}: readable → not readable"
    for name in (*example.before, *(name for name in example.after if name not in example.before)):
        before, after = (_value(name, side) for side in (example.before, example.after))
        yield f"{name}: {before if before == after else f'{before} → {after}'}"
    for loop, trips in example.trips.items():
        yield f"{loop} runs {' → '.join('?' if count is None else f'{count:,}' for count in trips)} times"


def _value(name: str, side: Mapping[str, Value]) -> str:
    return value_words(side[name]) if name in side else "not recorded"


def markdown(rule: RuleSpec) -> list[str]:
    """The section of one rule in the reference page."""
    lines = [f"## {rule.code}", "", f"**{rule.title}** ({', '.join(notes(rule))}).", ""]
    for heading, text in (("When", rule.doc), ("Why", rule.why), ("What to do", rule.advice)):
        lines += [f"*{heading}.* {text}", ""] if text else []
    for example in rule.examples:
        note = f": {example.note}" if example.note else ""
        lines += [
            f"{'Fires' if example.fires else 'Stays quiet'}{note}",
            "",
            "```text",
            *example_lines(example),
            "```",
            "",
        ]
    return lines


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


def page(rule: RuleSpec, owner: str) -> Sequence[str]:
    """Everything about one rule, in lines for a terminal."""
    lines = [f"{rule.code}  {rule.title}", "", f"  {'; '.join(notes(rule))}", f"  from {owner}"]
    for heading, text in (("When", rule.doc), ("Why", rule.why), ("What to do", rule.advice)):
        lines += ["", f"  {heading}", *_wrapped(text)] if text else []
    for example in rule.examples:
        note = f": {example.note}" if example.note else ""
        lines += ["", f"  {'Fires' if example.fires else 'Stays quiet'}{note}"]
        lines += [f"    {line}" for line in example_lines(example)]
    return lines
