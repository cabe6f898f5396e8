"""The pages on plugins name what there is: links lead somewhere, contracts, keys and attributes are all documented."""

from __future__ import annotations

import re
import sys
from importlib import import_module

import pytest

import corpus
import irdiff.testing
from irdiff import hookspecs
from irdiff.config.facts import FactTable, pattern_facts

PAGES = sorted((corpus.ROOT / "docs/plugins").glob("*.md"))
HOOKS = (corpus.ROOT / "docs/reference/hooks.md").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(page) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target


def test_every_contract_and_its_attributes_are_documented() -> None:
    text = (corpus.ROOT / "docs/plugins/testing.md").read_text()
    contracts = [
        getattr(irdiff.testing, name) for name in irdiff.testing.__all__ if name.endswith("Contract")
    ]
    assert len(contracts) == 5
    for contract in contracts:
        assert f"## {contract.__name__}" in text
        for name in vars(contract).get("__annotations__", {}):
            assert f"`{name}`" in text, f"{contract.__name__}.{name}"
    for name in ("replaced", "replaced_everywhere", "inserted", "local_tools"):
        assert f"`{name}(" in text, name


def test_every_key_of_a_declared_fact_is_documented_and_the_example_is_one() -> None:
    text = (corpus.ROOT / "docs/plugins/declared-facts.md").read_text()
    for key in FactTable.__struct_fields__:
        assert f"| `{key}` |" in text
    toml = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    (example,) = re.findall(r"^```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (fact,) = pattern_facts(toml.loads(example), "irdiff.toml")
    assert fact.id == "ptx.prefetches"


def test_every_hook_is_referenced_with_its_signature_its_call_and_its_errors() -> None:
    for name in vars(hookspecs):
        if name.startswith("irdiff_"):
            (section,) = re.findall(rf"^## `{name}\(.*?(?=^#)", HOOKS, re.MULTILINE | re.DOTALL)
            assert "Called: once" in section
            assert "Returns: " in section
            assert "skipped" in section or "left out" in section
