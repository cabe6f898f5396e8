"""What an autotuner found out about the configuration of one entry."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from irdiff.capture.events import Autotuned, Json, TunedConfig


class TunedFor(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a configuration did for one key."""

    key: dict[str, Json]
    winner: bool | None = None
    milliseconds: float | None = None


class Autotune(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an autotuner found out about the configuration that this entry was compiled for."""

    config: dict[str, Json]
    winner: bool | None = None
    """Whether it was the fastest for a key; ``None`` where nothing was measured."""
    milliseconds: float | None = None
    """Median of the first key it won, else of the first key; ``None`` where it could not run or was not measured."""
    keys: tuple[TunedFor, ...] = ()


def autotune_of(folder: str, digest: str, tuned: Iterable[Autotuned]) -> Autotune | None:
    """What the tunings of a run say of one entry."""
    config: TunedConfig | None = None
    keys: list[TunedFor] = []
    for event in tuned:
        best = event.winner()
        for at, each in enumerate(event.configs):
            if folder == each.folder or digest in each.hashes:
                config = config or each
                keys.append(
                    TunedFor(
                        key=event.key,
                        winner=None if best is None else at == best,
                        milliseconds=each.milliseconds,
                    )
                )
    if config is None:
        return None
    shown = next((each for each in keys if each.winner), keys[0])
    known = [each.winner for each in keys if each.winner is not None]
    return Autotune(
        config=config.config,
        winner=any(known) if known else None,
        milliseconds=shown.milliseconds,
        keys=tuple(keys),
    )
