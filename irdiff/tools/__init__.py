"""External programs: where they are, and running them without a shell and with limits."""

from __future__ import annotations

from irdiff.tools.toolbox import LocalToolbox

__all__ = ["LocalToolbox"]
