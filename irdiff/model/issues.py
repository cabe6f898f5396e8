"""Issues: what could not be read, understood or compared, said where it happened."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Severity: TypeAlias = Literal["error", "warning", "note"]


class Issue(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that went wrong with one input, artifact, tool or plugin; never dropped on the way."""

    severity: Severity
    """``error``: something was not compared; ``warning``: compared, with less certainty; ``note``: worth knowing."""
    code: str
    """Stable kebab-case name of the kind of issue: ``truncated-elf``, ``unknown-opcode``."""
    message: str
    where: str | None = None
    """File, entry or plugin."""
    stage: str | None = None
    line: int | None = None
    """Line (from 1) in a text artifact."""
    hint: str | None = None
    """What to do next."""
