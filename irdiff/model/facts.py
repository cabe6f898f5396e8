"""Facts: what a stage says about a kernel, with a declared meaning and the lines it rests on."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

Scalar: TypeAlias = bool | int | float | str | None
"""A field of a record; ``None`` is JSON's null. What an artifact does not record is not in the record at all."""

Value: TypeAlias = bool | int | float | str | tuple[str, ...] | dict[str, Scalar]
"""The JSON form of every kind: see :mod:`irdiff.model.kinds`."""

Better: TypeAlias = Literal["lower", "higher", "neutral"]
Exactness: TypeAlias = Literal["exact", "estimate"]
Place: TypeAlias = Literal["line", "byte", "address"]


class FactSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What a fact means: declared once by a plugin, read by the comparison, the gate, renderers and docs."""

    id: str
    """``stage.thing``; stable for ever."""
    title: str
    """The fact in words, without its unit: ``registers per thread``."""
    kind: str
    """One of the kinds of :mod:`irdiff.model.kinds`, or a kind a plugin registered."""
    unit: str = ""
    """Unit of the number or of the counts of a tally: ``B``, ``registers``, ``instructions``."""
    better: Better = "neutral"
    """Which way is an improvement."""
    measure: Literal["total", "key"] = "total"
    """What ``better`` speaks of in a tally: the sum of its counts, or the size its numeric keys name."""
    key_unit: str = ""
    """Unit of the sizes that a tally's numeric keys name: ``B``."""
    limited_by: str | None = None
    """Id of a fact that names what keeps the value from being better: it is told with a change."""
    order: tuple[str, ...] = ()
    """A token's values in ascending order, where they have one; a token may name several, joined by `` + ``."""
    role: str | None = None
    """What the fact is for any vendor (``registers``, ``spills``): rules and derived facts go by role."""
    exactness: Exactness = "exact"
    """``estimate`` where the artifact does not record the thing itself."""
    tolerance: float = 0.0
    """Relative change (0.02 = 2 %) below which a difference is noise."""
    comparable_when: tuple[str, ...] = ()
    """Coordinates (``target.arch``, or a fact id) that must be equal for a direction to mean anything."""
    provenance: bool = False
    """Says where an artifact comes from: listed, and never part of sameness or verdict."""
    repeats: str | None = None
    """Id of a fact that says the same from a better source: where both are known this one is shown, not compared, and a
    difference between the two is a warning."""
    opt_in: bool = False
    """Costs so much that it is made only where asked for (``--with``, ``Context.wants``)."""
    needs: tuple[str, ...] = ()
    """Ids of the tools without which it is not known: a gate that needs it does not pass where they failed."""
    group: str = ""
    """Heading under which ``show`` lists it."""
    place: Place = "line"
    """What the numbers in a fact's evidence count: lines from 1, file offsets, or code addresses."""
    doc: str = ""
    """Exact meaning, with its source (PTX ISA section, Triton file and release)."""


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    """One value of one FactSpec in one scope."""

    id: str
    value: Value
    scope: str = ""
    """``""`` for the whole kernel, else ``loop0`` or ``loop0/loop1``."""
    evidence: dict[str, tuple[int, ...]] = {}
    """Where it rests: key of the tally (``""`` for other kinds) to places in the artifact."""
    exactness: Exactness | None = None
    """Set where this value is an estimate though the spec says exact (a tool or record was missing)."""


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """A loop (or another region) of one stage that facts are also counted in."""

    id: str
    """``loop0``, ``loop0/loop1``: numbered in order of appearance over the whole artifact."""
    kind: str = "loop"
    trip_count: int | None = None
    """Iterations, where the artifact makes it a constant."""
    first: int = 0
    """First place (line from 1, or address) of the region."""
    last: int = 0
    """Last place of the region, inclusive."""
