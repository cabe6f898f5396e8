"""What goes to whoever works and what comes back: settings, batches of artifacts or of pairs, answers as bytes."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

import msgspec

from irdiff.engine.parcel import Compared, Parcel
from irdiff.model.issues import Issue
from irdiff.model.patterns import PatternFact
from irdiff.model.summary import Canonical, Summary

T = TypeVar("T")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What is the same for every artifact of a run."""

    external: bool = True
    """Whether external plugins are loaded."""
    disabled: frozenset[str] = frozenset()
    """Plugins that are not loaded."""
    switched_off: frozenset[str] = frozenset()
    """Normalisations that are off."""
    wanted: frozenset[str] = frozenset()
    """Facts that are made only where asked for."""
    declared: tuple[PatternFact, ...] = ()
    """Facts that the user's configuration declares."""
    declared_in: str = ""
    """The configuration's file, for people."""


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One artifact to read."""

    stage: str
    suffix: str
    location: str
    """For people."""
    sha256: str
    """Of the content as it was found; a file that has another one by now is not read."""
    data: bytes
    canonical: bool
    """Whether the canonical form is asked for."""
    lines: bool = False
    """Instead of anything else, the lines of the user's source that its places come from."""


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """What is done in one go, by one process: artifacts to read, then pairs to compare."""

    settings: Settings
    items: tuple[Item, ...] = ()
    parcels: tuple[Parcel, ...] = ()
    long: bool = False
    """Whether it takes much longer than others: nothing should wait behind it."""

    @property
    def due(self) -> int:
        """How many answers it asks for."""
        return len(self.items) + len(self.parcels)

    def part(self, first: int, count: int) -> Batch:
        """So many of its artifacts and pairs, from that one on."""
        pairs = first - len(self.items)
        return msgspec.structs.replace(
            self,
            items=self.items[first : first + count],
            parcels=self.parcels[max(pairs, 0) : max(pairs + count, 0)],
        )

    def singles(self) -> Iterator[Batch]:
        """A batch of its own for each artifact and each pair."""
        for item in self.items:
            yield msgspec.structs.replace(self, items=(item,), parcels=())
        for parcel in self.parcels:
            yield msgspec.structs.replace(self, items=(), parcels=(parcel,))

    def described(self) -> str:
        """For people."""
        if self.due == 1:
            return self.items[0].location if self.items else self.parcels[0].before.bundle.path
        return f"{self.due} {'artifacts' if self.items else 'pairs of kernels'}"


class Line(NamedTuple):
    """Batches of one kind of work."""

    kind: str
    batches: Iterator[Batch | None]
    """None where there is none now and one may come once more answers are there."""


class Said(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a stage said of one content: all that is kept of it."""

    summary: Summary | None
    """None where the stage could not read it."""
    canonical: str | None = None
    """Digest of the canonical form; None where it was not asked for or could not be made."""
    erased: dict[str, str] = {}
    without: dict[str, str] = {}
    issues: tuple[Issue, ...] = ()
    form: bytes = b""
    """The canonical form itself, packed, of a stage that starts a program to make it; else empty: it is made again."""
    lines: dict[int, str] = {}
    """Place to the user's line, where that alone was asked for."""
    lasting: bool = True
    """False where another try may say something else (a tool that was not there or failed): never stored."""


class Answer:
    """What a stage said, packed or not, with what is needed of it before it is unpacked."""

    __slots__ = ("_data", "_said", "digest", "lasting")

    def __init__(self, digest: str, *, lasting: bool, said: Said | None = None, data: bytes = b"") -> None:
        self.digest = digest
        """Of the canonical form; empty for none."""
        self.lasting = lasting
        self._said = said
        self._data = data

    @staticmethod
    def of(said: Said) -> Answer:
        """The answer of a stage in this process."""
        return Answer(said.canonical or "", lasting=said.lasting, said=said)

    def said(self) -> Said:
        """Unpacked. Raises ValueError where the bytes are none of ours."""
        return self._said if self._said is not None else unpacked(self._data)

    @staticmethod
    def of_pair(found: Compared) -> Answer:
        """What comparing a pair came to."""
        return Answer("", lasting=True, data=msgspec.msgpack.encode(found))

    def compared(self) -> Compared:
        """What comparing a pair came to. Raises ValueError where the bytes are none of ours."""
        try:
            return msgspec.msgpack.decode(self._data, type=Compared)
        except (msgspec.DecodeError, RecursionError) as error:
            raise ValueError(f"no report of a pair: {error}") from None

    def packed(self) -> bytes:
        """As bytes; equal answers give equal bytes."""
        return self._data or packed(self.said())


LEVEL = 1
"""Of deflate: evidence is long runs of numbers, of which the quickest level already takes nine tenths."""
MAX_SIZE = 1 << 28
"""Bytes of one answer unpacked; a larger one is none of ours."""


def packed(said: Said | Canonical) -> bytes:
    """An answer, or a form, as msgpack, deflated; equal ones give equal bytes."""
    return zlib.compress(msgspec.msgpack.encode(said), LEVEL)


def unpacked(data: bytes) -> Said:
    """The answer of ``packed``. Raises ValueError for anything else; decoding executes nothing."""
    return _unpacked(data, Said)


def unpacked_form(data: bytes) -> Canonical:
    """The form of ``packed``. Raises ValueError for anything else; decoding executes nothing."""
    return _unpacked(data, Canonical)


def _unpacked(data: bytes, kind: type[T]) -> T:
    try:
        unpacker = zlib.decompressobj()
        raw = unpacker.decompress(data, MAX_SIZE)
        if unpacker.unconsumed_tail or not unpacker.eof:
            raise ValueError("too long or cut off")
        return msgspec.msgpack.decode(raw, type=kind)
    except (zlib.error, msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"no answer of a stage: {error}") from None


Meanwhile: TypeAlias = Callable[[], bool]
"""Does a little of something else; False where there is nothing to do."""


class Executor(Protocol):
    """Does batches, here, in local processes or on a cluster: the same answers in each."""

    workers: int
    """How many batches are worked on at once."""

    @property
    def ready(self) -> bool:
        """Whether whoever works is there already: then little work is worth giving away too."""

    def run(
        self,
        lines: Sequence[Line],
        *,
        most: int | None = None,
        meanwhile: Meanwhile | None = None,
    ) -> Iterator[tuple[Batch, Sequence[Answer]]]:
        """Each batch with one answer for everything in it, in any order; batches are taken as they are needed.

        Batches of one kind are best done by one worker; the first lines come first. ``most`` is how many workers are
        worth their start. ``meanwhile`` is called where nothing is to be done but wait, until it says that it has
        nothing to do either.
        """

    def begin(self, batch: Batch) -> bool:
        """Have a batch done now, to be answered by the next ``run`` with its own; False where nobody is free for it."""

    def close(self) -> None:
        """Let go of everything at once, whatever is still being done."""
