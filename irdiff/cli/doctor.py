"""``irdiff doctor``: what was found on this machine, and what is missing for what."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import sys
from pathlib import Path

from irdiff import __version__
from irdiff.cli.exit_codes import Exit
from irdiff.cli.session import session
from irdiff.errors import IrdiffError
from irdiff.sources.defaults import default_locations


def run_doctor(*, external: bool) -> Exit:
    """Print what there is; exit 0 whatever was found, since reading and comparing need none of it."""
    from irdiff.present.terminal import console_for, grid

    console = console_for(sys.stdout)
    rows = [["irdiff", f"{__version__}, Python {platform.python_version()}, {platform.system()}"]]
    with session(external=external) as run:
        for tool in run.registry.tools:
            copies = run.tools.find(tool.id)
            if not copies:
                rows.append([tool.id, f"not found. {tool.hint}"])
            for index, copy in enumerate(copies):
                decodes = f"; decodes {', '.join(copy.supports)}" if copy.supports else ""
                rows.append(
                    [
                        tool.id if not index else "",
                        f"{copy.version or 'version unknown'} from {copy.origin}: {copy.path}{decodes}",
                    ]
                )
        loaded = sum(plugin.status == "loaded" for plugin in run.registry.plugins)
        rows.append(
            ["plugins", f"{loaded} loaded, {len(run.registry.problems)} skipped: irdiff plugins lists them"]
        )
    rows += [["triton", _triton()], ["GPU", _gpu()], ["caches", _caches()]]
    grid(rows, console)
    return Exit.OK


def _triton() -> str:
    """The installed Triton, found without importing it."""
    if importlib.util.find_spec("triton") is None:
        return "not installed; reading and comparing do not need it"
    try:
        return importlib.metadata.version("triton")
    except importlib.metadata.PackageNotFoundError:
        return "importable, not from a package (a source build)"


def _gpu() -> str:
    """NVIDIA devices by the driver's file system; nothing is initialised."""
    names = []
    for folder in sorted(Path("/proc/driver/nvidia/gpus").glob("*")):
        try:
            lines = (folder / "information").read_text(errors="replace").splitlines()
        except OSError:
            continue
        names += [line.partition(":")[2].strip() for line in lines if line.startswith("Model:")]
    return ", ".join(names) or "none found; reading and comparing do not need one"


def _caches() -> str:
    try:
        return ", ".join(f"{place.path} ({place.origin})" for place in default_locations(os.environ))
    except IrdiffError as error:
        return f"none ({error.hint})" if error.hint else "none"
