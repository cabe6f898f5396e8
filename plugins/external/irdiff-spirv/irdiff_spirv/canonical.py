"""The canonical form of a module: without what speaks of the source, with ids numbered in order of first use."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from irdiff.api import Artifact, Canonical, Context

from irdiff_spirv.module import Instruction, debug_sets, is_debug
from irdiff_spirv.reading import module_of

_DECLARED = ("OpType", "OpConstant", "OpUndef")


def canonical(artifact: Artifact, context: Context) -> Canonical:
    """The canonical form. Raises ParseError."""
    module = module_of(artifact, context)
    sets = debug_sets(module)
    named = ("OpName", "OpMemberName")
    kept: list[Instruction] = []
    dropped: list[Instruction] = []
    lost: list[Instruction] = []
    for each in module.instructions:
        if each.opcode in named:
            (lost if context.normalizes("names") else kept).append(each)
        elif is_debug(each, sets) and context.normalizes("debug-info"):
            dropped.append(each)
        else:
            kept.append(each)
    if context.normalizes("debug-info"):
        kept = _used(kept, dropped)
    erased: dict[str, str] = {}
    if context.normalizes("debug-info"):
        erased["debug-info"] = _digest(map(_text, dropped))
    if context.normalizes("names"):
        erased["names"] = _digest(map(_text, lost))
    header = f"version {module.header.version}" if module.header.version else "version not recorded"
    if context.normalizes("generator"):
        erased["generator"] = module.header.generator
    else:
        header += f", {module.header.generator}"
    rename: dict[str, str] | None = {} if context.normalizes("id-numbers") else None
    lines = [_text(each, rename) for each in kept]
    if rename is not None:
        erased["id-numbers"] = _digest(rename)
    return Canonical.of(
        [header, *lines], places=[_first(kept), *(each.place for each in kept)], erased=erased
    )


def written(artifact: Artifact, context: Context) -> Mapping[int, str]:
    """Place to the text there. Raises ParseError."""
    module = module_of(artifact, context)
    return module.text or {each.place: _text(each) for each in module.instructions}


def _first(kept: Sequence[Instruction]) -> int:
    return kept[0].place if kept else 1


def _used(kept: list[Instruction], dropped: Sequence[Instruction]) -> list[Instruction]:
    """Without the types and constants that only what was dropped uses."""
    suspects = {name for each in dropped for name in each.operands}
    while True:
        uses = {name for each in kept for name in each.operands}
        dead = {
            each.result
            for each in kept
            if each.opcode.startswith(_DECLARED) and each.result in suspects and each.result not in uses
        }
        if not dead:
            return kept
        suspects |= {name for each in kept if each.result in dead for name in each.operands}
        kept = [each for each in kept if each.result not in dead]


def _text(each: Instruction, rename: dict[str, str] | None = None) -> str:
    words = [each.result, "=", each.opcode] if each.result is not None else [each.opcode]
    words += each.operands
    if rename is not None:
        words = [
            rename.setdefault(word, f"%{len(rename)}") if word.startswith("%") else word
            for word in words
            if word
        ]
    return " ".join(word for word in words if word)


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]
