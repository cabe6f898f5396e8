"""What the tests of the SASS stage share: this machine's tools, and artifacts of files."""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

import corpus
from irdiff.api import Artifact, Canonical, Context, Summary
from irdiff.tools import LocalToolbox
from irdiff_sass.plugin import NVDISASM, STAGE

Read = Callable[[Path], tuple[Summary, Canonical]]


def artifact(path: Path) -> Artifact:
    return Artifact(stage="sass", suffix=path.suffix, location=str(path), read=path.read_bytes)


def packaged(distribution: str, name: str) -> Path:
    """A program of a test dependency; a missing one fails the test."""
    for file in importlib.metadata.distribution(distribution).files or ():
        if file.name == name:
            return Path(str(file.locate()))
    raise AssertionError(f"{distribution} holds no {name}")


@pytest.fixture(scope="session")
def toolbox() -> LocalToolbox:
    box = LocalToolbox({NVDISASM.id: NVDISASM}, os.environ)
    assert box.find(NVDISASM.id), "the tests need the package nvidia-cuda-nvdisasm"
    return box


@pytest.fixture(scope="session")
def no_tools() -> LocalToolbox:
    return LocalToolbox({}, {})


@pytest.fixture(scope="session")
def cuobjdump() -> Path:
    return packaged("nvidia-cuda-cuobjdump", "cuobjdump")


@pytest.fixture(scope="session")
def cubins() -> tuple[Path, ...]:
    found = (*corpus.artifacts(".cubin"), *sorted((corpus.FIXTURES / "ptxas").glob("*.cubin")))
    assert len(found) >= 60
    return found


@pytest.fixture(scope="session")
def prepared(cubins: Sequence[Path], toolbox: LocalToolbox) -> Mapping[str, object]:
    """All committed cubins, decoded at once."""
    assert STAGE.prepare is not None
    return STAGE.prepare([artifact(path) for path in cubins], toolbox)


@pytest.fixture(scope="session")
def read(prepared: Mapping[str, object], toolbox: LocalToolbox) -> Read:
    """Summary and canonical form of a file, decoded."""

    def of(path: Path) -> tuple[Summary, Canonical]:
        file = artifact(path)
        context = Context(tools=toolbox, prepared=prepared.get(file.sha256))
        return STAGE.summarize(file, context), STAGE.canonical(file, context)

    return of
