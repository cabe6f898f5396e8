"""Lines of a baseline by their indentation, and what may stand in one; errors name the file and the line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NoReturn, TypeVar

import msgspec

from irdiff.baseline.content import COUNT, END
from irdiff.errors import InputError
from irdiff.model.facts import Scalar, Value
from irdiff.model.notation import NotationError, parse_key, parse_scalar, parse_value

T = TypeVar("T")
AGAIN = "write it again: irdiff baseline write DIR -o FILE"
NAME = r'"(?:[^"\\]|\\.)*"|[^\s"=]+'
_LINE = re.compile(
    rf"(?P<indent>(?:  )*)(?P<within>in )?(?P<key>{NAME})"
    rf"(?: (?P<operation>=) (?P<value>.+)| (?P<same>same as) (?P<other>{NAME})| (?P<absent>absent))?"
)
CONFLICT = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")
_DEEPEST = 3
_LARGEST = 1e300
"""No number of a fact comes near it, and sums and differences of such numbers are finite still."""


class Line(msgspec.Struct, kw_only=True):
    """One line with the lines below it."""

    number: int
    key: str
    within: bool = False
    """``in KEY``."""
    value: str | None = None
    same_as: str | None = None
    absent: bool = False
    inside: list[Line] = []


class Section(msgspec.Struct, kw_only=True):
    """A line at the left edge with what is below it."""

    number: int
    text: str
    inside: list[Line]
    lines: int = 0
    """How many lines are below it, at any depth."""


class Lines:
    """Reads the lines of one file."""

    def __init__(self, where: str) -> None:
        self._where = where

    def sections(self, lines: Sequence[str]) -> Iterator[Section]:
        """What stands at the left edge from the second line on, with what is below it; a line missing is an error."""
        for section in self._sections(self._whole(lines)):
            count = section.inside.pop() if section.inside and section.inside[-1].key == COUNT else None
            yield section  # what is wrong in a line is told before a line is missed
            if count is None:
                self.fail(section.number, f"{section.text[:60]!r} does not end with its number of {COUNT}")
            written = self.value(count)
            if written != section.lines - 1:
                self.fail(
                    section.number,
                    f"{section.text[:60]!r} has {section.lines - 1} lines and was written with {written!r}",
                )

    def _whole(self, lines: Sequence[str]) -> Sequence[str]:
        """The lines above the closing one, which nothing may be behind."""
        if END not in lines:
            last = max(number for number, text in enumerate(lines, 1) if text.strip())
            self.fail(last, f"the file is cut off here: it does not close with the line `{END}`")
        end = lines.index(END)
        for number, text in enumerate(lines[end + 1 :], end + 2):
            if text.startswith(CONFLICT):
                self.fail(number, "a merge conflict is not resolved", hint=f"resolve it, or {AGAIN}")
            if text.strip():
                self.fail(number, f"something stands behind the closing line `{END}`")
        return lines[:end]

    def _sections(self, lines: Sequence[str]) -> Iterator[Section]:
        section: Section | None = None
        open_lines: list[Line] = []
        for number, text in enumerate(lines[1:], 2):
            if not text.strip() or text.startswith("#"):
                continue
            if text.startswith(CONFLICT):
                self.fail(number, "a merge conflict is not resolved", hint=f"resolve it, or {AGAIN}")
            if not text.startswith(" "):
                if section is not None:
                    yield section
                section, open_lines = Section(number=number, text=text, inside=[]), []
                continue
            line, depth = self._line(number, text)
            if section is None or depth > len(open_lines) + 1 or depth > _DEEPEST:
                self.fail(number, "is indented deeper than anything it could belong to")
            del open_lines[depth - 1 :]
            (open_lines[-1].inside if open_lines else section.inside).append(line)
            section.lines += 1
            open_lines.append(line)
        if section is not None:
            yield section

    def _line(self, number: int, text: str) -> tuple[Line, int]:
        found = _LINE.fullmatch(text)
        if found is None:
            self.fail(number, f"{text.strip()[:60]!r} is no line of a baseline")
        return (
            Line(
                number=number,
                key=self.understood(number, lambda: parse_key(found["key"])),
                within=found["within"] is not None,
                value=found["value"],
                same_as=self.understood(number, lambda: parse_key(found["other"])) if found["same"] else None,
                absent=found["absent"] is not None,
                inside=[],
            ),
            len(found["indent"]) // 2,
        )

    def value(self, line: Line) -> Value:
        """A line's value, which is not null."""
        text = line.value
        if text is None or line.inside:
            self.fail(line.number, f"{line.key} has no value")
        made = self.understood(line.number, lambda: parse_value(text))
        if made is None:
            self.fail(line.number, f"{line.key} is null, which no fact is")
        self._finite(line, made.values() if isinstance(made, dict) else (made,))
        return made

    def record(self, line: Line) -> dict[str, Scalar]:
        """The fields below a line."""
        made: dict[str, Scalar] = {}
        for field in line.inside:
            text = field.value
            if text is None or field.inside or field.within:
                self.fail(field.number, f"{field.key} has no value")
            if field.key in made:
                self.fail(field.number, f"{field.key} stands there twice")
            made[field.key] = self.understood(field.number, lambda text=text: parse_scalar(text))  # type: ignore[misc]
            self._finite(field, (made[field.key],))
        return made

    def _finite(self, line: Line, values: Iterable[object]) -> None:
        """An error where a number cannot be reckoned with: NaN, which equals nothing, or one without end."""
        for value in values:
            if isinstance(value, (int, float)) and not abs(value) <= _LARGEST:
                self.fail(line.number, f"a number of {line.key} is not finite, or has no end of digits")

    def strings(self, line: Line) -> tuple[str, ...]:
        """A line's list."""
        made = self.value(line)
        if not isinstance(made, tuple):
            self.fail(line.number, f"{line.key} is no list", hint="write it in brackets: [ptx, sass]")
        return made

    def lists(self, line: Line) -> dict[str, tuple[str, ...]]:
        """The lists below a line, by key."""
        made = {each.key: self.strings(each) for each in line.inside}
        if len(made) != len(line.inside):
            self.fail(line.number, f"a name stands twice below {line.key}")
        return made

    def understood(self, number: int, make: Callable[[], T]) -> T:
        """What a line says; an error where it says nothing."""
        try:
            return make()
        except NotationError as error:
            self.fail(number, str(error))

    def fail(self, number: int, message: str, hint: str = AGAIN) -> NoReturn:
        """Raise InputError for a line."""
        raise InputError(message, where=f"{self._where}:{number}", hint=hint)
