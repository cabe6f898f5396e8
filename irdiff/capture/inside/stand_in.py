# ruff: noqa: ARG002, SLF001
"""Triton without a GPU: a driver that names the target, launches that compile and do not execute.

Works for Triton 3.0 to 3.9, whose driver interface (``backends/driver.py``) has grown from release to release.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from .fake_torch import replace_torch
from .last_words import explain
from .pretended import NeedsGpuError, Stand, refuse
from .recorder import Recorder

SURVIVED = ("OutOfResources", "CompileTimeAssertionFailure", "PTXASError")
"""Errors of one configuration that Triton's autotuner goes on after (``runtime/autotuner.py``, 3.6)."""


def hooks(recorder: Recorder) -> dict[str, Callable[[Any], None]]:
    """What is done after which module is imported."""
    stand = Stand(recorder)
    sys.excepthook = functools.partial(explain, recorder, sys.excepthook)
    return {
        "torch": lambda module: replace_torch(stand, module),
        "triton.runtime.driver": lambda module: module.driver.set_active(Driver(stand)),
        "triton.runtime.jit": replace_launch,
        "triton.runtime.autotuner": replace_bench,
        "triton.testing": replace_testing,
    }


class Driver:
    """What Triton asks of its active driver, up to the launch (``backends/driver.py``, 3.0 to 3.9)."""

    def __init__(self, stand: Stand) -> None:
        self.stand = stand
        self.launcher_cls = refuse("launching a kernel", "needs a GPU")
        self.utils = SimpleNamespace(
            load_binary=refuse("loading a kernel", "needs a GPU"),
            get_device_properties=lambda device=0: LazyProperties(stand),
        )

    def get_current_target(self) -> Any:
        """The target named on the command line."""
        arch = int(self.stand.arch) if self.stand.arch.isdigit() else self.stand.arch
        made = sys.modules["triton.backends.compiler"].GPUTarget
        return made(self.stand.backend, arch, self.stand.warp_size)

    def get_current_device(self) -> int:
        """There is one."""
        return 0

    def get_current_stream(self, device: Any = None) -> int:
        """The default one."""
        return 0

    def get_device_capability(self, device: Any = None) -> tuple[int, int]:
        """Major and minor."""
        return self.stand.capability

    def set_current_device(self, device: Any) -> None:
        """There is one."""

    def get_active_torch_device(self) -> Any:
        """As with a GPU."""
        return sys.modules["torch"].device("cuda", 0)

    def get_device_interface(self) -> Any:
        """As with a GPU."""
        return sys.modules["torch"].cuda

    def get_benchmarker(self) -> Any:
        """Nothing can be measured."""
        return refuse("measuring a kernel", "needs a GPU")

    def map_python_to_cpp_type(self, name: str) -> str:
        """For launchers, of which there are none."""
        return "void*"

    def assemble_tensormap_to_arg(self, tensormaps: Any, arguments: Any) -> Any:
        """To 3.2, before a launch."""
        return arguments

    @staticmethod
    def is_active() -> bool:
        """It is."""
        return True


class LazyProperties(dict):  # type: ignore[type-arg]  # a plain dictionary for the program
    """Device properties by the names that Triton's driver gives them."""

    def __init__(self, stand: Stand) -> None:
        super().__init__(max_shared_mem=stand.shared, warpSize=stand.warp_size, max_num_regs=65536)
        self.stand = stand

    def __missing__(self, name: str) -> int:
        if name == "multiprocessor_count":
            return self.stand.processors()
        raise NeedsGpuError(f"the device property {name} is not known without a GPU")


def replace_launch(module: Any) -> None:
    """A launch compiles and does not execute."""
    run = module.JITFunction.run

    @functools.wraps(run)
    def compile_only(self: Any, *arguments: Any, grid: Any = None, warmup: bool = False, **named: Any) -> Any:
        return run(self, *arguments, grid=grid, warmup=True, **named)

    module.JITFunction.run = compile_only


def replace_bench(module: Any) -> None:
    """Every configuration is compiled and none measured; the first stands for the winner."""

    def bench(self: Any, *arguments: Any, config: Any, **named: Any) -> list[float]:
        current = dict(named, **config.all_kwargs())
        if config.pre_hook:  # it may set the block shapes of descriptors
            config.pre_hook(dict(self.nargs, **current))
        try:
            self.fn.run(*arguments, **current)
        except Exception as error:
            if type(error).__name__ not in SURVIVED:
                raise
            return [float("inf")] * 3
        return [0.0] * 3

    module.Autotuner._bench = bench


def replace_testing(module: Any) -> None:
    """Measuring is refused."""
    for name in ("do_bench", "do_bench_cudagraph"):
        if hasattr(module, name):
            setattr(module, name, refuse(f"triton.testing.{name}", "measures, and nothing is executed here"))
