"""Instructions of PTX are renamed many at a time: it is as if each were alone; and literals are those of each line."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irdiff_ptx.shapes import INSTRUCTION
from ptx.ptx_samples import canonical_of, summary_of

HEAD = ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n"
PLAIN_LITERAL = re.compile(r"(?<![\w%$.])-?(?:0[xXfFdD][0-9A-Fa-f]{1,16}|\d{1,20})(?![\w.])")


def kernel(*lines: str) -> bytes:
    return (HEAD + "".join(f"{line}\n" for line in lines) + "\tret;\n}\n").encode()


def immediates(data: bytes) -> dict[str, int]:
    (found,) = (f.value for f in summary_of(data).facts if f.id == "ptx.immediates" and not f.scope)
    assert isinstance(found, dict)
    return found  # type: ignore[return-value]


@given(
    st.lists(
        st.sampled_from(
            [
                "%r1",
                "16",
                "-1",
                "0x1F",
                "0f3F800000",
                "%r1-5",
                "a-7",
                "1e-5",
                "$5",
                "٣",
                "[%rd1+-8]",
                "{%r1, 3}",
                "7.5",
                "-%r2",
                "|9",
                "%p1|12",
            ]
        ),
        min_size=1,
        max_size=4,
    )
)
def test_literals_are_those_that_a_search_of_each_line_finds(operands: list[str]) -> None:
    given = ", ".join(operands)
    data = kernel(f"\tadd.s32 {given};", "\tmov.u32 %r9, 44;")
    expected: dict[str, int] = {}
    if INSTRUCTION.match(f"\tadd.s32 {given};"):
        for literal in PLAIN_LITERAL.findall(given):
            expected[literal] = expected.get(literal, 0) + 1
    expected["44"] = expected.get("44", 0) + 1
    assert immediates(data) == dict(sorted(expected.items()))


@pytest.mark.parametrize("between", ["", "// a comment", "\t.loc\t1 2 3", "$L__tmp4:"])
def test_a_guard_is_named_after_the_operands_of_its_line(between: str) -> None:
    data = kernel(
        "\t.reg .pred %p<4>;",
        "\t.reg .b32 %r<4>;",
        between,
        "\t@%p3 selp.b32 %r2, %r1, %r3, %p1;",
        "\tnot.pred %p2, %p3;",
    )
    lines = canonical_of(data).lines
    assert "@%pred_1 selp.b32 %b32_0, %b32_1, %b32_2, %pred_0;" in lines
    assert "not.pred %pred_2, %pred_1;" in lines


def test_a_name_means_what_the_innermost_braces_declare_before_and_behind_them() -> None:
    data = kernel(
        "\t.reg .b32 %r<3>;",
        "\tmov.b32 %r1, 1;",
        "\t{",
        "\t.reg .b32 %r1;",
        "\tmov.b32 %r1, 2;",
        "\t}",
        "\tmov.b32 %r2, %r1;",
    )
    moves = [line for line in canonical_of(data).lines if line.startswith("mov")]
    assert moves == ["mov.b32 %b32_0, 1;", "mov.b32 %b32_1, 2;", "mov.b32 %b32_2, %b32_0;"]
