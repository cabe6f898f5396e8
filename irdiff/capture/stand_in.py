"""Inside a user's process, without a GPU: torch has a device that only knows shapes, and launches only compile.

Tensors of the device are torch's fake tensors: shapes, types, strides, no values; those of the CPU stay real. Triton's
driver is a stand-in that names the target, and a launch becomes a warm-up. What cannot work so (values of tensors,
timings, Inductor) ends the program with an error that says why and what to write instead.
Imports nothing of irdiff; Triton and torch only once the program has imported them.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
import threading
import traceback
from types import SimpleNamespace
from typing import Any, Callable

GUARD_REGISTRY = "_ZN3c104impl26device_guard_impl_registryE"
CUDA, META = 1, 14  # c10/core/DeviceType.h
POINTER = 1 << 44  # a multiple of 512, as torch's allocator gives it on a GPU
VALUES = (
    "DataDependentOutputException",
    "DynamicOutputShapeException",
    "UnsupportedOperatorException",
    "UnsupportedFakeTensorException",
)
AUTOGRAD = "accelerator device when none"
MISSING = (
    "Torch not compiled with CUDA",
    "not linked with support for cuda",
    "CUDA generator",
    "dummy base class",
    "No CUDA GPUs are available",
    "Found no NVIDIA driver",
)
"""What torch says where a part of it needs a device, or a build for one."""
SURVIVED = ("OutOfResources", "CompileTimeAssertionFailure", "PTXASError")
"""Errors of one configuration that Triton's autotuner goes on after (``runtime/autotuner.py``, 3.6)."""
INSTEAD = "put it behind `if not os.environ.get('IRDIFF_COMPILE_ONLY'):`, or run the script where a GPU is"
# fmt: off
PROCESSORS = {
    "75": 40, "80": 108, "86": 84, "87": 16, "89": 128, "90": 132, "100": 148, "103": 148, "110": 20, "120": 188,
    "121": 48, "gfx90a": 104, "gfx942": 304, "gfx950": 256, "gfx1100": 96,
}
SHARED = {
    "75": 65536, "80": 166912, "86": 101376, "87": 166912, "89": 101376, "90": 232448, "100": 232448,
    "103": 232448, "110": 232448, "120": 101376, "121": 101376, "gfx950": 163840,
}
# fmt: on
"""Of the largest product of each architecture that NVIDIA and AMD sell; used where a program asks, and said so."""


class NeedsGpuError(RuntimeError):
    """Something that has no meaning where nothing is executed."""


class Stand:
    """What is pretended to be there."""

    def __init__(self, recorder: Any) -> None:
        target = recorder.settings["target"]
        self.recorder = recorder
        self.backend, self.arch, self.warp_size = target["backend"], target["arch"], target["warp_size"]
        self.noted: set[str] = set()

    @property
    def capability(self) -> tuple[int, int]:
        """As torch gives it; for AMD gfx942 is (9, 4)."""
        digits = self.arch[3:] if self.backend == "hip" else self.arch
        digits = digits if self.backend == "cuda" else digits[:-1]
        return int(digits[:-1]), int(digits[-1], 16)

    def assumed(self, what: str) -> int:
        """A number that differs between products of one architecture: said once when a program asks for it."""
        value = PROCESSORS.get(self.arch, 132) if what == "multi_processor_count" else SHARED.get(self.arch, 65536)
        if what == "multi_processor_count" and what not in self.noted:
            self.noted.add(what)
            text = f"the program asks for {what}: {value} assumed for {self.backend}:{self.arch}"
            self.recorder.tell("assumed", what=what, value=value)
            sys.stderr.write(f"irdiff: {text}\n")
        return value


def hooks(recorder: Any) -> dict[str, Callable[[Any], None]]:
    """What is done after which module is imported."""
    stand = Stand(recorder)
    sys.excepthook = functools.partial(explain, recorder, sys.excepthook)
    return {
        "torch": lambda module: replace_torch(stand, module),
        "triton.runtime.driver": lambda module: module.driver.set_active(Driver(stand)),
        "triton.runtime.jit": lambda module: replace_launch(module),
        "triton.runtime.autotuner": lambda module: replace_bench(module),
        "triton.testing": lambda module: replace_testing(module),
    }


def refuse(what: str, why: str) -> Callable[..., Any]:
    """A function that cannot work here."""

    def refused(*arguments: Any, **named: Any) -> Any:
        raise NeedsGpuError(f"{what} {why}")

    return refused


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
        super().__init__(
            max_shared_mem=SHARED.get(stand.arch, 65536), warpSize=stand.warp_size, max_num_regs=65536
        )
        self.stand = stand

    def __missing__(self, name: str) -> int:
        if name == "multiprocessor_count":
            return self.stand.assumed("multi_processor_count")
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


def replace_torch(stand: Stand, torch: Any) -> None:
    """Tensors of the device are fake, functions of ``torch.cuda`` answer for one device, Inductor is refused."""
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode  # type: ignore[import-not-found]  # the user's
    from torch.overrides import TorchFunctionMode  # type: ignore[import-not-found]
    from torch.utils._device import DeviceContext  # type: ignore[import-not-found]
    from torch.utils._pytree import tree_map_only  # type: ignore[import-not-found]

    device = torch.device("cuda", 0)
    depth = threading.local()

    class Shapes(FakeTensorMode):  # type: ignore[misc]  # its base is not known here
        """Fakes what touches the device, and all that is computed on the way; everything else is real."""

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            named = kwargs or {}
            inside = getattr(depth, "value", 0)
            there = named.get("device") is not None and torch.device(named["device"]).type == "cuda"
            if not (inside or there or any(issubclass(each, FakeTensor) for each in types)):
                return func(*args, **named)
            depth.value = inside + 1
            try:
                if there and not inside:
                    args = tree_map_only(torch.Tensor, self.faked, args)
                return super().__torch_dispatch__(func, types, args, kwargs)
            finally:
                depth.value = inside

        def faked(self, tensor: Any) -> Any:
            """A real tensor that goes to the device."""
            return tensor if isinstance(tensor, FakeTensor) else self.from_tensor(tensor)

    class Numbered(TorchFunctionMode):  # type: ignore[misc]  # its base is not known here
        """``cuda`` is ``cuda:0``: asking for the current device is what a build for the CPU cannot do."""

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            named = {name: numbered(value) for name, value in (kwargs or {}).items()}
            return func(*map(numbered, args), **named)

    def numbered(value: Any) -> Any:
        if isinstance(value, str):
            return device if value == "cuda" else value
        here = isinstance(value, torch.device) and value.type == "cuda" and value.index is None
        return device if here else value

    def made(original: Any) -> Any:
        """``torch.tensor`` and its like make a real tensor first, and then move it where no mode sees it."""

        @functools.wraps(original)
        def make(*arguments: Any, device: Any = None, requires_grad: bool = False, **named: Any) -> Any:
            where = numbered(torch.get_default_device() if device is None else device)
            if torch.device(where).type != "cuda":
                more = {"requires_grad": True} if requires_grad else {}
                return original(*arguments, device=device, **named, **more)
            tensor = original(*arguments, device="cpu", **named).to(where)
            return tensor.requires_grad_() if requires_grad else tensor

        return make

    for name in ("tensor", "as_tensor", "asarray"):
        setattr(torch, name, made(getattr(torch, name)))
    # Modules move by swapping tensors, which torch refuses where weak references are left, as fake tensors have them.
    torch.utils.weakref = SimpleNamespace(getweakrefs=lambda tensor: [])
    begin = DeviceContext.__init__
    DeviceContext.__init__ = lambda self, which: begin(self, numbered(which))
    without_guard(torch)
    replace_cuda(stand, torch)
    FakeTensor.data_ptr = lambda self: POINTER + self.storage_offset() * self.element_size()
    for name in ("numpy", "__array__", "__dlpack__"):
        setattr(FakeTensor, name, refuse(f"Tensor.{name}()", "needs the values of a tensor"))
    torch.Tensor.cuda = lambda self, *rest, **named: self.to(device)
    torch.compile = functools.partial(refuse_inductor, torch.nn.Module)
    torch.nn.Module.compile = refuse("torch.compile", "makes kernels for a GPU that is there, and there is none")
    if stand.backend == "hip":
        torch.version.hip = torch.version.hip or "0.0"
    Shapes(allow_non_fake_inputs=True).__enter__()
    Numbered().__enter__()


def without_guard(torch: Any) -> None:
    """A build for the CPU has nothing that switches to a device, which indexing asks for even where it is fake.

    The table of such things is filled when a library is loaded; the one of fake tensors' own device does nothing.
    """
    path = os.path.join(os.path.dirname(torch.__file__), "lib", "libc10.so")
    with contextlib.suppress(OSError, ValueError):  # another layout of torch: what needs it says so
        table = (ctypes.c_void_p * (META + 1)).in_dll(ctypes.CDLL(path), GUARD_REGISTRY)
        table[CUDA] = table[META]


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


def nothing() -> Callable[..., None]:
    """A function that does nothing; each name has its own, for Dynamo keeps a table of them."""
    return lambda *arguments, **named: None


def replace_cuda(stand: Stand, torch: Any) -> None:
    """Answers for one device of the target's architecture."""
    cuda = torch.cuda
    name = f"{stand.backend}:{stand.arch}"
    answers: dict[str, Any] = {
        "is_available": lambda: True,
        "is_initialized": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "get_device_capability": lambda device=None: stand.capability,
        "get_device_name": lambda device=None: name,
        "get_device_properties": lambda device=None: Properties(stand, name),
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
    for each in dir(cuda):
        if each.startswith(("memory_", "max_memory_", "mem_get", "utilization", "temperature", "power_draw")):
            if callable(getattr(cuda, each)) and each not in answers:
                answers[each] = refuse(f"torch.cuda.{each}()", "asks a GPU")
    for each, answer in answers.items():
        setattr(cuda, each, answer)


class Properties:
    """``torch.cuda.get_device_properties``: what follows from the architecture, and the number of processors."""

    def __init__(self, stand: Stand, name: str) -> None:
        self.name, self.warp_size = name, stand.warp_size
        self.major, self.minor = stand.capability
        self.gcnArchName = stand.arch
        self.shared_memory_per_block_optin = SHARED.get(stand.arch, 65536)
        self.regs_per_multiprocessor = 65536
        self._stand = stand

    def __getattr__(self, name: str) -> int:
        if name == "multi_processor_count":
            return self._stand.assumed(name)
        if name.startswith("_"):
            raise AttributeError(name)
        raise NeedsGpuError(f"the device property {name} is not known without a GPU")


def refuse_inductor(module_class: Any, model: Any = None, *rest: Any, **named: Any) -> Any:
    """``torch.compile``: a function is refused when it is called, a module at once."""
    refused = refuse("torch.compile", "makes kernels for a GPU that is there, and there is none")
    if model is None:
        return functools.partial(refuse_inductor, module_class)
    return refused() if isinstance(model, module_class) else refused


def explain(recorder: Any, before: Any, kind: Any, error: Any, trace: Any) -> None:
    """The last words of a program that needed a GPU: the line, why, and what to write instead."""
    reason = needed(error)
    if reason is None:
        before(kind, error, trace)
        return
    frames = traceback.extract_tb(trace)
    outside = [frame for frame in frames if not foreign(frame.filename)] or list(frames)
    where = outside[-1] if outside else None
    place = f"{where.filename}:{where.lineno}: " if where else ""
    recorder.tell("stopped", file=where and where.filename, line=where and where.lineno, reason=reason)
    lines = [f"irdiff: {place}{reason}"]
    if where and where.line:
        lines.append(f"    {where.line}")
    lines.append("  without a GPU nothing is executed: tensors have shapes, types and strides, and no values")
    lines.append(f"  {INSTEAD}")
    sys.stderr.write("\n".join(lines) + "\n")


def needed(error: BaseException | None) -> str | None:
    """What of a GPU an exception, or one that caused it, missed."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        seen.append(error)
        text = str(error)
        if isinstance(error, NeedsGpuError):
            return text
        if type(error).__name__ in VALUES:
            return f"needs the values of a tensor ({text.splitlines()[0] if text else type(error).__name__})"
        if AUTOGRAD in text:
            return "needs a GPU: torch's backward pass runs on streams of a device; call the backward kernels yourself"
        if any(each in text for each in MISSING):
            return f"needs a GPU ({text.splitlines()[0]})"
        error = error.__cause__ or error.__context__
    return None


def foreign(path: str) -> bool:
    """Whether a file is not the user's own: an installed package, Python's library, this file."""
    here = os.path.dirname(os.path.abspath(__file__))
    parts = path.replace(os.sep, "/")
    return path.startswith(here) or "/site-packages/" in parts or "/lib/python3" in parts or path.startswith("<")
