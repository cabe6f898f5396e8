"""Renaming registers so that only their names are lost.

LLVM writes every register an operand touches (``v[4:7]``), so registers that share an operand are kept together: ranges
that overlap make a group of neighbours, groups are numbered in order of first use, and a register becomes its group and
its distance from the group's start. Invariant: if two texts become equal, mapping group to group takes each operand's
registers to the same registers on the other side.

What the hardware puts into registers before the kernel starts is found by number: registers that can hold it are named
in the first line of the form, with their number. Where a number means more than a name (relative addressing, calls of
other functions, an opcode not known) all numbers are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from irdiff_amdgcn.classes import is_known
from irdiff_amdgcn.operands import REGISTER, number, registers
from irdiff_amdgcn.reader import Item

KINDS = "vsa"
NAMES = r"(?<![\w.$@])[vsa](?:\d+(?:_\d+)?(?:\[\d+:\d+\])?|\[\d+:\d+\])(?![\w\[])|(?<![\w$@])\.L\w+"
"""Registers and labels, as canonical lines and artifacts write them."""
_BY_NUMBER = ("v_movrel", "s_movrel", "s_set_gpr_idx", "s_set_vgpr", "s_swappc", "s_setpc", "s_call", "s_rfe")
_SYSTEM = 5
"""Scalar registers that the hardware fills behind the user's: three workgroup ids, workgroup info, a scratch offset."""
_WORKITEM_IDS = 3
"""Vector registers at the start: the work-item's ids, packed into the first from gfx90a on."""
_USER = ".amdhsa_user_sgpr_count"


class Renaming:
    """Names in order of first use, for the code of one file."""

    def __init__(self, items: Sequence[Item]) -> None:
        code = [item for item in items if item.kind == "instruction"]
        given = next((number(item.operands.strip()) for item in items if item.word == _USER), None)
        by_number = any(item.word.startswith(_BY_NUMBER) or not is_known(item.word) for item in code)
        self.kept = by_number or given is None
        """Whether numbers mean more than names here."""
        self._starts: dict[str, dict[int, int]] = {}
        self._sizes: dict[tuple[str, int], int] = {}
        self._numbers: dict[tuple[str, int], int] = {}
        self._used = dict.fromkeys(KINDS, 0)
        self.entry: tuple[str, ...] = ()
        """Registers that can hold something at the start, as ``s0 = s0_0``."""
        if self.kept or given is None:
            return
        for kind in KINDS:
            self._starts[kind] = self._groups(code, kind)
        self.entry = tuple(self._entry(given))

    def __call__(self, text: str) -> str:
        """The text with its registers replaced."""
        return text if self.kept else REGISTER.sub(self._name, text)

    def given(self) -> list[str]:
        """Which group became which."""
        return [f"{kind}{start}>{count}" for (kind, start), count in self._numbers.items()]

    def _entry(self, user: int) -> Iterator[str]:
        for kind, count in (("s", user + _SYSTEM), ("v", _WORKITEM_IDS)):
            for register in sorted(self._starts[kind]):
                if register < count:
                    yield f"{kind}{register} = {self._named(kind, register, register)}"

    def _name(self, found: re.Match[str]) -> str:
        kind, single, first, last = found.groups()
        low = int(single or first)
        return self._named(kind, low, int(last or low))

    def _named(self, kind: str, low: int, high: int) -> str:
        start = self._starts[kind].get(low)
        if start is None or high < low:
            return f"{kind}[{low}:{high}]"  # a range that is none, as it stands
        key = (kind, start)
        if key not in self._numbers:
            self._numbers[key] = self._used[kind]
            self._used[kind] += 1
        name = f"{kind}{self._numbers[key]}"
        if high > low:
            return f"{name}[{low - start}:{high - start}]"
        return name if self._sizes[key] == 1 else f"{name}_{low - start}"

    def _groups(self, code: Iterable[Item], kind: str) -> dict[int, int]:
        """Register to the start of its group, for each register mentioned."""
        ends: dict[int, int] = {}
        for item in code:
            for each, first, last in registers(item.operands):
                if each == kind:
                    ends[first] = max(ends.get(first, 0), last)
        starts: dict[int, int] = {}
        start = end = -1
        for low in sorted(ends):
            if low > end:
                start = low
            end = max(end, ends[low]) if low <= end else ends[low]
            for register in range(low, ends[low] + 1):
                starts[register] = start
            self._sizes[kind, start] = end - start + 1
        return starts
