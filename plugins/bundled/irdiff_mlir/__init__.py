"""The reader of MLIR text that the Triton stages share: source, TTIR and TTGIR."""

from __future__ import annotations
