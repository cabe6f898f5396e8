"""What the keys of a stage JSON are: options, results, identity, provenance, or environment."""

from __future__ import annotations

import re

from irdiff_meta.reading import Json, Metadata

IDENTITY = frozenset({"constants", "device_type", "hash", "name", "target"})
"""What was compiled; ``constants`` and ``device_type`` only before Triton 3.0."""

RESULTS = frozenset(
    {
        "global_scratch_align",
        "global_scratch_size",
        "profile_scratch_align",
        "profile_scratch_size",
        "shared",
        "tensordesc_meta",
        "tensormaps_info",
        "tmem_size",
    }
)
"""What came out of the compilation."""

PROVENANCE = frozenset({"triton_version"})

OPTIONS = frozenset(
    {
        "allow_flush_denorm",
        "allow_fp8e4b15",
        "allow_fp8e4nv",
        "allowed_dot_input_precisions",
        "arch",
        "backend_name",
        "base_arch",
        "clc",
        "clusterDims",
        "cluster_dims",
        "debug",
        "default_dot_input_precision",
        "deprecated_fp8_dot_operand_dtypes",
        "deprecated_fp8_dtypes",
        "enable_fp_fusion",
        "enable_persistent",
        "enable_reflect_ftz",
        "enable_warp_specialization",
        "extern_libs",
        "fpsan_homomorphic_casts",
        "instruction_sched_variant",
        "instrumentation_mode",
        "ir_override",
        "kpack",
        "launch_cooperative_grid",
        "launch_pdl",
        "llvm_fn_attrs",
        "matrix_instr_nonkdim",
        "max_num_imprecise_acc_default",
        "maxnreg",
        "min_shared_mem",
        "num_buffers_warp_spec",
        "num_consumer_groups",
        "num_ctas",
        "num_stages",
        "num_warps",
        "ptx_options",
        "ptx_version",
        "reg_dec_producer",
        "reg_inc_consumer",
        "sanitize_overflow",
        "sched4reg",
        "schedule_hint",
        "supported_fp8_dtypes",
        "warp_size",
        "waves_per_eu",
        "wgp_cu_mode",
    }
)
"""Options of Triton 2.1 to 3.9. A key that is nowhere in this file is taken for an option of a newer one."""

PRINTING = frozenset(
    {
        "AMDGCN_ENABLE_DUMP",
        "LLVM_ENABLE_TIMING",
        "LLVM_IR_ENABLE_DUMP",
        "MLIR_DUMP_PATH",
        "MLIR_ENABLE_DIAGNOSTICS",
        "MLIR_ENABLE_DUMP",
        "MLIR_ENABLE_REMARK",
        "MLIR_ENABLE_TIMING",
        "NVPTX_ENABLE_DUMP",
        "TRITON_REPRODUCER_PATH",
    }
)
"""Environment variables that make the compiler print or write more, and compile the same."""

_ENVIRONMENT = re.compile(r"[A-Z][A-Z0-9_]*")
_FOLDER = re.compile(r"^.*[/\\]", re.DOTALL)


def is_environment(key: str) -> bool:
    """Whether a key is the name of an environment variable (``compile()`` adds those that were set)."""
    return _ENVIRONMENT.fullmatch(key) is not None


def is_option(key: str) -> bool:
    """Whether a key is an option of the compilation, known or not."""
    return key not in IDENTITY | RESULTS | PROVENANCE and not is_environment(key)


def is_known(key: str) -> bool:
    """Whether some release from 2.1 to 3.9 writes the key."""
    return key in IDENTITY | RESULTS | PROVENANCE | OPTIONS or is_environment(key)


def without_folders(value: Json) -> Json:
    """``extern_libs`` with the base names of its files: where Triton is installed means nothing."""
    if isinstance(value, list):
        return [without_folders(item) for item in value]
    if isinstance(value, dict):
        return {key: without_folders(item) for key, item in value.items()}
    return _FOLDER.sub("", value) if isinstance(value, str) else value


def target_of(metadata: Metadata) -> tuple[str, str] | None:
    """(backend, architecture), or None where it is not recorded.

    3.0 and newer record ``{"backend", "arch", "warp_size"}``, 2.2 ``{"capability", ...}``, 2.1 the keys
    ``device_type`` and ``arch``.
    """
    if "target" in metadata.fields:
        target = metadata.value("target")
        if not isinstance(target, dict):
            return None
        backend = target.get("backend", "cuda")
        arch = target.get("arch", target.get("capability"))
    else:
        backend = metadata.value("device_type")
        arch = metadata.value("arch")
    if (
        not isinstance(backend, str)
        or isinstance(arch, bool)
        or not isinstance(arch, (int, str))
        or arch == ""
    ):
        return None
    return backend, str(arch)
