"""Text of files that should hold text, and may be damaged."""

from __future__ import annotations


def text_of(data: bytes) -> tuple[str, tuple[str, int] | None]:
    """The text of a file, and what is wrong with it: in words, with the line (from 1) of the first; None for nothing.

    Bytes that are no UTF-8, and NULs, are written as escapes in hexadecimal. A byte order mark is taken away and lines
    end in line feeds, for neither says anything. Raises nothing.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        damage: tuple[str, int] | None = ("bytes that are no UTF-8", data.count(b"\n", 0, error.start) + 1)
        text = data.decode("utf-8", errors="backslashreplace")
    else:
        damage = (
            ("a NUL byte in text", data.count(b"\n", 0, data.index(b"\0")) + 1) if b"\0" in data else None
        )
    text = text.removeprefix("\ufeff")
    if "\r" in text:  # one character is found faster
        text = text.replace("\r\n", "\n")
    return (text.replace("\0", "\\x00") if damage else text), damage
