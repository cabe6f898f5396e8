"""The stages source and TTIR: a tile program before and after the optimizer of Triton's first dialect."""

from __future__ import annotations
