# ruff: noqa: PTH118, PTH120
"""torch without a GPU: tensors of the device are fake (shapes, types, strides, no values), those of the CPU are real.

Built on ``FakeTensorMode``, with what a build for the CPU lacks filled in. Tried with torch 2.13.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
import os
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from .fake_cuda import replace_cuda
from .pretended import Stand, refuse

GUARD_REGISTRY = "_ZN3c104impl26device_guard_impl_registryE"  # c10/core/impl/DeviceGuardImplInterface.h
CUDA, META = 1, 14  # c10/core/DeviceType.h
NO_COMPILER = "makes kernels for a GPU that is there, and there is none"
POINTER = 1 << 44  # a multiple of 512, as torch's allocator gives it on a GPU


def replace_torch(stand: Stand, torch: Any) -> None:
    """Tensors of the device are fake, functions of ``torch.cuda`` answer for one device, Inductor is refused."""
    device = torch.device("cuda", 0)

    def numbered(value: Any) -> Any:
        """``cuda`` as ``cuda:0``: asking for the current device is what a build for the CPU cannot do."""
        if isinstance(value, str):
            return device if value == "cuda" else value
        here = isinstance(value, torch.device) and value.type == "cuda" and value.index is None
        return device if here else value

    modes = (shapes(torch), numbering(torch, numbered))
    replace_makers(torch, numbered)
    without_guard(torch)
    replace_cuda(stand, torch)
    replace_methods(torch, device)
    if stand.backend == "hip":
        torch.version.hip = torch.version.hip or "0.0"
    for mode in modes:
        mode.__enter__()


def shapes(torch: Any) -> Any:
    """The mode in which tensors of the device are fake."""
    module: Any = importlib.import_module("torch._subclasses.fake_tensor")
    # torch up to 2.12 makes a real tensor there first, wherever torch.cuda says that a device is available.
    module.init_gpu_context = lambda device: None
    tree_map_only = importlib.import_module("torch.utils._pytree").tree_map_only
    depth = threading.local()

    class Shapes(module.FakeTensorMode):  # type: ignore[misc]  # its base is not known here
        """Fakes what touches the device, and all that is computed on the way; everything else is real."""

        avoid_device_init = True  # what torch does where no GPU is, whatever torch.cuda says from now on

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            named = kwargs or {}
            inside = getattr(depth, "value", 0)
            there = named.get("device") is not None and torch.device(named["device"]).type == "cuda"
            if not (inside or there or any(issubclass(each, module.FakeTensor) for each in types)):
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
            return tensor if isinstance(tensor, module.FakeTensor) else self.from_tensor(tensor)

    return Shapes(allow_non_fake_inputs=True)


def numbering(torch: Any, numbered: Callable[[Any], Any]) -> Any:
    """The mode in which every device that a call names has its number."""
    module: Any = importlib.import_module("torch.overrides")

    class Numbering(module.TorchFunctionMode):  # type: ignore[misc]  # its base is not known here
        """Looks at what is named ``device``, at devices anywhere, and at the names that ``Tensor.to`` takes."""

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            named = dict(kwargs or {})
            if func is torch.device:  # makes the name of a device, and asks for none
                return func(*args, **named)
            if "device" in named:
                named["device"] = numbered(named["device"])
            names = func is torch.Tensor.to
            placed = [numbered(each) if names or not isinstance(each, str) else each for each in args]
            return func(*placed, **named)

    return Numbering()


def replace_makers(torch: Any, numbered: Callable[[Any], Any]) -> None:
    """``torch.tensor`` and its like make a real tensor first, and then move it where no mode sees it."""

    def made(original: Any) -> Any:
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
    contexts: Any = importlib.import_module("torch.utils._device").DeviceContext
    begin = contexts.__init__
    contexts.__init__ = lambda self, which: begin(self, numbered(which))


def replace_methods(torch: Any, device: Any) -> None:
    """Methods of tensors and modules that want an address, values or the compiler."""
    fake: Any = importlib.import_module("torch._subclasses.fake_tensor").FakeTensor
    fake.data_ptr = lambda self: POINTER + self.storage_offset() * self.element_size()
    for name in ("numpy", "__array__", "__dlpack__"):
        setattr(fake, name, refuse(f"Tensor.{name}()", "needs the values of a tensor"))
    torch.Tensor.cuda = lambda self, *rest, **named: self.to(device)
    # Modules move by swapping tensors, which torch refuses where weak references are left, as fake tensors have them.
    torch.utils.weakref = SimpleNamespace(getweakrefs=lambda tensor: [])
    torch.compile = functools.partial(refuse_inductor, torch.nn.Module)
    torch.nn.Module.compile = refuse("torch.compile", NO_COMPILER)


def without_guard(torch: Any) -> None:
    """A build for the CPU has nothing that switches to a device, which indexing asks for even where it is fake.

    The table of such things is filled when a library is loaded; the one of the meta device does nothing, so its is
    taken. In builds for CUDA there is one, and ``FakeTensorMode`` sees to it.
    """
    path = os.path.join(os.path.dirname(torch.__file__), "lib", "libc10.so")
    with contextlib.suppress(OSError, ValueError):  # another layout of torch: what needs it says so
        table = (ctypes.c_void_p * (META + 1)).in_dll(ctypes.CDLL(path), GUARD_REGISTRY)
        if not table[CUDA]:
            table[CUDA] = table[META]


def refuse_inductor(module_class: Any, model: Any = None, *rest: Any, **named: Any) -> Any:
    """``torch.compile``: a function is refused when it is called, a module at once."""
    refused = refuse("torch.compile", NO_COMPILER)
    if model is None:
        return functools.partial(refuse_inductor, module_class)
    return refused() if isinstance(model, module_class) else refused
