"""Baselines: facts and fingerprints of compiled kernels as text that diffs well, and changes that were accepted."""

from __future__ import annotations
