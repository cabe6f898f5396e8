"""Fixtures that every test may use."""

from __future__ import annotations

from pathlib import Path

import pytest

import corpus


@pytest.fixture(scope="session")
def h200(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recorded H200 cache, unpacked."""
    if corpus.test_data() is None:
        pytest.skip(f"{corpus.SETTING} is not set: the recorded H200 cache is not here")
    return corpus.unpack_h200(tmp_path_factory.mktemp("h200"))
