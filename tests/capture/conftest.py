"""Programs that are run by irdiff, each in a process of its own, with their output kept."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import corpus
from irdiff.capture.entries import RunEntry

TORCH = "IRDIFF_TEST_TORCH_PYTHON"
"""Environment variable: an interpreter with torch (a build for the CPU will do) and Triton. Never set in CI, for
torch's wheel has several gigabytes."""

RUN = """
import sys
from pathlib import Path
from irdiff.cli.run_script import run_script
from irdiff.errors import UsageError
python, output, targets, script, *rest = sys.argv[1:]
try:
    code = run_script(script, rest, targets=[targets] if targets else [], python=python, output=Path(output))
except UsageError as error:
    print(error, file=sys.stderr)
    code = 64
sys.exit(code)
"""


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """How ``irdiff compile --run`` ended."""

    code: int
    stdout: str
    stderr: str
    output: Path

    def entries(self) -> list[RunEntry]:
        """The records of the tree, failed ones last, sorted by kernel."""
        paths = sorted(self.output.glob("*/irdiff.json")) + sorted(self.output.glob("failed/*.json"))
        read = [msgspec.json.decode(path.read_bytes(), type=RunEntry) for path in paths]
        return sorted(read, key=lambda entry: (entry.status, entry.kernel))

    def folders(self) -> list[str]:
        """What lies in the output, hidden work folders too."""
        return sorted(path.name for path in self.output.iterdir())


class Programs:
    """Writes programs into a folder and runs them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.output = folder / "out"

    def command(
        self, text: str, *arguments: str, target: str = "", python: str = sys.executable
    ) -> list[str]:
        script = self.folder / "program.py"
        script.write_text(text)
        os.utime(script, (1_700_000_000, 1_700_000_000))  # line tables hold it
        return [sys.executable, "-c", RUN, python, str(self.output), target, str(script), *arguments]

    def environment(self, **more: str) -> dict[str, str]:
        path = [str(corpus.ROOT), str(corpus.ROOT / "plugins" / "bundled"), os.environ.get("PYTHONPATH", "")]
        kept = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_")}
        return {**kept, "PYTHONPATH": os.pathsep.join(filter(None, path)), **more}

    def run(
        self,
        text: str,
        *arguments: str,
        target: str = "",
        python: str = sys.executable,
        stdin: str = "",
        **environment: str,
    ) -> Ran:
        ended = subprocess.run(
            self.command(text, *arguments, target=target, python=python),
            cwd=self.folder,
            env=self.environment(**environment),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=300,
        )
        return Ran(code=ended.returncode, stdout=ended.stdout, stderr=ended.stderr, output=self.output)


@pytest.fixture
def programs(tmp_path: Path) -> Programs:
    """An empty folder to run programs in."""
    return Programs(tmp_path)


@pytest.fixture(scope="session")
def triton() -> None:
    """Triton is here. On Linux it is in the test dependencies, so that its absence is an error in CI."""
    if importlib.util.find_spec("triton") is None:
        if os.environ.get("CI") and sys.platform == "linux":
            pytest.fail("triton is not installed, though it is in the test dependencies")
        pytest.skip("triton is not installed (there are wheels for Linux alone)")


@pytest.fixture(scope="session")
def torch_python() -> str:
    """An interpreter with torch and Triton."""
    python = os.environ.get(TORCH)
    if not python:
        pytest.skip(f"{TORCH} names no interpreter with torch and Triton: torch is too large for CI")
    return python
