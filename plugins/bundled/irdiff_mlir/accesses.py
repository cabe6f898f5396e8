"""Words for memory accesses, dots and reductions: the keys of their tallies."""

from __future__ import annotations

import re

from irdiff_mlir import attributes, functions, results, types
from irdiff_mlir.model import Operation
from irdiff_mlir.program import Program

LOADS = frozenset(("tt.load", "amdg.buffer_load", "amdg.masked_load"))
STORES = frozenset(("tt.store", "amdg.buffer_store", "amdg.masked_store"))
ATOMICS = frozenset(
    ("tt.atomic_rmw", "tt.atomic_cas", "tt.atomic_poll", "amdg.buffer_atomic_rmw", "amdg.buffer_atomic_cas")
)
DOTS = frozenset(
    ("tt.dot", "tt.dot_scaled", "ttng.warp_group_dot", "ttng.tc_gen5_mma", "ttng.tc_gen5_mma_scaled")
)
_POLICY = re.compile(r"(cacheModifier|cache_modifier|evictionPolicy|eviction_policy|cache|scope|sem) = (\w+)")
_OPERAND = re.compile(r"%[\w$.-]+")
_SETTING = re.compile(r"(lhs|rhs) = (\w+)")
_PRECISION = re.compile(r"inputPrecision = (\w+)")
_PRECISIONS = {"0": "tf32", "1": "tf32x3", "2": "ieee", "3": "bf16x3", "4": "bf16x6"}
"""InputPrecision of ``TritonAttrDefs.td`` where it is printed as a number."""
_DEFAULTS = frozenset(("none", "normal", "evict_normal", "ieee"))
_CALLEE = re.compile(r'@(?:"([^"]*)"|([\w$.-]+))')


def _before_types(program: Program, operation: Operation) -> str:
    return types.split(" " + program.text(operation.form.text), " : ")[0].strip()


def _values(text: str) -> int:
    """Operands before the first word or dictionary that is no operand."""
    end = min((at for at in (text.find("{"), text.find(" = ")) if at >= 0), default=len(text))
    return len(_OPERAND.findall(text[:end]))


def _words(before: str) -> list[str]:
    """Cache, eviction and the other modifiers of an access, defaults left out."""
    words: list[str] = []
    for key, value in _POLICY.findall(before):
        if value in _DEFAULTS:
            continue
        words.append(f"cache {value}" if "cache" in key else value)
    for key, value in sorted(attributes.of(before).items()):
        if "." in key or key in ("cachePolicy", "operandSegmentSizes", "resultSegmentSizes"):
            continue  # a discardable attribute of a pass, or said above, or bookkeeping
        plain = attributes.plain(value)
        if plain == "false":
            continue
        words.append({"isVolatile": "volatile"}.get(key, key) if plain in ("true", "") else f"{key} {plain}")
    return words


def load(program: Program, operation: Operation) -> str:
    """``64x32xf16, masked, other, cache cg, evict_last``."""
    before = _before_types(program, operation)
    found = program.types[operation.index]
    tile = types.tile(found[0]) if found else "?"
    values = _values(before) - (1 if operation.name.startswith("amdg.buffer") else 0)
    words = [tile, *(["masked"] if values > 1 else []), *(["other"] if values > 2 else [])]
    return ", ".join((*words, *_words(before), *_family(operation)))


def store(program: Program, operation: Operation) -> str:
    """``64x64xf16, masked``."""
    before = _before_types(program, operation)
    listed = types.split(program.text(results.type_section(operation)))
    tile = types.tile(listed[0]) if listed and listed[0] else "?"
    values = _values(before) - (1 if operation.name.startswith("amdg.buffer") else 0)
    return ", ".join((tile, *(["masked"] if values > 2 else []), *_words(before), *_family(operation)))


def _family(operation: Operation) -> list[str]:
    return ["buffer"] if operation.name.startswith("amdg.buffer") else []


def atomic(program: Program, operation: Operation) -> str:
    """``atomic_rmw fadd, acq_rel, gpu, 64xf32, masked``."""
    before = _before_types(program, operation)
    at = before.find("%")
    words = before[: at if at >= 0 else len(before)].rstrip(", ")
    values = _values(before)
    found = program.types[operation.index]
    tile = types.tile(found[0]) if found else "?"
    masked = operation.name == "tt.atomic_rmw" and values > 2
    kind = operation.name.partition(".")[2]
    parts = (f"{kind} {words}".strip(), tile, *(["masked"] if masked else []), *_words(before))
    return ", ".join(parts)


def dot_types(program: Program, operation: Operation) -> tuple[str, str, str] | None:
    """Types of A, B and the result (the accumulator where the result is in memory)."""
    section = program.text(results.type_section(operation))
    if operation.name.startswith("ttng.tc_gen5_mma"):
        listed = types.listed(types.split(section, "->")[0])
        return (listed[0], listed[1], listed[2]) if len(listed) > 2 else None
    sides = types.split(section, "->")
    operands = types.split(sides[0], " * ")
    if len(sides) != 2 or len(operands) != 2:
        return None
    return types.split(operands[0])[0], types.split(operands[1])[0], sides[1]


def precision(program: Program, operation: Operation) -> list[str]:
    """``tf32``; element types of scaled operands; the accumulation limit of fp8."""
    before = _before_types(program, operation)
    words = [f"{side} {value}" for side, value in _SETTING.findall(before)]
    match = _PRECISION.search(before)
    if match:
        word = _PRECISIONS.get(match[1], match[1])
        words += [word] if word not in _DEFAULTS else []
    limit = attributes.integer(attributes.of(before), "maxNumImpreciseAcc")
    return words + ([f"maxNumImpreciseAcc {limit}"] if limit else [])


def dot(program: Program, operation: Operation) -> str:
    """``64x32xf16 * 32x64xf16 -> 64x64xf32, tf32``."""
    found = dot_types(program, operation)
    if found is None:
        return "?"
    before, after, result = (types.tile(text) for text in found)
    scaled = ["scaled"] if "scaled" in operation.name else []
    return ", ".join((f"{before} * {after} -> {result}", *scaled, *precision(program, operation)))


def reduction(program: Program, operation: Operation) -> str:
    """``axis 1, 64x32xf32, arith.addf``: axis, shape, what combines two elements."""
    fields = attributes.of(operation.form.text) | attributes.of(operation.tail)
    section = types.split(program.text(results.type_section(operation)), "->")[0]
    tiles = " & ".join(types.tile(text) for text in types.listed(section)) or "?"
    combiner: list[str] = []
    for nested in program.nested(operation):
        if nested.name.endswith(".return"):
            continue
        callee = _CALLEE.search(nested.head) if nested.name == "tt.call" else None
        combiner.append(f"call {functions.plain_name(callee[1] or callee[2])}" if callee else nested.name)
    axis = attributes.integer(fields, "axis")
    reverse = ["reverse"] if fields.get("reverse") == "true" else []
    return ", ".join(
        (f"axis {'?' if axis is None else axis}", tiles, *reverse, " ".join(combiner) or "nothing")
    )


_PASSED_ON = frozenset(
    (
        "ttg.convert_layout",
        "ttg.local_alloc",
        "tt.reshape",
        "tt.trans",
        "tt.broadcast",
        "tt.expand_dims",
        "tt.splat",
        "tt.join",
        "tt.cat",
    )
)
_CASTS = frozenset(
    (
        "arith.truncf",
        "arith.extf",
        "arith.trunci",
        "arith.extsi",
        "arith.extui",
        "arith.sitofp",
        "arith.uitofp",
        "arith.fptosi",
        "arith.fptoui",
        "tt.fp_to_fp",
        "tt.bitcast",
    )
)
_STORED = {
    "tt.store": 1,
    "tt.descriptor_store": -1,
    "amdg.buffer_store": 0,
    "amdg.masked_store": 1,
    "ttng.async_tma_copy_local_to_global": -1,
}
"""Storing operation -> which of its operands is the value."""
STORING = frozenset(_STORED)
"""Operations that store a value."""


def store_cast(program: Program, operation: Operation) -> tuple[str, int] | None:
    """(``f32 -> f16``, index of the cast) where the value was converted last thing before its store."""
    operands = program.operands[operation.index]
    position = _STORED.get(operation.name)
    if position is None or len(operands) < 2:
        return None
    value = operands[position]
    for _ in range(16):
        definer = program.definer(value)
        if definer is None:
            return None
        if definer.name in _CASTS:
            section = program.text(results.type_section(definer))
            sides = types.split(section, " to ")
            sides = sides if len(sides) == 2 else types.split(section, "->")
            if len(sides) != 2:
                return None
            return f"{_element(sides[0])} -> {_element(sides[1])}", definer.index
        inputs = program.operands[definer.index]
        if definer.name not in _PASSED_ON or not inputs:
            return None
        value = inputs[0]
    return None


def _element(text: str) -> str:
    found = types.shaped(text)
    return found.element if found else text


def descriptor(program: Program, operation: Operation) -> str:
    """``descriptor_load 64x64xf16``: operation and block."""
    kind = operation.name.partition(".")[2]
    found = program.types[operation.index]
    section = types.split(program.text(results.type_section(operation)), "->")[0]
    listed = types.listed(section)
    text = found[0] if found else listed[-1] if listed else "?"
    words = _before_types(program, operation).partition("%")[0].rstrip(", ")
    return " ".join(part for part in (kind, words, types.tile(text)) if part)
