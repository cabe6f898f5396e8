"""Values and block labels of one LLVM IR function, and what each is called in canonical form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from irdiff_llir.reader import Item

TOKEN = re.compile(r"([%\"#!](?:(?<=%)(?:\"[^\"\n]*\"|[-\w.$]+)|(?<=\")[^\"\n]*\"|(?<= #)\d+\b|(?<=!)\d+\b))")
"""What is replaced in a text of any number of lines, in a group so that ``split`` keeps it.

It looks back from behind its first character: ``re`` then skips to the next character that can begin one."""
_LOCAL = re.compile(r"%(?:\"[^\"]*\"|[-\w.$]+)|\"[^\"]*\"")

Rule: TypeAlias = Literal["value-names", "block-labels"]


class FunctionNames:
    """Numbers values and labels by first appearance in a function: its head, and what is in its braces.

    A name that is neither a label nor defined is the entry block's: LLVM does not print that label.
    """

    def __init__(self, body: Sequence[Item], types: frozenset[str]) -> None:
        self.values: dict[str, str] = {}
        self.labels: dict[str, str] = {}
        self._types = types
        self._blocks = {f"%{item[3]}" for item in body if item[2] == ":"}
        defined = {item[1] for item in body}
        for item in body[:1]:
            defined.update(_LOCAL.findall(item[3]))
        self._values = (
            {name for name in defined if name is not None and name[0] == "%"} - self._blocks - types
        )

    def number_values(self, tokens: Iterable[str]) -> dict[str, str]:
        """The canonical names of those of the tokens, in order of appearance and all of them new, that are values."""
        found = [token for token in tokens if token in self._values]
        start = len(self.values)
        names = dict(zip(found, [f"%v{number}" for number in range(start, start + len(found))], strict=True))
        self.values.update(names)
        return names

    def resolve(self, token: str) -> tuple[Rule | None, str]:
        """(the rule that renames it, its canonical name), or (None, the token) for a named type."""
        if token in self._types:
            return None, token
        if token in self._values:
            return "value-names", self.values.setdefault(token, f"%v{len(self.values)}")
        return "block-labels", self.labels.setdefault(token, f"%b{len(self.labels)}")

    def label_definition(self, name: str) -> str:
        """The canonical name of a label where it stands."""
        return self.resolve(f"%{name}")[1][1:]
