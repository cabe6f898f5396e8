"""Hunks hold the lines that differ and no others, whatever happens to the numbers of names behind them."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corpus
from hunks.reading import (
    STAGES,
    TEXT_STAGES,
    between,
    canonical,
    kernel,
    matmul,
    moved,
    of_bytes,
    spec,
    with_lines,
)
from irdiff.api import Canonical
from irdiff.engine.alignment import align
from irdiff.engine.masked import Side

CODE = {
    "source": (r" {4}%\S+ = arith\.[a-z]*i ", "    %inserted = tt.get_program_id z : i32"),
    "ttir": (r" {4}%\S+ = (?:arith\.[a-z]*i |tt\.)", "    %inserted = tt.get_program_id z : i32"),
    "ttgir": (r" {4}%\S+ = (?:arith\.[a-z]*i |tt\.)", "    %inserted = tt.get_program_id z : i32"),
    "llir": (r"  %\S+ = (?!phi)", "  %inserted = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()"),
    "ptx": (r"\t(?:add|shl|or|and)\.", "\tmov.u32 \t%r9999, %ctaid.z;"),
}
"""Lines in front of which an instruction may stand, and that instruction."""


@pytest.mark.parametrize("stage", STAGES)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_line_taken_from_a_canonical_text_is_the_only_one_shown(stage: str, data: st.DataObject) -> None:
    form = matmul(stage)
    at = data.draw(st.integers(0, len(form.lines) - 1))
    rest = with_lines(form, [line for index, line in enumerate(form.lines) if index != at])
    assert moved(between(form, rest, stage)) == [("-", form.lines[at])]
    assert moved(between(rest, form, stage)) == [("+", form.lines[at])]


@pytest.mark.parametrize("stage", TEXT_STAGES)
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_an_inserted_instruction_renumbers_every_name_after_it_and_is_one_hunk(stage: str, seed: int) -> None:
    text = (corpus.entry("3.6.0", "sm_90", "matmul_kernel") / f"matmul_kernel.{stage}").read_text()
    if stage == "ptx":
        text = re.sub(r"\.reg \.b32 \t%r<\d+>;", ".reg .b32 \t%r<10000>;", text)
    lines = text.split("\n")
    pattern, inserted = CODE[stage]
    end = next(at for at, line in enumerate(lines) if re.match(r" *}", line) and at > 20)
    at = random.Random(seed).choice([at for at, line in enumerate(lines[:end]) if re.match(pattern, line)])
    longer = "\n".join([*lines[:at], inserted, *lines[at:]])
    forms = of_bytes(text.encode(), stage), of_bytes(longer.encode(), stage)
    assert len(forms[1].lines) == len(forms[0].lines) + 1
    found = between(*forms, stage)
    assert [mark for mark, _ in moved(found)] == ["+"]
    assert found[0].size == 1
    assert moved(between(forms[1], forms[0], stage))[0][0] == "-"


@pytest.mark.parametrize("stage", STAGES)
def test_a_text_has_no_hunks_against_itself(stage: str) -> None:
    assert between(matmul(stage), matmul(stage), stage) == ()


@pytest.mark.parametrize("stage", STAGES)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_every_line_is_in_exactly_one_step_and_every_difference_in_a_hunk(stage: str, seed: int) -> None:
    form = matmul(stage)
    chance = random.Random(seed)
    lines = [line for line in form.lines if chance.random() > 0.05]
    for _ in range(5):
        lines.insert(chance.randrange(len(lines)), chance.choice(form.lines))
    after = with_lines(form, lines)
    name = re.compile(spec(stage).names)
    steps = align(Side(form.lines, name), Side(after.lines, name), spec(stage).order_free)
    for side, total in ((1, len(form.lines)), (2, len(after.lines))):
        covered = [index for step in steps for index in range(*step[side])]
        assert covered == list(range(total))
    assert bool(between(form, after, stage)) == (form.lines != after.lines)


@pytest.mark.parametrize("stage", ["ttir", "ttgir", "llir"])
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_an_operand_that_is_another_value_is_the_only_line_shown(stage: str, seed: int) -> None:
    form = matmul(stage)
    chance = random.Random(seed)
    number = re.compile(r"%v?(\d+)\b")
    last = next(at for at, line in enumerate(form.lines) if "for " in line or "phi " in line)
    results = [at for at, line in enumerate(form.lines[:last]) if " = " in line.partition("(")[0]]
    at = chance.choice([at for at in results if len(set(number.findall(form.lines[at]))) >= 2])
    line = form.lines[at]
    head, mark, operands = line.partition(" = ")
    used = number.search(operands)
    assert used is not None
    others = {str(each) for each in range(int(number.findall(head)[0]))} - set(number.findall(operands))
    new = chance.choice(sorted(others))
    changed = f"{head}{mark}{operands[: used.start(1)]}{new}{operands[used.end(1) :]}"
    after = with_lines(form, [*form.lines[:at], changed, *form.lines[at + 1 :]])
    assert moved(between(form, after, stage)) == [("-", line), ("+", changed)]


def test_instructions_that_a_scheduler_moved_are_told_in_one_line() -> None:
    form = matmul("sass")
    free = spec("sass").order_free
    assert free is not None
    first = next(
        at for at in range(len(form.lines) - 12) if all(free(line) for line in form.lines[at : at + 12])
    )
    run = list(form.lines[first : first + 12])
    after = with_lines(form, [*form.lines[:first], *reversed(run), *form.lines[first + 12 :]])
    found = between(form, after, "sass")
    noted = [hunk for hunk in found if hunk.note]
    assert [hunk.note for hunk in noted] == ["same 12 instructions in another order"]
    assert noted[0].lines == ()


def test_instructions_moved_across_a_barrier_are_shown_line_by_line() -> None:
    lines = ["entry0:", "IADD3 r0, r1, r2", "FADD r3, r4, r5", "BAR.SYNC.DEFER_BLOCKING 0x0", "EXIT"]
    before = Canonical.of(lines, places=range(len(lines)))
    after = Canonical.of(["entry0:", lines[1], lines[3], lines[2], "EXIT"], places=range(len(lines)))
    found = between(before, after, "sass")
    assert not any(hunk.note for hunk in found)
    assert {mark for mark, _ in moved(found)} == {"-", "+"}


def test_only_a_machine_stage_takes_another_order_for_the_same() -> None:
    form = matmul("ttir")
    lines = list(form.lines)
    lines[2:4] = reversed(lines[2:4])
    assert not any(hunk.note for hunk in between(form, with_lines(form, lines), "ttir"))


@pytest.mark.parametrize("context", [0, 1, 2, 7])
def test_context_is_as_wide_as_asked_for_and_no_line_is_shown_twice(context: int) -> None:
    form = matmul("ptx")
    lines = [line for at, line in enumerate(form.lines) if at % 40 != 30]
    found = between(form, with_lines(form, lines), "ptx", context=context)
    assert len(found) == len([at for at in range(len(form.lines)) if at % 40 == 30])
    shown = [line.place_before for hunk in found for line in hunk.lines if line.place_before is not None]
    assert shown == sorted(shown)
    assert all(sum(line.mark == " " for line in hunk.lines) <= 2 * context for hunk in found)


def test_changes_with_one_equal_line_between_are_one_hunk() -> None:
    form = matmul("ptx")
    lines = [line for at, line in enumerate(form.lines) if at not in (100, 102)]
    assert len(between(form, with_lines(form, lines), "ptx", context=0)) == 1


def test_a_loop_and_the_line_of_python_are_in_the_head() -> None:
    from irdiff.cli.session import session
    from irdiff.engine.hunks import hunks, text_of

    path = corpus.entry("3.6.0", "sm_90", "matmul_kernel")
    with session(external=False) as run:
        text = text_of(kernel(path), run.reader(canonical=False), "ttgir")
    assert text is not None
    at = next(at for at, line in enumerate(text.canonical.lines) if "warp_group_dot " in line)
    import msgspec

    form = text.canonical
    short = msgspec.structs.replace(
        form, lines=form.lines[:at] + form.lines[at + 1 :], places=form.places[:at] + form.places[at + 1 :]
    )
    (hunk,) = hunks(text, msgspec.structs.replace(text, canonical=short), spec("ttgir"), "matmul_kernel")
    assert hunk.scope == "matmul_kernel/loop0"
    assert hunk.before == (form.places[at], form.places[at])
    assert hunk.after is None
    assert hunk.source is not None
    assert re.search(r"matmul\.py:\d+$", hunk.source)
    own = (path / "matmul_kernel.ttgir").read_text().split("\n")[form.places[at] - 1]
    (line,) = [line for line in hunk.lines if line.mark == "-"]
    assert line.written == own
    assert own.split(" = ")[0].strip() in line.text


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(alphabet='%@{}[](): =,rR0123v!"b\n\x01', max_size=30), max_size=12))
def test_no_text_breaks_the_alignment(lines: list[str]) -> None:
    for stage in STAGES:
        form = Canonical.of(lines, places=range(len(lines)))
        other = Canonical.of(list(reversed(lines)), places=range(len(lines)))
        assert bool(between(form, other, stage)) == (form.lines != other.lines)


def test_two_releases_of_one_kernel_are_aligned_on_their_opcodes() -> None:
    before = canonical(corpus.entry("3.6.0", "sm_100", "matmul_kernel"), "ttgir")
    after = canonical(corpus.entry("3.9.0", "sm_100", "matmul_kernel"), "ttgir")
    lines = moved(between(before, after, "ttgir"))
    assert {mark for mark, _ in lines} == {"+"}
    assert all("ttng.fence_async_shared" in line for _, line in lines)
