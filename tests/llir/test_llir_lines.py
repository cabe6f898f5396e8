"""Instructions of LLVM IR are renamed and searched many at a time: it is as if each were alone."""

from __future__ import annotations

import re

import pytest

import corpus
from irdiff_llir.opcodes import is_known
from irdiff_llir.reader import read
from irdiff_llir.shapes import NUMBER as _NUMBER
from irdiff_llir.syntax import are_balanced
from llir.llir_samples import canonical_of, summary_of

LITERAL = re.compile(
    rf"(?<=[ (<])(?<!align )(?<!align\()(?<!addrspace\()-?(?:{_NUMBER})(?=[,) >\]]|$)(?! x )"
)
"""A literal, as one search of one instruction's operands."""


def test_literals_of_the_fixtures_are_those_that_a_search_of_each_instruction_finds() -> None:
    for path in corpus.artifacts(".llir")[::4]:
        expected: dict[str, list[int]] = {}
        for line, _, opcode, operands in read(path.read_bytes()).items:
            if is_known(opcode) and " asm " not in operands:
                for literal in LITERAL.findall(operands):
                    expected.setdefault(literal, []).append(line)
        (fact,) = (f for f in summary_of(path.read_bytes()).facts if f.id == "llir.constants" and not f.scope)
        assert fact.evidence == {key: tuple(lines) for key, lines in sorted(expected.items())}, path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{ i32, i32 } %1, 0", {"0": 1}),
        ("{ i32, i32 } { i32 7, i32 8 }, i32 %2, 1", {"7": 1, "8": 1, "1": 1}),
        ("{ [2 x i32], <4 x float> } %1, 0, 1", {"0": 1, "1": 1}),
        ("{ i32 5, { i32 6 } } %1, 0", {"5": 1, "6": 1, "0": 1}),
        ("{ i32 5", {"5": 1}),
    ],
)
def test_a_type_in_front_hides_no_literal(text: str, expected: dict[str, int]) -> None:
    data = f"define void @k() {{\n  %9 = extractvalue {text}\n  %8 = extractvalue {text}\n  ret void\n}}\n".encode()
    (found,) = (f.value for f in summary_of(data).facts if f.id == "llir.constants" and not f.scope)
    assert found == {key: 2 * count for key, count in sorted(expected.items())}


@pytest.mark.parametrize(
    ("text", "balanced"),
    [
        ("i32 (ptr, <2 x i32>) { [2 x i8] }", True),
        ('asm "({[<", "=r"()', True),
        ('asm "a, "=r"()', False),
        ("void (i32", False),
        ("<2 x [4 x i8>", False),
        ("é (ü)", True),
        ("", True),
    ],
)
def test_brackets_are_counted_line_by_line(text: str, balanced: bool) -> None:
    assert are_balanced([text, "(", text, '"', text]) == [balanced, False, balanced, False, balanced]
    assert are_balanced([]) == []


def test_a_string_that_does_not_end_hides_nothing_of_the_next_line() -> None:
    lines = ['  call void asm sideeffect "a %1, ""()', "  %5 = add i32 %4, %4", '  call void @f(ptr "x)']
    data = ("define void @k(i32 %4) {\n" + "\n".join(lines) + "\n  ret void\n}\n").encode()
    assert "%v1 = add i32 %v0, %v0" in [line.strip() for line in canonical_of(data).lines]


def test_metadata_is_numbered_in_the_order_of_the_text_attached_or_not() -> None:
    data = b"""define void @k(ptr %0) {
  %2 = load i32, ptr %0, align 4, !range !7, !dbg !3
  call void @f(metadata !9)
  %4 = load i32, ptr %0, align 4, !dbg !3, !range !8
  ret void
}
!3 = !DILocation(line: 1)
!7 = !{i32 0, i32 8}
!8 = !{i32 0, i32 9}
!9 = !{i32 1}
"""
    lines = [line.strip() for line in canonical_of(data).lines]
    assert lines[1:4] == [
        "%v1 = load i32, ptr %v0, align 4, !range !m0",
        "call void @f(metadata !m1)",
        "%v2 = load i32, ptr %v0, align 4, !range !m2",
    ]
