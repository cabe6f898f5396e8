"""Which lines of canonical SASS a scheduler may move, how their names look, and each instruction as it is written."""

from __future__ import annotations

from irdiff.api import Artifact, Context
from irdiff_sass.decoded import Listing
from irdiff_sass.families import TABLE
from irdiff_sass.summary import listing_of

FIXED = frozenset({"barrier", "control", "unknown"})
"""Classes of instructions that a scheduler moves nothing across."""
WAITS = frozenset({"DEPBAR", "LDGDEPBAR"})


def order_free(line: str) -> bool:
    """True for an instruction that is no label, branch or barrier."""
    text = line.split(" ", 1)[1] if line.startswith("@") and " " in line else line
    opcode = text.partition(" ")[0]
    family = opcode.partition(".")[0]
    return not opcode.endswith(":") and family not in WAITS and TABLE.get(family, "unknown") not in FIXED


def written(artifact: Artifact, context: Context) -> dict[int, str]:
    """Address to the instruction as the disassembler writes it. Raises ParseError as ``summarize`` does."""
    decoded = listing_of(artifact, context)
    if not isinstance(decoded, Listing):
        return {}
    return {
        each.address: " ".join(
            part for part in (each.predicate, each.opcode, ", ".join(each.operands)) if part
        )
        for code in decoded.codes
        for each in code.instructions
    }
