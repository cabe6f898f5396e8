# ruff: noqa: BLE001, SLF001
"""Every call of ``triton.compile`` and every loaded kernel as an event; Inductor goes through the same two."""

from __future__ import annotations

import functools
import inspect
import sys
import time
from typing import Any

from .recorder import Recorder
from .specialization import describe


def watch_compiler(recorder: Recorder, module: Any) -> None:
    """Wrap ``compile``, before anyone imports it by name, and the method that loads a kernel."""
    listen(recorder)
    original = module.compile

    @functools.wraps(original)
    def compile(*arguments: Any, **named: Any) -> Any:  # noqa: A001  # Triton's name
        began = time.perf_counter()
        recorder.here.times = None
        try:
            kernel = original(*arguments, **named)
        except BaseException as error:
            note(recorder, module, original, arguments, named, time.perf_counter() - began, None, error)
            raise
        note(recorder, module, original, arguments, named, time.perf_counter() - began, kernel, None)
        return kernel

    module.compile = compile
    kernel_class = module.CompiledKernel
    load = kernel_class._init_handles

    @functools.wraps(load)
    def init_handles(kernel: Any, *arguments: Any, **named: Any) -> Any:
        made = load(kernel, *arguments, **named)
        said = vars(kernel)
        if not said.get("_irdiff_told") and isinstance(said.get("n_regs"), int):
            kernel._irdiff_told = True
            recorder.tell(
                "loaded", hash=kernel.hash, registers=said["n_regs"], spilled_words=said.get("n_spills")
            )
        return made

    kernel_class._init_handles = init_handles


def listen(recorder: Recorder) -> None:
    """Triton 3.4 and newer tell a listener how long each stage took; the program's own one has precedence."""
    knobs = sys.modules.get("triton.knobs")
    if knobs is None or getattr(knobs.compilation, "listener", recorder) is not None:
        return

    def listener(*, times: Any = None, cache_hit: bool = False, **rest: Any) -> None:
        recorder.here.times = times
        recorder.here.hit = cache_hit

    knobs.compilation.listener = listener


def note(
    recorder: Recorder,
    module: Any,
    original: Any,
    arguments: Any,
    named: Any,
    seconds: float,
    kernel: Any,
    error: BaseException | None,
) -> None:
    """Write down one call of ``compile``."""
    try:
        bound = inspect.signature(original).bind(*arguments, **named).arguments
        fields = describe(module, bound.get("src"), bound.get("target"), bound.get("options"))
        fields["total"] = seconds
        fields["times"] = stage_times(getattr(recorder.here, "times", None))
        fields["hit"] = bool(fields["times"]) and getattr(recorder.here, "hit", False)
        if error is None:
            fields["hash"] = kernel.hash
            fields["kernel"] = str(kernel.name)
            seen = getattr(recorder.here, "compiled", None)
            if seen is not None:
                seen.append(kernel.hash)
            recorder.tell("compiled", **fields)
        else:
            fields["error"] = {"type": type(error).__name__, "message": str(error)[:20000]}
            recorder.tell("failed", **fields)
    except Exception:
        recorder.problem("compile")


def stage_times(times: Any) -> dict[str, float]:
    """Seconds by stage, of Triton's ``CompileTimes`` (microseconds)."""
    if times is None:
        return {}
    stages = [("source", times.ir_initialization), *times.lowering_stages, ("store", times.store_results)]
    return {str(name): took / 1e6 for name, took in stages}
