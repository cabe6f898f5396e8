"""The file that an assertion on the device names says where, not what."""

from __future__ import annotations

import pytest

from irdiff.api import Artifact, Canonical, Context
from irdiff.testing import NoTools
from irdiff_ptx.plugin import irdiff_stages

(STAGE,) = irdiff_stages()
TEXT = """.version 8.7
.target sm_90a
.address_size 64
.global .align 1 .b8 assertMessage_0[{length}] = {{{message}}};
.global .align 1 .b8 assertFile_0[{size}] = {{{path}}};
.visible .entry k()
{{
\tret;
}}
"""


def form(path: str = "/a/k.py", message: str = "overflow", *switched_off: str) -> Canonical:
    def spelled(text: str) -> str:
        return ", ".join(str(byte) for byte in text.encode())

    text = TEXT.format(
        length=len(message) + 1, message=spelled(message), size=len(path) + 1, path=spelled(path)
    )
    context = Context(tools=NoTools(), switched_off=frozenset(switched_off))
    return STAGE.canonical(Artifact.of_bytes(text.encode()), context)


def test_the_same_assertion_in_another_folder_has_the_same_form_and_says_why_bytes_differ() -> None:
    one, other = form(), form("/quite/another/folder/k.py")
    assert one.lines == other.lines
    assert {name for name in one.erased if one.erased[name] != other.erased[name]} == {"source-paths"}


@pytest.mark.parametrize("message", ["overfloW", "out of bounds"])
def test_another_message_is_another_form(message: str) -> None:
    assert form().lines != form(message=message).lines


def test_paths_count_where_they_are_asked_for() -> None:
    assert form("/a/k.py", "m", "source-paths").lines != form("/b/k.py", "m", "source-paths").lines
