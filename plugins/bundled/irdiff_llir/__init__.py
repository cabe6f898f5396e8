"""The LLVM IR stage: what Triton's lowering and LLVM's optimizer made of a kernel."""

from __future__ import annotations
