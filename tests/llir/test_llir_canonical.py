"""LLVM IR that means the same has the same canonical form; what means something else has another."""

from __future__ import annotations

import random
import re
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corpus
from irdiff_llir.spelling import fold
from llir.llir_edits import HARMLESS, MEANINGFUL, renamed_values
from llir.llir_samples import STAGE, canonical_of, fixture, kernel, summary_of

KERNELS = (
    fixture("3.6.0", "sm_90", "vector_add_kernel"),
    fixture("3.6.0", "sm_80", "matmul_kernel"),
    fixture("3.1.0", "sm_90", "vector_add_kernel"),
    fixture("3.9.0", "gfx942", "matmul_kernel"),
    fixture("3.6.0", "sm_90", "locked_sum_kernel"),
    fixture("3.6.0", "sm_90", "softmax_kernel"),
)
FORMS = {text: canonical_of(text) for text in KERNELS}


@settings(max_examples=50, deadline=None)
@given(
    st.sampled_from(KERNELS),
    st.lists(st.sampled_from(HARMLESS), min_size=1, max_size=4, unique=True),
    st.integers(0, 2**32),
)
def test_what_changes_no_meaning_changes_no_line(text: str, edits: list[object], seed: int) -> None:
    chance = random.Random(seed)
    edited = text
    for edit in edits:
        edited = edit(edited, chance)  # type: ignore[operator]
    assert canonical_of(edited).lines == FORMS[text].lines


@settings(max_examples=12, deadline=None)
@given(st.sampled_from(KERNELS), st.integers(0, 2**32))
def test_renaming_values_changes_no_fact(text: str, seed: int) -> None:
    before, after = summary_of(text), summary_of(renamed_values(text, random.Random(seed)))
    assert [fact for fact in before.facts if fact.id != "llir.libdevice"] == [
        fact for fact in after.facts if fact.id != "llir.libdevice"
    ]
    assert before.scopes == after.scopes


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(KERNELS), st.sampled_from(sorted(MEANINGFUL)), st.integers(0, 2**32))
def test_one_edit_of_the_meaning_changes_the_form(text: str, name: str, seed: int) -> None:
    edited = MEANINGFUL[name](text, random.Random(seed))
    if edited is not None:
        assert canonical_of(edited).lines != FORMS[text].lines, name


@pytest.mark.parametrize("name", sorted(MEANINGFUL))
def test_every_kind_of_edit_applies_somewhere_and_is_seen_under_any_names(name: str) -> None:
    applied = 0
    for text in KERNELS:
        chance = random.Random(5)
        edited = MEANINGFUL[name](text, chance)
        if edited is not None:
            applied += 1
            assert canonical_of(renamed_values(edited, chance)).lines != FORMS[text].lines
    assert applied


def test_places_are_the_lines_the_form_comes_from() -> None:
    for text in KERNELS:
        lines = text.split("\n")
        form = FORMS[text]
        assert len(form.places) == len(form.lines)
        for line, place in zip(form.lines, form.places, strict=True):
            names = re.findall(r"@[\w.]+", line.partition('"')[0])
            assert all(name in lines[place - 1] for name in names)


_BODY = "  %4 = fadd float %2, 1.000000e+00"
EQUAL = {
    "value-names": (kernel(_BODY), kernel(_BODY.replace("%4", "%sum"))),
    "block-labels": (kernel("  br label %5\n\n5:"), kernel("  br label %next\n\nnext:")),
    "source-lines": (
        kernel(f"{_BODY}, !dbg !7", tail="!7 = !DILocation(line: 1, scope: !8)\n"),
        kernel(f"{_BODY}, !dbg !7", tail="!7 = !DILocation(line: 2, scope: !8)\n"),
    ),
    "source-paths": (
        kernel(_BODY, tail='!1 = !DIFile(filename: "a.py", directory: "/x")\n'),
        kernel(_BODY, tail='!1 = !DIFile(filename: "a.py", directory: "/y")\n'),
    ),
    "metadata-numbers": (
        kernel(f"{_BODY}, !fpmath !1", tail="!1 = !{float 2.0}\n"),
        kernel(f"{_BODY}, !fpmath !4", tail="!4 = !{float 2.0}\n"),
    ),
    "attribute-groups": (kernel(_BODY), kernel(_BODY).replace("#0", "#3")),
    "identity": ('source_filename = "a"\n' + kernel(_BODY), 'source_filename = "b"\n' + kernel(_BODY)),
    "datalayout": (
        'target datalayout = "e-i64:64"\n' + kernel(_BODY),
        'target datalayout = "e"\n' + kernel(_BODY),
    ),
    "dialect-spelling": (
        kernel(_BODY.replace("1.000000e+00", "f0x3F317218")),
        kernel(_BODY.replace("1.000000e+00", "0x3FE62E4300000000")),
    ),
    "comments": ("; one\n" + kernel(_BODY), "; two\n" + kernel(_BODY)),
    "spacing": (kernel(_BODY), "\n" + kernel(_BODY)),
}


@pytest.mark.parametrize("rule", sorted(EQUAL))
def test_a_rule_folds_its_pair_says_so_and_can_be_switched_off(rule: str) -> None:
    before, after = EQUAL[rule]
    first, second = canonical_of(before), canonical_of(after)
    assert first.lines == second.lines
    names = first.erased.keys() | second.erased.keys()
    assert {name for name in names if first.erased.get(name) != second.erased.get(name)} == {rule}
    assert canonical_of(before, rule).lines != canonical_of(after, rule).lines


def test_every_rule_has_a_pair_above() -> None:
    assert {rule.id for rule in STAGE.normalizations} == set(EQUAL)


@settings(max_examples=200, deadline=None)
@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_a_float_in_its_own_bits_is_the_double_with_the_same_value(value: float) -> None:
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    (double,) = struct.unpack("<Q", struct.pack("<d", value))
    assert fold(f"%1 = fmul float %0, f0x{bits:08X}") == f"%1 = fmul float %0, 0x{double:016X}"


def test_spellings_are_folded_only_where_the_meaning_is_certain() -> None:
    assert (
        fold("phi float [ -inf, %a ], [ +inf, %b ]")
        == "phi float [ 0xFFF0000000000000, %a ], [ 0x7FF0000000000000, %b ]"
    )
    assert fold("phi half [ -inf, %a ]") == "phi half [ -inf, %a ]"
    assert (
        fold("ptr nocapture readonly %0, ptr nocapture %1")
        == "ptr readonly captures(none) %0, ptr captures(none) %1"
    )
    assert fold('asm "nocapture +inf f0x3F317218", "r"()') == 'asm "nocapture +inf f0x3F317218", "r"()'
    assert fold("@nocapture_inf = global i32 0") == "@nocapture_inf = global i32 0"


def test_what_metadata_says_is_compared_whatever_its_number() -> None:
    def unrolled(count: int, first: int) -> str:
        hint = f'!{{!"llvm.loop.unroll.count", i32 {count}}}'
        tail = f"!{first} = distinct !{{!{first}, !{first + 1}}}\n!{first + 1} = {hint}\n"
        return kernel(
            f"  br label %5\n\n5:\n  br i1 true, label %5, label %6, !llvm.loop !{first}\n\n6:", tail=tail
        )

    assert canonical_of(unrolled(4, 1)).lines == canonical_of(unrolled(4, 20)).lines
    assert canonical_of(unrolled(4, 1)).lines != canonical_of(unrolled(8, 1)).lines


@pytest.mark.parametrize(("pair", "rule"), [("moved", "source-paths"), ("comment", "source-lines")])
def test_a_recorded_pair_without_a_change_differs_in_one_rule(pair: str, rule: str) -> None:
    (before,) = (corpus.PAIRS / pair / "before").rglob("*.llir")
    (after,) = (corpus.PAIRS / pair / "after").rglob("*.llir")
    first, second = canonical_of(before.read_bytes()), canonical_of(after.read_bytes())
    assert before.read_bytes() != after.read_bytes()
    assert first.lines == second.lines
    assert {name for name in first.erased if first.erased[name] != second.erased.get(name)} == {rule}


def test_an_attribute_group_has_no_order() -> None:
    before = kernel(_BODY)
    after = before.replace('nounwind "nvvm.reqntid"="128"', '"nvvm.reqntid"="128" nounwind')
    assert before != after
    first, second = canonical_of(before), canonical_of(after)
    assert first.lines == second.lines
    assert {name for name in first.erased if first.erased[name] != second.erased.get(name)} == {
        "attribute-groups"
    }
    assert canonical_of(before.replace("nounwind ", "")).lines != first.lines
