"""Derived facts: occupancy and its limiter, tensor work, the class of matrix instructions; trip counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from irdiff.api import Value

from amd_fixtures import Entry, corpus, summary, values
from irdiff_amdgcn.derived import FACTS, derive
from irdiff_amdgcn.occupancy import GPUS, Occupancy, occupancy, waves_by_registers

MATMUL_FLOPS = 2 * 64 * 64 * 256
"""One workgroup's share of the reference matmul: a 64 by 64 tile, 256 deep."""


class View:
    """Facts of one kernel, as derivations are given them."""

    def __init__(
        self,
        facts: dict[str, object],
        *,
        target: str = "hip:gfx942",
        scopes: dict[str, int | None] | None = None,
        inside: dict[tuple[str, str], object] | None = None,
    ) -> None:
        self._facts = {(name, ""): value for name, value in facts.items()} | (inside or {})
        self._scopes = scopes or {}
        self.backend, _, self.arch = target.partition(":")

    def value(self, fact_id: str, scope: str = "") -> Value | None:
        return self._facts.get((fact_id, scope))  # type: ignore[return-value]

    def trip_count(self, stage_id: str, scope: str) -> int | None:
        return self._scopes[scope] if stage_id == "amdgcn" else None

    def scopes(self, stage_id: str) -> tuple[str, ...]:
        return tuple(self._scopes) if stage_id == "amdgcn" else ()


def derived(view: View) -> dict[str, Value]:
    found = {fact.id: fact.value for fact in derive(view)}
    assert found.keys() <= {spec.id for spec in FACTS}
    return found


def of_entry(compiled: Entry, shared: int) -> dict[str, Value]:
    made = summary(compiled.files[".amdgcn"])
    inside = {(fact.id, fact.scope): fact.value for fact in made.facts}
    return derived(
        View(
            {**values(made), "meta.shared": shared},
            target=f"hip:{compiled.target}",
            scopes={scope.id: scope.trip_count for scope in made.scopes},
            inside=inside,  # type: ignore[arg-type]
        )
    )


def fits(arch: str, **needs: int) -> Occupancy:
    return occupancy(GPUS[arch], **{"waves": 4, "registers": 32, "scalars": 32, "lds": 0, **needs}, pair=True)


@pytest.mark.parametrize(
    ("arch", "needs", "waves", "limits"),
    [
        ("gfx942", {"registers": 64}, 8, ("scalar registers", "vector registers", "wave slots")),
        ("gfx942", {"registers": 65}, 7, ("vector registers",)),
        ("gfx942", {"registers": 512}, 1, ("vector registers",)),
        ("gfx942", {"registers": 256, "waves": 8}, 2, ("vector registers",)),
        ("gfx942", {"lds": 65536}, 1, ("LDS",)),
        ("gfx942", {"lds": 65537}, 0, ("LDS",)),
        ("gfx942", {"lds": 32768, "registers": 256}, 2, ("LDS", "vector registers")),
        ("gfx950", {"lds": 65536}, 2, ("LDS",)),
        ("gfx950", {"lds": 163840}, 1, ("LDS",)),
        ("gfx942", {"scalars": 104}, 7, ("scalar registers",)),
        (
            "gfx1100",
            {"scalars": 104, "registers": 96},
            16,
            ("scalar registers", "vector registers", "wave slots"),
        ),
        ("gfx1100", {"registers": 97}, 12, ("vector registers",)),
        ("gfx1100", {"lds": 65536}, 2, ("LDS",)),
        ("gfx1201", {"registers": 256}, 5, ("vector registers",)),
        (
            "gfx942",
            {"waves": 2},
            8,
            ("scalar registers", "vector registers", "wave slots", "workgroup slots"),
        ),
        ("gfx942", {"waves": 16, "registers": 200}, 0, ("vector registers",)),
    ],
)
def test_occupancy_and_what_limits_it(
    arch: str, needs: dict[str, int], waves: float, limits: tuple[str, ...]
) -> None:
    found = fits(arch, **needs)
    assert found.waves == waves
    assert found.limits == limits


@given(
    st.sampled_from(sorted(GPUS)),
    st.integers(1, 512),
    st.integers(1, 106),
    st.integers(0, 65536),
    st.sampled_from([1, 2, 4, 8]),
)
def test_needing_more_never_fits_more(arch: str, registers: int, scalars: int, lds: int, waves: int) -> None:
    now = fits(arch, registers=registers, scalars=scalars, lds=lds, waves=waves)
    assert now.waves <= waves_by_registers(GPUS[arch], registers)
    for more in ({"registers": registers + 1}, {"scalars": scalars + 1}, {"lds": lds + 512}):
        needs = {"registers": registers, "scalars": scalars, "lds": lds, "waves": waves, **more}
        assert fits(arch, **needs).groups <= now.groups


RESOURCES: dict[str, object] = {
    "amdgcn.registers": 512,
    "amdgcn.sgprs": 40,
    "amdgcn.static_lds": 0,
    "amdgcn.launch": {"wavefront size": 64, "workgroup size": 256},
    "meta.shared": 32768,
}


def test_resources_give_occupancy_and_the_share_of_the_lds() -> None:
    found = derived(View(RESOURCES))
    assert found == {
        "amdgcn.occupancy": 1.0,
        "amdgcn.occupancy_limiter": "vector registers",
        "amdgcn.groups_per_cu": 1,
        "amdgcn.lds_share": 50.0,
    }


def test_the_code_object_alone_is_enough() -> None:
    facts = {name.replace("amdgcn.", "hsaco."): value for name, value in RESOURCES.items()}
    assert derived(View(facts)) == derived(View(RESOURCES))


@pytest.mark.parametrize("missing", sorted(RESOURCES))
def test_what_is_not_known_is_left_out(missing: str) -> None:
    assert "amdgcn.occupancy" not in derived(
        View({name: RESOURCES[name] for name in RESOURCES if name != missing})
    )


@pytest.mark.parametrize("target", ["cuda:90", "hip:gfx906", "hip:", "xpu:pvc"])
def test_another_gpu_has_no_occupancy_here(target: str) -> None:
    assert "amdgcn.occupancy" not in derived(View(RESOURCES, target=target))


@pytest.mark.parametrize(
    ("facts", "name"),
    [
        ({"amdgcn.mma": {"v_mfma_f32_32x32x8_f16": 4}}, "mfma"),
        ({"amdgcn.mma": {"v_smfmac_f32_16x16x32_f16": 4}}, "mfma"),
        ({"amdgcn.mma": {"v_wmma_f32_16x16x16_f16": 4}}, "wmma"),
        ({"amdgcn.mma": {}, "ttir.dots": {"64x32xf32 * 32x64xf32 -> 64x64xf32": 1}}, "fma"),
        ({"amdgcn.mma": {}}, None),
        ({}, None),
    ],
)
def test_class_of_matrix_instructions(facts: dict[str, object], name: str | None) -> None:
    assert derived(View(facts)).get("amdgcn.mma_class") == name


@pytest.mark.parametrize(
    "compiled", [each for each in corpus() if each.name.startswith("matmul")], ids=lambda each: each.id
)
def test_the_reference_matmul_does_the_same_work_on_every_target(compiled: Entry) -> None:
    """Unrolled, peeled or in a loop of proven trips, by MFMA or WMMA, in every release."""
    assert of_entry(compiled, 8192)["amdgcn.tensor_flops"] == MATMUL_FLOPS


def test_a_loop_without_a_proven_count_has_work_per_iteration_alone() -> None:
    for compiled in corpus():
        if compiled.name.endswith("d64"):
            found = of_entry(compiled, 8192)
            assert "amdgcn.tensor_flops" not in found
            assert found["amdgcn.tensor_flops_per_iteration"] % (2 * 16 * 16 * 16) == 0  # type: ignore[operator]


BRANCHES = """\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
kernel:
\tv_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]
\t{branch} .LBB0_2
{one}
\ts_branch .LBB0_3
.LBB0_2:
{other}
.LBB0_3:
\ts_endpgm
"""
MFMA = "\tv_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]"


@pytest.mark.parametrize(
    ("branch", "one", "other", "flops"),
    [
        ("s_cbranch_scc0", MFMA, MFMA, 2 * 16384),
        ("s_cbranch_scc0", "\tv_nop", "\tv_nop", 16384),
        ("s_cbranch_scc0", MFMA, "\tv_nop", None),
        ("s_cbranch_vccz", "\tv_nop", MFMA, None),
        ("s_cbranch_execz", MFMA, "\tv_nop", 2 * 16384),
        ("s_cbranch_execnz", MFMA, "\tv_nop", 16384),
    ],
)
def test_work_is_that_of_the_path_that_is_taken(branch: str, one: str, other: str, flops: int | None) -> None:
    made = values(summary(BRANCHES.format(branch=branch, one=one, other=other)))
    assert made.get("amdgcn.wave_flops") == flops


LOOP = """\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
kernel:
\ts_mov_b32 s4, {start}
.LBB0_1:
\tv_add_f32_e32 v1, v1, v2
{step}
\t{compare}
\t{branch} .LBB0_1
\ts_endpgm
"""


@pytest.mark.parametrize(
    ("start", "step", "compare", "branch", "trips"),
    [
        ("0", "\ts_add_i32 s4, s4, 32", "s_cmp_lt_i32 s4, 0x100", "s_cbranch_scc1", 8),
        ("0", "\ts_add_i32 s4, s4, 32", "s_cmp_ge_i32 s4, 0x100", "s_cbranch_scc0", 8),
        ("0", "\ts_addk_i32 s4, 0x20", "s_cmpk_lt_u32 s4, 0xe1", "s_cbranch_scc1", 8),
        ("8", "\ts_add_i32 s4, s4, -1", "s_cmp_lg_u32 s4, 0", "s_cbranch_scc1", 8),
        ("8", "\ts_addk_i32 s4, 0xffff", "s_cmp_eq_u32 s4, 0", "s_cbranch_scc0", 8),
        ("8", "\ts_sub_i32 s4, s4, 1", "s_cmp_gt_i32 s4, 0", "s_cbranch_scc1", 8),
        ("0", "\ts_add_co_i32 s4, s4, 32", "s_cmp_le_u32 s4, 0xe0", "s_cbranch_scc1", 8),
        ("s9", "\ts_add_i32 s4, s4, 32", "s_cmp_lt_i32 s4, 0x100", "s_cbranch_scc1", None),
        ("0", "\ts_add_i32 s4, s4, s5", "s_cmp_lt_i32 s4, 0x100", "s_cbranch_scc1", None),
        ("0", "\ts_add_i32 s4, s4, 32", "s_cmp_lt_i32 s4, s6", "s_cbranch_scc1", None),
        ("0", "\ts_add_i32 s4, s4, 32", "s_cmp_lt_i32 s4, 0x100", "s_cbranch_vccnz", None),
        ("0", "\ts_add_i32 s4, s4, 32\n\ts_mov_b32 s4, s7", "s_cmp_lt_i32 s4, 0x100", "s_cbranch_scc1", None),
        (
            "0",
            "\ts_add_i32 s4, s4, 32",
            "s_cmp_lt_i32 s4, 0x100\n\ts_and_b32 s8, s8, s9",
            "s_cbranch_scc1",
            None,
        ),
        ("0", "\ts_add_i32 s4, s4, -1", "s_cmp_lt_i32 s4, 0x100", "s_cbranch_scc1", None),
        ("0", "\ts_load_dwordx2 s[4:5], s[0:1], 0x0", "s_cmp_lt_i32 s4, 0x100", "s_cbranch_scc1", None),
    ],
)
def test_trips_are_proven_or_not_known(
    start: str, step: str, compare: str, branch: str, trips: int | None
) -> None:
    (scope,) = summary(LOOP.format(start=start, step=step, compare=compare, branch=branch)).scopes
    assert (scope.id, scope.trip_count) == ("loop0", trips)
