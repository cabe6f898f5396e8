"""EditContract: an edit of meaning is seen and named by its fact; one without meaning changes nothing."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import ClassVar, TypeAlias

import msgspec

from irdiff.errors import ParseError
from irdiff.model.facts import Value
from irdiff.testing.reading import StageReading

Apply: TypeAlias = Callable[[bytes, random.Random], "bytes | None"]
"""An edit at a random place of an artifact; None where it does not apply. The same chance gives the same edit."""


class Edit(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of edit that the kit makes in samples."""

    name: str
    """In words: ``a wider load``."""
    apply: Apply
    facts: tuple[str, ...] = ()
    """Of an edit of meaning: ids of which at least one must move; none where no fact counts such a thing. Of an edit
    without meaning: ids that may move, since they quote the names it changes."""


class EditContract(StageReading):
    """Beside StageContract: says what a stage must see, and what it must not."""

    edits: ClassVar[Sequence[Edit]]
    """Edits of meaning: each must make the canonical form another one, and move a fact that it names."""
    respellings: ClassVar[Sequence[Edit]]
    """Edits without meaning (names renumbered, comments, another spelling): nothing may move."""
    draws: ClassVar[int] = 3
    """Times each is made, in one sample after the other."""

    def test_an_edit_of_meaning_is_seen_and_its_fact_moves(self) -> None:
        """The canonical form differs and, where the edit names facts, one of them does."""
        assert self.edits, "edits is empty: nothing would be tested"
        for edit in self.edits:
            for label, data, edited in self._made(edit):
                lines, facts = self._read(data, label)
                try:
                    lines_after, facts_after = self._read(edited, label)
                except ParseError as error:
                    raise AssertionError(f"{label}: the stage refuses it: {error}") from error
                assert lines_after != lines, f"{label}: the canonical form is the same"
                moved = _moved(facts, facts_after)
                named = not edit.facts or any(name in moved for name in edit.facts)
                assert named, (
                    f"{label}: none of {', '.join(edit.facts)} moved, but {', '.join(moved) or 'nothing'}"
                )

    def test_an_edit_without_meaning_changes_nothing(self) -> None:
        """Canonical form and facts are the same, but for provenance."""
        assert self.respellings, "respellings is empty: nothing would be tested"
        for edit in self.respellings:
            for label, data, edited in self._made(edit):
                lines, facts = self._read(data, label)
                lines_after, facts_after = self._read(edited, label)
                other = [pair for pair in zip(lines, lines_after, strict=False) if pair[0] != pair[1]]
                assert lines_after == lines, (
                    f"{label}: {' became '.join(map(repr, other[0])) if other else 'lines'}"
                )
                moved = [name for name in _moved(facts, facts_after) if name not in edit.facts]
                assert not moved, f"{label}: {', '.join(moved)} moved"

    def _made(self, edit: Edit) -> list[tuple[str, bytes, bytes]]:
        """(label, content, edited content) of each draw; fails where the edit applies nowhere."""
        chance = random.Random(f"{self.seed} {edit.name}")  # noqa: S311  # chance that repeats, nothing secret
        contents = list(self._contents())
        made = []
        for number in range(self.draws * len(contents)):
            name, data = contents[number % len(contents)]
            edited = edit.apply(data, chance)
            if edited is not None and edited != data:
                made.append((f"{name}, {edit.name}", data, edited))
            if len(made) == self.draws:
                break
        assert made, f"the edit {edit.name!r} applies to no sample"
        return made

    def _read(self, data: bytes, name: str) -> tuple[tuple[str, ...], dict[tuple[str, str], Value]]:
        provenance = {spec.id for spec in self.stage.facts if spec.provenance}
        facts = self._summarize(data, name).facts
        lines = self._canonical(data, name).lines
        return lines, {(fact.id, fact.scope): fact.value for fact in facts if fact.id not in provenance}


def replaced(pattern: str, replacement: str) -> Apply:
    """An edit of one random match of a pattern (``re.MULTILINE``), as ``re.Match.expand`` fills the replacement."""
    compiled = re.compile(pattern, re.MULTILINE)

    def apply(data: bytes, chance: random.Random) -> bytes | None:
        text = data.decode()
        matches = list(compiled.finditer(text))
        if not matches:
            return None
        found = chance.choice(matches)
        return (text[: found.start()] + found.expand(replacement) + text[found.end() :]).encode()

    return apply


def replaced_everywhere(pattern: str, replacement: str) -> Apply:
    """An edit of every match of a pattern (``re.MULTILINE``)."""
    compiled = re.compile(pattern, re.MULTILINE)

    def apply(data: bytes, chance: random.Random) -> bytes | None:
        text, count = compiled.subn(replacement, data.decode())
        return text.encode() if count else None

    return apply


def inserted(text: str, before: str) -> Apply:
    """An edit that puts lines before one random line that matches a pattern from its start."""
    compiled = re.compile(before)

    def apply(data: bytes, chance: random.Random) -> bytes | None:
        lines = data.decode().split("\n")
        places = [number for number, line in enumerate(lines) if compiled.match(line)]
        if not places:
            return None
        lines.insert(chance.choice(places), text)
        return "\n".join(lines).encode()

    return apply


def _moved(one: dict[tuple[str, str], Value], other: dict[tuple[str, str], Value]) -> list[str]:
    return sorted({key[0] for key in one.keys() | other.keys() if one.get(key) != other.get(key)})
