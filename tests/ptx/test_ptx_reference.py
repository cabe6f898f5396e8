"""The PTX of the reference matmul says the published numbers; that of every release is read whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptx.ptx_samples import every_fixture, facts_of, fixture, kernel, summary_of

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
WGMMA = "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"


def test_the_reference_matmul_for_sm_121_has_every_published_number() -> None:
    facts = facts_of(summary_of(fixture("3.6.0", "sm_121", "matmul_kernel", "w4s2")))
    assert facts["ptx.header"] == {"version": "8.8", "target": "sm_121a", "address_size": 64}
    assert facts["ptx.launch_bounds"] == {"reqntid": 128}
    assert facts["ptx.virtual_registers"] == {"b32": 196, "b64": 32, "pred": 4}
    assert facts["ptx.mma"] == {MMA: 16}
    assert facts["ptx.async_copies"] == {"cp.async.cg 16 src-size": 8}
    assert facts["ptx.matrix_moves"] == {
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16": 4,
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16": 4,
        "stmatrix.sync.aligned.m8n8.x4.shared.b16": 4,
    }
    assert facts["ptx.barriers"] == {"bar.sync": 6}
    assert facts["ptx.global_stores"] == {"16": 4}
    assert facts["ptx.opcodes"]["st.global.v4.b32"] == 4  # type: ignore[index,call-overload]


@pytest.mark.parametrize(("target", "expected"), [("sm_80", {MMA: 16}), ("sm_90", {WGMMA: 2})])
def test_the_reference_matmul_multiplies_in_its_one_loop(target: str, expected: dict[str, int]) -> None:
    summary = summary_of(fixture("3.6.0", target, "matmul_kernel", "w4s2"))
    assert facts_of(summary)["ptx.mma"] == expected
    assert [scope.id for scope in summary.scopes] == ["loop0"]
    assert facts_of(summary, "loop0")["ptx.mma"] == expected


@pytest.mark.parametrize(
    "path", every_fixture(), ids=lambda path: "/".join(path.parts[-4:-2]) + "/" + path.stem
)
def test_every_release_and_target_is_read_whole(path: Path) -> None:
    summary = summary_of(path.read_bytes())
    assert summary.coverage.ratio == 1.0, summary.coverage.unknown
    assert [issue for issue in summary.issues if issue.severity != "note"] == []
    facts = facts_of(summary)
    assert facts["ptx.launch_bounds"]
    assert facts["ptx.parameters"]


@pytest.mark.data
def test_every_ptx_of_the_h200_cache_is_understood_whole(h200: Path) -> None:
    paths = sorted(h200.glob("*/*.ptx"))
    assert len(paths) == 141
    for path in paths:
        summary = summary_of(path.read_bytes())
        assert summary.coverage.ratio == 1.0, (path.name, summary.coverage.unknown)
        assert summary.issues == (), path.name


def test_launch_bounds_mean_the_same_however_they_are_spelled() -> None:
    for bound, expected in [
        (".reqntid 128", {"reqntid": 128}),
        (".reqntid 128, 1, 1", {"reqntid": 128}),
        (".reqntid 8, 4, 1", {"reqntid": "8, 4"}),
        (
            ".maxntid 128, 1, 1\n.minnctapersm 2\n.maxnreg 64",
            {"maxntid": 128, "minnctapersm": 2, "maxnreg": 64},
        ),
    ]:
        text = kernel("").replace(".reqntid 128", bound)
        assert facts_of(summary_of(text))["ptx.launch_bounds"] == expected


def test_operands_enter_the_keys_where_they_decide_what_happens() -> None:
    body = """
	cp.async.cg.shared.global [%r1], [%rd1], 16;
	cp.async.cg.shared.global [%r1], [%rd1], 0x10, %r2;
	cp.async.ca.shared.global [%r1], [%rd1], 4, %p1;
	cp.async.cg.shared.global.L2::cache_hint [%r1], [%rd1], 16, %rd2;
	cp.async.cg.shared.global.L2::128B [%r1], [%rd1], 16, %r2;
	cp.async.commit_group;
	cp.async.wait_group 	3;
	bar.sync 	0;
	bar.sync 	1, 128;
	bar.sync 	%r1, 128;
	mov.b64 	%rd1, {%r1, %r2};
	mov.b64 	{%r1, %r2}, %rd1;
	mov.b64 	%rd1, %rd2;
	ld.global.nc.v2.f32 	{%r1, %r2}, [%rd1];
	ld.shared::cta.u8 	%rs1, [%r1];
	st.shared.v4.b16 	[%r1], {%rs1, %rs1, %rs1, %rs1};
	ld.b32 	%r1, [%rd1];
	"""
    facts = facts_of(summary_of(kernel(body)))
    assert facts["ptx.async_copies"] == {
        "cp.async.ca 4 ignore-src": 1,
        "cp.async.cg 16": 1,
        "cp.async.cg 16 L2::cache_hint": 1,
        "cp.async.cg 16 src-size": 1,
        "cp.async.cg 16 src-size L2::128B": 1,
    }
    assert facts["ptx.async_waits"] == {"cp.async.wait_group 3": 1}
    assert facts["ptx.barriers"] == {"bar.sync": 1, "bar.sync 1, 128": 1, "bar.sync register, 128": 1}
    assert facts["ptx.packing"] == {"mov.b64 pack": 1, "mov.b64 unpack": 1}
    assert facts["ptx.global_loads"] == {"8": 1}
    assert facts["ptx.shared_loads"] == {"1": 1}
    assert facts["ptx.shared_stores"] == {"8": 1}


def test_local_memory_is_the_size_of_what_is_declared() -> None:
    text = kernel("\t.local .align 16 .b8 \t__local_depot0[128];\n\t.local .b64 spot[2];")
    assert facts_of(summary_of(text))["ptx.local_bytes"] == 144
    assert facts_of(summary_of(kernel("")))["ptx.local_bytes"] == 0


def test_no_line_information_is_said() -> None:
    assert [issue.code for issue in summary_of(kernel("")).issues] == ["no-line-information"]
