"""What a cubin says of itself, against NVIDIA's tools and the driver."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

import corpus
from irdiff.api import Artifact, Context, ParseError, Summary
from irdiff.tools import LocalToolbox
from irdiff_sass.cubin import read_cubin
from irdiff_sass.plugin import STAGE
from irdiff_sass.spills import count_spills

USAGE = re.compile(r"Function (\S+):\s+REG:(\d+) STACK:(\d+) SHARED:(\d+) LOCAL:\d+ (.*)")


def values(summary: Summary) -> dict[str, object]:
    return {fact.id: fact.value for fact in summary.facts if not fact.scope}


def usage(cuobjdump: Path, path: Path) -> dict[str, tuple[int, int, int, dict[int, int]]]:
    ran = subprocess.run(
        [cuobjdump, "-res-usage", path], capture_output=True, text=True, check=True, timeout=60
    )
    return {
        found[1]: (
            int(found[2]),
            int(found[3]),
            int(found[4]),
            {int(bank): int(size) for bank, size in re.findall(r"CONSTANT\[(\d+)\]:(\d+)", found[5])},
        )
        for found in USAGE.finditer(ran.stdout)
    }


def ours(path: Path) -> dict[str, tuple[int | None, int | None, int, dict[int, int]]]:
    cubin = read_cubin(path.read_bytes())
    codes = {code.role: code for code in cubin.codes}
    return {
        each.name: (each.registers, each.stack, codes[each.code].shared, codes[each.code].constants)
        for each in cubin.functions
        if each.code and each.registers is not None
    }


def test_resources_equal_cuobjdump_on_every_fixture(cubins: tuple[Path, ...], cuobjdump: Path) -> None:
    for path in cubins:
        expected = usage(cuobjdump, path)
        assert expected
        found = ours(path)
        assert {name: found[name] for name in expected} == expected, path


def test_resources_equal_cuobjdump_on_all_recorded_kernels(
    h200: Path, cuobjdump: Path, no_tools: LocalToolbox
) -> None:
    paths = sorted(h200.rglob("*.cubin"))
    assert len(paths) == 141
    for path in paths:
        (entry,) = (each.name for each in read_cubin(path.read_bytes()).entries)
        registers, stack, shared, constants = usage(cuobjdump, path)[entry]
        data = Artifact.of_bytes(path.read_bytes(), suffix=".cubin")
        found = values(STAGE.summarize(data, Context(tools=no_tools)))
        assert (found["sass.registers"], found["sass.stack"]) == (registers, stack)
        assert found["sass.static_shared"] == shared
        assert found["sass.constant_bytes"] == sum(constants.values())


def test_matmul_registers_and_spills_equal_what_the_driver_reported(
    h200: Path, no_tools: LocalToolbox
) -> None:
    folder = corpus.test_data()
    assert folder is not None
    expected = {
        item["hash"]: (item["registers"], item["spills"], item["spills"])
        for item in json.loads((folder / "data" / "driver-attributes.json").read_text())
    }
    found = {}
    for path in h200.rglob("matmul_kernel.cubin"):
        recorded = json.loads(path.with_suffix(".json").read_text())["hash"]
        summary = values(STAGE.summarize(Artifact.of_bytes(path.read_bytes()), Context(tools=no_tools)))
        names = ("sass.registers", "sass.spill_store_bytes", "sass.spill_load_bytes")
        found[recorded] = tuple(summary[name] for name in names)
    assert found == expected
    assert len(found) == 5


def oracle() -> dict[str, dict[str, object]]:
    kernels: dict[str, dict[str, object]] = json.loads(
        (corpus.FIXTURES / "oracle" / "ptxas.json").read_text()
    )["kernels"]
    return kernels


def test_spill_bytes_equal_ptxas(no_tools: LocalToolbox) -> None:
    exact = 0
    for name, said in oracle().items():
        path = corpus.FIXTURES / Path(name).with_suffix(".cubin")
        spills = count_spills(read_cubin(path.read_bytes()))
        assert (spills.stores, spills.loads) == (said["spill_store_bytes"], said["spill_load_bytes"]), name
        exact += spills.exact and spills.stores > 0
    assert exact >= 2


def test_barriers_stack_and_registers_equal_ptxas(no_tools: LocalToolbox) -> None:
    compared = 0
    for name, said in oracle().items():
        path = corpus.FIXTURES / Path(name).with_suffix(".cubin")
        cubin = read_cubin(path.read_bytes())
        found = values(STAGE.summarize(Artifact.of_bytes(path.read_bytes()), Context(tools=no_tools)))
        assert (found["sass.registers"], found["sass.stack"]) == (said["registers"], said["stack_bytes"])
        if cubin.ptxas and not cubin.ptxas.startswith("12.4"):  # 12.4 does not say how many barriers
            assert found["sass.named_barriers"] == said["barriers"], name
            compared += 1
    assert compared > 20


def test_an_assembler_that_marks_no_spills_gives_an_estimate_only_where_there_is_something_to_guess() -> None:
    """Before 12.8 nothing is marked; its figure is then called an estimate, unless there is no local access."""
    path = next(corpus.PAIRS.glob("spills/after/*/*.cubin"))
    data = bytearray(path.read_bytes())
    marked = count_spills(read_cubin(bytes(data)))
    data[20:24] = (124).to_bytes(4, "little")
    guessed = count_spills(read_cubin(bytes(data)))
    assert marked.exact
    assert not guessed.exact
    assert (guessed.stores, guessed.loads) == (marked.stores, marked.loads)
    plain = next(corpus.PAIRS.glob("spills/before/*/*.cubin")).read_bytes()
    assert count_spills(read_cubin(plain[:20] + (124).to_bytes(4, "little") + plain[24:])).exact


@pytest.mark.parametrize(
    ("release", "target", "registers", "ptxas"),
    [
        ("3.6.0", "sm_121", 80, "12.9.86"),
        ("3.6.0", "sm_90", 58, "12.8"),
        ("3.6.0", "sm_80", 80, "12.8"),
        ("3.1.0", "sm_90", 58, "12.4"),
        ("3.9.0", "sm_90", 58, "13.4.59"),
    ],
)
def test_reference_matmul(
    release: str, target: str, registers: int, ptxas: str, no_tools: LocalToolbox
) -> None:
    path = corpus.entry(release, target, "matmul_kernel") / "matmul_kernel.cubin"
    found = values(STAGE.summarize(Artifact.of_bytes(path.read_bytes()), Context(tools=no_tools)))
    assert found["sass.registers"] == registers
    assert found["sass.spill_store_bytes"] == found["sass.spill_load_bytes"] == found["sass.stack"] == 0
    assert found["sass.named_barriers"] == 1
    assert found["sass.ptxas"] == ptxas


def cases(folder: str) -> list[str]:
    return sorted(
        name
        for name, case in json.loads((corpus.FIXTURES / folder / "cases.json").read_text()).items()
        if [Path(each).suffix for each in case["damaged"]] == [".cubin"]
    )


@pytest.mark.parametrize(
    "name", [f"broken/{each}" for each in cases("broken")] + [f"hostile/{each}" for each in cases("hostile")]
)
def test_a_damaged_cubin_is_a_parse_error_with_a_place_or_is_read_with_an_issue(
    name: str, no_tools: LocalToolbox
) -> None:
    (path,) = (corpus.FIXTURES / name).rglob("*.cubin")
    data = path.read_bytes()
    expect = json.loads((corpus.FIXTURES / name).parent.joinpath("cases.json").read_text())[
        path.parents[1].name
    ]["expect"]
    artifact = Artifact.of_bytes(data, suffix=".cubin")
    if expect == "issue":
        found = outcome(artifact, no_tools)
        assert isinstance(found, ParseError) or found.issues
    else:
        with pytest.raises(ParseError) as caught:
            STAGE.summarize(artifact, Context(tools=no_tools))
        assert caught.value.offset is not None
        assert 0 <= caught.value.offset <= len(data)
        assert caught.value.hint


def outcome(artifact: Artifact, tools: LocalToolbox) -> Summary | ParseError:
    try:
        return STAGE.summarize(artifact, Context(tools=tools))
    except ParseError as error:
        return error


def test_a_cut_off_cubin_says_where_and_what_is_missing(cubins: tuple[Path, ...]) -> None:
    data = cubins[0].read_bytes()
    with pytest.raises(ParseError, match=r"cut off at byte 4096 \(section headers missing\)") as caught:
        read_cubin(data[:4096])
    assert caught.value.offset == 4096


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x50\xed\x55\xba" + bytes(60), "is a fat binary"),
        (b"not machine code", "is not an ELF file"),
        (
            b"\x7fELF\x02\x01\x01" + bytes(11) + (62).to_bytes(2, "little") + bytes(44),
            "is a host program for x86-64",
        ),
        (
            b"\x7fELF\x02\x01\x01" + bytes(11) + (224).to_bytes(2, "little") + bytes(44),
            r"AMD code object \(hsaco\)",
        ),
        (b"\x7fELF\x01\x01\x01" + bytes(57), "is not a 64-bit little-endian ELF"),
    ],
)
def test_other_files_are_refused_by_what_they_are(data: bytes, message: str) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        read_cubin(data)
    assert caught.value.hint


def test_every_resource_rests_on_a_place_inside_the_file(
    cubins: tuple[Path, ...], no_tools: LocalToolbox
) -> None:
    for path in cubins:
        size = path.stat().st_size
        summary = STAGE.summarize(Artifact.of_bytes(path.read_bytes()), Context(tools=no_tools))
        for fact in summary.facts:
            assert all(0 < place < size for places in fact.evidence.values() for place in places), fact
            if fact.id in (
                "sass.registers",
                "sass.stack",
                "sass.static_shared",
                "sass.code_bytes",
                "sass.fingerprint",
            ):
                assert fact.evidence
