"""A pair of kernels on its way to another process: what is known of both, and a report on the way back."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from irdiff.engine.kernels import Kernel
from irdiff.model.bundle import Artifact, Bundle
from irdiff.model.report import KernelReport, Pairing


class Known(msgspec.Struct, frozen=True, array_like=True):
    """The answer of a stage for one content, as it was kept."""

    stage: str
    """Its id, or that with LINES behind it."""
    sha256: str
    digest: str
    """Of the canonical form; empty for none."""
    formed: bool
    """Whether the canonical form was asked for, could it be made or not."""
    data: bytes


class Head(msgspec.Struct, frozen=True, array_like=True):
    """An artifact without its bytes."""

    stage: str
    suffix: str
    location: str
    sha256: str
    size: int


class Half(msgspec.Struct, frozen=True, array_like=True):
    """One of the two kernels."""

    bundle: Bundle
    """Without its artifacts."""
    heads: tuple[Head, ...]
    target: str | None


class Parcel(msgspec.Struct, frozen=True, array_like=True):
    """Everything that comparing one pair needs."""

    number: int
    """The sender's."""
    before: Half
    after: Half
    pairing: Pairing
    stages: tuple[str, ...] | None
    """Those that are read; None for all."""
    known: tuple[Known, ...]
    contents: dict[str, bytes] = {}
    """SHA-256 to bytes; sent only where a report needs more than facts and digests."""

    @property
    def size(self) -> int:
        """Bytes, about."""
        return sum(len(each.data) for each in self.known) + sum(map(len, self.contents.values()))


class Compared(msgspec.Struct, frozen=True, array_like=True):
    """What comes back."""

    report: KernelReport | None
    """None where bytes were needed that the parcel does not hold."""


def half_of(kernel: Kernel) -> Half | None:
    """A kernel as it is sent; None for one that is a record, or whose files cannot all be read."""
    if kernel.record is not None:
        return None
    try:
        heads = tuple(
            Head(each.stage, each.suffix, each.location, each.sha256, each.size)
            for each in kernel.bundle.artifacts.values()
        )
    except OSError:
        return None
    if len({head.stage for head in heads}) < len(heads):
        return None
    return Half(msgspec.structs.replace(kernel.bundle, artifacts={}), heads, kernel.target)


def bundle_of(half: Half, contents: Mapping[str, bytes], missed: Callable[[str], None]) -> Bundle:
    """The bundle that was sent; ``missed`` is told of bytes that were asked for and not sent."""

    def artifact(head: Head) -> Artifact:
        def read() -> bytes:
            data = contents.get(head.sha256)
            if data is None:
                missed(head.sha256)
                return b""
            return data

        made = Artifact(
            stage=head.stage, suffix=head.suffix, location=head.location, read=read, size=head.size
        )
        made.recall(head.sha256)
        return made

    return msgspec.structs.replace(half.bundle, artifacts={head.stage: artifact(head) for head in half.heads})
