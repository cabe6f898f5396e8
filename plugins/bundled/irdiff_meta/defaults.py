"""Keys that come and go between Triton releases, with the values that mean what their absence means.

Taken from the option classes of ``backends/nvidia/compiler.py`` and ``backends/amd/compiler.py``
(``CUDAOptions``, ``HIPOptions`` and their ``parse_options``), of Triton 3.0, 3.1, 3.3, 3.6 and 3.9, from
``compiler/compiler.py`` of 2.1 and 2.2, and checked against the committed JSON files of those releases.
A key that every release since 3.0 writes for a backend is not here: where it differs, it was set differently.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from irdiff_meta.reading import Json, Metadata

DEFAULTS: Mapping[str, tuple[str, ...]] = {
    # what the front end lets pass: no option of the code that comes out of it
    "allow_fp8e4b15": ("false", "true"),  # 3.0, 3.1: by architecture
    "allow_fp8e4nv": ("false", "true"),  # 3.0, 3.1: by architecture
    "allowed_dot_input_precisions": (
        '["tf32","tf32x3","ieee"]',
        '["tf32","tf32x3","ieee","bf16x3","bf16x6"]',
        '["ieee"]',
        '["ieee","tf32"]',
        '["bf16x3","bf16x6","ieee"]',
        '["bf16x3","bf16x6","ieee","tf32"]',
    ),
    "deprecated_fp8_dot_operand_dtypes": ("[]", '["fp8e4b15"]'),
    "deprecated_fp8_dtypes": ("[]", '["fp8e4b15"]'),
    "supported_fp8_dtypes": (
        '["fp8e4b15","fp8e5"]',
        '["fp8e4b15","fp8e4nv","fp8e5"]',
        '["fp8e5"]',
        '["fp8e4nv","fp8e5"]',
        '["fp8e4b8","fp8e4nv","fp8e5","fp8e5b16"]',
        '["fp8e4b8","fp8e5","fp8e5b16"]',
    ),
    # options
    "clc": ("false",),  # 3.9
    "enable_persistent": ("false",),  # 2.2
    "enable_reflect_ftz": ("true",),  # 3.6
    "enable_warp_specialization": ("false",),  # 2.2
    "fpsan_homomorphic_casts": ("false",),  # 3.9
    "instruction_sched_variant": ('"none"',),  # HIP 3.3
    "instrumentation_mode": ('""',),  # 3.6
    "ir_override": ("null",),  # 3.6
    "launch_cooperative_grid": ("false",),  # 3.3
    "launch_pdl": ("false",),  # 3.6
    "llvm_fn_attrs": ("[]", '""'),  # HIP 3.9
    "maxnreg": ("null",),  # CUDA 3.0; HIP never
    "min_shared_mem": ("null",),  # 3.9
    "num_buffers_warp_spec": ("0",),  # 3.3
    "num_consumer_groups": ("0",),  # 3.3
    "ptx_options": ("null",),  # 3.6
    "ptx_version": ("null",),  # CUDA 3.0
    "reg_dec_producer": ("0",),  # 3.3
    "reg_inc_consumer": ("0",),  # 3.3
    "sanitize_overflow": ("true",),  # 3.3; without debug it does nothing
    "sched4reg": ("false",),  # 3.9
    "schedule_hint": ('"none"', '""'),  # HIP 3.6, 3.9
    "wgp_cu_mode": ('"wgp"',),  # HIP 3.9
    # what came out of the compilation
    "global_scratch_align": ("1",),  # 3.3
    "global_scratch_size": ("0",),  # 3.3
    "profile_scratch_align": ("1",),  # 3.6
    "profile_scratch_size": ("0",),  # 3.6
    "tensordesc_meta": ("[]",),  # 3.6
    "tmem_size": ("0",),  # CUDA 3.3
}
"""Key to the compact JSON texts that say no more than a release without the key does."""


def _cuda_arch(metadata: Metadata) -> Json:
    target = metadata.value("target")
    if not isinstance(target, dict) or target.get("backend") != "cuda":
        return None
    return f"sm{target.get('arch')}"


def _base_arch(metadata: Metadata) -> Json:
    arch = metadata.value("arch")
    return arch.removesuffix("-strict") if isinstance(arch, str) else None


def _warp_size(metadata: Metadata) -> Json:
    target = metadata.value("target")
    return target.get("warp_size") if isinstance(target, dict) else None


def _backend_name(metadata: Metadata) -> Json:
    target = metadata.value("target")
    return target.get("backend") if isinstance(target, dict) else None


def _cluster(metadata: Metadata) -> Json:
    return [metadata.value("num_ctas"), 1, 1]


COMPUTED: Mapping[str, Callable[[Metadata], Json]] = {
    "arch": _cuda_arch,
    "backend_name": _backend_name,
    "base_arch": _base_arch,
    "clusterDims": _cluster,
    "cluster_dims": _cluster,
    "warp_size": _warp_size,
}
"""Keys whose default follows from other keys: the target's, or the number of CTAs (since 3.6 always [n, 1, 1])."""


def follows_target(metadata: Metadata, key: str) -> bool:
    """Whether an option that is always written has just the value that its target gives it.

    ``max_num_imprecise_acc_default`` is 2**30 on compute capability 9.0 and 0 elsewhere (``parse_options`` of
    ``backends/nvidia/compiler.py``, Triton 3.0 to 3.9; HIP always has 0).
    """
    if key != "max_num_imprecise_acc_default":
        return False
    arch = _cuda_arch(metadata)
    return arch is not None and metadata.value(key) == (1 << 30 if arch == "sm90" else 0)


def is_default(metadata: Metadata, key: str) -> bool:
    """Whether a field says no more than a release without it does."""
    field = metadata.fields[key]
    if field.text in DEFAULTS.get(key, ()):
        return True
    computed = COMPUTED.get(key)
    if computed is None:
        return False
    expected = computed(metadata)
    return expected is not None and type(expected) is type(field.value) and expected == field.value
