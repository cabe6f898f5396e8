"""What a user installs works: wheels of the core and of the external plugins, in an environment that has nothing else.

Builds the wheels, installs them, runs the plugins' suites against what is installed, compares AMD artifacts from end to
end, and makes a new plugin that passes its own tests. Stdlib only; needs pip 25.1 and a package index.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLUGINS = sorted(path.parent for path in (ROOT / "plugins/external").glob("*/pyproject.toml"))
BEFORE, AFTER = (ROOT / f"fixtures/bundles/triton-{release}/gfx942" for release in ("3.6.0", "3.9.0"))
SECONDS = 900


def main() -> int:
    """Exit 0 where everything holds."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="irdiff-wheels-") as name:
        folder = Path(name)
        python = installed(folder)
        told("installed", started)
        suites = [
            # The program pytest and not python -m pytest, which would import the sources from the working directory.
            subprocess.Popen(  # noqa: S603  # an argument list of our own
                [python.with_name("pytest"), "-q", "-p", "no:cacheprovider"], cwd=plugin, env=clean()
            )
            for plugin in PLUGINS
        ]
        failed = [plugin.name for plugin, suite in zip(PLUGINS, suites, strict=True) if suite.wait(SECONDS)]
        if failed:
            sys.exit(f"the suite of {', '.join(failed)} failed")
        told("suites passed", started)
        compared(python, folder)
        told("gfx942 compared", started)
        generated(python, folder)
        told("a new plugin passes", started)
    return 0


def installed(folder: Path) -> Path:
    """The Python of an environment with the wheels and what the suites need."""
    wheels = folder / "wheels"
    quick = ["--no-build-isolation"] if importlib.util.find_spec("hatchling") else []
    pip("wheel", "--no-deps", *quick, "-w", wheels, ROOT, *PLUGINS)
    venv.create(folder / "venv", with_pip=False)
    python = folder / "venv/bin/python"
    groups = [word for plugin in PLUGINS for word in ("--group", f"{plugin / 'pyproject.toml'}:test")]
    pip("--python", python, "install", "--no-compile", *sorted(wheels.glob("*.whl")), *groups)
    where = run([python, "-I", "-c", "import irdiff, sys; print(irdiff.__file__)"], cwd=folder)
    assert Path(where.strip()).is_relative_to(folder), where
    return python


def compared(python: Path, folder: Path) -> None:
    """One comparison of AMD's artifacts through the command line: both plugins loaded, every stage read."""
    irdiff = python.with_name("irdiff")
    listed = run([irdiff, "plugins"], cwd=folder)
    for plugin in PLUGINS:
        assert any(plugin.name in line and "loaded" in line for line in listed.splitlines()), listed
    assert "skipped" not in listed, listed
    report = json.loads(run([irdiff, "compare", BEFORE, AFTER, "--format", "json"], cwd=folder))
    kernels = report["kernels"]
    assert kernels, "no kernel was compared"
    assert report["verdict"] == "changed", report["verdict"]
    for kernel in kernels:
        for stage in ("amdgcn", "hsaco"):
            assert kernel["stages"][stage]["sameness"] in ("identical", "equivalent", "changed"), (
                kernel["name"],
                stage,
            )
    facts = {change["fact"].partition(".")[0] for kernel in kernels for change in kernel["changes"]}
    assert "amdgcn" in facts, facts
    judged(irdiff, folder)


def judged(irdiff: Path, folder: Path) -> None:
    """The gate over AMD's artifacts: a tree passes against itself, and grown spills fail it by name."""
    same = json.loads(run([irdiff, "check", AFTER, AFTER, "--format", "json"], cwd=folder))
    assert not same["judgement"]["failed"], same["judgement"]
    assert not same["judgement"]["unsure"], same["judgement"]
    with tarfile.open(ROOT / "plugins/external/irdiff-amdgcn/tests/fixtures/cases.tar.xz") as packed:
        packed.extractall(folder / "cases", filter="data")
    case = folder / "cases/attention-gfx950"
    told = json.loads(
        run([irdiff, "check", case / "3.6.0", case / "3.7.1", "--format", "json"], cwd=folder, code=1)
    )
    errors = [found for found in told["judgement"]["findings"] if found["level"] == "error"]
    assert [(found["rule"], found["fact"]) for found in errors] == [("RES101", "amdgcn.vgpr_spills")], errors


def generated(python: Path, folder: Path) -> None:
    """``irdiff plugins new`` makes a project that installs and passes."""
    run([python.with_name("irdiff"), "plugins", "new", "my-stage"], cwd=folder)
    pip("--python", python, "install", "-e", folder / "irdiff-my-stage")
    run([python.with_name("pytest"), "-q", "-p", "no:cacheprovider"], cwd=folder / "irdiff-my-stage")


def pip(*arguments: object) -> None:
    """Run this environment's pip."""
    run([sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *arguments], cwd=ROOT)


def run(command: list[object], cwd: Path, code: int = 0) -> str:
    """What it prints. Ends the program where it exits with another code."""
    words = [str(word) for word in command]
    done = subprocess.run(  # noqa: S603  # an argument list of our own
        words, cwd=cwd, env=clean(), capture_output=True, text=True, timeout=SECONDS, check=False
    )
    if done.returncode != code:
        sys.exit(f"$ {' '.join(words)}\n{done.stdout[-4000:]}{done.stderr[-4000:]}\nexit {done.returncode}")
    return done.stdout


def clean() -> dict[str, str]:
    """The environment without settings that lead back to the clone."""
    ours = ("IRDIFF_", "PYTHONPATH", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "PIP_ROOT_USER_ACTION": "ignore"}


def told(what: str, started: float) -> None:
    """Say how far it is."""
    sys.stdout.write(f"wheels: {what} ({time.monotonic() - started:.0f} s)\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
