# ruff: noqa: ARG002
"""``torch.cuda`` without a GPU: answers for one device of the target's architecture, or refuses."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from .pretended import NeedsGpuError, Stand, refuse


def replace_cuda(stand: Stand, torch: Any) -> None:
    """Answers for one device of the target's architecture."""
    cuda = torch.cuda
    answers: dict[str, Any] = {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "get_device_capability": lambda device=None: stand.capability,
        "get_device_name": lambda device=None: stand.name,
        "get_device_properties": lambda device=None: Properties(stand),
        "is_bf16_supported": lambda *arguments, **named: stand.backend == "hip" or stand.capability >= (8, 0),
        "device": lambda device=None: contextlib.nullcontext(),
        "device_of": lambda tensor=None: contextlib.nullcontext(),
        "stream": lambda stream=None: contextlib.nullcontext(),
        "current_stream": lambda device=None: Stream(),
        "default_stream": lambda device=None: Stream(),
        "Stream": type("Stream", (Stream,), {}),
        "Event": type("Event", (Stream,), {}),
    }
    for each in ("init", "_lazy_init", "synchronize", "set_device", "empty_cache", "ipc_collect"):
        answers[each] = nothing()
    for each in ("CUDAGraph", "graph", "make_graphed_callables"):
        answers[each] = refuse(f"torch.cuda.{each}", "records what is executed, and nothing is")
    asking = ("memory_", "max_memory_", "mem_get", "utilization", "temperature", "power_draw")
    for each in dir(cuda):
        if each.startswith(asking) and callable(getattr(cuda, each)):
            answers[each] = refuse(f"torch.cuda.{each}()", "asks a GPU")
    for each, answer in answers.items():
        setattr(cuda, each, answer)


def nothing() -> Callable[..., None]:
    """A function that does nothing; each name has its own, for Dynamo keeps a table of them."""
    return lambda *arguments, **named: None


class Stream:
    """A stream or an event: nothing is ever waiting."""

    cuda_stream = 0

    def __init__(self, *arguments: Any, **named: Any) -> None:
        pass

    def wait(self, *arguments: Any) -> None:
        """Nothing to wait for."""

    record = record_event = synchronize = wait_event = wait_stream = wait

    def query(self) -> bool:
        """All is done."""
        return True

    def elapsed_time(self, other: Any) -> float:
        """Nothing was executed."""
        raise NeedsGpuError("torch.cuda.Event.elapsed_time() measures, and nothing is executed here")


class Properties:
    """``torch.cuda.get_device_properties``: what follows from the architecture, and the number of processors."""

    def __init__(self, stand: Stand) -> None:
        self.name, self.warp_size = stand.name, stand.warp_size
        self.major, self.minor = stand.capability
        self.gcnArchName = stand.arch
        self.shared_memory_per_block_optin = stand.shared
        self.regs_per_multiprocessor = 65536
        self._stand = stand

    def __getattr__(self, name: str) -> int:
        if name == "multi_processor_count":
            return self._stand.processors()
        if name.startswith("_"):
            raise AttributeError(name)
        raise NeedsGpuError(f"the device property {name} is not known without a GPU")
