"""``[[fact]]`` tables: a user's own counting facts in every command, and clear words for a table that cannot be."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import corpus
from command import irdiff
from irdiff.cli.main import main_with
from irdiff.config import find_config
from irdiff.config.facts import pattern_facts
from irdiff.errors import InputError, UsageError
from irdiff.model.patterns import PatternFact
from irdiff.plugins import load_plugins
from irdiff.user_facts import with_user_facts

TABLE = {"id": "ptx.my_adds", "title": "additions", "pattern": r"add\."}
CONFIG = r"""
[[fact]]
id = "ptx.my_adds"
title = "additions by type"
pattern = 'add\.(?P<key>\w+)'
better = "lower"
unit = "instructions"
role = "my-adds"
doc = "What our kernels must not do."

[[fact]]
id = "ttgir.my_splats"
title = "splats"
pattern = '%\d+ = tt\.splat'
"""
PAIR = (corpus.PAIRS / "divisibility/before", corpus.PAIRS / "divisibility/after")


def test_a_table_is_a_pattern_fact() -> None:
    (fact,) = pattern_facts(
        {"fact": [{**TABLE, "comparable_when": ["target.arch"], "stage": "ptx"}]}, "irdiff.toml"
    )
    assert fact == PatternFact(
        id="ptx.my_adds", title="additions", pattern=r"add\.", comparable_when=("target.arch",)
    )
    assert pattern_facts({}, "irdiff.toml") == ()


@pytest.mark.parametrize(
    ("tables", "says"),
    [
        ({"id": "x"}, "irdiff.toml: fact is no list of tables (write [[fact]])"),
        ([3], "irdiff.toml: fact 1: is no table (write [[fact]])"),
        ([TABLE, {**TABLE, "patern": "x"}], "fact 2: no key is called 'patern' (did you mean pattern?)"),
        (
            [{**TABLE, "zzz": 1}],
            "fact 1: no key is called 'zzz' (there are: better, comparable_when, doc, id,",
        ),
        ([{"id": "ptx.x", "title": "x"}], "fact 1: there is no key `pattern`"),
        ([{**TABLE, "better": "less"}], "fact 1: better: invalid enum value 'less'"),
        ([{**TABLE, "title": 3}], "fact 1: title: expected `str`, got `int`"),
        ([{**TABLE, "title": " "}], "fact 1: title is empty"),
        ([{**TABLE, "id": "ptx"}], "fact 1: id 'ptx' is not like stage.thing (as in ptx.prefetches)"),
        ([{**TABLE, "id": "PTX.x"}], "is not like stage.thing"),
        (
            [{**TABLE, "stage": "sass"}],
            "ptx.my_adds counts in ptx, not in sass (call it sass.my_adds, or leave",
        ),
        ([{**TABLE, "role": "My role"}], "fact 1: role 'My role' must be a lower-case name"),
        ([{**TABLE, "comparable_when": [""]}], "fact 1: comparable_when holds an empty name"),
        ([{**TABLE, "pattern": "(a+)+"}], "fact 1: a repetition holds another one"),
        ([{**TABLE, "pattern": ".*add"}], "fact 1: the pattern begins with anything"),
        ([TABLE, TABLE], "fact 2: ptx.my_adds is declared twice"),
        ([TABLE] * 201, "more than 200 [[fact]] tables"),
    ],
)
def test_a_table_that_cannot_be_is_told_with_its_place(tables: Any, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        pattern_facts({"fact": tables}, "irdiff.toml")
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("fact_id", "says"),
    [
        ("ptxx.x", "irdiff.toml: fact 1: no stage is called 'ptxx' (did you mean ptx"),
        ("ptx.mma", "fact 1: ptx.mma is a fact of plugin ptx (irdiff "),
        ("kernel.mine", "fact 1: no stage is called 'kernel'"),
    ],
)
def test_a_fact_belongs_to_a_stage_and_has_a_name_of_its_own(fact_id: str, says: str) -> None:
    registry = load_plugins()
    with pytest.raises(UsageError) as caught:
        with_user_facts(
            registry, pattern_facts({"fact": [{**TABLE, "id": fact_id}]}, "irdiff.toml"), "irdiff.toml"
        )
    assert says in str(caught.value)


def test_facts_of_a_plugin_that_is_switched_off_go_with_it() -> None:
    registry = load_plugins(external=False, disabled=frozenset({"ptx"}))
    assert (
        with_user_facts(registry, pattern_facts({"fact": [TABLE]}, "x"), "x").facts.keys()
        == registry.facts.keys()
    )


def test_the_nearest_configuration_holds_and_a_foreign_pyproject_stops_nothing(tmp_path: Path) -> None:
    inner = tmp_path / "a/b"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("[tool.irdiff.check]\nestimates = true\n")
    (tmp_path / "a/pyproject.toml").write_text("this is [[ not TOML\n")
    assert find_config(inner) == (tmp_path / "pyproject.toml", {"check": {"estimates": True}})
    (tmp_path / "a/irdiff.toml").write_text("")
    assert find_config(inner) == (tmp_path / "a/irdiff.toml", {})
    (tmp_path / "a/irdiff.toml").write_text("[[fact]\n")
    with pytest.raises(InputError, match="is no TOML"):
        find_config(inner)
    (inner / "pyproject.toml").write_text("[tool]\nirdiff = 3\n")
    with pytest.raises(UsageError, match="irdiff is no table"):
        find_config(inner)


def test_a_declared_fact_is_in_every_command(tmp_path: Path) -> None:
    (tmp_path / "irdiff.toml").write_text(CONFIG)
    below = tmp_path / "below"
    below.mkdir()
    told = irdiff("facts", "ptx.my_adds", cwd=below)
    assert told.code == 0
    for words in (
        "additions by type",
        "instructions",
        "lower is better",
        "my-adds",
        "What our kernels must not do.",
    ):
        assert words in told.out
    shown = json.loads(irdiff("show", PAIR[0], "--format", "json", cwd=below).out)
    facts = [kernel["facts"] for kernel in shown["kernels"]]
    assert all(sum(each["ptx.my_adds"].values()) > 0 and each["ttgir.my_splats"] > 0 for each in facts)
    compared = irdiff("compare", *PAIR, "--format", "json", cwd=below)
    changes = {
        change["fact"]: change
        for kernel in json.loads(compared.out)["kernels"]
        for change in kernel["changes"]
    }
    assert changes["ptx.my_adds"]["effect"] in ("better", "worse")
    saved = json.loads(compared.out)["facts"]["ptx.my_adds"]
    assert (saved["kind"], saved["role"]) == ("tally", "my-adds")


BROKEN = {
    "[[fact]\n": (2, "irdiff.toml: is no TOML: "),
    '[[fact]]\nid = "ptx.x"\ntitle = "x"\npattern = "("\n': (
        64,
        "irdiff.toml: fact 1: the pattern is no regular",
    ),
    '[[fact]]\nid = "pty.x"\ntitle = "x"\npattern = "x"\n': (
        64,
        "fact 1: no stage is called 'pty'\n  did you mean ptx",
    ),
}


@pytest.mark.parametrize("content", BROKEN)
@pytest.mark.parametrize("command", ["facts", "plugins", "doctor"])
def test_a_broken_configuration_is_one_clear_error(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    content: str,
    command: str,
) -> None:
    (tmp_path / "irdiff.toml").write_text(content)
    monkeypatch.chdir(tmp_path)
    code, says = BROKEN[content]
    assert main_with([command]) == code
    told = capsys.readouterr()
    assert told.out == ""
    assert says in told.err
    assert len(told.err.splitlines()) <= 2


@pytest.mark.skipif(os.name != "posix", reason="a working directory cannot be removed elsewhere")
def test_without_a_working_directory_there_is_no_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from irdiff.cli.session import make_registry

    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert make_registry(external=False).problems == ()
