"""The short way into the program means what the long way means, and is given up where anything is unusual."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pluggy
import pytest
import typer
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import corpus
import irdiff.cli.compare
import irdiff.cli.show
from command import irdiff as call
from irdiff.api import hookimpl
from irdiff.cli import start
from irdiff.cli.main import app, main_with
from irdiff.installed import folders, is_plain
from irdiff.plugin_checks import SpecError
from irdiff.plugin_hooks import marked, validated
from irdiff.plugins import load_plugins


def declared(command: str) -> dict[str, Any]:
    """Option to its parameter, as Typer has them."""
    group = typer.main.get_command(app)
    found = group.commands[command]  # type: ignore[attr-defined]
    return {name: parameter for parameter in found.params for name in parameter.opts if name.startswith("-")}


@pytest.mark.parametrize(("command", "table"), [("compare", start.COMPARE), ("show", start.SHOW)])
def test_every_option_of_the_short_way_is_declared_alike(
    command: str, table: dict[str, start.Option]
) -> None:
    known = declared(command)
    assert not table.keys() - known.keys()
    left_to_typer = {"compare": {"--help", "-h"}, "show": {"--help", "-h", "--canonical", "--no-normalize"}}
    assert known.keys() - table.keys() <= left_to_typer[command]
    for name, option in table.items():
        parameter = known[name]
        assert parameter.multiple == (option.kind in ("many", "paths")), name
        assert parameter.is_flag == (option.kind == "flag"), name


words = st.sampled_from(
    [*start.COMPARE, "a", "b", "c", "1", "0", "-1", "9999999999", "--", "-x", "--format=json", "--top=3", "-fjson",
     "--jobs=x", "--all=1", "--ir=", "", "-v", "--evidence", "--context", "2", "--no", "--help", "ptx"]
)  # fmt: skip


@settings(max_examples=400, deadline=None, phases=[Phase.explicit, Phase.generate])
@given(st.sampled_from(["compare", "show"]), st.lists(words, max_size=6))
def test_the_short_way_calls_what_the_long_way_calls(command: str, arguments: list[str]) -> None:
    calls: list[tuple[object, ...]] = []

    def noted(*places: object, **options: object) -> int:
        calls.append((places, options))
        return 0

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(irdiff.cli.compare, "run_compare", noted)
        patch.setattr(irdiff.cli.show, "run_show", noted)
        known = start._known([command, *arguments])
        if known is None:
            return
        assert known() == 0
        patch.setattr(sys, "stderr", open(os.devnull, "w"))  # noqa: PTH123, SIM115
        assert main_with([command, *arguments]) == 0
        sys.stderr.close()
    short, long = calls
    assert short == long


def test_the_overview_is_what_typer_prints(capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    for columns in ("80", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        assert main_with(["--help"]) == 0
        long = capsys.readouterr().out
        assert start.main(["--help"]) == 0
        assert capsys.readouterr().out == long, "make docs writes irdiff/cli/help.txt"
    narrow = call("--help", env={"COLUMNS": "60"})
    assert narrow.out.startswith("Usage: irdiff")
    assert narrow.out != long


def test_mistakes_are_told_as_ever() -> None:
    short, long = (
        call("compare", "/not/there", "/nor/this"),
        call("compare", "/not/there", "/nor/this", "--jobs=1"),
    )
    assert (short.code, short.err) == (long.code, long.err)
    assert short.code == 2
    assert "is not there" in short.err


def test_the_mark_of_a_hook_is_pluggys() -> None:
    def one() -> None: ...

    def other() -> None: ...

    hookimpl(one)
    pluggy.HookimplMarker("irdiff")(other)
    assert one.irdiff_impl == other.irdiff_impl  # type: ignore[attr-defined]
    hookimpl(trylast=True, specname="x")(one)
    pluggy.HookimplMarker("irdiff")(trylast=True, specname="x")(other)
    assert one.irdiff_impl == other.irdiff_impl  # type: ignore[attr-defined]


def test_the_bundled_plugins_pass_what_others_must_pass() -> None:
    import importlib

    bundled = [plugin for plugin in load_plugins(external=False).plugins if plugin.bundled]
    assert len(bundled) >= 7
    for plugin in bundled:
        module = importlib.import_module(f"irdiff_{plugin.name}.plugin")
        short, long = marked(module), validated(module)
        assert {name: [each.function for each in found] for name, found in short.items()} == {
            name: [each.function for each in found] for name, found in long.items() if found
        }
    with pytest.raises(SpecError):
        validated(object())


def test_distributions_are_found_as_importlib_finds_them() -> None:
    import importlib.metadata

    assert is_plain(sys.path)
    found = {
        folder.rpartition("/")[2].rpartition(".")[0].partition("-")[0].lower() for folder in folders(sys.path)
    }
    known = {
        str(one.metadata["Name"]).replace("-", "_").replace(".", "_").lower()
        for one in importlib.metadata.distributions()
    }
    assert {name.replace(".", "_") for name in found} == known


@pytest.mark.parametrize(
    ("arguments", "code"), [(["--help"], 0), (["no-such-command"], 64), (["compare", "a", "b"], 2)]
)
def test_the_program_ends_at_once_with_all_written_and_what_libraries_do_at_an_exit_done(
    arguments: list[str], code: int
) -> None:
    program = (
        "import atexit, sys; atexit.register(lambda: print('the end')); "
        f"sys.argv = ['irdiff', *{arguments!r}]; from irdiff.cli.start import run; run()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == code
    assert done.stdout.endswith("the end\n")
    assert "Usage" in done.stdout + done.stderr or "error:" in done.stderr


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be put off here")
def test_signals_wait_while_msgspec_is_imported(tmp_path: Path) -> None:
    """An exception that a handler raises there is swallowed, and the next call of msgspec crashes."""
    fake = "import signal\nMASKED = signal.pthread_sigmask(signal.SIG_BLOCK, ())\n"
    (tmp_path / "msgspec.py").write_text(fake)
    program = (
        f"import importlib.util, signal, sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        f"spec = importlib.util.spec_from_file_location('lean', {str(corpus.ROOT / 'irdiff' / 'lean.py')!r})\n"
        "lean = importlib.util.module_from_spec(spec); spec.loader.exec_module(lean)\n"
        "lean.import_msgspec()\n"
        "import msgspec\n"
        "print(sorted(map(int, msgspec.MASKED)), sorted(map(int, signal.pthread_sigmask(signal.SIG_BLOCK, ()))))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == f"{[int(signal.SIGINT), int(signal.SIGTERM)]} []", done.stderr


@pytest.mark.skipif(not hasattr(os, "set_blocking"), reason="there are no such pipes here")
def test_a_pipe_that_does_not_wait_loses_nothing() -> None:
    command = [sys.executable, "-m", "irdiff", "show", str(corpus.PAIRS), "-f", "json"]
    done = subprocess.run(command, capture_output=True, timeout=120)
    whole = done.stdout
    assert len(whole) > 1 << 16
    read, write = os.pipe()
    os.set_blocking(write, False)
    process = subprocess.Popen(command, stdout=write)
    os.close(write)
    time.sleep(0.5)
    with os.fdopen(read, "rb") as pipe:
        assert pipe.read() == whole
    assert process.wait(60) == done.returncode
