"""Comments and empty lines of LLVM IR: taken away, or kept where a normalisation is switched off."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from irdiff_llir.erased import Erased
from irdiff_llir.reader import Module


def kept_layout(module: Module, on: Callable[[str], bool], erased: Erased) -> Iterator[tuple[int, str]]:
    """(line, text) of what is kept; what is not is ``erased``."""
    for number in module.rest:
        line = module.lines[number - 1]
        text = line.strip()
        if not text:
            if on("spacing"):
                erased.add("spacing", "")
            else:
                yield number, ""
            continue
        mark = text if text[0] == ";" else line.partition(" ;")[2] if line[0] not in " !" else ""
        if not mark:
            continue
        rule = "identity" if mark.startswith("; ModuleID") else "comments"
        if on(rule):
            erased.add(rule, mark.strip())
        else:
            yield number, mark if mark.startswith(";") else f";{mark}"
