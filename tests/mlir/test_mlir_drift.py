"""Spellings that Triton's releases changed: the same code has the same canonical form and the same facts.

Each item of `facts.md`, section 2 that concerns MLIR is here, as two hand-made texts or as fixtures of two
releases. What is not folded is in `NOT_FOLDED` with the reason, and shows as a difference.
"""

from __future__ import annotations

import re

import pytest

from mlir.mlir_samples import canonical_of, facts_of, file_of, kernel, summary_of

TENSOR = "tensor<64xf16, #b>"
BLOCKED = "blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>"


def with_alias(alias: str, text: str) -> str:
    return f"{alias}\n{text}"


def memory(layout: str, space: str = "#ttg.shared_memory") -> str:
    """An allocation in shared memory."""
    parts = [f"4x8xf16, {layout}", *([space] if space else []), "mutable"]
    prefix = "!ttg.memdesc" if space else "!tt.memdesc"
    return kernel(f"%m = ttg.local_alloc : () -> {prefix}<{', '.join(parts)}>")


def module(attributes: str) -> str:
    return f"module attributes {{{attributes}}} {{\n  tt.func public @k() {{\n    tt.return\n  }}\n}}\n"


def calling(name: str) -> str:
    """A kernel that calls a private function of this name."""
    private = f"  tt.func private @{name}(%x: i32) -> i32 {{\n    tt.return %x : i32\n  }}\n}}\n"
    body = f"    %0 = tt.call @{name}(%n) : (i32) -> i32\n    tt.return\n"
    return f"module {{\n  tt.func public @k(%n: i32) {{\n{body}  }}\n{private}"


def tensor_memory(columns: str) -> str:
    encoding = f"#ttng.tensor_memory_encoding<blockM = 128, blockN = 64, {columns}>"
    return kernel(
        f"%m = ttng.tmem_alloc : () -> !ttg.memdesc<128x64xf32, {encoding}, #ttng.tensor_memory, mutable>"
    )


def part_of_a_buffer(operation: str, indices: str) -> str:
    rest = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>, #ttg.shared_memory, mutable>"
    types = f"!ttg.memdesc<2x8xf16, {rest} -> !ttg.memdesc<8xf16, {rest}"
    return kernel(f"%s = {operation} %m[{indices}] : {types}", head="%m: i32, %n: i32")


def mfma(fields: str) -> str:
    return memory(f"#ttg.amd_mfma<{{{fields}, isTransposed = true}}>")


SWIZZLED = "{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}"
POLICY = "#tt.cache_policy<cache_modifier = none, eviction_policy = evict_last>"
ITEMS = {
    "dialect of operations": (
        with_alias(
            f"#b = #triton_gpu.{BLOCKED}",
            kernel(f"%y = triton_gpu.convert_layout %x : {TENSOR} -> {TENSOR}", head=f"%x: {TENSOR}"),
        ),
        with_alias(
            f"#b = #ttg.{BLOCKED}",
            kernel(f"%y = ttg.convert_layout %x : {TENSOR} -> {TENSOR}", head=f"%x: {TENSOR}"),
        ),
    ),
    "dialect of nvidia operations": (
        kernel("triton_nvidia_gpu.fence_async_shared {bCluster = false}"),
        kernel("ttng.fence_async_shared {bCluster = false}"),
    ),
    "dialect of amd operations": (
        kernel("%x = amdgpu.buffer_load %p[%n] : f32"),
        kernel("%x = amdg.buffer_load %p[%n] : f32"),
    ),
    "prefix of module attributes": (
        module('"triton_gpu.num-warps" = 4 : i32'),
        module('"ttg.num-warps" = 4 : i32'),
    ),
    "an attribute of 3.9 with its default": (
        module('"ttg.num-warps" = 4 : i32'),
        module('"ttg.num-warps" = 4 : i32, "ttng.two-ctas" = false'),
    ),
    "shared without a leading offset": (
        memory(f"#ttg.shared<{SWIZZLED[:-1]}, hasLeadingOffset = false}}>"),
        memory(f"#ttg.swizzled_shared<{SWIZZLED}>"),
    ),
    "block of a tensor descriptor": (
        kernel(
            "%x = tt.descriptor_load %p[%n] : !tt.tensordesc<tensor<64xf16>> -> tensor<64xf16>",
            head="%p: !tt.tensordesc<tensor<64xf16>>, %n: i32",
        ),
        kernel(
            "%x = tt.descriptor_load %p[%n] : !tt.tensordesc<64xf16> -> tensor<64xf16>",
            head="%p: !tt.tensordesc<64xf16>, %n: i32",
        ),
    ),
    "experimental descriptors": (
        kernel(
            "%x = tt.experimental_descriptor_load %p[%n] : !tt.tensordesc<64xf16> -> tensor<64xf16>",
            head="%p: !tt.tensordesc<64xf16>, %n: i32",
        ),
        kernel(
            "%x = tt.descriptor_load %p[%n] : !tt.tensordesc<64xf16> -> tensor<64xf16>",
            head="%p: !tt.tensordesc<64xf16>, %n: i32",
        ),
    ),
    "barrier of the gpu dialect": (kernel("gpu.barrier"), kernel("ttg.barrier all")),
    "tokens of a commit": (
        kernel("%t = ttg.async_commit_group tokens %x", head="%x: !ttg.async.token"),
        kernel("%t = ttg.async_commit_group %x", head="%x: !ttg.async.token"),
    ),
    "cache policy": (
        kernel("%x = tt.load %p evictionPolicy = evict_last : !tt.ptr<f32>"),
        kernel(f"%x = tt.load %p {{cachePolicy = {POLICY}}} : !tt.ptr<f32>"),
    ),
    "names of values": (
        kernel("%0 = arith.constant 3 : i32\n%1 = arith.addi %n, %0 : i32"),
        kernel("%three = arith.constant 3 : i32\n%sum = arith.addi %n, %three : i32"),
    ),
    "names of private functions": (
        calling('"m.f__i32__(1,)cconstexpr_0_"'),
        calling("m.f__i32_c0"),
    ),
}
"""Item -> (an older release's text, the newest one's)."""


@pytest.mark.parametrize("item", sorted(ITEMS))
def test_both_spellings_have_one_canonical_form_and_the_same_facts(item: str) -> None:
    older, newer = ITEMS[item]
    assert older != newer
    assert canonical_of(older).lines == canonical_of(newer).lines
    before, after = summary_of(older), summary_of(newer)
    assert facts_of(before) == facts_of(after)
    assert before.coverage == after.coverage
    assert before.coverage.ratio == 1


def test_operations_of_old_fixtures_are_counted_under_their_newest_names() -> None:
    """The reference matmul of 3.1.0 and 3.6.0 on sm_90: what is around the product is the same."""
    spelled = {
        "ttg.memdesc_index": "triton_gpu.memdesc_subview",
        "ttg.async_copy_global_to_local": "triton_gpu.async_copy_global_to_local",
        "ttng.warp_group_dot": "triton_nvidia_gpu.dot_async",
        "ttng.warp_group_dot_wait": "triton_nvidia_gpu.dot_wait",
    }
    texts = [
        file_of(release, "sm_90", "matmul_kernel", ".ttgir", "w4s2").read_text()
        for release in ("3.1.0", "3.6.0")
    ]
    older, newer = (facts_of(summary_of(text))["ttgir.ops"] for text in texts)
    assert isinstance(older, dict)
    assert isinstance(newer, dict)
    for name, before in spelled.items():
        assert before in texts[0]
        assert before not in texts[1]
        assert older[name] == newer[name]
    assert not any(name.startswith(("triton_gpu.", "triton_nvidia_gpu.")) for name in older)


def test_locations_of_every_kind_are_read_as_file_and_line() -> None:
    """file:line:col, call site, fused, named; the column is another token's in 3.9 and is not used."""
    body = kernel("%x = tt.load %p : !tt.ptr<f32>").replace(
        "!tt.ptr<f32>\n    tt.return", "!tt.ptr<f32> loc(#loc1)\n    tt.return"
    )
    user, library = '"/k/mine.py":7:3', '"/x/triton/language/standard.py":9:1'
    spellings = {
        f"loc({user})": "/k/mine.py:7",
        f'loc("x"(#loc2))\n#loc2 = loc({user})': "/k/mine.py:7",
        f"loc(callsite(#loc3 at #loc2))\n#loc2 = loc({user})\n#loc3 = loc({library})": "/k/mine.py:7",
        f"loc(fused[#loc3, #loc2])\n#loc2 = loc({user})\n#loc3 = loc({library})": "/k/mine.py:7",
        "loc(unknown)": None,
    }
    for spelled, expected in spellings.items():
        found = summary_of(f"{body}#loc1 = {spelled}\n", ".ttir").source_lines
        assert list(found.values()) == ([expected] if expected else [])
    moved = body + "#loc1 = loc(" + user.replace(":3", ":21") + ")\n"
    assert (
        summary_of(moved, ".ttir").source_lines
        == summary_of(f"{body}#loc1 = loc({user})\n", ".ttir").source_lines
    )


NOT_FOLDED = {
    "shared with a leading offset": (
        memory(f"#ttg.shared<{SWIZZLED[:-1]}, hasLeadingOffset = true}}>"),
        memory("#ttg.nvmma_shared<{swizzlingByteWidth = 16, transposed = false, elementBitWidth = 16}>"),
        "the swizzle is the same for some shapes only: the algebra of layouts says for which",
    ),
    "memory space of a descriptor": (
        memory(f"#ttg.swizzled_shared<{SWIZZLED}>", space=""),
        memory(f"#ttg.swizzled_shared<{SWIZZLED}>"),
        "an older descriptor says nothing of the memory: tensor memory came with the word",
    ),
    "instruction of amd_mfma": (
        mfma("versionMajor = 3, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [32, 32]"),
        mfma("version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8]"),
        "the third size depends on the element type, which the older text does not hold",
    ),
    "columns of tensor memory": (
        tensor_memory("unpacked = true"),
        tensor_memory("colStride = 1"),
        "`unpacked` counts in elements, `colStride` in columns of 32 bits: it depends on the element",
    ),
    "division": (
        kernel("%y = arith.divf %x, %x : f32", head="%x: f32"),
        kernel("%y = tt.approx_divf %x, %x : f32", head="%x: f32"),
        "3.9 tells the approximate division from the exact one; older releases lowered one operation to either",
    ),
    "indices of a buffer": (
        part_of_a_buffer("ttg.memdesc_subview", "%n, %n"),
        part_of_a_buffer("ttg.memdesc_index", "%n"),
        "the older operation also indexes inside a buffer; the facts count both as `ttg.memdesc_index`",
    ),
    "names of arguments": (
        kernel("%x = tt.load %arg0 : !tt.ptr<f32>", head="%arg0: !tt.ptr<f32>"),
        kernel("%x = tt.load %x_ptr : !tt.ptr<f32>", head="%x_ptr: !tt.ptr<f32>"),
        "the canonical form is the same; the facts name arguments as the file does, `argN` before Triton 3.6",
    ),
}
"""Item -> (older, newer, why they are not folded)."""


@pytest.mark.parametrize("item", sorted(NOT_FOLDED))
def test_what_is_not_folded_shows_as_a_difference_and_is_read_whole(item: str) -> None:
    older, newer, why = NOT_FOLDED[item]
    assert why
    assert (canonical_of(older).lines, facts_of(summary_of(older))) != (
        canonical_of(newer).lines,
        facts_of(summary_of(newer)),
    )
    for text in (older, newer):
        assert summary_of(text).coverage.ratio == 1


def test_a_call_of_another_function_is_another_form() -> None:
    """Names of private functions are folded by the order in which the functions stand: what a call means stays."""
    older = ITEMS["names of private functions"][1]
    second = older.replace(
        "tt.func private",
        "tt.func private @m.g__i32(%x: i32) -> i32 {\n    tt.return %x : i32\n  }\n  tt.func private",
        1,
    )
    other = re.sub(r"tt\.call @m\.f__i32_c0", "tt.call @m.g__i32", second, count=1)
    assert canonical_of(second).lines != canonical_of(other).lines
    renamed = second.replace("@m.f__i32_c0", "@m.h__i32")
    assert canonical_of(second).lines == canonical_of(renamed).lines


def test_other_code_in_a_private_function_is_another_form() -> None:
    text = file_of("3.6.0", "sm_90", "softmax_kernel", ".source").read_text()
    assert text.count("arith.maxnumf") > 0
    assert canonical_of(text).lines != canonical_of(text.replace("arith.maxnumf", "arith.minnumf", 1)).lines
