"""Values and block labels of one LLVM IR function, and what each is called in canonical form."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from irdiff_llir.reader import Item

TOKEN = re.compile(r"(%(?:\"[^\"\n]*\"|[-\w.$]+)|\"[^\"\n]*\"|#(?<= #)\d+\b|!\d+\b)")
"""What is replaced in a text of any number of lines, in a group so that ``split`` keeps it."""
_LOCAL = re.compile(r"%(?:\"[^\"]*\"|[-\w.$]+)|\"[^\"]*\"")

Rule: TypeAlias = Literal["value-names", "block-labels"]


class FunctionNames:
    """Numbers values and labels by first appearance in the function that ``items[start]`` opens.

    A name that is neither a label nor defined is the entry block's: LLVM does not print that label.
    """

    def __init__(self, items: tuple[Item, ...], start: int, types: frozenset[str]) -> None:
        self.values: dict[str, str] = {}
        self.labels: dict[str, str] = {}
        self._types = types
        self._blocks: set[str] = set()
        self._defined: set[str] = set()
        for index in range(start, len(items)):
            _, result, opcode, text = items[index]
            if opcode == "}":
                break
            if opcode == ":":
                self._blocks.add(f"%{text}")
            elif opcode == "{":
                self._defined.update(_LOCAL.findall(text))
            elif result is not None:
                self._defined.add(result)

    def resolve(self, token: str) -> tuple[Rule | None, str]:
        """(the rule that renames it, its canonical name), or (None, the token) for a named type."""
        if token in self._types:
            return None, token
        if token in self._defined and token not in self._blocks:
            return "value-names", self.values.setdefault(token, f"%v{len(self.values)}")
        return "block-labels", self.labels.setdefault(token, f"%b{len(self.labels)}")

    def label_definition(self, name: str) -> str:
        """The canonical name of a label where it stands."""
        return self.resolve(f"%{name}")[1][1:]
