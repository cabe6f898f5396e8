"""Reading: what a file is, where it is cut, the lines of Python, the plugin in its host."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from irdiff.api import EntryInfo, ParseError

import irdiff_amdgcn
from amd_fixtures import artifact, context, entry, form, summary, values, within
from irdiff_amdgcn import facts
from irdiff_amdgcn.metadata import arch_of, features_of
from irdiff_amdgcn.plugin import AMDGCN, HSACO
from irdiff_amdgcn.reader import read

SOFTMAX = entry("3.6.0", "gfx942", "softmax")


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "no AMDGPU assembly"),
        (b"// a PTX file\n.version 8.7\n", "no AMDGPU assembly"),
        (SOFTMAX.files[".hsaco"], "no text"),
        (b"\ts_endpgm\n\0", "no text"),
    ],
)
def test_a_file_that_is_none_is_refused(data: bytes, told: str) -> None:
    with pytest.raises(ParseError, match=told):
        facts.summarize(artifact(data), context())


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9, 0.97])
def test_a_cut_file_is_an_error(share: float) -> None:
    text = SOFTMAX.text[: int(len(SOFTMAX.text) * share)]
    assert "truncated" in {issue.code for issue in summary(text).issues if issue.severity == "error"}


def test_bytes_that_are_no_text_are_an_error_with_their_line() -> None:
    data = SOFTMAX.text.encode().replace(b"s_endpgm", b"s_endpgm ; \xff", 1)
    (issue,) = [
        issue for issue in facts.summarize(artifact(data), context()).issues if issue.severity == "error"
    ]
    assert (issue.code, issue.line) == ("not-text", data[: data.index(b"\xff")].count(b"\n") + 1)


def test_a_comment_mark_in_a_string_begins_no_comment() -> None:
    listing = read(b'\t.section .debug_str\n\t.asciz "a;b//c"  ; string offset=0\n\t.text\n\ts_endpgm\n')
    (item,) = [each for each in listing.debug if each.word == ".asciz"]
    assert (item.operands, item.comment) == ('"a;b//c"', "string offset=0")


@pytest.mark.parametrize(
    ("spelled", "arch", "features"),
    [
        ("amdgcn-amd-amdhsa--gfx942", "gfx942", ""),
        ("amdgpu9.42-amd-amdhsa-unknown-gfx942", "gfx942", ""),
        ("amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", "gfx90a", ":sramecc+:xnack-"),
        ('"amdgcn-amd-amdhsa--gfx1201"', "gfx1201", ""),
        ("nvptx64", None, ""),
    ],
)
def test_both_spellings_of_a_target(spelled: str, arch: str | None, features: str) -> None:
    assert arch_of(spelled) == arch
    assert features_of(spelled) == features


def test_facts_know_their_line_of_python() -> None:
    made = summary(SOFTMAX.text)
    stores = next(fact for fact in made.facts if fact.id == "amdgcn.global_stores")
    (place,) = stores.evidence["16"] if "16" in stores.evidence else next(iter(stores.evidence.values()))[:1]
    assert "store" in SOFTMAX.text.splitlines()[place - 1]
    assert made.source_lines[place].endswith("softmax.py:15")


def test_lines_of_a_library_are_told_as_those_of_its_caller() -> None:
    lines = set(summary(SOFTMAX.text).source_lines.values())
    assert {line.rpartition("/")[2].partition(":")[0] for line in lines} == {"softmax.py"}


def test_reductions_show_as_moves_between_lanes() -> None:
    moves = values(summary(SOFTMAX.text))["amdgcn.cross_lane"]
    assert isinstance(moves, dict)
    assert any("row_" in key or "permlane" in key or "bpermute" in key for key in moves)


@pytest.mark.parametrize(
    ("backend", "layout", "assembly", "code_object"),
    [
        ("hip", "cache", True, True),
        ("hip", "dump", True, True),
        ("hip", "binary-only", False, True),
        ("hip", "failed", False, False),
        ("hip", "file", False, False),
        ("cuda", "cache", False, False),
        (None, "cache", False, False),
    ],
)
def test_what_an_entry_should_hold(
    backend: str | None,
    layout: str,
    assembly: bool,
    code_object: bool,  # a table
) -> None:
    entry_info = EntryInfo(layout=layout, backend=backend, release=(3, 6), suffixes=frozenset())
    assert AMDGCN.expected(entry_info) == assembly
    assert HSACO.expected(entry_info) == code_object


def test_the_host_reads_a_code_object_that_lies_alone(tmp_path: Path) -> None:
    path = tmp_path / "kernel.hsaco"
    path.write_bytes(SOFTMAX.files[".hsaco"])
    command = [sys.executable, "-m", "irdiff", "show", str(path), "--format", "json"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, ran.stderr
    (kernel,) = json.loads(ran.stdout)["kernels"]
    assert kernel["target"] == "hip:gfx942"
    assert kernel["facts"]["hsaco.registers"] == values(summary(SOFTMAX.text))["amdgcn.registers"]


def test_the_plugin_imports_the_api_alone() -> None:
    imported = set()
    for path in Path(irdiff_amdgcn.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(node.module or "")
    ours = {name for name in imported if name.partition(".")[0] == "irdiff"}
    assert ours == {"irdiff.api"}
    others = {name.partition(".")[0] for name in imported} - {"irdiff", "irdiff_amdgcn"}
    assert others - sys.stdlib_module_names == {"msgspec"}


SPILLING = """\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
kernel:
\tscratch_store_dwordx2 off, v[2:3], off offset:8{mark}
.LBB0_1:
\tscratch_store_dword off, v1, off
\tscratch_store_dword v4, v1, off
\tscratch_load_dword v1, off, off
\ts_cbranch_scc1 .LBB0_1
\ts_endpgm
\t.amdgpu_metadata
---
amdhsa.kernels:
  - .agpr_count:     0
    .name:           kernel
    .vgpr_spill_count: {recorded}
...
\t.end_amdgpu_metadata
"""


CALLING = """\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
called:
\ts_setpc_b64 s[30:31]
; Function info:
; codeLenInByte = 1208
; NumVgprs: 16
kernel:
\ts_endpgm
; Kernel info:
; codeLenInByte = 896
; NumVgprs: 36
; Occupancy: 8
"""
"""As LLVM writes a kernel with ``tl.device_assert``: the functions that it calls come first."""


def test_functions_that_a_kernel_calls_are_not_taken_for_it() -> None:
    made = summary(CALLING)
    found = values(made)
    assert found["amdgcn.vgprs"] == 36
    assert found["amdgcn.compiler_occupancy"] == 8
    assert found["amdgcn.code_bytes"] == 1208 + 896
    (size,) = [fact for fact in made.facts if fact.id == "amdgcn.code_bytes"]
    assert size.evidence == {"": (5, 10)}


@pytest.mark.parametrize(
    ("mark", "recorded", "in_loop", "exactness"),
    [
        (" ; 8-byte Folded Spill", 2, 0, None),  # the rest is a local array
        ("", 3, 1, None),  # nothing is marked, and what lies at a fixed place adds up
        (" ; 8-byte Folded Spill", 7, 0, "estimate"),
    ],
)
def test_spills_of_a_loop(mark: str, recorded: int, in_loop: int, exactness: str | None) -> None:
    made = summary(SPILLING.format(mark=mark, recorded=recorded))
    (inside,) = [fact for fact in made.facts if (fact.id, fact.scope) == ("amdgcn.vgpr_spills", "loop0")]
    assert (inside.value, inside.exactness) == (in_loop, exactness)
    assert values(made)["amdgcn.vgpr_spills"] == recorded


@pytest.mark.parametrize(
    "line",
    [
        "\tv_mov_b32_e32 v1" + " " * 60_000 + "x",
        "\t" + "a" * 60_000,
        "\ts_add_i32 s4" + ",[" * 30_000,
        "\ts_add_i32 s4" + ", s4" * 15_000,
        "\tv_mov " + "(" * 60_000,
        "\tv_mov " + "a:[" * 20_000,
        "; " + "a " * 30_000,
        '\t.asciz "' + "\\" * 60_001,
        ".amdgpu_metadata\n  .key: " + " " * 60_000 + "x",
        "\t.p2align" + ":" * 60_000,
    ],
    ids=lambda line: line.strip()[:16],
)
def test_long_lines_take_no_long_time(line: str) -> None:
    text = f'\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"\n{line}\n' * 5
    with within(5.0):
        summary(text)
        form(text)
