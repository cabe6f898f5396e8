"""Sources: where compiled kernels come from (cache trees, dumps, single files, archives, logs), as bundles."""

from __future__ import annotations

from irdiff.sources.load import Loaded, load

__all__ = ["Loaded", "load"]
