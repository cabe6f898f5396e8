"""Small inputs are read, and compared, by other processes too in these tests."""

from __future__ import annotations

import pytest

from irdiff.engine import answers, elsewhere


@pytest.fixture(autouse=True)
def no_input_is_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "POOL_FROM", 0)
    monkeypatch.setattr(elsewhere, "READY_FROM", 0)
    monkeypatch.setattr(elsewhere, "BATCH", 1)
