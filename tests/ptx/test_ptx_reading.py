"""Many lines are taken at a time: it is as if each were read alone, in the order of the text."""

from __future__ import annotations

from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irdiff_ptx import control
from irdiff_ptx.items import Item
from irdiff_ptx.reader import read
from ptx.ptx_samples import canonical_of, facts_of, fixture, kernel, summary_of

SMALL = fixture("3.6.0", "sm_90", "vector_add_kernel")


def items_of(body: str) -> list[Item]:
    """The items of a body without its braces and declarations, lines counted from 1."""
    text = kernel(body)
    first = text[: text.index(body)].count("\n")
    items = read(text.encode()).items
    found = [items[index] for index in range(len(items))]
    return [(line - first, *rest) for line, *rest in found if 0 < line - first <= body.count("\n") + 1]  # type: ignore[misc]


def test_several_statements_of_one_line_stand_between_those_of_the_lines_around() -> None:
    body = (
        "\tadd.s32 %r1, %r2, 3;\n\t{ .reg .b32 %t; mov.b32 %t, 5; @!%p1 bra L; }\nL:\n\tsub.s32 %r1, %r1, 4;"
    )
    assert items_of(body) == [
        (1, "", "add.s32", "%r1, %r2, 3"),
        (2, "", "{", ""),
        (2, "", ".reg", ".reg .b32 %t"),
        (2, "", "mov.b32", "%t, 5"),
        (2, "@!%p1 ", "bra", "L"),
        (2, "", "}", ""),
        (3, "", ":", "L"),
        (4, "", "sub.s32", "%r1, %r1, 4"),
    ]


def test_a_statement_over_several_lines_stands_where_it_begins() -> None:
    body = "\tcall.uni\n\tf, // callee\n\t(%r1)\n\t;\n\tret;"
    assert items_of(body) == [(1, "", "call.uni", "f, (%r1)"), (5, "", "ret", "")]


def test_a_whole_instruction_ends_an_unfinished_one() -> None:
    body = "\tadd.s32 %r1,\nL:\n\tmov.b32 %r2, 7;\n\tmov.b32 %r3, 8;"
    assert items_of(body) == [
        (1, "", "?", "add.s32 %r1, L:"),
        (3, "", "mov.b32", "%r2, 7"),
        (4, "", "mov.b32", "%r3, 8"),
    ]


@pytest.mark.parametrize(
    "declaration", [".reg .b32 \t%q<9>;", ".shared .align 4 .b8 s[16];", ".reg .pred p ;"]
)
def test_a_declaration_is_the_same_on_one_line_and_on_several(declaration: str) -> None:
    texts = [kernel(f"\t{declaration}"), kernel("\t" + declaration.replace(" ", "\n\t"))]
    one, several = (
        items[-1] for items in map(items_of, (f"\t{declaration}", "\t" + declaration.replace(" ", "\n\t")))
    )
    assert one[2:] == several[2:]
    assert facts_of(summary_of(texts[0])) == facts_of(summary_of(texts[1]))


@pytest.mark.parametrize(
    ("written", "otherwise"),
    [("\n\t.section\t", "\n\t .section\t"), ("\n\t}\n", "\n\t} \n"), ("\t{\t}\n", "{}\n")],
)
def test_a_debug_section_is_passed_over_however_it_is_spelled(written: str, otherwise: str) -> None:
    assert written in SMALL
    one, other = (summary_of(text) for text in (SMALL, SMALL.replace(written, otherwise)))
    assert one.facts == other.facts
    assert (one.issues, one.source_lines, one.coverage) == (other.issues, other.source_lines, other.coverage)
    assert canonical_of(SMALL).lines == canonical_of(SMALL.replace(written, otherwise)).lines


def test_code_between_debug_sections_is_read() -> None:
    section = "\t.section\t.debug_abbrev\n\t{\n.b8 1\n\tadd.s32 %r1, %r2, 5;\n\t}\n"
    text = kernel("\tmov.b32 %r1, 3;")
    between = f"{section}\t.extern .shared .b8 s[];\n{section}"
    assert facts_of(summary_of(text + between))["ptx.opcodes"] == {"mov.b32": 1, "ret": 1}
    assert any("s[]" in line for line in canonical_of(text + between).lines)


@pytest.mark.parametrize("place", ["inside", "behind"])
@pytest.mark.parametrize("mark", ["begin", "end"])
def test_a_frame_of_inline_assembly_is_missed_wherever_it_stands(place: str, mark: str) -> None:
    head = "\t.section\t.debug_abbrev\n\t{\n"
    frame = f"\t// {mark} inline asm\n"
    text = kernel("\t// begin inline asm\n\tmov.b32 %r1, 3;\n\t// end inline asm")
    text += f"{head}{frame}\t}}\n" if place == "inside" else f"{head}\t}}\n{frame}"
    text += "\t// begin inline asm\n" if mark == "begin" else ""
    found = [issue.line for issue in summary_of(text).issues if issue.code == "open-inline-assembly"]
    last = text[: text.rindex(frame)].count("\n") + 1
    first = text[: text.index(frame, text.index(".debug_abbrev"))].count("\n") + 1
    assert found == ([first] if mark == "begin" else []), last


def test_each_loop_of_many_is_counted() -> None:
    """The first registers that a proof asks for are searched for, the others are in a table of all."""
    body = "".join(
        f"\tmov.b32 %r{index}, 0;\nL{index}:\n\tadd.s32 %r{index}, %r{index}, 1;\n"
        f"\tsetp.lt.s32 %q{index}, %r{index}, {index + 5};\n\t@%q{index} bra L{index};\n"
        for index in range(40)
    )
    assert [scope.trip_count for scope in summary_of(kernel(body)).scopes] == [*range(5, 45)]


@pytest.mark.parametrize("break_before", range(6))
def test_a_loop_holds_its_own_where_lines_hold_more_than_one_statement(break_before: int) -> None:
    """What stands on the lines of a loop is its own, unless such a line begins before it or goes on behind it."""
    statements = [
        "mov.b32 %r1, 0;",
        "L: add.s32 %r1, %r1, 1;",
        "setp.lt.s32 %q, %r1, 9;",
        "@%q bra L;",
        "mov.b32 %r2, 7;",
    ]
    statements.insert(break_before, "\n")
    summary = summary_of(kernel("\t" + " ".join(statements) + "\n\tadd.s32 %r9, %r8, 1;\n" * 40))
    assert facts_of(summary, "loop0")["ptx.opcodes"] == {"add.s32": 1, "bra": 1, "setp.lt.s32": 1}
    assert facts_of(summary, "loop0")["ptx.immediates"] == {"1": 1, "9": 1}
    assert [scope.trip_count for scope in summary.scopes] == [9]


def test_a_loop_of_a_file_with_many_keys_holds_its_own() -> None:
    """It is counted alone where there are few items in it, and cut out of the whole where there are many."""
    keys = "".join(f"\tadd.s32 %r1, %r1, {number};\n" for number in range(100))
    for length in (1, 1000):
        inside = "\tsub.s32 %r2, %r2, 500;\n" * length
        summary = summary_of(kernel(f"{keys}L:\n{inside}\t@%p1 bra L;\n{keys}"))
        assert facts_of(summary, "loop0")["ptx.immediates"] == {"500": length}
        (scope,) = summary.scopes
        assert scope.last - scope.first == length + 1


@given(
    st.lists(
        st.sampled_from(
            [
                "A:",
                "B:",
                "C:",
                "bra A;",
                "@%p1 bra B;",
                "@!%p2 bra C;",
                "brx.idx %r1, T;",
                "T: .branchtargets A, B;",
                "ret;",
                "@%p1 ret;",
                "add.s32 %r1, %r1, 1;",
                "{",
                "}",
                ".func f()",
                "bra A; B: bra B;",
            ]
        ),
        max_size=12,
    )
)
def test_files_where_no_branch_goes_back_have_no_loop(statements: list[str]) -> None:
    text = kernel("\n".join(statements))
    found = summary_of(text)
    with mock.patch.object(control, "_may_loop", return_value=True):
        assert found == summary_of(text)
