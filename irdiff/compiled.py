"""Kernels that are in this process: what Triton compiled, as files of an entry, and where a function is written.

Nothing of Triton is imported: the objects are known by what they have.
"""

from __future__ import annotations

import inspect
import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from irdiff.errors import UsageError

MADE_ON_DEMAND = "sass"
"""Not a file of an entry: Triton's ``asm`` disassembles the cubin when it is asked for it."""


def is_compiled_kernel(thing: object) -> bool:
    """Whether it has what a ``triton.compiler.CompiledKernel`` has (Triton 3.0 and newer)."""
    return isinstance(getattr(thing, "asm", None), Mapping) and getattr(thing, "metadata", None) is not None


@contextmanager
def written_entry(kernel: object) -> Iterator[tuple[Path, str]]:
    """An entry folder as Triton's cache has it, and the kernel's name; the folder is removed at the end."""
    metadata = _fields(getattr(kernel, "metadata", None))
    name = str(metadata.get("name") or getattr(kernel, "name", "kernel"))
    stem = "".join(letter if letter.isalnum() or letter in "_-" else "_" for letter in name)[:150]
    asm: Mapping[str, object] = getattr(kernel, "asm", {})
    with tempfile.TemporaryDirectory(prefix="irdiff-kernel-") as folder:
        place = Path(folder)
        (place / f"{stem}.json").write_text(json.dumps(metadata, default=_plain), encoding="utf-8")
        for suffix, content in asm.items():
            if suffix == MADE_ON_DEMAND:
                continue
            data = content.encode() if isinstance(content, str) else content
            if isinstance(data, bytes) and suffix.isalnum():
                (place / f"{stem}.{suffix}").write_bytes(data)
        yield place, name


def place_of(kernel: object) -> tuple[Path, str | None]:
    """The file and the name of a kernel: ``FILE.py::KERNEL``, a path, or a function (decorated or not).

    Raises UsageError for anything else, and for a function that is not at the left edge of a file.
    """
    if isinstance(kernel, (str, Path)):
        file, _, name = str(kernel).partition("::")
        return Path(file), name or None
    function = kernel
    while not inspect.isfunction(function) and hasattr(function, "fn"):
        function = function.fn
    if not inspect.isfunction(function):
        raise UsageError(
            f"{type(kernel).__name__} is no kernel",
            hint="give a @triton.jit function, FILE.py::KERNEL, an entry, or what triton.compile returned",
        )
    if "<locals>" in function.__qualname__:
        raise UsageError(
            f"{function.__name__} stands inside a function",
            where=f"{function.__code__.co_filename}:{function.__code__.co_firstlineno}",
            hint="put it at the left edge of its file: it is compiled in a process of its own",
        )
    return Path(function.__code__.co_filename), function.__name__


def _fields(metadata: object) -> dict[str, object]:
    as_dict = getattr(metadata, "_asdict", None)
    found = as_dict() if callable(as_dict) else metadata
    return dict(found) if isinstance(found, Mapping) else {}


def _plain(value: object) -> object:
    """As Triton writes its own JSON: the fields of an object (a GPUTarget), else its text."""
    return vars(value) if hasattr(value, "__dict__") else str(value)
