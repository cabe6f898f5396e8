"""Small inputs are read by other processes too in these tests."""

from __future__ import annotations

import pytest

from irdiff.engine import answers


@pytest.fixture(autouse=True)
def no_input_is_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "POOL_FROM", 0)
