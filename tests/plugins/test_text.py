"""The text of damaged files, for every stage that reads text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irdiff.api import text_of


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\ufeff")))
def test_text_is_what_was_written(text: str) -> None:
    for written in (text, f"\ufeff{text}", text.replace("\n", "\r\n")):
        assert text_of(written.encode()) == (text, None)


@pytest.mark.parametrize(
    ("data", "text", "damage"),
    [
        (b"a\n\xffb", "a\n\\xffb", ("bytes that are no UTF-8", 2)),
        (b"a\n\nb\0", "a\n\nb\\x00", ("a NUL byte in text", 3)),
        (b"\0\n\xff", "\\x00\n\\xff", ("bytes that are no UTF-8", 2)),
        (b"", "", None),
    ],
)
def test_what_no_text_holds_is_told_with_its_line(data: bytes, text: str, damage: object) -> None:
    assert text_of(data) == (text, damage)


@given(st.binary())
def test_any_bytes_give_a_text(data: bytes) -> None:
    text, _ = text_of(data)
    assert "\0" not in text
