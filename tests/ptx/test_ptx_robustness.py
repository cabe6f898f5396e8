"""Cut, damaged and hostile PTX ends in a summary or a ParseError, quickly; what is missing is said."""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

import corpus
from command import irdiff
from irdiff.api import ParseError
from irdiff.damage import damage
from irdiff_ptx.items import items_of, mark
from irdiff_ptx.names import MOST_INNER, FunctionNames
from irdiff_ptx.shapes import LONGEST_INSTRUCTION, Shape
from ptx.ptx_samples import canonical_of, facts_of, fixture, kernel, summary_of

SMALL = fixture("3.6.0", "sm_90", "vector_add_kernel")


def test_every_cut_inside_the_kernel_is_an_error_with_a_line_and_a_hint() -> None:
    data = SMALL.encode()
    end = data.index(b"\n}\n")
    for length in range(data.index(b".target"), end, 41):
        summary = summary_of(data[:length])
        (issue,) = [issue for issue in summary.issues if issue.code == "truncated"]
        assert issue.severity == "error"
        assert issue.line is not None
        assert 0 < issue.line <= data[:length].count(b"\n") + 1
        assert issue.hint


def test_a_cut_in_the_debug_sections_is_an_error_too() -> None:
    start = SMALL.index(".debug_info")
    assert any(issue.code == "truncated" for issue in summary_of(SMALL[: start + 300]).issues)


def test_a_whole_file_is_not_called_truncated() -> None:
    assert summary_of(SMALL).issues == ()
    assert all(issue.severity == "note" for issue in summary_of(kernel("")).issues)


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"\x7fELF\x02\x01\x01", b"module {\n}\n", b"\x00" * 4096, b"; ModuleID = 'x'\n"]
)
def test_what_is_no_ptx_is_a_parse_error(data: bytes) -> None:
    for read in (summary_of, canonical_of):
        with pytest.raises(ParseError, match="no PTX"):
            read(data)


@pytest.mark.parametrize("where", [0.5, 1.0])
def test_nul_bytes_are_an_error_wherever_they_stand(where: float) -> None:
    data = SMALL.encode()
    middle = int(len(data) * where)
    found = summary_of(data[:middle] + bytes(64) + data[middle:]).issues
    (issue,) = [issue for issue in found if issue.code == "not-text"]
    assert issue.severity == "error"
    assert issue.line == data[:middle].count(b"\n") + 1
    assert issue.hint


@pytest.mark.parametrize("bad", [b"\xff", b"\xc3(", b"\xed\xa0\x80", b"\xf0\x9f"])
def test_bytes_that_are_no_text_are_an_error_with_their_line(bad: bytes) -> None:
    data = SMALL.encode()
    middle = data.index(b"\n", len(data) // 2) + 1
    comment = b"// " if b".version" in data else b"; "
    found = summary_of(data[:middle] + comment + bad + b"\n" + data[middle:]).issues
    (issue,) = [issue for issue in found if issue.code == "not-text"]
    assert (issue.severity, issue.line) == ("error", data[:middle].count(b"\n") + 1)
    assert "UTF-8" in issue.message


@pytest.mark.parametrize("spelled", [lambda text: text.replace("\n", "\r\n"), lambda text: f"\ufeff{text}"])
def test_line_ends_and_a_byte_order_mark_say_nothing(spelled: Callable[[str], str]) -> None:
    one, other = (summary_of(each) for each in (SMALL, spelled(SMALL)))
    assert one == other
    assert canonical_of(SMALL).lines == canonical_of(spelled(SMALL)).lines


def test_letters_of_any_language_are_text() -> None:
    data = SMALL.encode()
    comment = "// größe 長さ\n" if b".version" in data else "; größe 長さ\n"
    assert not [issue for issue in summary_of(data + comment.encode()).issues if issue.code == "not-text"]


def test_check_does_not_pass_a_file_with_nul_bytes_in_a_comment(tmp_path: Path) -> None:
    """What a comment says is no meaning: nothing else would tell that the file is damaged."""
    for name, comment in (("whole", "a"), ("holed", "\0")):
        (tmp_path / f"{name}.ptx").write_text(f"{SMALL}// {comment}\n")
    done = irdiff("check", tmp_path / "whole.ptx", tmp_path / "holed.ptx")
    assert done.code == 2
    assert "not-text" in done.out
    assert irdiff("check", tmp_path / "whole.ptx", tmp_path / "whole.ptx").code == 0


def test_two_hundred_damaged_copies_are_read_quickly() -> None:
    chance = random.Random(11)
    started = time.process_time()
    for _ in range(200):
        _, broken = damage(SMALL.encode(), chance)
        for read in (summary_of, canonical_of):
            try:
                read(broken)
            except ParseError:
                continue
    assert time.process_time() - started < 20


@pytest.mark.parametrize(
    "line",
    [
        "\tadd.s32 " + "%r1, " * 40_000 + "%r1",
        "\tadd.s32" + " " * 200_000 + "%r1, %r2",
        "\tadd" + ".s32" * 100_000 + " %r1;",
        "\tmov.b32 {" + "%r1, " * 40_000,
        "{" * 50_000,
        "}" * 50_000,
        "a:" * 50_000,
        "\t@" * 50_000,
        '\t.pragma "' + "x" * 200_000,
        "/*" * 50_000,
        "\t.reg .b32 %r<" + "9" * 100_000 + ">;",
        "\tbra L;\n" * 20_000,
        "".join(f"L{number}:\n\tbra L{number};\n" for number in range(5_000)),
        "".join(f"L{number}:\n" for number in range(2_000))
        + "".join(f"\t@%p1 bra L{number};\n" for number in range(2_000)),
    ],
    ids=range(14),
)
def test_a_hostile_line_costs_little(line: str) -> None:
    started = time.process_time()
    summary_of(kernel(line))
    canonical_of(kernel(line))
    assert time.process_time() - started < 5


@pytest.mark.parametrize("within", ["%r1, {}%r1", "[{}%r1], %r2", "{{{}%r1}}, %r2"])
def test_a_line_longer_than_any_instruction_is_reported_and_takes_little_memory(within: str) -> None:
    """Two megabytes took 250: the expression for an instruction remembers each operand to step back to it."""
    line = f"\tadd.s32 {within.format('%r12, ' * 350_000)};"
    assert len(line) > LONGEST_INSTRUCTION
    text = kernel(f"\tmov.b32 %r3, 7;\n{line}\n\tmov.b32 %r4, 8;")
    tracemalloc.start()
    summary = summary_of(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * len(line)
    (issue,) = [issue for issue in summary.issues if issue.code == "not-understood"]
    assert issue.line == text[: text.index(line)].count("\n") + 1
    assert facts_of(summary)["ptx.opcodes"] == {"mov.b32": 2, "ret": 1}
    assert line.split()[1][:9] in "".join(canonical_of(text).lines), "nothing is lost"


def test_braces_within_braces_have_names_of_their_own_up_to_a_depth() -> None:
    """Every name is looked for in each pair of braces around it: without a bound that took minutes."""
    names = FunctionNames(items_of(["{"], [Shape()], b"\0", [mark(1, "{")]), (0,), 0)
    names.declare(".reg .b32 %x")
    for _ in range(1000):
        names.enter(0)
    assert len(names._stack) == MOST_INNER + 1
    assert names.resolve("%x") == ("register-names", "%b32_0")
    for _ in range(1000):
        names.leave()
    assert len(names._stack) == 1
    depth = 2_000
    text = f".version 8.7\n.target sm_90a\n.visible .entry k()\n{{\n{'{' * depth}{'}' * depth}\n}}\n"
    assert canonical_of(text.replace("{", "{\n").replace("}", "}\n")).lines.count("}") == depth + 1


def test_hostile_fixtures_are_read_with_a_warning_or_an_error() -> None:
    names = [
        path.name for path in sorted((corpus.FIXTURES / "hostile").iterdir()) if path.name.startswith("ptx-")
    ]
    assert names
    for name in names:
        for path in (corpus.FIXTURES / "hostile" / name).rglob("*.ptx"):
            summary = summary_of(path.read_bytes())
            assert all(len(text) <= 160 for _, text in summary.coverage.unknown)
            if name != "ptx-long-line":
                assert any(issue.severity != "note" for issue in summary.issues), name
