"""Single files, and the plugins' own sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from irdiff.errors import InputError
from irdiff.model.bundle import Artifact, Bundle
from irdiff.model.issues import Issue
from irdiff.model.specs import SourceSpec
from irdiff.sources import load
from sources.source_trees import BASE32, HEX, FakeContext, codes, entry


def test_a_file_is_a_bundle_of_one_stage(tmp_path):
    (tmp_path / "a.ptx").write_text("text")
    (bundle,) = load(str(tmp_path / "a.ptx"), FakeContext(), {}).bundles
    assert (bundle.name, bundle.layout, bundle.entry, bundle.target) == ("a", "file", "", None)
    assert bundle.path == str(tmp_path / "a.ptx")
    assert {stage: artifact.read() for stage, artifact in bundle.artifacts.items()} == {"ptx": b"text"}


def test_of_a_file_in_an_entry_only_this_file_is_taken_and_the_json_says_whose_it_is(tmp_path):
    folder = entry(tmp_path / BASE32)
    (bundle,) = load(str(folder / "k.ttgir"), FakeContext(), {}).bundles
    assert set(bundle.artifacts) == {"ttgir"}
    assert (bundle.name, str(bundle.target), bundle.release, bundle.hash) == ("k", "cuda:90", "3.6.0", HEX)
    assert bundle.metadata["num_warps"] == 4


def test_a_file_of_a_stage_without_a_plugin_is_taken_under_its_bare_suffix(tmp_path):
    (tmp_path / "a.Spv").write_bytes(b"\0")
    (bundle,) = load(str(tmp_path / "a.Spv"), FakeContext(), {}).bundles
    assert set(bundle.artifacts) == {"spv"}


def test_a_damaged_json_beside_a_file_is_said(tmp_path):
    folder = entry(tmp_path / BASE32)
    (folder / "k.json").write_text("{")
    loaded = load(str(folder / "k.ptx"), FakeContext(), {})
    assert codes(loaded) == ["bad-json"]


@pytest.mark.parametrize("name", ["kernel.py", "__grp__k.json", "irdiff.json", "noext", "k.so"])
def test_a_file_that_is_no_stage_is_an_input_error_with_a_hint(tmp_path, name):
    (tmp_path / name).write_text("{}")
    with pytest.raises(InputError) as raised:
        load(str(tmp_path / name), FakeContext(), {})
    assert raised.value.hint


def test_the_shells_tilde_is_understood(tmp_path):
    (tmp_path / "a.ptx").write_text("text")
    loaded = load("~/a.ptx", FakeContext(), {"HOME": str(tmp_path)})
    assert loaded.described == "~/a.ptx"
    assert len(loaded.bundles) == 1


# Sources of plugins ------------------------------------------------------------------------------------------------


def bundle(name="mine"):
    return Bundle(name=name, path="p", artifacts={"ptx": Artifact.of_bytes(b"x", stage="ptx", suffix=".ptx")})


def source(recognizes, load_, name="mine"):
    return SourceSpec(id=name, title="Mine", recognizes=recognizes, load=load_)


def fail(*arguments):
    raise ZeroDivisionError("of the plugin")


def test_sources_of_plugins_are_asked_first_and_may_report(tmp_path):
    entry(tmp_path / BASE32)
    seen = []

    def load_it(path, context):
        seen.append((path, context.stage_of(".ptx"), context.is_final(".cubin"), context.stage_after("ttir")))
        context.report(Issue(severity="note", code="hello", message="from the plugin"))
        return [bundle("b"), bundle("a")]

    loaded = load(str(tmp_path), FakeContext(), {}, [source(lambda path: True, load_it)])
    assert [one.name for one in loaded.bundles] == ["a", "b"]
    assert codes(loaded) == ["hello"]
    assert seen == [(Path(tmp_path), "ptx", True, ("source",))]


def test_selectors_work_on_what_a_plugin_loads():
    spec = source(lambda path: path == Path("db:7"), lambda path, context: [bundle("a"), bundle("b")])
    assert [one.name for one in load("db:7::b", FakeContext(), {}, [spec]).bundles] == ["b"]


@pytest.mark.parametrize("spec", [source(fail, fail), source(lambda path: True, fail)])
def test_a_source_that_fails_is_named_and_passed_over(tmp_path, spec):
    entry(tmp_path / BASE32)
    loaded = load(str(tmp_path), FakeContext(), {}, [spec])
    assert [one.name for one in loaded.bundles] == ["k"]
    (issue,) = loaded.issues
    assert issue.code == "plugin-error"
    assert "mine" in issue.message
    assert "ZeroDivisionError" in issue.message


def test_an_input_error_of_a_source_reaches_the_user(tmp_path):
    def refuse(path, context):
        raise InputError("no database")

    with pytest.raises(InputError, match="no database"):
        load(str(tmp_path), FakeContext(), {}, [source(lambda path: True, refuse)])


def test_a_source_that_finds_nothing_is_an_input_error_that_names_it(tmp_path):
    with pytest.raises(InputError, match="mine"):
        load(str(tmp_path), FakeContext(), {}, [source(lambda path: True, lambda path, context: [])])
