"""What a process does while others work for it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from irdiff.model.report import KernelReport


class Meantime:
    """Compares pairs while others are read: they would wait for nothing but this process."""

    def __init__(
        self,
        one: Callable[[int], KernelReport],
        release: Callable[[], None],
        first: Callable[[], None] | None,
    ) -> None:
        """``one`` compares the pair of a number, ``release`` lets go of what was read for it; ``first`` comes first."""
        self._one = one
        self._release = release
        self._first = first
        self.due: deque[int] = deque()
        """Pairs of which everything is known."""
        self.done: dict[int, KernelReport] = {}

    def step(self) -> bool:
        """Do a little; False where nothing can be done now."""
        if self._first is not None:
            first, self._first = self._first, None
            first()
            return True
        if not self.due:
            return False
        at = self.due.popleft()
        self.done[at] = self._one(at)
        self._release()
        return True
