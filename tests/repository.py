"""Small git repositories for tests, as they are on the machine of somebody with a name and no hooks."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
        cwd=folder,
        check=True,
        capture_output=True,
        env={name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
    )
    return done.stdout.decode().strip()


def commit(folder: Path, **files: str) -> str:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "change")
    return git(folder, "rev-parse", "HEAD")
