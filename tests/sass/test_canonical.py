"""When two kernels' machine code is the same."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import corpus
from irdiff.api import Artifact, Canonical, Context, ParseError, Summary
from irdiff.tools import LocalToolbox
from irdiff_sass.cubin import read_cubin
from irdiff_sass.decoded import Listing
from irdiff_sass.executed import fingerprint
from irdiff_sass.plugin import STAGE
from irdiff_sass.spills import count_spills

Read = Callable[[Path], tuple[Summary, Canonical]]
NOBODY = LocalToolbox({}, {})


def pair(name: str) -> tuple[Path, Path]:
    (before,) = (corpus.PAIRS / name / "before").rglob("*.cubin")
    (after,) = (corpus.PAIRS / name / "after").rglob("*.cubin")
    return before, after


def print_of(path: Path) -> str:
    return fingerprint(read_cubin(path.read_bytes()))


def reasons(before: Canonical, after: Canonical) -> set[str]:
    return {name for name in before.erased if before.erased[name] != after.erased.get(name)}


def text(*lines: str) -> Artifact:
    body = "".join(f"{line}\n" if line.endswith(":") else f"--:-:-:-:1\t{line};\n" for line in lines)
    return Artifact.of_bytes(f"Function:k\n{body}".encode(), suffix=".sass")


def form(*lines: str, off: str = "") -> Canonical:
    return STAGE.canonical(text(*lines), Context(tools=NOBODY, switched_off=frozenset({off})))


@pytest.mark.parametrize("name", ["moved", "comment"])
def test_moved_source_and_an_added_comment_change_debug_sections_alone(name: str, read: Read) -> None:
    before, after = pair(name)
    assert before.read_bytes() != after.read_bytes()
    assert print_of(before) == print_of(after)
    (_, one), (_, other) = read(before), read(after)
    assert one.lines == other.lines
    assert reasons(one, other) == {"debug-sections"}


@pytest.mark.parametrize("name", ["divisibility", "fp_fusion", "mma_fallback", "spills"])
def test_a_change_of_meaning_changes_the_form_and_the_fingerprint(name: str, read: Read) -> None:
    before, after = pair(name)
    assert print_of(before) != print_of(after)
    assert read(before)[1].lines != read(after)[1].lines


def test_spills_that_appear_move_their_facts(read: Read) -> None:
    before, after = pair("spills")
    one, other = (
        {fact.id: fact.value for fact in read(path)[0].facts if not fact.scope} for path in (before, after)
    )
    assert one["sass.spill_store_bytes"] == one["sass.spill_load_bytes"] == 0 == one["sass.stack"]
    assert other["sass.spill_store_bytes"] > 0 < other["sass.stack"]  # type: ignore[operator]
    assert sum(other["sass.local_accesses"].values()) > 0  # type: ignore[union-attr]


def test_equal_fingerprints_go_with_equal_forms_over_all_fixtures(
    cubins: tuple[Path, ...], read: Read
) -> None:
    found: dict[str, list[tuple[str, ...]]] = {}
    for path in cubins:
        found.setdefault(print_of(path), []).append(read(path)[1].lines)
    assert any(len(forms) > 1 for forms in found.values())
    for forms in found.values():
        assert len(set(forms)) == 1
    digests = {lines: mark for mark, forms in found.items() for lines in forms}
    assert len(digests) == len(found)  # here no two different codes fold into one form either


def test_the_form_does_not_depend_on_decoding_for_cubins_without_a_disassembler(
    cubins: tuple[Path, ...],
) -> None:
    """Not decoded, equal fingerprints and equal forms are still the same thing."""
    forms = {
        path: STAGE.canonical(Artifact.of_bytes(path.read_bytes()), Context(tools=NOBODY)).lines
        for path in cubins
    }
    for one, other in combinations(cubins, 2):
        assert (print_of_cached(one) == print_of_cached(other)) == (forms[one] == forms[other])


def print_of_cached(path: Path, known: dict[Path, str] = {}) -> str:  # noqa: B006  # a cache for the test above
    if path not in known:
        known[path] = print_of(path)
    return known[path]


VECTOR_ADD = ("3.6.0", "sm_90", "vector_add_kernel")


def vector_add() -> bytes:
    (path,) = corpus.entry(*VECTOR_ADD).glob("*.cubin")
    return path.read_bytes()


def test_one_bit_of_code_changes_the_fingerprint() -> None:
    data = vector_add()
    section = read_cubin(data).codes[0].section
    seen = {fingerprint(read_cubin(data))}
    for place in range(section.offset, section.offset + section.size, 37):
        changed = bytearray(data)
        changed[place] ^= 1
        seen.add(fingerprint(read_cubin(bytes(changed))))
    assert len(seen) == 1 + len(range(section.offset, section.offset + section.size, 37))


def test_each_section_either_changes_the_fingerprint_or_is_named_as_the_reason() -> None:
    """No byte of a section's content is lost: it executes, or a normalisation says that it took it away."""
    (path,) = corpus.entry("3.6.0", "sm_100", "layer_norm_bwd_kernel").glob("*.cubin")
    data = path.read_bytes()
    cubin = read_cubin(data)
    plain = STAGE.canonical(Artifact.of_bytes(data), Context(tools=NOBODY))
    checked = set()
    for section in (*cubin.elf.sections, *cubin.elf.copies):
        if section.kind in (0, 8) or not section.size or section.name in (".shstrtab", ".strtab", ".symtab"):
            continue
        changed = bytearray(data)
        changed[section.offset + section.size - 1] ^= 0x40
        try:
            other = read_cubin(bytes(changed))
        except ParseError:  # a record that lost its form: refused, so not lost
            continue
        again = STAGE.canonical(Artifact.of_bytes(bytes(changed)), Context(tools=NOBODY))
        assert again.lines != plain.lines or reasons(plain, again), section.name
        if again.lines != plain.lines:
            assert fingerprint(other) != fingerprint(cubin)
        checked.add(section.name.split(".")[1])
    assert {"text", "nv", "debug_line", "nv_debug_ptx_txt", "note"} <= checked


def test_a_renamed_kernel_with_the_same_code_is_the_same() -> None:
    data = vector_add()
    renamed = data.replace(b"vector_add_kernel", b"vector_add_newest")
    assert fingerprint(read_cubin(data)) == fingerprint(read_cubin(renamed))
    one, other = (STAGE.canonical(Artifact.of_bytes(each), Context(tools=NOBODY)) for each in (data, renamed))
    assert one.lines == other.lines
    assert reasons(one, other) == {"symbol-names", "debug-sections"}


def test_renaming_registers_changes_nothing_but_the_names() -> None:
    before = form("LDG.E.128 R4, desc[UR4][R2.64]", "FADD R0, R5, R5", "@P0 STG.E desc[UR4][R2.64], R0")
    after = form("LDG.E.128 R12, desc[UR8][R20.64]", "FADD R1, R13, R13", "@P3 STG.E desc[UR8][R20.64], R1")
    assert before.lines == after.lines
    assert reasons(before, after) == {"register-names"}


def test_renaming_hides_no_other_register_of_a_vector() -> None:
    """R5 was loaded, R9 was not: a bijection of the names alone would call these equal."""
    load = "LDG.E.128 R4, desc[UR4][R2.64]"
    assert form(load, "FADD R0, R5, R5").lines != form(load, "FADD R0, R9, R9").lines
    assert form(load, "FADD R0, R5, R5").lines != form(load, "FADD R0, R6, R6").lines


WGMMA = "HGMMA.64x64x16.F32 R24, gdesc[UR4], R24"
TMA = "UTMALDG.2D [UR8], [UR4]"
WIDE = "IMAD.WIDE R2, R0, 0x4, R4"
MASK = "P2R R0, PR, RZ, 0x1"


@pytest.mark.parametrize(
    ("lines", "other"),
    [
        ((MASK, "ISETP.GE.AND P0, PT, R0, R1, PT"), (MASK, "ISETP.GE.AND P1, PT, R0, R1, PT")),
        (("MOV R4, R0", "CALL.ABS.NOINC R2"), ("MOV R5, R0", "CALL.ABS.NOINC R2")),
        (("FROBNICATE R4, R0",), ("FROBNICATE R5, R0",)),
        ((WGMMA, "MOV R0, R30"), (WGMMA, "MOV R0, R31")),
        ((TMA, "UMOV UR11, 0x1"), (TMA, "UMOV UR10, 0x1")),
        ((WIDE, "MOV R1, R3"), (WIDE, "MOV R1, R6")),
    ],
)
def test_a_number_that_means_more_than_a_name_is_not_lost(
    lines: tuple[str, ...], other: tuple[str, ...]
) -> None:
    assert form(*lines).lines != form(*other).lines


@given(st.randoms(use_true_random=False))
def test_a_random_renaming_of_whole_groups_changes_nothing(chance: random.Random) -> None:
    lines = [
        "LDG.E.128 R4, desc[UR4][R2.64]",
        "LDG.E.64 R8, desc[UR4][R2.64+0x10]",
        "FFMA R10, R4, R5, R8",
        "FFMA R11, R6, R7, R9",
        "ISETP.GE.AND P0, PT, R10, R11, PT",
        "@!P0 STG.E.64 desc[UR4][R2.64], R10",
    ]
    places = chance.sample(range(0, 240, 8), 4)
    quads = {2: places[0] + 2, 3: places[0] + 3}
    quads |= {4 + each: places[1] + each for each in range(4)}
    quads |= {8: places[2], 9: places[2] + 1, 10: places[3], 11: places[3] + 1}
    predicate = chance.randrange(7)
    renamed = [
        re.sub(
            r"\bP0\b", f"P{predicate}", re.sub(r"\bR(\d+)", lambda found: f"R{quads[int(found[1])]}", line)
        )
        for line in lines
    ]
    assert form(*renamed).lines == form(*lines).lines


@given(st.data())
def test_one_operand_changed_to_another_register_in_use_changes_the_form(data: st.DataObject) -> None:
    """The seeded edit that renaming must not hide."""
    lines = [
        "LDG.E.128 R4, desc[UR4][R2.64]",
        "FADD R0, R4, R5",
        "FADD R1, R6, R7",
        "FMUL R8, R0, R1",
        "STG.E desc[UR4][R2.64], R8",
    ]
    line = data.draw(st.integers(1, 3))
    found = list(re.finditer(r"\bR(\d+)", lines[line]))
    place = found[data.draw(st.integers(1, len(found) - 1))]
    number = data.draw(st.sampled_from([each for each in range(9) if each != int(place[1])]))
    edited = list(lines)
    edited[line] = lines[line][: place.start()] + f"R{number}" + lines[line][place.end() :]
    assert form(*edited).lines != form(*lines).lines


def test_labels_reuse_flags_and_padding_are_folded_and_named() -> None:
    before = form("FADD R0, R1.reuse, R2", "@P0 BRA LBB7", "LBB7:", "EXIT", "NOP")
    after = form("FADD R0, R1, R2", "@P0 BRA LBB0", "LBB0:", "EXIT", "NOP", "NOP")
    assert before.lines == after.lines
    assert reasons(before, after) == {"reuse-flags", "nop-padding"}


@pytest.mark.parametrize(
    ("rule", "lines", "other"),
    [
        ("reuse-flags", ("FADD R0, R1.reuse, R2",), ("FADD R0, R1, R2",)),
        ("nop-padding", ("EXIT", "NOP"), ("EXIT",)),
        ("register-names", ("FADD R0, R1, R2",), ("FADD R3, R4, R5",)),
    ],
)
def test_a_rule_on_instructions_can_be_switched_off(
    rule: str, lines: tuple[str, ...], other: tuple[str, ...]
) -> None:
    assert form(*lines).lines == form(*other).lines
    assert form(*lines, off=rule).lines != form(*other, off=rule).lines
    assert rule not in form(*lines, off=rule).erased


def test_labels_can_be_switched_off() -> None:
    lines = ("@P0 BRA LBB0", "LBB0:", "EXIT")
    assert "@p0 BRA L0  --:-:-:-:1" in form(*lines).lines
    assert "@p0 BRA 0x10  --:-:-:-:1" in form(*lines, off="labels").lines


@pytest.mark.parametrize("rule", ["debug-sections", "tool-notes", "symbol-names", "second-encoding"])
def test_a_rule_on_sections_can_be_switched_off(rule: str) -> None:
    (path,) = corpus.entry("3.6.0", "sm_100", "layer_norm_bwd_kernel").glob("*.cubin")
    artifact = Artifact.of_bytes(path.read_bytes())
    plain = STAGE.canonical(artifact, Context(tools=NOBODY))
    more = STAGE.canonical(artifact, Context(tools=NOBODY, switched_off=frozenset({rule})))
    assert len(more.lines) > len(plain.lines)
    assert set(plain.erased) - set(more.erased) == {rule}


def test_a_path_in_an_assertion_is_a_source_path(h200: Path) -> None:
    data = next(
        each
        for each in (path.read_bytes() for path in sorted(h200.rglob("*.cubin")))
        if b"assertFile_0" in each
    )
    moved = re.sub(rb"(index out of bounds[^\0]*\0/tmp/)ti", rb"\1xx", data)
    assert moved != data
    one, other = (STAGE.canonical(Artifact.of_bytes(each), Context(tools=NOBODY)) for each in (data, moved))
    assert one.lines == other.lines
    assert reasons(one, other) == {"source-paths"}
    assert fingerprint(read_cubin(data)) == fingerprint(read_cubin(moved))
    message = data.replace(b"index out of bounds: 0 <= ", b"index out of bounds: 1 <= ")
    assert fingerprint(read_cubin(data)) != fingerprint(read_cubin(message))


def test_control_bits_are_part_of_the_form() -> None:
    one = Artifact.of_bytes(b"Function:k\n--:-:-:-:1\tEXIT;\n", suffix=".sass")
    other = Artifact.of_bytes(b"Function:k\n--:-:-:-:5\tEXIT;\n", suffix=".sass")
    before, after = (STAGE.canonical(each, Context(tools=NOBODY)).lines for each in (one, other))
    assert before != after


def test_lines_have_the_addresses_of_their_instructions(
    cubins: tuple[Path, ...], prepared: Mapping[str, object], read: Read
) -> None:
    for path in cubins[::6]:
        _, canonical = read(path)
        listing = prepared[Artifact.of_bytes(path.read_bytes()).sha256]
        assert isinstance(listing, Listing)
        assert len(canonical.places) == len(canonical.lines)
        by_address = {each.address: each.opcode for code in listing.codes for each in code.instructions}
        start = canonical.lines.index("entry0:")
        for line, place in zip(canonical.lines[start:], canonical.places[start:], strict=True):
            if not line.endswith(":"):
                assert by_address[place] in line


def test_every_normalisation_that_a_form_names_is_declared(cubins: tuple[Path, ...], read: Read) -> None:
    declared = {each.id for each in STAGE.normalizations}
    named = set().union(*(read(path)[1].erased for path in cubins))
    assert named == declared


def test_every_fact_that_a_summary_holds_is_declared_and_all_but_none_occur(
    cubins: tuple[Path, ...], read: Read
) -> None:
    declared = {spec.id for spec in STAGE.facts if not spec.opt_in}
    occurring = {fact.id for path in cubins for fact in read(path)[0].facts}
    assert occurring == declared


def test_the_same_file_gives_the_same_spills_twice(cubins: tuple[Path, ...]) -> None:
    for path in cubins[::7]:
        cubin = read_cubin(path.read_bytes())
        assert count_spills(cubin) == count_spills(read_cubin(path.read_bytes()))
