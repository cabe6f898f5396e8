"""The pytest plugin in a project of its own: writing baselines, passing, failing with the facts that changed."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import corpus
from command import Result

PROJECT = Path(__file__).parent / "project"
MODULE = "irdiff.pytest_plugin"


def _run(project: Path, *arguments: str, plugin: bool = True, **environment: str) -> Result:
    """pytest in the project, with no plugin but ours and those named, and warnings as errors."""
    done = subprocess.run(
        [
            *(
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-W",
                "error",
                "-p",
                "no:cacheprovider",
                "--rootdir",
                ".",
            ),
            *(("-p", MODULE) if plugin else ()),
            *arguments,
        ],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={
            **{
                name: value
                for name, value in os.environ.items()
                if not name.startswith(("IRDIFF_", "PYTEST_", "COLUMNS"))
            },
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "TRITON_CACHE_DIR": str(project / "triton-cache"),
            "ENTRY": str(corpus.entry("3.6.0", "sm_90", "vector_add_kernel")),
            **environment,
        },
    )
    return Result(done.returncode, done.stdout, done.stderr)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """The project with its baselines, and the run that wrote them."""
    folder = tmp_path_factory.mktemp("plugin") / "project"
    shutil.copytree(PROJECT, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder, _run(folder, "--irdiff-update")


def _copy(written: tuple[Path, Result], tmp_path: Path) -> Path:
    return Path(shutil.copytree(written[0], tmp_path / "copy"))


def test_updating_writes_one_file_for_each_test_and_says_so(written):
    folder, done = written
    assert done.code == 0, done.out
    names = sorted(path.name for path in (folder / "baselines" / "test_add").iterdir())
    assert names[0] == "test_a_function_with_a_signature.baseline"
    assert names[2:] == ["test_an_entry-entry.baseline", "test_what_triton_compiled.baseline"]
    assert names[1].startswith("test_an_entry-a-b-")
    assert "written baselines/test_add/test_an_entry-entry.baseline" in done.out
    text = (folder / "baselines/test_add/test_a_function_with_a_signature.baseline").read_text()
    assert "\nkernel add\n" in text


def test_what_triton_returned_is_read_like_what_the_worker_wrote(written):
    folder = written[0] / "baselines" / "test_add"
    by_worker, in_memory = (
        (folder / f"{name}.baseline").read_text()
        for name in ("test_a_function_with_a_signature", "test_what_triton_compiled")
    )
    for stage in ("meta", "ttir", "ttgir", "llir", "ptx", "sass"):
        assert f"facts of {stage}, read by" in by_worker
        assert f"facts of {stage}, read by" in in_memory
    assert "  sass.registers = " in in_memory


def test_unchanged_kernels_pass_in_several_processes_too(written, tmp_path):
    folder = _copy(written, tmp_path)
    done = _run(folder, "-p", "xdist", "-n", "2")
    assert done.code == 0, done.out
    assert "4 passed" in done.out
    assert "irdiff" not in done.out


def test_updating_again_keeps_every_byte_and_says_so_from_several_processes(written, tmp_path):
    folder = _copy(written, tmp_path)
    (folder / "baselines/test_add/test_an_entry-entry.baseline").unlink()
    done = _run(folder, "-p", "xdist", "-n", "2", "--irdiff-update", "-k", "entry")
    assert done.code == 0, done.out
    assert "written baselines/test_add/test_an_entry-entry.baseline" in done.out
    assert "kept baselines/test_add/test_an_entry-a-b-" in done.out
    before = {path.name: path.read_bytes() for path in written[0].rglob("*.baseline")}
    assert {path.name: path.read_bytes() for path in folder.rglob("*.baseline")} == before


def test_a_changed_kernel_fails_with_the_facts_the_rule_and_what_to_do(written, tmp_path):
    folder = _copy(written, tmp_path)
    file = folder / "baselines/test_add/test_an_entry-entry.baseline"
    text = file.read_text()
    assert "  sass.spill_store_bytes = 0\n" in text
    older = text.replace("  ptx.global_loads = {16 ", "  ptx.global_loads = {32 ").replace(
        "  sass.global_loads = {16 ", "  sass.global_loads = {32 "
    )
    assert older != text
    file.write_text(_of_other_code(older))
    done = _run(folder, "-k", "entry and not a/b")
    assert done.code == 1
    assert "MEM101" in done.out
    assert "32" in done.out
    assert "pytest --irdiff-update writes it anew" in done.out
    assert "irdiff/pytest_plugin.py" not in done.out.replace("\\", "/")


def _of_other_code(text: str) -> str:
    """The baseline as that of other machine code: its fingerprints and digests changed."""
    lines = []
    for line in text.split("\n"):
        key, equals, value = line.partition(" = ")
        if key.strip() in ("kernel.code", "ptx", "sass", '"sass without control words"') and len(value) in (
            32,
            64,
        ):
            value = "ab" * (len(value) // 2)
        lines.append(f"{key}{equals}{value}")
    return "\n".join(lines)


def test_a_kernel_compiled_otherwise_fails_where_the_policy_says_so(written, tmp_path):
    folder = _copy(written, tmp_path)
    (folder / "irdiff.toml").write_text(
        '[[check.expect]]\ncode = "OWN001"\nexpect = "meta.num_warps == before"\ntitle = "other warps"\n'
    )
    done = _run(folder, "-k", "signature", WARPS="8")
    assert done.code == 1
    assert "OWN001" in done.out
    assert "num_warps" in done.out


def test_without_a_baseline_the_test_fails_and_says_how_to_make_one(written, tmp_path):
    folder = _copy(written, tmp_path)
    shutil.rmtree(folder / "baselines")
    done = _run(folder, "-k", "entry")
    assert done.code == 1
    assert "there is no baseline yet" in done.out
    assert "pytest --irdiff-update writes it" in done.out
    assert not (folder / "baselines").exists()


WRONG = """
import pytest
from pathlib import Path

def test_no_kernel(irdiff_baseline):
    irdiff_baseline(12)

def test_no_target(irdiff_baseline):
    irdiff_baseline("kernels.py::add", signature="*fp32")

def test_no_entry(irdiff_baseline):
    irdiff_baseline(Path("nowhere"))

def test_does_not_compile(irdiff_baseline):
    irdiff_baseline("kernels.py::add", signature="*fp32:16, *fp32:16, *fp32:16, i32, 3", target="cuda:90")

def test_inside():
    from irdiff.compiled import place_of
    def kernel(): ...
    with pytest.raises(Exception, match="left edge"):
        place_of(kernel)
"""


def test_what_cannot_be_compared_is_a_failure_in_words(written, tmp_path):
    folder = _copy(written, tmp_path)
    (folder / "test_wrong.py").write_text(WRONG)
    done = _run(folder, "test_wrong.py", "--irdiff-update")
    assert done.code == 1
    for words in (
        "int is neither a path nor a compiled kernel",
        "a signature needs a target",
        "nowhere",
        "does not compile",
    ):
        assert words in done.out
    assert "4 failed, 1 passed" in done.out
    assert "Traceback" not in done.out


def test_two_names_of_tests_never_share_a_file():
    from irdiff.pytest_plugin import _file_name

    names = [
        "test_x",
        "test_x[a]",
        "test_x[a/b]",
        "test_x[a b]",
        "test_x[a-b]",
        "test_x[é]",
        f"test_x[{'y' * 300}]",
        f"test_x[{'y' * 301}]",
    ]
    made = [_file_name(name) for name in names]
    assert made[:2] == ["test_x", "test_x-a"]
    assert len(set(made)) == len(names)
    assert all(len(each) < 150 and "/" not in each and each.isascii() for each in made)


def test_the_plugin_imports_nothing_of_irdiff_until_it_is_used():
    heavy = ("irdiff", "msgspec", "rich", "triton")
    code = f"import sys, {MODULE}; print([name for name in sys.modules if name.startswith({heavy})])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == str(["irdiff", MODULE])


def test_an_installation_brings_the_plugin():
    """An entry point, so that ``pip install irdiff`` is all that a project needs."""
    points = importlib.metadata.entry_points(group="pytest11")
    assert MODULE in {point.value for point in points}
