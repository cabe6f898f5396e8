"""Compare what the driver says of kernels with what irdiff read in their machine code."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from irdiff.capture.driver import DriverSays

ROLES = {"registers": "registers", "stack": "local", "occupancy": "ctas_per_sm"}
"""Role of a fact to the field of the driver's answer that must equal it."""


class Compared(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel."""

    kernel: str
    entry: str
    driver: dict[str, int]
    """Fields the driver answered."""
    irdiff: dict[str, int]
    """The same fields as irdiff's facts have them; those that are not known are left out."""

    def differing(self) -> tuple[str, ...]:
        """Fields in which they differ, or that irdiff does not know."""
        return tuple(name for name, value in sorted(self.driver.items()) if self.irdiff.get(name) != value)


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """All kernels."""

    kernels: tuple[Compared, ...]

    def agreeing(self, *fields: str) -> int:
        """Kernels that agree in these fields."""
        return sum(not set(fields) & set(each.differing()) for each in self.kernels)

    def lines(self, most: int = 5) -> Iterable[str]:
        """What is printed: one line that says how many agree, one for each of the first that do not."""
        total, fields = len(self.kernels), ("local", "registers")
        agreeing = self.agreeing(*fields)
        yield f"the driver agrees on registers and local memory of {agreeing:,} of {total:,} kernels"
        wrong = [each for each in self.kernels if set(fields) & set(each.differing())]
        for each in wrong[:most]:
            told = [
                f"{name} {each.irdiff.get(name, 'unknown')}, by the driver {each.driver[name]}"
                for name in each.differing()
            ]
            yield f"  {each.kernel} ({each.entry}): {'; '.join(told)}"
        fitting = self.agreeing("ctas_per_sm")
        if fitting != total:
            yield f"the driver agrees on CTAs per multiprocessor of {fitting:,} of {total:,} kernels"


def compare(kernel: str, entry: str, says: DriverSays, facts: dict[str, object]) -> Compared:
    """One kernel; ``facts`` maps the roles of ``ROLES`` to whole-kernel values."""
    answered = {field: value for field in ROLES.values() if (value := getattr(says, field)) is not None}
    read = {
        field: value
        for role, field in ROLES.items()
        if isinstance(value := facts.get(role), int) and not isinstance(value, bool)
    }
    return Compared(kernel=kernel, entry=entry, driver=answered, irdiff=read)
