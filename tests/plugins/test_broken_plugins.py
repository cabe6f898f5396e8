"""The six ways in which a plugin breaks: the documentation shows the line of each, and everything else goes on."""

from __future__ import annotations

import re

import pytest

import corpus
import toy_stages
from fake_site import PRELUDE, Site, registers
from irdiff.model.report import Report

PAGE = (corpus.ROOT / "docs/plugins/versioning.md").read_text()
SHOWN = dict(re.findall(r"^```text (\S+)\n(.*)\n```$", PAGE, re.MULTILINE))
LOADING = {
    "broken-import": "import cupy_of_old",
    "other-version": "irdiff_api_version = 2",
    "raising-hook": PRELUDE + "@hookimpl\ndef irdiff_stages(): return {}['gfx']",
    "wrong-return": PRELUDE + "@hookimpl\ndef irdiff_stages(): return None",
    "taken-id": registers("stages", 'stage("bad", ".base")'),
}
RUNNING = {
    "raising-stage": "def summarize(artifact, context): return [][0]\n",
    "wrong-type": "def summarize(artifact, context): return {}\n",
}


def compared(site: Site) -> Report:
    """Two kernels with the stages ``base`` and ``bad``, the second of which changed in both."""
    before = toy_stages.bundle(base="x", bad="one")
    after = toy_stages.bundle(base="y", bad="two")
    return toy_stages.compare([before], [after], site.load())


def test_every_way_is_documented() -> None:
    assert SHOWN.keys() == LOADING.keys() | RUNNING.keys()


@pytest.mark.parametrize("way", LOADING)
def test_what_cannot_be_loaded_is_told_and_harmless(site: Site, way: str) -> None:
    site.install("irdiff-bad", "0.3", bad=LOADING[way])
    registry = site.load()
    assert [problem.line() for problem in registry.problems] == [SHOWN[way]]
    assert [stage.id for stage in registry.stages] == ["base", "good"]
    (kernel,) = compared(site).kernels
    assert kernel.stages["base"].sameness in ("equivalent", "changed")
    assert kernel.stages["bad"].sameness in ("changed", "unreadable")


@pytest.mark.parametrize("way", RUNNING)
def test_what_fails_on_an_artifact_is_told_and_harmless(site: Site, way: str) -> None:
    source = registers("stages", 'stage("bad", after=("base",))').replace(
        "def summarize(artifact, context): return Summary()\n", RUNNING[way]
    )
    site.install("irdiff-bad", "0.3", bad=source)
    assert site.load().problems == ()
    (kernel,) = compared(site).kernels
    told = {issue.message for issue in kernel.issues if issue.code == "plugin-error"}
    assert told == {SHOWN[way]}
    assert kernel.stages["bad"].sameness == "unreadable"
    assert kernel.stages["base"].sameness in ("equivalent", "changed")
