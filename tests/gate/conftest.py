"""The calls of one test run share plugins and tools, so that neither is looked for a hundred times."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from irdiff.cli import session
from irdiff.plugins import load_plugins
from irdiff.registry import Registry
from irdiff.tools.toolbox import LocalToolbox


@pytest.fixture(scope="session")
def registry() -> Registry:
    """The bundled plugins."""
    return load_plugins(external=False)


@pytest.fixture(scope="session")
def tools(registry: Registry) -> Iterator[LocalToolbox]:
    """The tools of this machine."""
    made = LocalToolbox({tool.id: tool for tool in registry.tools}, os.environ)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def shared(monkeypatch: pytest.MonkeyPatch, registry: Registry, tools: LocalToolbox) -> None:
    """Commands called inside this process take both."""

    def loaded(*, external: bool) -> Registry:
        assert not external, "a test must not depend on what else is installed"
        return registry

    monkeypatch.setattr(session, "make_registry", loaded)
    monkeypatch.setattr(session, "LocalToolbox", lambda specs, environment: tools)
