"""A line says by its shape what it says alone, whatever was read before; and little is remembered."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import corpus
from irdiff_llir.shapes import INSTRUCTION, LITERAL, LONGEST, MARK, _remembered, blind, shapes_of
from llir.llir_samples import canonical_of, summary_of

LINES = (
    "  %{0} = add i{1} %{1}, {2}, !dbg !{0}",
    "  %{0} = fadd fast float %{1}, 0x3FF{2}",
    "  %{0} = fmul float %{1}, {2}x3F",
    "  %{0} = extractvalue {{ i32, i32, i{1} }} %{1}, {2}, !dbg !{1}",
    "  %{0} = insertvalue {{ i32, %t{1} }} %{1}, i32 {2}, 1, !dbg !{1}, !x !{2}",
    "  %{0} = load <{1} x i32>, ptr addrspace({2}) %{1}, align {2}, !dbg !{0}",
    "  store i32 {0}, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 {1}), align {2}",
    "  br i1 %{0}, label %{1}, label %{2}, !dbg !{0}",
    "{0}:                                     ; preds = %{1}",
    "  switch i32 %{0}, label %{1} [",
    "    i32 {0}, label %{1}",
    "  ], !dbg !{2}",
    '  %{0} = call i32 asm sideeffect "mov.u32 $0, {1};", "=r"() #{2}, !dbg !{1}',
    "  %{0} = call float @llvm.fma.f{1}(float %{1}, float {2}.0) #{2}",
    "  call void @llvm.dbg.value(metadata i32 {0}, metadata !{1}), !dbg !{2}",
    "    #dbg_value(i32 %{0}, !{1}, !DIExpression(), !{2})",
    "  ret void, !dbg !{0}",
    "}}",
    "define void @f{0}(i32 %{1}) #{2} {{",
    "!{0} = !DILocation(line: {1}, column: {2}, scope: !{2})",
    '!{0} = distinct !DIFile(filename: "a{1}.py", directory: "/b")',
    "  icmp eq {0}",
    "٣ {0}",
    "",
)
DIGITS = st.sampled_from(["0", "1", "7", "16", "32", "00", "64", "128"])


@st.composite
def modules(draw: st.DrawFn) -> bytes:
    lines = draw(st.lists(st.tuples(st.sampled_from(LINES), DIGITS, DIGITS, DIGITS), max_size=25))
    text = "".join(f"{line.format(*numbers)}\n" for line, *numbers in lines)
    return f"define ptx_kernel void @k(i32 %1, ptr %7) #0 {{\n{text}  ret void\n}}\n".encode()


@given(st.lists(modules(), min_size=2, max_size=4))
def test_what_was_read_before_changes_no_answer(files: list[bytes]) -> None:
    cold = []
    for data in files:
        _remembered.cache_clear()
        cold.append((summary_of(data), canonical_of(data)))
    _remembered.cache_clear()
    assert [(summary_of(data), canonical_of(data)) for data in files] == cold
    assert [(summary_of(data), canonical_of(data)) for data in reversed(files)] == cold[::-1]


@pytest.mark.parametrize("path", corpus.artifacts(".llir")[::3], ids=lambda path: path.parent.name[:8])
def test_the_parts_of_a_shape_are_those_of_each_of_its_lines(path: object) -> None:
    text = path.read_text()  # type: ignore[attr-defined]
    lines, blinded = text.split("\n"), blind(text).split("\n")
    known = shapes_of(blinded)
    for line, each in zip(lines, blinded, strict=True):
        shape, found = known[each], INSTRUCTION.match(line)
        if found is None:
            assert not shape.opcode, line
            continue
        operands = found[3] or ""
        assert (shape.opcode, line[shape.result] if shape.result else None) == (found[2], found[1])
        assert (line[shape.operands] if shape.operands else "") == operands
        if " asm " not in operands and all(operands[zero] == "0" for zero in shape.zeros):
            assert [operands[place] for place in shape.literals] == LITERAL.findall(operands), line
        code = line.strip().partition(", !dbg !")[0] if shape.location else line.strip()
        assert line[shape.code] == code
        assert shape.around is None or "".join(line[part] for part in shape.around) == code


def test_blinding_changes_no_length_and_nothing_but_digits() -> None:
    assert blind("  %17 = add i32 %2, 8 ; é ٣\n") == "  %00 = add i00 %0, 0 ; é ٣\n"


def test_a_type_that_is_left_out_while_names_are_replaced_comes_back_where_it_was() -> None:
    data = b"""define void @k(i32 %5) {
  %7 = insertvalue { i32, i8 } undef, i32 %5, 0, !dbg !3
  %8 = add i32 %5, 1
  %9 = insertvalue { i32, %t, i8 } undef, i32 %8, 0
  %10 = extractvalue { i32, i8 } %7, 0
  ret void
}
"""
    assert [line.strip() for line in canonical_of(data).lines[1:5]] == [
        "%v1 = insertvalue { i32, i8 } undef, i32 %v0, 0",
        "%v2 = add i32 %v0, 1",
        "%v3 = insertvalue { i32, %b0, i8 } undef, i32 %v2, 0",
        "%v4 = extractvalue { i32, i8 } %v1, 0",
    ]


def test_a_file_of_lines_that_all_differ_does_not_fill_the_memory() -> None:
    chance = random.Random(7)
    long = [
        "  %x = add " + ", ".join(f"%{chance.choice('abcdefgh')}x" for _ in range(LONGEST)) for _ in range(50)
    ]
    before = _remembered.cache_info().currsize
    assert len(shapes_of(long)) == len(set(long))
    assert _remembered.cache_info().currsize == before, "long lines are not remembered"
    names = ["".join(chance.choices("abcdefghijklm", k=8)) for _ in range(9000)]
    shapes = shapes_of(f"  %{name} = add i32 %{name}, 1" for name in names)
    assert MARK not in shapes.values()
    info = _remembered.cache_info()
    assert info.maxsize is not None
    assert info.currsize <= info.maxsize <= 4096
