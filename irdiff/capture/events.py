"""What the recorder wrote down, as values: one JSON file for each event."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import msgspec

Json: TypeAlias = Any  # options, constexprs and configurations are open-ended JSON


class Where(msgspec.Struct, frozen=True, kw_only=True):
    """The file a kernel came from."""

    file: str
    """As the program named it."""
    sha256: str = ""
    """``""`` where it could not be read."""
    kind: str = "python"
    line: int | None = None
    def_line: int | None = None
    """Line of ``def`` behind the decorators: what a compiler's message counts from."""
    dependencies: str | None = None


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """An exception of the compiler."""

    type: str
    message: str


class _Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    process: int = 0
    """Id of the process that wrote it."""


class _Compilation(_Event, frozen=True, kw_only=True):
    """One call of ``triton.compile``."""

    kernel: str
    target: str
    source: Where
    triton: str
    warp_size: int | None = None
    signature: dict[str, Json] = {}
    constexprs: dict[str, Json] = {}
    attributes: dict[str, dict[str, int]] = {}
    options: dict[str, Json] = {}
    options_given: dict[str, Json] = {}
    environment: dict[str, str] = {}
    compiler: str = ""
    """The backend's hash, which has the assembler's version in it."""
    cache: str | None = None
    """TRITON_CACHE_DIR at that moment."""
    total: float = 0.0
    """Seconds."""
    times: dict[str, float] = {}
    """Seconds by stage."""


class Compiled(_Compilation, frozen=True, kw_only=True, tag="compiled"):
    """It worked, or the entry was there already."""

    hash: str
    hit: bool = False


class Failed(_Compilation, frozen=True, kw_only=True, tag="failed"):
    """It raised."""

    error: Said


class Loaded(_Event, frozen=True, kw_only=True, tag="loaded"):
    """The program loaded a kernel."""

    hash: str
    registers: int
    spilled_words: int | None = None
    """Local memory in units of 4 bytes: what Triton calls ``n_spills``."""


class TunedConfig(msgspec.Struct, frozen=True, kw_only=True):
    """One configuration that an autotuner tried."""

    config: dict[str, Json]
    milliseconds: float | None = None
    """``None`` where it could not run, or nothing was measured."""
    hashes: tuple[str, ...] = ()
    folder: str | None = None
    """Name of the entry's folder, where that is known instead."""


class Autotuned(_Event, frozen=True, kw_only=True, tag="autotune"):
    """One tuning: all configurations for one key."""

    kernel: str
    key: dict[str, Json] = {}
    configs: tuple[TunedConfig, ...] = ()

    def winner(self) -> int | None:
        """Index of the fastest, the first of equals; ``None`` where nothing was measured."""
        timed = [
            (each.milliseconds, at) for at, each in enumerate(self.configs) if each.milliseconds is not None
        ]
        return min(timed)[1] if timed else None


class Stopped(_Event, frozen=True, kw_only=True, tag="stopped"):
    """The program needed a GPU that is not there."""

    reason: str
    file: str | None = None
    line: int | None = None


class Assumed(_Event, frozen=True, kw_only=True, tag="assumed"):
    """The program asked for something that depends on the very device."""

    what: str
    value: int


class Interpreted(_Event, frozen=True, kw_only=True, tag="interpreted"):
    """The program switched Triton's interpreter on."""


class Problem(_Event, frozen=True, kw_only=True, tag="problem"):
    """The recorder could not write something down."""

    where: str
    message: str


Event: TypeAlias = Compiled | Failed | Loaded | Autotuned | Stopped | Assumed | Interpreted | Problem
_DECODER = msgspec.json.Decoder(
    Compiled | Failed | Loaded | Autotuned | Stopped | Assumed | Interpreted | Problem
)


def read_events(folder: Path) -> tuple[list[Event], list[str]]:
    """All events of a run, oldest first, and what could not be read."""
    found: list[tuple[int, str, Event]] = []
    odd: list[str] = []
    for path in sorted(folder.glob("*-*.json")):
        try:
            event = _DECODER.decode(path.read_bytes())
            found.append((path.stat().st_mtime_ns, path.name, event))
        except (OSError, msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
            odd.append(f"{path.name}: {error}")
    return [event for _, _, event in sorted(found, key=lambda each: each[:2])], odd
