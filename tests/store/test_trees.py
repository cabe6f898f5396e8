"""Digests of two folders: each file's own, whatever its namesake on the other side holds."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from irdiff.cli.trees import Sizes, Trees, scans_of, trees

CONTENTS = st.sampled_from([b"", b"a", b"b", b"ab", b"ba", b"a" * 70_000, b"a" * 69_999 + b"b"])
FOLDERS = st.dictionaries(st.sampled_from(["one", "two", "deep/one"]), CONTENTS, max_size=3)


def found_in(*paths: Path) -> Trees:
    names = [str(path) for path in paths]
    scans = scans_of(names)
    assert scans is not None
    found = trees(names, scans)
    assert found is not None
    return found


def written(root: Path, folders: dict[str, bytes]) -> dict[str, bytes]:
    root.mkdir()
    made = {}
    for name, content in folders.items():
        file = root / name / "k.ptx"
        file.parent.mkdir(parents=True)
        file.write_bytes(content)
        made[str(file)] = content
    return made


@given(FOLDERS, FOLDERS)
@settings(max_examples=150, deadline=None)
def test_every_file_has_its_own_digest_and_what_is_on_one_side_only_is_counted(
    before: dict[str, bytes], after: dict[str, bytes]
) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        sides = [written(root / "before", before), written(root / "after", after)]
        found = found_in(root / "before", root / "after")
        sizes = Sizes(scans_of([str(root / "before"), str(root / "after")]) or [])
    assert found.files == {
        name: hashlib.sha256(content).hexdigest() for side in sides for name, content in side.items()
    }
    held = [set(side.values()) for side in sides]
    assert found.different == sum(len(content) for content in held[0] ^ held[1])
    lengths = [sorted(length for length in map(len, side.values()) if length) for side in sides]
    assert (sizes.different == 0) == (lengths[0] == lengths[1])


def test_a_folder_against_itself_is_read_once(tmp_path: Path) -> None:
    written(tmp_path / "one", {"a": b"x", "b": b"y"})
    found = found_in(tmp_path / "one", tmp_path / "one")
    assert len(found.files) == 2
    assert found.different == 0


def test_a_folder_against_one_that_it_lies_in_has_every_digest(tmp_path: Path) -> None:
    made = written(tmp_path / "one", {"a": b"x", "b": b"y"})
    found = found_in(tmp_path, tmp_path / "one")
    assert found.files == {name: hashlib.sha256(content).hexdigest() for name, content in made.items()}
