"""What a user sees, word for word: goldens over real pairs, and what holds for any report.

``IRDIFF_UPDATE_GOLDENS=1`` writes the goldens anew; read the difference line by line before committing it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import corpus
from command import irdiff
from irdiff.api import Issue
from irdiff.model.codec import decode_report, encode
from irdiff.present.terminal import render
from irdiff.present.view import view
from irdiff.present.wording import printable
from toy_stages import bundle, compare

GOLDEN = Path(__file__).parent / "golden"
PAIRS = ("comment", "divisibility", "fp_fusion", "mma_fallback", "moved", "ptxas_unstable", "spills")


def screens() -> dict[str, list[str]]:
    calls = {f"compare-{name}": ["compare", f"pairs/{name}/before", f"pairs/{name}/after"] for name in PAIRS}
    calls["compare-releases"] = ["compare", "bundles/triton-3.6.0/sm_100", "bundles/triton-3.9.0/sm_100"]
    calls["compare-broken"] = ["compare", "broken/cubin-half", "broken/cubin-half"]
    calls["show-many"] = ["show", "bundles/triton-3.6.0/sm_90"]
    return calls


@pytest.mark.parametrize("name", sorted(screens()))
def test_the_screen_is_as_reviewed(name: str) -> None:
    shown = irdiff(*screens()[name], cwd=corpus.FIXTURES)
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("IRDIFF_UPDATE_GOLDENS"):
        path.write_text(shown.out)
    assert shown.out == path.read_text()
    assert len(shown.out.splitlines()) <= 50


def test_the_readme_shows_a_true_screen() -> None:
    assert (GOLDEN / "compare-moved.txt").read_text().strip("\n") in (corpus.ROOT / "README.md").read_text()


def test_a_report_renders_the_same_after_saving_and_loading() -> None:
    report = compare([bundle(one="add x", two="add x")], [bundle(one="add x", two="spill x")])
    loaded = decode_report(encode(report), where="saved")
    assert render(view(loaded)) == render(view(report))


def test_a_thousand_kernels_fit_a_screen() -> None:
    before = [bundle(f"k{n}", path=f"b{n}", one=f"add {n}", two="add x") for n in range(1000)]
    after = [bundle(f"k{n}", path=f"a{n}", one=f"add {n}", two="spill x" * (n % 3)) for n in range(1000)]
    lines = render(view(compare(before, after))).splitlines()
    assert lines[0].startswith("1,000 kernels")
    assert any("667 kernels  k0 (and 666 more)" in line or "kernels  k" in line for line in lines)
    assert len(lines) <= 50


def test_equal_groups_are_told_once_with_their_size() -> None:
    before = [bundle(f"k{n}", path=f"b{n}", one="add x", two="add x") for n in range(5)]
    after = [bundle(f"k{n}", path=f"a{n}", one="add x", two="spill x") for n in range(5)]
    text = render(view(compare(before, after)))
    assert "5 kernels  k0 (and 4 more)" in text
    assert text.count("two spills") == 1


def test_what_was_not_compared_is_on_the_screen() -> None:
    text = render(view(compare([bundle(one="BROKEN", two="")], [bundle(one="BROKEN ", two="")])))
    assert "incomplete" in text.splitlines()[0]
    assert "entry/kernel.one" in text
    assert "compile it again" in text


def test_unpaired_kernels_are_counted_and_listed_when_asked_for() -> None:
    same = {"one": "add x", "two": "add x"}
    report = compare([bundle("a", **same), bundle("b", **same)], [bundle("a", **same)])
    assert "1 kernel only before: --unpaired lists them." in render(view(report))
    assert "only before: b" in render(view(report, unpaired=True))


def test_everything_shows_every_change() -> None:
    report = compare([bundle(one="add x", two="add x\nspill y")], [bundle(one="add x", two="spill x")])
    text = render(view(report, everything=True))
    assert "more: --all" not in text
    assert "two additions" in text


@given(st.text(max_size=40))
def test_text_from_artifacts_reaches_no_terminal_as_control_characters(text: str) -> None:
    assert all(letter.isprintable() or letter == "\n" for letter in printable(text))


def test_a_hostile_kernel_name_is_shown_and_not_interpreted() -> None:
    name = "[bold]k\x1b[31m\r\x07"
    issue = Issue(severity="error", code="x", message="\x1b[2J gone", where=name)
    made = bundle(name, one="add x", two="")
    report = compare([made], [bundle(name, one="spill x", two="")])
    import msgspec

    text = render(view(msgspec.structs.replace(report, issues=(issue,))))
    assert "[bold]k?[31m" in text
    assert "\x1b" not in text
    assert "\r" not in text


def test_kernels_of_one_name_are_told_apart_by_their_entries() -> None:
    before = [
        bundle("k", target="80", path="a/ABCDEFGHIJ", one="add x", two=""),
        bundle("k", path="a/KLMNOPQRST", one="add y", two=""),
    ]
    after = [
        bundle("k", target="80", path="b/ABCDEFGHIJ", one="spill x", two=""),
        bundle("k", path="b/KLMNOPQRST", one="add y\nadd z", two=""),
    ]
    text = render(view(compare(before, after)))
    assert "k::ABCDEFGH" in text
    assert "k::KLMNOPQR" in text
