"""Cut, damaged and hostile LLVM IR ends in a summary or a ParseError, quickly; what is missing is said."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from command import irdiff
from irdiff.api import ParseError
from irdiff.damage import damage
from llir.llir_samples import canonical_of, fixture, kernel, summary_of

SMALL = fixture("3.6.0", "sm_90", "vector_add_kernel")


def test_every_cut_before_the_attributes_is_an_error_with_a_line_and_a_hint() -> None:
    data = SMALL.encode()
    for length in range(data.index(b"define"), data.index(b"attributes #0"), 61):
        (issue,) = [issue for issue in summary_of(data[:length]).issues if issue.code == "truncated"]
        assert issue.severity == "error"
        assert issue.line == data[:length].count(b"\n") + 1
        assert issue.hint


def test_a_cut_inside_the_last_metadata_line_is_an_error() -> None:
    assert any(issue.code == "truncated" for issue in summary_of(SMALL.rstrip()[:-5]).issues)
    assert summary_of(SMALL).issues == ()
    assert summary_of(SMALL.rstrip("\n")).issues == ()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b"\x7fELF\x02\x01\x01",
        b"module {\n}\n",
        b"\x00" * 4096,
        b".version 8.7\n.target sm_90\n",
    ],
)
def test_what_is_no_llvm_ir_is_a_parse_error(data: bytes) -> None:
    for read in (summary_of, canonical_of):
        with pytest.raises(ParseError, match="no LLVM IR"):
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
        (tmp_path / f"{name}.llir").write_text(f"{SMALL}; {comment}\n")
    done = irdiff("check", tmp_path / "whole.llir", tmp_path / "holed.llir")
    assert done.code == 2
    assert "not-text" in done.out
    assert irdiff("check", tmp_path / "whole.llir", tmp_path / "whole.llir").code == 0


def test_two_hundred_damaged_copies_are_read_quickly() -> None:
    chance = random.Random(13)
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
        "  %4 = " + "add " * 50_000,
        "  %4 = add" + " " * 200_000 + "i32",
        "  %4 = load " + "<2 x " * 40_000 + "i32" + ">" * 40_000 + ", ptr %0",
        "  %4 = load " + "{" * 100_000,
        "  store " + "i32 %1, " * 40_000 + "ptr %0",
        "  %4 = add i32 %1, 1" + ", !a !1" * 40_000,
        "  %4 = add i32 %1, 1" + ", !a !1" * 40_000 + "x",
        "  switch i32 %1, label %7 [\n" + "    i32 0, label %5\n" * 40_000,
        '  call void asm "' + "mov.u32 $0, 0x0;" * 20_000 + '", ""()',
        '  call void asm "' + "\\0A" * 60_000,
        '  %"' + "a" * 200_000,
        "  call void @f(" + "ptr nocapture " * 20_000 + ")",
        "  %4 = getelementptr " + "getelementptr (i8, ptr addrspace(3) @global_smem, i32 " * 5_000,
        "".join(
            f"b{number}:\n  br i1 true, label %b{number}, label %b{number + 1}\n" for number in range(5_000)
        ),
        "  %4 = fmul " + "contract " * 40_000,
        "  %4 = getelementptr ["
        + "9" * 100_000
        + " x i8], ptr addrspace(3) @global_smem, i32 "
        + "9" * 100_000,
    ],
    ids=range(16),
)
def test_a_hostile_line_costs_little(line: str) -> None:
    started = time.process_time()
    summary_of(kernel(line))
    canonical_of(kernel(line))
    assert time.process_time() - started < 5
