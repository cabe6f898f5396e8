"""Where output goes: standard output, or a file that is written whole or not at all."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from irdiff.errors import IrdiffError
from irdiff.present.wording import printable


def emit(data: bytes, output: Path | None) -> None:
    """Write to the file, or to standard output where none is named. Raises IrdiffError where it cannot."""
    if output is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    with whole_file(output) as file:
        file.write(data)


@contextmanager
def whole_file(output: Path) -> Iterator[IO[bytes]]:
    """A file to write to, which takes its place when all of it is written. Raises IrdiffError where it cannot."""
    import stat
    import tempfile

    try:
        # A link stays a link to the file that is written; what is no file (a device, a pipe) takes the bytes as it is.
        output = output.resolve() if output.is_symlink() else output
        if output.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a folder")
        if output.exists() and not stat.S_ISREG(output.stat().st_mode):
            with output.open("wb") as file:
                yield file
            return
        handle, name = tempfile.mkstemp(dir=output.parent, prefix=f".{output.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
            Path(name).chmod(0o666 & ~_umask())
            Path(name).replace(output)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise IrdiffError(
            f"cannot be written: {error.strerror or error}",
            where=str(output),
            hint="name another file with -o",
        ) from None


def complain(error: IrdiffError) -> None:
    """Say on standard error what is wrong, where, and what to do next."""
    where = f"{error.where}: " if error.where else ""
    sys.stderr.write(printable(f"error: {where}{error.message}\n"))
    if error.hint:
        sys.stderr.write(printable(f"  {error.hint}\n"))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
