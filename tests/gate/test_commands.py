"""The commands ``check`` and ``rules`` as a user sees them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gate.gating import check, pair
from irdiff.cli.main import main_with
from irdiff.registry import Registry


def said(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    code = main_with([str(each) for each in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_rules_are_listed_with_level_and_title(
    capsys: pytest.CaptureFixture[str], registry: Registry
) -> None:
    code, out, _ = said(capsys, "rules", "--no-external-plugins")
    assert code == 0
    for rule in registry.rules:
        (line,) = [line for line in out.splitlines() if line.startswith(f"{rule.code} ")]
        assert line.split()[1] == rule.level
        assert line.endswith(rule.title)


def test_a_rule_has_a_page_with_its_examples(capsys: pytest.CaptureFixture[str], registry: Registry) -> None:
    for rule in registry.rules:
        code, out, _ = said(capsys, "rules", rule.code, "--no-external-plugins")
        words = " ".join(out.split())
        assert code == 0
        for text in (rule.title, rule.doc, rule.why, rule.advice, *(each.note for each in rule.examples)):
            assert " ".join(text.split()) in words


def test_rules_as_json_hold_what_the_page_does(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, "rules", "RES104", "--format", "json", "--no-external-plugins")
    (rule,) = json.loads(out)
    assert code == 0
    assert (rule["code"], rule["level"], rule["role"]) == ("RES104", "warn", "shared_bytes")
    assert rule["tolerance"] == {"absolute": 0.0, "percent": 10.0}
    assert rule["plugin"].startswith("rules (irdiff ")
    assert {example["fires"] for example in rule["examples"]} == {True, False}


def test_a_code_is_found_in_any_case_and_a_glob_lists_what_it_matches(
    capsys: pytest.CaptureFixture[str], registry: Registry
) -> None:
    assert said(capsys, "rules", "res101", "--no-external-plugins") == said(
        capsys, "rules", "RES101", "--no-external-plugins"
    )
    for glob in ("RES*", "res*"):
        code, out, _ = said(capsys, "rules", glob, "--no-external-plugins")
        listed = [line.split()[0] for line in out.splitlines() if line.startswith("RES")]
        assert code == 0
        assert listed == [rule.code for rule in registry.rules if rule.code.startswith("RES")]
        assert "LAY" not in out
    _, out, _ = said(capsys, "rules", "res10[1]", "--format", "json", "--no-external-plugins")
    assert [rule["code"] for rule in json.loads(out)] == ["RES101"]


@pytest.mark.parametrize("wanted", ["RES1O1", "res1o1", "RES101x*"])
def test_a_code_that_is_none_names_the_nearest(wanted: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, "rules", wanted, "--no-external-plugins")
    assert (code, out) == (64, "")
    assert "RES101" in err


def explained(capsys: pytest.CaptureFixture[str], tmp_path: Path, *arguments: str) -> tuple[int, str]:
    policy = tmp_path / "irdiff.toml"
    policy.write_text('[check.rules]\nNUM101 = "off"\nRES102 = "error"\n')
    code, out, err = said(
        capsys, "check", *pair("fp_fusion"), "--policy", policy, "--no-external-plugins", *arguments
    )
    assert err == ""
    return code, " ".join(out.split())


def test_explain_says_which_setting_decided(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out = explained(capsys, tmp_path, "--explain", "RES102")
    assert code == 1
    assert "26 → 28" in out
    assert "irdiff.toml" in out
    code, out = explained(capsys, tmp_path, "--explain", "NUM101")
    assert "off (irdiff.toml: check.rules NUM101)" in out
    code, out = explained(capsys, tmp_path, "--explain", "SIZE101")
    assert "within the tolerance of 20 %" in out


def test_an_expectation_is_told_once_and_explained_by_where_it_stands(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    policy = tmp_path / "irdiff.toml"
    policy.write_text('[[check.expect]]\ncode = "FA001"\nexpect = "sass.registers <= 26"\n')
    arguments = ("check", *pair("fp_fusion"), "--policy", policy, "--no-external-plugins")
    code, out, _ = said(capsys, *arguments)
    assert code & 1
    assert out.count("sass.registers <= 26") == 1
    _, out, _ = said(capsys, *arguments, "--explain", "FA001")
    assert "irdiff rules FA001" not in out
    assert "[[check.expect]]" in out
    _, out, _ = said(capsys, *arguments, "--explain", "RES102")
    assert "irdiff rules RES102" in out


@pytest.mark.parametrize("arguments", [("--explain",), ("--explain", "--all")])
def test_explain_alone_tells_of_every_rule(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path, registry: Registry
) -> None:
    _, out = explained(capsys, tmp_path, *arguments)
    for rule in registry.rules:
        assert rule.code in out


def test_a_policy_is_found_upwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.irdiff.check.rules]\nMEM101 = "warn"\n')
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    output = tmp_path / "report.json"
    arguments = ("check", *pair("divisibility"), "--no-external-plugins", "-f", "json", "-o", output)
    assert main_with([str(each) for each in arguments]) == 0
    found = json.loads(output.read_text())["judgement"]
    assert found["policy"] == "pyproject.toml"
    assert found["rules"]["MEM101"]["level"] == "warn"
    assert main_with([*map(str, arguments), "--rule", "MEM101=error"]) == 1


def test_compare_names_the_rules_and_judges_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = said(capsys, "compare", *pair("divisibility"), "--no-external-plugins")
    assert code == 0
    assert "MEM101" in out
    _, out, _ = said(capsys, "compare", *pair("divisibility"), "--no-external-plugins", "--format", "json")
    assert "judgement" not in json.loads(out)


def test_what_check_and_compare_say_of_the_kernels_is_the_same(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    checked = check(tmp_path, *pair("mma_fallback"))
    _, out, _ = said(capsys, "compare", *pair("mma_fallback"), "--no-external-plugins", "--format", "json")
    assert checked.report["kernels"] == json.loads(out)["kernels"]
