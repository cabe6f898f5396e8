"""The edits of the suites of mutants and of spellings, as the kit's EditContract takes them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

from irdiff.testing import Edit
from mutation.drawing import Kind


def edits_of(stage: str, kinds: Iterable[Kind]) -> tuple[Edit, ...]:
    """Edits of meaning."""
    return tuple(
        Edit(name=kind.name, apply=kind.edit, facts=tuple(f"{stage}.{fact}" for fact in kind.facts))
        for kind in kinds
    )


def respelling(name: str, spell: Callable[[str, random.Random], str], quoted: tuple[str, ...] = ()) -> Edit:
    """An edit without meaning, from a function of text; the facts in ``quoted`` show the names it changes."""
    return Edit(name=name, apply=lambda data, chance: spell(data.decode(), chance).encode(), facts=quoted)


def respellings_of(spellings: Iterable[Callable[[str, random.Random], str]]) -> tuple[Edit, ...]:
    """As :func:`respelling`, named after the functions."""
    return tuple(respelling(spell.__name__, spell) for spell in spellings)
