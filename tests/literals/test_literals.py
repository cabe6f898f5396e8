"""Literal numbers, guards and predicates are facts of their stage, with the lines they stand on."""

from __future__ import annotations

import pytest

from irdiff.model.bundle import Artifact
from irdiff.model.facts import Fact
from irdiff.model.specs import Context
from irdiff.plugins import load_plugins
from toy_stages import NoTools

PTX = """.version 8.7
.target sm_90a
.address_size 64
.visible .entry k()
{
	.reg .pred %p<3>;
	.reg .b32 %r<5>;
	.reg .b64 %rd<2>;
	add.s32 %r1, %r2, 16;
	setp.lt.s32 %p1, %r1, -1;
	@%p1 bra $L__BB0_2;
	@!%p1 st.global.b32 [%rd1+128], %r1;
	mov.f32 %r4, 0f3F800000;
$L__BB0_2:
	ret;
}
"""
LLIR = """define ptx_kernel void @k(ptr addrspace(1) %0, i32 %1) {
  %3 = icmp slt i32 %1, 16
  %4 = fcmp ogt float 1.500000e+00, 0x3FE62E4300000000
  %5 = load <4 x i32>, ptr addrspace(1) %0, align 16
  %6 = shufflevector <4 x i32> %5, <4 x i32> zeroinitializer, <4 x i32> <i32 3, i32 2, i32 1, i32 0>
  ret void
}
"""
TTIR = """module {
  tt.func public @k(%a: !tt.ptr<f32>) attributes {noinline = false} {
    %c = arith.constant 16 : i32
    %d = arith.constant dense<1.500000e+00> : tensor<64xf32>
    tt.return
  }
}
"""


def facts(stage_id: str, text: str) -> dict[str, Fact]:
    stage = load_plugins(external=False).stage(stage_id)
    assert stage is not None
    artifact = Artifact.of_bytes(text.encode(), stage=stage_id, suffix=stage.suffixes[0])
    made = stage.summarize(artifact, Context(tools=NoTools()))
    assert [issue for issue in made.issues if issue.severity == "error"] == []
    return {fact.id: fact for fact in made.facts if not fact.scope}


def test_ptx_literals_are_no_parts_of_names() -> None:
    found = facts("ptx", PTX)["ptx.immediates"]
    assert found.value == {"-1": 1, "0f3F800000": 1, "128": 1, "16": 1}
    assert found.evidence["128"] == (12,)


def test_ptx_guards_say_if_or_unless() -> None:
    assert facts("ptx", PTX)["ptx.predicated"].value == {"bra if": 1, "st.global.b32 unless": 1}


def test_llir_literals_are_no_types_alignments_or_address_spaces() -> None:
    found = facts("llir", LLIR)["llir.constants"]
    assert found.value == {
        "0": 1,
        "0x3FE62E4300000000": 1,
        "1": 1,
        "1.500000e+00": 1,
        "16": 1,
        "2": 1,
        "3": 1,
    }
    assert found.evidence["16"] == (2,)


def test_llir_comparisons_by_predicate() -> None:
    assert facts("llir", LLIR)["llir.comparisons"].value == {"fcmp ogt": 1, "icmp slt": 1}


@pytest.mark.parametrize("layout", ["", ", #ttg.slice<{dim = 0, parent = #blocked}>"])
def test_mlir_constants_leave_layouts_out(layout: str) -> None:
    alias = (
        "#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [1, 4], "
        "order = [1, 0]}>\\n"
    )
    text = alias.replace("\\n", "\n") + TTIR.replace("tensor<64xf32>", f"tensor<64xf32{layout}>")
    found = facts("ttgir", text)["ttgir.constants"]
    assert found.value == {"16 : i32": 1, "dense<1.500000e+00> : tensor<64xf32>": 1}
