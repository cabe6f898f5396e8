"""Run the irdiff command line as a user does, in a process of its own, or quickly inside this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from corpus import ROOT


class Result(NamedTuple):
    """How one call ended."""

    code: int
    out: str
    err: str


def irdiff(*arguments: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Result:
    """Call ``python -m irdiff`` without a terminal."""
    ours = ("IRDIFF_", "TRITON_", "COLUMNS")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    done = subprocess.run(
        [sys.executable, "-m", "irdiff", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**clean, "IRDIFF_STORE": "off", **(env or {})},
        cwd=cwd or ROOT,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def irdiff_json(*arguments: str | Path) -> Any:
    """The JSON that a call prints; fails where the call does."""
    done = irdiff(*arguments, "--format", "json")
    assert done.out, done.err
    return json.loads(done.out)
