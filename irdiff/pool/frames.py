"""What a pool and its workers say to each other: msgpack in frames, an eight-byte length before each."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import IO

import msgspec

from irdiff.engine.unit import Answer, Batch, Settings

_HEAD = struct.Struct("<Q")
MAX_FRAME = 1 << 31


class Packed(msgspec.Struct, frozen=True, array_like=True):
    """One answer on its way."""

    digest: str
    lasting: bool
    data: bytes


def read_frame(stream: IO[bytes]) -> bytes:
    """One frame. Raises EOFError where the other end went away."""
    head = _exactly(stream, _HEAD.size)
    (size,) = _HEAD.unpack(head)
    if size > MAX_FRAME:
        raise EOFError("no frame of ours")
    return _exactly(stream, size)


def write_frame(stream: IO[bytes], data: bytes) -> None:
    """One frame, sent at once. Raises OSError where the other end went away."""
    stream.write(_HEAD.pack(len(data)))
    stream.write(data)
    stream.flush()


def batch_bytes(batch: Batch) -> bytes:
    """A batch as it is sent."""
    return msgspec.msgpack.encode(batch)


def batch_of(data: bytes) -> Batch:
    """The batch that was sent."""
    return msgspec.msgpack.decode(data, type=Batch)


def settings_bytes(settings: Settings) -> bytes:
    """What a worker is told first."""
    return msgspec.msgpack.encode(settings)


def settings_of(data: bytes) -> Settings:
    """The settings that were sent."""
    return msgspec.msgpack.decode(data, type=Settings)


def answer_bytes(answers: Sequence[Answer]) -> bytes:
    """The answers to one batch as they are sent back."""
    return msgspec.msgpack.encode(
        [Packed(answer.digest, answer.lasting, answer.packed()) for answer in answers]
    )


def answers_of(data: bytes, count: int) -> list[Answer]:
    """The answers that were sent back, still packed. Raises EOFError where that are not so many."""
    found = some_answers_of(data, count)
    if len(found) != count:
        raise EOFError("no answers of ours")
    return found


def some_answers_of(data: bytes, most: int) -> list[Answer]:
    """As ``answers_of``, of the first answers: at least one."""
    try:
        found = msgspec.msgpack.decode(data, type=list[Packed])
    except msgspec.DecodeError:
        found = []
    if not 0 < len(found) <= most:
        raise EOFError("no answers of ours")
    return [Answer(each.digest, lasting=each.lasting, data=each.data) for each in found]


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data
