"""The PTX stage: what LLVM's code generator wrote, and ptxas reads."""

from __future__ import annotations
