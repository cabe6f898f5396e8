"""The log of the assembler: read, split by kernel, compared, and held against the cubin."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import corpus
from command import irdiff, irdiff_json
from irdiff.api import Artifact, Canonical, Context, ParseError, Summary
from irdiff.testing import NoTools
from irdiff_sass.plugin import STAGE
from irdiff_sass.ptxas_log import note_key, parts
from irdiff_sass.ptxas_stage import PTXAS

LOGS = corpus.FIXTURES / "ptxas/logs"
SERIALIZED = ("serialized_cuda124", "serialized_cuda128", "serialized_cuda134")


def artifact(text: str | bytes) -> Artifact:
    data = text.encode() if isinstance(text, str) else text
    return Artifact.of_bytes(data, stage="ptxas", suffix=".ptxas-log")


def summary(text: str | bytes) -> Summary:
    return PTXAS.summarize(artifact(text), Context(tools=NoTools()))


def canonical(text: str | bytes) -> Canonical:
    return PTXAS.canonical(artifact(text), Context(tools=NoTools()))


def facts(text: str | bytes) -> dict[str, Any]:
    return {fact.id: fact.value for fact in summary(text).facts}


def log(name: str) -> str:
    return (LOGS / f"{name}.log").read_text()


@pytest.mark.parametrize("name", SERIALIZED)
def test_serialized_wgmma_is_told_whatever_the_assembler_calls_it(name: str) -> None:
    found = facts(log(name))
    assert found["ptxas.wgmma_serialized"] is True
    codes = {key.split()[0] for key in found["ptxas.notes"]}
    assert codes & {"C7514", "C7515"}
    assert found["ptxas.registers"] == 42
    assert ("ptxas.barriers" in found) == (name != "serialized_cuda124")


def test_a_wait_put_in_is_a_note_and_no_serialization() -> None:
    found = facts(log("no_wait_cuda128"))
    assert found["ptxas.wgmma_serialized"] is False
    (key,) = found["ptxas.notes"]
    assert key.startswith("C7517 warpgroup.wait is injected in around a line by compiler")


@pytest.mark.parametrize("path", sorted(LOGS.glob("*.log")), ids=lambda path: path.stem)
def test_every_line_of_a_log_is_understood_and_notes_have_no_names_or_lines(path: Path) -> None:
    read = summary(path.read_bytes())
    assert read.coverage.ratio == 1.0
    assert not read.issues
    (notes,) = (fact.value for fact in read.facts if fact.id == "ptxas.notes")
    assert isinstance(notes, dict)
    assert not any("matmul" in key or any(word.isdecimal() for word in key.split()) for key in notes)


def test_a_line_that_is_not_known_lowers_coverage() -> None:
    text = log("no_wait_cuda128")
    read = summary(text + "ptxas info    : Frobnicated 7 quuxes\n")
    assert read.coverage.total - read.coverage.understood == 1
    assert read.coverage.unknown[0][1] == "Frobnicated 7 quuxes"


def test_other_output_of_a_build_is_left_alone() -> None:
    text = log("no_wait_cuda128")
    noisy = "gcc -O2 stub.c\n" + text.replace("\n", "\r\n") + "[3/7] Linking\nUsed 99 registers\n"
    assert facts(noisy) == facts(text)
    assert canonical(noisy).lines == canonical(text).lines
    assert canonical(noisy).erased != canonical(text).erased


def test_times_names_and_places_change_nothing() -> None:
    text = log("serialized_cuda134")
    other = (
        text.replace("ptxas-blackwell info", "/opt/cuda/bin/ptxas info")
        .replace("'matmul_kernel'", "'renamed'")
        .replace("for matmul_kernel", "for renamed")
        .replace("line 143", "line 99")
    ) + "/opt/cuda/bin/ptxas info    : Compile time = 12.5 ms\n"
    assert other != text
    assert canonical(other).lines == canonical(text).lines
    assert facts(other) == facts(text)
    differing = {
        name
        for name in canonical(text).erased
        if canonical(text).erased[name] != canonical(other).erased[name]
    }
    assert differing == {"assembler-name", "compile-times", "kernel-names", "log-lines"}


def test_a_failed_assembly_is_an_error() -> None:
    text = "ptxas fatal   : (C7602) Insufficient registers (40) to compile instruction at line 209 in function f\n"
    found = summary(text)
    # its code makes it a note for whoever counts them, and no resources are known
    assert found.facts == ()
    read = summary("ptxas fatal   : Ptx assembly aborted due to errors\n")
    assert [issue.code for issue in read.issues] == ["assembler-error"]


@pytest.mark.parametrize("text", ["", "hello\n", "ptx\n", "\0" * 50])
def test_what_is_no_log_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        summary(text)
    assert parts(text.encode()) == ()


def several() -> dict[str, dict[str, Any]]:
    return json.loads((corpus.FIXTURES / "ptxas/ptxas.json").read_text())


def test_a_log_of_many_kernels_falls_into_what_each_would_have_said_alone() -> None:
    said = list(several().values())
    logs = [each["log"] for each in said] + [log(name) for name in SERIALIZED]
    found = parts("".join(logs).encode())
    assert len(found) == len(logs)
    assert [part.kernel for part in found] == [
        *(each["kernel"] for each in said),
        *["matmul_kernel"] * len(SERIALIZED),
    ]
    for part, whole in zip(found, logs, strict=True):
        assert facts(part.data) == facts(whole)


def test_notes_before_another_kernel_do_not_move_to_it() -> None:
    calm = next(each["log"] for each in several().values() if each["kernel"] == "layer_norm_bwd_kernel")
    for text in (calm + log("serialized_cuda128"), log("serialized_cuda128") + calm):
        by_name = {part.kernel: facts(part.data) for part in parts(text.encode())}
        assert by_name["matmul_kernel"]["ptxas.wgmma_serialized"] is True
        assert by_name["layer_norm_bwd_kernel"]["ptxas.wgmma_serialized"] is False


def test_a_note_key_of_any_note_is_one_line_without_double_spaces() -> None:
    key = note_key("(C7514) Potential Performance Loss: wgmma  is\tx in the function 'k' in line 0")
    assert key == "C7514 wgmma is\tx"


# --- through the command line ------------------------------------------------------------------------------------


def spilling(folder: Path, *names: str) -> Path:
    """A cache tree of the cubins that were made to spill."""
    for number, name in enumerate(names):
        entry = folder / f"{number:064x}"
        entry.mkdir(parents=True)
        kernel = several()[name]["kernel"]
        shutil.copy(corpus.FIXTURES / "ptxas" / name, entry / f"{kernel}.cubin")
        described = {"name": kernel, "target": {"backend": "cuda", "arch": 90, "warp_size": 32}, "shared": 0}
        (entry / f"{kernel}.json").write_text(json.dumps(described))
    return folder


TWO = ("layer_norm_sm90_24.cubin", "flash_attention_sm90_48.cubin")


def test_show_gives_each_kernel_its_part_of_one_log(tmp_path: Path) -> None:
    tree = spilling(tmp_path / "tree", *TWO)
    text = tmp_path / "build.log"
    text.write_text("".join(several()[name]["log"] for name in reversed(TWO)))
    shown = irdiff_json("show", tree, "--ptxas-log", text)
    assert len(shown["kernels"]) == 2
    for kernel in shown["kernels"]:
        said = next(
            each for name, each in several().items() if name in TWO and each["kernel"] == kernel["name"]
        )
        found = kernel["facts"]
        for name in ("registers", "spill_store_bytes", "spill_load_bytes"):
            assert found[f"ptxas.{name}"] == found[f"sass.{name}"] == said[name]
        assert not [issue for issue in kernel["issues"] if issue["code"] == "sources-disagree"]
    assert not [issue for issue in shown["issues"] if issue["code"] == "unmatched-part"]


def test_a_log_of_another_compilation_is_a_warning_for_each_figure(tmp_path: Path) -> None:
    tree = spilling(tmp_path / "tree", TWO[0])
    text = tmp_path / "build.log"
    text.write_text(several()[TWO[0]]["log"].replace("272 bytes spill stores", "16 bytes spill stores"))
    (kernel,) = irdiff_json("show", tree, "--ptxas-log", text)["kernels"]
    (issue,) = [issue for issue in kernel["issues"] if issue["code"] == "sources-disagree"]
    assert issue["severity"] == "warning"
    assert issue["message"] == "ptxas.spill_store_bytes is 16, and sass.spill_store_bytes is 272"


def test_an_estimate_is_not_held_against_the_log(tmp_path: Path) -> None:
    name = "local_array_sm90_24_cuda124.cubin"
    tree = spilling(tmp_path / "tree", name)
    text = tmp_path / "build.log"
    text.write_text(several()[name]["log"])
    (kernel,) = irdiff_json("show", tree, "--ptxas-log", text)["kernels"]
    assert kernel["facts"]["ptxas.spill_store_bytes"] != kernel["facts"]["sass.spill_store_bytes"]
    assert not [issue for issue in kernel["issues"] if issue["code"] == "sources-disagree"]


def test_kernels_of_one_name_get_nothing_and_that_is_said(tmp_path: Path) -> None:
    tree = spilling(tmp_path / "tree", TWO[0], TWO[0])
    text = tmp_path / "build.log"
    text.write_text(several()[TWO[0]]["log"])
    shown = irdiff_json("show", tree, "--ptxas-log", text)
    assert all("ptxas.registers" not in kernel["facts"] for kernel in shown["kernels"])
    (issue,) = [issue for issue in shown["issues"] if issue["code"] == "unmatched-part"]
    assert "1 parts of the file and 2 kernels" in issue["message"]


def test_what_is_no_log_or_not_there_is_refused(tmp_path: Path) -> None:
    tree = spilling(tmp_path / "tree", TWO[0])
    (tmp_path / "no.log").write_text("nothing of ptxas\n")
    for name, words in (("no.log", "speaks of no kernel"), ("absent.log", "cannot be read")):
        done = irdiff("show", tree, "--ptxas-log", tmp_path / name)
        assert done.code == 2
        assert words in done.err
    done = irdiff("compare", tree, tree, "--ptxas-log", tmp_path / "no.log")
    assert done.code == 64
    assert "twice" in done.err


def test_compare_tells_what_only_the_logs_say(tmp_path: Path) -> None:
    folder = corpus.entry("3.6.0", "sm_90", "matmul_kernel", "w8s3")
    logs = (LOGS / "no_wait_cuda128.log", LOGS / "serialized_cuda128.log")
    report = irdiff_json(
        "compare", folder, folder, *(word for path in logs for word in ("--ptxas-log", path))
    )
    (kernel,) = report["kernels"]
    assert kernel["stages"]["ptxas"]["sameness"] == "changed"
    assert kernel["stages"]["sass"]["sameness"] == "identical"
    assert {change["fact"]: change["effect"] for change in kernel["changes"]} == {
        "ptxas.notes": "worse",
        "ptxas.wgmma_serialized": "worse",
    }
    assert kernel["first_divergence"] is None


def test_compare_says_once_what_cubin_and_log_both_say(tmp_path: Path) -> None:
    names = ("layer_norm_sm90_24.cubin", "layer_norm_sm90_32_cuda134.cubin")
    trees = [spilling(tmp_path / name, name) for name in names]
    words: list[Path | str] = []
    for name in names:
        text = tmp_path / f"{name}.log"
        text.write_text(several()[name]["log"])
        words += ["--ptxas-log", text]
    (kernel,) = irdiff_json("compare", *trees, *words)["kernels"]
    found = {change["fact"] for change in kernel["changes"]}
    assert {"sass.registers", "sass.spill_store_bytes"} <= found
    assert not {name for name in found if name.startswith("ptxas.")}


def test_check_judges_spills_by_the_logs_where_there_is_no_cubin(tmp_path: Path) -> None:
    names = ("layer_norm_sm90_32_cuda134.cubin", "layer_norm_sm90_24.cubin")
    (source,) = corpus.entry("3.6.0", "sm_90", "layer_norm_bwd_kernel").glob("*.ptx")
    files: list[Path] = []
    logs: list[Path | str] = []
    for side, name in zip(("before", "after"), names, strict=True):
        (tmp_path / side).mkdir()
        files.append(tmp_path / side / source.name)
        shutil.copy(source, files[-1])
        (tmp_path / f"{side}.log").write_text(several()[name]["log"])
        logs += ["--ptxas-log", tmp_path / f"{side}.log"]
    assert irdiff("check", *files).code == 0
    done = irdiff("check", *files, *logs)
    assert done.code == 1
    assert "RES101" in done.out
    assert "156 → 272 B" in done.out


def test_check_judges_once_what_cubin_and_log_both_say(tmp_path: Path) -> None:
    names = ("layer_norm_sm90_32_cuda134.cubin", "layer_norm_sm90_24.cubin")
    trees = [spilling(tmp_path / name, name) for name in names]
    logs: list[Path | str] = []
    for name in names:
        (tmp_path / f"{name}.log").write_text(several()[name]["log"])
        logs += ["--ptxas-log", tmp_path / f"{name}.log"]
    with_logs = irdiff("check", *trees, *logs)
    assert with_logs.code == 1
    assert "as ptxas says" not in with_logs.out
    assert with_logs.out.count("spill stores per thread") == 1


def test_an_entry_that_irdiff_compiled_brings_its_own_log(tmp_path: Path) -> None:
    tree = spilling(tmp_path / "tree", TWO[0])
    (entry,) = tree.iterdir()
    record = {
        "schema": "irdiff-entry/1",
        "kernel": "layer_norm_bwd_kernel",
        "ptxas_log": several()[TWO[0]]["log"],
    }
    (entry / "irdiff.json").write_text(json.dumps(record))
    (kernel,) = irdiff_json("show", tree)["kernels"]
    assert kernel["facts"]["ptxas.spill_store_bytes"] == 272
    for other in ({**record, "kernel": "another"}, {**record, "ptxas_log": None}, [1], {"ptxas_log": 3}):
        (entry / "irdiff.json").write_text(json.dumps(other))
        (kernel,) = irdiff_json("show", tree)["kernels"]
        assert "ptxas" not in kernel["stages"]
        assert "sass.registers" in kernel["facts"]


def test_a_log_beside_a_kernel_is_read_as_its_stage(tmp_path: Path) -> None:
    tree = spilling(tmp_path / "tree", TWO[0])
    (entry,) = tree.iterdir()
    (entry / "layer_norm_bwd_kernel.ptxas-log").write_text(several()[TWO[0]]["log"])
    (kernel,) = irdiff_json("show", tree)["kernels"]
    assert kernel["facts"]["ptxas.registers"] == 24
    assert STAGE.id in kernel["stages"]
