"""Facts of instructions, counted one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from irdiff_sass.families import access_bytes, class_of, is_mma
from irdiff_sass.instructions import Instruction


def by_hand(code: Sequence[Instruction]) -> dict[str, Any]:
    """What the stage should count."""
    loads = Counter(
        str(access_bytes(each.opcode)) for each in code if each.family in ("LDG", "LD") and each.executes
    )
    return {
        "sass.instructions": len(code),
        "sass.opcodes": dict(sorted(Counter(each.opcode for each in code).items())),
        "sass.classes": dict(sorted(Counter(class_of(each.family) for each in code).items())),
        "sass.mma": dict(sorted(Counter(each.opcode for each in code if is_mma(each.family)).items())),
        "sass.global_loads": dict(sorted(loads.items())),
        "sass.stalls": sum(each.stall for each in code),
    }
