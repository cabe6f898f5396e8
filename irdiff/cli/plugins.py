"""``irdiff plugins``: what is loaded, what each registered, and what was skipped with the reason."""

from __future__ import annotations

import sys

from irdiff.cli.exit_codes import Exit
from irdiff.cli.session import make_registry
from irdiff.present.wording import printable


def run_plugins(*, external: bool) -> Exit:
    """Print every entry point found."""
    from irdiff.present.terminal import console_for, grid

    registry = make_registry(external=external)
    console = console_for(sys.stdout)
    rows = []
    for plugin in registry.plugins:
        what = "; ".join(f"{kind}: {', '.join(_short(names))}" for kind, names in plugin.registered.items())
        rows.append(
            [
                plugin.name,
                plugin.origin + (" (bundled)" if plugin.bundled else ""),
                plugin.status,
                what if plugin.status == "loaded" else plugin.reason,
            ]
        )
    grid(rows, console, header=["plugin", "distribution", "status", "what it registers"])
    for problem in registry.problems:
        console.print(printable(problem.line()), style="yellow")
    for name in registry.not_there:
        console.print(
            printable(f"no plugin is called {name}: IRDIFF_DISABLE_PLUGINS names it"), style="yellow"
        )
    return Exit.OK


def _short(names: tuple[str, ...]) -> list[str]:
    return [*names[:8], f"and {len(names) - 8} more"] if len(names) > 8 else list(names)
