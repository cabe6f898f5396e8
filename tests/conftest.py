"""Fixtures that every test may use."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

import corpus


@pytest.fixture(scope="session", autouse=True)
def no_store_of_the_users() -> Iterator[None]:
    """Nothing is taken from, or left in, a store outside the tests; a test of the store names one of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IRDIFF_STORE", "off")
        patch.delenv("COLUMNS", raising=False)  # a runner's own width is nobody's terminal
        yield


@pytest.fixture(scope="session")
def h200(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recorded H200 cache, unpacked."""
    if corpus.test_data() is None:
        pytest.skip(f"{corpus.SETTING} is not set: the recorded H200 cache is not here")
    return corpus.unpack_h200(tmp_path_factory.mktemp("h200"))


def pytest_configure() -> None:
    """Ctrl-C reaches what the tests start, though a shell that runs the suite in the background ignores it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
