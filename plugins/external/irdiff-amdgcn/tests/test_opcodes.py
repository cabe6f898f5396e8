"""Opcodes: widths across both spellings, waits, matrix work, classes; what is not known is counted and says so."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amd_fixtures import entry, summary, values
from irdiff_amdgcn.classes import class_of, is_known
from irdiff_amdgcn.opcodes import access_of, flops_of, parts_of, stem_of
from irdiff_amdgcn.operands import literals, registers, understood, waits


@pytest.mark.parametrize(
    ("before", "after", "size"),
    [
        ("global_load_dword", "global_load_b32", 4),
        ("global_load_dwordx2", "global_load_b64", 8),
        ("global_load_dwordx3", "global_load_b96", 12),
        ("global_load_dwordx4", "global_load_b128", 16),
        ("global_load_ubyte", "global_load_u8", 1),
        ("global_load_sshort", "global_load_i16", 2),
        ("global_load_short_d16_hi", "global_load_d16_hi_b16", 2),
        ("global_store_short", "global_store_b16", 2),
        ("global_store_byte_d16_hi", "global_store_d16_hi_b8", 1),
        ("buffer_load_dwordx4", "buffer_load_b128", 16),
        ("buffer_store_short", "buffer_store_b16", 2),
        ("flat_load_dwordx2", "flat_load_b64", 8),
        ("scratch_store_dwordx4", "scratch_store_b128", 16),
        ("ds_read_b128", "ds_load_b128", 16),
        ("ds_read_u16_d16_hi", "ds_load_u16_d16_hi", 2),
        ("ds_write_b8", "ds_store_b8", 1),
        ("ds_read2_b32", "ds_load_2addr_b32", 8),
        ("ds_write2st64_b64", "ds_store_2addr_stride64_b64", 16),
    ],
)
def test_both_spellings_move_the_same_bytes(before: str, after: str, size: int) -> None:
    assert access_of(before) == access_of(after)
    assert access_of(before)[2] == size  # type: ignore[index]
    assert is_known(before)
    assert is_known(after)


def test_a_transposing_read_moves_what_its_first_size_says() -> None:
    assert access_of("ds_read_b64_tr_b16") == ("ds", "load", 8, False)


def test_loads_into_lds_are_copies() -> None:
    assert access_of("global_load_lds_dwordx4") == ("global", "load", 16, True)
    text = entry("3.6.0", "gfx942", "softmax").text.replace(
        "\ts_endpgm",
        "\tbuffer_load_dwordx4 v5, s[4:7], 0 offen lds\n\tglobal_load_lds_dword v[0:1], off\n\ts_endpgm",
    )
    before = values(summary(entry("3.6.0", "gfx942", "softmax").text))
    after = values(summary(text))
    assert after["amdgcn.async_copies"] == {"buffer 16": 1, "global 4": 1}
    assert after["amdgcn.global_loads"] == before["amdgcn.global_loads"]


@pytest.mark.parametrize(
    ("opcode", "flops"),
    [
        ("v_mfma_f32_32x32x8f16", 2 * 32 * 32 * 8),
        ("v_mfma_f32_32x32x8_f16", 2 * 32 * 32 * 8),
        ("v_mfma_f32_32x32x16_bf16", 2 * 32 * 32 * 16),
        ("v_mfma_f32_16x16x4f32", 2 * 16 * 16 * 4),
        ("v_mfma_f32_16x16x4f16", 4 * 2 * 16 * 16 * 4),
        ("v_mfma_f32_32x32x4bf16_1k", 2 * 2 * 32 * 32 * 4),
        ("v_mfma_f32_32x32x4_2b_bf16", 2 * 2 * 32 * 32 * 4),
        ("v_mfma_f32_32x32x4bf16", 2 * 32 * 32 * 4),
        ("v_mfma_f32_4x4x4_16b_f16", 16 * 2 * 4 * 4 * 4),
        ("v_mfma_f64_16x16x4f64", 2 * 16 * 16 * 4),
        ("v_mfma_i32_32x32x16_i8", 2 * 32 * 32 * 16),
        ("v_mfma_f32_16x16x32_fp8_bf8", 2 * 16 * 16 * 32),
        ("v_mfma_scale_f32_16x16x128_f8f6f4", 2 * 16 * 16 * 128),
        ("v_smfmac_f32_16x16x32_f16", 2 * 16 * 16 * 32),
        ("v_wmma_f32_16x16x16_f16", 2 * 16 * 16 * 16),
        ("v_swmmac_f32_16x16x32_bf16", 2 * 16 * 16 * 32),
        ("v_add_f32_e32", None),
        ("v_fma_f32", None),
    ],
)
def test_work_of_matrix_instructions(opcode: str, flops: int | None) -> None:
    assert flops_of(opcode) == flops


@pytest.mark.parametrize(
    ("opcode", "operands", "counters"),
    [
        ("s_waitcnt", "vmcnt(1) lgkmcnt(0)", ("vmcnt 1", "lgkmcnt 0")),
        ("s_waitcnt", "lgkmcnt(14)", ("lgkmcnt 14",)),
        ("s_waitcnt_vscnt", "null, 0x0", ("vscnt 0",)),
        ("s_wait_loadcnt", "0x3", ("loadcnt 3",)),
        ("s_wait_dscnt", "0x10", ("dscnt 16",)),
        ("s_wait_loadcnt_dscnt", "0x102", ("loadcnt 1", "dscnt 2")),
        ("s_wait_storecnt_dscnt", "0x0", ("storecnt 0", "dscnt 0")),
    ],
)
def test_waits_are_told_by_counter(opcode: str, operands: str, counters: tuple[str, ...]) -> None:
    assert waits(opcode, operands) == counters


@pytest.mark.parametrize(
    ("opcode", "name"),
    [
        ("v_add_f32_e32", "float"),
        ("v_add_u32_e32", "integer"),
        ("v_dual_add_f32", "float"),
        ("v_mul_u32_u24_e32", "integer"),
        ("v_lshl_add_u64", "integer"),
        ("v_exp_f32_e32", "special function"),
        ("v_cvt_pk_bf16_f32", "conversion"),
        ("v_cvt_f32_ubyte0_e32", "conversion"),
        ("v_cmpx_gt_i32_e32", "comparison"),
        ("v_accvgpr_read_b32", "register move"),
        ("v_permlane32_swap_b32_e32", "cross lane"),
        ("ds_bpermute_b32", "cross lane"),
        ("ds_read2st64_b64", "shared"),
        ("ds_add_f32", "shared"),
        ("scratch_load_b128", "local"),
        ("global_atomic_add_f32", "global"),
        ("buffer_gl0_inv", "cache"),
        ("s_load_dwordx16", "scalar load"),
        ("s_and_saveexec_b64", "scalar"),
        ("s_barrier_signal", "barrier"),
        ("s_wait_kmcnt", "wait"),
        ("s_wait_alu", "scheduling"),
        ("s_delay_alu", "scheduling"),
        ("s_cbranch_execz", "control"),
        ("s_sendmsg", "message"),
    ],
)
def test_classes(opcode: str, name: str) -> None:
    assert is_known(opcode)
    assert class_of(opcode) == name


@pytest.mark.parametrize(
    ("opcode", "name"),
    [
        ("v_frobnicate_f32", "unclassified"),
        ("x_unheard_of", "unclassified"),
        ("v_wmma_new", "tensor"),
        ("ds_fancy_b32", "shared"),
        ("s_cbranch_maybe", "control"),
        ("global_frob_b32", "global"),
    ],
)
def test_an_unknown_opcode_is_counted_and_lowers_coverage(opcode: str, name: str) -> None:
    text = entry("3.6.0", "gfx942", "locked_sum").text.replace("\ts_endpgm", f"\t{opcode} v1, v2\n\ts_endpgm")
    made = summary(text)
    assert class_of(opcode) == name
    assert values(made)["amdgcn.opcodes"][opcode] == 1  # type: ignore[index]
    assert made.coverage.understood == made.coverage.total - 1
    assert made.coverage.unknown[0][1] == f"{opcode} v1, v2"
    assert [issue.code for issue in made.issues if issue.severity == "warning"] == ["not-understood"]


def test_both_halves_of_a_dual_instruction_count() -> None:
    assert parts_of("v_dual_mov_b32", "v1, 0 :: v_dual_mul_f32 v2, 8, v4") == (
        "v_dual_mov_b32",
        "v_dual_mul_f32",
    )
    assert stem_of("v_dual_mul_f32") == "v_mul"


def test_registers_and_literals_of_operands() -> None:
    text = "v[4:7], a12, s[0:1], 0x100, -1, 0.5 offset:4096 op_sel:[0,1] row_shr:8"
    assert list(registers(text)) == [("v", 4, 7), ("a", 12, 12), ("s", 0, 1)]
    assert literals(text) == ["0x100", "-1", "0.5", "offset:4096"]
    assert understood(text)
    assert not understood("v1, {frob}")


@settings(max_examples=60)
@given(st.text(max_size=60))
def test_no_text_is_too_strange_to_classify(text: str) -> None:
    class_of(text)
    flops_of(text)
    access_of(text)
    waits("s_waitcnt", text)
    waits("s_wait_loadcnt", text)
    understood(text)
    literals(text)
    list(registers(text))
