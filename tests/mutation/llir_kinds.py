"""Semantic edits of LLVM IR."""

from __future__ import annotations

import re

from mutation.drawing import Kind, changed_number, halved, in_text, inserted, other


def code(lines: list[str]) -> list[int]:
    """Lines with an instruction."""
    return [number for number, line in enumerate(lines) if line.startswith("  ") and line.strip()]


def plain(lines: list[str]) -> list[int]:
    """Instructions after the phis, not in inline assembly."""
    return [number for number in code(lines) if not re.search(r" = phi | asm |^  br |^  ret", lines[number])]


def assembly(lines: list[str]) -> list[int]:
    """Calls of inline assembly."""
    return [number for number in code(lines) if " asm " in lines[number]]


def head(lines: list[str]) -> list[int]:
    """The line of the kernel's arguments."""
    return [number for number, line in enumerate(lines) if line.startswith("define ptx_kernel")]


def attributes(lines: list[str]) -> list[int]:
    """Attribute groups."""
    return [number for number, line in enumerate(lines) if line.startswith("attributes #")]


KINDS = (
    Kind(name="constant", facts=("constants",), edit=in_text(plain, r"(?<=, )\d+$", changed_number)),
    Kind(
        name="operands swapped",
        facts=(),
        edit=in_text(
            plain,
            r"(?<== )(sub|shl|lshr|fsub|fdiv|udiv|sdiv)( [\w ]*)(%[\w.]+), (?!\3$)(%[\w.]+)$",
            r"\1\2\4, \3",
        ),
    ),
    Kind(
        name="predicate changed",
        facts=("comparisons",),
        edit=in_text(plain, r"(?<=icmp )(?:samesign )?(?:slt|ult|eq|ne)", other("slt", "sgt", "ne")),
    ),
    Kind(
        name="branch target",
        facts=(),
        edit=in_text(code, r"label (%[\w.]+), label (?!\1)(%[\w.]+)", r"label \2, label \1"),
    ),
    Kind(
        name="opcode",
        facts=("opcodes",),
        edit=in_text(plain, r"(?<== )(?:add|sub|mul|xor|and)(?= )", other("add", "sub", "mul", "xor")),
    ),
    Kind(
        name="float opcode",
        facts=("opcodes",),
        edit=in_text(plain, r"(?<== )(?:fadd|fsub|fmul)(?= )", other("fadd", "fsub", "fmul")),
    ),
    Kind(
        name="fast-math flag added",
        facts=("fast_math",),
        edit=in_text(plain, r"(?<== )(fadd|fsub|fmul|fdiv)(?= float)", r"\1 fast"),
    ),
    Kind(
        name="address space of an access",
        facts=("memory",),
        edit=in_text(plain, r"^(  (?:store|%\w+ = load) .*)addrspace\((\d)\)", r"\1addrspace(5)"),
    ),
    Kind(
        name="element type of a store",
        facts=("memory",),
        edit=in_text(plain, r"^(  store )(?:half|float|i32|i16|<\d x \w+>)", r"\1i64"),
    ),
    Kind(
        name="vector width",
        facts=("memory",),
        edit=in_text(
            plain,
            r"(?<= load )<(\d) x|(?<=store )<(\d) x|(?<=store )()(?=half|float|i\d+ )",
            lambda found, _: "<8 x" if found[1] or found[2] else "volatile ",
        ),
    ),
    Kind(
        name="vector width in assembly",
        facts=("inline_asm",),
        edit=in_text(assembly, r"\.v[24]\.b32", other(".v2.b32", ".v4.b32")),
    ),
    Kind(
        name="MMA shape",
        facts=("inline_asm",),
        edit=in_text(assembly, r"(?<=m16n8)k16|(?<=m64n)\d+(?=k16)", other("k8", "16", "8")),
    ),
    Kind(
        name="element type of an MMA",
        facts=("inline_asm",),
        edit=in_text(assembly, r"(?<=mma)(.*?)\.f32\.(f16|e4m3)\.", r"\1.f32.bf16."),
    ),
    Kind(name="half of the MMAs gone", facts=("inline_asm",), edit=halved(assembly, r"mma")),
    Kind(
        name="bytes of an async copy",
        facts=("inline_asm",),
        edit=in_text(assembly, r"(?<=\], )0x\w+(?=, )", other("0x4", "0x8")),
    ),
    Kind(
        name="wait count",
        facts=("constants",),
        edit=in_text(code, r"(?<=wait\.group\(i32 )\d+", changed_number),
    ),
    Kind(
        name="barrier added",
        facts=("intrinsics",),
        edit=inserted(plain, "  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)"),
    ),
    Kind(name="barrier gone", facts=("intrinsics",), edit=halved(code, r"@llvm\.nvvm\.barrier")),
    Kind(name="commit gone", facts=("intrinsics",), edit=halved(code, r"commit\.group")),
    Kind(
        name="special register",
        facts=("intrinsics",),
        edit=in_text(code, r"(?<=sreg\.)(?:tid|ctaid)\.x", other("tid.y", "ctaid.y")),
    ),
    Kind(
        name="launch bounds",
        facts=("kernel",),
        edit=in_text(attributes, r"(?<=reqntid\"=\")\d+", changed_number),
    ),
    Kind(
        name="parameter type",
        facts=("kernel",),
        edit=in_text(head, r"(?<=[( ])(?:i32|float|ptr addrspace\(1\))(?= )", other("i64", "double")),
    ),
    Kind(name="calling convention", facts=("kernel",), edit=in_text(head, r"ptx_kernel ", "")),
    Kind(
        name="local depot", facts=("opcodes",), edit=inserted(plain, "  %depot = alloca [16 x i8], align 4")
    ),
    Kind(
        name="spill store added",
        facts=("memory",),
        edit=inserted(plain, "  store i32 7, ptr addrspace(5) null, align 4"),
    ),
    Kind(
        name="offset in shared memory",
        facts=("shared_offsets",),
        edit=in_text(code, r"(?<=@global_smem, i32 )\d+|(?<=@global_smem, i64 )\d+", changed_number),
    ),
    Kind(
        name="statement gone",
        facts=("opcodes",),
        edit=halved(lambda lines: [n for n in plain(lines) if n % 97 == len(lines) % 97], r""),
    ),
)
