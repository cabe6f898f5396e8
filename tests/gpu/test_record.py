"""On a machine with an NVIDIA GPU, PyTorch and Triton: ``pytest -m gpu tests/gpu``. Never in CI."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
from pathlib import Path

import pytest

RECORD = Path(__file__).parent / "record.py"


def no_gpu() -> bool:
    """Whether there is no driver here."""
    try:
        return ctypes.CDLL("libcuda.so.1").cuInit(0) != 0
    except OSError:
        return True


@pytest.mark.gpu
@pytest.mark.skipif(no_gpu(), reason="there is no NVIDIA GPU here")
def test_the_driver_agrees_on_every_kernel_of_three_programs(tmp_path):
    ended = subprocess.run(
        [sys.executable, str(RECORD), str(tmp_path)], capture_output=True, text=True, timeout=600
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    read = json.loads((tmp_path / "record.json").read_text())["steps"]["read"]["result"]
    assert read["compared"] >= 100
    assert read["agreeing"] == dict.fromkeys(("registers", "local", "ctas_per_sm"), read["compared"])
    assert read["specialization recorded"] == read["kernels"]
    both = json.loads((tmp_path / "record.json").read_text())["steps"]["both ways"]["result"]
    assert all(each["equal"] == each["in both"] == each["kernels"] for each in both.values())
