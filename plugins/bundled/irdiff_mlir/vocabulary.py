"""Operations that are understood, by dialect: those of the dialects that Triton's kernels are made of.

Sources: the dialect definitions of Triton 3.1 to 3.9 (``include/triton/Dialect/*/IR/*Ops.td``,
``third_party/amd/include/Dialect``) and of MLIR (arith, math, scf, cf, ub, gpu, llvm, nvvm, rocdl) as far as
Triton loads them. Names are the newest ones: see :mod:`irdiff_mlir.drift`.
"""

from __future__ import annotations

_BY_DIALECT = {
    "builtin": "module unrealized_conversion_cast",
    "func": "func return call",
    "ub": "poison",
    "cf": "assert br cond_br switch",
    "scf": "condition execute_region for forall if index_switch parallel reduce reduce.return while yield",
    "arith": (
        "addf addi addui_extended andi bitcast ceildivsi ceildivui cmpf cmpi constant divf divsi divui extf "
        "extsi extui floordivsi fptosi fptoui index_cast index_castui maximumf maxnumf maxsi maxui minimumf "
        "minnumf minsi minui mulf muli mulsi_extended mului_extended negf ori remf remsi remui scaling_extf "
        "scaling_truncf select shli shrsi shrui sitofp subf subi truncf trunci uitofp xori"
    ),
    "math": (
        "absf absi acos acosh asin asinh atan atan2 atanh cbrt ceil clampf copysign cos cosh ctlz ctpop cttz "
        "erf erfc exp exp2 expm1 floor fma fpowi ipowi isfinite isinf isnan isnormal log log10 log1p log2 powf "
        "round roundeven rsqrt sin sinh sqrt tan tanh trunc"
    ),
    "llvm": "intr.assume",
    "gpu": "barrier thread_id block_id block_dim grid_dim",
    "nvvm": "barrier0 barrier cluster.arrive cluster.wait",
    "rocdl": "sched.barrier sched.group.barrier s.setprio s.barrier s.waitcnt barrier iglp.opt",
    "tt": (
        "addptr advance approx_divf assert atomic_cas atomic_poll atomic_rmw bitcast broadcast call cat clampf "
        "descriptor_gather descriptor_load descriptor_reduce descriptor_scatter descriptor_store dot dot_scaled "
        "elementwise_inline_asm expand_dims extern_elementwise fp_to_fp func gather get_num_programs "
        "get_program_id grid_dependency_launch grid_dependency_wait histogram int_to_ptr join load make_range "
        "make_tensor_descriptor make_tensor_ptr map_elementwise map_elementwise.return mulhiui precise_divf "
        "precise_sqrt print ptr_to_int reduce reduce.return reshape return scan scan.return splat split store "
        "trans unsplat"
    ),
    "ttg": (
        "async_commit_group async_copy_global_to_local async_wait barrier convert_layout fp4_to_fp "
        "global_scratch_alloc local_alloc local_atomic_scatter_rmw local_dealloc local_gather local_load "
        "local_scatter local_store mask mask.return memdesc_index memdesc_reinterpret memdesc_reshape "
        "memdesc_subslice memdesc_trans predicate_stage remote_shmem_store upcast_mxfp warp_id warp_return "
        "warp_specialize warp_specialize.partitions warp_yield"
    ),
    "ttng": (
        "arrive_barrier async_copy_mbarrier_arrive async_tma_copy_global_to_local "
        "async_tma_copy_local_to_global async_tma_gather async_tma_prefetch async_tma_reduce "
        "async_tma_scatter async_tma_store_wait barrier_expect cluster_arrive cluster_barrier cluster_wait "
        "fence fence_async_shared fence_mbarrier_init_release_cluster init_barrier inval_barrier map_to_remote_buffer "
        "reinterpret_tensor_descriptor tc_gen5_commit tc_gen5_mma tc_gen5_mma_scaled tensormap_create "
        "tensormap_fenceproxy_acquire tmem_alloc tmem_copy tmem_load tmem_store tmem_subslice wait_barrier "
        "warp_group_dot warp_group_dot_wait"
    ),
    "amdg": (
        "arrive_barrier async_copy_local_to_global async_copy_mbarrier_arrive async_tdm_copy_global_to_local "
        "async_tdm_copy_local_to_global async_tdm_wait async_wait buffer_atomic_cas buffer_atomic_rmw "
        "buffer_load buffer_load_to_local buffer_store cluster_barrier_arrive cluster_barrier_wait concat "
        "cond_barrier extract_slice in_thread_transpose init_barrier instruction_sched_hint "
        "local_load_packed_tranposed masked_load masked_store memory_counter_wait scaled_upcast_fp4 "
        "scaled_upcast_fp8 update_tensor_descriptor upcast_mxfp wait_barrier"
    ),
    "nvws": (
        "aref.buffer aref.create aref.get.enter aref.get.exit aref.put.enter aref.put.exit async_op "
        "consumer_release consumer_wait create_token descriptor_gather descriptor_load producer_acquire "
        "producer_commit warp_group warp_group.return warp_group.yield"
    ),
}

KNOWN = frozenset(f"{dialect}.{name}" for dialect, names in _BY_DIALECT.items() for name in names.split())
"""Full names."""
