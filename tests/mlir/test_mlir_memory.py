"""What a process remembers of lines and texts changes no answer, and is bounded."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

import corpus
from irdiff.damage import damage
from irdiff.errors import ParseError
from irdiff.model.bundle import Artifact
from irdiff_mlir import lines, locations, printed, reader
from irdiff_mlir.places import LOCATION_STRING, Places
from mlir.mlir_samples import STAGES, SUFFIXES, context, kernel

FOLDERS = ("irdiff_mlir.", "irdiff_ttgir.", "irdiff_layouts.")
LINES = (
    "%0 = arith.constant 1 : i32 loc(#loc1)",
    "%1 = arith.addi %0, %a#1 : i32 loc(#loc1)",
    "%v = arith.addi %v, %0 : i32 loc(unknown)",
    "%2:2 = tt.call @f(%1, %0) : (i32, i32) -> (i32, i32)",
    '%3 = tt.call @"f %0"(%1) : (i32) -> i32 loc(#loc1)',
    '%4 = tt.elementwise_inline_asm "mov %0; // loc(#loc1)" {pure = true} %1 : i32 -> i32 loc("x"(#loc1))',
    "%5 = arith.addi %0, %1 : i32 // pred: ^bb0",
    "%6 = arith.addi %0, %1 : i32 loc(callsite(#loc1 at #loc1))",
    "%7 = scf.if %0 -> (i32) {",
    "} else {",
    "} loc(#loc1)",
    "^bb1(%x: i32 loc(#loc1), %y: i32):",
    "cf.br ^bb1(%0, %1 : i32, i32) loc(#loc1)",
    "scf.yield %0 : i32 loc(#loc1)",
    "",
    '#loc1 = loc("a b.py":3:4)',
    '#loc = loc("%v"(#loc1))',
    "#blocked = #ttg.blocked<{sizePerThread = [1]}>",
    "%\N{GREEK SMALL LETTER PI} = arith.constant 2 : i32",
    "  %8  =  arith.constant dense<%v> : tensor<4xi32, #blocked>",
)
TEXTS = (
    '"a.py":3:4',
    '"a.py":003:4',
    '"x"(#loc{})',
    '"triton/language/core.py":9:1',
    "#loc{}",
    "unknown",
    '"a\\"b":1:2',
    "callsite(#loc{} at #loc{})",
    '"open',
    '"x" "y":1:2',
    "",
    '"#loc{}"(#loc{})',
)


def tables() -> Iterator[tuple[str, Any]]:
    """Every remembering function of the readers of MLIR."""
    for name, module in sorted(sys.modules.items()):
        if name.startswith(FOLDERS):
            for found in vars(module).values():
                if hasattr(found, "cache_clear"):
                    yield f"{name}.{found.__name__}", found


def answers(data: bytes, suffix: str) -> bytes:
    """Summary and canonical form, or why there is none."""
    artifact, around, stage = Artifact.of_bytes(data, suffix=suffix), context(), STAGES[suffix]
    try:
        return msgspec.json.encode((stage.summarize(artifact, around), stage.canonical(artifact, around)))
    except ParseError as error:
        return str(error).encode()


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1 << 30))
def test_neither_the_order_of_files_nor_what_was_read_before_changes_an_answer(seed: int) -> None:
    chance = random.Random(seed)
    paths = chance.sample(corpus.artifacts(*SUFFIXES), 4)
    files = [(path.read_bytes(), path.suffix) for path in paths]
    files += [(damage(data, chance)[1], suffix) for data, suffix in files]
    cold: list[bytes] = []
    for file in files:
        for _, table in tables():
            table.cache_clear()
        cold.append(answers(*file))
    for _, table in tables():
        table.cache_clear()
    order = chance.sample(range(len(files)), len(files))
    for _ in range(2):  # the second time all is remembered
        assert {at: answers(*files[at]) for at in order} == dict(enumerate(cold))


@given(
    st.lists(st.sampled_from(LINES), max_size=12),
    st.sampled_from(("", "#loc1 = loc(unknown)\n", "#loc = loc(x\n")),
)
def test_lines_masked_all_at_once_are_read_as_the_whole_text_is(found: list[str], behind: str) -> None:
    inside = "".join(f"{line}\n" if line[:1] == "#" else f"    {line}\n" for line in found)
    text = f"module {{\n  tt.func public @k(%a: i32, %b: i32) {{\n{inside}    tt.return\n  }} loc(#loc)\n}}\n{behind}"
    if printed.read(text) is not None:
        whole = msgspec.json.encode(reader.parse_whole(text))
        assert msgspec.json.encode(reader.parse(text.encode())) == whole


def test_each_table_has_a_bound_and_keeps_it() -> None:
    for name, table in tables():
        assert table.cache_parameters()["maxsize"] is not None or name == "irdiff_mlir.syntax._grammar"
    for start in range(0, 9_000, 1_000):
        body = [
            f'%{at} = tt.call @f{at}(%{at}) {{x = "{at}"}} : (tensor<{at}xi32, #a{at}>) -> !tt.ptr<f{at}>'
            for at in range(start, start + 1_000)
        ]
        with suppress(ParseError):
            answers(kernel("\n".join(body)).encode(), ".ttgir")
    for name, table in tables():
        most = table.cache_parameters()["maxsize"]
        assert most is None or table.cache_info().currsize <= most, name


def test_a_long_line_is_read_and_not_remembered() -> None:
    sizes = {name: table.cache_info().currsize for name, table in tables()}
    text = kernel(f"%0 = arith.constant dense<[{', '.join(['1'] * 4_000)}]> : tensor<4000xi32>")
    assert reader.parse(text.encode()).operations
    longest = {
        name: table.cache_info().currsize for name, table in tables() if "masked" in name or "forms" in name
    }
    assert all(size - sizes[name] < 8 for name, size in longest.items())


def definitions(texts: list[str]) -> lines.Definitions:
    found = lines.Definitions()
    for at, text in enumerate(texts):
        found.add(f"#loc{at}", text, 0)
    return found


NUMBERED = st.tuples(st.sampled_from(TEXTS), st.integers(0, 9), st.integers(0, 9)).map(
    lambda each: each[0].replace("{}", str(each[1]), 1).replace("{}", str(each[2]))
)


@given(st.lists(NUMBERED, max_size=10))
def test_a_place_found_in_passing_is_the_one_that_following_each_name_finds(texts: list[str]) -> None:
    named = definitions(texts).done()
    by_name = dict(zip(named.names, named.texts, strict=True))
    for name, place in locations._plain(named).items():
        assert place == (locations._simple(name, by_name, {}) or locations._resolve(name, by_name))


@given(st.lists(NUMBERED, max_size=10))
def test_definitions_are_taken_apart_all_at_once_as_each_is_alone(texts: list[str]) -> None:
    text = "".join(f"#loc{at} = loc({each})\n" for at, each in enumerate(texts))
    together = lines.Definitions()
    found = lines.definitions(text, 0)
    assert found is not None
    together.extend(found, 0)
    assert together.done() == definitions(texts).done()


@given(st.lists(NUMBERED, max_size=10))
def test_strings_of_locations_are_taken_out_all_at_once_as_of_each_alone(texts: list[str]) -> None:
    places = Places()
    places.add_definitions(definitions(texts).done())
    assert places.lines[1::2] == [LOCATION_STRING.sub(r'""\2', text) for text in texts]
    strings = [match for text in texts for match in LOCATION_STRING.findall(text)]
    assert places.paths == [string for string, position in strings if position]
    assert places.names == [string for string, position in strings if not position]
