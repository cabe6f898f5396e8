"""The text for a pipe is what rich writes there, byte for byte, wherever it is written without rich."""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from irdiff.present.plain import plain, wrapped
from irdiff.present.terminal import render
from irdiff.present.view import Block, Row, View

words = st.text(st.sampled_from("abc.,:-_·→ "), max_size=60) | st.sampled_from(
    [
        "registers per thread",
        "80 -> 96 registers",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 +16",
        "",
    ]
)
longer = st.lists(words, max_size=8).map(" ".join)
rows = st.builds(
    Row,
    effect=st.sampled_from(["worse", "better", "differs", ""]),
    codes=st.sampled_from(["", "RES101"]),
    title=longer,
    change=longer,
    place=st.sampled_from(["", "kernel.py:41"]),
)
blocks = st.builds(
    Block,
    title=words,
    sentence=longer,
    rows=st.lists(rows, max_size=5).map(tuple),
    more=st.sampled_from([0, 3, 1200]),
    stages=words,
)
views = st.builds(
    View,
    subject=longer,
    verdict=st.sampled_from(["changed · mixed", "identical"]),
    tone=st.just("neutral"),
    paragraphs=st.lists(longer, max_size=2).map(tuple),
    blocks=st.lists(blocks, max_size=3).map(tuple),
    issues=st.lists(longer, max_size=3).map(tuple),
    footer=st.lists(words, max_size=2).map(tuple),
)


@settings(max_examples=200, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(views, st.sampled_from([40, 60, 80, 120, 200]))
def test_a_view_is_written_as_rich_writes_it(view: View, width: int) -> None:
    text = plain(view, width)
    assert text is None or text == render(view, width=width)


@settings(deadline=None, phases=[Phase.explicit, Phase.generate])
@given(st.text(st.sampled_from("ab   "), max_size=80), st.integers(8, 30))
def test_words_break_where_rich_breaks_them(text: str, width: int) -> None:
    from rich.console import Console
    from rich.text import Text

    lines = Text(text).wrap(Console(width=width), width, overflow="fold")
    assert wrapped(text, width) == [line.plain.rstrip(" ") for line in lines]


def test_ordinary_reports_need_no_rich() -> None:
    row = Row(effect="worse", codes="", title="registers per thread", change="80 -> 96 registers (+16)")
    block = Block(title="k", sentence="It begins in TTGIR. " * 20, rows=(row, row), stages="TTIR · PTX")
    view = View(
        subject="k   cuda:90",
        verdict="changed · worse",
        tone="bad",
        paragraphs=("a " * 200,),
        blocks=(block,),
        issues=(),
        footer=(),
    )
    assert plain(view, 120) is not None


@pytest.mark.parametrize("text", ["\u4e2d\u6587", "e\u0301"])
def test_what_takes_more_than_a_column_is_left_to_rich(text: str) -> None:
    view = View(
        subject=text, verdict="changed", tone="neutral", paragraphs=(), blocks=(), issues=(), footer=()
    )
    assert plain(view, 80) is None
