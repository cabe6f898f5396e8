"""Text of others made safe for each format: names, messages and paths may hold anything."""

from __future__ import annotations

import re
from html import escape as html_escape

__all__ = ["code", "command_data", "command_property", "flat", "html_escape", "prose"]

PLAIN = re.compile(
    r"(?!\d+[.)](?:\s|$))[A-Za-z0-9(](?:[A-Za-z0-9 ,;.:()%+/→·…'-]|(?<=[A-Za-z0-9])_(?=[A-Za-z0-9]))*"
)
"""Prose in which Markdown and GitHub see nothing but letters; an underscore inside a word is one.
``1. a`` is not among it: that begins a list."""
LINKED = re.compile(r"://|www\.|GH-", re.IGNORECASE)
"""What GitHub makes a link of without being asked."""


def flat(text: str, most: int | None = None) -> str:
    """One line of printable characters, with ``…`` for what is behind the first ``most``."""
    spaced = " ".join(text.replace("\t", " ").splitlines())
    line = "".join(letter if letter.isprintable() else "?" for letter in spaced).strip()
    return line if most is None or len(line) <= most else f"{line[: most - 1]}…"


def code(text: str, most: int | None = None) -> str:
    """A Markdown code span that stands anywhere, a table's cell too.

    Nothing in a code span is formatted, linked, mentioned or taken for HTML (CommonMark 0.31 section 6.1; GitHub
    Flavored Markdown section 4.10 for tables). A backtick or pipe would end the span or the cell: such text is
    written as ``<code>`` with every other character than letters and digits as a reference.
    """
    line = flat(text, most) or " "
    if "`" in line or "|" in line:
        quoted = "".join(
            letter if letter.isalnum() or letter == " " else f"&#{ord(letter)};" for letter in line
        )
        return f"<code>{quoted}</code>"
    return f"`{line}`"


def prose(text: str, most: int | None = None) -> str:
    """Text as it is where Markdown sees nothing in it, else as a code span."""
    line = flat(text, most)
    return line if PLAIN.fullmatch(line) and not LINKED.search(line) else code(line)


def command_data(text: str) -> str:
    """The message of a workflow command: ``%``, carriage return and line feed escaped, nothing else is special."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def command_property(text: str) -> str:
    """The value of a property of a workflow command: ``:`` and ``,`` escaped as well."""
    return command_data(text).replace(":", "%3A").replace(",", "%2C")
