"""Whatever is wrong with one plugin, the line names it, and everything else loads."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import irdiff
from fake_site import PRELUDE, Site, registers

BROKEN = {
    "module that is not there": (
        None,
        "it cannot be imported: ModuleNotFoundError: No module named 'nowhere'",
    ),
    "import that raises": ("1 / 0", "it cannot be imported: ZeroDivisionError: division by zero"),
    "import that exits": ("raise SystemExit(3)", "it cannot be imported: SystemExit: 3"),
    "import that does not parse": ("def (", "it cannot be imported: SyntaxError: .*"),
    "exception without a text": (
        "class Odd(Exception):\n    def __str__(self): raise ValueError\nraise Odd",
        "it cannot be imported: Odd",
    ),
    "no API version": ("x = 1", r"it has no irdiff_api_version \(this irdiff has 1\)"),
    "later API version": ("irdiff_api_version = 2", "it is written for plugin API 2, this irdiff has 1"),
    "API version that is no number": (
        "irdiff_api_version = True",
        "it is written for plugin API True, this irdiff has 1",
    ),
    "unknown hook": (
        PRELUDE + "@hookimpl\ndef irdiff_stage(): return ()",
        r"there is no hook irdiff_stage \(hooks: irdiff_derived_facts, irdiff_explain, .*\)",
    ),
    "unknown hook without a mark": (
        PRELUDE + "def irdiff_frobnicate(): return ()",
        "there is no hook irdiff_frob.*",
    ),
    "marked function of another name": (
        PRELUDE + "@hookimpl\ndef stages(): return ()",
        "there is no hook stages .*",
    ),
    "hook without a mark": (
        PRELUDE + "def irdiff_stages(): return ()",
        "irdiff_stages is not marked with @hookimpl",
    ),
    "hook wrapper": (
        PRELUDE + "@hookimpl(wrapper=True)\ndef irdiff_stages(): return (yield)",
        "irdiff_stages is a hook wrapper, which irdiff does not have",
    ),
    "unknown argument": (
        PRELUDE + "@hookimpl\ndef irdiff_stages(registry): return ()",
        "a hook does not fit its specification: .*registry.*",
    ),
    "unknown argument of the verb": (
        PRELUDE + "@hookimpl\ndef irdiff_explain(kernel, mood): return None",
        "a hook does not fit its specification: .*mood.*",
    ),
    "hook that raises": (
        PRELUDE + "@hookimpl\ndef irdiff_rules(): raise KeyError('x')",
        "irdiff_rules raised KeyError: 'x'",
    ),
    "hook that exits": (
        PRELUDE + "@hookimpl\ndef irdiff_rules(): raise SystemExit",
        "irdiff_rules raised SystemExit",
    ),
    "hook that returns nothing": (
        PRELUDE + "@hookimpl\ndef irdiff_tools(): return None",
        "irdiff_tools returned NoneType, not a sequence of specifications",
    ),
    "hook that returns text": (
        PRELUDE + "@hookimpl\ndef irdiff_tools(): return 'nvdisasm'",
        "irdiff_tools returned str, not a sequence of specifications",
    ),
    "hook that generates": (
        PRELUDE + "@hookimpl\ndef irdiff_tools(): yield 1",
        "irdiff_tools returned generator, not a sequence of specifications",
    ),
    "hook that returns other specifications": (
        registers("stages", 'fact("bad.x")'),
        "irdiff_stages returned FactSpec, not StageSpec",
    ),
    "two lines and a control character": (
        "raise ValueError('one\\ntwo \\x1b[31mred')",
        r"it cannot be imported: ValueError: one two \?\[31mred",
    ),
    "object whose attributes raise": (
        PRELUDE + "class P:\n    irdiff_api_version = 1\n    def __dir__(self): raise OSError('no')\n"
        "import sys\nsys.modules[__name__] = P()",
        "its hooks cannot be read: OSError: no",
    ),
    "stage id twice": (
        registers("stages", 'stage("bad")', 'stage("bad", ".bad2")'),
        "it registers stage bad twice",
    ),
    "suffix twice": (
        registers("stages", 'stage("bad", ".bad", ".bad")'),
        "it registers suffix .bad twice",
    ),
    "fact id twice": (
        registers("stages", 'stage("bad", facts=(fact("bad.x"), fact("bad.x")))'),
        "it registers fact bad.x twice",
    ),
    "kind of its own that irdiff has": (
        registers("value_kinds", 'kind("tally")'),
        "kind tally is irdiff's own",
    ),
    "format that irdiff has": (
        registers("renderers", 'RendererSpec(id="json", title="JSON", render=str)'),
        "renderer json is irdiff's own",
    ),
    "kind that nobody has": (
        registers("stages", 'stage("bad", facts=(fact("bad.x", kind="histogram"),))'),
        "fact bad.x is of kind histogram, which nobody registers",
    ),
    "suffix of a bundled stage": (
        registers("stages", 'stage("bad", ".base")'),
        r"suffix .base is also claimed by base \(irdiff 0.1.0\)",
    ),
    "bundled stage": (
        registers("stages", 'stage("base", ".other")'),
        r"stage base is also claimed by base \(irdiff 0.1.0\)",
    ),
    "circle of stages": (
        registers("stages", 'stage("bad", after=("worse",))', 'stage("worse", after=("bad",))'),
        r"stage bad comes before itself \(circle through bad, worse\)",
    ),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_broken_plugin_is_one_line_and_nothing_else_suffers(site: Site, what: str) -> None:
    source, reason = BROKEN[what]
    if source is None:
        site.write("irdiff-bad", "0.3", "[irdiff]\nbad = nowhere\n")
    else:
        site.install("irdiff-bad", "0.3", bad=source)
    registry = site.load()
    (problem,) = registry.problems
    assert re.fullmatch(rf"plugin bad \(irdiff-bad 0\.3\) is skipped: {reason}", problem.line())
    assert problem.line().isprintable()
    assert [stage.id for stage in registry.stages] == ["base", "good"]
    status = {plugin.name: plugin.status for plugin in registry.plugins}
    assert status == {"bad": "skipped", "base": "loaded", "good": "loaded"}
    assert problem.issue().code == "plugin-skipped"


CLAIMS = {
    "stage bad": registers("stages", 'stage("bad", ".{0}")'),
    "suffix .bad": registers("stages", 'stage("{0}", ".bad")'),
    "derivation bad": registers("derived_facts", 'DerivedSpec(id="bad", facts=(), derive=list)'),
    "fact bad.x": registers("stages", 'stage("bad", ".{0}", facts=(fact("bad.x"),))'),
    "tool bad": registers("tools", 'ToolSpec(id="bad", variable="BAD", hint="none")'),
    "kind bad": registers("value_kinds", 'kind("bad")'),
    "source bad": registers("sources", 'SourceSpec(id="bad", title="x", recognizes=bool, load=list)'),
    "rule BAD1": registers("rules", 'RuleSpec(code="BAD1", title="x", level="warn", role="r", fires=bool)'),
    "renderer bad": registers("renderers", 'RendererSpec(id="bad", title="x", render=str)'),
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_of_two_external_claims_neither_loads_and_both_are_named(site: Site, claim: str) -> None:
    site.install("irdiff-one", "1.1", one=CLAIMS[claim].replace("{0}", "one"))
    site.install("irdiff-two", "1.2", two=CLAIMS[claim].replace("{0}", "two"))
    registry = site.load()
    told = claim.replace("fact bad.x", "fact bad.x")
    assert [problem.line() for problem in registry.problems] == [
        f"plugin one (irdiff-one 1.1) is skipped: {told} is also claimed by two (irdiff-two 1.2)",
        f"plugin two (irdiff-two 1.2) is skipped: {told} is also claimed by one (irdiff-one 1.1)",
    ]
    assert [stage.id for stage in registry.stages] == ["base", "good"]


def test_two_plugins_of_one_name_cannot_be_told_apart_and_do_not_load(site: Site) -> None:
    site.install("irdiff-one", same=registers("stages", 'stage("one")'))
    site.install("irdiff-two", same=registers("stages", 'stage("two")'))
    lines = [problem.line() for problem in site.load().problems]
    assert lines == [
        "plugin same (irdiff-one 1.0) is skipped: plugin name same is also claimed by same (irdiff-two 1.0)",
        "plugin same (irdiff-two 1.0) is skipped: plugin name same is also claimed by same (irdiff-one 1.0)",
    ]


def test_a_plugin_refused_for_a_bundled_id_takes_no_other_with_it(site: Site) -> None:
    site.install("irdiff-one", one=registers("stages", 'stage("base", ".x")'))
    site.install("irdiff-two", two=registers("stages", 'stage("two", ".x")'))
    registry = site.load()
    assert [problem.plugin for problem in registry.problems] == ["one"]
    assert registry.stage_of(".x") == "two"


def test_a_plugin_whose_kind_falls_away_falls_with_it(site: Site) -> None:
    site.install("irdiff-kinds", kinds=registers("value_kinds", 'kind("tally")', 'kind("curve")'))
    site.install(
        "irdiff-user", user=registers("stages", 'stage("user", facts=(fact("user.x", kind="curve"),))')
    )
    lines = [problem.line() for problem in site.load().problems]
    assert lines == [
        "plugin kinds (irdiff-kinds 1.0) is skipped: kind tally is irdiff's own",
        "plugin user (irdiff-user 1.0) is skipped: fact user.x is of kind curve, which nobody registers",
    ]


def test_a_distribution_with_malformed_entry_points_is_named(site: Site) -> None:
    site.write("irdiff-torn", "0.9", "[irdiff]\nno equals sign\n")
    registry = site.load()
    (problem,) = registry.problems
    assert problem.line().startswith(
        "plugin * (irdiff-torn 0.9) is skipped: its entry points cannot be read: "
    )
    assert [stage.id for stage in registry.stages] == ["base", "good"]


def test_a_distribution_that_is_not_about_irdiff_is_passed_over_however_broken(site: Site) -> None:
    site.write("other", "1.0", "[console_scripts]\nno equals sign\n")
    assert site.load().problems == ()


def test_without_irdiff_installed_the_line_says_to_install_it(tmp_path: Path) -> None:
    registry = Site(tmp_path).load()
    (problem,) = registry.problems
    assert problem.line().startswith(
        "plugin * (irdiff) is skipped: it registers no plugin here; install irdiff"
    )


def test_an_explainer_that_fails_returns_the_line_and_the_others_answer(site: Site) -> None:
    site.install(
        "irdiff-bad", "0.3", bad=PRELUDE + "@hookimpl\ndef irdiff_explain(kernel): raise KeyError(kernel)"
    )
    site.install("irdiff-odd", "0.4", odd=PRELUDE + "@hookimpl\ndef irdiff_explain(): return 'because'")
    site.install(
        "irdiff-wise",
        wise=PRELUDE + "@hookimpl\ndef irdiff_explain(kernel): return Explanation(cause=str(kernel))",
    )
    registry = site.load()
    assert registry.problems == ()
    answers = [explain("K") for explain in registry.explainers]  # type: ignore[arg-type]  # passed on untouched
    assert [answer.line() for answer in answers[:2]] == [  # type: ignore[union-attr]
        "plugin bad (irdiff-bad 0.3) is skipped: irdiff_explain raised KeyError: 'K'",
        "plugin odd (irdiff-odd 0.4) is skipped: irdiff_explain returned str, not an Explanation",
    ]
    assert answers[2].cause == "K"  # type: ignore[union-attr]


def test_loading_finds_installed_distributions_by_itself(site: Site) -> None:
    site.install("irdiff-bad", "0.3", bad="raise ImportError('gone')")
    code = (
        "from irdiff.plugins import load_plugins\n"
        "registry = load_plugins()\n"
        "print(*(problem.line() for problem in registry.problems), sep='\\n')\n"
        "print([stage.id for stage in registry.stages if stage.id in ('base', 'good')])\n"
    )
    home = str(Path(irdiff.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = [{str(site.folder)!r}, {home!r}]\n{code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        "plugin bad (irdiff-bad 0.3) is skipped: it cannot be imported: ImportError: gone",
        "['base', 'good']",
    ]
