"""Names inside one PTX function: registers, labels and parameters, and what each is called in canonical form.

A name means what the innermost braces around it declare (PTX ISA chapter 4 "Identifiers", 5.4 "Variables"): the
labels and predicates of inline-assembly blocks repeat from block to block.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from typing import Literal, TypeAlias

from irdiff_ptx.declarations import registers
from irdiff_ptx.items import Items
from irdiff_ptx.opcodes import REFERRING

NAME = re.compile(r"([%$A-Za-z_](?<![\w$%].)[\w$]*)")
"""A name, in a group so that ``split`` keeps it. It looks back from behind its first character: ``re`` then skips to
the next character that can begin a name."""
MOST_INNER = 64
"""Braces within braces that have names of their own; compilers nest two, and each costs a look for every name."""
_MOST_DIGITS = 10
_NONE = ("", 0)
_DIGITS = "0123456789"

Rule: TypeAlias = Literal["register-names", "labels", "parameter-names"]
_Found: TypeAlias = "tuple[Rule | None, str]"


def _is_number(digits: str) -> bool:
    """Whether the digits at the end of a name are a number as ``%r<196>`` declares it: no zeros in front."""
    return 0 < len(digits) < _MOST_DIGITS and (digits[0] != "0" or digits == "0")


class _Scope:
    """What one pair of braces declares."""

    def __init__(self, labels: dict[str, str]) -> None:
        self.labels = labels
        self.ranges: dict[str, tuple[str, int]] = {}
        self.singles: dict[str, str] = {}
        self.known: dict[str, str] = {}


class FunctionNames:
    """Resolves the names of the function whose opening brace is ``items[start]``.

    ``places`` are those of all items that may be, or refer to, labels and braces, in ascending order.
    """

    def __init__(self, items: Items, places: Sequence[int], start: int) -> None:
        self.parameters: dict[str, str] = {}
        self.register_order: list[str] = []
        self._counts: dict[str, int] = {}
        self._used: set[str] = set()
        self._labels: dict[int, dict[str, str]] = {}
        self._collect(items, places, start)
        self._stack = [_Scope(self._labels.get(start, {}))]
        self._deeper = 0
        """Braces open beyond MOST_INNER."""

    def _collect(self, items: Items, places: Sequence[int], start: int) -> None:
        """The labels of every pair of braces, numbered where they stand, and which are referred to."""
        found: list[tuple[int, str]] = []
        stack: list[int] = []
        referring: list[str] = []
        opcodes = items.opcodes
        end = len(items) if opcodes[start] == "{" else start + 1  # no body: nothing follows
        for position in range(bisect_left(places, start), bisect_left(places, end)):
            index = places[position]
            opcode = opcodes[index]
            if opcode == "{":
                stack.append(index)
            elif opcode == "}":
                del stack[-1:]
            elif opcode == ":":
                if stack:
                    found.append((stack[-1], items.operands_at(index)))
            elif opcode == ".branchtargets" or opcode.startswith(REFERRING):
                referring.append(items.operands_at(index))
            if not stack:
                break
        self._used.update(NAME.findall("\n".join(referring)))
        number = 0
        for scope, name in found:
            if name in self._used and name not in self._labels.setdefault(scope, {}):
                self._labels[scope][name] = f"$L{number}"
                number += 1

    def is_used(self, name: str) -> bool:
        """Whether a branch, call or move refers to the label."""
        return name in self._used

    def enter(self, index: int) -> None:
        """An inner brace opens at ``items[index]``; what lies deeper than MOST_INNER has no names of its own."""
        if len(self._stack) > MOST_INNER:
            self._deeper += 1
        else:
            self._stack.append(_Scope(self._labels.get(index, {})))

    def leave(self) -> None:
        """The innermost brace closes."""
        if self._deeper:
            self._deeper -= 1
        elif len(self._stack) > 1:
            self._stack.pop()

    def declare(self, text: str) -> None:
        """A ``.reg`` directive in the innermost braces."""
        scope = self._stack[-1]
        for kind, name, count in registers(text):
            if count is None:
                scope.singles[name] = kind
                scope.known.pop(name, None)
            else:
                scope.ranges[name] = (kind, count)

    def resolve_all(self, names: Iterable[str], rules: Collection[str]) -> dict[str, str]:
        """What names are called where ``rules`` rename them; outside inner braces, where nearly all are, in one go."""
        scope = self._stack[-1]
        is_plain = len(self._stack) == 1 and not scope.singles and "register-names" in rules
        ranges = scope.ranges if is_plain else {}
        known, counts, order = scope.known, self._counts, self.register_order
        given: dict[str, str] = {}
        for name in names:
            base = name.rstrip(_DIGITS)
            kind, count = ranges.get(base, _NONE)
            digits = name[len(base) :]
            is_number = count and 0 < len(digits) < _MOST_DIGITS and digits[0] != "0"
            if not is_number or name in known or int(digits) >= count:
                rule, new = self.resolve(name)
                given[name] = new if rule in rules else name
                continue
            number = counts.get(kind, 0)
            counts[kind] = number + 1
            order.append(name)
            known[name] = given[name] = f"%{kind}_{number}"
        return given

    def resolve(self, name: str) -> _Found:
        """(the rule that renames it, its canonical name), or (None, the name)."""
        for scope in reversed(self._stack):
            new = scope.known.get(name)
            if new is not None:
                return "register-names", new
            kind = scope.singles.get(name)
            if kind is None and scope.ranges:
                base = name.rstrip(_DIGITS)
                declared = scope.ranges.get(base)
                if (
                    declared is not None
                    and _is_number(name[len(base) :])
                    and int(name[len(base) :]) < declared[1]
                ):
                    kind = declared[0]
            if kind is not None:
                number = self._counts.get(kind, 0)
                self._counts[kind] = number + 1
                self.register_order.append(name)
                scope.known[name] = new = f"%{kind}_{number}"
                return "register-names", new
            label = scope.labels.get(name)
            if label is not None:
                return "labels", label
        new = self.parameters.get(name)
        return ("parameter-names", new) if new is not None else (None, name)
