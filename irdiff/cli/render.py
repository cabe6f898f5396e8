"""``irdiff render``: a saved report in any format, byte for byte what the command that saved it would have printed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from irdiff.cli.exit_codes import Exit
from irdiff.cli.formats import ViewOptions, destinations, write_formats
from irdiff.cli.session import session
from irdiff.errors import InputError
from irdiff.model.codec import decode_report
from irdiff.model.report import Report
from irdiff.sources.files import read_regular


def run_render(
    path: Path, *, forms: Sequence[str], outputs: Sequence[Path], options: ViewOptions, external: bool
) -> Exit:
    """Render a report that ``--format json`` wrote."""
    with session(external=external) as run:
        renderers = run.registry.renderers
        wanted = destinations(forms, outputs, renderers)
        return write_formats(load_report(path), wanted, options, renderers)


def load_report(path: Path) -> Report:
    """A report written with ``--format json``. Raises InputError where it cannot be read, or is none."""
    try:
        data = read_regular(str(path))
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror or error}",
            where=str(path),
            hint="make one with irdiff compare or check, --format json -o FILE",
        ) from None
    return decode_report(data, where=str(path))
