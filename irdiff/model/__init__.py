"""The value types that every part of irdiff exchanges: frozen, typed, encodable as JSON."""

from __future__ import annotations
