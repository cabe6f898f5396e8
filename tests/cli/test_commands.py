"""The command line as a user meets it: exit codes, errors with hints, formats, pipes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

import corpus
from command import irdiff, irdiff_json
from irdiff.cli.exit_codes import Exit
from irdiff.cli.main import main_with
from irdiff.model.report import Report, Show

MOVED = (corpus.PAIRS / "moved/before", corpus.PAIRS / "moved/after")
NARROWED = (corpus.PAIRS / "divisibility/before", corpus.PAIRS / "divisibility/after")
HEAVY = ("triton", "torch", "jinja2", "rapidfuzz", "rich", "tree_sitter")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from irdiff.cli.main import main_with; main_with(['--help']); "
        "print([name for name in sys.modules if name.split('.')[0] in "
        f"{HEAVY!r}], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_compare_imports_neither_triton_nor_torch() -> None:
    code = (
        "import sys; from irdiff.cli.main import main_with; "
        f"main_with(['compare', {str(MOVED[0])!r}, {str(MOVED[1])!r}]); "
        "print([name for name in sys.modules if name.split('.')[0] in ('triton', 'torch')], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_the_generated_references_and_schemas_are_up_to_date() -> None:
    script = corpus.ROOT / "docs/make_reference.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_compare_and_show_print_satisfies_the_published_schema() -> None:
    for form, made in ((Report, irdiff_json("compare", *NARROWED)), (Show, irdiff_json("show", NARROWED[0]))):
        published = corpus.ROOT / "docs/reference" / f"{form.__name__.lower()}.schema.json"
        jsonschema.validate(made, json.loads(published.read_text()))


def test_a_moved_source_is_equivalent_and_the_reason_is_named() -> None:
    done = irdiff("compare", *MOVED)
    assert done.code == 0
    assert "equivalent" in done.out.splitlines()[0]
    assert "No meaning changed. Bytes differ by" in done.out
    assert "source paths" in done.out


def test_exit_code_is_asked_for() -> None:
    assert irdiff("compare", *NARROWED).code == Exit.OK
    assert irdiff("compare", *NARROWED, "--exit-code").code == Exit.CHANGED
    assert irdiff("compare", *MOVED, "--exit-code").code == Exit.OK


def test_a_name_that_is_not_there_lists_the_nearest() -> None:
    done = irdiff("show", f"{corpus.BUNDLES}/triton-3.6.0/sm_90::matmul_kernl")
    assert done.code == Exit.UNSURE
    assert "matmul_kernel" in done.err
    assert "Traceback" not in done.err


def test_a_folder_that_is_not_there_names_itself(tmp_path: Path) -> None:
    done = irdiff("compare", tmp_path / "nowhere", NARROWED[0])
    assert done.code == Exit.UNSURE
    assert "nowhere" in done.err


@pytest.mark.parametrize(
    "arguments",
    [("compare", "only-one"), ("compar",), ("show", "--no-such-option"), ("show", ".", "--format", "xml")],
)
def test_wrong_usage_is_64(arguments: tuple[str, ...]) -> None:
    done = irdiff(*arguments)
    assert done.code == Exit.USAGE
    assert done.err


def test_an_unknown_normalisation_is_named_with_its_nearest() -> None:
    done = irdiff("compare", *MOVED, "--no-normalize", "source-path")
    assert done.code == Exit.USAGE
    assert "source-paths" in done.err


def test_a_normalisation_can_be_switched_off() -> None:
    assert irdiff_json("compare", *MOVED, "--no-normalize", "source-paths")["verdict"] == "changed"


def test_an_output_file_is_written_whole(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    assert irdiff("compare", *NARROWED, "--format", "json", "-o", target).code == 0
    assert json.loads(target.read_text()) == irdiff_json("compare", *NARROWED)
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]
    done = irdiff("compare", *NARROWED, "-o", tmp_path / "no/such/folder/report")
    assert done.code == Exit.UNSURE
    assert "cannot be written" in done.err


def test_a_screen_written_to_a_file_is_the_one_printed_to_a_pipe(tmp_path: Path) -> None:
    target = tmp_path / "screen.txt"
    assert irdiff("compare", *NARROWED, "-o", target).code == 0
    assert target.read_text() == irdiff("compare", *NARROWED).out


def test_a_folder_in_place_of_a_kernel_names_the_option_for_folders(tmp_path: Path) -> None:
    empty = {"HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path / "home")}
    done = irdiff("recent", NARROWED[0], env=empty)
    assert done.code == Exit.USAGE
    assert f"irdiff recent --in {NARROWED[0]}" in done.err


def test_a_plugin_disabled_by_a_wrong_name_is_warned_about() -> None:
    done = irdiff("compare", *NARROWED, env={"IRDIFF_DISABLE_PLUGINS": "mlri"})
    assert "warning: IRDIFF_DISABLE_PLUGINS: no plugin is called mlri" in done.out


@pytest.mark.parametrize("suffix", ["ptx", "cubin"])
def test_two_files_for_two_gpus_differ_by_their_target(suffix: str, tmp_path: Path) -> None:
    for arch in ("80", "90"):
        found = next((corpus.BUNDLES / f"triton-3.6.0/sm_{arch}").rglob(f"matmul_kernel.{suffix}"))
        (tmp_path / f"for{arch}.{suffix}").write_bytes(found.read_bytes())
    report = irdiff_json("compare", tmp_path / f"for80.{suffix}", tmp_path / f"for90.{suffix}")
    (kernel,) = report["kernels"]
    assert kernel["first_divergence"]["cause"] == "target cuda:80 -> cuda:90"


def test_two_files_of_different_stages_say_so() -> None:
    files = [next(NARROWED[0].rglob(f"*.{suffix}")) for suffix in ("ttgir", "ptx")]
    done = irdiff("compare", *files, "--exit-code")
    assert done.code == Exit.UNSURE
    assert "before is TTGIR, after is PTX" in " ".join(done.out.split())


def test_a_release_that_writes_more_options_is_not_blamed_on_them() -> None:
    sides = [corpus.BUNDLES / f"triton-{release}/sm_90" for release in ("3.1.0", "3.9.0")]
    report = irdiff_json("compare", *sides)
    causes = {
        kernel["first_divergence"]["cause"]
        for kernel in report["kernels"]
        if kernel["stages"]["meta"]["sameness"] == "equivalent"
    }
    assert causes
    assert not [cause for cause in causes if "option" in (cause or "")]


def test_a_closed_pipe_ends_quietly() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "irdiff", "show", "-v", str(corpus.BUNDLES / "triton-3.6.0/sm_90")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=corpus.ROOT,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(120) == Exit.CLOSED_PIPE
    assert errors == b""


@pytest.mark.parametrize("width", ["30", "60", "200"])
def test_narrow_terminals_lose_no_word(width: str) -> None:
    wide = irdiff("compare", *NARROWED, env={"COLUMNS": "200"}).out
    narrow = irdiff("compare", *NARROWED, env={"COLUMNS": width}).out
    assert sorted("".join(narrow.split())) == sorted("".join(wide.split()))
    assert max(map(len, narrow.splitlines())) <= int(width)


def test_output_to_a_pipe_has_no_colours() -> None:
    assert "\x1b" not in irdiff("compare", *NARROWED, env={"TERM": "xterm-256color"}).out


def test_the_two_newest_compilations_are_compared(tmp_path: Path) -> None:
    import os
    import shutil

    for age, side in ((200, NARROWED[0]), (100, NARROWED[1])):
        for entry in (path for path in side.iterdir() if path.is_dir()):
            copy = shutil.copytree(entry, tmp_path / f"{side.name}-{entry.name}")
            for file in copy.iterdir():
                os.utime(file, (1_700_000_000 - age, 1_700_000_000 - age))
    name = irdiff_json("show", tmp_path)["kernels"][0]["name"]
    report = irdiff_json("compare", "--recent", name, tmp_path)
    (kernel,) = report["kernels"]
    assert Path(kernel["path_before"]).name.startswith("before")
    assert Path(kernel["path_after"]).name.startswith("after")
    listed = irdiff("recent", "--in", str(tmp_path)).out.splitlines()
    assert "after-" in listed[1]
    assert "before-" in listed[2]


def test_your_own_caches_are_used_without_a_path(tmp_path: Path) -> None:
    done = irdiff("recent", env={"TRITON_CACHE_DIR": str(NARROWED[0])})
    assert done.code == 0
    assert "cuda:90" in done.out
    nothing = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    none = irdiff("recent", env=nothing)
    assert none.code == Exit.UNSURE
    assert "looked at" in none.err


def test_doctor_names_tools_and_versions() -> None:
    done = irdiff("doctor")
    assert done.code == 0
    assert "nvdisasm" in done.out
    assert "irdiff plugins" in done.out


def test_without_nvdisasm_everything_but_sass_text_is_compared(tmp_path: Path) -> None:
    hidden = {"PATH": str(tmp_path), "IRDIFF_DISABLE_PLUGINS": ""}
    code = (
        "import sys; sys.path[:0] = []; import importlib.metadata as m; "
        "from irdiff.tools import search; search.copies = lambda *a, **k: (); "
        "import irdiff.tools.toolbox as t; t.copies = lambda *a, **k: (); "
        "from irdiff.cli.main import main_with; "
        f"sys.exit(main_with(['show', {str(NARROWED[0])!r}, '--format', 'json']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=hidden
    )
    (kernel,) = json.loads(done.stdout)["kernels"]
    assert kernel["facts"]["sass.registers"] == 18
    assert "sass.fingerprint" in kernel["facts"]
    assert "irdiff[sass]" in kernel["stages"]["sass"]["degraded"]
    assert "sass.instructions" not in kernel["facts"]


@pytest.mark.parametrize("tree", ["broken", "hostile"])
def test_damaged_artifacts_end_in_issues_and_never_in_a_traceback(tree: str) -> None:
    folder = corpus.FIXTURES / tree
    done = irdiff("show", folder, "--format", "json")
    assert "Traceback" not in done.err
    assert "plugin" not in done.err
    shown = json.loads(done.out)
    issues = [i for k in shown["kernels"] for s in k["stages"].values() for i in s["issues"]]
    issues += [i for k in shown["kernels"] for i in k["issues"]] + shown["issues"]
    assert issues
    assert [issue for issue in issues if issue["code"] == "plugin-error"] == []
    assert done.code == Exit.UNSURE


def damaged_cases() -> list[tuple[str, str, str]]:
    cases = []
    for tree in ("broken", "hostile"):
        listed = json.loads((corpus.FIXTURES / tree / "cases.json").read_text())
        cases += [(tree, name, case["expect"]) for name, case in sorted(listed.items())]
    return cases


@pytest.mark.parametrize(("tree", "case", "expect"), damaged_cases())
def test_each_damaged_case_ends_as_its_list_says(
    tree: str, case: str, expect: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    code = main_with(["show", str(corpus.FIXTURES / tree / case), "--format", "json"])
    out, err = capfdbinary.readouterr()
    assert b"fault in irdiff" not in err
    if case == "empty-entry":
        assert (code, out) == (Exit.UNSURE, b"")
        return
    shown = json.loads(out)
    issues = [i for k in shown["kernels"] for s in k["stages"].values() for i in s["issues"]]
    issues += [i for k in shown["kernels"] for i in k["issues"]] + shown["issues"]
    assert not [issue for issue in issues if issue["code"] == "plugin-error"]
    absent = {"missing-stage", "missing-file"}  # these entries hold little but the damaged file
    errors = [issue for issue in issues if issue["severity"] == "error" and issue["code"] not in absent]
    if expect == "fine":
        assert errors == []
    elif expect == "issue":
        assert issues
    elif expect == "unreadable":
        assert code == Exit.UNSURE
        assert errors
    else:
        assert code == Exit.UNSURE


@pytest.mark.parametrize("form", ["json", "terminal"])
def test_output_does_not_depend_on_the_hash_seed(form: str) -> None:
    trees = (corpus.BUNDLES / "triton-3.6.0/sm_90", corpus.BUNDLES / "triton-3.9.0/sm_90")
    for paths in (MOVED, (corpus.PAIRS / "comment/before", corpus.PAIRS / "comment/after"), trees):
        made = {
            irdiff("compare", *paths, "-f", form, env={"PYTHONHASHSEED": seed}).out
            for seed in ("0", "1", "2")
        }
        assert len(made) == 1


def test_a_comparison_of_nothing_with_nothing_is_no_success() -> None:
    tree = corpus.BUNDLES / "triton-3.6.0/sm_90"
    done = irdiff("compare", f"{tree}::matmul_kernel", f"{tree}::layer_norm_*")
    assert done.code == Exit.UNSURE
    assert "DIR::HASHPREFIX" in done.out
