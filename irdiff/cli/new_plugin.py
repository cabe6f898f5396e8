"""``irdiff plugins new``: writes the project of a plugin that works and passes its own tests."""

from __future__ import annotations

import importlib.resources
import importlib.util
import re
import shutil
import sys
import tempfile
from pathlib import Path

from irdiff.cli.exit_codes import Exit
from irdiff.cli.session import make_registry
from irdiff.errors import IrdiffError, UsageError
from irdiff.registry import Registry

NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
LONGEST = 30
FILES = (
    ("gitignore.txt", ".gitignore"),
    ("README.md.txt", "README.md"),
    ("pyproject.toml.txt", "pyproject.toml"),
    ("init.py.txt", "irdiff_@MODULE@/__init__.py"),
    ("plugin.py.txt", "irdiff_@MODULE@/plugin.py"),
    ("reader.py.txt", "irdiff_@MODULE@/reader.py"),
    ("summary.py.txt", "irdiff_@MODULE@/summary.py"),
    ("canonical.py.txt", "irdiff_@MODULE@/canonical.py"),
    ("test.py.txt", "tests/test_@MODULE@.py"),
    ("saxpy.sample.txt", "tests/samples/saxpy.@NAME@"),
    ("saxpy-barrier.sample.txt", "tests/samples/saxpy-barrier.@NAME@"),
    ("saxpy.golden.txt", "tests/golden/saxpy.@NAME@.txt"),
    ("saxpy-barrier.golden.txt", "tests/golden/saxpy-barrier.@NAME@.txt"),
)
"""(file in irdiff/templates/plugin, path in the new project)"""


def run_new_plugin(name: str, folder: Path | None) -> Exit:
    """Write a project for the plugin ``name``; nothing that is there is touched.

    Raises UsageError for a name that cannot be or is taken, and for a folder that is not empty.
    """
    check_name(name, make_registry(external=True))
    target = Path(f"irdiff-{name}") if folder is None else folder
    if target.is_symlink() or (target.exists() and (not target.is_dir() or any(target.iterdir()))):
        raise UsageError(
            "is already there; nothing was written", where=str(target), hint="name another folder with -o"
        )
    write_project(name, target)
    written = "\n".join(f"  {target / path}" for path in project(name))
    sys.stdout.write(
        f"{written}\n\nNext:\n  cd {target}\n  pip install -e . pytest\n  python -m pytest\n"
        f"  irdiff compare tests/samples/saxpy.{name} tests/samples/saxpy-barrier.{name}\n"
    )
    return Exit.OK


def check_name(name: str, registry: Registry) -> None:
    """Raise UsageError for a name that a plugin cannot have, or that something has already."""
    short = name.removeprefix("irdiff-").removeprefix("irdiff_")
    if short != name and NAME.fullmatch(short):
        raise UsageError(
            "irdiff- is put before the name for you", where=name, hint=f"irdiff plugins new {short}"
        )
    if not NAME.fullmatch(name) or len(name) > LONGEST:
        raise UsageError(
            f"a plugin's name is lower-case letters, digits and single hyphens, at most {LONGEST}",
            where=repr(name),
            hint="as in irdiff plugins new my-stage",
        )
    taken = {
        suffix[1:]: f"suffix {suffix} of the stage {stage.id}"
        for stage in registry.stages
        for suffix in stage.suffixes
    }
    taken |= {info.name: f"plugin {info.name} ({info.origin})" for info in registry.plugins}
    taken |= {stage.id: f"stage {stage.id}" for stage in registry.stages}
    if name in taken:
        raise UsageError("the name is taken", where=name, hint=f"there is the {taken[name]}")
    module = f"irdiff_{name.replace('-', '_')}"
    if importlib.util.find_spec(module) is not None:
        raise UsageError("the name is taken", where=name, hint=f"there is an importable package {module}")


def project(name: str) -> dict[str, str]:
    """Path to content of every file of the project, in the order in which a reader should meet them."""
    templates = importlib.resources.files("irdiff") / "templates" / "plugin"
    words = {
        "@NAME@": name,
        "@MODULE@": name.replace("-", "_"),
        "@CLASS@": "".join(part.capitalize() for part in name.split("-")),
    }

    def filled(text: str) -> str:
        for mark, word in words.items():
            text = text.replace(mark, word)
        return text

    return {
        filled(path): filled(templates.joinpath(template).read_text(encoding="utf-8"))
        for template, path in FILES
    }


def write_project(name: str, target: Path) -> None:
    """Write all files or none: they are made beside the folder and moved there at once. Raises IrdiffError."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        try:
            made.chmod(0o755)
            for path, text in project(name).items():
                file = made / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            made.replace(target)  # fails where the folder got a file in the meantime
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
    except OSError as error:
        raise IrdiffError(
            f"cannot be written: {error.strerror or error}",
            where=str(target),
            hint="name another folder with -o",
        ) from None
