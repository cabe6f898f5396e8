"""Real regressions of AMD's compiler, read from artifacts that were made without a GPU: verdict, where, how much."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from amd_fixtures import unpack_cases
from irdiff_amdgcn.plugin import AMDGCN, HSACO


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack_cases(tmp_path_factory.mktemp("cases"))


def irdiff(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "irdiff", *map(str, arguments)]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "COLUMNS": "160"},
    )


def compared(before: Path, after: Path) -> dict[str, Any]:
    """The one kernel of a comparison."""
    ran = irdiff("compare", before, after, "--format", "json")
    assert ran.returncode == 0, ran.stderr
    report = json.loads(ran.stdout)
    (kernel,) = report["kernels"]
    assert not [issue for issue in (*report["issues"], *kernel["issues"]) if issue["severity"] != "note"]
    return {**kernel, "verdict": report["verdict"]}


def moved(kernel: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    """(fact, loop or ``""``) to change."""
    return {(change["fact"], change["scope"].partition("/")[2]): change for change in kernel["changes"]}


def test_attention_on_gfx950_spills_more_at_equal_registers(cases: Path) -> None:
    """A head of 256 and 256 rows of queries: 8 waves of 256 registers, all in use in both releases."""
    kernel = compared(cases / "attention-gfx950/3.6.0", cases / "attention-gfx950/3.7.1")
    stages = {name: stage["sameness"] for name, stage in kernel["stages"].items()}
    assert kernel["verdict"] == "changed"
    assert kernel["status"] == "changed"
    assert kernel["direction"] == "worse"
    assert kernel["machine_code"] == "changed"
    assert stages["ttgir"] in ("identical", "equivalent")
    assert stages["ttir"] in ("identical", "equivalent")
    assert [name for name, each in stages.items() if each == "changed"] == ["llir", "amdgcn", "hsaco"]
    assert kernel["first_divergence"]["stage"] == "llir"
    assert kernel["first_divergence"]["cause"] == "lowering and LLVM's optimizer (3.6.0 -> 3.7.1)"
    changes = moved(kernel)
    spills = changes["amdgcn.vgpr_spills", ""]
    assert (spills["before"], spills["after"], spills["effect"]) == (14, 93, "worse")
    in_loop = changes["amdgcn.vgpr_spills", "loop0"]
    assert (in_loop["before"], in_loop["after"], in_loop["effect"]) == (4, 12, "worse")
    segment = changes["amdgcn.private_segment", ""]
    assert (segment["before"], segment["after"]) == (60, 296)
    assert ("amdgcn.registers", "") not in changes
    assert ("amdgcn.occupancy", "") not in changes
    assert ("hsaco.vgpr_spills", "") not in changes, "told once, by the assembly"
    assert not [change for change in kernel["changes"] if change["effect"] == "unexplained"]


def test_a_matmul_on_gfx942_spills_four_times_as_much(cases: Path) -> None:
    """A tile of 256 by 256 by 64 with 4 waves: 512 registers per lane, all in use in both releases."""
    kernel = compared(cases / "matmul-gfx942/3.7.1", cases / "matmul-gfx942/3.8.0")
    assert (kernel["verdict"], kernel["status"]) == ("changed", "changed")
    assert kernel["direction"] in ("worse", "mixed")
    assert kernel["machine_code"] == "changed"
    assert kernel["first_divergence"]["stage"] == "llir"
    assert kernel["first_divergence"]["cause"] == "lowering and LLVM's optimizer (3.7.1 -> 3.8.0)"
    changes = moved(kernel)
    spills = changes["amdgcn.vgpr_spills", ""]
    assert (spills["before"], spills["after"], spills["effect"]) == (119, 479, "worse")
    assert changes["amdgcn.vgpr_spills", "loop0"]["effect"] == "worse"
    segment = changes["amdgcn.private_segment", ""]
    assert (segment["before"], segment["after"], segment["effect"]) == (352, 656, "worse")
    assert ("amdgcn.registers", "") not in changes
    assert not [change for change in kernel["changes"] if change["effect"] == "unexplained"]


@pytest.mark.parametrize(
    ("case", "before", "after", "message"),
    [
        ("attention-gfx950", "3.6.0", "3.7.1", "spilled vector registers 14 → 93, in loop0 4 → 12"),
        ("matmul-gfx942", "3.7.1", "3.8.0", "spilled vector registers 119 → 479, in loop0 44 → 250"),
    ],
)
def test_the_gate_fails_on_the_spills_alone(
    cases: Path, case: str, before: str, after: str, message: str
) -> None:
    ran = irdiff("check", cases / case / before, cases / case / after, "--format", "json")
    assert ran.returncode == 1, ran.stderr
    report = json.loads(ran.stdout)
    errors = [found for found in report["judgement"]["findings"] if found["level"] == "error"]
    assert [(found["rule"], found["fact"], found["message"]) for found in errors] == [
        ("RES101", "amdgcn.vgpr_spills", message)
    ]
    (kernel,) = report["kernels"]
    changes = moved(kernel)
    assert "RES101" in changes["amdgcn.vgpr_spills", ""]["rules"]
    assert report["judgement"]["unjudged"] == []


@pytest.mark.parametrize("form", ["terminal", "markdown", "sarif", "junit", "github"])
def test_every_renderer_names_the_spills(cases: Path, form: str) -> None:
    case = cases / "attention-gfx950"
    ran = irdiff("check", case / "3.6.0", case / "3.7.1", "--format", form)
    assert "spilled vector registers 14 → 93" in ran.stdout.replace("\\u2192", "→")


def test_spills_have_the_role_that_rules_go_by() -> None:
    roles = {spec.id: spec.role for spec in (*AMDGCN.facts, *HSACO.facts)}
    assert roles["amdgcn.vgpr_spills"] == roles["hsaco.vgpr_spills"] == "spills"


def test_the_table_of_many_kernels_counts_registers_not_bytes(cases: Path) -> None:
    ran = irdiff("show", cases)
    assert ran.returncode == 0, ran.stderr
    header, *rows = ran.stdout.splitlines()
    assert "spilled registers" in header
    assert "waves/SIMD" in header
    spills = sorted(int(row.split()[3].replace(",", "")) for row in rows if "gfx9" in row)
    assert spills == [14, 93, 119, 479]
