"""``irdiff facts``: the reference of every fact, from the registry."""

from __future__ import annotations

import json

import corpus
from command import irdiff
from irdiff.cli.exit_codes import Exit
from irdiff.plugins import load_plugins
from irdiff.present import fact_reference


def test_every_fact_is_listed_once_with_its_direction() -> None:
    done = irdiff("facts")
    assert done.code == Exit.OK
    registry = load_plugins()
    listed = [line.split() for line in done.out.splitlines() if line.startswith("  ")]
    names = [words[0] for words in listed if words[0] != "fact"]
    assert sorted(names) == sorted(registry.facts)
    assert "↓" in next(line for line in done.out.splitlines() if "sass.registers" in line)


def test_one_fact_in_full_says_what_its_page_says() -> None:
    done = irdiff("facts", "ttgir.convert_layouts")
    spec = load_plugins(external=False).facts["ttgir.convert_layouts"]
    page = (corpus.ROOT / "docs/reference/facts.md").read_text()
    assert done.code == Exit.OK
    assert "lower is better" in done.out
    assert "layout_conversions" in done.out
    assert " ".join(spec.doc.split()) in " ".join(done.out.split())
    assert spec.doc in page
    assert f"({', '.join(fact_reference.notes(spec))})" in page


def test_a_stage_lists_its_own_facts_only() -> None:
    done = irdiff("facts", "llir")
    names = {line.split()[0] for line in done.out.splitlines() if line.startswith("  ")} - {"fact"}
    assert names
    assert all(name.startswith("llir.") for name in names)


def test_a_wrong_id_names_the_nearest() -> None:
    near = irdiff("facts", "ttgir.layout")
    assert near.code == Exit.USAGE
    assert "did you mean ttgir.layouts" in near.err
    moved = irdiff("facts", "ptx.registers")
    assert "sass.registers" in moved.err


def test_as_json_it_is_the_declarations() -> None:
    (spec,) = json.loads(irdiff("facts", "source.addresses", "--format", "json").out)
    assert (spec["id"], spec["kind"]) == ("source.addresses", "sequence")
    everything = json.loads(irdiff("facts", "--format", "json").out)
    assert {each["id"] for each in everything} == set(load_plugins().facts)


def test_another_format_is_refused_with_those_there_are() -> None:
    done = irdiff("facts", "--format", "html")
    assert done.code == Exit.USAGE
    assert "terminal, json" in done.err
