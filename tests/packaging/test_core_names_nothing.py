"""The core names no vendor and no stage: what is known of one is in its plugin.

Scanned are the tokens that run: string literals and identifiers; docstrings and comments may give examples. Whatever
compiles with Triton (``compile``, ``capture``, ``suite``) speaks of Triton's own targets and passes and is left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import corpus

DRIVES_TRITON = frozenset({"compile", "capture", "suite"})
STAGES = [
    "ttir",
    "ttgir",
    "llir",
    "ptx",
    "ptxas",
    "sass",
    "cubin",
    "nvdisasm",
    "amdgcn",
    "hsaco",
    "spv",
    "spirv",
    "spvasm",
    "spir-v",
]
VENDORS = ["amd", "hip", "rocm", "gfx\\w*", "vgpr", "sgpr", "nvidia", "cuda", "sm_\\d+", "intel", "xpu"]
NAMED = re.compile(rf"(?i)(?<![a-z0-9])(?:{'|'.join((*STAGES, *VENDORS))})(?![a-z0-9])")

ARGUED = {
    (
        "sources/names.py",
        "ttir",
    ): "Triton's reproducers are named after its passes; their suffix follows from that",
    ("sources/names.py", "ttgir"): "as above",
    ("sources/names.py", "llir"): "as above",
    (
        "sources/names.py",
        "cubin",
    ): "Triton's binary-only entries are recognised where no plugin claims their suffix",
    (
        "sources/names.py",
        "hsaco",
    ): "as above, and a note of Triton 2.1 that lies beside an entry and is no stage",
    ("sources/stage_json.py", "cuda"): "Triton 2.2 wrote a capability and no backend: it had one backend",
    (
        "sources/recorded.py",
        "ptxas",
    ): "the field and file of irdiff compile's own record that hold an assembler's log",
    ("sources/times.py", "cuda"): "columns of the PyTorch profiler's table",
    ("sources/paths.py", "ptx"): "an example in the hint of an error",
    ("config/facts.py", "ptx"): "an example in the message of an error",
    ("model/report.py", "cuda"): "an example in the JSON schema's description",
    ("cli/options.py", "sass"): "an example in a help text",
    ("cli/options.py", "ptxas"): "the option --ptxas-log, which other programs rely on",
    ("cli/show_command.py", "ptxas"): "as above",
    ("cli/compare_command.py", "ptxas"): "as above",
    ("cli/check_command.py", "ptxas"): "as above",
    ("cli/compare.py", "ptxas"): "as above, in a message",
    ("cli/session.py", "ptxas"): "as above, in a message",
    ("cli/compile_command.py", "ttir"): "help text of a command that drives Triton",
    ("cli/compile_command.py", "ttgir"): "as above",
    ("cli/compile_command.py", "cuda"): "as above: examples of targets",
    ("cli/compile_command.py", "hip"): "as above",
    ("cli/compile_command.py", "gfx942"): "as above",
    ("cli/compile.py", "ttgir"): "the command that drives Triton: a module in that form says its own target",
    ("cli/compile.py", "ptxas"): "the command that drives Triton: where the log of a failed compilation is",
    ("cli/compile.py", "cuda"): "an example in the hint of an error",
    ("baseline/lines.py", "ptx"): "an example in the hint of an error",
    ("baseline/lines.py", "sass"): "as above",
    ("cli/against.py", "cuda"): "an example in the hint of an error",
    ("cli/baseline_command.py", "ptx"): "an example in a help text",
    ("cli/baseline_command.py", "sass"): "as above",
    ("cli/check.py", "ptxas"): "the option --ptxas-log, in a message",
    ("cli/start.py", "ptxas"): "as above",
    ("compiled.py", "sass"): "Triton's own name for what its compiled kernel makes on demand",
    ("config/expressions.py", "ptx"): "an example in the hint of an error",
    ("config/expressions.py", "sass"): "as above",
    ("config/tables.py", "cuda"): "an example in the JSON schema's description",
    ("config/tables.py", "sass"): "as above",
    ("pytest_plugin.py", "cuda"): "an example in the hint of an error",
    ("cli/doctor.py", "nvidia"): "the folder in which the kernel lists that driver's devices",
}
"""(file below irdiff/, name) to the reason why it is there."""


def sources() -> list[Path]:
    root = corpus.ROOT / "irdiff"
    return [
        path for path in sorted(root.rglob("*.py")) if path.relative_to(root).parts[0] not in DRIVES_TRITON
    ]


def tokens(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """(line, text) of every string that is no docstring, and of every identifier, with spaces for underscores."""
    strings = {
        id(statement.value)
        for node in ast.walk(tree)
        for statement in (
            getattr(node, "body", None) if isinstance(getattr(node, "body", None), list) else ()
        )
        if isinstance(statement, ast.Expr)
    }
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in strings:
                yield line, node.value
        elif isinstance(node, ast.Name):
            yield line, node.id.replace("_", " ")
        elif isinstance(node, ast.Attribute):
            yield line, node.attr.replace("_", " ")
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield line, node.name.replace("_", " ")
        elif isinstance(node, (ast.arg, ast.keyword)):
            yield line, (node.arg or "").replace("_", " ")


def named(path: Path) -> set[tuple[str, str, int]]:
    """(file, name, line) of everything named in one module."""
    file = str(path.relative_to(corpus.ROOT / "irdiff"))
    return {
        (file, name.lower(), line)
        for line, text in tokens(ast.parse(path.read_text()))
        for name in NAMED.findall(text)
    }


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(corpus.ROOT / "irdiff")))
def test_a_module_of_the_core_names_no_stage_and_no_vendor(path: Path) -> None:
    found = sorted(each for each in named(path) if each[:2] not in ARGUED)
    assert not found, f"{found}: what is known of a stage or vendor belongs in its plugin"


def test_what_compares_and_renders_has_no_exception_but_an_example() -> None:
    strict = ("engine/", "present/", "model/", "registry", "plugin", "hookspecs", "api", "testing", "tools/")
    excepted = {file for file, _ in ARGUED if file.startswith(strict)}
    assert excepted == {"model/report.py"}


def test_every_exception_is_needed() -> None:
    needed = {each[:2] for path in sources() for each in named(path)}
    assert sorted(ARGUED.keys() - needed) == []


def test_the_scan_finds_what_it_is_for() -> None:
    text = 'x = "ttgir"\ndef hip_only(): "doc of ptx"\nvalue.amd_thing = "plain"\nf(sass=1)\ny = "camdgcnx ramp"\n'
    found = {name for _, token in tokens(ast.parse(text)) for name in NAMED.findall(token)}
    assert found == {"ttgir", "hip", "amd", "sass"}
