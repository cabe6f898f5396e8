"""A line says by its shape what it says alone, whatever was read before; and little is remembered."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import corpus
from irdiff_ptx.shapes import INSTRUCTION, LITERAL, LONGEST, _remembered, blind, shapes_of, written
from ptx.ptx_samples import canonical_of, summary_of

HEAD = (
    ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n"
    "\t.reg .b32 %r<90>;\n\t.reg .pred %p<9>;\n"
)
LINES = (
    "\tadd.s32 \t%r{0}, %r{1}, {2};",
    "\t@%p{1} bra \t$L__BB0_{2};",
    "$L__BB0_{2}:",
    "\tmov.b32 \t%r{0}, 0x{2}F;",
    "\tmov.f32 \t%f{0}, {1}f3F80000{2};",
    "\tmov.b64 \t{{%r{0}, %r{1}}}, %rd{2};",
    "\tld.global.v{2}.b32 \t{{ %r{0}, %r{1} }}, [ %rd{2} + {1} ];",
    "\tbar.sync \t{0}, {1}{2};",
    "\tsetp.lt.s32 \t%p{0}|%p{1}, %r{1}, -{2};",
    "\t.loc\t{0} {1} {2} // a.py:{1}:{2}",
    "\t// begin inline asm {0}",
    "$L__tmp{0}:   // {1}",
    "\t{0}add.s32 \t%r{1}, {2}%r;",
    "\tst.shared.b{0} [%r{1}],{2}; // {1}",
    "\t.reg .b32 \t%q<{1}>;",
    "\t.section\t.debug_{0}",
    "\t.b8 {0} // {1}",
    "\t{{ .reg .b32 %r{0}; mov.b32 %r{0}, {1}; }}",
    "\tcall.uni (retval{0}), f{1}, (param{2});",
    "٣ {0}",
    "",
)
DIGITS = st.sampled_from(["0", "1", "7", "16", "32", "00", "64", "128"])


@st.composite
def kernels(draw: st.DrawFn) -> bytes:
    lines = draw(st.lists(st.tuples(st.sampled_from(LINES), DIGITS, DIGITS, DIGITS), max_size=25))
    return (HEAD + "".join(f"{line.format(*numbers)}\n" for line, *numbers in lines) + "\tret;\n}\n").encode()


@given(st.lists(kernels(), min_size=2, max_size=4))
def test_what_was_read_before_changes_no_answer(files: list[bytes]) -> None:
    cold = []
    for data in files:
        _remembered.cache_clear()
        cold.append((summary_of(data), canonical_of(data)))
    _remembered.cache_clear()
    assert [(summary_of(data), canonical_of(data)) for data in files] == cold
    assert [(summary_of(data), canonical_of(data)) for data in reversed(files)] == cold[::-1]


@pytest.mark.parametrize("path", corpus.artifacts(".ptx")[::3], ids=lambda path: path.parent.name[:8])
def test_the_parts_of_a_shape_are_those_of_each_of_its_lines(path: object) -> None:
    text = path.read_text()  # type: ignore[attr-defined]
    lines, blinded = text.split("\n"), blind(text).split("\n")
    known = shapes_of(blinded)
    for line, each in zip(lines, blinded, strict=True):
        shape = known[each]
        found = INSTRUCTION.match(line)
        if shape.opcode is None:
            assert found is None or line.startswith(("\t.loc\t", "\t//", "//")), line
            continue
        assert found is not None, line
        operands = found[3] or ""
        assert (line[shape.opcode], line[shape.guard] if shape.guard else None) == (found[2], found[1])
        assert (line[shape.operands] if shape.operands else "") == operands
        if shape.literals is not None and all(operands[zero] == "0" for zero in shape.zeros):
            assert [operands[place] for place in shape.literals] == LITERAL.findall(operands), line
        assert [operands[place] for place in shape.targets or ()] == [
            operands[start:end] for start, end in written(operands)
        ], line


def test_blinding_changes_no_length_and_nothing_but_digits() -> None:
    assert blind("\tadd.s32 \t%r17, %r2, 8; // é ٣ 9\n") == "\tadd.s00 \t%r00, %r0, 0; // é ٣ 0\n"


def test_a_file_of_lines_that_all_differ_does_not_fill_the_memory() -> None:
    chance = random.Random(7)
    long = [
        "\tadd.s32 \t" + ", ".join(f"%{chance.choice('abcdefgh')}x" for _ in range(LONGEST)) + ";"
        for _ in range(50)
    ]
    before = _remembered.cache_info().currsize
    assert len(shapes_of(long)) == len(set(long))
    assert _remembered.cache_info().currsize == before, "long lines are not remembered"
    names = ["".join(chance.choices("abcdefghijklm", k=8)) for _ in range(9000)]
    shapes_of(f"\tadd.s32 \t%{name}, {name};" for name in names)
    info = _remembered.cache_info()
    assert info.maxsize is not None
    assert info.currsize <= info.maxsize <= 4096
