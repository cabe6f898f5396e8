"""A report is kept by what files held when they were hashed: not where another content was read before."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import corpus
import irdiff.cli.compare as comparing
from irdiff.cli import remembered
from irdiff.cli.trees import Watch
from irdiff.engine.summarize import Reader


def compared(sides: list[Path], output: Path) -> bytes:
    comparing.run_compare(
        (str(sides[0]), str(sides[1])),
        recent=None,
        forms=("json",),
        outputs=(output,),
        no_normalize=frozenset(),
        everything=False,
        unpaired=False,
        exit_code=False,
        external=False,
    )
    return output.read_bytes()


@pytest.fixture
def sides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    monkeypatch.setenv("IRDIFF_STORE", str(tmp_path / "store.db"))
    monkeypatch.setattr(remembered, "is_plain", lambda path: True)  # whatever finders other tests left behind
    return [
        Path(shutil.copytree(corpus.PAIRS / "divisibility" / side, tmp_path / side))
        for side in ("before", "after")
    ]


@pytest.mark.parametrize(("owner", "name"), [(comparing, "_inputs"), (Reader, "begin")])
def test_a_file_rewritten_before_it_was_hashed_leaves_no_report_behind(
    sides: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: object, name: str
) -> None:
    """The target is read from the JSON when the trees are loaded, and its bytes again when all files are hashed."""
    (cubin,) = sides[1].rglob("*.cubin")
    file = cubin.with_suffix(".json")
    inner = getattr(owner, name)

    def then_rewritten(*given: object, **more: object) -> object:
        made = inner(*given, **more)
        data = file.read_bytes()
        changed = re.sub(rb'("arch": )\d\d', rb"\g<1>80", data)
        assert changed != data
        assert len(changed) == len(data)
        file.write_bytes(changed)
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, name, then_rewritten)
        first = compared(sides, tmp_path / "first.json")
    second = compared(sides, tmp_path / "second.json")
    assert second != first
    monkeypatch.setenv("IRDIFF_STORE", str(tmp_path / "another.db"))
    assert second == compared(sides, tmp_path / "anew.json")


def test_what_was_read_is_held_against_what_is_read_later(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("a")
    other.write_text("a")
    watch = Watch()
    watch.read(str(one))
    watch.read(str(one))
    assert not watch.changed
    watch.rest()
    other.write_text("b")
    watch.read(str(other))
    assert not watch.changed
    one.write_text("b")
    watch.read(str(one))
    assert watch.changed
