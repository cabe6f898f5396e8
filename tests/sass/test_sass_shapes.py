"""A statement says by its shape what it says alone, whatever was read before; and little is remembered."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from irdiff.api import Artifact, Context
from irdiff.tools import LocalToolbox
from irdiff_sass import shapes
from irdiff_sass.addressed import behind_numbers
from irdiff_sass.decoded import CodeText, Listing, code_text
from irdiff_sass.disassembly import _code_text, _found
from irdiff_sass.instructions import NEVER, OPERAND, SIZE, parts_of
from irdiff_sass.listing import _regular, _searched
from irdiff_sass.plugin import STAGE
from irdiff_sass.shapes import LONGEST, ODD, shapes_of

NOBODY = LocalToolbox({}, {})
NUMBER = st.sampled_from(["0", "1", "7", "10", "16", "32", "64", "128", "0x0", "0x10", "1x0", "00x1", "#"])
STATEMENTS = (
    "MOV R{0}, R{1}",
    "IADD{0} R{1}, P0, R{2}.reuse, {0}, RZ",
    "@!P{0} LDG.E.{1} R{2}, desc[UR{0}][R{1}.64+{2}]",
    "@!PT LDS RZ, [RZ+{0}]",
    "HGMMA.64x{0}x16.F32 R{1}, gdesc[UR{2}]",
    "MOV R{0}, c[{1}][{2}]",
    "FROB{0} R{1}",
    "BRA {0}",
    "@P{0} BRA `(.L_x_{1})",
    "BSSY B{0}, `(.L_x_{1})",
    "CALL.REL.NOINC LBB{0}",
    "STL.64 [R{0}], R{1}",
    "DEPBAR.LE SB0, {{{0},{1}}}",
    "NOP",
    "@P{0} NOP",
    "EXIT",
    "MOV R{0},R{1}",
    "MOV  R{0}, {1}",
    "{0}MOV R{1}",
    "MOV R{0}, {1}#x{2}",
)
BETWEEN = st.sampled_from(
    [".L_x_{0}:", "LBB{0}:", "", "//--- {0}", '\t.section\t.text.k{0},"ax",@progbits', "$k{0}:"]
)
ODD_LINES = st.sampled_from(
    [
        "        /*00{0}0*/ MOV R1, R2 ;",
        "/*0010*/ MOV R{0}, R1;",
        "        /*0010*/                   MOV R{0}, R1 ; // | {0} |",
        "01:2:3:-:f\tMOV R1, {0};",
        "MOV R1, R{0}",
        "\tFunction : k{0}",
        "        /*0010*/                   {0}",
        "        /*0010*/                   A/B {0};",
    ]
)


@st.composite
def texts(draw: st.DrawFn, *, odd: bool = True) -> str:
    kinds = [st.sampled_from([f"        /*{{3:04x}}*/                   {each} ;" for each in STATEMENTS])]
    kinds += [*kinds, *kinds, BETWEEN, *([ODD_LINES] if odd else [])]
    lines = draw(st.lists(st.tuples(st.one_of(kinds), NUMBER, NUMBER, NUMBER), min_size=1, max_size=20))
    written = [line.format(*numbers, 16 * place) for place, (line, *numbers) in enumerate(lines)]
    return "\n".join(['\t.section\t.text.k,"ax",@progbits', *written, ""])


def columns(codes: Sequence[CodeText]) -> object:
    return [(code.role, code.base, code.instructions) for code in codes]


def said(text: str) -> bytes:
    artifact = Artifact.of_bytes(
        f"{text}        /*0000*/                   EXIT ;\n".encode(), suffix=".sass"
    )
    context = Context(tools=NOBODY)
    return msgspec.json.encode((STAGE.summarize(artifact, context), STAGE.canonical(artifact, context)))


@given(texts())
@example(
    "\n        /*0000*/                   BRA LBB1 ;\nLBB1:" + 4 * "\n        /*0010*/                   NOP;"
)
@example(
    "\n        /*0000*/                   LBB1  R2 ;\n.L_x_1:\nLBB1:"
    + 4 * "\n        /*0010*/                   NOP;"
)
def test_a_regular_text_is_read_as_a_search_of_its_lines_reads_it(text: str) -> None:
    found = _regular(text)
    if found:
        assert columns(found) == columns(_searched(text))


def test_a_text_of_nvdisasm_is_regular() -> None:
    lines = ['\t.section\t.text.k,"ax",@progbits', ".text.k:", "$__internal_0:", ""]
    for index in range(5000):
        lines += [f"        /*{index * 16:04x}*/              @!P0 MOV R{index % 99}, {index:#x} ;"]
        lines += [f".L_x_{index}:"] if index % 4 == 1 else []
    found = _regular("\n".join([*lines, "", "//--- SYMBOLS", "\t.type\t\t.x,@object", ""]))
    assert [len(code) for code in found] == [5000]
    assert ODD not in found[0].forms


@given(texts(odd=False))
@example("        /*0000*/                   MOV R1, 1x0 ;\n        /*0010*/              @P0 NOP ;")
def test_each_instruction_is_what_its_statement_is_alone(text: str) -> None:
    statements = re.findall(r"(?m)^ +/\*\w+\*/ +(.*) ;$", text)
    code = code_text(statements, [0] * len(statements))
    for statement, shape, each in zip(statements, code.shapes, code.instructions, strict=True):
        assert (each.predicate, each.opcode, each.rest, each.text) == parts_of(statement)
        assert shape.executes == (each.predicate not in NEVER)
        assert shape.fills == (each.text == "NOP")
        if each.opcode != "?":
            assert shape.understood == all(map(OPERAND.fullmatch, each.operands)), statement
        assert shape.name in ("", each.opcode)


@given(texts(odd=False), st.sampled_from([0, 16, 4096]))
def test_each_decoded_instruction_is_what_its_statement_is_alone(text: str, start: int) -> None:
    """Places that branches name are made relative to the section."""
    lines = [line for line in text.split("\n") if line.startswith("        /*")]
    statements = [line.partition("*/")[2].rpartition(";")[0] for line in lines]
    whole = [f"        /*{16 * index:04x}*/{line.partition('*/')[2]}" for index, line in enumerate(lines)]
    written = "\n".join(["\t.headerflags", *whole, ""])
    behind = behind_numbers(written, SIZE)
    assert behind is not None
    assert [line.lstrip() for line in behind] == [line.lstrip() for line in _found(written)]
    part = SimpleNamespace(role="entry0", base=32, data=bytes(SIZE * len(lines)))
    code = _code_text(part, behind, shapes_of(behind), start)  # type: ignore[arg-type]
    for statement, each in zip(statements, code.instructions, strict=True):
        assert (each.predicate, each.opcode, each.rest, each.text) == parts_of(
            statement, start, len(part.data)
        )


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("/*0010*/", "/*0020*/"),
        lambda text: text.replace("\n        /*0010*/", "\n       /*0010*/"),
        lambda text: text.replace("/*0000*/", "/*000*/"),
        lambda text: text.replace("NOP ;\n", "NOP ;\nNOP ;\n"),
        lambda text: "        /*0000*/" + text,
    ],
)
def test_an_address_that_follows_no_other_is_left_to_the_reading_of_lines(
    change: Callable[[str], str],
) -> None:
    lines = [f"        /*{16 * index:04x}*/                   NOP ;" for index in range(5000)]
    text = "\n".join(["\t.headerflags", *lines, ""])
    assert behind_numbers(text, SIZE) == ["      NOP ;"] * 5000
    assert behind_numbers(change(text), SIZE) is None


@given(st.lists(texts(), min_size=2, max_size=4))
def test_what_was_read_before_changes_no_answer(files: list[str]) -> None:
    cold = []
    for text in files:
        shapes._remembered.cache_clear()
        cold.append(said(text))
    shapes._remembered.cache_clear()
    assert [said(text) for text in files] == cold
    assert [said(text) for text in reversed(files)] == cold[::-1]


def test_blinding_changes_no_length_and_nothing_but_digits() -> None:
    assert shapes._blind("MOV R17, 0x1f, 10x2, #x ;\né ٣ 9") == "MOV R00, #x0f, 0#x0, $x ;\né ٣ 0"


def test_a_file_of_statements_that_all_differ_does_not_fill_the_memory() -> None:
    chance = random.Random(7)
    long = ["MOV " + ", ".join(f"UR{chance.choice('abcdefgh')}" for _ in range(LONGEST)) for _ in range(50)]
    before = shapes._remembered.cache_info().currsize
    assert shapes_of(long, ";") == [ODD] * len(long)
    assert shapes._remembered.cache_info().currsize == before, "long statements are not remembered"
    names = ["".join(chance.choices("ABCDEFGHIJKLM", k=8)) for _ in range(20_000)]
    code = code_text([f"{name} R1, {name}" for name in names], [0] * len(names))
    assert [each.opcode for each in code.instructions] == names
    info = shapes._remembered.cache_info()
    assert info.maxsize is not None
    assert info.currsize <= info.maxsize <= 1 << 13


def test_a_section_is_cut_in_the_same_columns(cubins: Sequence[Path], prepared: Mapping[str, object]) -> None:
    for path in cubins[::5]:
        listing = prepared[Artifact.of_bytes(path.read_bytes()).sha256]
        assert isinstance(listing, Listing)
        for code in listing.codes:
            instructions = code.instructions
            assert [each.text for each in instructions] == code.texts
            assert [each.address for each in instructions] == list(code.addresses)
            opcodes = [each.opcode for each in instructions]
            assert {name: len(places) for name, places in code.places.items()} == {
                name: opcodes.count(name) for name in opcodes
            }
            assert not any(each.text == "NOP" for each in instructions[code.body - 1 : code.body])
            assert all(each.text == "NOP" for each in instructions[code.body :])
