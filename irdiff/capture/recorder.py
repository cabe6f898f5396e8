"""Inside a user's process: writes down each kernel that Triton compiles, with its specialization, as it happens.

Imports nothing of irdiff, Triton or torch: it waits until the program imports them, and then wraps
``triton.compile`` (every Triton from 3.0 on goes through it, and so does Inductor), ``CompiledKernel._init_handles``
(what the driver said when the program loaded a kernel) and the two autotuners. One JSON file for each event, written
whole; ``events.py`` has their types. Nothing here may disturb the program: what goes wrong becomes an event too.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.machinery
import importlib.util
import inspect
import itertools
import json
import os
import sys
import threading
import time
import traceback
from typing import Any, Callable

INTERPRETED = ("1", "true", "on", "yes", "y")
"""What TRITON_INTERPRET may hold to be on: ``triton/knobs.py``, 3.6."""


class Recorder:
    """Where events go, and what is known of the thread that is compiling."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.numbers = itertools.count()
        self.here = threading.local()
        with open(os.path.join(folder, "capture.json"), encoding="utf-8") as file:
            self.settings = json.load(file)

    def tell(self, kind: str, name: str | None = None, **fields: Any) -> None:
        """Write one event. The same name written again replaces what it said before."""
        try:
            name = name or self.name()
            path = os.path.join(self.folder, "{}-{}.json".format(kind, name))
            unfinished = "{}.{}.tmp".format(path, threading.get_ident())
            with open(unfinished, "w", encoding="utf-8") as file:
                json.dump(dict(fields, event=kind, process=os.getpid()), file)
            os.replace(unfinished, path)
        except Exception:  # a full disk is no fault of the program: the parent finds the entry without an event
            pass

    def name(self) -> str:
        """A name that no other process gives."""
        return "{}-{}-{}".format(os.getpid(), time.time_ns(), next(self.numbers))

    def problem(self, where: str) -> None:
        """The exception being handled, as an event."""
        self.tell("problem", where=where, message=traceback.format_exc(limit=3))


def start(folder: str) -> None:
    """Begin: hooks that run right after the modules of interest are imported."""
    recorder = Recorder(folder)
    hooks: dict[str, Callable[[Any], None]] = {
        "triton": lambda module: refuse_interpreter(recorder),
        "triton.compiler.compiler": lambda module: watch_compiler(recorder, module),
        "triton.runtime.autotuner": lambda module: watch_autotuner(recorder, module),
        "torch._inductor.runtime.triton_heuristics": lambda module: watch_inductor(recorder, module),
    }
    if recorder.settings.get("target"):
        hooks = with_stand_in(recorder, hooks)
    sys.meta_path.insert(0, AfterImport(recorder, hooks))


def with_stand_in(
    recorder: Recorder, hooks: dict[str, Callable[[Any], None]]
) -> dict[str, Callable[[Any], None]]:
    """The hooks of ``stand_in.py`` before those of the recorder, which wrap what they find."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "stand_in.py")
    spec = importlib.util.spec_from_file_location("_irdiff_stand_in", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["_irdiff_stand_in"] = module
    spec.loader.exec_module(module)
    more = module.hooks(recorder)
    return {name: both(more.get(name), hooks.get(name)) for name in [*hooks, *more]}


def both(
    first: Callable[[Any], None] | None, second: Callable[[Any], None] | None
) -> Callable[[Any], None]:
    """Two hooks as one."""

    def run(module: Any) -> None:
        for hook in (first, second):
            if hook is not None:
                hook(module)

    return run


class AfterImport:
    """A finder that lets the others find a module, and calls a hook when it has been executed."""

    def __init__(self, recorder: Recorder, hooks: dict[str, Callable[[Any], None]]) -> None:
        self.recorder, self.hooks = recorder, hooks

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The spec that the other finders give, its loader wrapped."""
        if name not in self.hooks:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = None if finder is self or find is None else find(name, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    spec.loader = Loader(spec.loader, self.hooks[name], self.recorder)
                return spec
        return None


class Loader:
    """A loader that calls a hook after the module's code, and leaves no trace of itself in the module."""

    def __init__(self, loader: Any, hook: Callable[[Any], None], recorder: Recorder) -> None:
        self.loader, self.hook, self.recorder = loader, hook, recorder

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def create_module(self, spec: Any) -> Any:
        """As the real loader."""
        return self.loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        """Execute, then call the hook."""
        module.__loader__ = module.__spec__.loader = self.loader
        self.loader.exec_module(module)
        try:
            self.hook(module)
        except Exception as error:
            self.recorder.problem("hook of {}".format(module.__name__))
            if self.recorder.settings.get("target"):  # half a stand-in would compile something else
                reason = "{}: {}".format(type(error).__name__, error)
                text = "irdiff: compiling without a GPU does not work with this {}: {}"
                raise SystemExit(text.format(module.__name__, reason)) from error


def refuse_interpreter(recorder: Recorder) -> None:
    """Under TRITON_INTERPRET nothing is compiled. SystemExit, so that no ``except Exception`` goes on without."""
    if os.environ.get("TRITON_INTERPRET", "").lower() in INTERPRETED:
        recorder.tell("interpreted")
        raise SystemExit("irdiff: the program set TRITON_INTERPRET: kernels would be interpreted, not compiled")


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


def describe(module: Any, source: Any, target: Any, options: Any) -> dict[str, Any]:
    """The specialization of one compilation, whatever release wrote it."""
    if target is None:
        target = sys.modules["triton.runtime.driver"].driver.active.get_current_target()
    backend = module.make_backend(target)
    triton, library = sys.modules["triton"], sys.modules["triton._C.libtriton"]
    ask = getattr(library, "get_cache_invalidating_env_vars", dict)
    full = vars(backend.parse_options(dict(options or {})))
    fields: dict[str, Any] = {
        "triton": triton.__version__,
        "target": "{}:{}".format(target.backend, target.arch),
        "warp_size": getattr(target, "warp_size", None),
        "options": {name: plain(value) for name, value in sorted(full.items())},
        "options_given": {name: plain(value) for name, value in (options or {}).items()},
        "environment": {str(name): str(value) for name, value in ask().items()},
        "compiler": str(backend.hash()),
        "cache": os.environ.get("TRITON_CACHE_DIR"),
    }
    if isinstance(source, str):
        kind = os.path.splitext(source)[1][1:]
        named = {"file": source, "sha256": digest(source), "kind": kind}
        return dict(fields, kernel=os.path.splitext(os.path.basename(source))[0], source=named)
    function = source.fn
    file = inspect.getsourcefile(function.fn) or ""
    fields["kernel"] = source.name
    fields["source"] = {
        "file": file,
        "sha256": digest(file),
        "kind": "python",
        "line": getattr(function, "starting_line_number", None),
        "dependencies": hashlib.sha256(str(function.cache_key).encode()).hexdigest(),
    }
    return dict(fields, **specialization(source, list(function.arg_names)))


def specialization(source: Any, names: list[str]) -> dict[str, Any]:
    """Signature, constexprs and attributes of an ``ASTSource`` by parameter name.

    To 3.2 constants go by name or index and the signature has runtime arguments alone; from 3.3 on constants and
    attributes go by path, a tuple of indices.
    """
    told = {name_of(key, names): kind for key, kind in source.signature.items()}
    constants = {name_of(key, names): plain(value) for key, value in source.constants.items()}
    return {
        "signature": {name: plain(told.get(name, "constexpr")) for name in names},
        "constexprs": constants,
        "attributes": attributes(source.attrs, names),
    }


def name_of(key: Any, names: list[str]) -> str:
    """``x``, or ``x.0.1`` inside tuples."""
    if isinstance(key, tuple):
        return ".".join([names[key[0]], *map(str, key[1:])])
    return names[key] if isinstance(key, int) else str(key)


def attributes(found: Any, names: list[str]) -> dict[str, dict[str, int]]:
    """Attributes by parameter. A dictionary from 3.3 on; before, objects of three shapes."""
    told: dict[str, dict[str, int]] = {}
    if isinstance(found, dict):
        for path, several in found.items():
            told[name_of(path, names)] = {str(name): int(value) for name, value in several}
    elif hasattr(found, "arg_properties"):  # 3.2
        for kind, arguments in found.arg_properties.items():
            for index in arguments:
                if kind != "tt.equal_to":
                    told.setdefault(name_of(index, names), {})[kind] = int(found.property_values[kind])
    else:  # 3.0 and 3.1
        for index in sorted(getattr(found, "divisible_by_16", ())):
            told[name_of(index, names)] = {"tt.divisibility": 16}
    return told


def stage_times(times: Any) -> dict[str, float]:
    """Seconds by stage, of Triton's ``CompileTimes`` (microseconds)."""
    if times is None:
        return {}
    stages = [("source", times.ir_initialization), *times.lowering_stages, ("store", times.store_results)]
    return {str(name): took / 1e6 for name, took in stages}


def digest(path: str) -> str:
    """SHA-256 of a file; Inductor's are gone when the program has ended."""
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return ""


def plain(thing: Any) -> Any:
    """A value as JSON has it; what JSON has no word for becomes an object that says what it was."""
    if isinstance(thing, float) and (thing != thing or thing in (float("inf"), float("-inf"))):
        return {"float": repr(thing)}
    if thing is None or isinstance(thing, (bool, int, float, str)):
        return thing
    if isinstance(thing, (tuple, list)):
        return [plain(each) for each in thing]
    if isinstance(thing, (set, frozenset)):
        return sorted(map(str, thing))
    if isinstance(thing, dict):
        return {str(name): plain(each) for name, each in thing.items()}
    kind = type(thing).__name__
    if kind == "dtype":
        return {"dtype": str(thing)}
    if kind == "constexpr" and hasattr(thing, "value"):
        return plain(thing.value)
    if kind in ("JITFunction", "GluonJITFunction"):
        return {"function": getattr(thing, "__name__", "?")}
    return {"repr": repr(thing)[:200]}


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


def note_bench(
    recorder: Recorder, tuner: Any, named: dict[str, Any], hashes: list[str], timing: Any
) -> None:
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
    # No hash: it was compiled before, for another key.
    session["configs"].append(
        {"config": plain(config.all_kwargs()), "milliseconds": took, "hashes": hashes or list(known)}
    )
    kernel = getattr(getattr(tuner, "base_fn", tuner.fn), "__name__", "?")
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
