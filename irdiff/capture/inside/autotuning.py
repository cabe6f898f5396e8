# ruff: noqa: BLE001, SLF001
"""What autotuners found out: Triton's own and Inductor's."""

from __future__ import annotations

import functools
import json
from typing import Any

from .recorder import Recorder
from .specialization import plain


def watch_autotuner(recorder: Recorder, module: Any) -> None:
    """``@triton.autotune``: each configuration with the kernels compiled for it and how long it took.

    Only ``_bench`` is wrapped, once for each configuration and key: launches stay as fast as they were. The winner
    is the fastest, the first of equals, as ``Autotuner.run`` takes it.
    """
    tuner_class = module.Autotuner
    original = tuner_class._bench

    @functools.wraps(original)
    def bench(tuner: Any, *arguments: Any, **named: Any) -> Any:
        before = getattr(recorder.here, "compiled", None)
        hashes: list[str] = []
        recorder.here.compiled = hashes
        timing = None
        try:
            timing = original(tuner, *arguments, **named)
            return timing
        finally:
            recorder.here.compiled = before
            try:
                note_bench(recorder, tuner, named, hashes, timing)
            except Exception:
                recorder.problem("autotune")

    tuner_class._bench = bench


def note_bench(recorder: Recorder, tuner: Any, named: dict[str, Any], hashes: list[str], timing: Any) -> None:
    """Add one configuration to the event of its tuning, and write it anew."""
    config = named["config"]
    passed = dict(tuner.nargs or {}, **named)
    keys = [name for name in getattr(tuner, "keys", None) or [] if name in passed]
    if not keys and hasattr(tuner, "key_idx"):  # to 3.1
        keys = [tuner.arg_names[index] for index in tuner.key_idx if tuner.arg_names[index] in passed]
    key = {name: plain(passed[name]) for name in keys}
    told = vars(tuner).setdefault("_irdiff_told", {"by_config": {}, "session": None, "mark": None})
    mark = (id(tuner.nargs), json.dumps(key, sort_keys=True))
    session = told["session"]
    known = told["by_config"].setdefault(id(config), [])
    known.extend(each for each in hashes if each not in known)
    if session is None or told["mark"] != mark or id(config) in session["seen"]:
        session = {"name": recorder.name(), "seen": set(), "configs": []}
        told["session"], told["mark"] = session, mark
    session["seen"].add(id(config))
    took = None if recorder.settings.get("target") else middle(timing)  # without a GPU nothing was measured
    if not hashes and len(known) == 1:  # compiled before, for another key; of several it could be any
        hashes = list(known)
    session["configs"].append({"config": plain(config.all_kwargs()), "milliseconds": took, "hashes": hashes})
    kernel = getattr(getattr(tuner, "base_fn", None), "__name__", "?")
    recorder.tell("autotune", name=session["name"], kernel=kernel, key=key, configs=session["configs"])


def middle(timing: Any) -> float | None:
    """The median of ``do_bench``'s answer; nothing where the configuration could not run."""
    value = timing[0] if isinstance(timing, (list, tuple)) and timing else timing
    if isinstance(value, (int, float)) and value == value and abs(value) != float("inf"):
        return float(value)
    return None


def watch_inductor(recorder: Recorder, module: Any) -> None:
    """Inductor's own autotuner: timings by launcher, which names its entry's folder."""
    tuner_class = module.CachingAutotuner
    original = tuner_class.benchmark_all_configs

    @functools.wraps(original)
    def benchmark_all_configs(tuner: Any, *arguments: Any, **named: Any) -> Any:
        timings = original(tuner, *arguments, **named)
        try:
            configs = [
                {
                    "config": plain(launcher.config.all_kwargs()),
                    "milliseconds": middle(timing),
                    "folder": getattr(launcher, "cache_hash", None),
                }
                for launcher, timing in timings.items()
            ]
            recorder.tell("autotune", kernel=tuner.fn.__name__, key={}, configs=configs)
        except Exception:
            recorder.problem("inductor's autotuner")
        return timings

    tuner_class.benchmark_all_configs = benchmark_all_configs
