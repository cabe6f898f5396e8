"""What a StageLookup says, asked once for each suffix: a tree of 40,000 files has ten of them."""

from __future__ import annotations

from irdiff.model.specs import StageLookup


class Lookup:
    """A StageLookup that remembers the answers of another one."""

    def __init__(self, context: StageLookup) -> None:
        self._context = context
        self._stages: dict[str, str | None] = {}
        self._after: dict[str, tuple[str, ...]] = {}
        self._final: dict[str, bool] = {}

    def stage_of(self, suffix: str) -> str | None:
        """Id of the stage that claims a suffix (with its dot)."""
        if suffix not in self._stages:
            self._stages[suffix] = self._context.stage_of(suffix)
        return self._stages[suffix]

    def stage_after(self, stage_id: str) -> tuple[str, ...]:
        """Registered stages that come before one, near or far, in the order of the compiler."""
        if stage_id not in self._after:
            self._after[stage_id] = self._context.stage_after(stage_id)
        return self._after[stage_id]

    def is_final(self, suffix: str) -> bool:
        """Whether files of that suffix are machine code."""
        if suffix not in self._final:
            self._final[suffix] = self._context.is_final(suffix)
        return self._final[suffix]
