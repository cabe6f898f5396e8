"""Comparing with a store says what comparing without one says; what it rests on decides what is taken from it."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from pathlib import Path

import msgspec
import pytest

import corpus
from command import Result, irdiff
from irdiff.engine.compare import Comparer, Side
from irdiff.engine.summarize import Reader
from irdiff.model.codec import encode
from irdiff.store.answers import StoredAnswers, checked, marked
from irdiff.store.code import digest_of, packages_beside
from irdiff.store.database import Database
from toy_stages import NoTools, bundle, registry, stage

BEFORE, AFTER = corpus.PAIRS / "spills" / "before", corpus.PAIRS / "spills" / "after"


def compare(store: Path, *more: str, before: Path = BEFORE, after: Path = AFTER, **env: str) -> Result:
    return irdiff(
        "compare", before, after, "--format", "json", *more, env={"IRDIFF_STORE": str(store), **env}
    )


def entries(store: Path) -> int:
    with sqlite3.connect(store) as connection:
        (count,) = connection.execute("SELECT count(*) FROM entry").fetchone()
    connection.close()
    return int(count)


def test_a_second_comparison_says_the_same_and_adds_nothing(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    without = compare(store, "--no-store")
    assert not store.exists()
    first = compare(store)
    count = entries(store)
    second = compare(store)
    assert without.out == first.out == second.out
    assert (first.err, second.err) == ("", "")
    assert entries(store) == count > 5


def test_a_finished_comparison_loads_no_plugin(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    env = {"IRDIFF_STORE": str(store), "PYTHONPROFILEIMPORTTIME": "1"}
    loaded = []
    for _ in range(2):
        imports = irdiff("compare", BEFORE, AFTER, env=env).err
        loaded.append({line.rpartition("|")[2].strip() for line in imports.splitlines()})
    cold, warm = loaded
    assert "irdiff_ptx.specs" in cold
    assert not {
        name for name in warm if name.startswith(("irdiff_", "pluggy", "tree_sitter", "typer", "rich"))
    }


def test_one_changed_file_is_seen(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    after = tmp_path / "after"
    shutil.copytree(BEFORE, after)
    assert json.loads(compare(store, after=after).out)["verdict"] == "identical"
    (ptx,) = after.rglob("*.ptx")
    ptx.write_text(ptx.read_text().replace("add.s64", "sub.s64", 1))
    changed = json.loads(compare(store, after=after).out)
    assert changed["verdict"] == "changed"
    assert changed == json.loads(compare(store, "--no-store", after=after).out)


def test_other_options_and_settings_are_other_comparisons(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    sides = {"before": tmp_path / "b", "after": tmp_path / "a"}
    for name, source in (("before", BEFORE), ("after", AFTER)):
        sides[name].mkdir()
        (ptx,) = source.rglob("*.ptx")
        shutil.copy(ptx, sides[name])
    said = set()
    for more in ((), ("--no-normalize", "register-names"), ("--ir", "ptx")):
        first, second = (compare(store, *more, **sides).out for _ in range(2))
        assert first == second == compare(store, *more, "--no-store", **sides).out
        said.add(first)
    assert len(said) > 1


def test_a_tool_that_was_not_there_is_asked_again(tmp_path: Path) -> None:
    """What was not disassembled for want of a tool is not remembered as all there is to say."""
    store = tmp_path / "store.db"
    nothing = tmp_path / "no-tool"
    nothing.write_text("#!/bin/sh\nexit 1\n")
    nothing.chmod(0o700)
    hidden = {"IRDIFF_NVDISASM": str(nothing), "PATH": os.environ["PATH"]}
    compare(store, **hidden)
    assert compare(store).out == compare(store, "--no-store").out


def test_a_damaged_store_changes_nothing_but_one_note(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    first = compare(store)
    store.write_bytes(b"\0" * 5000)
    for beside in store.parent.glob("store.db-*"):
        beside.unlink()
    second = compare(store)
    assert second.out == first.out
    assert second.err.count("\n") <= 1
    assert compare(store).out == first.out


def stored(database: Database, code: str = "code") -> StoredAnswers:
    made = StoredAnswers(database, registry().stages, {"one": "toy 1"}, [], lambda tool: f"{tool} 1")
    made._code = code
    return made


def test_an_answer_goes_by_all_that_it_depends_on(tmp_path: Path) -> None:
    database = Database(tmp_path / "store.db", cap=1 << 20)
    one = stage("one")
    none: frozenset[str] = frozenset()
    keys = [
        stored(database).key(one, ".one", "a" * 64, none, none),
        stored(database).key(one, ".one", "b" * 64, none, none),
        stored(database).key(one, ".other", "a" * 64, none, none),
        stored(database).key(one, ".one", "a" * 64, frozenset({"comments"}), none),
        stored(database).key(one, ".one", "a" * 64, none, frozenset({"one.adds"})),
        stored(database, "other code").key(one, ".one", "a" * 64, none, none),
        stored(database).key(stage("two"), ".one", "a" * 64, none, none),
        stored(database).key(msgspec.structs.replace(one, needs=("tool",)), ".one", "a" * 64, none, none),
    ]
    assert len(set(keys)) == len(keys)
    unrelated = stored(database).key(one, ".one", "a" * 64, frozenset({"of-another-stage"}), none)
    assert unrelated == keys[0]


def test_an_edited_plugin_is_another_plugin(tmp_path: Path) -> None:
    for name in ("irdiff_mine", "irdiff_helper"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("x = 1\n")
    packages = packages_beside([str(tmp_path / "irdiff_mine")])
    seen = {digest_of(packages, [])}
    helper = tmp_path / "irdiff_helper" / "__init__.py"
    helper.write_text("x = 22\n")
    seen.add(digest_of(packages, []))
    os.utime(helper, (1, 1))
    seen.add(digest_of(packages, []))
    (tmp_path / "irdiff_mine" / "more.py").write_text("")
    seen.add(digest_of(packages, []))
    installed = tmp_path / "site" / "mine-1.0.dist-info"
    for version in ("1.0", "1.1"):
        installed = tmp_path / version / f"mine-{version}.dist-info"
        installed.mkdir(parents=True)
        (installed / "METADATA").write_text(f"Name: mine\nVersion: {version}\nRequires-Dist: parser (>=1)\n")
        (installed / "entry_points.txt").write_text("[irdiff]\nmine = irdiff_mine\n")
        seen.add(digest_of(packages, [str(tmp_path / version)]))
    (tmp_path / "1.1" / "parser-2.dist-info").mkdir()
    seen.add(digest_of(packages, [str(tmp_path / "1.1")]))
    (tmp_path / "1.1" / "unrelated-2.dist-info").mkdir()
    assert digest_of(packages, [str(tmp_path / "1.1")]) in seen
    assert len(seen) == 7


def test_bytes_that_were_not_put_there_are_not_taken() -> None:
    data = marked("key", b"answer")
    assert checked("key", data) == b"answer"
    for wrong in (b"", data[:-1], data + b"x", data[:3], marked("other", b"answer")):
        assert checked("key", wrong) is None


@pytest.mark.parametrize("text", ["BUG", "BROKEN"])
def test_what_failed_is_tried_again_and_what_is_damaged_is_read_again(tmp_path: Path, text: str) -> None:
    reports = []
    for turn in range(3):
        database = Database(tmp_path / "store.db", cap=1 << 20)
        using = registry()
        reader = Reader(using, NoTools(), canonical=True, store=stored(database))
        sides = reader.read_both(
            [bundle(one="add x", two="add x")], [bundle(one=text, two="spill x")], lazy=True
        )
        report = Comparer(using, reader).compare(
            *(Side(described="", kernels=tuple(kernels)) for kernels in sides)
        )
        reports.append(encode(report))
        assert reader.lasting == (text != "BUG" or turn > 5)
        if turn == 1:
            rows = database._ask("SELECT key FROM entry", ())
            assert len(rows) == (3 if text == "BUG" else 4)
            assert database.put([(key, "f" * 64, b"damaged") for (key,) in rows])
        database.close()
    assert len(set(reports)) == 1
