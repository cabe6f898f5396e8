"""The hooks a plugin may implement: seven register something, one takes part in explaining."""

from __future__ import annotations

from collections.abc import Sequence

import pluggy

from irdiff.model.report import KernelReport
from irdiff.model.specs import (
    DerivedSpec,
    Explanation,
    KindSpec,
    RendererSpec,
    RuleSpec,
    SourceSpec,
    StageSpec,
    ToolSpec,
)

hookspec = pluggy.HookspecMarker("irdiff")


@hookspec
def irdiff_stages() -> Sequence[StageSpec]:
    """Stages of a compiler: how to read their artifacts and what can be said of them."""
    raise NotImplementedError


@hookspec
def irdiff_derived_facts() -> Sequence[DerivedSpec]:
    """Facts computed from the facts of several stages, such as occupancy."""
    raise NotImplementedError


@hookspec
def irdiff_sources() -> Sequence[SourceSpec]:
    """Kinds of input beyond Triton's own trees and files."""
    raise NotImplementedError


@hookspec
def irdiff_tools() -> Sequence[ToolSpec]:
    """External programs that stages use, and where to look for them."""
    raise NotImplementedError


@hookspec
def irdiff_value_kinds() -> Sequence[KindSpec]:
    """Kinds of values beyond the standard ones, each with its comparison and rendering."""
    raise NotImplementedError


@hookspec
def irdiff_rules() -> Sequence[RuleSpec]:
    """Checks that a changed fact can fail."""
    raise NotImplementedError


@hookspec
def irdiff_renderers() -> Sequence[RendererSpec]:
    """Output formats for a report."""
    raise NotImplementedError


@hookspec
def irdiff_explain(kernel: KernelReport) -> Explanation | None:
    """Say why a kernel changed; the answer with the highest priority is shown."""
    raise NotImplementedError
