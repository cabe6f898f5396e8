"""The Python API: the guide's examples are true, and it says what the command line says."""

from __future__ import annotations

import doctest
import importlib.util
import json
import os
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest

import corpus
import irdiff
from command import irdiff_json
from irdiff.compiled import is_compiled_kernel, place_of, written_entry
from irdiff.errors import InputError, UsageError
from irdiff.model.codec import encode

BEFORE, AFTER = (corpus.PAIRS / "fp_fusion" / side for side in ("before", "after"))
GUIDE = corpus.ROOT / "docs" / "guide" / "python.md"


def test_the_examples_of_the_guide_are_true(monkeypatch):
    monkeypatch.chdir(corpus.ROOT)
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "python.md", str(GUIDE), 0)
    assert len(test.examples) > 10
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_compare_and_show_say_what_the_commands_say():
    report = json.loads(encode(irdiff.compare(BEFORE, AFTER)))
    assert report == irdiff_json("compare", BEFORE, AFTER)
    assert report["verdict"] == "changed"
    shown = json.loads(encode(irdiff.show(BEFORE)))
    assert shown == irdiff_json("show", BEFORE)


def test_the_changes_of_a_report_are_those_of_its_kernels():
    report = irdiff.compare(str(BEFORE), AFTER, external=False)
    assert report.changes == tuple(change for kernel in report.kernels for change in kernel.changes)
    assert report.changes


def test_importing_irdiff_imports_nothing_else_until_a_function_is_asked_for():
    code = (
        "import sys, irdiff; before = [n for n in sys.modules if n.startswith('irdiff')]; irdiff.compare;"
        "print(before, 'irdiff.library' in sys.modules, 'triton' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "['irdiff'] True False"
    assert set(irdiff.__all__) <= set(dir(irdiff))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = irdiff.nothing


def _compiled_kernel(entry):
    """What Triton returns, from the files of an entry: ``asm`` by suffix, ``metadata`` as an object."""
    (described,) = (path for path in entry.glob("*.json") if not path.name.startswith("__grp__"))
    fields = json.loads(described.read_text())
    fields["target"] = SimpleNamespace(**fields["target"])
    asm = {
        path.suffix[1:]: path.read_bytes() if path.suffix == ".cubin" else path.read_text()
        for path in entry.glob(f"{described.stem}.*")
        if path != described
    }
    return SimpleNamespace(
        asm={**asm, "sass": "made on demand"}, metadata=SimpleNamespace(_asdict=lambda: fields)
    )


def test_a_compiled_kernel_is_the_entry_it_was_written_to():
    entry = corpus.entry("3.6.0", "sm_90", "vector_add_kernel")
    kernel = _compiled_kernel(entry)
    assert is_compiled_kernel(kernel)
    report = irdiff.compare(kernel, entry)
    assert report.before == "vector_add_kernel"
    assert report.verdict in ("identical", "equivalent")
    assert not report.issues
    with written_entry(kernel) as (folder, _):
        assert not list(folder.glob("*.sass"))
    assert not folder.exists()


def test_a_name_that_is_a_path_stays_inside_the_folder(tmp_path):
    hostile = SimpleNamespace(asm={"ptx": "x", "../../evil": "x"}, metadata={"name": "../../evil"})
    with written_entry(hostile) as (folder, _):
        assert {path.name for path in folder.iterdir()} == {"______evil.json", "______evil.ptx"}


@pytest.mark.parametrize("thing", [12, None, object(), SimpleNamespace(asm={}, metadata=None)])
def test_what_is_no_input_is_an_error_that_says_so(thing):
    with pytest.raises(UsageError, match="neither a path nor a compiled kernel"):
        irdiff.show(thing)


def test_a_baseline_or_an_input_before_and_not_both(tmp_path):
    for arguments in ({}, {"baseline": tmp_path / "x"}):
        with pytest.raises(UsageError, match="either an input before or a baseline"):
            irdiff.check(BEFORE if arguments else None, AFTER, **arguments)


def test_a_baseline_of_what_cannot_be_read_is_not_written(tmp_path):
    file = tmp_path / "k.baseline"
    with pytest.raises(InputError):
        irdiff.write_baseline(corpus.FIXTURES / "broken" / "cubin-half", file)
    assert not file.exists()


def _function():
    return None


def test_a_kernel_is_found_by_its_function_however_it_is_decorated():
    wrapped = SimpleNamespace(fn=SimpleNamespace(fn=_function))
    assert place_of(wrapped) == place_of(_function)
    assert place_of(_function)[1] == "_function"
    assert place_of("a.py::k")[1] == "k"
    with pytest.raises(UsageError, match="is no kernel"):
        place_of(3)
    with pytest.raises(UsageError, match="stands inside a function"):
        place_of(lambda: None)


def test_a_kernel_that_does_not_compile_is_an_error_with_the_compilers_words(tmp_path):
    if importlib.util.find_spec("triton") is None:
        if os.environ.get("CI") and sys.platform == "linux":
            pytest.fail("triton is not installed, though it is in the test dependencies")
        pytest.skip("triton is not installed (there are wheels for Linux alone)")
    with pytest.raises(InputError, match="does not compile for cuda:90"):
        irdiff.compile_kernel(
            f"{corpus.FIXTURES / 'kernels' / 'matmul.py'}::matmul_kernel",
            "*fp16",
            "cuda:90",
            tmp_path / "out",
        )


@pytest.mark.parametrize("level", ["offf", "", None, 1])
def test_a_level_that_is_none_is_refused_and_switches_nothing_off(level: object) -> None:
    sides = (corpus.PAIRS / "spills" / "before", corpus.PAIRS / "spills" / "after")
    with pytest.raises(UsageError, match="is no level"):
        irdiff.check(*sides, rules={"RES101": level})
