"""Whether aligned lines name the same values: names are followed from the lines that define them."""

from __future__ import annotations

from collections.abc import Sequence

from irdiff.engine.masked import Side, Step


class _Names:
    """Which name of one side is which of the other, as far as the lines read so far say."""

    def __init__(self) -> None:
        self._there: dict[str, str] = {}
        self._here: dict[str, str] = {}
        self._used: dict[tuple[str, str], int] = {}

    def define(self, here: str, there: str) -> int | None:
        """From now on these are the same; the step that took them for others before they were defined."""
        wrong = None
        for known, name, meant in ((self._there, here, there), (self._here, there, here)):
            other = known.get(name)
            if other is not None and other != meant:
                pair = (name, other) if known is self._there else (other, name)
                wrong = self._used.pop(pair, wrong)
        self.forget(here, there)
        self._there[here], self._here[there] = there, here
        return wrong

    def forget(self, here: str | None, there: str | None) -> None:
        """Names that now mean something that the other side has not."""
        if here is not None:
            self._here.pop(self._there.pop(here, ""), None)
        if there is not None:
            self._there.pop(self._here.pop(there, ""), None)

    def agree(self, here: str, there: str, step: int) -> bool:
        """Whether a use of one may be a use of the other; a pair not met before is taken to be."""
        known, back = self._there.get(here), self._here.get(there)
        if known is None and back is None:
            self._there[here], self._here[there] = there, here
            self._used[here, there] = step
            return True
        return known == there and back == here

    def clear(self) -> None:
        """Nothing is known any more."""
        self._there.clear()
        self._here.clear()
        self._used.clear()


def operands_moved(before: Side, after: Side, steps: Sequence[Step]) -> frozenset[int]:
    """Steps whose lines differ in nothing but names, and whose names are not the same."""
    names = _Names()
    moved: set[int] = set()
    for at, step in enumerate(steps):
        if step.kind == "order":
            names.clear()
            continue
        if step.kind in ("removed", "added"):
            _forget(before, after, step, names)
            continue
        if before.opens_function(step.before[0]):
            names.clear()
        moved |= _pair_moved(before, after, step, at, names)
    return frozenset(moved)


def _pair_moved(before: Side, after: Side, step: Step, at: int, names: _Names) -> set[int]:
    """What one aligned pair shows to have moved, now or earlier; its definitions are learned."""
    registers = not (before.assigns or after.assigns)
    i, j = step.before[0], step.after[0]
    pairs = list(zip(before.names[i], after.names[j], strict=False))
    defined = before.defined(i) & after.defined(j)
    moved: set[int] = set()
    if step.kind == "same":
        used = [pair for position, pair in enumerate(pairs) if position not in defined]
        wrong = [pair for pair in used if not names.agree(*pair, at)]
        moved |= {at} if wrong else set()
        for pair in wrong if registers else ():  # a register's new use is told once
            names.define(*pair)
    for position in sorted(defined):
        if position < len(pairs):
            earlier = names.define(*pairs[position])
            if earlier is not None and (not registers or before.is_label(i)):
                moved.add(earlier)
    return moved


def _forget(before: Side, after: Side, step: Step, names: _Names) -> None:
    """A line on one side only gives its results a meaning that the other side has not."""
    if step.kind == "removed":
        at = step.before[0]
        for position in before.defined(at):
            names.forget(before.names[at][position], None)
    else:
        at = step.after[0]
        for position in after.defined(at):
            names.forget(None, after.names[at][position])
