"""What a registry holds when plugins are as they should be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import irdiff
from fake_site import Site, registers
from irdiff.model.kinds import standard_kinds
from irdiff.plugins import load_plugins
from irdiff.registry import pipeline_order


def test_stages_stand_behind_everything_they_come_after(site: Site) -> None:
    site.install(
        "irdiff-more",
        aaa=registers("stages", 'stage("aaa", after=("zzz",))', 'stage("note", pipeline=False)'),
        zzz=registers("stages", 'stage("zzz", after=("good", "not_installed"))'),
    )
    registry = site.load()
    assert registry.problems == ()
    assert [stage.id for stage in registry.stages] == ["note", "base", "good", "zzz", "aaa"]
    assert registry.stage_after("aaa") == ("base", "good", "zzz")
    assert registry.stage_after("base") == ()
    assert registry.stage_after("nothing") == ()


def test_the_order_of_stages_does_not_depend_on_the_order_of_plugins(site: Site) -> None:
    stages = site.load().stages
    assert pipeline_order(reversed(stages)) == stages


def test_suffixes_lead_to_stages(site: Site) -> None:
    site.install("irdiff-code", code=registers("stages", 'stage("code", ".bin", ".obj", machine_code=True)'))
    registry = site.load()
    assert registry.stage_of(".obj") == "code"
    assert registry.stage_of(".base") == "base"
    assert registry.stage_of(".nothing") is None
    assert registry.is_final(".bin")
    assert not registry.is_final(".base")
    assert not registry.is_final(".nothing")
    code = registry.stage("code")
    assert code is not None
    assert code.suffixes == (".bin", ".obj")
    assert registry.stage("nothing") is None


def test_facts_are_found_with_their_owner(site: Site) -> None:
    registry = site.load()
    assert registry.facts["base.size"].title == "a fact"
    owner = registry.owners["base.size"]
    assert (owner.name, owner.origin, owner.bundled) == ("base", "irdiff 0.1.0", True)
    assert registry.owners["good"].origin == "irdiff-good 2.0"


def test_everything_registered_is_there_and_listed_with_its_plugin(site: Site) -> None:
    source = registers("value_kinds", 'kind("curve")') + "".join(
        registers(hook, item).replace("irdiff_api_version = 1", "", 1)
        for hook, item in (
            ("stages", 'stage("all", facts=(fact("all.curve", kind="curve"),))'),
            (
                "derived_facts",
                'DerivedSpec(id="sum", facts=(fact("sum.x"), fact("all.y"), fact("every.z")), derive=list)',
            ),
            ("sources", 'SourceSpec(id="tape", title="x", recognizes=bool, load=list)'),
            ("tools", 'ToolSpec(id="dis", variable="DIS", hint="none")'),
            ("rules", 'RuleSpec(code="XYZ1", title="x", level="off", role="r", fires=bool)'),
            ("renderers", 'RendererSpec(id="poem", title="x", render=str)'),
        )
    )
    site.install("irdiff-all", every=f"irdiff_api_version = 1\n{source}")
    registry = site.load()
    assert [problem.line() for problem in registry.problems] == []
    assert registry.kinds.keys() == {*standard_kinds(), "curve"}
    assert [spec.id for spec in registry.derived] == ["sum"]
    assert [spec.id for spec in registry.sources] == ["tape"]
    assert [spec.id for spec in registry.tools] == ["dis"]
    assert [spec.code for spec in registry.rules] == ["XYZ1"]
    assert [spec.id for spec in registry.renderers] == ["poem"]
    (info,) = [plugin for plugin in registry.plugins if plugin.name == "every"]
    assert dict(info.registered) == {
        "derivation": ("sum",),
        "fact": ("all.curve", "all.y", "every.z", "sum.x"),
        "kind": ("curve",),
        "renderer": ("poem",),
        "rule": ("XYZ1",),
        "source": ("tape",),
        "stage": ("all",),
        "suffix": (".all",),
        "tool": ("dis",),
    }


def test_a_disabled_plugin_is_not_even_imported(site: Site) -> None:
    site.install("irdiff-bad", bad="raise SystemError('imported')")
    registry = site.load(disabled=frozenset({"bad", "typo"}))
    assert registry.problems == ()
    assert {plugin.name: plugin.status for plugin in registry.plugins}["bad"] == "disabled"
    assert registry.not_there == ("typo",)


def test_disabling_a_bundled_plugin_leaves_its_suffix_to_anyone(site: Site) -> None:
    site.install("irdiff-mine", mine=registers("stages", 'stage("mine", ".base")'))
    assert site.load().stage_of(".base") == "base"
    assert site.load(disabled=frozenset({"base", "mine"})).stage_of(".base") is None
    assert site.load(disabled=frozenset({"base"})).stage_of(".base") == "mine"


def test_without_external_plugins_only_the_bundled_ones_load(site: Site) -> None:
    site.install("irdiff-bad", bad="raise SystemError('imported')")
    registry = site.load(external=False)
    assert [stage.id for stage in registry.stages] == ["base"]
    assert registry.problems == ()
    reasons = {plugin.name: plugin.reason for plugin in registry.plugins}
    assert reasons == {"bad": "external plugins are off", "base": "", "good": "external plugins are off"}


def test_plugins_are_listed_by_name_whatever_order_they_are_found_in(site: Site) -> None:
    site.install("a-first", zebra=registers("rules"), apple=registers("rules"))
    assert [plugin.name for plugin in site.load().plugins] == ["apple", "base", "good", "zebra"]


def test_loading_twice_gives_the_same_and_shares_nothing(site: Site) -> None:
    before, after = site.load(), site.load()
    assert [stage.id for stage in before.stages] == [stage.id for stage in after.stages]
    assert before.facts == after.facts
    with pytest.raises(TypeError):
        before.facts["x"] = before.facts["base.size"]  # type: ignore[index]
    with pytest.raises(AttributeError):
        before.stages = ()  # type: ignore[misc]


def test_the_bundled_plugins_all_load() -> None:
    registry = load_plugins(external=False)
    assert [problem.line() for problem in registry.problems] == []
    assert {"meta", "ttir", "ttgir", "llir", "ptx", "sass"} <= {stage.id for stage in registry.stages}
    order = [
        stage.id
        for stage in registry.stages
        if stage.id in ("source", "ttir", "ttgir", "llir", "ptx", "sass")
    ]
    assert order == ["source", "ttir", "ttgir", "llir", "ptx", "sass"]


def test_every_bundled_fact_says_what_it_means() -> None:
    for spec in load_plugins(external=False).facts.values():
        assert spec.title, spec.id
        assert spec.doc, spec.id
        assert not spec.title.endswith("."), spec.id


def test_loading_the_bundled_plugins_imports_nothing_heavy() -> None:
    heavy = ("triton", "torch", "rapidfuzz", "rich", "typer", "elftools", "jinja2")
    home = str(Path(irdiff.__file__).parents[1])
    code = (
        "import sys\n"
        f"sys.path.insert(0, {home!r})\n"
        "from irdiff.plugins import load_plugins\n"
        "registry = load_plugins(external=False)\n"
        f"print([name for name in {heavy!r} if name in sys.modules], len(registry.stages) > 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] True"
