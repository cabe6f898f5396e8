"""Trip counts of PTX loops: only what the text proves, and then the number of passes the program makes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import corpus
from irdiff.api import Artifact, Context, Summary
from irdiff.plugins import load_plugins
from irdiff.testing import NoTools
from ptx.ptx_samples import every_fixture, kernel, summary_of

HOLDS = {
    "lt": lambda value, bound: value < bound,
    "le": lambda value, bound: value <= bound,
    "gt": lambda value, bound: value > bound,
    "ge": lambda value, bound: value >= bound,
    "ne": lambda value, bound: value != bound,
    "eq": lambda value, bound: value == bound,
}
MOST = 3000


def trips(text: str) -> list[int | None]:
    return [scope.trip_count for scope in summary_of(kernel(text)).scopes]


def wrapped(value: int, *, signed: bool) -> int:
    value &= 0xFFFFFFFF
    return value - (1 << 32) if signed and value >> 31 else value


def passes(start: int, step: int, bound: int, relation: str, *, signed: bool, stepped: bool) -> int | None:
    """What the machine does, with 32 bits that wrap around: the slow definition; None where it does not end soon."""
    limit = wrapped(bound, signed=signed)
    for count in range(1, MOST + 1):
        compared = wrapped(start + step * (count if stepped else count - 1), signed=signed)
        if not HOLDS[relation](compared, limit):
            return count
    return None


@settings(max_examples=400, deadline=None)
@given(
    start=st.integers(-40, 300),
    step=st.sampled_from([-32, -7, -1, 1, 2, 3, 16, 32, 64]),
    bound=st.integers(-64, 600),
    relation=st.sampled_from(sorted(HOLDS)),
    signed=st.booleans(),
    stepped=st.booleans(),
    through_move=st.booleans(),
    negated=st.booleans(),
)
def test_a_proven_count_is_what_the_machine_does(
    start: int,
    step: int,
    bound: int,
    relation: str,
    signed: bool,
    stepped: bool,
    through_move: bool,
    negated: bool,
) -> None:
    inverse = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "ne": "eq", "eq": "ne"}
    written = inverse[relation] if negated else relation
    kind = "b32" if relation in ("ne", "eq") else "s32" if signed else "u32"
    assume(kind != "b32" or not signed)
    test = f"\tsetp.{written}.{kind} %p1, %r1, {bound};\n"
    update = (
        "\tadd.s32 %r2, %r1, {0};\n\tmov.b32 %r1, %r2;\n" if through_move else "\tadd.s32 %r1, %r1, {0};\n"
    )
    body = update.format(step) + test if stepped else test + update.format(step)
    text = f"\tmov.b32 %r1, {start};\n$L__BB0_1:\n{body}\t@{'!' if negated else ''}%p1 bra $L__BB0_1;\n"
    (found,) = trips(text)
    expected = passes(start, step, bound, relation, signed=signed, stepped=stepped)
    if found is not None and found < MOST:
        assert found == expected
    elif start >= 0 and bound >= 0 and step > 0 and relation == "lt":
        assert expected is None, "the common form must be proven"


PROVEN = (
    "\tmov.b32 %r1, 0;\n$L__BB0_1:\n{}\tadd.s32 %r1, %r1, 32;\n\tsetp.lt.u32 %p1, %r1, 256;\n"
    "\t@%p1 bra $L__BB0_1;\n"
)


def test_the_plain_form_is_proven() -> None:
    assert trips(PROVEN.format("")) == [8]


@pytest.mark.parametrize(
    "inside",
    [
        "\tadd.s32 %r1, %r1, 1;\n",
        "\t@%p2 add.s32 %r1, %r1, 1;\n",
        "\tld.global.b32 %r1, [%rd1];\n",
        "\tld.global.v2.b32 {%r5, %r1}, [%rd1];\n",
        "\t@%p2 bra $L__BB0_9;\n",
        "\t@%p2 bra $L__BB0_1;\n",
        "$L__BB0_5:\n\tadd.s32 %r1, %r1, 1;\n\t@%p2 bra $L__BB0_5;\n",
        "\tshfl.sync.idx.b32 %r1|%p2, %r4, 0, 31, -1;\n",
    ],
)
def test_what_spoils_the_proof_leaves_the_count_unknown(inside: str) -> None:
    assert trips(PROVEN.format(inside) + "$L__BB0_9:\n")[0] is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("mov.b32 %r1, 0;", "mov.b32 %r1, %r9;"),
        ("setp.lt.u32 %p1, %r1, 256;", "setp.lt.u32 %p1, %r1, %r8;"),
        ("add.s32 %r1, %r1, 32;", "add.s32 %r1, %r1, %r8;"),
        ("add.s32 %r1, %r1, 32;", "sub.s32 %r1, %r1, 32;"),
        ("add.s32 %r1, %r1, 32;", "@%p3 add.s32 %r1, %r1, 32;"),
        ("mov.b32 %r1, 0;", "@%p3 mov.b32 %r1, 0;"),
    ],
)
def test_what_is_no_constant_leaves_the_count_unknown(before: str, after: str) -> None:
    text = PROVEN.format("")
    assert before in text
    assert trips(text.replace(before, after)) == [None]


def test_a_constant_that_was_moved_is_a_constant() -> None:
    assert trips("\tmov.b32 %r7, 256;\n" + PROVEN.format("").replace(", 256;", ", %r7;")) == [8]


def test_loops_nest_and_each_has_its_own_count() -> None:
    inner = "\tmov.b32 %r2, 0;\n$L__BB0_2:\n\tadd.s32 %r2, %r2, 1;\n\tsetp.ne.b32 %p2, %r2, 5;\n\t@%p2 bra $L__BB0_2;\n"
    assert trips(PROVEN.format(inner)) == [8, 5]


def test_a_loop_tested_at_its_top_counts_whole_passes() -> None:
    text = (
        "\tmov.b32 %r1, 0;\n$L__BB0_1:\n\tsetp.ge.s32 %p1, %r1, 96;\n\t@%p1 bra $L__BB0_2;\n\tbar.sync 0;\n"
        "\tadd.s32 %r1, %r1, 32;\n\tbra.uni $L__BB0_1;\n$L__BB0_2:\n"
    )
    assert trips(text) == [3]


def summaries(ptx: Path, registry_stages: dict) -> dict[str, Summary]:
    found = {}
    for stage in ("ttir", "ttgir", "ptx"):
        path = ptx.with_suffix(f".{stage}")
        if path.exists():
            artifact = Artifact.of_bytes(path.read_bytes(), stage=stage, suffix=path.suffix)
            found[stage] = registry_stages[stage].summarize(artifact, Context(tools=NoTools()))
    return found


def agreement(paths: list[Path]) -> tuple[int, int, list[str]]:
    """(loops with equal counts, loops one pass short because LLVM peeled it, what else there is)."""
    stages = {stage.id: stage for stage in load_plugins(external=False).stages}
    equal, peeled, odd = 0, 0, []
    for path in paths:
        read = summaries(path, stages)
        counts = {
            stage: {scope.id: scope.trip_count for scope in summary.scopes} for stage, summary in read.items()
        }
        for scope, count in counts.get("ptx", {}).items():
            tile = counts.get("ttgir", {}).get(scope)
            if count is None or tile is None:
                continue
            equal += count == tile
            peeled += count == tile - 1
            if count not in (tile, tile - 1):
                odd.append(f"{path}: {scope} {tile} -> {count}")
    return equal, peeled, odd


def test_counts_agree_with_the_tile_program_on_every_fixture() -> None:
    """TTGIR's, which the pipeliner may have peeled; TTIR's are compared with those where nothing was peeled."""
    equal, peeled, odd = agreement(every_fixture())
    assert not odd
    assert equal >= 9
    assert peeled == 0
    path = corpus.entry("3.6.0", "sm_80", "matmul_kernel", "w4s2")
    (ptx,) = path.glob("*.ptx")
    stages = {stage.id: stage for stage in load_plugins(external=False).stages}
    assert [
        [scope.trip_count for scope in summary.scopes] for summary in summaries(ptx, stages).values()
    ] == [[8], [8], [8]]


@pytest.mark.data
def test_counts_agree_with_the_tile_program_on_the_recorded_cache(h200: Path) -> None:
    equal, peeled, odd = agreement(sorted(h200.glob("*/*.ptx")))
    assert not odd
    assert equal == 49
    assert peeled == 2, "of two matmuls with six stages LLVM peels the first pass: their counter begins at 32"
