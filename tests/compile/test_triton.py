"""Real compilations with the Triton of the tests' own interpreter (3.6.0, no GPU)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import corpus
from compiling import KERNELS, run_jobs, run_tables
from irdiff.cli.compile import suite_tables
from irdiff.compile.plan import expand
from irdiff.compile.record import decode_entry
from irdiff.compile.tables import read_tables
from irdiff.compile.targets import parse_target

pytestmark = pytest.mark.usefixtures("triton")
TARGETS = ("cuda:80", "cuda:90", "cuda:100", "cuda:121")
SETTING = "IRDIFF_TEST_PYTHONS"
"""Environment variable: interpreters with other Tritons, separated by ``:``. Never set in CI."""


def reference_jobs(*targets):
    (reference,) = [request for request in read_tables(suite_tables("core")) if request.label == "w4s2"]
    return expand([msgspec.structs.replace(reference, targets=tuple(map(parse_target, targets)))])


def entries(output):
    """Target to (folder, record)."""
    found = {}
    for path in output.glob("*/irdiff.json"):
        record = decode_entry(path.read_bytes())
        found[record.target] = (path.parent, record)
    return found


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The reference matmul, compiled twice: by one worker and by two."""
    folder = tmp_path_factory.mktemp("runs")
    jobs = reference_jobs(*TARGETS)
    return [
        (folder / str(workers), run_jobs(jobs, folder / str(workers), workers=workers)) for workers in (1, 2)
    ]


def text(runs, target, suffix):
    return (entries(runs[0][0])[target][0] / f"matmul_kernel{suffix}").read_text()


def test_every_stage_of_every_target_is_there(runs):
    found = entries(runs[0][0])
    assert sorted(found) == sorted(TARGETS)
    for folder, record in found.values():
        names = {path.name for path in folder.iterdir()}
        assert names == {
            "__grp__matmul_kernel.json",
            "irdiff.json",
            *(
                f"matmul_kernel.{stage}"
                for stage in ("source", "ttir", "ttgir", "llir", "ptx", "cubin", "json")
            ),
        }
        assert list(record.times.stages) == ["setup", "source", "ttir", "ttgir", "llir", "ptx", "cubin"]


def test_the_reference_numbers_are_reproduced(runs):
    results = {result.target: result for result in runs[0][1].results}
    found = {target: (result.registers, result.spills, result.shared) for target, result in results.items()}
    assert found == {
        "cuda:80": (80, 0, 8192),
        "cuda:90": (58, 0, 16384),
        "cuda:100": (54, 0, 16400),
        "cuda:121": (80, 0, 8192),
    }
    ptx = text(runs, "cuda:121", ".ptx")
    assert ".version 8.8" in ptx
    assert ".target sm_121a" in ptx
    assert ".reqntid 128" in ptx
    assert ptx.count("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") == 16
    assert ptx.count("cp.async.cg.shared") == 8
    assert text(runs, "cuda:80", ".ptx").count("mma.sync.aligned") == 16
    assert text(runs, "cuda:90", ".ptx").count("wgmma.mma_async") == 2
    ttgir = text(runs, "cuda:121", ".ttgir")
    assert "versionMajor = 2" in ttgir
    assert "warpsPerCTA = [2, 2]" in ttgir
    assert ttgir.count("ttg.async_copy_global_to_local") == 4


def test_two_runs_are_byte_equal_but_for_paths_and_times(runs):
    (first, _), (second, _) = runs
    names = sorted(path.relative_to(first) for path in first.rglob("*") if path.is_file())
    assert names == sorted(path.relative_to(second) for path in second.rglob("*") if path.is_file())
    for name in names:
        before, after = (first / name).read_bytes(), (second / name).read_bytes()
        if name.name.startswith("__grp__"):
            after = after.replace(str(second).encode(), str(first).encode())
        if name.name == "irdiff.json":
            before, after = ({**json.loads(each), "times": None} for each in (before, after))
        assert before == after, name


def test_the_record_says_what_was_compiled_and_names_no_folder_of_anyone(runs):
    folder, record = entries(runs[0][0])["cuda:90"]
    assert record.signature["a_ptr"] == "*fp16"
    assert record.signature["M"] == "constexpr"
    assert record.constexprs["BLOCK_K"] == 32
    assert record.attributes == {f"{name}_ptr": {"tt.divisibility": 16} for name in "abc"}
    assert record.options_given == {"num_warps": 4, "num_stages": 2}
    assert (record.options["num_ctas"], record.options["maxnreg"]) == (1, None)
    assert record.options["extern_libs"] == [["libdevice", "libdevice.10.bc"]]
    assert record.source.file == "matmul.py"
    assert record.source.line == 8
    assert record.provenance.triton == "3.6.0"
    assert record.provenance.ptxas.startswith("12.8")
    assert record.provenance.llvm.startswith("22.0.0git (")
    assert "Used 58 registers" in record.ptxas_log
    assert "Compile time" not in record.ptxas_log
    assert "/" not in json.dumps(record.options)
    written = (folder / "irdiff.json").read_text()
    assert str(runs[0][0]) not in written
    assert str(Path.home()) not in written


def test_the_entry_is_the_one_that_a_bare_triton_makes(runs, tmp_path):
    """The cache key holds the content of Triton, source, options and target; so equal names are equal keys."""
    jobs = [
        {"module": str(corpus.FIXTURES / "kernels/matmul.py"), "specialization": "w4s2", "target": "sm_90"}
    ]
    (tmp_path / "jobs.json").write_text(json.dumps(jobs))
    subprocess.run(
        [sys.executable, corpus.FIXTURES / "worker.py", tmp_path / "jobs.json", tmp_path / "results.json"],
        env={**os.environ, "TRITON_CACHE_DIR": str(tmp_path / "cache")},
        check=True,
        timeout=300,
    )
    (bare,) = json.loads((tmp_path / "results.json").read_text())
    assert bare["folders"] == [entries(runs[0][0])["cuda:90"][0].name]


def test_the_second_run_into_one_folder_compiles_nothing(runs):
    output = runs[0][0]
    before = {path: path.stat().st_mtime_ns for path in output.rglob("*")}
    again = run_jobs(reference_jobs(*TARGETS), output)
    assert {result.status for result in again.results} == {"unchanged"}
    assert {path: path.stat().st_mtime_ns for path in output.rglob("*") if path != output} == {
        path: time for path, time in before.items() if path != output
    }


def test_a_ttgir_file_compiles_for_the_target_it_names_with_its_own_warps(runs, tmp_path):
    from irdiff.compile.plan import Request

    folder = entries(runs[0][0])["cuda:90"][0]
    request = Request(
        file=folder / "matmul_kernel.ttgir", shown="matmul_kernel.ttgir", targets=(parse_target("cuda:90"),)
    )
    (result,) = run_jobs(expand([request]), tmp_path / "out").results
    assert (result.kernel, result.status, result.registers, result.shared) == (
        "matmul_kernel",
        "compiled",
        58,
        16384,
    )


FAILING = """
[[kernel]]
file = "failing.py"
name = "{name}"
signature = "{signature}"
targets = "{target}"
"""
WARP_SPECIALIZED = "*fp16, *fp16, *fp32, i32, 128, 64, True"
"""Triton 3.6 cannot do this for Hopper."""
FAILURES = [
    ("calls_helper", "*fp32:16, 64", "cuda:90", "front-end", "source", 9, "NameError: undefined_name is not defined"),
    ("shapes", "*fp32:16", "cuda:90", "front-end", "source", 21, "incompatible dimensions at index 0: 8 and 16"),
    ("asserted", "*fp32:16, 64", "cuda:90", "front-end", "source", 26, "static_assert failed: BLOCK is too small"),
    ("bad_instruction", "*i32", "cuda:90", "assembler", "cubin", None, "ptxas: Unknown modifier '.such'"),
    ("product", WARP_SPECIALIZED, "cuda:90", "pass", "ttgir", 40, "pass NVGPUWarpSp"),
    ("fin", "*i32", "cuda:90", "load", None, None, "there is no kernel fin; the file has fine"),
    ("plain", "*i32", "cuda:90", "load", None, None, "plain is no kernel: it has no @triton.jit"),
    ("fine", "*i32, 1, None, 4", "cuda:90", "signature", None, None, "the signature has 4 items, the kernel takes 3"),
    ("fine", "", "cuda:90", "signature", None, None, "nothing is given for x_ptr"),
    ("fine", "*i32, m=1", "cuda:90", "signature", None, None, "there is no parameter m"),
    ("fine", "*i32, kind=*fp16", "cuda:90", "signature", None, None, "kind is a constexpr: *fp16 is no value"),
    ("fine", "*i32", "xpu:1", "target", None, None, "this Triton has no backend for xpu:1; it has: amd, nvidia"),
]  # fmt: skip


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    """Every way to fail, in one run, with kernels that compile in between."""
    folder, output = tmp_path_factory.mktemp("failing"), tmp_path_factory.mktemp("out")
    for file in KERNELS.glob("*.py"):
        (folder / file.name).write_text(file.read_text())
    tables = "".join(
        FAILING.format(name=name, signature=signature, target=target)
        for name, signature, target, *_ in FAILURES
    )
    tables += '[[kernel]]\nfile = "failing.py"\nname = "fine"\nsignature = "*i32"\ntargets = "cuda:90"\n'
    tables += "options = { maxnre = 64 }\n"
    for file in ("aborting", "importing", "exiting"):
        tables += f'[[kernel]]\nfile = "{file}.py"\nname = "k"\ntargets = "cuda:90"\n'
    tables += FAILING.format(name="fine", signature="*fp16, kind=fp16", target="cuda:90")
    tables += FAILING.format(
        name="product", signature="*fp16:16, *fp16:16, *fp32:16, i32:16, 64, 128, False", target="cuda:90"
    )
    tables += "num_stages = 8\n"
    return output, run_tables(tables, folder, output).results


@pytest.mark.parametrize("number", range(len(FAILURES)), ids=lambda number: "-".join(FAILURES[number][:2]))
def test_a_failure_has_its_kind_stage_line_and_reason(failed, number):
    name, _, target, kind, stage, line, message = FAILURES[number]
    result = failed[1][number]
    assert (result.kernel, result.target, result.status) == (name, target, "failed")
    failure = result.failure
    assert (failure.kind, failure.stage, failure.line) == (kind, stage, line)
    assert message in failure.message
    assert "\n" not in failure.message


def test_options_that_triton_would_ignore_are_failures(failed):
    failure = failed[1][len(FAILURES)].failure
    assert (failure.kind, failure.message) == (
        "option",
        "this backend has no option maxnre; did you mean maxnreg?",
    )


def test_a_file_that_cannot_be_imported_fails_alone(failed):
    aborting, importing, exiting = failed[1][len(FAILURES) + 1 : len(FAILURES) + 4]
    assert (aborting.failure.kind, aborting.failure.line) == ("crash", 5)
    assert "was ended by SIGABRT" in aborting.failure.message
    assert (importing.failure.kind, importing.failure.line) == ("load", 3)
    assert "No module named 'no_such_module'" in importing.failure.message
    assert (exiting.failure.kind, exiting.failure.line) == ("load", 5)


def test_a_kernel_inside_a_decorator_with_a_type_as_constexpr_compiles(failed):
    result = failed[1][-2]
    assert (result.kernel, result.status) == ("fine", "compiled")


def test_more_shared_memory_than_there_is_fails_with_a_complete_entry(failed):
    output, results = failed
    result = results[-1]
    assert result.failure.kind == "out-of-resources"
    assert result.failure.message.endswith("bytes of shared memory; cuda:90 has 232,448 for one program")
    assert (output / result.entry / "product.cubin").is_file()
    assert decode_entry((output / result.entry / "irdiff.json").read_bytes()).status == "failed"


def test_every_failure_leaves_a_record_and_nothing_half_written(failed):
    output, results = failed
    records = [decode_entry(path.read_bytes()) for path in (output / "failed").iterdir()]
    without_entry = [result for result in results if result.failure and result.entry is None]
    assert sorted(record.failure.message for record in records) == sorted(
        result.failure.message for result in without_entry
    )
    assert all(str(output.parent) not in path.read_text() for path in (output / "failed").iterdir())
    folders = {path.name for path in output.iterdir()}
    assert folders == {"failed", *(result.entry for result in results if result.entry)}


def test_the_suite_compiles_for_hopper_and_skips_with_reasons_what_a_target_lacks(tmp_path):
    wanted = {"tma_matmul_kernel", "fp8_matmul_kernel", "histogram_kernel"}
    requests = [
        msgspec.structs.replace(request, targets=(parse_target("cuda:80"), parse_target("cuda:90")))
        for request in read_tables(suite_tables("core"))
        if request.kernel in wanted
    ]
    results = run_jobs(expand(requests), tmp_path / "out").results
    assert {(result.kernel, result.target): result.status for result in results} == {
        **{(kernel, target): "compiled" for kernel in wanted for target in ("cuda:80", "cuda:90")},
        ("fp8_matmul_kernel", "cuda:80"): "skipped",
    }
    (skipped,) = [result for result in results if result.status == "skipped"]
    assert skipped.reason == "needs fp8e4nv operands: cuda:89 or newer"


def test_every_kernel_of_the_suite_is_in_a_table_and_every_table_has_its_kernel():
    tables = suite_tables("core")
    requests = read_tables(tables)
    text = {file.name: file.read_text() for file in tables.parent.glob("*.py")}
    declared = {
        (name, line.split("(")[0][4:])
        for name, each in text.items()
        for line in each.splitlines()
        if line.startswith("def ")
    }
    assert declared == {(request.file.name, request.kernel) for request in requests}
    labels = [(request.kernel, request.label) for request in requests]
    assert len(set(labels)) == len(labels)


@pytest.mark.skipif(
    not os.environ.get(SETTING), reason=f"{SETTING} is not set; other Tritons are tried by hand"
)
@pytest.mark.parametrize("python", os.environ.get(SETTING, "").split(":"))
def test_other_releases_compile_the_reference_through_every_stage(python, tmp_path):
    results = run_jobs(reference_jobs("cuda:80", "cuda:90"), tmp_path / "out", python).results
    assert [result.status for result in results] == ["compiled", "compiled"]
    assert [result.shared for result in results] == [8192, 16384]
    for folder, _ in entries(tmp_path / "out").values():
        assert {"ttir", "ttgir", "llir", "ptx", "cubin"} <= {path.suffix[1:] for path in folder.iterdir()}


def test_the_worker_is_written_in_python_3_8_and_needs_the_standard_library_alone():
    import ast

    from irdiff.compile.process import SCRIPT

    tree = ast.parse(SCRIPT.read_text(), feature_version=(3, 8))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [each.name for each in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported <= set(sys.stdlib_module_names)
