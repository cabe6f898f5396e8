"""What is said of LLVM IR: the published numbers, every release read whole, counts equal to a second reading."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llir.llir_samples import every_fixture, facts_of, fixture, kernel, summary_of

VECTOR_ADD = fixture("3.6.0", "sm_90", "vector_add_kernel")


def opcodes_by_words(text: str) -> Counter[str]:
    """Opcodes by splitting lines into words: no expression of the reader is used."""
    found: Counter[str] = Counter()
    inside = switch = False
    for line in text.splitlines():
        if line.startswith("define "):
            inside = True
        elif line.startswith("}"):
            inside = False
        elif inside and line.startswith("  ") and not switch:
            words = line.partition(" = ")[2].split() if line.lstrip().startswith("%") else line.split()
            if words[0] in ("tail", "musttail", "notail"):
                words = words[1:]
            found[words[0].rstrip(",")] += 1
            switch = words[0] == "switch" and line.endswith("[")
        elif switch:
            switch = not line.lstrip().startswith("]")
    return found


def test_the_second_tile_of_the_reference_matmul_begins_at_4096() -> None:
    facts = facts_of(summary_of(fixture("3.6.0", "sm_121", "matmul_kernel", "w4s2")))
    offsets = facts["llir.shared_offsets"]
    assert isinstance(offsets, tuple)
    assert "4096" in offsets
    assert facts["llir.inline_asm"]["cp.async.cg.shared.global 16"] == 8  # type: ignore[index,call-overload]
    assert facts["llir.inline_asm"]["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"] == 16  # type: ignore[index,call-overload]


@pytest.mark.parametrize(
    "path", every_fixture(), ids=lambda path: "/".join(path.parts[-4:-2]) + "/" + path.stem
)
def test_every_release_and_target_is_read_whole(path: Path) -> None:
    summary = summary_of(path.read_bytes())
    assert summary.coverage.ratio == 1.0, summary.coverage.unknown
    assert summary.issues == ()


@pytest.mark.parametrize(
    "path", every_fixture(), ids=lambda path: "/".join(path.parts[-4:-2]) + "/" + path.stem
)
def test_opcodes_equal_an_independent_count(path: Path) -> None:
    text = path.read_text()
    facts = facts_of(summary_of(text))
    counted = opcodes_by_words(text)
    assert facts["llir.opcodes"] == dict(counted)
    memory = facts["llir.memory"]
    assert isinstance(memory, dict)
    assert sum(memory.values()) == sum(counted[name] for name in ("load", "store", "atomicrmw", "cmpxchg"))  # type: ignore[arg-type]
    asm = facts["llir.inline_asm"]
    assert isinstance(asm, dict)
    calls = [
        line for line in text.splitlines() if line.startswith("  ") and " asm " in line.partition('"')[0]
    ]
    assert sum(asm.values()) == len(calls)  # type: ignore[arg-type]


@pytest.mark.data
def test_every_llir_of_the_h200_cache_is_understood_whole(h200: Path) -> None:
    paths = sorted(h200.glob("*/*.llir"))
    assert len(paths) == 141
    for path in paths:
        summary = summary_of(path.read_bytes())
        assert summary.coverage.ratio == 1.0, (path.name, summary.coverage.unknown)
        assert summary.issues == (), path.name


@pytest.mark.parametrize(
    ("release", "target", "convention", "field", "value"),
    [
        ("3.1.0", "sm_90", "none", "nvvm.maxntidx", "128"),
        ("3.3.1", "sm_90", "ptx_kernel", "nvvm.reqntidx", "128"),
        ("3.6.0", "sm_90", "ptx_kernel", "nvvm.reqntid", "128"),
        ("3.9.0", "sm_90", "ptx_kernel", "nvvm.reqntid", "128"),
        ("3.9.0", "gfx942", "amdgpu_kernel", "amdgpu-flat-work-group-size", "1,256"),
    ],
)
def test_the_kernel_record_says_what_each_release_writes(
    release: str, target: str, convention: str, field: str, value: str
) -> None:
    record = facts_of(summary_of(fixture(release, target, "vector_add_kernel")))["llir.kernel"]
    assert isinstance(record, dict)
    assert record["convention"] == convention
    assert record[field] == value
    assert str(record["arguments"]).startswith("ptr addrspace(1), ptr addrspace(1), ptr addrspace(1), i32")


def test_memory_keys_name_space_type_and_ordering() -> None:
    body = """
  %4 = load <4 x i32>, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 4096), align 16
  store <2 x half> splat (half 0xH3C00), ptr addrspace(1) %0, align 4
  store ptr addrspace(3) null, ptr %5, align 8
  %6 = load volatile i32, ptr addrspace(1) %0, align 4
  %7 = load atomic i32, ptr addrspace(1) %0 syncscope("agent") monotonic, align 4
  %8 = atomicrmw fadd ptr addrspace(1) %0, float %2 syncscope("agent") acq_rel, align 4
  %9 = cmpxchg ptr addrspace(3) @global_smem, i32 %1, i32 0 seq_cst monotonic, align 4
  """
    facts = facts_of(summary_of(kernel(body)))
    assert facts["llir.memory"] == {
        'atomicrmw fadd addrspace(1) float syncscope("agent") acq_rel': 1,
        "cmpxchg addrspace(3) i32 seq_cst monotonic": 1,
        "load addrspace(3) <4 x i32>": 1,
        'load atomic addrspace(1) i32 syncscope("agent") monotonic': 1,
        "load volatile addrspace(1) i32": 1,
        "store addrspace(0) ptr addrspace(3)": 1,
        "store addrspace(1) <2 x half>": 1,
    }
    assert facts["llir.shared_offsets"] == ("4096",)


def test_shared_offsets_are_bytes_whatever_the_element() -> None:
    body = """
  %4 = getelementptr half, ptr addrspace(3) @global_smem, i32 100
  %5 = getelementptr inbounds nuw [4 x <2 x float>], ptr addrspace(3) @global_smem, i32 2
  %6 = getelementptr i8, ptr addrspace(3) @global_smem, i32 %1
  %7 = getelementptr i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @global_smem, i32 8192), i32 %1
  """
    assert facts_of(summary_of(kernel(body)))["llir.shared_offsets"] == ("200", "64", "8192")


def test_inline_assembly_is_named_by_what_it_does() -> None:
    body = r"""
  %4 = call i32 asm "mov.u32 $0, 0x0;\0A\09@$2 ld.global.b32 { $0 }, [ $1 + 0 ];", "=r,l,b"(i64 0, i1 true)
  tail call void asm sideeffect "// wait for regs: $0\0A\09wgmma.wait_group.sync.aligned 0;", "r"(i32 %1)
  call void asm "\0A{\0A.reg .pred p;\0Aloop:\0A\09mbarrier.try_wait.parity.shared.b64 p, [$0], $1;\0A}", "r"(i32 %1)
  tail call void asm sideeffect "", "~{memory}"()
  %5 = tail call i32 asm "mov.u32 $0, $1;", "=r,r"(i32 %1)
  """
    assert facts_of(summary_of(kernel(body)))["llir.inline_asm"] == {
        "(empty)": 1,
        "ld.global.b32": 1,
        "mbarrier.try_wait.parity.shared.b64": 1,
        "mov.u32": 1,
        "wgmma.wait_group.sync.aligned": 1,
    }


def test_flags_intrinsics_and_libraries_are_counted_by_name() -> None:
    body = """
  %4 = fmul contract float %2, %2
  %5 = fmul float %2, %2
  %6 = tail call fast float @llvm.nvvm.ex2.approx.f(float %4)
  %7 = tail call float @__nv_expf(float %4)
  br label %__nv_logf.exit2

__nv_logf.exit2:                                  ; preds = %3
  """
    summary = summary_of(kernel(body))
    facts = facts_of(summary)
    assert facts["llir.fast_math"] == {"call fast": 1, "fmul contract": 1}
    assert facts["llir.intrinsics"] == {"llvm.nvvm.ex2.approx.f": 1}
    assert facts["llir.libdevice"] == {"__nv_expf": 1, "__nv_logf inlined": 1}
    (libdevice,) = [fact for fact in summary.facts if fact.id == "llir.libdevice"]
    assert libdevice.exactness == "estimate"


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.sampled_from(["frobnicate float %4, %5", "fadd float %4", "load i32", "add i32 (%4, 1"]),
        max_size=5,
    )
)
def test_what_is_not_understood_lowers_the_coverage_and_is_listed(planted: list[str]) -> None:
    body = "\n".join(f"  %x{number} = {text}" for number, text in enumerate(planted))
    whole = summary_of(VECTOR_ADD).coverage
    summary = summary_of(VECTOR_ADD.replace("  ret void", f"{body}\n  ret void" if planted else "  ret void"))
    assert summary.coverage.total == whole.total + len(planted)
    assert summary.coverage.understood == whole.understood
    assert [text for _, text in summary.coverage.unknown] == planted
    assert any(issue.code == "not-understood" for issue in summary.issues) == bool(planted)


def test_a_switch_over_several_lines_is_one_instruction_and_its_targets_make_loops() -> None:
    body = """
  br label %5

5:                                                ; preds = %4, %5
  switch i32 %1, label %7 [
    i32 0, label %5
    i32 1, label %7
  ]

7:                                                ; preds = %5, %5
  """
    summary = summary_of(kernel(body))
    assert summary.coverage.ratio == 1.0
    assert facts_of(summary)["llir.opcodes"] == {"br": 1, "ret": 1, "switch": 1}
    assert [scope.id for scope in summary.scopes] == ["loop0"]
    assert facts_of(summary, "loop0")["llir.opcodes"] == {"switch": 1}


@pytest.mark.parametrize("target", ["sm_80", "sm_90", "sm_121"])
def test_the_loop_of_the_reference_matmul_is_the_one_that_ptx_has(target: str) -> None:
    summary = summary_of(fixture("3.6.0", target, "matmul_kernel", "w4s2"))
    assert [scope.id for scope in summary.scopes] == ["loop0"]
    inside = facts_of(summary, "loop0")["llir.inline_asm"]
    assert isinstance(inside, dict)
    assert any("mma" in key for key in inside)
    assert not any(key.startswith("st.global") for key in inside)
