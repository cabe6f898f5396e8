"""Occupancy and resources against the driver of a GPU, where such a record is committed.

``tests/gpu/record.py`` makes it on a machine with a GPU: its ``kernels.json`` is then committed as
``fixtures/gpu/kernels.json``.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import corpus

RECORD = corpus.FIXTURES / "gpu" / "kernels.json"
FIELDS = {"registers": "sass.registers", "local": "sass.stack", "ctas_per_sm": "kernel.ctas_per_sm"}


def rows() -> list[dict[str, Any]]:
    """The kernels that the driver loaded."""
    return [
        row for row in json.loads(RECORD.read_text()) if row.get("driver") and not row["driver"].get("error")
    ]


@pytest.mark.skipif(
    not RECORD.exists(), reason="fixtures/gpu/kernels.json is not there: no run on a GPU was recorded"
)
@pytest.mark.parametrize(("field", "fact"), FIELDS.items())
def test_the_driver_says_the_same_of_every_recorded_kernel(field: str, fact: str) -> None:
    answered = [row for row in rows() if field in row["driver"]]
    assert len(answered) >= 30
    wrong = [
        (row["tree"], row["entry"], row["driver"][field], row["facts"].get(fact))
        for row in answered
        if row["driver"][field] != row["facts"].get(fact)
    ]
    assert not wrong
