"""Policy: how strict the gate is. A value: ``irdiff.config`` reads it from a file, ``irdiff.engine`` applies it."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from irdiff.model.gate import Level, Tolerance


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """Kernels and targets by glob, case-sensitive; an empty list of ``kernels`` or ``targets`` means all."""

    kernels: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    """Kernels left out although ``kernels`` names them."""
    targets: tuple[str, ...] = ()
    """Globs over ``cuda:90``; a kernel whose target is not known is matched by ``*`` alone."""


class Operand(msgspec.Struct, frozen=True, kw_only=True, tag="operand"):
    """One side of a comparison: a number or word as written, or a fact (with a factor on it)."""

    constant: float | str | bool | None = None
    fact: str | None = None
    scope: str = ""
    """``loop0``, or ``""`` for the whole kernel."""
    key: str | None = None
    """Of a tally or record: ``ptx.opcodes["bar.sync"]``; a tally without a key counts all."""
    side: Literal["before", "after"] = "after"
    factor: float = 1.0


class Comparison(msgspec.Struct, frozen=True, kw_only=True, tag="comparison"):
    """``before`` alone, on the right, is the value before of the fact on the left."""

    operator: Literal["<=", "<", ">=", ">", "==", "!="]
    measured: Operand
    bound: Operand


class Combination(msgspec.Struct, frozen=True, kw_only=True, tag="combination"):
    """``and``, ``or`` over parts; ``not`` over one."""

    word: Literal["and", "or", "not"]
    parts: tuple[Expression, ...]


Expression: TypeAlias = Comparison | Combination


class Expectation(msgspec.Struct, frozen=True, kw_only=True):
    """A rule of the user's own: it fires where the expression is false, and cannot judge where a fact is unknown."""

    code: str
    """Like ``MY001``: no code of a plugin's rule."""
    text: str
    """The expression as written."""
    expression: Expression
    level: Level = "error"
    title: str = ""
    selection: Selection = Selection()
    if_known: bool = False
    """Whether a kernel of which the fact is not known is passed over; else it could not be judged (bit 2)."""


class Override(msgspec.Struct, frozen=True, kw_only=True):
    """Other levels and tolerances for some kernels; the last that matches wins."""

    selection: Selection
    levels: dict[str, Level] = {}
    tolerances: dict[str, Tolerance] = {}
    where: str = ""
    """``irdiff.toml: check.override 2``."""


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """How strict the gate is. Without a file: every rule at its default level."""

    path: str | None = None
    """File it was read from."""
    accepted: str | None = None
    """File of accepted changes that the policy names."""
    baseline: str | None = None
    """Baseline that the policy names."""
    selection: Selection = Selection()
    """Kernels that are judged at all."""
    levels: dict[str, Level] = {}
    """By rule code or glob over codes (``LAY*``): exact before glob, a later glob before an earlier."""
    forced: dict[str, Level] = {}
    """As ``levels``, from the command line (``--rule``): wins over everything."""
    tolerances: dict[str, Tolerance] = {}
    """By rule code."""
    expectations: tuple[Expectation, ...] = ()
    overrides: tuple[Override, ...] = ()
    estimates: bool = False
    """Whether a fact that is an estimate may fail a build; else its finding is a warning."""
    require: tuple[str, ...] = ()
    """Stages that every kernel must hold, on both sides (``--require``)."""
