"""The stage TTGIR: a tile program with layouts, shared memory, asynchronous copies and matrix units."""

from __future__ import annotations
