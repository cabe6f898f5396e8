"""Registers the rules; order is by what they are about."""

from __future__ import annotations

from irdiff.api import RuleSpec, hookimpl
from irdiff_rules import build, layouts, memory, pipeline, resources, tensor

irdiff_api_version = 1


@hookimpl
def irdiff_rules() -> tuple[RuleSpec, ...]:
    """Every rule of irdiff itself."""
    parts = (resources, tensor, memory, pipeline, layouts, build)
    return tuple(rule for part in parts for rule in part.RULES)
