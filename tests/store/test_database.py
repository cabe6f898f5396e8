"""The store as a file: shared by processes, capped, begun anew where it is damaged, and never in the way."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corpus
from irdiff.errors import UsageError
from irdiff.store.database import Database
from irdiff.store.location import cap, place

WRITER = """
import sys
from pathlib import Path
from irdiff.store.database import Database
told = []
for turn in range(20):
    store = Database(Path(sys.argv[1]), cap=1 << 20, warn=told.append)
    keys = [f"{sys.argv[2]}-{turn}-{n}" for n in range(20)]
    assert store.put([(key, "d", key.encode() * 9) for key in keys]), told
    assert store.known(keys) == dict.fromkeys(keys, "d")
    assert all(store.get(key) == key.encode() * 9 for key in keys)
    store.close()
assert not told, told
"""


def opened(path: Path, size: int = 1 << 20, **more: object) -> Database:
    return Database(path, cap=size, **more)  # type: ignore[arg-type]


def test_several_processes_make_and_fill_one_store(tmp_path: Path) -> None:
    path = tmp_path / "new" / "store.db"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, path, name], cwd=corpus.ROOT) for name in "abc"
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    store = opened(path)
    assert store.contents().entries == 3 * 20 * 20
    store.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


def test_what_was_not_used_for_longest_goes_first_where_there_is_too_much(tmp_path: Path) -> None:
    now = [1_000_000.0]
    path = tmp_path / "store.db"
    for number in range(10):
        store = opened(path, 5000, clock=lambda: now[0])
        store.put([(f"k{number}", "", b"x" * 1000)])
        now[0] += 7200
        store.known(["k0"])  # in use all the time
        store.close()
    store = opened(path, 5000)
    left = store.known([f"k{number}" for number in range(10)])
    store.close()
    assert "k0" in left
    assert "k9" in left
    assert len(left) <= 5
    assert set(left) - {"k0"} == {f"k{number}" for number in range(11 - len(left), 10)}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 1 << 30), st.sampled_from(["flip", "cut", "zero", "text"]))
def test_a_damaged_store_is_begun_anew_or_serves_what_was_put_there(seed: int, how: str) -> None:
    import tempfile

    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store.db"
        told: list[str] = []
        store = opened(path, warn=told.append)
        rows = {f"k{n}": bytes([n]) * chance.randrange(1, 5000) for n in range(30)}
        store.put([(key, "d", data) for key, data in rows.items()])
        store.close()
        data = bytearray(path.read_bytes())
        if how == "flip":
            for _ in range(50):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        path.write_bytes(
            {
                "flip": data,
                "cut": data[: chance.randrange(len(data))],
                "zero": bytes(len(data)),
                "text": b"x" * 9999,
            }[how]
        )
        store = opened(path, warn=told.append)
        store.known(list(rows))
        for key in rows:
            store.get(key)
        store.put([("more", "d", b"more")])
        kept = store.get("more")
        store.close()
        again = opened(path, warn=told.append)
        assert again.get("more") in (None, kept)
        again.close()
        assert len(told) <= 2, told
        if how == "text":
            assert kept == b"more"
            assert "begun anew" in told[0]


def test_another_programs_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE entry (key TEXT, theirs TEXT)")
        connection.execute("INSERT INTO entry VALUES ('a', 'b')")
    connection.close()
    told: list[str] = []
    store = opened(path, warn=told.append)
    assert not store.put([("k", "", b"x")])
    assert store.known(["a"]) == {}
    store.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT * FROM entry").fetchall() == [("a", "b")]
    connection.close()
    (text,) = told
    assert "another program" in text


def test_a_place_that_cannot_be_written_costs_one_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "store.db", tmp_path):
        told: list[str] = []
        store = opened(path, warn=told.append)
        assert not store.put([("k", "", b"x")])
        assert store.get("k") is None
        store.close()
        assert len(told) == 1


def test_a_full_disk_keeps_nothing_and_breaks_nothing(tmp_path: Path) -> None:
    told: list[str] = []
    store = opened(tmp_path / "store.db", warn=told.append)
    assert store.put([("k", "d", b"x")])
    assert store._connection is not None
    store._connection.execute("PRAGMA max_page_count=12")
    assert not store.put([("large", "", os.urandom(1 << 20))])
    assert store.get("k") == b"x"
    store.close()
    (text,) = told
    assert "cannot be written" in text


def test_emptying_gives_the_room_back(tmp_path: Path) -> None:
    store = opened(tmp_path / "store.db", 1 << 30)
    store.put([(f"k{n}", "", os.urandom(10_000)) for n in range(200)])
    full = store.contents()
    store.clear()
    empty = store.contents()
    store.close()
    assert (full.entries, empty.entries) == (200, 0)
    assert empty.size < full.size / 10


@pytest.mark.parametrize(
    ("settings_given", "expected"),
    [
        ({"IRDIFF_STORE": "off", "HOME": "/h"}, None),
        ({"IRDIFF_STORE": "/x/y.db", "HOME": "/h"}, "/x/y.db"),
        ({"IRDIFF_STORE": "/x/", "HOME": "/h"}, "/x/store.db"),
        ({"XDG_CACHE_HOME": "/c", "HOME": "/h"}, "/c/irdiff/store.db"),
        ({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/irdiff/store.db"),
        ({}, None),
    ],
)
def test_the_store_lies_where_the_environment_says(
    settings_given: dict[str, str], expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    found = place(settings_given)
    assert (None if found is None else str(found)) == expected
    monkeypatch.setattr(sys, "platform", "darwin")
    if "HOME" in settings_given and "IRDIFF_STORE" not in settings_given:
        assert str(place(settings_given)) == "/h/Library/Caches/irdiff/store.db"


def test_a_size_is_a_number_with_a_unit() -> None:
    assert [cap({"IRDIFF_STORE_SIZE": text}) for text in ("", "10", "5k", "500M", "2GB", "1 GiB")] == [
        2 << 30,
        10,
        5 << 10,
        500 << 20,
        2 << 30,
        1 << 30,
    ]
    for text in ("-1", "much", "1.5G"):
        with pytest.raises(UsageError):
            cap({"IRDIFF_STORE_SIZE": text})
