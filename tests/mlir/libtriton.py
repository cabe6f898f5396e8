"""The oracle: libtriton's own MLIR parser, which needs no GPU."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

RELEASE = "3.6.0"
"""The release the test environment has; its parser reads its own dialects only."""


def require() -> None:
    """Skip where libtriton cannot be had; where CI runs on Linux it must be there."""
    if importlib.util.find_spec("triton") is not None:
        return
    if os.environ.get("CI") and sys.platform == "linux":
        pytest.fail(f"triton {RELEASE} is not installed: the oracle of the MLIR stages is required in CI")
    pytest.skip(f"triton {RELEASE} is not installed: libtriton's parser cannot be asked")


def operations(path: Path) -> list[tuple[str, tuple[str, ...]]]:
    """(name, types of its results with every alias written out) of each operation, in the order of a walk."""
    require()
    from triton._C.libtriton import amd, ir, nvidia

    loaded = ir.context()
    ir.load_dialects(loaded)
    nvidia.load_dialects(loaded)
    amd.load_dialects(loaded)
    module = ir.parse_mlir_module(str(path), loaded)
    module.context = loaded
    found: list[tuple[str, tuple[str, ...]]] = []
    module.walk(
        lambda op: found.append(
            (op.get_name(), tuple(str(op.get_result(at).get_type()) for at in range(op.get_num_results())))
        )
    )
    return found
