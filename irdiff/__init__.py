"""irdiff: what changed between two compilations of a Triton kernel, stage by stage, and where it began."""

from __future__ import annotations

__version__ = "0.1.0"
