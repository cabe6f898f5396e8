"""Finding external programs and running them."""

from __future__ import annotations

import os
import pickle
import stat
import sys
import time
from pathlib import Path

import pytest

from irdiff.errors import ToolError
from irdiff.model.tools import ToolSpec
from irdiff.tools import LocalToolbox
from irdiff.tools.process import run_limited

SPEC = ToolSpec(
    id="answer",
    variable="IRDIFF_ANSWER",
    hint="pip install answer",
    packages=(("answer-tool", "answer"),),
    homes=(("ANSWER_HOME", "bin/answer"),),
    modules=(("answering", "bin/answer"),),
    version_pattern=r"version (\d+\.\d+)",
    supports_arguments=("--help",),
    supports_pattern=r"'(SM\d+)'",
)


def program(path: Path, version: str = "1.0", body: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"#!/bin/sh\ncase $1 in --version) echo version {version}; echo x >> '{path}.asked';;\n"
        f"--help) echo \"'SM80','SM90'\";;\n*) {body or 'echo ran'};; esac\n"
    )
    path.chmod(0o755)
    return path


def toolbox(environment: dict[str, str], python_path: Path | None = None) -> LocalToolbox:
    paths = [str(python_path)] if python_path is not None else []
    return LocalToolbox({"answer": SPEC}, {"PATH": "", **environment}, python_path=paths)


def test_copies_come_in_the_order_setting_package_home_path_module(tmp_path: Path) -> None:
    site = tmp_path / "site"
    setting = program(tmp_path / "setting" / "mine", "1.0")
    package = program(site / "answer_files" / "answer", "2.0")
    info = site / "answer_tool-2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: answer-tool\nVersion: 2.0\n")
    (info / "RECORD").write_text("answer_files/answer,,\nanswer_tool-2.0.dist-info/METADATA,,\n")
    home = program(tmp_path / "home" / "bin" / "answer", "3.0")
    on_path = program(tmp_path / "path" / "answer", "4.0")
    module = program(site / "answering" / "bin" / "answer", "5.0")
    (site / "answering" / "__init__.py").write_text("raise RuntimeError('imported')")
    box = toolbox(
        {"IRDIFF_ANSWER": str(setting), "ANSWER_HOME": str(home.parents[1]), "PATH": str(on_path.parent)},
        site,
    )
    found = box.find("answer")
    assert [tool.path for tool in found] == [str(each) for each in (setting, package, home, on_path, module)]
    assert [tool.version for tool in found] == ["1.0", "2.0", "3.0", "4.0", "5.0"]
    assert [tool.origin for tool in found] == [
        "IRDIFF_ANSWER", "PyPI package answer-tool", "ANSWER_HOME", "PATH", "Python package answering",
    ]  # fmt: skip
    assert found[0].supports == ("SM80", "SM90")
    assert "answering" not in sys.modules


def test_a_file_found_in_two_ways_counts_once(tmp_path: Path) -> None:
    copy = program(tmp_path / "answer")
    (tmp_path / "link").symlink_to(tmp_path)
    found = toolbox({"IRDIFF_ANSWER": str(copy), "PATH": f"{tmp_path}:{tmp_path}/link"}).find("answer")
    assert [tool.origin for tool in found] == ["IRDIFF_ANSWER"]


def test_a_folder_on_the_path_that_cannot_be_looked_at_hides_no_other(tmp_path: Path) -> None:
    good = program(tmp_path / "good" / "answer")
    box = toolbox({"PATH": os.pathsep.join([str(tmp_path / ("x" * 300)), str(good.parent)])})
    assert [tool.path for tool in box.find("answer")] == [str(good)]


def test_each_copy_is_asked_for_its_version_once(tmp_path: Path) -> None:
    copy = program(tmp_path / "answer")
    box = toolbox({"PATH": str(tmp_path)})
    assert box.find("answer") == box.find("answer")
    assert Path(f"{copy}.asked").read_text().count("x") == 1


def test_a_tool_nobody_registered_and_one_that_is_nowhere_are_not_found(tmp_path: Path) -> None:
    box = toolbox({"PATH": str(tmp_path), "IRDIFF_ANSWER": str(tmp_path / "gone")})
    assert box.find("answer") == ()
    assert box.find("other") == ()


def test_a_copy_that_does_not_run_is_found_with_no_version(tmp_path: Path) -> None:
    (tmp_path / "answer").write_bytes(b"\x7fELF and nothing more")
    (tmp_path / "answer").chmod(0o755)
    (tool,) = toolbox({"PATH": str(tmp_path)}).find("answer")
    assert (tool.version, tool.supports) == ("", ())


def test_a_copy_without_the_execute_bit_runs_from_a_private_copy_that_close_removes(tmp_path: Path) -> None:
    copy = program(tmp_path / "answer", body='echo "$0"')
    copy.chmod(0o644)
    box = toolbox({"PATH": str(tmp_path)})
    (tool,) = box.find("answer")
    assert (tool.path, tool.version) == (str(copy), "1.0")
    ran = Path(box.run(tool, ["go"], timeout=20).stdout.decode().strip())
    assert ran != copy
    assert stat.S_IMODE(ran.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(copy.stat().st_mode) == 0o644
    box.close()
    assert not ran.parent.parent.exists()
    assert box.run(tool, ["go"], timeout=20).returncode == 0
    box.close()


def test_a_private_copy_goes_with_its_toolbox(tmp_path: Path) -> None:
    copy = program(tmp_path / "answer", body='echo "$0"')
    copy.chmod(0o644)
    box = toolbox({"PATH": str(tmp_path)})
    ran = Path(box.run(box.find("answer")[0], ["go"], timeout=20).stdout.decode().strip())
    assert ran.exists()
    del box
    assert not ran.exists()


def test_a_pickled_toolbox_finds_the_same_and_shares_no_private_copy(tmp_path: Path) -> None:
    program(tmp_path / "answer").chmod(0o644)
    box = toolbox({"PATH": str(tmp_path)})
    found = box.find("answer")
    other = pickle.loads(pickle.dumps(box))
    assert other.find("answer") == found
    box.close()
    assert other.run(found[0], ["go"], timeout=20).stdout == b"ran\n"
    other.close()


def test_arguments_meet_no_shell_and_the_environment_is_clean(tmp_path: Path) -> None:
    program(tmp_path / "answer", body='printf "%s|" "$@"; env; cat')
    box = toolbox({"PATH": f"{tmp_path}:/usr/bin:/bin", "SECRET": "s3cret"})
    result = box.run(box.find("answer")[0], ["go", "; touch x", "$HOME", "*"], timeout=20)
    assert result.stdout.startswith(b"go|; touch x|$HOME|*|")
    assert b"s3cret" not in result.stdout
    assert b"LC_ALL=C" in result.stdout


def test_a_program_that_runs_too_long_is_killed_with_its_children(tmp_path: Path) -> None:
    child = tmp_path / "child"
    program(tmp_path / "answer", body=f"sleep 60 & echo $! > '{child}'; wait")
    box = toolbox({"PATH": f"{tmp_path}:/usr/bin:/bin"})
    tool = box.find("answer")[0]
    begin = time.monotonic()
    with pytest.raises(ToolError, match=r"did not end within 1 s.*pip install answer"):
        box.run(tool, ["go"], timeout=1)
    assert time.monotonic() - begin < 15
    number = int(child.read_text())
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and not _is_gone(number):
        time.sleep(0.05)
    assert _is_gone(number)


def _is_gone(number: int) -> bool:
    """Whether a process ended; one that nobody has reaped yet counts as ended."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return True
    status = Path(f"/proc/{number}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_child_that_holds_the_output_open_does_not_hold_us_up(tmp_path: Path) -> None:
    program(tmp_path / "answer", body="sleep 60 & exit 0")
    box = toolbox({"PATH": f"{tmp_path}:/usr/bin:/bin"})
    with pytest.raises(ToolError, match="did not end"):
        box.run(box.find("answer")[0], ["go"], timeout=1)


def test_endless_output_ends_the_program() -> None:
    with pytest.raises(ToolError, match="wrote more than 100,000 bytes"):
        run_limited(
            ["/bin/sh", "-c", "while :; do echo yes; done"],
            environment={"PATH": "/usr/bin:/bin"},
            timeout=60,
            output_limit=100_000,
        )


def test_a_tool_that_vanished_is_an_error_that_names_it_and_says_how_to_get_one(tmp_path: Path) -> None:
    copy = program(tmp_path / "answer")
    box = toolbox({"PATH": str(tmp_path)})
    (tool,) = box.find("answer")
    copy.unlink()
    with pytest.raises(ToolError) as caught:
        box.run(tool, ["go"], timeout=5)
    assert caught.value.where == str(copy)
    assert caught.value.hint == "pip install answer"


def test_exit_code_and_both_outputs_come_back(tmp_path: Path) -> None:
    program(tmp_path / "answer", body="echo out; echo err >&2; exit 3")
    box = toolbox({"PATH": str(tmp_path)})
    result = box.run(box.find("answer")[0], ["go"], timeout=20)
    assert (result.returncode, result.stdout, result.stderr) == (3, b"out\n", b"err\n")
