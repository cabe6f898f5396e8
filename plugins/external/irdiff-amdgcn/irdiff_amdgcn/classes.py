"""The class of an opcode, what it does in one word: from the table of stems, or from what its name says.

Stems are those of LLVM's assembler (AMDGPU usage guide; the ISA documents of CDNA 1 to 4 and RDNA 3 and 4). One that
is not in the table still gets a class by how it begins, and counts as not understood.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import product

from irdiff_amdgcn.opcodes import LONGEST, access_of, base_of, flops_of, is_atomic, stem_of

UNCLASSIFIED = "unclassified"
_COMPARED = "eq lg ne gt ge lt le f t o u nge nlg ngt nle neq nlt tru class"
_LOGIC = "and or xor not nand nor xnor andn2 orn2 andn1 orn1 and_not1 or_not1 and_not0 or_not0"

_STEMS: Mapping[str, str] = {
    "integer": (
        "v_add v_add_co v_add_nc v_add_co_ci v_addc_co v_sub v_sub_co v_sub_nc v_sub_co_ci v_subb_co v_subrev "
        "v_subrev_co v_subrev_nc v_subrev_co_ci v_subbrev_co v_add3 v_add_lshl v_lshl_add v_lshl_or v_and_or v_or3 "
        "v_xad v_xor3 v_and v_or v_xor v_not v_xnor v_bitop3 v_bfe v_bfi v_bfm v_bfrev v_bcnt v_mbcnt_lo v_mbcnt_hi "
        "v_lshlrev v_lshrrev v_ashrrev v_lshl v_lshr v_ashr v_alignbit v_alignbyte v_perm v_mul_lo v_mul_hi "
        "v_mad_u64_u32 v_mad_i64_i32 v_mad_co v_mad_nc v_addc v_subb v_subbrev v_min v_max v_min3 "
        "v_max3 v_med3 v_minmax v_maxmin v_cndmask v_ffbh v_ffbl v_cls v_clz v_ctz v_sad v_sad_hi v_msad v_qsad_pk "
        "v_mqsad_pk v_mqsad v_lerp v_dot2 v_dot4 v_dot8 v_cvt_pk_u8 v_sat_pk v_ashr_pk v_pk_add v_pk_sub "
        "v_pk_mul_lo v_pk_min v_pk_max v_pk_lshlrev v_pk_lshrrev v_pk_ashrrev v_pk_mad v_swap v_swaprel"
    ),
    "register move": "v_mov v_pk_mov v_accvgpr_read v_accvgpr_write v_accvgpr_mov v_pack v_nop v_pipeflush",
    "cross lane": (
        "v_readlane v_readfirstlane v_writelane v_permlane16 v_permlanex16 v_permlane64 v_permlane32_swap "
        "v_permlane16_swap v_permlane_bcast v_permlane16_var v_permlanex16_var ds_bpermute ds_permute ds_swizzle "
        "ds_bpermute_fi s_wqm s_quadmask"
    ),
    "float": (
        "v_fma v_fmac v_fmaak v_fmamk v_fma_mix v_fma_mixlo v_fma_mixhi v_mad v_mac v_madak v_madmk v_mad_mix "
        "v_mad_mixlo v_mad_mixhi v_mul v_mul_dx9_zero v_fma_dx9_zero v_fmac_dx9_zero v_pk_fma v_pk_fmac v_pk_mul "
        "v_dot2c v_dot4c v_dot8c v_dot2acc v_div_scale v_div_fmas v_div_fixup v_ldexp v_frexp_exp v_frexp_mant v_fract "
        "v_floor v_ceil v_trunc v_rndne v_cubeid v_cubema v_cubesc v_cubetc v_minimum v_maximum v_minimum3 v_maximum3 "
        "v_minimummaximum v_maximumminimum v_min_num v_max_num v_min3_num v_max3_num v_med3_num v_minmax_num "
        "v_maxmin_num v_pk_minimum v_pk_maximum v_pk_min_num v_pk_max_num v_pk_minimum3 v_pk_maximum3 v_prng"
    ),
    "special function": "v_exp v_log v_rcp v_rcp_iflag v_rsq v_sqrt v_sin v_cos v_tanh v_exp_legacy v_log_legacy "
    "v_trig_preop v_s_exp v_s_log v_s_rcp v_s_rsq v_s_sqrt",
    "conversion": (
        "v_cvt v_cvt_pk v_cvt_rpi v_cvt_flr v_cvt_off v_cvt_nearest v_cvt_floor v_cvt_norm v_cvt_pknorm v_cvt_pkrtz "
        "v_cvt_pk_rtz v_cvt_pkaccum v_cvt_sr v_cvt_scalef32 v_cvt_scalef32_pk v_cvt_scalef32_sr v_cvt_scalef32_sr_pk "
        "v_cvt_scalef32_pk32 v_cvt_scalef32_2xpk16 v_cvt_pk_norm v_cvt_pkrtz_f16 v_cvt_sr_pk v_cvt_rtz v_sext"
    ),
    "comparison": " ".join(
        f"{which}_{name}"
        for which, name in product(("v_cmp", "v_cmpx", "s_cmp", "s_cmpk"), _COMPARED.split())
    ),
    "scalar": (
        "s_mov s_movk s_cmov s_cmovk s_add s_addk s_addc s_add_co s_add_co_ci s_add_nc s_sub s_subb s_sub_co "
        "s_sub_co_ci s_sub_nc s_mul s_mulk s_mul_hi s_lshl s_lshr s_ashr s_bfe s_bfm s_brev s_bcnt0 "
        "s_bcnt1 s_ff0 s_ff1 "
        "s_flbit s_ctz s_clz s_cls s_sext s_bitset0 s_bitset1 s_bitcmp0 s_bitcmp1 s_bitreplicate s_abs s_absdiff s_min "
        "s_max s_cselect s_pack_ll s_pack_lh s_pack_hh s_pack_hl s_lshl1_add s_lshl2_add s_lshl3_add s_lshl4_add "
        "s_getreg s_setreg s_setreg_imm32 s_getpc s_addk_co s_round_mode s_denorm_mode s_fmac s_fmaak "
        "s_fmamk s_floor s_ceil s_trunc s_rndne s_cvt s_cvt_hi s_cvt_pk_rtz s_min_num s_max_num s_minimum s_maximum "
        "s_memtime s_memrealtime s_get_waveid_in_workgroup s_version "
        + " ".join(
            f"s_{name}{suffix}" for name, suffix in product(_LOGIC.split(), ("", "_saveexec", "_wrexec"))
        )
    ),
    "scalar load": "s_load s_buffer_load s_scratch_load s_prefetch_data s_prefetch_inst s_prefetch_data_pc_rel "
    "s_prefetch_inst_pc_rel s_buffer_prefetch_data",
    "control": (
        "s_branch s_cbranch_scc0 s_cbranch_scc1 s_cbranch_vccz s_cbranch_vccnz s_cbranch_execz s_cbranch_execnz "
        "s_endpgm s_endpgm_saved s_setpc s_swappc s_call s_trap s_sethalt s_rfe s_cbranch_cdbgsys s_cbranch_cdbguser "
        "s_setkill s_subvector_loop_begin s_subvector_loop_end s_code_end"
    ),
    "barrier": "s_barrier s_barrier_signal s_barrier_signal_isfirst s_barrier_wait s_barrier_leave s_barrier_init "
    "s_barrier_join s_get_barrier_state ds_gws_barrier ds_gws_init",
    "wait": (
        "s_waitcnt s_waitcnt_vscnt s_waitcnt_vmcnt s_waitcnt_lgkmcnt s_waitcnt_expcnt s_wait_loadcnt s_wait_storecnt "
        "s_wait_samplecnt s_wait_bvhcnt s_wait_dscnt s_wait_kmcnt s_wait_expcnt s_wait_asynccnt s_wait_tensorcnt "
        "s_wait_xcnt s_wait_loadcnt_dscnt s_wait_storecnt_dscnt s_wait_idle s_wait_event"
    ),
    "scheduling": (
        "s_nop s_clause s_delay_alu s_setprio s_sleep s_sleep_var s_wait_alu s_waitcnt_depctr s_inst_prefetch "
        "s_set_inst_prefetch_distance s_incperflevel s_decperflevel s_wakeup s_singleuse_vdst s_setprio_inc_wg"
    ),
    "message": "s_sendmsg s_sendmsghalt s_sendmsg_rtn s_ttracedata s_ttracedata_imm export exp",
    "cache": (
        "buffer_gl0_inv buffer_gl1_inv buffer_wbinvl1 buffer_wbinvl1_vol buffer_wbl2 buffer_inv buffer_invl2 "
        "global_inv global_wb global_wbinv s_dcache_inv s_dcache_wb s_dcache_inv_vol s_dcache_wb_vol s_icache_inv "
        "s_gl1_inv global_prefetch flat_prefetch s_dcache_discard s_dcache_discard_x2 global_load_block "
        "global_store_block"
    ),
}
_TABLE: Mapping[str, str] = {stem: name for name, stems in _STEMS.items() for stem in stems.split()}
_PREFIXES = (
    ("v_mfma_", "tensor"),
    ("v_smfmac_", "tensor"),
    ("v_wmma_", "tensor"),
    ("v_swmmac_", "tensor"),
    ("v_cmp", "comparison"),
    ("v_cvt_", "conversion"),
    ("v_permlane", "cross lane"),
    ("v_mov", "register move"),
    ("s_wait", "wait"),
    ("s_cmp", "comparison"),
    ("s_cbranch", "control"),
    ("s_barrier", "barrier"),
    ("s_load_", "scalar load"),
    ("s_buffer_load_", "scalar load"),
    ("s_", "scalar"),
    ("ds_", "shared"),
    ("global_", "global"),
    ("buffer_", "global"),
    ("tbuffer_", "global"),
    ("flat_", "global"),
    ("image_", "global"),
    ("scratch_", "local"),
    ("tensor_", "async copy"),
    ("cluster_", "async copy"),
)
"""Class of an opcode that the table lacks, by how it begins."""


@lru_cache(maxsize=8192)
def class_of(opcode: str) -> str:
    """The class of an opcode, known or by its prefix; ``unclassified`` for any other."""
    known = _known_class(opcode)
    if known is not None:
        return known
    return next((name for prefix, name in _PREFIXES if opcode.startswith(prefix)), UNCLASSIFIED)


@lru_cache(maxsize=8192)
def is_known(opcode: str) -> bool:
    """Whether the table has it, or its name says the whole of it (matrix shapes, widths of accesses, atomics)."""
    return _known_class(opcode) is not None


def _known_class(opcode: str) -> str | None:
    if len(opcode) > LONGEST:
        return None
    if flops_of(opcode) is not None:
        return "tensor"
    access = access_of(opcode)
    if access is not None:
        return _CLASS_OF_SPACE[access[0]]
    if is_atomic(opcode):
        return "shared" if opcode.startswith("ds_") else "global"
    found = _TABLE.get(base_of(opcode)) or _TABLE.get(stem_of(opcode))
    if found is not None:
        return _float_or_integer(opcode, found)
    stem = stem_of(opcode)
    shorter = stem
    while found is None and shorter.count("_") > 1:  # v_cvt_f32_ubyte0, v_cvt_pk_bf16_f32
        shorter = shorter.rpartition("_")[0]
        found = _TABLE.get(shorter)
        if found not in ("conversion", "float", None):
            return None
    return found


def _float_or_integer(opcode: str, name: str) -> str:
    """Additions, minima and the like of floating-point numbers are float whatever their stem."""
    if name == "integer" and re.search(r"_b?f\d", opcode) and not opcode.startswith(("v_cndmask", "v_perm")):
        return "float"
    if name == "float" and re.search(r"_[iu]\d+\Z", base_of(opcode)) and not opcode.startswith("v_frexp"):
        return "integer"
    return name


_CLASS_OF_SPACE = {
    "global": "global",
    "buffer": "global",
    "tbuffer": "global",
    "flat": "global",
    "scratch": "local",
    "ds": "shared",
}
