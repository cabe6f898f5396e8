"""The user's program runs as if irdiff were not there: no Triton is needed for that."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from irdiff.capture.program import run_program

LOOK = """
import os, sys
print(__name__, sys.argv[1:], os.path.basename(sys.argv[0]), os.getcwd())
print(os.path.samefile(sys.path[0], os.path.dirname(__file__)), sys.stdin.read())
print("to stderr", file=sys.stderr)
import __main__
print(__main__.__file__ == __file__, "sitecustomize" in sys.modules, __spec__)
sys.exit(int(sys.argv[1]))
"""


def test_a_program_sees_what_python_alone_shows_it(programs):
    ran = programs.run(LOOK, "3", "--flag", "a b", stdin="typed")
    script = programs.folder / "program.py"
    bare = subprocess.run(
        [sys.executable, str(script), "3", "--flag", "a b"],
        cwd=programs.folder, input="typed", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ran.code, bare.returncode) == (3, 3)
    without = [line.replace(" True None", " False None") for line in ran.stdout.splitlines()]
    assert without == [line.replace(" True None", " False None") for line in bare.stdout.splitlines()]
    assert ran.stderr.splitlines()[0] == "to stderr"


def test_nothing_of_irdiff_is_printed_to_standard_output(programs):
    assert programs.run("print('mine')").stdout == "mine\n"


@pytest.mark.parametrize(
    ("text", "code"), [("raise SystemExit(7)", 7), ("1 / 0", 1), ("import os; os._exit(9)", 9)]
)
def test_the_exit_code_is_passed_on(programs, text, code):
    assert programs.run(text).code == code


def test_a_program_that_a_signal_ends_gives_128_and_its_number(programs):
    ran = programs.run("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert ran.code == 128 + signal.SIGKILL


def test_a_program_that_compiles_nothing_is_no_success(programs):
    ran = programs.run("pass")
    assert ran.code == 2
    assert "0 kernels" in ran.stderr


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGUSR1"])
def test_signals_reach_the_program_once(programs, name):
    text = f"""
import signal, sys, time
got = []
signal.signal(signal.{name}, lambda number, frame: got.append(number))
print("ready", flush=True)
end = time.monotonic() + 30
while not got and time.monotonic() < end:
    time.sleep(0.01)
time.sleep(0.3)
print(got, flush=True)
sys.exit(5)
"""
    process = subprocess.Popen(
        programs.command(text),
        cwd=programs.folder,
        env=programs.environment(),
        text=True,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(getattr(signal, name))
        assert process.stdout.readline() == f"[{getattr(signal, name).value}]\n"
    assert process.wait(30) == 5


def test_a_signal_that_the_program_ignores_does_not_end_irdiff():
    began = time.monotonic()
    text = "import os, signal, time; os.kill(os.getppid(), signal.SIGUSR2); time.sleep(0.2)"
    _, code = run_program(
        [sys.executable, "-c", f"import signal; signal.signal(12, signal.SIG_IGN); {text}"], os.environ
    )
    assert code == 0
    assert time.monotonic() - began < 20


def test_a_sitecustomize_that_was_there_still_runs(programs):
    site = programs.folder / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text("import builtins; builtins.customized = __file__")
    text = "import sys, sitecustomize; print(customized == sitecustomize.__file__, '_irdiff_inside' in sys.modules)"
    path = os.pathsep.join([str(site), programs.environment()["PYTHONPATH"]])
    assert programs.run(text, PYTHONPATH=path).stdout == "True True\n"


def test_processes_that_the_program_starts_are_recorded_too(programs):
    look = "import sys; print('_irdiff_inside' in sys.modules)"
    text = f"""
import multiprocessing, subprocess, sys, os
print(subprocess.run([sys.executable, "-c", {look!r}], capture_output=True, text=True).stdout.strip())
passed = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))  # as Inductor starts its workers
print(subprocess.run([sys.executable, "-c", {look!r}], env=passed, capture_output=True, text=True).stdout.strip())
"""
    assert programs.run(text).stdout == "True\nTrue\n"


def test_the_interpreter_of_triton_is_refused_before_the_program_starts(programs):
    ran = programs.run("print('started')", TRITON_INTERPRET="1")
    assert ran.code == 64
    assert ran.stdout == ""
    assert "TRITON_INTERPRET" in ran.stderr


def test_a_program_that_cannot_be_found_is_an_input_error(programs):
    from irdiff.cli.run_script import run_script
    from irdiff.errors import InputError

    with pytest.raises(InputError, match="no file that can be run"):
        run_script(str(programs.folder / "absent.py"), output=programs.output)


def test_no_work_folder_is_left(programs):
    assert programs.run("pass").folders() == []
