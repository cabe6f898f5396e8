"""Rules of the gate: how one is declared, what it is shown of a pair of kernels, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec

from irdiff.model.facts import FactSpec, Value
from irdiff.model.gate import Tolerance
from irdiff.model.issues import Issue

if TYPE_CHECKING:
    from irdiff.model.report import Change, KernelRef, KernelReport


class Fired(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule found in one kernel."""

    message: str
    """Numbers in words: ``0 → 288 B, in loop0``."""
    change: Change | None = None
    """The change it rests on; None for a rule that judges no fact."""
    before: float | None = None
    """The number a tolerance is applied to; None where the rule has none."""
    after: float | None = None
    beside: tuple[Change, ...] = ()
    """Further changes that show the same: they carry the rule's code too."""
    fact: str = ""
    """The fact it rests on where that is no change: a loop that exists on one side only."""
    scope: str = ""
    """With ``fact``: ``loop0``."""
    issue: Issue | None = None
    """What could not be judged, for a rule that is ``uncertain``."""


class RuleView(Protocol):
    """One pair of kernels, for a rule. Where several stages have a role, the lowest that both sides know judges."""

    @property
    def kernel(self) -> KernelReport:
        """The pair as it was compared."""

    @property
    def failed(self) -> tuple[bool, bool]:
        """Whether the entry is one of a compilation that failed, before and after."""

    def changes(self, role: str) -> tuple[Change, ...]:
        """Changes of the facts of a role in the stage that judges it, the whole kernel first; no incomparable ones."""

    def facts(self, role: str, beside: str = "") -> tuple[FactSpec, ...]:
        """The facts of a role in the stage that judges it; empty where none is known on both sides and comparable.

        ``beside`` is the id of a fact: then those of its stage, and of no other.
        """

    def values(self, fact_id: str, scope: str = "") -> tuple[Value | None, Value | None]:
        """The value before and after; None where it is not known."""

    def scopes(self, fact_id: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Loops in which a fact is known, before and after."""

    def trips(self, fact_id: str, scope: str) -> tuple[int | None, int | None]:
        """How often that loop runs for one start of the kernel, before and after, where constant."""

    def folded(self, fact_id: str) -> tuple[frozenset[str], frozenset[str]]:
        """Fields of a record whose values say nothing by themselves, before and after: see ``Summary.folded``."""

    def words(self, value: Value | None, spec: FactSpec) -> str:
        """A value as a user reads it, with its unit."""


class RuleExample(msgspec.Struct, frozen=True, kw_only=True):
    """A pair of kernels in facts alone: a test holds the rule to it, and its page shows it."""

    fires: bool
    before: Mapping[str, Value]
    """Fact id, or ``fact id @ loop0``, to value."""
    after: Mapping[str, Value]
    note: str = ""
    failed: tuple[bool, bool] = (False, False)
    """As ``RuleView.failed``."""
    trips: Mapping[str, tuple[int | None, int | None]] = {}
    """Loop to how often it runs, before and after; a loop that is not here runs an unknown number of times."""
    gone: bool = False
    """Whether there is no kernel after."""
    unreadable: tuple[str, ...] = ()
    """Stages that cannot be read after."""


class RuleSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A check that a change of facts can fail."""

    code: str
    """``RES101``: stable for ever."""
    title: str
    """What it found, in words: ``spills appear or grow``."""
    level: Literal["error", "warn", "off"]
    """Where no policy says otherwise."""
    role: str
    """Role of the facts it judges; ``""`` for a rule about the build itself."""
    fires: Callable[[Change], bool] = lambda change: False
    """For a rule that one change of a fact decides."""
    judge: Callable[[RuleView], Iterable[Fired]] | None = None
    """For a rule that needs more than one change; then ``fires`` is not asked."""
    also: tuple[str, ...] = ()
    """Further roles it reads."""
    tolerance: Tolerance = Tolerance()
    """Applied to ``Fired.before`` and ``Fired.after`` where no policy says otherwise."""
    uncertain: bool = False
    """True where it fires because something could not be judged: it then sets bit 2, and not bit 1."""
    gone: Callable[[KernelRef], Iterable[Fired]] | None = None
    """For a rule about kernels that are there before and not after: asked for each of them, ``judge`` is not."""
    across_targets: bool = False
    """Whether it says something of two kernels compiled for different targets."""
    launch: bool = False
    """Whether it judges what a launch is given beside the code: then it speaks though the machine code is the same."""
    answered: Callable[[RuleView], bool] | None = None
    """Whether it is known to stay quiet though the facts of its role are not: an entry without a stack has no access
    to local memory, whatever its instructions are."""
    doc: str = ""
    """When exactly it fires."""
    why: str = ""
    """Why one wants to know."""
    advice: str = ""
    """What to look at next."""
    examples: tuple[RuleExample, ...] = ()
    """At least one that fires and one that does not."""
