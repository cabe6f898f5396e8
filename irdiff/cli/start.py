"""Where the program starts: commands that are called often run without the library that reads command lines.

Typer takes longer to import than a warm comparison takes. So ``compare`` and ``show`` with options that this module
knows are run at once, and the overview of the commands is a text that was made before; everything else, and every
mistake, is Typer's. Tests hold both ways to the same meaning, and the text to what Typer prints.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, NoReturn

from irdiff.cli.ending import end_on_sigterm, ending
from irdiff.lean import import_msgspec

HELP = "help.txt"
"""What ``irdiff --help`` prints at WIDTH columns and more."""
WIDTH = 80


class Option(NamedTuple):
    """An option and what becomes of its value."""

    name: str
    """Of the argument that it is passed as."""
    kind: str = "text"
    """``flag``, ``text``, ``path``, ``many``, ``paths`` or ``number``."""
    least: int = 0
    most: int = 1 << 31


SHARED = {
    "--with": Option("wanted", "many"),
    "--ptxas-log": Option("logs", "paths"),
    "--jobs": Option("jobs", "number", 1, 1024),
    "--no-store": Option("no_store", "flag"),
    "--cluster": Option("cluster"),
    "--no-external-plugins": Option("no_external", "flag"),
}
COMPARE = {
    **SHARED,
    "--format": Option("forms", "many"),
    "-f": Option("forms", "many"),
    "--output": Option("outputs", "paths"),
    "-o": Option("outputs", "paths"),
    "--recent": Option("recent"),
    "--exit-code": Option("exit_code", "flag"),
    "--all": Option("everything", "flag"),
    "--ir": Option("ir"),
    "--context": Option("context", "number"),
    "--top": Option("top", "number", 1),
    "--weights": Option("weights", "path"),
    "--unpaired": Option("unpaired", "flag"),
    "--no-normalize": Option("no_normalize", "many"),
}
SHOW = {
    **SHARED,
    "--format": Option("form"),
    "-f": Option("form"),
    "--output": Option("output", "path"),
    "-o": Option("output", "path"),
    "--evidence": Option("evidence", "flag"),
    "--verbose": Option("verbose", "flag"),
    "-v": Option("verbose", "flag"),
    "--specializations": Option("specializations", "flag"),
}


def run() -> NoReturn:
    """The console script."""
    end_on_sigterm()
    open_streams()
    leave(main(sys.argv[1:]))


def leave(code: int) -> NoReturn:
    """End now. Everything is written and closed; to take the interpreter apart takes up to a tenth of a second more."""
    atexit._run_exitfuncs()  # noqa: SLF001  # what libraries do at an exit is done all the same
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code & 0xFF)


def open_streams() -> None:
    """Give the program the streams that whoever started it had closed: what goes there is nobody's."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    for number, name in ((1, "stdout"), (2, "stderr")):
        if hasattr(os, "set_blocking") and not os.get_blocking(number):
            os.set_blocking(number, True)  # else what a full pipe does not take would be lost
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w", encoding="utf-8"))  # noqa: PTH123, SIM115  # open to the end


def main(arguments: list[str]) -> int:
    """Run a command line and return the exit code."""
    try:
        known = None if any(name.startswith("_IRDIFF_") for name in os.environ) else _known(arguments)
        if known is None:
            from irdiff.cli.main import main_with  # may be ended while it is imported

            return main_with(arguments)
        import_msgspec()
        result = known()
        sys.stdout.flush()
    except BaseException as error:  # noqa: BLE001  # the last resort: a user never meets a traceback
        return ending(error)
    return int(result)


def _known(arguments: Sequence[str]) -> Callable[[], int] | None:
    """What to do, where that is known without Typer."""
    if list(arguments) in (["--help"], ["-h"]):
        return _help if _columns() >= WIDTH else None
    if not arguments or arguments[0] not in ("compare", "show"):
        return None
    options = COMPARE if arguments[0] == "compare" else SHOW
    found = parsed(arguments[1:], options, 2 if arguments[0] == "compare" else 1)
    if found is None:
        return None
    return _compare(*found) if arguments[0] == "compare" else _show(*found)


def parsed(
    arguments: Sequence[str], options: Mapping[str, Option], places: int
) -> tuple[list[str], dict[str, Any]] | None:
    """Places and options by name; None where anything is not as plain as can be."""
    taken: list[str] = []
    values: dict[str, Any] = {}
    waiting = list(arguments)
    while waiting:
        word = waiting.pop(0)
        if not word.startswith("-"):
            taken.append(word)
            continue
        name, equals, value = word.partition("=")
        option = options.get(name)
        if option is None or (equals and (not name.startswith("--") or option.kind == "flag")):
            return None
        if option.kind == "flag":
            values[option.name] = True
            continue
        if not equals:
            if not waiting or waiting[0].startswith("-"):
                return None
            value = waiting.pop(0)
        if not _take(option, value, values):
            return None
    return (taken, values) if len(taken) <= places else None


def _take(option: Option, value: str, values: dict[str, Any]) -> bool:
    """Note the value of an option; False where Typer should say what is wrong with it."""
    if option.kind in ("many", "paths"):
        values.setdefault(option.name, []).append(value)
        return True
    if option.name in values:
        return False
    if option.kind == "number":
        if not (value.isascii() and value.isdecimal() and option.least <= int(value) <= option.most):
            return False
        values[option.name] = int(value)
    else:
        values[option.name] = value
    return True


def _compare(places: list[str], values: dict[str, Any]) -> Callable[[], int]:
    def call() -> int:
        from irdiff.cli.compare import run_compare

        given = _shared(values)
        for name in ("recent", "ir", "context", "top", "exit_code", "everything", "unpaired"):
            given[name] = values.get(
                name, {"recent": None, "ir": None, "top": None, "context": 2}.get(name, False)
            )
        given["forms"] = tuple(values.get("forms", ()))
        given["outputs"] = tuple(_path(value) for value in values.get("outputs", ()))
        given["weights"] = _path(values.get("weights"))
        given["no_normalize"] = frozenset(values.get("no_normalize", ()))
        pair = [*places, None, None][:2]
        return int(run_compare((pair[0], pair[1]), **given))

    return call


def _show(places: list[str], values: dict[str, Any]) -> Callable[[], int]:
    def call() -> int:
        from irdiff.cli.show import run_show

        given = _shared(values)
        given["form"] = values.get("form", "terminal")
        given["output"] = _path(values.get("output"))
        for name in ("evidence", "verbose", "specializations"):
            given[name] = values.get(name, False)
        return int(run_show(places[0] if places else None, **given))

    return call


def _shared(values: Mapping[str, Any]) -> dict[str, Any]:
    from irdiff.cli.work import Work

    return {
        "logs": tuple(_path(value) for value in values.get("logs", ())),
        "wanted": frozenset(values.get("wanted", ())),
        "external": not values.get("no_external", False),
        "work": Work(
            jobs=values.get("jobs"),
            store=not values.get("no_store", False),
            cluster=values.get("cluster"),
        ),
    }


def _path(value: str | None) -> Any:
    from pathlib import Path

    return Path(value) if value is not None else None


def _help() -> int:
    folder = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120
    with open(os.path.join(folder, HELP), encoding="utf-8") as file:  # noqa: PTH118, PTH123
        sys.stdout.write(file.read())
    return 0


def _columns() -> int:
    """As the library that would print the text counts them."""
    named = os.environ.get("COLUMNS", "")
    if named.isdecimal() and int(named) > 0:
        return int(named)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns  # type: ignore[union-attr]
    except (OSError, ValueError, AttributeError):
        return WIDTH
