"""Drawing mutants: one semantic edit at a random place of a real artifact, from a seed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

Edit = Callable[[bytes, random.Random], "bytes | None"]
Replace = Callable[[re.Match[str], random.Random], str]
TRIES = 12
"""Artifacts tried before a kind counts as not applicable in one draw."""


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of semantic edit."""

    name: str
    facts: tuple[str, ...]
    """The facts of which at least one must move, without the stage. Empty where no fact counts such a thing (a
    constant, the order of two operands): then the change is told by its lines, as ``unexplained``."""
    edit: Edit


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """A real artifact."""

    label: str
    path: Path
    data: bytes


class Mutant(msgspec.Struct, frozen=True, kw_only=True):
    """An artifact with one edit."""

    stage: str
    kind: Kind
    subject: Subject
    data: bytes
    number: int

    def __str__(self) -> str:
        return (
            f"{self.stage} #{self.number} {self.kind.name} in {self.subject.label} ({self.subject.path.name})"
        )


def draw(
    stage: str, kinds: Sequence[Kind], subjects: Sequence[Subject], count: int, seed: int
) -> list[Mutant]:
    """``count`` distinct mutants: the kinds in turn, each at a random place of a random artifact.

    An edit that gives a text drawn before, or that applies to none of the artifacts tried, is drawn again.
    """
    chance = random.Random(f"{seed} {stage}")
    mutants: list[Mutant] = []
    seen: set[bytes] = {subject.data for subject in subjects}
    for number in range(count * 20):
        if len(mutants) == count:
            break
        kind = kinds[number % len(kinds)]
        for subject in chance.sample(list(subjects), min(TRIES, len(subjects))):
            data = kind.edit(subject.data, chance)
            if data is not None and data not in seen:
                seen.add(data)
                mutants.append(
                    Mutant(stage=stage, kind=kind, subject=subject, data=data, number=len(mutants))
                )
                break
    return mutants


def in_text(lines_of: Callable[[list[str]], list[int]], pattern: str, replace: Replace | str) -> Edit:
    """An edit of one random match of a pattern, in one random line of those that ``lines_of`` names.

    The pattern sees a line up to its location or debug attachment.
    """
    compiled = re.compile(pattern)
    put: Replace = (lambda found, _: found.expand(replace)) if isinstance(replace, str) else replace

    def edit(data: bytes, chance: random.Random) -> bytes | None:
        lines = data.decode().split("\n")
        places = [
            (number, found)
            for number in lines_of(lines)
            for found in compiled.finditer(meaning(lines[number]))
        ]
        chance.shuffle(places)
        for number, found in places:
            text = put(found, chance)
            if text != found.group():
                line = lines[number]
                lines[number] = line[: found.start()] + text + line[found.end() :]
                return "\n".join(lines).encode()
        return None

    return edit


def inserted(lines_of: Callable[[list[str]], list[int]], text: str) -> Edit:
    """An edit that puts a line before one of the lines that ``lines_of`` names."""

    def edit(data: bytes, chance: random.Random) -> bytes | None:
        lines = data.decode().split("\n")
        places = lines_of(lines)
        if not places:
            return None
        lines.insert(chance.choice(places), text)
        return "\n".join(lines).encode()

    return edit


def halved(lines_of: Callable[[list[str]], list[int]], pattern: str) -> Edit:
    """An edit that drops half of the lines that match, from a random one on: half of the MMAs gone."""
    compiled = re.compile(pattern)

    def edit(data: bytes, chance: random.Random) -> bytes | None:
        lines = data.decode().split("\n")
        places = [number for number in lines_of(lines) if compiled.search(meaning(lines[number]))]
        if not places:
            return None
        gone = max(1, len(places) // 2)
        first = chance.randrange(len(places) - gone + 1)
        dropped = set(places[first : first + gone])
        return "\n".join(line for number, line in enumerate(lines) if number not in dropped).encode()

    return edit


def meaning(line: str) -> str:
    """A line up to its location (MLIR), debug attachment (LLVM IR) or comment (PTX)."""
    return re.split(r" loc\(|, !dbg | // ", line, maxsplit=1)[0]


def other(*choices: str) -> Replace:
    """Any of the choices but the one that is there."""
    return lambda found, chance: chance.choice([each for each in choices if each != found.group()])


def changed_number(found: re.Match[str], chance: random.Random) -> str:
    """Another integer."""
    value = int(found.group())
    return str(chance.choice([value + 1, value * 2 + 4, value + 32]))
