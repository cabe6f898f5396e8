"""Kernels compiled by the Triton of the tests' own interpreter, and a stand-in for an interpreter."""

from __future__ import annotations

import importlib.util
import os
import sys

import pytest

from compiling import FAKE


@pytest.fixture(scope="session")
def triton() -> None:
    """Triton is here. On Linux it is in the test dependencies, so that its absence is an error in CI."""
    if importlib.util.find_spec("triton") is None:
        if os.environ.get("CI") and sys.platform == "linux":
            pytest.fail("triton is not installed, though it is in the test dependencies")
        pytest.skip("triton is not installed (there are wheels for Linux alone)")


@pytest.fixture(scope="session")
def fake_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of an interpreter that runs ``fake_python.py`` whatever it is given."""
    script = tmp_path_factory.mktemp("fake") / "python"
    script.write_text(f"#!{sys.executable}\n{FAKE.read_text()}")
    script.chmod(0o755)
    return str(script)
