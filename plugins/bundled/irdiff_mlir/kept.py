"""Puts back into a canonical form what ``--no-normalize`` keeps: parts of locations, comments and white space."""

from __future__ import annotations

from collections.abc import Callable

from irdiff_mlir.model import Module
from irdiff_mlir.places import LOCATION_STRING


def put_back(module: Module, normalizes: Callable[[str], bool], lines: list[str], places: list[int]) -> None:
    """Append to the lines, and add lines, what the normalisations that are off would take away."""
    paths = not normalizes("source-paths")
    numbers = not normalizes("source-lines")
    names = not normalizes("argument-locations")
    if paths or numbers or names:
        named = module.location_definitions
        definitions = dict(zip(named.names, named.texts, strict=True))
        carried = module.locations
        by_line = {
            line: (*carried.inner.get(at, ()), trailing)
            for at, (line, trailing) in enumerate(zip(carried.lines, carried.trailing, strict=True))
        }
        for index, line in enumerate(places):
            parts = [
                part
                for text in by_line.get(line, ())
                for part in _parts(definitions.get(text, text), paths=paths, numbers=numbers, names=names)
            ]
            if parts:
                lines[index] += f" loc({' '.join(parts)})"
    if not normalizes("comments"):
        lines.extend(text for _, text in module.comments)
        places.extend(0 for _ in module.comments)
    if not normalizes("whitespace"):
        lines.extend(f"// spaces {text!r}" for text in module.spaces)
        places.extend(0 for _ in module.spaces)


def _parts(text: str, *, paths: bool, numbers: bool, names: bool) -> list[str]:
    """The parts of one location that are kept."""
    found: list[str] = []
    for match in LOCATION_STRING.finditer(text):
        if match[2]:
            found += [f'"{match[1]}"'] if paths else []
            found += [match[2].lstrip(":")] if numbers else []
        elif names:
            found.append(f'"{match[1]}"')
    return found
