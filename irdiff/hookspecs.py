"""The hooks a plugin may implement: seven register something, one takes part in explaining.

A registering hook takes no argument, is called once when plugins are loaded, and returns a tuple or list of
specifications. It should do no work: import what is heavy inside the functions it registers. A hook that raises,
returns anything else, or registers an id that is taken gets its whole plugin skipped, with one line that says so.
"""

from __future__ import annotations

from collections.abc import Sequence

import pluggy

from irdiff.model.report import KernelReport
from irdiff.model.rules import RuleSpec
from irdiff.model.specs import DerivedSpec, Explanation, KindSpec, RendererSpec, SourceSpec, StageSpec
from irdiff.model.tools import ToolSpec

hookspec = pluggy.HookspecMarker("irdiff")


@hookspec
def irdiff_stages() -> Sequence[StageSpec]:
    """Stages of a compiler: how to read their artifacts and what can be said of them.

    A suffix belongs to one stage; ids of facts begin with the id of their stage and a dot. ``after`` should name
    every earlier stage, not the nearest alone: the order then holds where one of them is switched off.
    """
    raise NotImplementedError


@hookspec
def irdiff_derived_facts() -> Sequence[DerivedSpec]:
    """Facts computed from the facts of several stages, such as occupancy.

    Their ids begin with the name of the entry point, of the derivation, or of a stage of the same plugin.
    """
    raise NotImplementedError


@hookspec
def irdiff_sources() -> Sequence[SourceSpec]:
    """Kinds of input beyond Triton's own trees and files; the first that recognises a path loads it."""
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
    """Checks that a changed fact can fail, by the role of the fact."""
    raise NotImplementedError


@hookspec
def irdiff_renderers() -> Sequence[RendererSpec]:
    """Output formats for a report, each a pure function of it."""
    raise NotImplementedError


@hookspec
def irdiff_explain(kernel: KernelReport) -> Explanation | None:
    """Say why a kernel changed, or None; the answer with the highest priority is shown.

    Called once for each changed kernel. Where it raises, that answer is left out and a line names the plugin.
    """
    raise NotImplementedError
