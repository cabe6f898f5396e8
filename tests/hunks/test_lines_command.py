"""``compare --ir`` and ``show --canonical`` as a user calls them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import corpus
from command import irdiff, irdiff_json
from hunks.reading import STAGES, canonical

DIVISIBILITY = (corpus.PAIRS / "divisibility" / "before", corpus.PAIRS / "divisibility" / "after")


@pytest.mark.parametrize("stage", STAGES)
def test_the_lines_of_a_stage_follow_the_report(stage: str) -> None:
    plain = irdiff("compare", *DIVISIBILITY).out
    shown = irdiff("compare", *DIVISIBILITY, "--ir", stage).out
    assert shown.startswith(plain.rstrip("\n"))
    heads = [line for line in shown.splitlines() if line.startswith("@@ ")]
    assert heads
    assert all(f"  {stage} " in line and line.endswith("@@") for line in heads)
    assert any(line.startswith(("+ ", "- ")) for line in shown.splitlines())


def test_hunks_are_in_the_json_where_they_were_asked_for() -> None:
    (kernel,) = irdiff_json("compare", *DIVISIBILITY)["kernels"]
    assert "hunks" not in kernel
    (kernel,) = irdiff_json("compare", *DIVISIBILITY, "--ir", "sass")["kernels"]
    assert kernel["hunks"]["stage"] == "sass"
    assert kernel["hunks"]["place"] == "address"
    changed = [line for hunk in kernel["hunks"]["hunks"] for line in hunk["lines"] if line["mark"] == "+"]
    assert any("LDG.E.U16 R" in line["text"] and "LDG.E.U16 r" in line["canonical"] for line in changed)


def test_a_stage_that_is_the_same_has_no_lines() -> None:
    moved = (corpus.PAIRS / "moved" / "before", corpus.PAIRS / "moved" / "after")
    shown = irdiff("compare", *moved, "--ir", "ttir").out
    assert shown == irdiff("compare", *moved).out + "\nttir: no line differs in meaning\n"


def test_a_switched_off_normalisation_shows_the_lines_it_hides() -> None:
    moved = (corpus.PAIRS / "moved" / "before", corpus.PAIRS / "moved" / "after")
    shown = irdiff("compare", *moved, "--ir", "ttir", "--no-normalize", "source-paths").out
    assert "@@ " in shown
    assert "loc(" in shown


def test_a_stage_no_plugin_reads_is_compared_line_by_line(tmp_path: Path) -> None:
    for side, text in (("before", "one\ntwo\nthree\n"), ("after", "one\nthree\n")):
        shutil.copytree(DIVISIBILITY[0], tmp_path / side)
        (entry,) = [path.parent for path in (tmp_path / side).rglob("*.ttir")]
        (entry / "strided_copy_kernel.tileir").write_text(text)
    shown = irdiff("compare", tmp_path / "before", tmp_path / "after", "--ir", "tileir").out
    assert shown.splitlines()[-4:] == [
        "@@ strided_copy_kernel  tileir 2 → nothing  @@",
        "  one",
        "- two",
        "  three",
    ]


def test_a_stage_that_is_not_there_is_a_usage_error_with_the_nearest_name() -> None:
    done = irdiff("compare", *DIVISIBILITY, "--ir", "ttgri")
    assert done.code == 64
    assert "ttgir" in done.err


def test_context_lines_can_be_left_out() -> None:
    shown = irdiff("compare", *DIVISIBILITY, "--ir", "ttir", "--context", "0").out
    lines = shown[shown.index("@@ ") :].splitlines()[1:]
    assert [line[0] for line in lines] == ["-", "+"]


def test_a_damaged_side_is_said_to_have_no_lines(tmp_path: Path) -> None:
    for side in ("before", "after"):
        shutil.copytree(DIVISIBILITY[0], tmp_path / side)
    (path,) = (tmp_path / "after").rglob("*.ttgir")
    path.write_bytes(b"\x00\x01")
    assert (
        "ttgir: not readable after"
        in irdiff("compare", tmp_path / "before", tmp_path / "after", "--ir", "ttgir").out
    )


def test_only_the_first_kernels_show_lines_unless_all_are_asked_for(tmp_path: Path) -> None:
    for number in range(7):
        for side, source in zip(("before", "after"), DIVISIBILITY, strict=True):
            (entry,) = [path.parent for path in source.rglob("*.ttir")]
            folder = tmp_path / side / f"ENTRY{number}"
            folder.mkdir(parents=True)
            for path in entry.iterdir():
                if path.suffix in (".ttir", ".ttgir"):
                    (folder / path.name.replace("strided_copy", f"copy{number}")).write_bytes(
                        path.read_bytes().replace(b"strided_copy_kernel", f"copy{number}_kernel".encode())
                    )
    short = irdiff("compare", tmp_path / "before", tmp_path / "after", "--ir", "ttir").out
    assert short.count("@@ copy") == 5
    assert "and 2 more kernels: --all shows them" in short
    everything = irdiff("compare", tmp_path / "before", tmp_path / "after", "--ir", "ttir", "--all").out
    assert everything.count("@@ copy") == 7


@pytest.mark.parametrize("stage", STAGES)
def test_the_canonical_text_is_shown_with_the_lines_it_comes_from(stage: str) -> None:
    path = corpus.entry("3.6.0", "sm_90", "vector_add_kernel")
    form = canonical(path, stage)
    lines = irdiff("show", path, "--canonical", stage).out.splitlines()
    assert [line.strip().partition("  ")[2].strip() for line in lines] == [
        line.strip() for line in form.lines
    ]
    numbers = [line.split()[0] for line in lines]
    assert numbers == [f"{place:#06x}" if stage == "sass" else str(place) for place in form.places]


def test_the_canonical_text_keeps_what_a_switched_off_normalisation_would_drop() -> None:
    path = corpus.entry("3.6.0", "sm_90", "vector_add_kernel")
    usual = irdiff("show", path, "--canonical", "ttir").out
    named = irdiff("show", path, "--canonical", "ttir", "--no-normalize", "ssa-names").out
    assert "%x_ptr" not in usual
    assert "%x_ptr" in named


def test_the_canonical_text_of_an_unknown_stage_or_of_json_is_a_usage_error() -> None:
    path = corpus.entry("3.6.0", "sm_90", "vector_add_kernel")
    assert irdiff("show", path, "--canonical", "ttirr").code == 64
    assert irdiff("show", path, "--canonical", "ttir", "--format", "json").code == 64


def test_a_saved_report_shows_the_same_lines(tmp_path: Path) -> None:
    from irdiff.cli.compare import saved_report
    from irdiff.present.terminal import render
    from irdiff.present.view import view

    arguments = ("compare", *DIVISIBILITY, "--ir", "ptx")
    saved = tmp_path / "report.json"
    assert irdiff(*arguments, "--format", "json", "--output", saved).code == 0
    assert render(view(saved_report(saved))) == irdiff(*arguments).out
