"""Counts equal those of a second, independent reading; what is not in the table lowers the coverage."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptx.ptx_samples import every_fixture, facts_of, fixture, kernel, summary_of

VECTOR_ADD = fixture("3.6.0", "sm_90", "vector_add_kernel")


def opcodes_by_cutting(text: str) -> Counter[str]:
    """Every opcode of a file by cutting it at semicolons and braces: no expression of the reader is used."""
    code: list[str] = []
    in_section = False
    for line in text.splitlines():
        bare = line.split("//")[0].strip()
        if bare.startswith(".section"):
            in_section = True
        elif in_section:
            in_section = bare != "}"
        elif not bare.startswith((".loc", ".file", ".version", ".target", ".address_size")):
            code.append(bare.replace("::", "@@"))
    found: Counter[str] = Counter()
    for statement in "\n".join(code).replace(";", "\n").split("\n"):
        words = statement.replace(":", "\n").split("\n")[-1].split()
        if words and words[0].startswith("@") and not words[0].startswith("@@"):
            words = words[1:]
        if words and words[0][0].isalpha() and words[0][0].islower():
            found[words[0].replace("@@", "::")] += 1
    return found


@pytest.mark.parametrize(
    "path", every_fixture(), ids=lambda path: "/".join(path.parts[-4:-2]) + "/" + path.stem
)
def test_opcodes_equal_an_independent_count(path: Path) -> None:
    text = path.read_text()
    assert facts_of(summary_of(text))["ptx.opcodes"] == dict(opcodes_by_cutting(text))


@pytest.mark.parametrize(
    "path", every_fixture(), ids=lambda path: "/".join(path.parts[-4:-2]) + "/" + path.stem
)
def test_special_tallies_equal_an_independent_count(path: Path) -> None:
    text = path.read_text()
    facts = facts_of(summary_of(text))
    counted = opcodes_by_cutting(text)

    def total(fact: str) -> int:
        value = facts[fact]
        assert isinstance(value, dict)
        return sum(count for count in value.values() if isinstance(count, int))

    def of(pattern: str) -> int:
        return sum(count for opcode, count in counted.items() if re.fullmatch(pattern, opcode))

    assert total("ptx.mma") == of(r"(w?mma\.(sync|mma)|wgmma\.mma_async|tcgen05\.mma)\..*")
    assert total("ptx.barriers") == of(r"bar(rier)?\..*")
    assert total("ptx.async_copies") == of(r"cp\.async\.(ca|cg|bulk\.tensor)\..*")
    assert total("ptx.conversions") == of(r"cvt\..*")
    assert total("ptx.atomics") == of(r"(atom|red)\..*")
    assert total("ptx.global_loads") == of(r"ld\.global\..*")
    assert total("ptx.global_stores") == of(r"st\.global\..*")
    assert total("ptx.shared_loads") == of(r"ld\.shared\..*")
    assert total("ptx.shared_stores") == of(r"st\.shared\..*")
    assert total("ptx.fp") == of(r"(fma|mul|add|sub|mad)\.(.*\.)?b?f\d+(x2)?")


@pytest.mark.parametrize("path", every_fixture()[::5], ids=lambda path: "/".join(path.parts[-4:-2]))
def test_evidence_points_at_lines_that_hold_the_opcode(path: Path) -> None:
    lines = path.read_text().split("\n")
    summary = summary_of(path.read_bytes())
    (opcodes,) = [fact for fact in summary.facts if fact.id == "ptx.opcodes" and not fact.scope]
    for opcode, places in opcodes.evidence.items():
        assert len(places) == opcodes.value[opcode]  # type: ignore[index,call-overload]
        assert all(opcode in lines[place - 1] for place in places)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.sampled_from(["frobnicate.f32", "tcgen06.mma.x", "cp.teleport.b32", "wgmma.sparkle"]), max_size=6
    )
)
def test_unknown_opcodes_are_counted_as_themselves_and_lower_the_coverage(planted: list[str]) -> None:
    body = "\n".join(f"\t{opcode} \t%r{number}, %r1;" for number, opcode in enumerate(planted))
    whole = summary_of(VECTOR_ADD).coverage
    summary = summary_of(VECTOR_ADD.replace("\tret;", f"{body}\n\tret;"))
    assert summary.coverage.total == whole.total + len(planted)
    assert summary.coverage.understood == whole.understood
    assert [text for _, text in summary.coverage.unknown] == planted
    opcodes = facts_of(summary)["ptx.opcodes"]
    assert isinstance(opcodes, dict)
    assert all(opcodes[opcode] == count for opcode, count in Counter(planted).items())
    assert any(issue.code == "not-understood" for issue in summary.issues) == bool(planted)


@pytest.mark.parametrize(
    "bad",
    [
        "add.s32 \t%r1 %r2, %r3;",
        "add.s32 \t%r1,, %r2;",
        "add.s32 \t[%r1, %r2;",
        "ADD.S32 \t%r1, %r2;",
        "add.s32 %r1, <3>;",
    ],
)
def test_operands_that_cannot_be_parsed_lower_the_coverage(bad: str) -> None:
    summary = summary_of(kernel(f"\t{bad}\n\tmov.b32 \t%r1, 1;"))
    assert summary.coverage.total - summary.coverage.understood == 1
    assert facts_of(summary)["ptx.opcodes"] == {"mov.b32": 1, "ret": 1}


def test_a_statement_that_lost_its_end_hides_no_other() -> None:
    summary = summary_of(kernel("\tadd.s32 \t%r1, %r2, %r3\n\tmov.b32 \t%r1, 1;"))
    assert summary.coverage.unknown[0][1].startswith("add.s32")
    assert facts_of(summary)["ptx.opcodes"] == {"mov.b32": 1, "ret": 1}


def test_statements_are_read_however_they_are_laid_out() -> None:
    plain = kernel(
        "\t@%p1 add.s32 \t%r1, %r2, %r3;\n\tcall.uni (param0), f, (param1, param2);\n\tmov.b32 \t%r4, 0;"
    )
    packed = kernel(
        "{ @%p1 add.s32 %r1,%r2,\n %r3; call.uni (param0),\n f,\n (param1, // x\n param2\n); } mov.b32 %r4, 0;"
    )
    block = kernel(
        "/* add.s32 %r9, %r9;\n */ @%p1 add.s32 %r1, %r2, %r3; call.uni (param0), f, (param1, param2);mov.b32 %r4, 0;"
    )
    for text in (packed, block):
        assert facts_of(summary_of(text))["ptx.opcodes"] == facts_of(summary_of(plain))["ptx.opcodes"]
        assert summary_of(text).coverage.ratio == 1.0
