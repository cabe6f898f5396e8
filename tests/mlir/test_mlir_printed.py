"""Reading by the shapes of lines finds what parsing the whole text finds, and is what reads the printer's files."""

from __future__ import annotations

import hashlib
import random
import re
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

import corpus
from irdiff.damage import damage
from irdiff.errors import ParseError
from irdiff.model.bundle import Artifact
from irdiff_mlir import forms, printed, reader, shapes
from mlir.mlir_samples import STAGES, SUFFIXES, context, facts_of, kernel, summary_of

COPIES = 4
MASKED = re.compile(rb"%v(?![\w$.-])")


def distinct() -> list[Path]:
    """One fixture for each content."""
    found: dict[str, Path] = {}
    for path in corpus.artifacts(*SUFFIXES):
        found.setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), path)
    return sorted(found.values())


def both(data: bytes) -> tuple[bytes, bytes] | None:
    """The module by lines and by the whole text, in full; None where the text is not read by lines."""
    text = data.decode("utf-8", "replace")
    if "\0" in text or printed.read(text) is None:
        return None
    return msgspec.json.encode(reader.parse(text.encode())), msgspec.json.encode(reader.parse_whole(text))


@pytest.mark.parametrize("path", distinct(), ids=lambda path: str(path.relative_to(corpus.FIXTURES))[-60:])
def test_a_file_and_its_damaged_copies_read_by_lines_are_what_the_parser_finds(path: Path) -> None:
    data = path.read_bytes()
    chance = random.Random(data)
    whole = both(data)
    assert whole is not None, "the printer's own text is read by lines"
    for found in (whole, *(both(damage(data, chance)[1]) for _ in range(COPIES))):
        if found is not None:
            assert found[0] == found[1]


@pytest.mark.parametrize(
    "line",
    [
        "%0 = arith.addi %a, %a : i32 %1 = arith.addi %a, %a : i32",
        "%0 = arith.addi %a, %a",
        "%0 = arith.addi %a,",
        "%0 = arith.addi %a, %a : i32 }",
        "%0 = arith.constant dense<1> : tensor<4xi32, #b> loc(#loc",
        "%0 = arith.constant 0x10 : i32",
        "%0 = arith.constant -16 : i32",
        "%0 = arith.constant dense<1> : tensor<16x0x32xi32, #blocked7>",
        "%0 = arith.constant dense<1> : tensor<16x1632xi32, #blocked.7>",
        "%0 = arith.constant 16 32 : i32",
        "%0 = arith.addi %a, %a {x = 16, y = #b1} : tensor<16x?xi32, #loc2>",
        "%0 = arith.addi #blocked1, 16 : i32",
        "%0a = arith.constant 1 : i32",
        "%0 = arith.constant 1 : i32 \x0b",
        "hello there",
        '"tt.reduce"(%a) <{axis = 0 : i32}> ({',
        "} else {",
        "^bb0(%x: i32)",
    ],
)
def test_a_line_that_is_no_whole_operation_is_read_as_the_parser_reads_it(line: str) -> None:
    found = both(kernel(line).encode())
    assert found is None or found[0] == found[1]


def test_names_of_values_are_no_part_of_a_form() -> None:
    texts = ("%a, %b#1 : i32", "%0, %long_name_3#1 : i32")
    assert len({forms.masked(text)[0] for text in texts}) == 1
    assert forms.masked('@f("%a") %b') == ('@f("%a") %v', ("%b",))
    for text in texts:
        masked, names = forms.masked(text)
        form = forms.form("arith.addi", (1,), masked, generic=False)
        assert forms.joined(form.pieces, names) == text
        assert form.numbers == (0, 1)


def test_the_form_of_a_line_has_its_own_numbers_and_aliases() -> None:
    line = "%v = ttg.memdesc_index %v[%v] {{x = {0} : i32}} : !ttg.memdesc<{0}x4xf16, #{1}> -> <4xf16, #{1}>"
    for number, alias in ((3, "shared"), (16, "shared1"), (0, "smem")):
        written = line.format(number, alias)
        found = shapes.shape(written)
        assert found.form is not None
        assert f"%v = {found.form.name} {found.form.text}" == written


@pytest.mark.parametrize(
    "line",
    [
        "%k = arith.constant dense<1> : tens%name : tensor<32xi32>",
        "%k = arith.constant dense<1> : tensor<32xi32%name>",
        "%k = arith.constant 64 : i32 %name =",
        "%k = tt.load %p : !tt.ptr<f32> %name",
        "%k = arith.addi %n, %n {a = %name} : i32",
    ],
)
def test_a_fact_that_quotes_damaged_text_says_the_names_that_stand_there(line: str) -> None:
    values = facts_of(summary_of(kernel(line), ".ttir")).values()
    assert "%v" not in str(list(values))


@pytest.mark.parametrize("path", distinct(), ids=lambda path: str(path.relative_to(corpus.FIXTURES))[-60:])
def test_no_summary_of_a_damaged_copy_names_a_value_that_is_not_in_it(path: Path) -> None:
    data = path.read_bytes()
    chance = random.Random(data)
    stage = STAGES[path.suffix]
    for _ in range(COPIES):
        harmed = damage(data, chance)[1]
        with suppress(ParseError):
            summary = stage.summarize(Artifact.of_bytes(harmed), context())
            assert not MASKED.search(msgspec.json.encode(summary)) or MASKED.search(harmed)


def test_a_name_that_may_be_quoted_is_kept_by_the_form() -> None:
    masked, names = forms.masked("dense<1> : tens%name : i32")
    form = forms.form("arith.constant", (1,), masked, generic=False)
    assert form.quoted
    assert forms.named(form, names).text == "dense<1> : tens%name : i32"
    assert not forms.form("arith.addi", (1,), "%v, %v : tensor<4xi32>", generic=False).quoted
