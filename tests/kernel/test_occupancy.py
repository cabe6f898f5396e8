"""Occupancy, compared with NVIDIA's own ``cuda_occupancy.h``."""

from __future__ import annotations

import importlib.metadata
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from irdiff_kernel.occupancy import SMS, next_step, occupancy, sm_of, static_without_reserve

PROGRAM = r"""
#include <stdio.h>
#include <cuda_occupancy.h>
int main(void) {
    int major, minor, threads, warps, registers, barriers;
    unsigned long shared, optin, reserve, is_static, dynamic;
    while (scanf("%d %d %d %lu %lu %lu %d %d %lu %lu %d", &major, &minor, &threads, &shared, &optin, &reserve,
                 &warps, &registers, &is_static, &dynamic, &barriers) == 11) {
        cudaOccDeviceProp device = {
            .computeMajor = major, .computeMinor = minor, .maxThreadsPerBlock = 1024,
            .maxThreadsPerMultiprocessor = threads, .regsPerBlock = 65536, .regsPerMultiprocessor = 65536,
            .warpSize = 32, .sharedMemPerBlock = 48 * 1024, .sharedMemPerMultiprocessor = shared, .numSms = 100,
            .sharedMemPerBlockOptin = optin, .reservedSharedMemPerBlock = reserve};
        cudaOccFuncAttributes kernel = {
            .maxThreadsPerBlock = 1024, .numRegs = registers, .sharedSizeBytes = is_static,
            .partitionedGCConfig = PARTITIONED_GC_OFF, .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
            .maxDynamicSharedSizeBytes = dynamic, .numBlockBarriers = barriers, .virtualResourceCount = 0};
        cudaOccDeviceState state = {.cacheConfig = CACHE_PREFER_NONE, .carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
        cudaOccResult result;
        cudaOccError status =
            cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &kernel, &state, 32 * warps, dynamic);
        printf("%d %d %u\n", (int)status, result.activeBlocksPerMultiprocessor, result.limitingFactors);
    }
    return 0;
}
"""
LIMITS = {
    1: "warps",
    2: "registers",
    4: "shared memory",
    8: "CTA slots",
    16: "barriers",
}
CASES = 5000


def header_folder() -> Path:
    """The folder of ``cuda_occupancy.h`` in the PyPI package nvidia-cuda-runtime (a test dependency)."""
    for file in importlib.metadata.files("nvidia-cuda-runtime") or ():
        if file.name == "cuda_occupancy.h":
            return Path(str(file.locate())).parent
    raise RuntimeError("nvidia-cuda-runtime is installed and holds no cuda_occupancy.h")


def random_case(chance: random.Random) -> dict[str, int]:
    """Values near the edges as often as far from them."""
    large = chance.random() < 0.5
    return {
        "warps": chance.choice((1, 2, 4, 8, 16, 32, chance.randint(1, 36))),
        "registers": chance.choice((0, 16, 32, 64, 128, 255, 256, chance.randint(1, 257))),
        "static": chance.choice((0, 0, 16, 512, 1024, chance.randint(0, 49152))),
        "dynamic": chance.randint(0, 240_000) if large else chance.choice((0, 128, 4096, 8192, 16384, 49152)),
        "barriers": chance.choice((0, 1, 2, 3, chance.randint(0, 16))),
    }


def test_it_equals_nvidias_own_calculator_on_thousands_of_cases(tmp_path: Path) -> None:
    compiler = shutil.which("gcc")
    assert compiler, "gcc is needed to compile NVIDIA's calculator"
    (tmp_path / "calculator.c").write_text(PROGRAM)
    program = tmp_path / "calculator"
    subprocess.run(
        [compiler, "-O1", f"-I{header_folder()}", str(tmp_path / "calculator.c"), "-o", str(program)],
        check=True,
    )
    chance = random.Random(7)
    cases = [(chance.choice(sorted(SMS)), random_case(chance)) for _ in range(CASES)]
    lines = []
    for capability, case in cases:
        sm = SMS[capability]
        lines.append(
            " ".join(
                map(str, (*capability, sm.threads, sm.shared, sm.shared_per_cta, sm.reserve, *case.values()))
            )
        )
    done = subprocess.run([str(program)], input="\n".join(lines), capture_output=True, text=True, check=True)
    answers = done.stdout.splitlines()
    assert len(answers) == CASES
    seen: set[str] = set()
    for (capability, case), answer in zip(cases, answers, strict=True):
        status, ctas, factors = map(int, answer.split())
        assert status == 0
        found = occupancy(SMS[capability], **case)
        expected = tuple(sorted(name for bit, name in LIMITS.items() if factors & bit))
        # the header leaves earlier factors set where barriers lower the limit further
        if found.limits == ("barriers",):
            assert "barriers" in expected, (capability, case)
        else:
            assert found.limits == expected, (capability, case)
        assert found.ctas == ctas, (capability, case)
        seen.update(found.limits)
    assert seen == set(LIMITS.values()), "every limit must have decided some case"


@pytest.mark.parametrize(
    ("arch", "capability"),
    [("90", (9, 0)), ("sm_90a", (9, 0)), ("sm121", (12, 1)), ("100f", (10, 0)), ("75", (7, 5))],
)
def test_architectures_are_found_however_they_are_spelled(arch: str, capability: tuple[int, int]) -> None:
    assert sm_of(arch) is SMS[capability]


@pytest.mark.parametrize("arch", ["", "9", "70", "gfx942", "900", "90ab", "9" * 5000, "90\n"])
def test_an_architecture_that_is_not_in_the_table_has_no_limits(arch: str) -> None:
    assert sm_of(arch) is None


def test_the_reserve_in_the_section_is_taken_off_once() -> None:
    assert static_without_reserve(SMS[9, 0], 1536) == 512
    assert static_without_reserve(SMS[9, 0], 0) == 0
    assert static_without_reserve(SMS[8, 0], 512) == 512


FIELDS = {"registers": "registers", "shared memory": "dynamic", "barriers": "barriers"}


def given_up(case: dict[str, int], step: dict[str, int]) -> dict[str, int]:
    return {**case, **{FIELDS[name]: case[FIELDS[name]] - amount for name, amount in step.items()}}


def test_the_next_step_gives_one_more_cta_and_not_a_unit_of_it_can_be_spared() -> None:
    chance = random.Random(11)
    found = 0
    for _ in range(CASES):
        sm = SMS[chance.choice(sorted(SMS))]
        case = {**random_case(chance), "static": 0}
        now = occupancy(sm, **case)
        step = next_step(sm, **case)
        if step is None:
            continue
        found += 1
        assert step.keys() == set(now.limits)
        assert all(amount > 0 for amount in step.values()), (case, step)
        assert occupancy(sm, **given_up(case, step)).ctas >= now.ctas + 1, (case, step)
        for name in step:
            less = {**step, name: step[name] - 1}
            assert occupancy(sm, **given_up(case, less)).ctas == now.ctas, (case, step, name)
    assert found > CASES // 5


def test_there_is_no_next_step_where_something_else_is_the_limit() -> None:
    """Warps and CTA slots cannot be given up by a kernel that keeps its shape."""
    chance = random.Random(12)
    limits = set()
    for _ in range(CASES):
        sm = SMS[chance.choice(sorted(SMS))]
        case = {**random_case(chance), "static": 0}
        if next_step(sm, **case) is None:
            limits.add(occupancy(sm, **case).limits)
    assert {("warps",), ("CTA slots",)} <= limits
    for limit in limits:
        # a register file that even one register per thread overflows is the one other reason
        assert {"warps", "CTA slots"} & set(limit) or limit == ("registers",) or "shared memory" in limit


def test_two_registers_fewer_give_one_cta_more() -> None:
    """The reference matmul with 8 warps and 3 stages on sm_90: 42 registers, 5 CTAs."""
    case = {"warps": 8, "registers": 42, "static": 0, "dynamic": 24576, "barriers": 1}
    assert occupancy(SMS[9, 0], **case).ctas == 5
    assert next_step(SMS[9, 0], **case) == {"registers": 2}
    assert occupancy(SMS[9, 0], **{**case, "registers": 40}).ctas == 6
