"""The peak of live registers: only where asked for, and only where a tool can say it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import corpus
from command import irdiff, irdiff_json
from irdiff.api import Artifact, Context, Summary
from irdiff.tools import LocalToolbox
from irdiff_sass.plugin import STAGE

ID = "sass.live_registers"
ABI8 = (
    ("3.6.0", "sm_121", "matmul_kernel"),
    ("3.9.0", "sm_90", "vector_add_kernel"),
    ("3.6.0", "sm_100", "matmul_kernel"),
)


def summary(path: Path, toolbox: LocalToolbox, *wanted: str) -> Summary:
    data = Artifact.of_bytes(path.read_bytes(), suffix=".cubin")
    return STAGE.summarize(data, Context(tools=toolbox, wanted=frozenset(wanted)))


@pytest.mark.parametrize(("release", "target", "kernel"), ABI8)
def test_the_peak_is_the_largest_number_nvdisasm_prints(
    release: str, target: str, kernel: str, toolbox: LocalToolbox
) -> None:
    (path,) = corpus.entry(release, target, kernel).glob("*.cubin")
    ran = subprocess.run(
        [toolbox.find("nvdisasm")[0].path, "-c", "-plr", path],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    # without -lrm the table has a column for each register: count the marks of each row by hand
    counts = []
    for line in ran.stdout.splitlines():
        row = re.match(r"\s*/\*[0-9a-f]{4,}\*/.*?// \|([^|]*)\|", line)
        if row:
            counts.append(sum(mark in "^v:x" for mark in re.sub(r"^\s*\d+", "", row[1])))
    read = summary(path, toolbox, ID)
    facts = {(fact.id, fact.scope): fact for fact in read.facts}
    peak = facts[ID, ""]
    assert peak.value == max(counts) > 8
    assert peak.value <= facts["sass.registers", ""].value
    assert peak.evidence[""]
    for scope in read.scopes:
        assert facts[ID, scope.id].value <= peak.value


def test_it_is_not_made_unless_asked_for(toolbox: LocalToolbox) -> None:
    (path,) = corpus.entry("3.6.0", "sm_121", "matmul_kernel").glob("*.cubin")
    assert ID not in {fact.id for fact in summary(path, toolbox).facts}
    assert {spec.id for spec in STAGE.facts if spec.opt_in} == {ID}


def test_a_tool_of_another_generation_is_said_and_nothing_else_is_lost(toolbox: LocalToolbox) -> None:
    """nvdisasm 13 analyses no cubin of ABI 7: that takes one of CUDA 12."""
    (path,) = corpus.entry("3.6.0", "sm_80", "matmul_kernel").glob("*.cubin")
    plain, asked = summary(path, toolbox), summary(path, toolbox, ID)
    newest = all(tool.version.startswith("13") for tool in toolbox.find("nvdisasm"))
    if newest:
        assert asked.facts == plain.facts
        (issue,) = [issue for issue in asked.issues if issue.code == "no-live-registers"]
        assert "does not analyse ABI 7; a copy of CUDA 12 does" in issue.message
    else:
        assert ID in {fact.id for fact in asked.facts}


def test_without_a_tool_the_reason_is_said(no_tools: LocalToolbox) -> None:
    (path,) = corpus.entry("3.6.0", "sm_121", "matmul_kernel").glob("*.cubin")
    (issue,) = [each for each in summary(path, no_tools, ID).issues if each.code == "no-live-registers"]
    assert "no nvdisasm was found" in issue.message


def test_the_command_line_asks_for_it_by_name() -> None:
    folder = corpus.entry("3.6.0", "sm_121", "matmul_kernel")
    (kernel,) = irdiff_json("show", folder, "--with", ID)["kernels"]
    assert 8 < kernel["facts"][ID] <= kernel["facts"]["sass.registers"]
    done = irdiff("show", folder, "--with", "sass.live_register")
    assert done.code == 64
    assert ID in done.err
