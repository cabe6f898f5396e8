"""A site with fake installed distributions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fake_site import Site, registers


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A site with irdiff itself (a stage ``base`` of suffix ``.base``) and a healthy plugin ``good``."""
    made = Site(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    made.install("irdiff", "0.1.0", base=registers("stages", 'stage("base", facts=(fact("base.size"),))'))
    made.install("irdiff-good", "2.0", good=registers("stages", 'stage("good", after=("base",))'))
    yield made
    for module in made.modules:
        sys.modules.pop(module, None)
