"""Semantic edits of machine code: bits of 128-bit instructions, attribute records and constants of a cubin.

Encoding of sm_80 and newer, as nvdisasm decodes it: bits 0 to 11 opcode, 12 to 14 guard, 15 its negation, 16 to 23
destination, 24 to 31 first source, 32 to 39 second source or 32 to 63 an immediate, 73 to 75 the width of an access,
105 to 108 stall cycles, 116 to 121 the barriers waited for.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Mapping, Sequence

import msgspec

from irdiff_sass import attributes
from irdiff_sass.cubin import read_cubin
from irdiff_sass.instructions import Instruction
from mutation.drawing import Kind

NOP = (0x7918, 0x000FC00000000000)
BARRIER = (0x7B1D, 0x000FEC0000010000)
SPILL_STORE = (0x01007387, 0x000FE80000100800)
"""``STL [R1], R0``."""
SPILL_LOAD = (0x01007983, 0x000EA80000100800)
"""``LDL R0, [R1]``."""
REGISTER_FORM = 1
IMMEDIATE_FORM = 4
"""Bits 9 to 11 of an opcode: what the second source is."""


class Placed(msgspec.Struct, frozen=True, kw_only=True):
    """An instruction of a cubin and where its 16 bytes are in the file."""

    offset: int
    instruction: Instruction


Listings = Mapping[bytes, Sequence[Placed]]
Words = tuple[int, int]
Change = Callable[[Words, Placed, random.Random], "Words | None"]
Chosen = Callable[[Instruction], bool]


def opcode(*prefixes: str) -> Chosen:
    """Instructions that execute whose opcode begins so."""
    return lambda each: each.executes and each.opcode.startswith(prefixes)


def form(words: Words) -> int:
    """What the second source of an instruction is."""
    return words[0] >> 9 & 7


def kinds(listings: Listings) -> tuple[Kind, ...]:
    """The kinds of edits of the cubins whose decoded instructions are given."""

    def code(
        chosen: Chosen, change: Change, share: float = 0
    ) -> Callable[[bytes, random.Random], bytes | None]:
        """Change one random instruction of those chosen, or a share of them."""

        def edit(data: bytes, chance: random.Random) -> bytes | None:
            places = [each for each in _used(listings[data]) if chosen(each.instruction)]
            chance.shuffle(places)
            wanted = max(1, int(len(places) * share))
            edited = bytearray(data)
            done = 0
            for each in places:
                words = struct.unpack_from("<QQ", data, each.offset)
                made = change(words, each, chance)
                if made is not None and made != words:
                    struct.pack_into("<QQ", edited, each.offset, *made)
                    done += 1
                if done == wanted:
                    return bytes(edited)
            return None

        return edit

    return (
        Kind(
            name="predicate negated",
            facts=("fingerprint",),
            edit=code(
                lambda each: bool(each.predicate) and each.executes,
                lambda words, *_: (words[0] ^ 0x8000, words[1]),
            ),
        ),
        Kind(
            name="predicate dropped",
            facts=("fingerprint",),
            edit=code(
                lambda each: bool(each.predicate) and each.executes,
                lambda words, *_: (words[0] & ~0xF000 | 0x7000, words[1]),
            ),
        ),
        Kind(
            name="destination changed",
            facts=("fingerprint",),
            edit=code(
                opcode("FADD", "FMUL", "LOP3", "SHF", "IADD3", "MOV", "IMAD"),
                lambda words, *_: (words[0] ^ 0x10000, words[1]),
            ),
        ),
        Kind(
            name="operands swapped",
            facts=("fingerprint",),
            edit=code(opcode("ISETP", "FADD", "HMMA", "FSETP", "LEA", "VIMNMX", "IMAD"), _swapped),
        ),
        Kind(
            name="immediate changed",
            facts=("fingerprint",),
            edit=code(
                lambda each: each.executes,
                lambda words, _, chance: (
                    (words[0] ^ 1 << 32 + chance.randrange(5), words[1])
                    if form(words) == IMMEDIATE_FORM and words[0] & 0x1FF in (0x12, 0x24, 0x25, 0x10, 0x0C)
                    else None
                ),
            ),
        ),
        Kind(
            name="constant operand",
            facts=("fingerprint",),
            edit=code(opcode("LDC", "ULDC"), lambda words, *_: (words[0] ^ 1 << 43, words[1])),
        ),
        Kind(
            name="comparison",
            facts=("opcodes",),
            edit=code(opcode("ISETP"), lambda words, *_: (words[0], words[1] ^ 1 << 14)),
        ),
        Kind(
            name="rounding of arithmetic",
            facts=("opcodes",),
            edit=code(opcode("FADD", "FMUL"), lambda words, *_: (words[0], words[1] ^ 1 << 14)),
        ),
        Kind(
            name="branch target",
            facts=("fingerprint",),
            edit=code(
                opcode("BRA"),
                lambda words, *_: (
                    (words[0] ^ 0x40 << 16 & 0xFF0000, words[1]) if words[0] >> 16 & 0xFF else None
                ),
            ),
        ),
        Kind(
            name="special register",
            facts=("fingerprint",),
            edit=code(
                opcode("S2R"),
                lambda words, *_: (
                    (words[0], words[1] ^ 1 << 10) if words[1] >> 8 & 0xFF in (0x21, 0x25) else None
                ),
            ),
        ),
        Kind(
            name="vector width of a load",
            facts=("global_loads",),
            edit=code(lambda each: each.executes and each.family == "LDG", _width),
        ),
        Kind(
            name="vector width of a store",
            facts=("global_stores",),
            edit=code(lambda each: each.executes and each.family == "STG", _width),
        ),
        Kind(
            name="vector width in shared memory",
            facts=("shared_loads", "shared_stores"),
            edit=code(lambda each: each.executes and each.family in ("LDS", "STS"), _width),
        ),
        Kind(
            name="element type of an MMA",
            facts=("mma",),
            edit=code(opcode("HMMA"), lambda words, *_: (words[0], words[1] ^ 1 << 18)),
        ),
        Kind(
            name="half of the MMAs gone",
            facts=("mma",),
            edit=code(opcode("HMMA", "HGMMA"), lambda *_: NOP, 0.5),
        ),
        Kind(
            name="barrier added",
            facts=("opcodes",),
            edit=code(opcode("FADD", "LOP3", "IMAD", "SHF"), lambda *_: BARRIER),
        ),
        Kind(name="barrier gone", facts=("opcodes",), edit=code(opcode("BAR"), lambda *_: NOP)),
        Kind(
            name="instruction gone",
            facts=("opcodes",),
            edit=code(
                lambda each: each.executes and each.family not in ("NOP", "EXIT", "BRA"), lambda *_: NOP
            ),
        ),
        Kind(
            name="spill store added",
            facts=("local_accesses",),
            edit=code(opcode("FADD", "LOP3", "IMAD", "SHF"), lambda *_: SPILL_STORE),
        ),
        Kind(
            name="spill load added",
            facts=("local_accesses",),
            edit=code(opcode("FADD", "LOP3", "IMAD", "SHF"), lambda *_: SPILL_LOAD),
        ),
        Kind(
            name="stall cycles",
            facts=("stalls",),
            edit=code(
                lambda each: each.executes and each.stall > 1,
                lambda words, *_: (words[0], words[1] & ~(15 << 41) | 1 << 41),
            ),
        ),
        Kind(
            name="wait for a scoreboard dropped",
            facts=("fingerprint",),
            edit=code(lambda each: each.executes, lambda words, *_: (words[0], words[1] & ~(63 << 52))),
        ),
        Kind(
            name="registers", facts=("registers",), edit=_record(attributes.REGISTERS, 8, (16, 32, 64, 255))
        ),
        Kind(name="stack", facts=("stack",), edit=_record(attributes.MINIMUM_STACK, 8, (16, 64, 1024))),
        Kind(
            name="launch bounds",
            facts=("launch_bounds",),
            edit=_record(attributes.REQUIRED_THREADS, 4, (32, 64, 256, 512)),
        ),
        Kind(
            name="offset of a parameter",
            facts=("parameters",),
            edit=_record(attributes.PARAMETER, 10, (0x40, 0x44, 0x48), "<H"),
        ),
        Kind(
            name="size of a parameter",
            facts=("parameters",),
            edit=_record(attributes.PARAMETER, 14, (0x0009, 0x0041), "<H"),
        ),
        Kind(name="constant data", facts=("fingerprint",), edit=_constant),
    )


def _used(placed: Sequence[Placed]) -> list[Placed]:
    """All but the padding, and the branch to itself before it."""
    last = max(
        (n for n, each in enumerate(placed) if each.instruction.family not in ("NOP", "BRA")), default=-1
    )
    return list(placed[: last + 1])


def _swapped(words: Words, each: Placed, _: random.Random) -> Words | None:
    """First and second source, where both are registers."""
    first, second = words[0] >> 24 & 0xFF, words[0] >> 32 & 0xFF
    if form(words) != REGISTER_FORM or first == second:
        return None
    return words[0] & ~0xFF_FF00_0000 | second << 24 | first << 32, words[1]


def _width(words: Words, _: Placed, chance: random.Random) -> Words | None:
    """4, 8 or 16 bytes."""
    width = words[1] >> 9 & 7
    if width not in (4, 5, 6):
        return None
    put = chance.choice([each for each in (4, 5, 6) if each != width])
    return words[0], words[1] & ~(7 << 9) | put << 9


def _record(
    tag: int, at: int, values: Sequence[int], layout: str = "<I"
) -> Callable[[bytes, random.Random], bytes | None]:
    """Another value ``at`` bytes into one record with a tag."""

    def edit(data: bytes, chance: random.Random) -> bytes | None:
        cubin = read_cubin(data)
        records = [*cubin.shared_records, *(each for code in cubin.codes for each in code.records)]
        places = [each.place + at for each in records if each.tag == tag]
        if not places:
            return None
        place = chance.choice(places)
        (value,) = struct.unpack_from(layout, data, place)
        edited = bytearray(data)
        struct.pack_into(layout, edited, place, chance.choice([each for each in values if each != value]))
        return bytes(edited)

    return edit


def _constant(data: bytes, chance: random.Random) -> bytes | None:
    """One byte of a constant bank."""
    sections = [
        each for each in read_cubin(data).elf.sections if each.name.startswith(".nv.constant") and each.size
    ]
    if not sections:
        return None
    section = chance.choice(sections)
    edited = bytearray(data)
    edited[section.offset + chance.randrange(section.size)] ^= 1 << chance.randrange(8)
    return bytes(edited)
