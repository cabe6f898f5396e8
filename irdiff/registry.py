"""Registry: everything the loaded plugins registered, in one frozen value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypeAlias

import msgspec

from irdiff.model.facts import FactSpec
from irdiff.model.issues import Issue
from irdiff.model.report import KernelReport
from irdiff.model.rules import RuleSpec
from irdiff.model.specs import DerivedSpec, Explanation, KindSpec, RendererSpec, SourceSpec, StageSpec
from irdiff.model.tools import ToolSpec

PluginStatus: TypeAlias = Literal["loaded", "disabled", "skipped"]
"""``disabled``: the user said so; ``skipped``: something is wrong with it."""


class PluginProblem(msgspec.Struct, frozen=True, kw_only=True):
    """Why one plugin was skipped, or why its answer to one call was."""

    plugin: str
    """Name of the entry point."""
    distribution: str
    """Name of the installed distribution it came in; ``""`` where that is not recorded."""
    version: str
    """Version of the distribution; ``""`` where that is not recorded."""
    reason: str

    def line(self) -> str:
        """All of it in one printable line."""
        origin = (
            " ".join(part for part in (self.distribution, self.version) if part) or "unknown distribution"
        )
        return one_line(f"plugin {self.plugin} ({origin}) is skipped: {self.reason}")

    def issue(self) -> Issue:
        """The same for a report."""
        return Issue(
            severity="warning",
            code="plugin-skipped",
            message=self.line(),
            where=one_line(self.plugin),
            hint=f"update or uninstall {one_line(self.distribution)}" if self.distribution else None,
        )


class PluginInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One entry point that was found, loaded or not."""

    name: str
    """Name of the entry point."""
    distribution: str
    version: str
    bundled: bool
    """Whether it came in irdiff's own distribution."""
    status: PluginStatus
    reason: str = ""
    """Why it is not loaded."""
    registered: Mapping[str, tuple[str, ...]] = {}
    """What it registered: ``stages`` -> ids, ``rules`` -> codes ...; only what is not empty."""

    @property
    def origin(self) -> str:
        """``irdiff 0.1.0``."""
        return " ".join(part for part in (self.distribution, self.version) if part) or "unknown distribution"


GuardedExplainer: TypeAlias = Callable[[KernelReport], "Explanation | PluginProblem | None"]
"""A plugin's ``irdiff_explain`` that raises nothing: a failure is returned as the problem to report."""


class Registry(msgspec.Struct, frozen=True, kw_only=True):
    """What all plugins registered. It is a StageLookup."""

    stages: tuple[StageSpec, ...]
    """In the order of the compiler: a stage comes behind every stage in its ``after``."""
    facts: Mapping[str, FactSpec]
    """Every fact of every stage and of every derivation, by id."""
    derived: tuple[DerivedSpec, ...]
    sources: tuple[SourceSpec, ...]
    tools: tuple[ToolSpec, ...]
    kinds: Mapping[str, KindSpec]
    """The standard kinds and those of plugins, by id."""
    rules: tuple[RuleSpec, ...]
    renderers: tuple[RendererSpec, ...]
    explainers: tuple[GuardedExplainer, ...]
    plugins: tuple[PluginInfo, ...]
    """Every entry point found, by name."""
    problems: tuple[PluginProblem, ...]
    """One for each plugin that is not loaded though nobody disabled it."""
    owners: Mapping[str, PluginInfo]
    """Who registered a stage, a fact or a derivation, by its id."""
    not_there: tuple[str, ...] = ()
    """Names that were to be disabled and that no plugin has."""

    def stage(self, stage_id: str) -> StageSpec | None:
        """The stage of that id."""
        return next((stage for stage in self.stages if stage.id == stage_id), None)

    def stage_of(self, suffix: str) -> str | None:
        """Id of the stage that claims a suffix (with its dot)."""
        return next((stage.id for stage in self.stages if suffix in stage.suffixes), None)

    def stage_after(self, stage_id: str) -> tuple[str, ...]:
        """Registered stages that come before one, near or far, in the order of the compiler."""
        before = predecessors({stage.id: stage.after for stage in self.stages}, stage_id)
        return tuple(stage.id for stage in self.stages if stage.id in before)

    def is_final(self, suffix: str) -> bool:
        """Whether files of that suffix are machine code."""
        return any(stage.machine_code for stage in self.stages if suffix in stage.suffixes)


def predecessors(after: Mapping[str, Iterable[str]], start: str) -> frozenset[str]:
    """Everything reachable from ``start`` over ``after``; holds ``start`` itself only on a cycle."""
    found: set[str] = set()
    pending = list(after.get(start, ()))
    while pending:
        here = pending.pop()
        if here not in found:
            found.add(here)
            pending.extend(after.get(here, ()))
    return frozenset(found)


def pipeline_order(stages: Iterable[StageSpec]) -> tuple[StageSpec, ...]:
    """Sort stages so that each comes behind its ``after``: stages outside the pipeline first, then by id.

    Names in ``after`` that no stage has are passed over. The stages must hold no cycle.
    """
    waiting = {stage.id: stage for stage in stages}
    ordered: list[StageSpec] = []
    while waiting:
        ready = [stage for stage in waiting.values() if not any(name in waiting for name in stage.after)]
        first = min(ready, key=lambda stage: (stage.pipeline, stage.id))
        ordered.append(waiting.pop(first.id))
    return tuple(ordered)


def one_line(text: str, limit: int = 400) -> str:
    """Foreign text as one printable line of at most ``limit`` characters."""
    spaced = " ".join(text.split())
    shown = "".join(letter if letter.isprintable() else "?" for letter in spaced)
    return shown if len(shown) <= limit else f"{shown[: limit - 3]}..."


def said(error: BaseException) -> str:
    """Type and message of an exception; its message may itself fail."""
    try:
        return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    except Exception:  # noqa: BLE001  # __str__ of an exception that a plugin defined
        return type(error).__name__
