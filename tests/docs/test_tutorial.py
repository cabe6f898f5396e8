"""The tutorial, run as a reader would: its files are written, its commands run, their output compared.

A fenced block ``LANGUAGE PATH`` is a file (``LANGUAGE PATH +``: more of it); a block ``console`` holds commands behind
``$ `` with their output, in which ``...`` stands for anything. ``IRDIFF_UPDATE_TUTORIAL=1`` writes the output anew.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import corpus

TUTORIAL = corpus.ROOT / "docs/plugins/tutorial.md"
FENCE = re.compile(r"^```(?P<info>\w+[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
UPDATE = os.environ.get("IRDIFF_UPDATE_TUTORIAL") == "1" and not os.environ.get("CI")


def environment(folder: Path) -> dict[str, str]:
    """A virtual environment that sees this one's packages, in which ``pip install -e .`` needs no network."""
    made = folder / ".venv"
    venv.create(made, with_pip=False)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(made), "platbase": str(made)}))
    here = [sysconfig.get_path("purelib"), str(corpus.ROOT)]
    (site / "outer.pth").write_text("".join(f"import site; site.addsitedir({each!r})\n" for each in here))
    python = made / "bin/python"
    shims = {
        "pip": f'exec "{sys.executable}" -m pip --python "{python}" "$@" --no-deps --no-build-isolation',
        "irdiff": f'exec "{python}" -m irdiff "$@"',
    }
    for name, line in shims.items():
        (made / "bin" / name).write_text(f"#!/bin/sh\n{line}\n")
        (made / "bin" / name).chmod(0o755)
    ours = ("IRDIFF_", "TRITON_", "COLUMNS", "PYTHONPATH", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {
        **kept,
        "PATH": f"{made / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PIP_ROOT_USER_ACTION": "ignore",
    }


def commands(block: str) -> list[tuple[str, list[str]]]:
    """(command, lines of its output) of a console block."""
    found: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def run(command: str, folder: Path, env: dict[str, str]) -> list[str]:
    """What a command prints, and how it ended where that is not 0."""
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    lines = (done.stdout + done.stderr).splitlines()
    return [*(line.rstrip() for line in lines), *([f"[exit {done.returncode}]"] if done.returncode else [])]


def matches(expected: list[str], printed: list[str]) -> bool:
    """Equal but for blanks at ends of lines and for what ``...`` stands for: lines, or part of one."""
    text = "\n".join(line.rstrip() for line in expected)
    pattern = (
        re.escape(text).replace(re.escape("...\n"), r"(?:.*\n)*?").replace(re.escape("\n..."), r"(?:\n.*)*?")
    )
    pattern = pattern.replace(re.escape("..."), ".*")
    return re.fullmatch(pattern, "\n".join(printed)) is not None


def test_the_tutorial_does_what_it_says(tmp_path: Path) -> None:
    text = TUTORIAL.read_text()
    env = environment(tmp_path)
    work = tmp_path / "work"
    work.mkdir()
    wrong, updated, end, ran = [], [], 0, 0
    for block in FENCE.finditer(text):
        language, *path = block["info"].split()
        if path:
            file = work / path[0]
            more = file.read_text() if path[1:] == ["+"] else ""
            file.parent.mkdir(exist_ok=True)
            file.write_text(more + ("\n\n" if more else "") + block["body"])
        if language != "console":
            continue
        lines = []
        for command, expected in commands(block["body"]):
            printed = run(command, work, env)
            ran += 1
            good = matches(expected, printed)
            if not good:
                wrong.append(f"$ {command}\n" + "\n".join(printed))
            lines += [f"$ {command}", *(expected if good else printed)]
        updated += [text[end : block.start("body")], "\n".join([*lines, ""])]
        end = block.end("body")
    if UPDATE:
        TUTORIAL.write_text("".join([*updated, text[end:]]))
        return
    assert ran > 10
    assert not wrong, "\n\n".join(wrong)


def test_what_stands_for_anything_stands_for_lines_or_part_of_one() -> None:
    assert matches(["a", "...", "c"], ["a", "b", "b", "c"])
    assert matches(["a", "...", "c"], ["a", "c"])
    assert matches(["took ... s"], ["took 3 s"])
    assert matches(["...", "end"], ["end"])
    assert not matches(["a"], ["b"])
    assert not matches(["a", "..."], ["b"])
    assert not matches(["took ... s"], ["took", "3 s"])
