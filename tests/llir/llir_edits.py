"""Random edits of LLVM IR text: some change no meaning, some do."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

_TOKEN = re.compile(r'"[^"]*"|%[-\w.$]+')
_LABEL = re.compile(r"(?m)^([-\w.$]+):")


def renamed_values(text: str, chance: random.Random) -> str:
    """A random bijection of all local names, block labels included."""
    names = sorted({token for token in _TOKEN.findall(text) if token.startswith("%")})
    numbers = list(range(len(names)))
    chance.shuffle(numbers)
    new = {name: f"%n{number}.x" for name, number in zip(names, numbers, strict=True)}
    text = _TOKEN.sub(lambda found: new.get(found[0], found[0]), text)
    return _LABEL.sub(lambda found: f"{new.get('%' + found[1], '%' + found[1])[1:]}:", text)


def moved_source(text: str, chance: random.Random) -> str:
    """Other lines, another folder, another module name."""
    shift = chance.randrange(1, 90)
    text = re.sub(r"(?<=line: )\d+", lambda found: str(int(found[0]) + shift), text)
    text = re.sub(r'directory: "[^"]*"', f'directory: "/elsewhere/{shift}"', text)
    text = re.sub(r'(?m)^source_filename = ".*"$', f'source_filename = "m{shift}"', text)
    return re.sub(r"(?m)^; ModuleID = .*$", f"; ModuleID = 'm{shift}'", text)


def renumbered_groups(text: str, chance: random.Random) -> str:
    """Other numbers of attribute groups and metadata nodes."""
    shift = chance.randrange(1, 50)
    text = re.sub(r"(?<= )#(\d+)\b", lambda found: f"#{int(found[1]) + shift}", text)
    return re.sub(r"(?<![\w\"])!(\d+)\b", lambda found: f"!{int(found[1]) + shift}", text)


def without_line_information(text: str, _: random.Random) -> str:
    """As compiled with TRITON_DISABLE_LINE_INFO."""
    text = re.sub(r",? !dbg !\d+", "", text)
    lines = [line for line in text.split("\n") if not re.match(r"!\d+ = (distinct )?!DI|!llvm\.dbg", line)]
    return "\n".join(lines)


def added_comments(text: str, chance: random.Random) -> str:
    """Comments and empty lines anywhere."""
    lines = text.split("\n")
    for _ in range(4):
        lines.insert(chance.randrange(len(lines) - 1), chance.choice(("", "; store i32 0, ptr null", "; }")))
    return "\n".join(lines)


HARMLESS: tuple[Callable[[str, random.Random], str], ...] = (
    renamed_values,
    moved_source,
    renumbered_groups,
    without_line_information,
    added_comments,
)


def _edit_line(
    text: str, chance: random.Random, pattern: str, change: Callable[[re.Match[str]], str]
) -> str | None:
    """Change one random match in one random instruction, outside its debug attachment."""
    lines = text.split("\n")
    places = [
        (number, found)
        for number, line in enumerate(lines)
        if line.startswith("  ")
        for found in re.finditer(pattern, line.partition(", !dbg")[0])
        if change(found) != found.group()
    ]
    if not places:
        return None
    number, found = chance.choice(places)
    lines[number] = lines[number][: found.start()] + change(found) + lines[number][found.end() :]
    return "\n".join(lines)


def _edit_text(text: str, before: str, after: str) -> str | None:
    return text.replace(before, after, 1) if before in text else None


MEANINGFUL: dict[str, Callable[[str, random.Random], str | None]] = {
    "constant": lambda text, chance: _edit_line(
        text, chance, r"(?<=, )\d+$", lambda found: str(int(found[0]) + 1)
    ),
    "opcode": lambda text, chance: _edit_line(text, chance, r"(?<== )add ", lambda _: "sub "),
    "flag": lambda text, chance: _edit_line(text, chance, r" nuw nsw ", lambda _: " nuw "),
    "predicate": lambda text, chance: _edit_line(text, chance, r"icmp slt", lambda _: "icmp sle"),
    "operands swapped": lambda text, chance: _edit_line(
        text, chance, r"(?<=i32 )(%[\w.]+), (%[\w.]+)$", lambda found: f"{found[2]}, {found[1]}"
    ),
    "address space": lambda text, chance: _edit_line(
        text, chance, r"addrspace\(1\)", lambda _: "addrspace(3)"
    ),
    "type": lambda text, chance: _edit_line(text, chance, r"\bi32\b", lambda _: "i64"),
    "vector width": lambda text, chance: _edit_line(text, chance, r"<(2|4) x", lambda _: "<8 x"),
    "callee": lambda text, chance: _edit_line(text, chance, r"\.tid\.x", lambda _: ".tid.y"),
    "inline assembly": lambda text, chance: _edit_line(text, chance, r"\.v4\.b32", lambda _: ".v2.b32"),
    "constraint": lambda text, chance: _edit_line(text, chance, r'"r,r', lambda _: '"l,r'),
    "alignment": lambda text, chance: _edit_line(text, chance, r"align 16", lambda _: "align 8"),
    "branch target": lambda text, chance: _edit_line(
        text, chance, r"label (%[\w.]+), label (%[\w.]+)", lambda found: f"label {found[2]}, label {found[1]}"
    ),
    "statement dropped": lambda text, chance: _edit_line(
        text, chance, r"^  (?:tail call void|store) .*$", lambda _: ""
    ),
    "launch bound": lambda text, _: _edit_text(text, '"nvvm.reqntid"="128"', '"nvvm.reqntid"="256"'),
    "annotation": lambda text, _: _edit_text(text, '!"maxntidx", i32 128', '!"maxntidx", i32 256'),
    "module flag": lambda text, _: _edit_text(
        text, '!"nvvm-reflect-ftz", i32 1', '!"nvvm-reflect-ftz", i32 0'
    ),
    "attribute": lambda text, _: _edit_text(text, "{ convergent ", "{ "),
    "convention": lambda text, _: _edit_text(text, "define ptx_kernel ", "define "),
    "triple": lambda text, _: _edit_text(text, 'triple = "amd', 'triple = "x-amd'),
    "shared memory": lambda text, _: _edit_text(
        text, "global [0 x i8], align 16", "global [64 x i8], align 16"
    ),
}
