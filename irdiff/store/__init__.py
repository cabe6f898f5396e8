"""The local store: answers of stages and finished reports, by everything that they depend on."""

from __future__ import annotations
