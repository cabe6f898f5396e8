"""Compiling kernels with a Triton that runs in processes of its own: plan, workers, output tree."""

from __future__ import annotations
