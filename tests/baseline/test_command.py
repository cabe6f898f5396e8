"""``irdiff baseline write`` and ``accept``, and ``check --baseline``, as a user runs them."""

from __future__ import annotations

import json
import os
import re
import shutil
from datetime import date
from pathlib import Path

import msgspec
import pytest

import corpus
from command import Result
from irdiff import check, write_baseline
from irdiff.baseline.read import parse_baseline
from irdiff.baseline.record import recorded
from irdiff.baseline.side import kernels_of
from irdiff.baseline.write import baseline_text
from irdiff.cli.main import main_with
from irdiff.cli.session import session
from irdiff.engine.compare import Comparer, Side
from irdiff.engine.gate.judge import Gate
from irdiff.engine.kernels import Kernel
from irdiff.engine.pair import pair
from irdiff.model.policy import Policy

TREE = corpus.PAIRS / "spills" / "before"
SPILLING = corpus.PAIRS / "spills" / "after"


@pytest.fixture
def irdiff(capfd, tmp_path, monkeypatch):
    """The command line in this process, in a folder without a configuration."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str | Path) -> Result:
        capfd.readouterr()
        code = main_with([str(each) for each in arguments])
        return Result(code, *capfd.readouterr())

    return run


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A baseline of one small tree."""
    file = tmp_path_factory.mktemp("baseline") / "kernels.baseline"
    assert write_baseline(TREE, file)
    return file


def test_writing_again_keeps_every_byte_and_the_time_of_the_file(irdiff, baseline):
    os.utime(baseline, (1, 1))
    before = baseline.read_bytes()
    done = irdiff("baseline", "write", TREE, "-o", baseline)
    assert done.code == 0, done.err
    assert done.out.startswith("1 kernel, ")
    assert str(baseline) in done.out
    assert baseline.read_bytes() == before
    assert baseline.stat().st_mtime == 1
    assert irdiff("baseline", "write", TREE).out.encode() == before


def test_the_same_kernel_passes_and_one_that_spills_fails_until_it_is_accepted(irdiff, baseline, tmp_path):
    report, accepted = tmp_path / "report.json", tmp_path / "irdiff-accepted.toml"
    assert irdiff("check", TREE, "--baseline", baseline).code == 0
    done = irdiff("check", SPILLING, "--baseline", baseline, "-f", "json", "-o", report)
    assert done.code == 1
    found = json.loads(report.read_text())["judgement"]["findings"]
    assert "RES101" in {each["rule"] for each in found}

    done = irdiff(
        *("baseline", "accept", report, "--reason", "smaller tile next week", "--owner", "ann"),
        *("--rule", "RES*", "--expires", "2999-01-31", "-o", accepted),
    )
    assert done.code == 0, done.err
    assert "RES101" in done.out
    text = accepted.read_text()
    assert 'owner = "ann"' in text
    assert "expires = 2999-01-31" in text
    with_file = ("check", SPILLING, "--baseline", baseline, "--accepted", accepted)
    codes = {each["rule"] for each in found if each["level"] == "error"}
    assert irdiff(*with_file).code == (0 if codes <= {"RES101", "RES103"} else 1)
    accepted.write_text(text.replace("2999", "2001"))
    assert irdiff(*with_file).code == 1
    shown = irdiff(*with_file, "-f", "json")
    assert {each["why"] for each in json.loads(shown.out)["judgement"]["stale"]} == {"expired 2001-01-31"}


def two_specializations(tmp_path: Path, side: Path, name: str) -> Path:
    """The one kernel of a tree, and another that was compiled with more stages and came out the same."""
    made = tmp_path / name
    (entry,) = (path for path in side.iterdir() if path.is_dir())
    shutil.copytree(entry, made / entry.name)
    other = made / f"OTHER{entry.name[5:]}"
    shutil.copytree(entry, other)
    (file,) = (path for path in other.glob("*.json") if not path.name.startswith("__grp__"))
    file.write_text(file.read_text().replace('"num_stages": 3', '"num_stages": 5'))
    return made


def test_of_two_specializations_that_changed_alike_one_is_accepted(irdiff, tmp_path):
    before, after = (two_specializations(tmp_path, side, side.name) for side in (TREE, SPILLING))
    report, file, accepted = (
        tmp_path / name for name in ("report.json", "k.baseline", "irdiff-accepted.toml")
    )
    assert irdiff("baseline", "write", before, "-o", file).code == 0
    for sides in ((after, "--baseline", file), (before, after)):
        accepted.unlink(missing_ok=True)
        assert irdiff("check", *sides, "-f", "json", "-o", report).code == 1
        done = irdiff(
            *("baseline", "accept", report, "--reason", "r", "--owner", "o", "-o", accepted),
            *("--kernel", "many_live_kernel::OTHER", "--rule", "res*"),
        )
        assert done.code == 0, done.err
        for again in ((after, "--baseline", file), (before, after)):
            shown = irdiff("check", *again, "--accepted", accepted, "-f", "json")
            found = [
                each for each in json.loads(shown.out)["judgement"]["findings"] if each["rule"] == "RES101"
            ]
            assert shown.code == 1
            assert {Path(each["path"]).name[:5]: each["accepted"] for each in found} == {
                "OTHER": "r (o)",
                "VO42H": None,
            }


def test_a_baseline_that_lost_lines_never_passes(irdiff, baseline, tmp_path):
    file, lines = tmp_path / "damaged.baseline", baseline.read_text().splitlines(keepends=True)
    for count in (1, len(lines) // 2, len(lines) - 1):
        file.write_text("".join(lines[:count]))
        done = irdiff("check", SPILLING, "--baseline", file)
        assert (done.code, "cut off" in done.err) == (2, True)
        assert f"{file}:" in done.err
        assert "irdiff baseline write" in done.err
    judged = ("sass.registers", "sass.spill_store_bytes", "kernel.ctas_per_sm")
    for kept in (
        [line for line in lines if line.strip().split(" ")[0] != "sass.registers"],
        [line for line in lines if line.strip().split(" ")[0] not in judged],
        [line for line in lines if not (line.startswith("  ") and line.strip().split(" ")[0] in judged[1:])],
    ):
        file.write_text("".join(kept))
        done = irdiff("check", SPILLING, "--baseline", file)
        assert (done.code, "was written with" in done.err) == (2, True)


@pytest.mark.parametrize("value", ["x", "{a 1}", "nan", "inf", "1e999", "null", "9" * 400])
@pytest.mark.parametrize("fact", ["sass.registers", "ptx.fp"])
def test_a_value_that_is_none_of_its_fact_is_an_error_at_its_line(irdiff, baseline, tmp_path, fact, value):
    file, value = tmp_path / "edited.baseline", "3" if fact == "ptx.fp" and value == "{a 1}" else value
    text, count = re.subn(rf"(?m)^  {fact} = [^\[\n]*$", f"  {fact} = {value}", baseline.read_text())
    assert count == 1
    file.write_text(text)
    done = irdiff("check", SPILLING, "--baseline", file)
    assert done.code == 2
    assert re.search(rf"{re.escape(str(file))}:\d+: .*{fact}", done.err)


def test_accepted_changes_beside_the_baseline_are_found(irdiff, baseline, tmp_path):
    report, file = tmp_path / "report.json", tmp_path / "kernels.baseline"
    shutil.copy(baseline, file)
    irdiff("check", SPILLING, "--baseline", file, "-f", "json", "-o", report)
    accepted = tmp_path / "irdiff-accepted.toml"
    irdiff("baseline", "accept", report, "--reason", "r", "--owner", "o", "-o", accepted)
    done = irdiff("check", SPILLING, "--baseline", file)
    assert done.code == 0, done.out
    before = accepted.read_bytes()
    irdiff("baseline", "accept", report, "--reason", "r", "--owner", "o", "-o", accepted)
    assert accepted.read_bytes() == before


def test_what_could_not_be_read_is_not_written_unless_that_is_asked_for(irdiff, tmp_path):
    tree, file = tmp_path / "tree", tmp_path / "k.baseline"
    shutil.copytree(corpus.FIXTURES / "broken" / "cubin-half", tree)
    done = irdiff("baseline", "write", tree, "-o", file)
    assert done.code == 2
    assert "nothing is written" in done.err
    assert "--incomplete" in done.err
    assert not file.exists()
    assert irdiff("baseline", "write", tree, "-o", file, "--incomplete").code == 2
    assert irdiff("check", tree, "--baseline", file).code & 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("write", TREE, "--fact", "sass.nothing"), "no fact is called 'sass.nothing'"),
        (("accept", "nowhere.json", "--reason", "r", "--owner", "o"), "nowhere.json: cannot be read"),
        (("accept", "x", "--reason", "r", "--owner", "o", "--expires", "soon"), "'soon' is no date"),
        (("accept", "x", "--reason", "r", "--owner", "o", "--expires", "2001-01-01"), "is over"),
    ],
)
def test_an_error_says_what_is_wrong(irdiff, arguments, words):
    done = irdiff("baseline", *arguments)
    assert done.code in (2, 64)
    assert words in done.err


def test_facts_asked_for_are_recorded_too(irdiff, tmp_path):
    plain = irdiff("baseline", "write", TREE).out
    more = irdiff("baseline", "write", TREE, "--fact", "sass.classes", "--fact", "llir.m*").out
    assert "sass.classes" not in plain
    assert "  sass.classes = {" in more
    assert "  llir.memory = [tally" in more


def test_facts_that_expressions_of_the_policy_name_are_recorded(irdiff, tmp_path):
    (tmp_path / "irdiff.toml").write_text(
        '[[check.expect]]\ncode = "OWN001"\nexpect = "sass.named_barriers <= before"\n'
    )
    assert "  sass.named_barriers = " in irdiff("baseline", "write", TREE).out


def test_a_compilation_that_failed_is_recorded_as_one(irdiff, tmp_path):
    entry = corpus.entry("3.6.0", "sm_90", "vector_add_kernel")
    good, bad = tmp_path / "good.baseline", tmp_path / "bad.baseline"
    failed = tmp_path / "tree" / entry.name
    shutil.copytree(entry, failed)
    for path in failed.iterdir():
        if path.suffix in (".json", ".cubin", ".ptx", ".llir"):
            path.unlink()
    assert irdiff("baseline", "write", entry, "-o", good).code == 0
    assert irdiff("baseline", "write", failed.parent, "-o", bad).code == 0
    assert "  layout = failed\n" in bad.read_text()
    done = irdiff("check", failed.parent, "--baseline", good)
    assert done.code & 1
    assert "BUILD101" in done.out
    assert irdiff("check", entry, "--baseline", bad).code == 0


def _renumbered(kernel: Kernel) -> Kernel:
    """As Inductor names it in another run: ``triton_poi_fused_add_3`` is ``_4``, under another hash."""
    name = re.sub(r"_(\d+)$", lambda found: f"_{int(found[1]) + 1}", kernel.bundle.name)
    return msgspec.structs.replace(
        kernel, bundle=msgspec.structs.replace(kernel.bundle, name=name, hash=None, entry="")
    )


def _code(kernel: Kernel) -> list[object]:
    return [fact.value for fact in kernel.derived if fact.id == "kernel.code"]


@pytest.mark.data
def test_the_recorded_cache_passes_its_own_baseline_and_a_swapped_cubin_fails(h200, tmp_path):
    """141 kernels, read once; renumbered; then one of them with the cubin of a sibling compiled otherwise."""
    file = tmp_path / "h200.baseline"
    with session(external=False) as run:
        reader = run.reader(canonical=True)
        kernels = tuple(reader.read(run.load(str(h200)).bundles))
        provenance = frozenset(name for name, spec in run.registry.facts.items() if spec.provenance)
        text = baseline_text(recorded(kernels, run.registry), provenance)
        before, issues = kernels_of(parse_baseline(text, where="k"), run.registry, where="k")
        gate = Gate(run.registry, Policy())
        report = Comparer(run.registry, reader, each=gate.each).compare(
            Side(described="k", kernels=before, issues=issues), Side(described="tree", kernels=kernels)
        )
        judgement = gate.judged(report, today=date(2030, 1, 1)).judgement
    assert (judgement.failed, judgement.unsure, judgement.findings, issues) == (False, False, (), ())
    assert (report.verdict, len(report.kernels), report.added, report.removed) == ("equivalent", 141, (), ())

    pairs = pair(before, [_renumbered(kernel) for kernel in kernels], run.registry.facts)
    assert (len(pairs.pairs), pairs.removed, pairs.added) == (141, (), ())
    assert all(_code(one) == _code(other) for one, other, _ in pairs.pairs)

    blocks = text.decode().split("\n\nkernel ")[1:]
    assert len(blocks) == 141
    lines = sorted(block.count("\n") + 1 for block in blocks)
    assert lines[len(lines) // 2] < 65

    file.write_bytes(text)
    entries = {path.parent.name[:6]: path for path in h200.rglob("matmul_kernel.cubin")}
    chosen, other = entries["DWMAWP"].parent, entries["OVYIFU"]
    tree = tmp_path / "tree" / chosen.name
    shutil.copytree(chosen, tree)
    assert check(None, tree.parent, baseline=file).judgement.failed is False
    (tree / "matmul_kernel.cubin").write_bytes(other.read_bytes())
    found = check(None, tree.parent, baseline=file).judgement
    assert found.failed
    errors = [(each.kernel, each.rule, each.message) for each in found.findings if each.level == "error"]
    assert errors == [("matmul_kernel", "RES103", "CTAs per multiprocessor 8 → 3, limited by registers")]
