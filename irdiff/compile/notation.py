"""The notation of signatures: Triton's own ahead-of-time notation, with descriptors, tuples, names and literals.

A signature is a comma-separated list, one item for each parameter of the kernel, in order. An item is

- a type: ``fp16``, ``i32``, ``*fp16`` (pointer), ``*ki32`` (pointer to constant), ``tensordesc<fp16[128, 64]>``;
  behind it hints: ``:16`` (divisible by 16), ``:1`` (equal to 1), ``:range32`` (a buffer under 2 GiB, which Triton
  tells its AMD backend alone);
- a constexpr value: ``256``, ``0x10``, ``-1.5``, ``inf``, ``True``, ``None``, ``'text'``; for a parameter that is
  declared ``tl.constexpr`` a type without hints is the value ``tl.float16`` and the like;
- a tuple of items: ``(i32, *fp32:16)``, ``(i32,)``;
- ``constexpr``: the value comes from ``--set`` or from the parameter's default.

``NAME=item`` gives the item of one parameter by name. Source of the types: ``triton/language/__init__.py``
(``str_to_ty``), of the hints: ``triton/tools/compile.py``, both of Triton 3.6.
"""

from __future__ import annotations

import difflib
import re
from typing import NoReturn

from irdiff.compile.items import (
    HINTS,
    OPAQUE,
    SCALARS,
    Argument,
    Hint,
    Item,
    LaterItem,
    TupleItem,
    TypeItem,
    ValueItem,
    quoted,
    value_item,
)
from irdiff.compile.literals import NUMBER, WORDS, literal_of, literal_or_text
from irdiff.errors import UsageError

MAX_DEPTH = 16
MAX_ITEMS = 10_000


def parse_signature(text: str, *, where: str = "--signature") -> tuple[Argument, ...]:
    """The items of a signature. Raises UsageError, with a caret under the place, where it is none."""
    parser = _Parser(text, where)
    arguments: list[Argument] = []
    seen: set[str] = set()
    for name, position, item in parser.listed(named=True):
        if name is None and seen:
            parser.fail(position, "an item by position cannot follow one by name", "NAME=item")
        if name is not None and name in seen:
            parser.fail(position, f"{name} is given twice", "one item for each parameter")
        if name is not None:
            seen.add(name)
        arguments.append(Argument(name=name, item=item))
    return tuple(arguments)


def parse_values(text: str, *, where: str) -> tuple[Item, ...]:
    """A list of items, ``64, 128``: what ``--set NAME=`` may hold. Raises UsageError."""
    parser = _Parser(text, where)
    items = tuple(item for _, _, item in parser.listed(named=False))
    if not items:
        parser.fail(len(text), "nothing is given", "a value")
    return items


def parse_option(text: str, *, where: str) -> tuple[Item, ...]:
    """A list of option values: as ``parse_values``, but a word that is no literal is a string."""
    if any(mark in text for mark in "'\"("):
        return parse_values(text, where=where)
    return tuple(value_item(literal_or_text(part.strip())) for part in text.split(","))


_SPACE = re.compile(r"[ \t\r\n]*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_POINTERS = re.compile(r"(?:\*k?)+")
_STRING = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"")
_ESCAPE = re.compile(r"\\(.)")
_WORD = re.compile(r"[^\s,:()<>=\[\]]*")


class _Parser:
    """Recursive descent over one text; the depth of tuples is bounded."""

    def __init__(self, text: str, where: str) -> None:
        self.text = text
        self.where = where
        self.at = 0

    def fail(self, at: int, message: str, expected: str) -> NoReturn:
        """Raise the error that shows the text with a caret under the place."""
        shown, caret = _excerpt(self.text, at)
        raise UsageError(
            f"{message}; expected {expected}", where=self.where, hint=f"{shown}\n  {' ' * caret}^"
        )

    def listed(self, *, named: bool) -> list[tuple[str | None, int, Item]]:
        """The whole text as a list of items: name, position, item."""
        found: list[tuple[str | None, int, Item]] = []
        self._skip()
        while self.at < len(self.text):
            start = self.at
            name = self._name() if named else None
            found.append((name, start, self._item(0)))
            if len(found) > MAX_ITEMS:
                self.fail(start, "there are too many items", f"{MAX_ITEMS:,} at most")
            self._skip()
            if self.at < len(self.text) and not self._take(","):
                self.fail(self.at, f"{self._seen()} cannot follow an item", "a comma")
            self._skip()
        return found

    def _name(self) -> str | None:
        """``NAME=`` if it comes next."""
        match = _NAME.match(self.text, self.at)
        if match is None:
            return None
        end = match.end() + len(_SPACE.match(self.text, match.end())[0])  # type: ignore[index]  # always matches
        if self.text[end : end + 1] != "=":
            return None
        self.at = end + 1
        self._skip()
        return match[0]

    def _item(self, depth: int) -> Item:
        start = self.at
        here = self.text[start : start + 1]
        if here == "(":
            return self._tuple(depth)
        if here in ("'", '"'):
            return self._string()
        if here == "*":
            return self._type(_POINTERS)
        number = NUMBER.match(self.text, start)
        if number is not None and not _NAME.match(self.text, number.end()):
            literal = literal_of(number[0])
            if literal is None:
                self.fail(start, "this number cannot be read", "an integer or a float")
            self.at = number.end()
            return value_item(literal.value)
        word = _NAME.match(self.text, start)
        if word is None:
            self.fail(start, f"{self._seen()} starts no item", "a type or a value")
        if word[0] == "constexpr":
            self.at = word.end()
            return LaterItem()
        if word[0] in WORDS:
            self.at = word.end()
            return value_item(WORDS[word[0]])
        return self._type(None)

    def _tuple(self, depth: int) -> TupleItem:
        start = self.at
        if depth >= MAX_DEPTH:
            self.fail(start, "tuples are nested too deeply", f"{MAX_DEPTH} levels at most")
        self.at += 1
        items: list[Item] = []
        self._skip()
        while not self._take(")"):
            if self.at >= len(self.text):
                self.fail(start, "this tuple is not closed", "a closing parenthesis")
            items.append(self._item(depth + 1))
            self._skip()
            if self.at < len(self.text) and self.text[self.at] != ")" and not self._take(","):
                self.fail(
                    self.at, f"{self._seen()} cannot follow an item", "a comma or a closing parenthesis"
                )
            self._skip()
        return TupleItem(items=tuple(items))

    def _string(self) -> ValueItem:
        match = _STRING.match(self.text, self.at)
        if match is None:
            self.fail(self.at, "this string is not closed", "a closing quote")
        self.at = match.end()
        text = _ESCAPE.sub(lambda found: "\n" if found[1] == "n" else found[1], match[0][1:-1])
        return ValueItem(kind="str", text=text)

    def _type(self, pointers: re.Pattern[str] | None) -> TypeItem:
        start = self.at
        stars = ""
        if pointers is not None:
            stars = pointers.match(self.text, start)[0]  # type: ignore[index]  # the caller saw a star
            self.at += len(stars)
        element = self._element(start, pointer=bool(stars))
        return TypeItem(type=stars + element, hints=self._hints(pointer=bool(stars), element=element))

    def _element(self, start: int, *, pointer: bool) -> str:
        at = self.at
        word = _WORD.match(self.text, at)[0]  # type: ignore[index]  # always matches
        self.at += len(word)
        if word == "tensordesc" and not pointer:
            return self._descriptor(start)
        if word in SCALARS or (word in OPAQUE and not pointer):
            return word
        return self._no_type(at, word, pointer=pointer)

    def _no_type(self, at: int, word: str, *, pointer: bool) -> NoReturn:
        near = difflib.get_close_matches(_plain(word), SCALARS, n=2, cutoff=0.5)
        wanted = " or ".join(near) if near else f"one of {', '.join(SCALARS)}"
        if not pointer:
            wanted += f"; a string is written {quoted(word)}" if word else ""
        self.fail(at, f"{word!r} is no type" if word else f"{self._seen()} is no type", wanted)

    def _descriptor(self, start: int) -> str:
        """``<fp16[128, 64]>`` behind ``tensordesc``."""
        form = "a descriptor as tensordesc<fp16[128, 64]>"
        self._expect("<", form)
        element = self._element(start, pointer=True)
        self._expect("[", form)
        sizes: list[str] = []
        while True:
            self._skip()
            size = _WORD.match(self.text, self.at)[0]  # type: ignore[index]  # always matches
            if not re.fullmatch(r"[1-9][0-9]{0,9}", size):
                self.fail(self.at, "a block size is missing", form)
            sizes.append(size)
            self.at += len(size)
            self._skip()
            if not self._take(","):
                break
        self._expect("]", form)
        self._expect(">", form)
        return f"tensordesc<{element}[{', '.join(sizes)}]>"

    def _hints(self, *, pointer: bool, element: str) -> tuple[Hint, ...]:
        found: set[Hint] = set()
        integer = not pointer and element[0] in "iu" and element not in ("i1", "u1")
        while True:
            self._skip()
            if self.text[self.at : self.at + 1] != ":":
                return tuple(hint for hint in HINTS if hint in found)
            self.at += 1
            self._skip()
            at = self.at
            word = _WORD.match(self.text, at)[0]  # type: ignore[index]  # always matches
            hint = next((each for each in HINTS if each == word), None)
            allowed = ("16", "range32") if pointer else ("16", "1") if integer else ()
            if hint is None or hint not in allowed:
                wanted = " or ".join(f":{each}" for each in allowed) or "no hint behind this type"
                self.fail(at, f"{word!r} is no hint that Triton knows here", wanted)
            if hint in found or {hint, *found} >= {"16", "1"}:
                self.fail(at, f"{word!r} does not go with the hint before it", "one hint")
            found.add(hint)
            self.at += len(word)

    def _expect(self, mark: str, form: str) -> None:
        self._skip()
        if not self._take(mark):
            self.fail(self.at, f"{mark!r} is missing", form)

    def _take(self, mark: str) -> bool:
        if self.text[self.at : self.at + 1] != mark:
            return False
        self.at += 1
        return True

    def _skip(self) -> None:
        self.at = _SPACE.match(self.text, self.at).end()  # type: ignore[union-attr]  # always matches

    def _seen(self) -> str:
        return repr(self.text[self.at]) if self.at < len(self.text) else "the end"


def _plain(word: str) -> str:
    """Spellings of other programs brought near to Triton's, for the list of what was probably meant."""
    return (
        word.lower().replace("bfloat", "bf").replace("float", "fp").replace("uint", "u").replace("int", "i")
    )


def _excerpt(text: str, at: int, width: int = 72) -> tuple[str, int]:
    """The part of the text around a position, on one line, and where the position is in it."""
    first = max(0, min(at - width // 2, len(text) - width))
    shown = text[first : first + width].replace("\n", " ").replace("\t", " ").replace("\r", " ")
    if first == 0:
        return shown, at
    return f"…{shown}", at - first + 1
