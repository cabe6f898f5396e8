"""The messages between irdiff and ``worker.py``: JSON, one a line.

A worker first says ``hello`` or ``unavailable``. Asked to ``compile``, it says ``stage`` whenever one begins and
``result`` at the end; asked for the ``gpu``, it says ``gpu``. It ends when its input does.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from irdiff.compile.items import Item
from irdiff.compile.plan import Job
from irdiff.compile.record import FailureKind, Json

PROTOCOL = 1
MAX_LINE = 64 * 1024 * 1024
"""Bytes of one message."""


class _Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    pass


class Hello(_Event, frozen=True, kw_only=True, tag="hello"):
    """The worker is ready."""

    protocol: int
    triton: str
    python: str
    platform: str
    environment: dict[str, str] = {}
    build: str | None = None
    llvm: str | None = None


class Unavailable(_Event, frozen=True, kw_only=True, tag="unavailable"):
    """There is no Triton that can be used."""

    protocol: int
    missing: bool
    """Whether it is not installed, rather than broken."""
    reason: str
    python: str = ""
    platform: str = ""


class StageBegan(_Event, frozen=True, kw_only=True, tag="stage"):
    """One stage of the running job is being made."""

    job: int
    stage: str


class Gpu(_Event, frozen=True, kw_only=True, tag="gpu"):
    """The target of the GPU that is here, or why there is none."""

    backend: str = ""
    arch: str = ""
    reason: str | None = None


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """A failure as the worker sees it."""

    kind: FailureKind
    message: str
    line: int | None = None
    detail: str | None = None


class Outcome(_Event, frozen=True, kw_only=True, tag="result"):
    """What came of a job."""

    job: int
    status: Literal["compiled", "failed", "unchanged"]
    name: str | None = None
    line: int | None = None
    stage: str | None = None
    times: dict[str, float] = {}
    total: float = 0.0
    signature: dict[str, Json] = {}
    constexprs: dict[str, Json] = {}
    attributes: dict[str, dict[str, int]] = {}
    options: dict[str, Json] = {}
    dependencies: str | None = None
    ptxas: str | None = None
    ptxas_log: str | None = None
    failure: Fault | None = None


Event: TypeAlias = Hello | Unavailable | StageBegan | Gpu | Outcome
_DECODER = msgspec.json.Decoder(Hello | Unavailable | StageBegan | Gpu | Outcome)


class ProtocolError(Exception):
    """A line that no worker of this protocol would write."""


def decode_event(line: bytes) -> Event:
    """One line as an event. Raises ProtocolError."""
    try:
        event: Event = _DECODER.decode(line)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise ProtocolError(f"wrote what is no message: {error}") from None
    if isinstance(event, Hello | Unavailable) and event.protocol != PROTOCOL:
        raise ProtocolError(f"speaks protocol {event.protocol}, not {PROTOCOL}")
    return event


class _Argument(msgspec.Struct, frozen=True, kw_only=True):
    name: str | None
    item: Item


def ask_compile(number: int, job: Job, cache: str, known: str | None) -> bytes:
    """The line that gives a worker a job; ``known`` is the dependency key of the entry that there is already."""
    message: dict[str, Any] = {  # Any: the values are of several types
        "ask": "compile",
        "job": number,
        "file": job.file,
        "kind": job.kind,
        "kernel": job.kernel,
        "arguments": [_Argument(name=each.name, item=each.item) for each in job.arguments],
        "settings": job.settings,
        "options": job.options,
        "target": {"backend": job.target.backend, "arch": job.target.arch},
        "warp_size": job.warp_size,
        "cache": cache,
        "known": known,
    }
    return msgspec.json.encode(message) + b"\n"


ASK_GPU = b'{"ask": "gpu"}\n'
