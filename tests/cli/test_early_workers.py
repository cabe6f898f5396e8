"""Workers are started as soon as files differ in size, and not where a report may be remembered."""

from __future__ import annotations

from pathlib import Path

import pytest

import corpus
from irdiff.cli import remembered, session
from irdiff.cli.compare import run_compare
from irdiff.cli.work import Work
from irdiff.engine.unit import Settings

LARGE = "// a comment\n" * 100_000


class Noted:
    """What the local pool is in these tests: it notes that workers are started."""

    workers = 2
    ready = False
    started: list[int]

    def start(self, settings: Settings, *, most: int | None = None) -> None:
        self.started.append(most or 0)

    def close(self) -> None:
        pass


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """How many workers were started, each time."""
    noted = Noted()
    noted.started = []
    monkeypatch.setattr(session, "local_pool", lambda work: noted)
    monkeypatch.setenv("IRDIFF_STORE", str(tmp_path / "store.db"))
    monkeypatch.setattr(remembered, "is_plain", lambda path: True)  # whatever finders other tests left behind
    return noted.started


@pytest.fixture
def sides(tmp_path: Path) -> list[Path]:
    """A kernel's PTX in two folders, on one side longer by two megabytes of comments."""
    (ptx,) = (corpus.PAIRS / "divisibility" / "before").rglob("*.ptx")
    made = []
    for side, more in (("before", ""), ("after", LARGE + LARGE)):
        folder = tmp_path / side
        folder.mkdir()
        (folder / ptx.name).write_text(ptx.read_text() + more)
        made.append(folder)
    return made


def compared(sides: list[Path]) -> None:
    given = dict.fromkeys(("everything", "unpaired", "exit_code"), False)
    paths = (str(sides[0]), str(sides[1]))
    run_compare(
        paths,
        recent=None,
        forms=("json",),
        outputs=(sides[0].parent / "report.json",),
        no_normalize=frozenset(),
        external=False,
        work=Work(),
        **given,  # type: ignore[arg-type]
    )


def test_workers_start_for_what_is_new_and_not_for_what_is_remembered(
    started: list[int], sides: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session.Session, "_pool", lambda self: None)
    compared(sides)
    assert started == [2]
    compared(sides)
    assert started == [2]
    with next(sides[1].glob("*.ptx")).open("a") as file:
        file.write(LARGE)
    compared(sides)
    assert len(started) == 2


def test_none_start_where_little_differs(
    started: list[int], sides: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session.Session, "_pool", lambda self: None)
    (before,) = sides[0].glob("*.ptx")
    (after,) = sides[1].glob("*.ptx")
    after.write_text(before.read_text() + "// more\n")
    compared(sides)
    assert started == []
