"""Damaged and hostile files end in a summary with an issue or in a ParseError, quickly."""

from __future__ import annotations

import time

import pytest

import corpus
from irdiff.api import ParseError
from mlir.mlir_samples import STAGES, SUFFIXES, artifact, canonical_of, context, file_of, kernel, summary_of

MANY = 20_000
HOSTILE = {
    "deep regions": "module {\n" + "scf.if %c {\n" * MANY + "}\n" * MANY + "}\n",
    "deep loops": "module {\n" + "scf.for %i = %a to %b step %c {\n" * 150 + "}\n" * 150 + "}\n",
    "regions left open": "module {\n" + "scf.if %c {\n" * MANY,
    "braces": "{" * 200_000,
    "brackets": "%x = tt.load %p : " + "tensor<" * 100_000,
    "quotes": '"' * 200_000,
    "escapes": 'tt.load "' + '\\"' * 200_000,
    "locations": "%x = tt.load %p : f32" + " loc(" * 100_000,
    "call sites": "tt.x loc(" + "callsite(" * 50_000,
    "percents": "%" * 300_000,
    "modules": "module " * 50_000,
    "a huge number": kernel("%a = arith.constant " + "9" * 5000 + " : i32"),
    "a huge result count": kernel("%a:99999999999 = scf.if %c -> (i32) {\n}"),
    "many loops": "module {\n" + "scf.for %i = %a to %b step %c {\n}\n" * 5000 + "}\n",
    "many labels": "module {\ntt.func @k() {\n" + "^bb1:\n cf.br ^bb2\n" * 5000 + "}\n}\n",
    "closing braces": "}\n" * MANY,
    "long line": "tt.load" + " " * 300_000 + "%a",
    "aliases that double": "".join(f"#a{n} = #x<{{a = #a{n - 1}, b = #a{n - 1}}}>\n" for n in range(1, 200))
    + kernel("%0 = tt.splat %n : i32 -> tensor<4xi32, #a199>\n" * 500),
}


def _read(data: bytes, suffix: str) -> bool:
    """Whether both readings returned; a ParseError is the other allowed end."""
    stage = STAGES[suffix]
    shared = context()
    try:
        stage.summarize(artifact(data), shared)
        stage.canonical(artifact(data), shared)
    except ParseError as error:
        return not (error.line and error.hint)  # it must say where, and what to do
    return True


@pytest.mark.parametrize("what", sorted(HOSTILE))
def test_hostile_text_is_read_within_seconds(what: str) -> None:
    began = time.process_time()
    _read(HOSTILE[what].encode(), ".ttgir")
    assert time.process_time() - began < 5


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_line_ends_and_a_byte_order_mark_say_nothing(suffix: str) -> None:
    data = file_of("3.6.0", "sm_90", "locked_sum_kernel", suffix).read_bytes()
    whole = STAGES[suffix].canonical(artifact(data), context())
    summary = STAGES[suffix].summarize(artifact(data), context())
    for spelled in (b"\xef\xbb\xbf" + data, data.replace(b"\n", b"\r\n")):
        assert STAGES[suffix].canonical(artifact(spelled), context()).lines == whole.lines
        assert STAGES[suffix].summarize(artifact(spelled), context()).facts == summary.facts


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_cut_anywhere_says_so(suffix: str) -> None:
    data = file_of("3.6.0", "sm_90", "locked_sum_kernel", suffix).read_bytes()
    whole = STAGES[suffix].canonical(artifact(data), context())
    for cut in range(0, len(data) - 1, max(1, len(data) // 60)):
        try:
            summary = summary_of(data[:cut], suffix)
        except ParseError:
            continue
        assert [issue for issue in summary.issues if issue.severity == "error"], (
            f"cut at {cut} of {len(data)}"
        )
        body_is_whole = data[:cut].count(b"\n}") > 0
        cut_form = STAGES[suffix].canonical(artifact(data[:cut]), context())
        assert body_is_whole or cut_form.lines != whole.lines


@pytest.mark.parametrize("data", [b"", b"  \n\n", b"\xff\xfe\x00", b"hello\n", b"\x7fELF"])
def test_what_is_no_mlir_at_all_is_a_parse_error_with_line_and_hint(data: bytes) -> None:
    with pytest.raises(ParseError) as caught:
        summary_of(data)
    assert caught.value.line is not None
    assert caught.value.hint


def test_a_line_that_is_no_mlir_is_an_issue_with_its_line() -> None:
    good = kernel("%x = arith.addi %n, %n : i32\n%y = arith.addi %n, %n : i32")
    lines = good.split("\n")
    lines[2] = "    what is this ?"
    summary = summary_of("\n".join(lines))
    assert [(issue.code, issue.line) for issue in summary.issues if issue.severity == "error"] == [
        ("syntax", 3)
    ]
    assert summary.coverage.ratio < 1
    assert (3, "    what is this ?") in summary.coverage.unknown
    assert canonical_of("\n".join(lines)).lines != canonical_of(good).lines


def _cases() -> list[tuple[str, str]]:
    import json

    found: list[tuple[str, str]] = []
    for folder in ("broken", "hostile"):
        cases = json.loads((corpus.FIXTURES / folder / "cases.json").read_text())
        found += [
            (f"{folder}/{name}", case["expect"])
            for name, case in cases.items()
            if len(case["damaged"]) == 1
            and case["damaged"][0].rpartition(".")[2] in ("source", "ttir", "ttgir")
        ]
    return found


@pytest.mark.parametrize(("name", "expected"), _cases())
def test_recorded_damage_ends_as_its_case_says(name: str, expected: str) -> None:
    (path,) = (p for p in (corpus.FIXTURES / name).rglob("*") if p.suffix in SUFFIXES)
    read = _read(path.read_bytes(), path.suffix)
    assert read == (expected != "unreadable")
    if read:
        assert bool(summary_of(path.read_bytes(), path.suffix).issues) == (expected == "issue")
