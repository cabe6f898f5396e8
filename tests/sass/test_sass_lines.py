"""SASS text is parted by one search and renamed a section at a time: it is as if each line were alone."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irdiff.api import Artifact, Context
from irdiff.tools import LocalToolbox
from irdiff_sass.decoded import Listing, code_text
from irdiff_sass.instructions import control_text, parts_of, read_statement, split_operands
from irdiff_sass.listing import ADDRESSED, CONTROL, LINES
from irdiff_sass.plugin import STAGE
from irdiff_sass.renaming import DESCRIBED, NAME, UNIFORM, VECTOR
from sass.sass_facts import by_hand

NOBODY = LocalToolbox({}, {})
REGISTER = re.compile(r"(?<![A-Za-z0-9_.])(?:UR|UP|R|P|B)\d{1,3}(?![A-Za-z0-9_])")
MENTION = re.compile(r"(?<![A-Za-z0-9_.])(?:(tmem|idesc|gdesc|desc)\[)?(UR|R)(\d{1,3})(?![A-Za-z0-9_])")
PIECES = [
    "R1",
    "UR2",
    "P3",
    "B4",
    "R1234",
    "XR5",
    ".R6",
    "R7_",
    "desc[UR8]",
    "xdesc[UR9]",
    "tmem[UR10+4]",
    "-R11.H0",
    "]",
    "[R12.64]",
    "c[0x0][R13]",
    "RZ",
    "UP1",
    "!P0",
    " ",
    ",",
    "\n",
    "_UR3",
    "gdesc[UR14]",
]
WORDS = [
    "LDG.E",
    "BRA",
    "@!P0",
    "R1",
    "UR2",
    "desc[UR4][R2.64]",
    "{1,2}",
    "0x20",
    "`(.L_x_1)",
    '(*"x"*)',
    "&wr=0x1",
]
WORDS += [" ", " ", ", ", ",", "  ", "\t", "\x1f", "\xa0", "a", "/", ";", "?t", ".", "("]


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
def test_the_fast_patterns_find_the_names_that_stand_alone(text: str) -> None:
    assert NAME.findall(text) == REGISTER.findall(text)
    mentions = MENTION.findall(text)
    assert VECTOR.findall(text) == [number for _, kind, number in mentions if kind == "R"]
    assert DESCRIBED.findall(text) == [(place, number) for place, kind, number in mentions if kind == "UR"]
    assert UNIFORM.findall(text) == [number for _, kind, number in mentions if kind == "UR"]


@pytest.mark.parametrize(
    "line",
    [
        "        /*0010*/                   MOV R1, R2 ;",
        "/*0010*/ MOV R1, R2 ;  /* 0x0 */",
        "--:-:-:Y:1\tEXIT;",
        "01:2:3:-:f\tBRA `(.L_x_1);",
        "--:-:-:Y:1 EXIT;",
        "/*001*/ MOV R1, R2 ;",
        "\t.section\t.text.k",
        "",
        "Function:k",
        "/*0010*/ ;",
        "/*0010*/ A/B ;",
        ".L_x_1:",
    ],
)
def test_a_line_is_parted_as_its_own_pattern_says(line: str) -> None:
    ((addressed, statement, control, rest, other),) = LINES.findall(line)
    head, tab, behind = line.partition("\t")
    own = ADDRESSED.fullmatch(line)
    assert addressed == (line if own else "")
    assert statement.strip() == (own.group(2).strip() if own else "")
    assert (control, rest) == ((head, behind) if tab and CONTROL.fullmatch(head) else ("", ""))
    assert other == ("" if addressed or control else line)


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=9).map("".join), min_size=1, max_size=6))
def test_statements_parted_all_at_once_are_what_each_is_alone(texts: list[str]) -> None:
    code = code_text(texts, range(len(texts)), base=32)
    for index, (text, each) in enumerate(zip(texts, code.instructions, strict=True)):
        assert (each.predicate, each.opcode, each.rest, each.text) == parts_of(text)
        assert (each.address, each.control) == (32 + 16 * index, index)
        assert each == code.at(index)


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=9).map("".join), min_size=1, max_size=6))
def test_addressed_lines_hold_the_statements_that_their_own_pattern_finds(texts: list[str]) -> None:
    lines = [f"  /*{16 * index:04x}*/  {text};" for index, text in enumerate(texts)]
    expected = [own.group(2).strip() for line in lines if (own := ADDRESSED.fullmatch(line))]
    found = [statement.strip() for addressed, statement, *_ in LINES.findall("\n".join(lines)) if addressed]
    assert found == expected


def test_the_text_of_a_listing_counts_what_its_cubin_counts(
    cubins: Sequence[Path], prepared: Mapping[str, object]
) -> None:
    """Written as Triton's dump writes it, with control fields, and read back."""
    for path in cubins[::6]:
        listing = prepared[Artifact.of_bytes(path.read_bytes()).sha256]
        assert isinstance(listing, Listing)
        (code, *more) = listing.codes
        if more:
            continue
        text = "Function:k\n" + "".join(
            f"{control_text(each.control)}\t{each.text};\n" for each in code.instructions
        )
        summary = STAGE.summarize(Artifact.of_bytes(text.encode(), suffix=".sass"), Context(tools=NOBODY))
        whole = {fact.id: fact.value for fact in summary.facts if not fact.scope}
        counted = by_hand(code.instructions[: code.body])
        assert {name: whole[name] for name in counted} == counted


@given(
    st.lists(
        st.sampled_from(["R1", "desc[UR4][R2.64+0x8]", "{1,2}", "c[0x0][0x28]", "-R3.reuse", "0x10"]),
        max_size=5,
    )
)
def test_a_statement_is_spelled_alike_however_it_is_spaced(operands: list[str]) -> None:
    wide = f"  @!P0   FFMA.FTZ   {' ,  '.join(operands)}  "
    found = read_statement(wide, address=16)
    assert found is not None
    assert found.text == f"@!P0 FFMA.FTZ {', '.join(operands)}".rstrip()
    assert found.operands == tuple(operands) == (split_operands(", ".join(operands)) if operands else ())


def test_each_table_of_statements_and_operands_has_a_bound() -> None:
    modules = [module for name, module in sys.modules.items() if name.startswith("irdiff_sass.")]
    tables = [found for module in modules for found in vars(module).values() if hasattr(found, "cache_clear")]
    assert all(table.cache_parameters()["maxsize"] for table in tables)
    texts = [f"MOV R{at}, {at:#x}" for at in range(40_000)]
    assert [parts_of(text).text for text in texts] == texts
    assert code_text(texts, [0] * len(texts)).texts == texts
    assert all(table.cache_info().currsize <= table.cache_parameters()["maxsize"] for table in tables)
