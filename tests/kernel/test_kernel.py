"""The facts ``kernel.*``: from made-up facts of stages, and from real kernels read by the real stages."""

from __future__ import annotations

from pathlib import Path

import pytest

import corpus
from irdiff.api import Artifact, Bundle, Fact, Value
from irdiff.engine.kernels import Kernel
from irdiff.engine.summarize import Reader
from irdiff.plugins import load_plugins
from irdiff.testing import NoTools
from irdiff_kernel.plugin import FACTS, derive
from irdiff_kernel.tensor import flops_of

MATMUL_DOT = "64x32xf16 * 32x64xf16 -> 64x64xf32, tf32"


class View:
    """Facts of a kernel that was never compiled."""

    def __init__(
        self,
        facts: dict[tuple[str, str], Value] | dict[str, Value],
        *,
        trips: dict[str, int | None] | None = None,
        target: str = "cuda:90",
    ) -> None:
        self._facts = {key if isinstance(key, tuple) else (key, ""): value for key, value in facts.items()}
        self._trips = trips or {}
        self.backend: str | None
        self.arch: str | None
        self.backend, _, self.arch = target.partition(":")

    def value(self, fact_id: str, scope: str = "") -> Value | None:
        return self._facts.get((fact_id, scope))

    def trip_count(self, stage_id: str, scope: str) -> int | None:
        return self._trips.get(scope) if stage_id == "ttir" else None

    def scopes(self, stage_id: str) -> tuple[str, ...]:
        return tuple(self._trips) if stage_id == "ttir" else ()


def derived(view: View) -> dict[str, Value]:
    facts: list[Fact] = list(derive(view))
    assert {fact.id for fact in facts} <= {spec.id for spec in FACTS}
    return {fact.id: fact.value for fact in facts}


RESOURCES: dict[str, Value] = {
    "meta.num_warps": 4,
    "meta.shared": 16384,
    "sass.registers": 58,
    "sass.static_shared": 1024,
    "sass.named_barriers": 1,
    "sass.fingerprint": "f00d",
}


def dots(per_scope: dict[str, dict[str, int]]) -> dict[tuple[str, str], Value]:
    return {("ttir.dots", scope): tally for scope, tally in per_scope.items()}


def test_resources_give_occupancy_and_its_limit() -> None:
    facts = derived(View(RESOURCES))
    assert facts["kernel.ctas_per_sm"] == 8
    assert facts["kernel.occupancy"] == 50.0
    assert facts["kernel.occupancy_limiter"] == "registers"
    assert facts["kernel.next_step"] == {"registers": 2}
    assert facts["kernel.shared_total"] == 16384
    assert facts["kernel.shared_limit_share"] == 7.05
    assert facts["kernel.code"] == "f00d"


@pytest.mark.parametrize(
    ("missing", "lost"),
    [
        ("meta.num_warps", {"ctas_per_sm", "occupancy", "occupancy_limiter", "next_step"}),
        ("sass.registers", {"ctas_per_sm", "occupancy", "occupancy_limiter", "next_step"}),
        ("sass.named_barriers", {"ctas_per_sm", "occupancy", "occupancy_limiter", "next_step"}),
        (
            "meta.shared",
            {
                "ctas_per_sm",
                "occupancy",
                "occupancy_limiter",
                "next_step",
                "shared_total",
                "shared_limit_share",
            },
        ),
        (
            "sass.static_shared",
            {
                "ctas_per_sm",
                "occupancy",
                "occupancy_limiter",
                "next_step",
                "shared_total",
                "shared_limit_share",
            },
        ),
        ("sass.fingerprint", {"code"}),
    ],
)
def test_what_is_not_known_is_not_guessed(missing: str, lost: set[str]) -> None:
    complete = derived(View(RESOURCES))
    found = derived(View({key: value for key, value in RESOURCES.items() if key != missing}))
    assert complete.keys() - found.keys() == {f"kernel.{name}" for name in lost}


@pytest.mark.parametrize("target", ["hip:gfx942", "cuda:200", "cuda:", ""])
def test_an_unknown_multiprocessor_has_no_occupancy(target: str) -> None:
    facts = derived(View(RESOURCES, target=target))
    assert "kernel.ctas_per_sm" not in facts
    assert "kernel.shared_limit_share" not in facts
    assert ("kernel.shared_total" in facts) == target.startswith("hip")


def test_more_shared_memory_than_there_is_cannot_be_launched() -> None:
    facts = derived(View({**RESOURCES, "meta.shared": 300_000}))
    assert facts["kernel.ctas_per_sm"] == 0
    assert facts["kernel.occupancy"] == 0
    assert facts["kernel.occupancy_limiter"] == "shared memory"
    share = facts["kernel.shared_limit_share"]
    assert isinstance(share, float)
    assert share > 100


@pytest.mark.parametrize(
    ("key", "flops"),
    [
        (MATMUL_DOT, 262_144),
        ("16x16xf16 * 16x8xf16 -> 16x8xf32", 4096),
        ("4x16x32xbf16 * 4x32x16xbf16 -> 4x16x16xf32, ieee", 4 * 2 * 16 * 32 * 16),
        ("128x64xf8E4M3FN * 64x32xf8E4M3FN -> 128x32xf32", 2 * 128 * 64 * 32),
        ("128x32xi8 * 32x128xi8 -> 128x128xf32, scaled, lhs e2m1, rhs e2m1", None),
        ("128x64xf8E4M3FN * 32x32xi8 -> 128x32xf32, scaled", None),
        ("2x16x16xf16 * 3x16x16xf16 -> 2x16x16xf32", None),
        ("?", None),
        ("", None),
        ("64x32xf16", None),
    ],
)
def test_a_dot_is_two_operations_for_each_product(key: str, flops: int | None) -> None:
    assert flops_of(key) == flops


def test_work_is_weighted_by_the_trips_of_every_loop_around_it() -> None:
    view = View(
        dots(
            {
                "": {MATMUL_DOT: 4},
                "loop0": {MATMUL_DOT: 3},
                "loop0/loop1": {MATMUL_DOT: 2},
            }
        ),
        trips={"loop0": 5, "loop0/loop1": 7, "loop2": None},
    )
    facts = derived(view)
    assert facts["kernel.tensor_flops"] == 262_144 * (1 + 5 * 1 + 5 * 7 * 2)
    assert facts["kernel.tensor_flops_per_iteration"] == 2 * 262_144


def test_peeling_and_unrolling_change_no_work() -> None:
    rolled = View(dots({"": {MATMUL_DOT: 1}, "loop0": {MATMUL_DOT: 1}}), trips={"loop0": 8})
    peeled = View(dots({"": {MATMUL_DOT: 2}, "loop0": {MATMUL_DOT: 1}}), trips={"loop0": 7})
    unrolled = View(dots({"": {MATMUL_DOT: 2}, "loop0": {MATMUL_DOT: 2}}), trips={"loop0": 4})
    assert {derived(view)["kernel.tensor_flops"] for view in (rolled, peeled, unrolled)} == {2_097_152}


def test_an_unknown_trip_count_leaves_the_work_of_an_iteration() -> None:
    facts = derived(View(dots({"": {MATMUL_DOT: 1}, "loop0": {MATMUL_DOT: 1}}), trips={"loop0": None}))
    assert "kernel.tensor_flops" not in facts
    assert facts["kernel.tensor_flops_per_iteration"] == 262_144


def test_an_unknown_trip_count_of_a_loop_without_dots_does_not_matter() -> None:
    facts = derived(
        View(
            dots({"": {MATMUL_DOT: 1}, "loop0": {MATMUL_DOT: 1}, "loop1": {}}),
            trips={"loop0": 8, "loop1": None},
        )
    )
    assert facts["kernel.tensor_flops"] == 2_097_152


def test_a_dot_whose_work_is_not_known_leaves_the_whole_unknown() -> None:
    facts = derived(View(dots({"": {MATMUL_DOT: 1, "?": 1}})))
    assert "kernel.tensor_flops" not in facts


def test_dots_outside_loops_are_work_without_iterations() -> None:
    facts = derived(View(dots({"": {MATMUL_DOT: 2}})))
    assert facts["kernel.tensor_flops"] == 524_288
    assert "kernel.tensor_flops_per_iteration" not in facts


@pytest.mark.parametrize(
    ("facts", "wanted"),
    [
        ({"ptx.mma": {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32": 16}}, "mma.sync"),
        ({"ptx.mma": {"wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16": 2}}, "wgmma"),
        ({"ptx.mma": {"tcgen05.mma.cta_group::1.kind::f16": 2}}, "tcgen05"),
        ({"ptx.mma": {"wgmma.mma_async.x": 2, "mma.sync.y": 1}}, "mma.sync + wgmma"),
        ({"ptx.mma": {}, "ttir.dots": {MATMUL_DOT: 1}}, "fma"),
        ({"ptx.mma": {}, "ttir.dots": {}}, None),
        ({"ptx.mma": {}}, None),
        ({"sass.mma": {"HGMMA.64x64x16.F32": 2}}, "wgmma"),
        ({"sass.mma": {"HMMA.16816.F32": 16}}, "mma.sync"),
        ({"sass.mma": {"UTCHMMA": 2}}, "tcgen05"),
        ({"ttir.dots": {MATMUL_DOT: 1}}, None),
        ({}, None),
    ],
)
def test_the_class_of_mma_is_that_of_the_opcodes(facts: dict[str, Value], wanted: str | None) -> None:
    assert derived(View(facts)).get("kernel.mma_class") == wanted


def read_entry(folder: Path) -> Kernel:
    """One cache entry through the bundled stages, without any tool."""
    registry = load_plugins(external=False)
    artifacts: dict[str, Artifact] = {}
    for path in sorted(folder.iterdir()):
        name = path.name
        stage = registry.stage_of(path.suffix)
        if stage and not name.startswith("__grp__"):
            artifacts[stage] = Artifact(stage=stage, suffix=path.suffix, location=name, read=path.read_bytes)
    bundle = Bundle(name=folder.name, path=str(folder), artifacts=artifacts)
    (kernel,) = Reader(registry, NoTools(), canonical=False).read([bundle])
    return kernel


@pytest.mark.parametrize(
    ("target", "mma", "ctas"),
    [
        ("sm_80", "mma.sync", 6),
        ("sm_90", "wgmma", 8),
        ("sm_100", "tcgen05", 9),
        ("sm_121", "mma.sync", 6),
        ("gfx942", None, None),
    ],
)
def test_the_reference_matmul_does_the_same_work_on_every_architecture(
    target: str, mma: str | None, ctas: int | None
) -> None:
    folder = corpus.entry("3.6.0", target, "matmul_kernel", "w4s2")
    facts = {fact.id: fact.value for fact in read_entry(folder).derived}
    assert facts["kernel.tensor_flops"] == 2_097_152
    assert facts["kernel.tensor_flops_per_iteration"] == 262_144
    assert facts.get("kernel.mma_class") == mma
    assert facts.get("kernel.ctas_per_sm") == ctas


def test_binary_only_entries_have_occupancy_and_no_work() -> None:
    (folder,) = [path for path in (corpus.FIXTURES / "binary-only").iterdir() if path.is_dir()]
    facts = {fact.id for fact in read_entry(folder).derived}
    assert {"kernel.ctas_per_sm", "kernel.occupancy", "kernel.shared_total", "kernel.code"} <= facts
    assert "kernel.tensor_flops" not in facts
