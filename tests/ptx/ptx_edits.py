"""Random edits of PTX text: some change nothing that runs, some change what runs."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

_REGISTER = re.compile(r"%(p|rs|r|rd|f|fd)(\d+)\b")
_LABEL = re.compile(r"\$L__BB\d+_\d+\b|\b(?:waitLoop|skipWait)\b")
_STATEMENT = re.compile(r"^\s+(?:@!?%\w+ )?[a-z][\w.:]+ .*;$")


def split_code(text: str) -> tuple[str, str]:
    """The code, and everything from the first `.file` or debug section on."""
    cut = min(place for place in (text.find("\n\t.file"), text.find("\n\t.section"), len(text)) if place >= 0)
    return text[:cut], text[cut:]


def renamed_registers(text: str, chance: random.Random) -> str:
    """A random bijection of the registers of each class."""
    code, rest = split_code(text)
    new: dict[str, dict[str, str]] = {}
    for kind in ("p", "rs", "r", "rd", "f", "fd"):
        used = sorted({number for name, number in _REGISTER.findall(code) if name == kind})
        shuffled = used.copy()
        chance.shuffle(shuffled)
        new[kind] = dict(zip(used, shuffled, strict=True))
    return _REGISTER.sub(lambda found: f"%{found[1]}{new[found[1]][found[2]]}", code) + rest


def renamed_labels(text: str, chance: random.Random) -> str:
    """Random new names of the labels that something branches to."""
    code, rest = split_code(text)
    names = sorted(set(_LABEL.findall(code)))
    numbers = list(range(len(names)))
    chance.shuffle(numbers)
    new = {name: f"$L__XX_{number}" for name, number in zip(names, numbers, strict=True)}
    return _LABEL.sub(lambda found: new[found[0]], code) + rest


def moved_source(text: str, chance: random.Random) -> str:
    """Other lines, other paths, other debug labels."""
    shift = chance.randrange(1, 500)
    text = re.sub(r"(?m)^(\t\.loc\t\d+) (\d+)", lambda found: f"{found[1]} {int(found[2]) + shift}", text)
    text = re.sub(r'(?m)^(\t\.file\t\d+) ".*"', rf'\1 "/elsewhere/{shift}.py"', text)
    return text.replace("$L__tmp", f"$L__tmp{shift}")


def added_comments(text: str, chance: random.Random) -> str:
    """Comments and empty lines anywhere in the code."""
    code, rest = split_code(text)
    lines = code.split("\n")
    for _ in range(5):
        lines.insert(
            chance.randrange(len(lines)), chance.choice(("", "// add.s32 %r1, %r2;", "\t// { unbalanced"))
        )
    place = chance.randrange(len(lines))
    lines[place] += " // st.global [0]; }"
    return "\n".join(lines) + rest


def respaced(text: str, chance: random.Random) -> str:
    """Other spaces around operands."""
    code, rest = split_code(text)
    return re.sub(r", (?=[%\[{])", lambda _: chance.choice((",", ",  ", ", ")), code) + rest


def moved_folder(text: str, folder: str) -> str:
    """The source file in another folder, in `.file` and in the bytes of the debug sections."""
    (path,) = re.findall(r'(?m)^\t\.file\t\d+ "(.*)"', text)
    before = path.rpartition("/")[0]
    text = text.replace(f'"{before}/', f'"{folder}/')
    bytes_before = r"\n".join(rf"\.b8 {ord(character)}" for character in before[1:])
    bytes_after = "\n".join(f".b8 {ord(character)}" for character in folder[1:])
    return re.sub(rf"(\.b8 47 .*\n){bytes_before}", rf"\g<1>{bytes_after}", text)


HARMLESS: tuple[Callable[[str, random.Random], str], ...] = (
    renamed_registers,
    renamed_labels,
    moved_source,
    added_comments,
    respaced,
)


def _edit_line(
    text: str, chance: random.Random, pattern: str, change: Callable[[re.Match[str]], str]
) -> str | None:
    """Change one random match of a pattern in one random statement."""
    code, rest = split_code(text)
    lines = code.split("\n")
    places = [
        (number, found)
        for number, line in enumerate(lines)
        if _STATEMENT.match(line)
        for found in re.finditer(pattern, line)
        if change(found) != found.group()
    ]
    if not places:
        return None
    number, found = chance.choice(places)
    lines[number] = lines[number][: found.start()] + change(found) + lines[number][found.end() :]
    return "\n".join(lines) + rest


def _edit_text(text: str, before: str, after: str) -> str | None:
    return text.replace(before, after, 1) if before in text else None


MEANINGFUL: dict[str, Callable[[str, random.Random], str | None]] = {
    "constant": lambda text, chance: _edit_line(
        text, chance, r"(?<=, )-?\d+(?=;)", lambda found: str(int(found[0]) + 1)
    ),
    "offset": lambda text, chance: _edit_line(
        text, chance, r"(?<=\+ )\d+(?= \])", lambda found: str(int(found[0]) + 4)
    ),
    "type": lambda text, chance: _edit_line(text, chance, r"\.s32\b", lambda _: ".u32"),
    "rounding": lambda text, chance: _edit_line(
        text, chance, r"(?<=\s)(add|mul)\.f32", lambda found: f"{found[1]}.rz.f32"
    ),
    "opcode": lambda text, chance: _edit_line(text, chance, r"(?<=\t)add\.", lambda _: "sub."),
    "predicate negated": lambda text, chance: _edit_line(text, chance, r"@%", lambda _: "@!%"),
    "predicate dropped": lambda text, chance: _edit_line(text, chance, r"@!?%p\d+ ", lambda _: ""),
    "operands swapped": lambda text, chance: _edit_line(
        text, chance, r"(%r\d+), (%r\d+)(?=;)", lambda found: f"{found[2]}, {found[1]}"
    ),
    "another register": lambda text, chance: _edit_line(
        text, chance, r"(?<=, )%r\d+(?=;)", lambda _: "%tid.y"
    ),
    "vector width": lambda text, chance: _edit_line(text, chance, r"\.v4\.b32", lambda _: ".v2.b32"),
    "address space": lambda text, chance: _edit_line(text, chance, r"(?<=st)\.global", lambda _: ".shared"),
    "cluster space": lambda text, chance: _edit_line(
        text, chance, r"\.shared(?=\.)", lambda _: ".shared::cluster"
    ),
    "barrier": lambda text, chance: _edit_line(text, chance, r"bar\.sync \t0", lambda _: "bar.sync \t1"),
    "branch target": lambda text, chance: _edit_line(
        text, chance, r"\$L__BB\d+_\d+", lambda _: "$L__func_begin0"
    ),
    "launch bound": lambda text, _: _edit_text(text, ".reqntid 128", ".reqntid 256"),
    "kind of bound": lambda text, _: _edit_text(text, ".reqntid", ".maxntid"),
    "parameter type": lambda text, _: _edit_text(text, ".param .u32 ", ".param .s32 "),
    "pointer attribute": lambda text, _: _edit_text(text, ".align 1 ", ".align 16 "),
    "target": lambda text, _: _edit_text(text, ".target sm_90a", ".target sm_90"),
    "register type": lambda text, _: _edit_text(text, ".reg .b32 \t%r<", ".reg .s32 \t%r<"),
    "entry name": lambda text, _: _edit_text(text, ".visible .entry ", ".visible .entry x_"),
    "statement dropped": lambda text, chance: _edit_line(text, chance, r"^\s+[a-z].*;$", lambda _: ""),
}
