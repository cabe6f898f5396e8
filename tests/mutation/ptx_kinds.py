"""Semantic edits of PTX."""

from __future__ import annotations

import re

from mutation.drawing import Kind, changed_number, halved, in_text, inserted, other

STATEMENT = re.compile(r"^\t(?:@!?%\w+ )?[a-z][\w.:]+ .*;|^\t[a-z][\w.]+;")


def code(lines: list[str]) -> list[int]:
    """Lines with an instruction."""
    return [number for number, line in enumerate(lines) if STATEMENT.match(line)]


def outside(lines: list[str]) -> list[int]:
    """Lines with an instruction of the compiler's own, not of inline assembly."""
    found, inside = [], False
    for number, line in enumerate(lines):
        inside = (inside or "begin inline asm" in line) and "end inline asm" not in line
        if not inside and STATEMENT.match(line):
            found.append(number)
    return found


def named(*words: str):  # type: ignore[no-untyped-def]  # a function of lines, as ``code``
    """Lines whose opcode begins so."""
    pattern = re.compile(r"^\t(?:@!?%\w+ )?(?:" + "|".join(map(re.escape, words)) + r")\b")
    return lambda lines: [number for number in code(lines) if pattern.match(lines[number])]


def head(lines: list[str]) -> list[int]:
    """Directives, before the first instruction."""
    first = next(iter(code(lines)), 0)
    return list(range(first))


KINDS = (
    Kind(name="constant", facts=("immediates",), edit=in_text(outside, r"(?<=, )\d+(?=;)", changed_number)),
    Kind(
        name="operands swapped",
        facts=(),
        edit=in_text(
            named("sub", "shl", "shr", "setp", "div", "mad"), r"(%\w+), (?!\1;)(%\w+)(?=;)", r"\2, \1"
        ),
    ),
    Kind(
        name="predicate negated",
        facts=("predicated",),
        edit=in_text(code, r"@(!?)%(?=p\d)", lambda found, _: "@%" if found[1] else "@!%"),
    ),
    Kind(name="predicate dropped", facts=("predicated",), edit=in_text(code, r"@!?%p\d+ (?!bra)", "")),
    Kind(name="branch target", facts=(), edit=in_text(named("bra"), r"\$L__BB\d+_\d+", "$L__func_begin0")),
    Kind(
        name="opcode",
        facts=("opcodes",),
        edit=in_text(outside, r"(?<=^\t)(?:add|sub)(?=\.)", other("add", "sub", "max")),
    ),
    Kind(
        name="opcode modifier",
        facts=("opcodes",),
        edit=in_text(
            outside,
            r"(?<=^\t)(setp|shr|mad|add|mul)(.*?)\.([su])(32|64)(?= )",
            lambda found, _: f"{found[1]}{found[2]}.{'u' if found[3] == 's' else 's'}{found[4]}",
        ),
    ),
    Kind(
        name="comparison",
        facts=("opcodes",),
        edit=in_text(named("setp"), r"(?<=setp\.)(?:lt|gt|eq|ne|ge|le)", other("lt", "gt", "eq", "ne")),
    ),
    Kind(
        name="rounding of arithmetic",
        facts=("fp",),
        edit=in_text(outside, r"(?<=^\t)(add|mul|sub)\.(?:rn\.)?(?=f32)", r"\1.rz."),
    ),
    Kind(
        name="rounding of a conversion",
        facts=("conversions",),
        edit=in_text(named("cvt"), r"(?<=cvt)\.rn(?=\.)", ".rz"),
    ),
    Kind(
        name="MMA shape",
        facts=("mma",),
        edit=in_text(code, r"(?<=m16n8)k16|(?<=m64n)\d+(?=k16)", other("k8", "16", "8")),
    ),
    Kind(
        name="element type of an MMA",
        facts=("mma",),
        edit=in_text(named("mma", "wgmma"), r"(?<=\.f32)\.(?:f16|e4m3)\.(?:f16|e4m3)", ".bf16.bf16"),
    ),
    Kind(
        name="half of the MMAs gone", facts=("mma",), edit=halved(code, r"^\twgmma\.mma_async|^\tmma\.sync")
    ),
    Kind(
        name="launch bounds",
        facts=("launch_bounds",),
        edit=in_text(head, r"(?<=\.reqntid )\d+", changed_number),
    ),
    Kind(
        name="kind of launch bounds", facts=("launch_bounds",), edit=in_text(head, r"\.reqntid", ".maxntid")
    ),
    Kind(
        name="parameter type",
        facts=("parameters",),
        edit=in_text(head, r"(?<=\.param \.)(?:u32|u64|b32|f32)", other("u32", "u64", "f64")),
    ),
    Kind(
        name="parameter alignment",
        facts=("parameters",),
        edit=in_text(head, r"(?<=\.align )1(?= \w+_param)", "16"),
    ),
    Kind(
        name="register type",
        facts=("virtual_registers",),
        edit=in_text(head, r"(?<=\.reg \.)b(?=32|64|16)", "s"),
    ),
    Kind(
        name="target",
        facts=("target",),
        edit=in_text(head, r"(?<=\.target sm_)\d+", other("80", "89", "90", "100")),
    ),
    Kind(
        name="local depot",
        facts=("local_bytes",),
        edit=inserted(
            lambda lines: [n for n in head(lines) if "\t.reg " in lines[n]],
            "\t.local .align 8 .b8 \t__local_depot0[64];",
        ),
    ),
    Kind(
        name="spill store added", facts=("opcodes",), edit=inserted(outside, "\tst.local.b32 \t[%rd1], %r1;")
    ),
    Kind(
        name="vector width of a load",
        facts=("global_loads", "shared_loads"),
        edit=in_text(
            named("ld.global", "ld.shared"),
            r"(?<=\.global|\.shared)(?:\.v[24])?(?=\.[buf]32)",
            other("", ".v2", ".v4"),
        ),
    ),
    Kind(
        name="vector width of a store",
        facts=("global_stores", "shared_stores"),
        edit=in_text(
            named("st.global", "st.shared"),
            r"(?<=\.global|\.shared)(?:\.v[24])?(?=\.[buf]32)",
            other("", ".v2", ".v4"),
        ),
    ),
    Kind(
        name="address space",
        facts=("global_loads", "global_stores", "shared_loads", "shared_stores"),
        edit=in_text(named("ld", "st"), r"(?<=ld|st)\.(?:global|shared)", other(".global", ".shared")),
    ),
    Kind(
        name="bytes of an async copy",
        facts=("async_copies",),
        edit=in_text(named("cp.async"), r"(?<=\], )0x\w+(?=, )", other("0x4", "0x8")),
    ),
    Kind(
        name="wait count",
        facts=("async_waits",),
        edit=in_text(named("cp.async.wait_group", "wgmma.wait_group"), r"\d+(?=;)", changed_number),
    ),
    Kind(name="barrier added", facts=("barriers",), edit=inserted(outside, "\tbar.sync \t0;")),
    Kind(name="barrier gone", facts=("barriers",), edit=halved(code, r"^\tbar\.")),
    Kind(
        name="kind of an atomic",
        facts=("atomics",),
        edit=in_text(named("atom", "red"), r"(?<=\.global)(.*?)\.(?:add|exch|cas|min|max)\b", r"\1.inc"),
    ),
    Kind(
        name="matrix move",
        facts=("matrix_moves",),
        edit=in_text(named("ldmatrix", "stmatrix"), r"(?<=\.)x[24]", other("x1", "x2")),
    ),
    Kind(
        name="statement gone",
        facts=("opcodes",),
        edit=halved(lambda lines: [n for n in outside(lines) if n % 89 == len(lines) % 89], r""),
    ),
)
