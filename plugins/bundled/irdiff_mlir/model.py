"""What the reader returns: one module of MLIR as a flat, ordered list of operations and the text between them."""

from __future__ import annotations

from enum import Enum

import msgspec

from irdiff.api import Issue
from irdiff_mlir.forms import Form, joined


class Operation(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One operation; its nested ones follow it in document order."""

    index: int
    """Position in document order, from 0."""
    name: str
    """Registered name in the newest dialect's spelling: ``ttg.memdesc_index``."""
    form: Form
    """What it says but for the names of values."""
    line: int
    """First line, from 1."""
    last: int
    """Last line, inclusive; that of the closing brace where there are regions."""
    parent: int
    """Index of the operation whose region holds it; -1 at the top."""
    results: tuple[str, ...] = ()
    """Names with their ``%``, in order; :attr:`Form.results` says how many values each stands for."""
    values: tuple[str, ...] = ()
    """Names of values in its head, in order: one for each gap between :attr:`Form.pieces`."""
    tail: str = ""
    """Text after the last region: attributes and type."""
    regions: int = 0
    """Number of regions."""

    @property
    def written(self) -> str:
        """Registered name as this release spells it: ``triton_gpu.memdesc_subview``."""
        return self.form.written

    @property
    def generic(self) -> bool:
        """Printed in the generic form, its name in quotes."""
        return self.form.generic

    @property
    def head(self) -> str:
        """Text between the name and the first region, without locations; aliases as written."""
        return joined(self.form.pieces, self.values)

    @property
    def result_count(self) -> int:
        """Number of values it defines."""
        return sum(self.form.results)


class ItemKind(Enum):
    """What a piece of the document is."""

    OPERATION = "operation"
    REGION = "region"
    """Begins a region; its text stands between the regions of one operation: ``else``, ``do``."""
    LABEL = "label"
    """Begins a block: ``^bb0(%x: f32):``."""
    END = "end"
    """Ends the last region of an operation; its text is the operation's tail."""
    RAW = "raw"
    """Text that could not be read as MLIR, kept as it is."""


class Item(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One piece of the document, in order."""

    kind: ItemKind
    operation: int
    """Index of the operation it is or belongs to; -1 for none."""
    line: int
    text: str = ""


class Alias(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """``#blocked = #ttg.blocked<{...}>`` at the top of the file."""

    name: str
    """With its ``#`` or ``!``."""
    text: str
    """The content as written."""
    line: int
    ordinal: int = 0
    """How many lines with code are before it."""
    after: int = 0
    """How many location definitions are before it."""


class LocationAliases(msgspec.Struct, frozen=True, kw_only=True):
    """All ``#loc12 = loc("file.py":3:0)``, in order of definition: one entry of each sequence for one of them."""

    names: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    """What stands in the parentheses."""
    ordinals: tuple[int, ...] = ()
    """How many lines with code are before it."""
    plain: tuple[tuple[str, str, str], ...] = ()
    """Of ``"file.py":3:0`` string and line, of ``"name"(#loc12)`` string, ``""`` and location; of others nothing."""


class Locations(msgspec.Struct, frozen=True, kw_only=True):
    """Locations of the lines that carry some, in order: one entry of each sequence for one line."""

    lines: tuple[int, ...] = ()
    trailing: tuple[str, ...] = ()
    """What stands in the ``loc(...)`` that ends the line; ``""`` where none does."""
    ordinals: tuple[int, ...] = ()
    """Which line with code it is, from 0."""
    inner: dict[int, tuple[str, ...]] = {}
    """Position in these sequences to those before it: of function and block arguments."""


class Module(msgspec.Struct, frozen=True, kw_only=True):
    """One parsed file."""

    operations: tuple[Operation, ...]
    items: tuple[Item, ...]
    aliases: dict[str, str]
    """Alias to its content, with every alias in it resolved and old names folded."""
    alias_definitions: tuple[Alias, ...]
    location_definitions: LocationAliases
    locations: Locations
    comments: tuple[tuple[int, str], ...]
    """(lines with code before it, text)."""
    spaces: tuple[str, ...]
    """White space of every line of code: what is left of it when all else is removed."""
    unread: tuple[tuple[int, str], ...]
    """(line, text) of what is no part of a well-formed operation."""
    issues: tuple[Issue, ...] = ()
    old_names: bool = False
    """Some spelling of an older dialect occurs."""
