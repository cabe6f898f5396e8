"""Metadata as lines of the canonical form: named lists, and the nodes that code and lists reach."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from irdiff_llir.erased import Erased
from irdiff_llir.metadata import Metadata

_IDENTITY = ("llvm.ident", "nvvmir.version")
"""Which compiler wrote it, and as which version of NVVM IR, which LLVM's code generator does not read."""


def metadata_lines(
    metadata: Metadata, normalizes: Callable[[str], bool], erased: Erased
) -> Iterator[tuple[int, str]]:
    """(line, text) of all that stays; debug information and identity go into ``erased``."""
    for line, name, text in metadata.named:
        rule = "identity" if name in _IDENTITY else "source-lines" if name == "llvm.dbg.cu" else None
        if rule is not None and normalizes(rule):
            nodes = metadata.flags(text) if rule == "identity" else ((line, text),)
            erased.add(rule, *(node for _, node in nodes))
        else:
            yield from _list(metadata, line, name, text, renames=normalizes("metadata-numbers"))
    if normalizes("metadata-numbers"):
        yield from metadata.reached()
        erased.add("metadata-numbers", *metadata.order)
    else:
        for number, (line, text) in metadata.nodes.items():
            if not metadata.is_debug(number):
                yield line, f"!{number} = {text}"
    for line, rule, text in metadata.debug_nodes():
        if normalizes(rule):
            erased.add(rule, text)
        else:
            yield line, text


def _list(metadata: Metadata, line: int, name: str, text: str, *, renames: bool) -> Iterator[tuple[int, str]]:
    """A named list, its nodes by new numbers or by their own."""
    if name == "?":
        yield line, text
    elif name == "llvm.module.flags" and renames:
        yield from ((place or line, f"!{name}: {flag}") for place, flag in metadata.flags(text))
    else:
        yield line, f"!{name} = !{{{metadata.rename(text) if renames else text}}}"
