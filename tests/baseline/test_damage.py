"""A baseline read strictly: every line is understood, none can be lost, and errors name the line."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from irdiff.baseline.read import parse_baseline
from irdiff.errors import InputError
from irdiff.model.facts import Scope
from irdiff.model.kinds import standard_kinds


@given(st.data())
def test_a_damaged_file_is_an_error_that_names_a_line_or_is_still_a_baseline(data):
    text = SAMPLE.encode()
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 12))
    damaged = text[:at] + data.draw(st.binary(max_size=8)) + text[at + cut :]
    try:
        parse_baseline(damaged, where="k.baseline")
    except InputError as error:
        _is_located(error)


def _is_located(error: InputError) -> None:
    where, _, line = (error.where or "").rpartition(":")
    assert where == "k.baseline"
    assert line.isdigit()
    assert error.hint


SAMPLE = """\
irdiff-baseline/1
# A comment.

facts of several stages
  all.ratio = [quantity]
  lines = 1
facts of one, read by irdiff 0.1.0
  one.adds = [count, in loops]
  one.options = [record, role options]
  one.registers = [quantity, role registers]
  lines = 3
facts of two, read by irdiff 0.1.0
  two.ops = [tally, in loops]
  lines = 1

usual
  one.options
    num_warps = 4
  folded
    one = [arch]
  lines = 4

kernel matmul
  target = cuda:90
  forms
    one = 0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a
    two = 1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b
  one.registers = 80
  two.ops = {add 2}
  in loop0
    stages = [one, two]
    trips = {two 8}
    one.adds = 3
  lines = 10

end
"""


def test_the_sample_says_what_it_looks_like():
    (kernel,) = parse_baseline(SAMPLE.encode(), where="x").kernels
    facts = {(fact.id, fact.scope): fact.value for fact in kernel.facts}
    assert facts == {
        ("one.options", ""): {"num_warps": 4},
        ("one.registers", ""): 80,
        ("two.ops", ""): {"add": 2},
        ("one.adds", "loop0"): 3,
        ("two.ops", "loop0"): {},
    }
    assert kernel.scopes == {
        "one": (Scope(id="loop0"),),
        "two": (Scope(id="loop0", trip_count=8),),
    }
    assert kernel.line == 23
    assert kernel.forms["one"].folded == ("arch",)


@pytest.mark.parametrize("ending", ["\r\n", "\n"])
def test_a_checkout_with_other_line_ends_says_the_same(ending):
    found = parse_baseline(SAMPLE.replace("\n", ending).encode(), where="x")
    assert found == parse_baseline(SAMPLE.encode(), where="x")


@pytest.mark.parametrize(
    ("before", "after", "line", "what"),
    [
        ("irdiff-baseline/1", "irdiff-baseline/9", 1, "has the format irdiff-baseline/9"),
        ("irdiff-baseline/1", "{}", 1, "is no baseline"),
        ("irdiff-baseline/1", "<<<<<<< HEAD", 1, "merge conflict"),
        ("kernel matmul", "<<<<<<< HEAD\nkernel matmul", 23, "merge conflict"),
        ("kernel matmul", "kernel 12", 23, "is a text"),
        ("kernel matmul", "kernels matmul", 23, "no part of a baseline"),
        ("  one.registers = 80", "  one.registers 80", 28, "is no line of a baseline"),
        ("  one.registers = 80", "  one.registers = {a", 28, "not closed"),
        ("  one.registers = 80", "  one.registers = 80\n  one.registers = 80", 23, "stands twice"),
        ("  one.registers = 80", "  one.spills = 80", 28, "does not name the fact one.spills"),
        ("  one.registers = 80", "  one.registers same as two.ops", 28, "does not stand before"),
        ("  one.registers = 80", "        one.registers = 80", 28, "deeper"),
        ("  target = cuda:90", "  colour = red", 24, "nothing that a kernel has"),
        ("  target = cuda:90", "  layout = tree", 24, "no layout 'tree'"),
        ("    one = 0a", "    one = xyz0a", 25, "no digest"),
        ("    trips = {two 8}", "    trips = {three 8}", 30, "not those of the kernel"),
        ("[quantity, role registers]", "[quantity, of registers]", 10, "only `role NAME`"),
        ("    num_warps = 4", "    num_warps", 18, "has no value"),
        ("usual", "facts of one, read by x\nusual", 16, "twice"),
    ],
)
def test_an_error_names_the_line_and_what_is_wrong(before, after, line, what):
    assert before in SAMPLE
    with pytest.raises(InputError, match=what) as error:
        parse_baseline(SAMPLE.replace(before, after, 1).encode(), where="k.baseline")
    assert error.value.where == f"k.baseline:{line}"
    assert error.value.hint


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("one.registers = 80", "one.registers = x", 28),
        ("one.registers = 80", "one.registers = {a 1}", 28),
        ("one.registers = 80", "one.registers = true", 28),
        ("one.registers = 80", "one.registers = nan", 28),
        ("one.registers = 80", "one.registers = inf", 28),
        ("one.registers = 80", "one.registers = -1e999", 28),
        ("one.registers = 80", f"one.registers = {'9' * 400}", 28),
        (
            "one.registers = 80\n  two.ops = {add 2}",
            "two.ops = {add 2}\n  one.registers same as two.ops",
            29,
        ),
        ("two.ops = {add 2}", "two.ops = 3", 29),
        ("two.ops = {add 2}", "two.ops = {add = x}", 29),
        ("one.adds = 3", "one.adds = 3.5", 33),
        ("one.adds = 3", "one.adds = -3", 33),
        ("    num_warps = 4", "    num_warps = 1e999", 18),
        ("  one.options\n    num_warps = 4", "  one.options = 4\n  two.ops = {}", 17),
        ("  one.options\n    num_warps = 4", "  two.ops\n    add = x", 17),
    ],
)
def test_a_value_that_is_not_of_its_kind_or_no_finite_number_is_an_error_at_its_line(before, after, line):
    assert before in SAMPLE
    with pytest.raises(InputError, match=r"is no value of|is not finite") as error:
        parse_baseline(SAMPLE.replace(before, after, 1).encode(), where="k.baseline")
    assert error.value.where == f"k.baseline:{line}"
    assert error.value.hint


def test_the_kind_of_a_plugin_is_checked_where_the_plugin_is_there():
    text = SAMPLE.replace("[quantity, role registers]", "[ratio, role registers]").encode()
    assert parse_baseline(text, where="k").kernels
    kinds = {
        "ratio": msgspec.structs.replace(standard_kinds()["quantity"], id="ratio", accepts=lambda v: v == 1)
    }
    with pytest.raises(InputError, match=r"80 is no value of one\.registers, which is a ratio"):
        parse_baseline(text, where="k", kinds=kinds)


def test_a_file_cut_off_at_any_line_is_an_error_that_names_the_line():
    lines = SAMPLE.removesuffix("end\n").split("\n")
    for count in range(1, len(lines)):
        with pytest.raises(InputError, match="cut off") as error:
            parse_baseline("\n".join(lines[:count]).encode(), where="k.baseline")
        last = max(n for n, text in enumerate(lines[:count], 1) if text.strip())
        assert error.value.where == f"k.baseline:{last}"
        assert "irdiff baseline write" in error.value.hint


def test_no_line_can_be_taken_out_unnoticed():
    """But a whole kernel: it is one that was not compiled then."""
    lines = SAMPLE.split("\n")
    for at, text in enumerate(lines):
        if text.strip() and not text.startswith("#"):
            with pytest.raises(InputError) as error:
                parse_baseline("\n".join(lines[:at] + lines[at + 1 :]).encode(), where="k.baseline")
            _is_located(error.value)


def test_a_line_that_was_taken_out_or_put_in_is_told_at_its_section():
    for other in ("", "  one.registers = 80\n  one.adds = 1\n"):
        with pytest.raises(
            InputError, match=r"'kernel matmul' has (9|11) lines and was written with 10"
        ) as error:
            parse_baseline(SAMPLE.replace("  one.registers = 80\n", other).encode(), where="k.baseline")
        assert error.value.where == "k.baseline:23"
    with pytest.raises(InputError, match="'usual' does not end with its number of lines") as error:
        parse_baseline(SAMPLE.replace("  lines = 4\n", "").encode(), where="k.baseline")
    assert error.value.where == "k.baseline:16"


def test_nothing_stands_behind_the_closing_line():
    with pytest.raises(InputError, match="something stands behind") as error:
        parse_baseline((SAMPLE + "\n" + SAMPLE).encode(), where="k.baseline")
    assert error.value.where == "k.baseline:38"
    with pytest.raises(InputError, match="merge conflict"):
        parse_baseline((SAMPLE + ">>>>>>> theirs\n").encode(), where="k.baseline")


def test_bytes_that_are_no_text_are_an_error_at_their_line():
    with pytest.raises(InputError, match="not UTF-8") as error:
        parse_baseline(SAMPLE.encode() + b"\xff", where="k.baseline")
    assert error.value.where == "k.baseline:37"
