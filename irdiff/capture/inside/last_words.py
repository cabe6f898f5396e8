# ruff: noqa: PTH100, PTH120
"""The last words of a program that needed a GPU: the line, why, and what to write instead."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any

from .pretended import NeedsGpuError
from .recorder import Recorder

VALUES = (
    "DataDependentOutputException",
    "DynamicOutputShapeException",
    "UnsupportedOperatorException",
    "UnsupportedFakeTensorException",
)
"""What torch raises where a fake tensor's values are asked for (``torch/_subclasses/fake_tensor.py``)."""
AUTOGRAD = "accelerator device when none"
MISSING = (
    "Torch not compiled with CUDA",
    "not linked with support for cuda",
    "CUDA generator",
    "dummy base class",
    "No CUDA GPUs are available",
    "Found no NVIDIA driver",
)
"""What torch says where a part of it needs a device, or a build for one."""
INSTEAD = "put it behind `if not os.environ.get('IRDIFF_COMPILE_ONLY'):`, or run the script where a GPU is"


def explain(recorder: Recorder, before: Any, kind: Any, error: Any, trace: Any) -> None:
    """The last words of a program that needed a GPU: the line, why, and what to write instead."""
    reason = needed(error)
    if reason is None:
        before(kind, error, trace)
        return
    frames = traceback.extract_tb(trace)
    outside = [frame for frame in frames if not foreign(frame.filename)] or list(frames)
    where = outside[-1] if outside else None
    place = f"{where.filename}:{where.lineno}: " if where else ""
    recorder.tell("stopped", file=where and where.filename, line=where and where.lineno, reason=reason)
    lines = [f"irdiff: {place}{reason}"]
    if where and where.line:
        lines.append(f"    {where.line}")
    lines.append("  without a GPU nothing is executed: tensors have shapes, types and strides, and no values")
    lines.append(f"  {INSTEAD}")
    sys.stderr.write("\n".join(lines) + "\n")


def needed(error: BaseException | None) -> str | None:
    """What of a GPU an exception, or one that caused it, missed."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        text = str(error)
        if isinstance(error, NeedsGpuError):
            return text
        if type(error).__name__ in VALUES:
            return f"needs the values of a tensor ({text.splitlines()[0] if text else type(error).__name__})"
        if AUTOGRAD in text:
            return "needs a GPU: torch's backward pass runs on streams of a device; call the backward kernels yourself"
        if any(each in text for each in MISSING):
            return f"needs a GPU ({text.splitlines()[0]})"
        error = error.__cause__ or error.__context__
    return None


def foreign(path: str) -> bool:
    """Whether a file is not the user's own: an installed package, Python's library, this file."""
    here = os.path.dirname(os.path.abspath(__file__))
    installed = any(part in path.replace(os.sep, "/") for part in ("/site-packages/", "/lib/python3"))
    return installed or path.startswith((here, "<"))
