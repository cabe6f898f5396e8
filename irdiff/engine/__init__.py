"""The engine: summarize, pair, compare, derive, explain. It computes and returns; it prints and opens nothing."""

from __future__ import annotations
