"""The gate fails closed, and only then: each situation with its exit code, through the command line."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import corpus
from command import irdiff
from fake_site import Site
from gate.gating import check, copied, only, pair
from irdiff.cli import session
from irdiff.cli.main import main_with
from irdiff.tools.toolbox import LocalToolbox

PASS, FAILED, UNSURE, BOTH, USAGE = 0, 1, 2, 3, 64
ENTRY = corpus.entry("3.6.0", "sm_90", "vector_add_kernel")
HIP = corpus.entry("3.6.0", "gfx942", "vector_add_kernel")
FAILED_TREE = corpus.BUNDLES / "triton-3.3.1" / "sm_121"
COMPILED_TREE = corpus.BUNDLES / "triton-3.6.0" / "sm_121"


@pytest.fixture
def without_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    """No disassembler is found anywhere."""

    def nothing(specs: object, environment: dict[str, str]) -> LocalToolbox:
        return LocalToolbox({}, environment)

    monkeypatch.setattr(session, "LocalToolbox", nothing)


# Judged, not refused.


def test_a_tree_against_itself_passes(tmp_path: Path) -> None:
    tree = corpus.BUNDLES / "triton-3.6.0" / "sm_80"
    checked = check(tmp_path, tree, tree)
    assert checked.code == PASS
    assert checked.judgement["findings"] == checked.judgement["unjudged"] == []


@pytest.mark.parametrize("folder", ["dumps/triton-3.6.0", "binary-only"])
def test_a_dump_tree_and_a_binary_only_tree_are_judged(folder: str, tmp_path: Path) -> None:
    tree = corpus.FIXTURES / folder
    assert check(tmp_path, tree, tree).code == PASS


def test_a_dump_that_holds_sass_text_and_no_cubin_is_judged(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(corpus.FIXTURES / "dumps" / "triton-3.6.0", tree)
    only(tree, ".cubin").unlink()
    other = shutil.copytree(tree, tmp_path / "other")
    text = only(other, ".sass")
    text.write_text(text.read_text().replace("S2R", "S2UR", 1))
    assert check(tmp_path, tree, other).code == PASS


def test_a_dump_against_the_cache_it_was_written_beside_is_judged(tmp_path: Path) -> None:
    assert check(tmp_path, corpus.FIXTURES / "dumps" / "triton-3.6.0", ENTRY).code == PASS


@pytest.mark.usefixtures("without_tools")
def test_releases_that_write_no_source_are_judged(tmp_path: Path) -> None:
    trees = [corpus.BUNDLES / f"triton-{release}" / "sm_80" for release in ("3.3.1", "3.6.0")]
    checked = check(tmp_path, *trees)
    assert checked.code == PASS
    assert "source" in {
        stage
        for kernel in checked.report["kernels"]
        for stage, found in kernel["stages"].items()
        if found["sameness"] == "missing"
    }


@pytest.mark.usefixtures("without_tools")
def test_a_tree_compiled_from_ir_lacks_no_stage_before_it(tmp_path: Path) -> None:
    tree = copied(ENTRY, tmp_path / "tree")
    for path in (*tree.rglob("__grp__*"), only(tree, ".source"), only(tree, ".ttir")):
        path.unlink()
    assert check(tmp_path, tree, tree).code == UNSURE
    record = '{"schema": "irdiff-entry/1", "source": {"file": "k.ttgir", "kind": "ttgir"}}'
    (tree / ENTRY.name / "irdiff.json").write_text(record)
    assert check(tmp_path, tree, tree).code == PASS


@pytest.mark.usefixtures("without_tools")
@pytest.mark.parametrize("name", ["moved", "comment"])
def test_without_a_disassembler_equal_fingerprints_are_enough(name: str, tmp_path: Path) -> None:
    assert check(tmp_path, *pair(name)).code == PASS


@pytest.mark.usefixtures("without_tools")
def test_without_a_disassembler_code_without_a_stack_is_judged(tmp_path: Path) -> None:
    checked = check(tmp_path, *pair("fp_fusion"))
    assert checked.report["kernels"][0]["machine_code"] == "changed"
    assert (checked.code, checked.unjudged()) == (PASS, set())


@pytest.mark.usefixtures("without_tools")
def test_without_a_disassembler_the_widths_of_the_stage_above_are_judged(tmp_path: Path) -> None:
    checked = check(tmp_path, *pair("divisibility"))
    assert (checked.code, checked.finding("MEM101")["fact"]) == (FAILED, "ptx.global_loads")


@pytest.mark.usefixtures("without_tools")
def test_a_stage_that_no_plugin_reads_is_compared_and_judged(tmp_path: Path) -> None:
    trees = [copied(ENTRY, tmp_path / side) for side in ("before", "after")]
    for number, tree in enumerate(trees):
        only(tree, ".ttir").with_suffix(".forkir").write_text(f"line {number}\n")
    checked = check(tmp_path, *trees)
    assert checked.report["verdict"] == "changed"
    assert checked.code == PASS


@pytest.mark.usefixtures("without_tools")
def test_kernels_on_one_side_only_are_judged(tmp_path: Path) -> None:
    tree = copied(ENTRY, tmp_path / "tree")
    more = copied(corpus.entry("3.6.0", "sm_90", "softmax_kernel"), copied(ENTRY, tmp_path / "more"))
    assert check(tmp_path, tree, more).code == PASS
    fewer = check(tmp_path, more, tree)
    assert (fewer.code, fewer.fired("warn")) == (PASS, {"BUILD103"})
    assert check(tmp_path, more, tree, "--rule", "BUILD103=error").code == FAILED


@pytest.mark.usefixtures("without_tools")
def test_a_kernel_that_compiles_now_is_judged(tmp_path: Path) -> None:
    assert check(tmp_path, FAILED_TREE, COMPILED_TREE).code == PASS


@pytest.mark.usefixtures("without_tools")
def test_a_kernel_that_compiles_on_neither_side_is_told_beside_what_was_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (failed,) = [path for path in FAILED_TREE.iterdir() if path.is_dir()]
    tree = copied(failed, copied(ENTRY, tmp_path / "tree"))
    checked = check(tmp_path, tree, tree)
    assert (checked.code, checked.unjudged()) == (PASS, set())
    assert main_with(["check", str(tree), str(tree), "--no-external-plugins"]) == PASS
    told = " ".join(capsys.readouterr().out.split())
    assert "matmul_kernel did not compile, neither before nor after" in told


@pytest.mark.usefixtures("without_tools")
def test_a_compilation_that_failed_on_one_side_alone(tmp_path: Path) -> None:
    """Before: it is gone, and nothing with it. After: something new that does not compile."""
    (failed,) = [path for path in FAILED_TREE.iterdir() if path.is_dir()]
    tree = copied(ENTRY, copied(corpus.entry("3.6.0", "sm_90", "softmax_kernel"), tmp_path / "tree"))
    more = copied(failed, Path(shutil.copytree(tree, tmp_path / "more")))
    gone = check(tmp_path, more, tree)
    assert (gone.code, gone.fired()) == (PASS, set())
    new = check(tmp_path, tree, more)
    assert (new.code, new.unjudged()) == (UNSURE, {"compilation-ended-early"})


def test_a_plugin_that_the_user_switched_off_is_no_problem(tmp_path: Path) -> None:
    done = irdiff("check", ENTRY, ENTRY, env={"IRDIFF_DISABLE_PLUGINS": "llir"}, cwd=tmp_path)
    assert done.code == PASS, done.out


def test_text_that_no_plugin_reads_is_judged_whatever_its_suffix(tmp_path: Path) -> None:
    """A stage of a fork beside machine code that is the same."""
    trees = [copied(HIP, tmp_path / side) for side in ("before", "after")]
    only(trees[1], ".amdgcn").write_text("another text\n")
    assert check(tmp_path, *trees).unjudged() == set()


def test_a_stage_of_a_fork_beside_machine_code_that_is_read_may_be_a_binary(tmp_path: Path) -> None:
    trees = [copied(ENTRY, tmp_path / side) for side in ("before", "after")]
    for number, tree in enumerate(trees):
        only(tree, ".ttir").with_suffix(".forkbc").write_bytes(bytes((0, 255, number)))
    checked = check(tmp_path, *trees)
    assert (checked.code, checked.report["verdict"]) == (PASS, "changed")


# Refused.


def test_trees_in_which_nothing_compiled_are_refused(tmp_path: Path) -> None:
    checked = check(tmp_path, FAILED_TREE, FAILED_TREE)
    assert (checked.code, checked.unjudged(), checked.fired()) == (UNSURE, {"nothing-compiled"}, set())


@pytest.mark.usefixtures("without_tools")
def test_kernels_of_two_targets_are_refused(tmp_path: Path) -> None:
    entries = [corpus.entry("3.6.0", target, "matmul_kernel", "w4s2") for target in ("sm_90", "sm_80")]
    checked = check(tmp_path, *entries)
    assert (checked.code & UNSURE, "other-target" in checked.unjudged()) == (UNSURE, True)
    (told,) = [each for each in checked.judgement["unjudged"] if each["code"] == "other-target"]
    assert "cuda:90 before" in told["message"]
    assert "cuda:80 after" in told["message"]
    assert "RES101" in told["rules"]
    assert "MMA102" not in told["rules"], "it holds for two targets too"


def test_machine_code_that_no_plugin_reads_is_refused_where_it_differs(tmp_path: Path) -> None:
    trees = [copied(HIP, tmp_path / side) for side in ("before", "after")]
    assert check(tmp_path, *trees).code == PASS
    binary = only(trees[1], ".hsaco")
    binary.write_bytes(binary.read_bytes() + b"\0")
    checked = check(tmp_path, *trees)
    assert (checked.code, checked.unjudged()) == (UNSURE, {"unread-machine-code"})
    (told,) = checked.judgement["unjudged"]
    assert ".hsaco" in told["hint"]
    assert "irdiff plugins" in told["hint"]


def test_machine_code_whose_plugin_is_switched_off_is_refused_where_it_differs(tmp_path: Path) -> None:
    off = {"IRDIFF_DISABLE_PLUGINS": "sass"}
    done = irdiff("check", *pair("fp_fusion"), "--no-store", env=off, cwd=tmp_path)
    assert done.code & UNSURE, done.out
    assert "no plugin reads it" in done.out
    assert irdiff("check", *pair("fp_fusion")[:1] * 2, "--no-store", env=off, cwd=tmp_path).code == PASS


def cut(tree: Path) -> None:
    cubin = only(tree, ".cubin")
    cubin.write_bytes(cubin.read_bytes()[:2000])


def cut_ttgir(tree: Path) -> None:
    text = only(tree, ".ttgir")
    text.write_text(text.read_text()[:1500])


def not_understood(tree: Path) -> None:
    ptx = only(tree, ".ptx")
    ptx.write_text(ptx.read_text().replace("\tmov.", "\tmystery.").replace("\tadd.", "\tmystery."))


def remove(suffix: str) -> Callable[[Path], None]:
    def removed(tree: Path) -> None:
        only(tree, suffix).unlink()

    removed.__name__ = f"without{suffix}"
    return removed


DAMAGE = {
    cut: ("sass", "unreadable"),
    cut_ttgir: ("ttgir", ""),
    not_understood: ("ptx", "low-coverage"),
    remove(".ttir"): ("ttir", "missing-file"),  # Triton's list of files names it
    remove(".cubin"): ("sass", "missing-file"),
}


@pytest.mark.usefixtures("without_tools")
@pytest.mark.parametrize("side", ["before", "after"])
@pytest.mark.parametrize("damage", DAMAGE, ids=lambda each: each.__name__)
def test_a_stage_that_is_missing_or_not_readable_is_refused(
    damage: Callable[[Path], None], side: str, tmp_path: Path
) -> None:
    trees = {name: copied(ENTRY, tmp_path / name) for name in ("before", "after")}
    damage(trees[side])
    checked = check(tmp_path, trees["before"], trees["after"])
    assert (checked.code, checked.judgement["unsure"]) == (UNSURE, True)
    stage, code = DAMAGE[damage]
    told, *_ = [each for each in checked.judgement["unjudged"] if each["stage"] == stage]
    assert code in ("", told["code"])
    assert "BUILD102" in told["rules"]
    assert told["kernel"] == "vector_add_kernel"


@pytest.mark.usefixtures("without_tools")
def test_damage_that_is_the_same_on_both_sides_is_refused_too(tmp_path: Path) -> None:
    tree = copied(ENTRY, tmp_path / "tree")
    cut(tree)
    assert check(tmp_path, tree, tree).code == UNSURE


@pytest.mark.usefixtures("without_tools")
@pytest.mark.parametrize(("level", "code", "fired"), [("warn", PASS, {"BUILD102"}), ("off", PASS, set())])
def test_a_policy_may_know_of_a_missing_stage(level: str, code: int, fired: set[str], tmp_path: Path) -> None:
    trees = [copied(ENTRY, tmp_path / side) for side in ("before", "after")]
    only(trees[1], ".ttir").unlink()
    checked = check(tmp_path, *trees, "--rule", f"BUILD102={level}")
    assert (checked.code, checked.fired()) == (code, fired)


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    checked = check(tmp_path, ENTRY, tmp_path / "empty")
    assert (checked.code, checked.report) == (UNSURE, None)


@pytest.mark.usefixtures("without_tools")
def test_trees_without_a_common_kernel_are_refused(tmp_path: Path) -> None:
    sides = {
        "before": ("softmax_kernel", "matmul_kernel"),
        "after": ("histogram_kernel", "vector_add_kernel"),
    }
    for side, kernels in sides.items():
        for kernel in kernels:
            copied(corpus.entry("3.6.0", "sm_90", kernel), tmp_path / side)
    checked = check(tmp_path, tmp_path / "before", tmp_path / "after")
    assert (checked.code, checked.unjudged()) == (UNSURE, {"nothing-paired"})


def test_a_plugin_that_did_not_load_is_refused(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.install("irdiff-broken", "1.0", broken="raise RuntimeError('not today')\n")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = irdiff("check", ENTRY, ENTRY, env={"PYTHONPATH": path}, cwd=tmp_path)
    assert done.code == UNSURE, done.err
    assert "irdiff-broken" in done.out
    off = {"PYTHONPATH": path, "IRDIFF_DISABLE_PLUGINS": "broken"}
    assert irdiff("check", ENTRY, ENTRY, env=off, cwd=tmp_path).code == PASS


def test_a_kernel_that_stopped_compiling_fails_and_is_refused(tmp_path: Path) -> None:
    checked = check(tmp_path, COMPILED_TREE, FAILED_TREE)
    assert (checked.code, checked.fired("error")) == (BOTH, {"BUILD101"})
    assert checked.unjudged() == {"compilation-ended-early"}


@pytest.mark.usefixtures("without_tools")
def test_a_rule_that_needed_a_disassembler_is_refused(tmp_path: Path) -> None:
    checked = check(tmp_path, *pair("spills"))
    (told,) = checked.judgement["unjudged"]
    assert (told["code"], told["stage"], told["rules"]) == ("not-decoded", "sass", ["MEM102"])
    assert "irdiff[sass]" in told["hint"]
    assert (checked.code, checked.fired("error")) == (BOTH, {"RES101"})
    switched_off = check(tmp_path, *pair("spills"), "--rule", "MEM102=off", "--rule", "RES101=warn")
    assert switched_off.code == PASS


@pytest.mark.usefixtures("without_tools")
def test_machine_code_alone_that_differs_needs_a_disassembler(tmp_path: Path) -> None:
    files = [only(tree, ".cubin") for tree in pair("divisibility")]
    checked = check(tmp_path, *files)
    assert (checked.code, checked.unjudged()) == (UNSURE, {"not-decoded"})
    assert "MEM101" in checked.judgement["unjudged"][0]["rules"]


def test_a_required_stage_has_to_be_there(tmp_path: Path) -> None:
    trees = [corpus.BUNDLES / f"triton-{release}" / "sm_80" for release in ("3.3.1", "3.6.0")]
    checked = check(tmp_path, *trees, "--require", "source")
    assert (checked.code, checked.unjudged()) == (UNSURE, {"required-stage"})
    assert check(tmp_path, *trees, "--require", "sass").code == PASS
    assert check(tmp_path, *trees, "--require", "no-such-stage").code == USAGE


@pytest.mark.usefixtures("without_tools")
def test_a_required_stage_has_to_be_read_in_full_where_it_differs(tmp_path: Path) -> None:
    assert check(tmp_path, *pair("moved"), "--require", "sass").code == PASS
    checked = check(tmp_path, *pair("fp_fusion"), "--require", "sass")
    assert (checked.code, checked.unjudged()) == (UNSURE, {"required-stage"})


@pytest.mark.usefixtures("without_tools")
def test_a_policy_that_judges_nothing_is_refused(tmp_path: Path) -> None:
    policy = tmp_path / "irdiff.toml"
    policy.write_text('[check]\nkernels = ["another_*"]\n')
    assert check(tmp_path, ENTRY, ENTRY, "--policy", policy).unjudged() == {"nothing-selected"}
    assert check(tmp_path, ENTRY, ENTRY, "--rule", "*=off").unjudged() == {"no-rules"}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), USAGE),
        ((ENTRY,), USAGE),
        ((ENTRY, ENTRY, "--rule", "RES101"), USAGE),
        ((ENTRY, ENTRY, "--rule", "RES101=fatal"), USAGE),
        ((ENTRY, ENTRY, "--rule", "RES999=off"), USAGE),
        ((ENTRY, ENTRY, "--target", "cuda:90"), USAGE),
        ((ENTRY, "--baseline", ENTRY / "no-such-file"), UNSURE),
        ((ENTRY, ENTRY, "--policy", ENTRY / "no-such-file.toml"), UNSURE),
    ],
)
def test_a_call_that_means_nothing_is_no_pass(
    arguments: tuple[str | Path, ...], code: int, tmp_path: Path
) -> None:
    checked = check(tmp_path, *arguments)
    assert (checked.code, checked.report) == (code, None)
