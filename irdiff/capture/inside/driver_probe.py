# ruff: noqa: PTH123
"""Loads cubins with NVIDIA's driver and writes down what it says of each: needs Python and ``libcuda`` alone.

    PYTHON driver_probe.py ASKED.json ANSWERS.json

ASKED.json is a list of ``{"cubin": path, "name": kernel, "arch": "90", "threads": 128, "shared": 16384}``. ANSWERS.json
is ``{"device": …, "arch": …, "answers": [{"registers", "local", …} or {"error": …}]}``, or ``{"reason": …}`` where
there is no device. Source of the calls and numbers: CUDA Driver API, ``cuFuncGetAttribute`` and
``cuOccupancyMaxActiveBlocksPerMultiprocessor``; Triton's own loader asks the same (``backends/nvidia/driver.c``).
"""

from __future__ import annotations

import ctypes
import json
import sys
from typing import Any

ATTRIBUTES = {
    "max_threads": 0,
    "shared": 1,
    "constant": 2,
    "local": 3,
    "registers": 4,
}  # CUfunction_attribute
MAX_DYNAMIC_SHARED = 8
MAJOR, MINOR = 75, 76  # CUdevice_attribute


class DriverError(Exception):
    """A call of the driver failed."""


class Device:
    """The first device that is visible, its primary context current."""

    def __init__(self) -> None:
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        name = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", name, 256, device)
        self.name = name.value.decode("utf-8", "replace")
        numbers = []
        for attribute in (MAJOR, MINOR):
            number = ctypes.c_int()
            self.call("cuDeviceGetAttribute", ctypes.byref(number), attribute, device)
            numbers.append(number.value)
        self.arch = "{}{}".format(*numbers)
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver. Raises DriverError with its name for what went wrong."""
        code = getattr(self.cuda, name)(*arguments)
        if code:
            said = ctypes.c_char_p()
            self.cuda.cuGetErrorName(code, ctypes.byref(said))
            raise DriverError(f"{name}: {(said.value or str(code).encode()).decode()}")

    def ask(self, asked: dict[str, Any]) -> dict[str, Any]:
        """What the driver says of one kernel."""
        with open(asked["cubin"], "rb") as file:
            image = file.read()
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), image)
        try:
            self.call("cuModuleGetFunction", ctypes.byref(function), module, asked["name"].encode())
            answer: dict[str, Any] = {}
            for name, number in ATTRIBUTES.items():
                value = ctypes.c_int()
                self.call("cuFuncGetAttribute", ctypes.byref(value), number, function)
                answer[name] = value.value
            answer["ctas_per_sm"] = self.occupancy(function, asked)
        finally:
            self.call("cuModuleUnload", module)
        return answer

    def occupancy(self, function: Any, asked: dict[str, Any]) -> int:
        """CTAs of its launch that fit on one multiprocessor at once; 0 where it cannot be launched."""
        if asked["shared"]:
            try:
                self.call("cuFuncSetAttribute", function, MAX_DYNAMIC_SHARED, ctypes.c_int(asked["shared"]))
            except DriverError:
                return 0
        count = ctypes.c_int()
        self.call(
            "cuOccupancyMaxActiveBlocksPerMultiprocessor",
            ctypes.byref(count),
            function,
            ctypes.c_int(asked["threads"]),
            ctypes.c_size_t(asked["shared"]),
        )
        return count.value


def answer_all(asked: list[dict[str, Any]]) -> dict[str, Any]:
    """Every answer, in order."""
    try:
        device = Device()
    except (OSError, DriverError, AttributeError) as error:
        return {"reason": str(error)}
    answers = []
    for each in asked:
        try:
            if each["arch"] != device.arch:
                raise DriverError(f"made for {each['arch']}, the device is {device.arch}")
            answers.append(device.ask(each))
        except (OSError, DriverError) as error:
            answers.append({"error": str(error)})
    return {"device": device.name, "arch": device.arch, "answers": answers}


def main(asked: str, answers: str) -> None:
    """Read the questions, write the answers."""
    with open(asked, encoding="utf-8") as file:
        questions = json.load(file)
    with open(answers, "w", encoding="utf-8") as file:
        json.dump(answer_all(questions), file)


if __name__ == "__main__":
    main(*sys.argv[1:])
