# ruff: noqa: PTH119, PTH122, PTH123
"""What a kernel was compiled for, out of the objects of Triton 3.0 to 3.9, as JSON has it."""

from __future__ import annotations

import hashlib
import inspect
import os
import re
import sys
from typing import Any


def describe(module: Any, source: Any, target: Any, options: Any) -> dict[str, Any]:
    """The specialization of one compilation, whatever release wrote it."""
    if target is None:
        target = sys.modules["triton.runtime.driver"].driver.active.get_current_target()
    backend = module.make_backend(target)
    triton, library = sys.modules["triton"], sys.modules["triton._C.libtriton"]
    ask = getattr(library, "get_cache_invalidating_env_vars", dict)
    full = vars(backend.parse_options(dict(options or {})))
    fields: dict[str, Any] = {
        "triton": triton.__version__,
        "target": f"{target.backend}:{target.arch}",
        "warp_size": getattr(target, "warp_size", None),
        "options": {name: plain(value) for name, value in sorted(full.items())},
        "options_given": {name: plain(value) for name, value in (options or {}).items()},
        "environment": {str(name): str(value) for name, value in ask().items()},
        "compiler": str(backend.hash()),
        "cache": os.environ.get("TRITON_CACHE_DIR"),
    }
    if isinstance(source, str):
        kind = os.path.splitext(source)[1][1:]
        named = {"file": source, "sha256": digest(source), "kind": kind}
        return dict(fields, kernel=os.path.splitext(os.path.basename(source))[0], source=named)
    function = source.fn
    file = inspect.getsourcefile(function.fn) or ""
    fields["kernel"] = source.name
    fields["source"] = {
        "file": file,
        "sha256": digest(file),
        "kind": "python",
        "line": getattr(function, "starting_line_number", None),
        "def_line": def_line(function),
        "dependencies": hashlib.sha256(str(function.cache_key).encode()).hexdigest(),
    }
    return dict(fields, **specialization(source, list(function.arg_names)))


def def_line(function: Any) -> int | None:
    """The line of ``def`` in the file: the compiler's messages count from it."""
    lines, start = getattr(function, "raw_src", None), getattr(function, "starting_line_number", None)
    if isinstance(lines, list) and start is not None:
        for number, line in enumerate(lines):
            if line.lstrip().startswith("def "):
                return int(start) + number
    return None


def specialization(source: Any, names: list[str]) -> dict[str, Any]:
    """Signature, constexprs and attributes of an ``ASTSource`` by parameter name.

    To 3.2 constants go by name or index and the signature has runtime arguments alone; from 3.3 on constants and
    attributes go by path, a tuple of indices.
    """
    told = {name_of(key, names): kind for key, kind in source.signature.items()}
    constants = {name_of(key, names): plain(value) for key, value in source.constants.items()}
    return {
        "signature": {name: plain(told.get(name, "constexpr")) for name in names},
        "constexprs": constants,
        # Triton 3.1 has attributes of constexprs too, 3.9 empty ones.
        "attributes": {
            name: found
            for name, found in attributes(source.attrs, names).items()
            if found and name not in constants
        },
    }


def name_of(key: Any, names: list[str]) -> str:
    """``x``, or ``x.0.1`` inside tuples."""
    if isinstance(key, tuple):
        return ".".join([names[key[0]], *map(str, key[1:])])
    return names[key] if isinstance(key, int) else str(key)


def attributes(found: Any, names: list[str]) -> dict[str, dict[str, int]]:
    """Attributes by parameter. A dictionary from 3.3 on; before, objects of three shapes."""
    told: dict[str, dict[str, int]] = {}
    if isinstance(found, dict):
        for path, several in found.items():
            told[name_of(path, names)] = {str(name): int(value) for name, value in several}
    elif hasattr(found, "arg_properties"):  # 3.2
        for kind, arguments in found.arg_properties.items():
            for index in arguments:
                if kind != "tt.equal_to":
                    told.setdefault(name_of(index, names), {})[kind] = int(found.property_values[kind])
    else:  # 3.0 and 3.1
        for index in sorted(getattr(found, "divisible_by_16", ())):
            told[name_of(index, names)] = {"tt.divisibility": 16}
    return told


def digest(path: str) -> str:
    """SHA-256 of a file; Inductor's are gone when the program has ended."""
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""


def plain(thing: Any) -> Any:
    """A value as JSON has it; what JSON has no word for becomes an object that says what it was."""
    if isinstance(thing, float) and (thing != thing or thing in (float("inf"), float("-inf"))):
        return {"float": repr(thing)}
    if thing is None or isinstance(thing, (bool, int, float, str)):
        return thing
    if isinstance(thing, (tuple, list)):
        return [plain(each) for each in thing]
    if isinstance(thing, (set, frozenset)):
        return sorted(map(str, thing))
    if isinstance(thing, dict):
        return {str(name): plain(each) for name, each in thing.items()}
    kind = type(thing).__name__
    if kind == "dtype":
        return {"dtype": str(thing)}
    if kind == "constexpr" and hasattr(thing, "value"):
        return plain(thing.value)
    if kind in ("JITFunction", "GluonJITFunction"):
        return {"function": getattr(thing, "__name__", "?")}
    if hasattr(thing, "data_ptr"):
        return {"repr": kind}  # the text of a tensor on a device would wait for it
    return {"repr": re.sub(r" at 0x[0-9a-f]+", "", repr(thing))[:200]}
