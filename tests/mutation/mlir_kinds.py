"""Semantic edits of Triton's MLIR: shared by source and TTIR, and those of TTGIR."""

from __future__ import annotations

import random
import re

from mutation.drawing import Kind, changed_number, halved, in_text, meaning, other

EFFECT = re.compile(
    r"store|atomic|return|yield|scf\.|tt\.func|tt\.call|reduce|ttng\.|async_|local_alloc|^ +\}|condition"
)
"""What keeps an operation: it writes, or holds or ends a region."""
RESULTS = re.compile(r"^ +((?:%[\w-]+(?::\d+)?(?:, )?)+) = ")
RETYPED = re.compile(
    r"^ +%[\w-]+ = (?:arith|math|tt|ttg)\.(?!call|async).*xf(?:16|32)\b[^<]*$|^ +%[\w-]+ = .*xf(?:16|32), #\w+>$"
)
"""Operations with a tensor of floats as their result."""
VALUE = re.compile(r"%[\w-]+")
OPERATION = re.compile(r"^ +(?:%[\w:]+(?:, %\w+)* = )?\"?(?:tt|ttg|ttng|arith|math|scf)\.\w+")
INDEXED = ("addresses", "masks", "loops")


def code(lines: list[str]) -> list[int]:
    """Lines with an operation that something comes of: the front end leaves overflow checks that nothing reads."""
    needed: set[str] = set()
    found = []
    for number in range(len(lines) - 1, -1, -1):
        line = meaning(lines[number])
        results = RESULTS.match(line)
        names = set(VALUE.findall(results[1])) if results else set()
        if EFFECT.search(line) or names & needed:
            needed |= set(VALUE.findall(line[results.end() :] if results else line))
            if OPERATION.match(line):
                found.append(number)
    return found[::-1]


def whole(lines: list[str]) -> list[int]:
    """Lines that are one operation, without a region."""
    return [
        number
        for number in code(lines)
        if not re.search(r"\{\s*(?:loc\(.*)?$", lines[number]) and "yield" not in lines[number]
    ]


def named(*words: str):  # type: ignore[no-untyped-def]  # a function of lines, as ``code``
    """Lines of some operations."""
    pattern = re.compile("|".join(rf"\b{re.escape(word)}\b" for word in words))
    return lambda lines: [number for number in code(lines) if pattern.search(lines[number])]


def head(lines: list[str]) -> list[int]:
    """The line of the kernel's arguments."""
    return [number for number, line in enumerate(lines) if "tt.func public" in line]


def module(lines: list[str]) -> list[int]:
    """The line of the module's attributes."""
    return [number for number, line in enumerate(lines) if line.startswith("module ")]


def layouts(lines: list[str]) -> list[int]:
    """Definitions of layouts that something uses."""
    found = []
    for number, line in enumerate(lines):
        alias = re.match(r"#(?!loc)(\w+) = ", line)
        uses = re.compile(rf"#{alias[1]}\b") if alias else None
        if uses and any(uses.search(each) for at, each in enumerate(lines) if at != number):
            found.append(number)
    return found


def _retyped(data: bytes, chance: random.Random) -> bytes | None:
    """Another element type in every tensor of one line."""
    lines = data.decode().split("\n")
    places = [number for number in whole(lines) if RETYPED.search(meaning(lines[number]))]
    if not places:
        return None
    number = chance.choice(places)
    lines[number] = re.sub(
        r"xf16\b|xf32\b", lambda found: {"xf16": "xbf16", "xf32": "xf64"}[found[0]], lines[number]
    )
    return "\n".join(lines).encode()


def _another_constant(pattern: str):  # type: ignore[no-untyped-def]  # an Edit
    """Another integer constant of the same type in an operand."""

    def edit(data: bytes, chance: random.Random) -> bytes | None:
        text = data.decode()
        names = dict(re.findall(r"(%[\w-]+) = arith\.constant (-?\d+) : i32", text))
        places = [found for found in re.finditer(pattern, text) if found[1] in names]
        if not places:
            return None
        found = chance.choice(places)
        choices = sorted(name for name in names if names[name] not in (names[found[1]], "0"))
        if not choices:
            return None
        return (text[: found.start(1)] + chance.choice(choices) + text[found.end(1) :]).encode()

    return edit


def _swapped(found: re.Match[str], _: random.Random) -> str:
    return f"{found[1]} {found[3]}, {found[2]}"


SHARED = (
    Kind(
        name="precision of a dot",
        facts=("dots",),
        edit=in_text(named("tt.dot"), r"(?<=inputPrecision = )tf32", other("ieee")),
    ),
    Kind(name="dot gone", facts=("dots",), edit=halved(named("tt.dot", "ttng.warp_group_dot"), r"dot %")),
    Kind(name="element type", facts=("tensors",), edit=_retyped),
    Kind(
        name="mask of a load dropped",
        facts=("loads",),
        edit=in_text(named("tt.load"), r"(tt\.load %[\w#]+), %[\w#]+(?:, %[\w#]+)? ", r"\1 "),
    ),
    Kind(
        name="mask of a store dropped",
        facts=("stores",),
        edit=in_text(named("tt.store"), r"(tt\.store %[\w#]+, %[\w#]+), %[\w#]+ ", r"\1 "),
    ),
    Kind(
        name="cache policy of a load",
        facts=("loads",),
        edit=in_text(named("tt.load"), r" (?=: tensor|: !tt)", " cacheModifier = cg "),
    ),
    Kind(
        name="predicate changed",
        facts=("masks",),
        edit=in_text(named("arith.cmpi"), r"(?<=cmpi )slt", other("sle", "sgt", "ne")),
    ),
    Kind(
        name="predicate dropped",
        facts=("masks",),
        edit=in_text(named("arith.andi"), r"(arith\.andi) (%[\w#]+), (%[\w#]+)(?= : tensor)", r"\1 \2, \2"),
    ),
    Kind(name="loop bound", facts=("loops",), edit=_another_constant(r"scf\.for .* to (%[\w-]+) step")),
    Kind(name="loop step", facts=("loops",), edit=_another_constant(r"scf\.for .* step (%[\w-]+)[ {]")),
    Kind(
        name="axis of a reduce",
        facts=("reduces",),
        edit=in_text(named("tt.reduce", "tt.scan"), r"(?<=axis = )\d", other("0", "1")),
    ),
    Kind(
        name="axis of the grid",
        facts=("program_ids",),
        edit=in_text(named("tt.get_program_id"), r"(?<=_id )[xyz]", other("x", "y", "z")),
    ),
    Kind(
        name="end of a range",
        facts=("addresses", "masks"),
        edit=in_text(named("tt.make_range"), r"(?<=end = )\d+", changed_number),
    ),
    Kind(
        name="integer constant",
        facts=("constants",),
        edit=in_text(
            named("arith.constant"),
            r"(?<=constant )\d+(?= : i32)|(?<=dense<)\d+(?=> : tensor<\w+xi32)",
            changed_number,
        ),
    ),
    Kind(
        name="float constant",
        facts=("constants",),
        edit=in_text(named("arith.constant"), r"(?<=[ <])-?\d\.\d+e[+-]\d+", other("3.0e+00", "5.0e-01")),
    ),
    Kind(
        name="integer operands swapped",
        facts=INDEXED,
        edit=in_text(
            named("arith.divsi", "arith.remsi", "arith.subi"),
            r"(arith\.\w+) (%[\w#-]+), (?!\2 )(%[\w#-]+)",
            _swapped,
        ),
    ),
    Kind(
        name="float operands swapped",
        facts=(),
        edit=in_text(
            named("arith.divf", "arith.subf"), r"(arith\.\w+) (%[\w#-]+), (?!\2 )(%[\w#-]+)", _swapped
        ),
    ),
    Kind(
        name="opcode",
        facts=("ops",),
        edit=in_text(whole, r"(?<=arith\.)(?:add|sub|mul)(?=[if] )", other("add", "sub", "mul")),
    ),
    Kind(
        name="type of a stored value",
        facts=("store_casts", "tensors"),
        edit=in_text(named("arith.truncf"), r"(?<=to tensor<)(\w+)xb?f16", r"\1xf8E5M2"),
    ),
    Kind(
        name="alignment of an argument",
        facts=("arguments",),
        edit=in_text(head, r"(?<=tt\.divisibility = )\d+", changed_number),
    ),
    Kind(
        name="type of an argument",
        facts=("arguments",),
        edit=in_text(head, r"(?<=!tt\.ptr<)\w+", other("f16", "f32", "bf16")),
    ),
    Kind(name="store gone", facts=("stores",), edit=halved(named("tt.store"), r"tt\.store %")),
    Kind(
        name="statement gone",
        facts=("ops",),
        edit=halved(lambda lines: [n for n in whole(lines) if n % 7 == len(lines) % 7], r""),
    ),
    Kind(
        name="kind of an atomic",
        facts=("atomics",),
        edit=in_text(named("tt.atomic_rmw"), r"(?<=atomic_rmw )\w+", other("add", "fadd", "max")),
    ),
    Kind(
        name="order of an atomic",
        facts=("atomics",),
        edit=in_text(
            named("tt.atomic_rmw", "tt.atomic_cas"),
            r"\b(?:acq_rel|relaxed)\b",
            other("acq_rel", "relaxed", "acquire"),
        ),
    ),
)
