"""Counts facts for the whole kernel and for every loop at once, with the lines they rest on."""

from __future__ import annotations

from collections.abc import Iterable

from irdiff.api import Fact
from irdiff_mlir.program import Program


class Tallies:
    """Collects occurrences; a loop's scope also holds what happens in the loops inside it."""

    def __init__(self, program: Program, facts: Iterable[str]) -> None:
        """``facts``: ids of the tallies, so that one without an occurrence is reported as empty."""
        scopes = ("", *(loop.scope for loop in program.loops))
        self._around = {scope: _prefixes(scope) for scope in scopes}
        self._lines: dict[str, dict[str, dict[str, list[int]]]] = {
            fact: {scope: {} for scope in scopes} for fact in facts
        }
        self._scopes = program.scopes
        self._places = [operation.line for operation in program.module.operations]

    def add(self, fact: str, key: str, operation: int) -> None:
        """One occurrence of ``key`` at an operation (by index)."""
        by_scope = self._lines[fact]
        line = self._places[operation]
        for around in self._around[self._scopes[operation]]:
            keys = by_scope[around]
            lines = keys.get(key)
            if lines is None:
                keys[key] = [line]
            else:
                lines.append(line)

    def add_all(self, fact: str, found: Iterable[tuple[str, int]]) -> None:
        """One occurrence of each key at its operation (by index)."""
        by_scope, places, scopes = self._lines[fact], self._places, self._scopes
        whole = by_scope[""]
        find = whole.get
        for key, operation in found:
            line = places[operation]
            if (lines := find(key)) is not None:
                lines.append(line)
            else:
                whole[key] = [line]
            if scope := scopes[operation]:
                for around in self._around[scope][1:]:
                    by_scope[around].setdefault(key, []).append(line)

    def add_at(self, fact: str, key: str, *, scope: str, line: int) -> None:
        """One occurrence in a scope, at a line: of something that has no operation of its own."""
        by_scope = self._lines[fact]
        for around in self._around[scope]:
            by_scope[around].setdefault(key, []).append(line)

    def tallies(self) -> list[Fact]:
        """The tallies collected."""
        return [
            _tally(fact, scope, keys)
            for fact, by_scope in self._lines.items()
            for scope, keys in by_scope.items()
        ]

    def count(self, fact: str, key: str = "") -> list[Fact]:
        """One collected key as a count of its own; the fact is then no tally."""
        by_scope = self._lines.pop(fact)
        return [
            Fact(
                id=fact,
                value=len(keys.get(key, ())),
                scope=scope,
                evidence={"": tuple(keys[key])} if key in keys else {},
            )
            for scope, keys in by_scope.items()
        ]


def _tally(fact: str, scope: str, keys: dict[str, list[int]]) -> Fact:
    if not keys:
        return Fact(id=fact, value={}, scope=scope)
    ordered = sorted(keys.items())
    return Fact(
        id=fact,
        value={key: len(lines) for key, lines in ordered},
        scope=scope,
        evidence={key: tuple(dict.fromkeys(lines) if len(lines) > 1 else lines) for key, lines in ordered},
    )


def _prefixes(scope: str) -> tuple[str, ...]:
    parts = scope.split("/") if scope else []
    return ("", *("/".join(parts[: count + 1]) for count in range(len(parts))))
