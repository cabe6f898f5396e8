"""What may stand in a configuration file: the types behind its checks and its JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from irdiff.config.facts import FactTable
from irdiff.model.gate import Level

Level_ = Annotated[Level, Meta(description="error fails the build, warn is told, off is not")]
Globs = Annotated[str | list[str], Meta(description="one glob or several; `*` and `?`, case-sensitive")]


class ToleranceTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How far a number may move before a rule fires; either allowance is enough."""

    absolute: Annotated[float, Meta(ge=0, description="in the unit of the fact")] = 0.0
    percent: Annotated[float, Meta(ge=0, description="of the value before")] = 0.0


class ExpectTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A rule of your own: it fires where the expression is false."""

    code: Annotated[str, Meta(description="letters and three digits: MY001", pattern="^[A-Z]{2,8}[0-9]{3}$")]
    expect: Annotated[
        str, Meta(description="`sass.registers <= 168`, `kernel.occupancy >= before`; and, or, not, ( )")
    ]
    level: Level_ = "error"
    title: str = ""
    kernels: Globs = []
    exclude: Globs = []
    targets: Globs = []
    if_known: Annotated[
        bool, Meta(description="pass over kernels that do not record the fact, instead of failing closed")
    ] = False


class OverrideTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Other levels and tolerances for some kernels; the last that matches wins."""

    kernels: Globs = []
    exclude: Globs = []
    targets: Globs = []
    rules: Annotated[dict[str, Level_], Meta(description="rule code, or a glob over codes, to level")] = {}
    tolerance: dict[str, ToleranceTable] = {}
    why: Annotated[str, Meta(description="for the reader; not used")] = ""


class CheckTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How strict ``irdiff check`` is."""

    rules: Annotated[dict[str, Level_], Meta(description="rule code, or a glob over codes, to level")] = {}
    tolerance: Annotated[dict[str, ToleranceTable], Meta(description="by rule code")] = {}
    kernels: Annotated[Globs, Meta(description="kernels that are judged at all; all without it")] = []
    exclude: Globs = []
    targets: Annotated[Globs, Meta(description="targets that are judged at all: `cuda:90`, `cuda:*`")] = []
    expect: list[ExpectTable] = []
    override: list[OverrideTable] = []
    estimates: Annotated[bool, Meta(description="whether a fact that is an estimate may fail a build")] = (
        False
    )
    require: Annotated[list[str], Meta(description="stages that every kernel must hold on both sides")] = []
    baseline: Annotated[
        str | None, Meta(description="baseline that check compares with; relative to this file")
    ] = None
    accepted: Annotated[str | None, Meta(description="file of accepted changes; relative to this file")] = (
        None
    )


class KernelTable(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A kernel that ``irdiff compile`` and ``irdiff check --against`` compile; lists expand into a matrix."""

    file: str
    name: str = ""
    label: str = ""
    signature: str = ""
    set: dict[str, Any] = {}
    options: dict[str, Any] = {}
    num_warps: int | str | list[int] = 4
    num_stages: int | str | list[int] = 2
    num_ctas: int | str | list[int] = 1
    targets: str | list[str] = []
    needs: str | list[str] = []
    needs_triton: str = ""
    why: str = ""


class ConfigFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``irdiff.toml``, or ``[tool.irdiff]`` of ``pyproject.toml``."""

    check: CheckTable = CheckTable()
    kernel: list[KernelTable] = []
    fact: Annotated[list[FactTable], Meta(description="counting facts by a pattern")] = []
