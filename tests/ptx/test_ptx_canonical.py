"""PTX that runs the same has the same canonical form; PTX that runs otherwise has another."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corpus
from ptx.ptx_edits import HARMLESS, MEANINGFUL, moved_folder, moved_source, renamed_labels, renamed_registers
from ptx.ptx_samples import STAGE, canonical_of, fixture, kernel, summary_of

KERNELS = (
    fixture("3.6.0", "sm_90", "vector_add_kernel"),
    fixture("3.6.0", "sm_90", "matmul_kernel", "w4s2"),
    fixture("3.1.0", "sm_80", "matmul_kernel"),
    fixture("3.9.0", "sm_100", "tma_matmul_kernel"),
    fixture("3.6.0", "sm_90", "locked_sum_kernel"),
    fixture("3.6.0", "sm_90", "flash_attention_fwd_kernel"),
)
FORMS = {text: canonical_of(text) for text in KERNELS}


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(KERNELS),
    st.lists(st.sampled_from(HARMLESS), min_size=1, max_size=5, unique=True),
    st.integers(0, 2**32),
)
def test_what_changes_nothing_that_runs_changes_no_line(text: str, edits: list[object], seed: int) -> None:
    chance = random.Random(seed)
    edited = text
    for edit in edits:
        edited = edit(edited, chance)  # type: ignore[operator]
    assert canonical_of(edited).lines == FORMS[text].lines


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(KERNELS), st.integers(0, 2**32))
def test_renaming_registers_and_labels_changes_no_fact(text: str, seed: int) -> None:
    chance = random.Random(seed)
    before, after = summary_of(text), summary_of(renamed_labels(renamed_registers(text, chance), chance))
    assert before.facts == after.facts
    assert before.scopes == after.scopes


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(KERNELS), st.sampled_from(sorted(MEANINGFUL)), st.integers(0, 2**32))
def test_one_edit_of_what_runs_changes_the_form(text: str, name: str, seed: int) -> None:
    edited = MEANINGFUL[name](text, random.Random(seed))
    if edited is not None:
        assert canonical_of(edited).lines != FORMS[text].lines, name


@pytest.mark.parametrize("name", sorted(MEANINGFUL))
def test_every_kind_of_edit_applies_somewhere_and_is_seen_under_any_names(name: str) -> None:
    applied = 0
    for text in KERNELS:
        chance = random.Random(3)
        edited = MEANINGFUL[name](text, chance)
        if edited is not None:
            applied += 1
            disguised = moved_source(renamed_labels(renamed_registers(edited, chance), chance), chance)
            assert canonical_of(disguised).lines != FORMS[text].lines
    assert applied


def test_different_kernels_have_different_forms() -> None:
    assert len({FORMS[text].lines for text in KERNELS}) == len(KERNELS)


def test_places_are_the_lines_the_form_comes_from() -> None:
    for text in KERNELS:
        form = FORMS[text]
        lines = text.split("\n")
        assert len(form.places) == len(form.lines)
        for line, place in zip(form.lines, form.places, strict=True):
            word = (
                next((part for part in line.split() if part[0].isalpha()), "").split(".shared")[0].rstrip(";")
            )
            assert word in "\n".join(lines[place - 1 : place + 60])


EQUAL = {
    "state-space-spelling": ("st.shared::cta.b32 [%r1], %r2;", "st.shared.b32 [%r1], %r2;"),
    "spacing": ("add.s32 \t%r1, %r2, [ %r3 + 0 ];", "add.s32 %r1,%r2,[%r3+0];"),
    "comments": ("bar.sync 0; // one", "bar.sync 0; // two"),
    "register-names": ("mov.b32 %r1, 0;", "mov.b32 %r7, 0;"),
    "labels": ("bra L1; L1:", "bra L2; L2:"),
    "source-lines": ("\n\t.loc\t1 2 3\n", "\n\t.loc\t1 4 5\n"),
    "source-paths": ('\n\t.file\t1 "a.py"\n', '\n\t.file\t1 "b.py"\n'),
}


@pytest.mark.parametrize("rule", sorted(EQUAL))
def test_a_rule_folds_its_pair_says_so_and_can_be_switched_off(rule: str) -> None:
    before, after = (kernel(text) for text in EQUAL[rule])
    first, second = canonical_of(before), canonical_of(after)
    assert first.lines == second.lines
    differing = {name for name in first.erased if first.erased[name] != second.erased.get(name)}
    assert differing == {rule}
    assert canonical_of(before, rule).lines != canonical_of(after, rule).lines


HEADS = {
    "ptx-version": (".version 8.7", ".version 8.8"),
    "reqntid-spelling": (".reqntid 128", ".reqntid 128, 1, 1"),
    "parameter-names": ("k_param_0", "k_argument_0"),
}


@pytest.mark.parametrize("rule", sorted(HEADS))
def test_a_rule_of_the_head_folds_its_pair_says_so_and_can_be_switched_off(rule: str) -> None:
    before = kernel("ld.param.b64 %rd1, [k_param_0];")
    after = before.replace(*HEADS[rule])
    first, second = canonical_of(before), canonical_of(after)
    assert first.lines == second.lines
    assert {name for name in first.erased if first.erased[name] != second.erased.get(name)} == {rule}
    assert canonical_of(before, rule).lines != canonical_of(after, rule).lines


def test_every_rule_has_a_pair_above() -> None:
    assert {rule.id for rule in STAGE.normalizations} == {*EQUAL, *HEADS}


@pytest.mark.parametrize("folder", ["/x", "/another/much/longer/folder/than/the/one/before/it/was"])
def test_a_kernel_moved_to_another_folder_differs_in_source_paths_alone(folder: str) -> None:
    text = KERNELS[0]
    moved = moved_folder(text, folder)
    assert moved.count("\n.b8") != text.count("\n.b8"), "the debug sections name the folder as well"
    first, second = canonical_of(text), canonical_of(moved)
    assert first.lines == second.lines
    assert {name for name in first.erased if first.erased[name] != second.erased.get(name)} == {
        "source-paths"
    }


def test_predicates_of_inline_assembly_are_told_apart_by_their_braces() -> None:
    block = "{{\n.reg .pred {0};\n{1}:\nmbarrier.try_wait.parity.shared.b64 {0}, [%r1], %r2;\n@!{0} bra.uni {1};\n}}\n"
    same = kernel(block.format("complete", "waitLoop") + block.format("complete", "waitLoop"))
    other = kernel(block.format("done", "again") + block.format("ready", "once"))
    assert canonical_of(same).lines == canonical_of(other).lines
    crossed = kernel(block.format("done", "again").replace("@!done", "@!%p1") + block.format("ready", "once"))
    assert canonical_of(crossed).lines != canonical_of(other).lines


@pytest.mark.parametrize(("pair", "rule"), [("moved", "source-paths"), ("comment", "source-lines")])
def test_a_recorded_pair_without_a_change_differs_in_one_rule(pair: str, rule: str) -> None:
    (before,) = (corpus.PAIRS / pair / "before").rglob("*.ptx")
    (after,) = (corpus.PAIRS / pair / "after").rglob("*.ptx")
    first, second = canonical_of(before.read_bytes()), canonical_of(after.read_bytes())
    assert before.read_bytes() != after.read_bytes()
    assert first.lines == second.lines
    assert {name for name in first.erased if first.erased[name] != second.erased.get(name)} == {rule}
