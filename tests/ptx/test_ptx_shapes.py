"""A line says by its shape what it says alone, whatever was read before; and little is remembered."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import corpus
from irdiff_ptx.keys import KEYED_OPCODES, key_of, packing
from irdiff_ptx.opcodes import fact_of
from irdiff_ptx.shapes import (
    GUARDED,
    INSTRUCTION,
    LABELS,
    LITERAL,
    LOCATES,
    LONGEST,
    MOST,
    PACKS,
    REFERS,
    TURNS,
    UNPACKS,
    WHOLE,
    blind,
    is_literal,
    remembered,
    shapes_of,
    written,
)
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
        remembered().clear()
        cold.append((summary_of(data), canonical_of(data)))
    remembered().clear()
    assert [(summary_of(data), canonical_of(data)) for data in files] == cold
    assert [(summary_of(data), canonical_of(data)) for data in reversed(files)] == cold[::-1]


@pytest.mark.parametrize("path", corpus.artifacts(".ptx")[::3], ids=lambda path: path.parent.name[:8])
def test_the_parts_of_a_shape_are_those_of_each_of_its_lines(path: object) -> None:
    text = path.read_text()  # type: ignore[attr-defined]
    lines, blinded = text.split("\n"), blind(text).split("\n")
    for line, shape in zip(lines, shapes_of(blinded), strict=True):
        found = INSTRUCTION.match(line)
        if not shape.kind & WHOLE:
            assert found is None or shape.kind & LOCATES or line.strip().startswith("//"), line
            assert not shape.kind & LABELS or (line[shape.operands], line[shape.opcode]) == (
                line.split(":")[0].strip(),
                ":",
            )
            continue
        assert found is not None, line
        guard, opcode, operands = found.groups(default="")
        assert (line[shape.guard], line[shape.opcode], line[shape.operands]) == (guard, opcode, operands)
        assert [line[place] for place in shape.literals if is_literal(line[place])] == LITERAL.findall(
            operands
        )
        assert [line[place] for place in shape.targets] == [
            operands[start:end] for start, end in written(operands)
        ]
        moves = packing(operands) if opcode.split(".")[0] == "mov" else ""
        said = {
            GUARDED: bool(guard),
            TURNS: opcode.startswith("bra") or opcode in ("ret", "exit", "trap"),
            REFERS: opcode.startswith(("bra", "call", "mov")),
            PACKS: moves == "pack",
            UNPACKS: moves == "unpack",
        }
        assert {flag: bool(shape.flags & flag) for flag in said} == said, line


@pytest.mark.parametrize("literal", ["0", "7", "-12", "0x1F", "-0x0", "0f3F800000", "0d400", "٣", "00"])
def test_a_literal_is_known_by_its_text(literal: str) -> None:
    assert is_literal(literal)
    assert LITERAL.fullmatch(literal)


@pytest.mark.parametrize("other", ["1x1F", "-7x0", "5f3F800000", "9d400"])
def test_what_only_looks_like_a_literal_when_it_is_blind_is_none(other: str) -> None:
    assert LITERAL.fullmatch(blind(other))
    assert not LITERAL.match(other)
    assert not is_literal(other)


@pytest.mark.parametrize(
    "opcode",
    [
        "cp.async.ca.shared.global",
        "cp.async.bulk.shared::cluster.global",
        "cp.async.wait_group",
        "cp.async.wait_all",
        "cp.async.bulk.tensor.2d.shared",
        "wgmma.wait_group.sync.aligned",
        "wgmma.mma_async.sync",
        "tcgen05.wait::ld.sync",
        "bar.sync",
        "barrier.cluster.arrive",
        "bar.warp.sync",
        "mbarrier.try_wait.b64",
        "prmt.b32",
        "ld.global.b32",
        "cvt.f32.f16",
        "tcgen05.cp",
        "red.add",
    ],
)
def test_an_opcode_whose_operands_enter_a_key_is_known_by_how_it_begins(opcode: str) -> None:
    words = opcode.split(".")
    is_made = not isinstance(key_of(fact_of(words), opcode, words), str)
    assert opcode.startswith(KEYED_OPCODES) or not is_made


def test_blinding_changes_no_length_and_nothing_but_digits() -> None:
    assert blind("\tadd.s32 \t%r17, %r2, 8; // é ٣ 9\n") == "\tadd.s00 \t%r00, %r0, 0; // é ٣ 0\n"


def test_a_file_of_lines_that_all_differ_does_not_fill_the_memory() -> None:
    chance = random.Random(7)
    long = [
        "\tadd.s32 \t" + ", ".join(f"%{chance.choice('abcdefgh')}x" for _ in range(LONGEST)) + ";"
        for _ in range(20)
    ]
    before = len(remembered())
    shapes = shapes_of([*long, *long])
    assert shapes[: len(long)] == shapes[len(long) :]
    assert len(remembered()) == before, "long lines are not remembered"
    names = ["".join(chance.choices("abcdefghijklm", k=8)) for _ in range(9000)]
    shapes_of([f"\tadd.s32 \t%{name}, {name};" for name in names])
    assert len(remembered()) <= MOST <= 4096
