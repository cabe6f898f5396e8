"""Presentation: a report becomes a view (order, words, rounding), a view becomes text."""

from __future__ import annotations
