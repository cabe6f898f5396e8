"""The one module a plugin may import.

A plugin is an importable object (a module, usually) named by an entry point in the group ``irdiff``. It says
which version of this API it was written for (``irdiff_api_version = 1``) and implements some of the hooks of
:mod:`irdiff.hookspecs`, each marked with :data:`hookimpl`.
"""

from __future__ import annotations

from irdiff.errors import IrdiffError, ParseError, ToolError
from irdiff.marker import HookImplementation
from irdiff.model.bundle import Artifact, Bundle, Target
from irdiff.model.facts import Better, Exactness, Fact, FactSpec, Scalar, Scope, Value
from irdiff.model.gate import Judgement, Tolerance
from irdiff.model.issues import Issue, Severity
from irdiff.model.loops import Loop, find_loops
from irdiff.model.patterns import PatternFact, with_pattern_facts
from irdiff.model.report import Change, KernelRef, KernelReport, Report
from irdiff.model.rules import Fired, RuleExample, RuleSpec, RuleView
from irdiff.model.specs import (
    ACTIONS,
    Carrier,
    Context,
    DerivedSpec,
    EntryInfo,
    Explanation,
    FactView,
    KindSpec,
    Normalization,
    Part,
    RendererSpec,
    SourceContext,
    SourceSpec,
    StageLookup,
    StageSpec,
    never_expected,
)
from irdiff.model.summary import Canonical, Coverage, Summary
from irdiff.model.text import text_of
from irdiff.model.tools import Tool, Toolbox, ToolResult, ToolSpec

API_VERSION = 1
"""Raised when a plugin written for an earlier version may no longer work; additions do not raise it."""

hookimpl = HookImplementation()
"""Marks a function of a plugin as the implementation of a hook, as ``pluggy.HookimplMarker("irdiff")`` does."""

__all__ = [
    "ACTIONS",
    "API_VERSION",
    "Artifact",
    "Better",
    "Bundle",
    "Canonical",
    "Carrier",
    "Change",
    "Context",
    "Coverage",
    "DerivedSpec",
    "EntryInfo",
    "Exactness",
    "Explanation",
    "Fact",
    "FactSpec",
    "FactView",
    "Fired",
    "IrdiffError",
    "Issue",
    "Judgement",
    "KernelRef",
    "KernelReport",
    "KindSpec",
    "Loop",
    "Normalization",
    "ParseError",
    "Part",
    "PatternFact",
    "RendererSpec",
    "Report",
    "RuleExample",
    "RuleSpec",
    "RuleView",
    "Scalar",
    "Scope",
    "Severity",
    "SourceContext",
    "SourceSpec",
    "StageLookup",
    "StageSpec",
    "Summary",
    "Target",
    "Tolerance",
    "Tool",
    "ToolError",
    "ToolResult",
    "ToolSpec",
    "Toolbox",
    "Value",
    "find_loops",
    "hookimpl",
    "never_expected",
    "text_of",
    "with_pattern_facts",
]
