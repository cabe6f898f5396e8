"""Compiles kernels with the Triton of the interpreter it runs under, one job a line: needs Python and Triton alone.

    PYTHON worker.py

Jobs come as JSON lines on standard input, events go as JSON lines to what standard output was at the start;
everything that Triton, kernels and compilers print goes to standard error. ``protocol.py`` has the messages. Runs
under Triton 3.0 to 3.9 and Python 3.8 and newer; where releases differ, the branch names them. Nothing of irdiff
is imported here, because irdiff need not be installed in that interpreter.
"""

from __future__ import annotations

import contextlib
import difflib
import faulthandler
import hashlib
import importlib
import importlib.util
import inspect
import io
import json
import mmap
import os
import platform
import re
import sys
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # names of annotations alone, which Python 3.8 does not evaluate
    # Any: Triton has no types, and messages are JSON.
    Job = dict[str, Any]
    Item = dict[str, Any]
    Path_ = tuple[int, ...]  # index of a parameter, then indices into tuples

PROTOCOL = 1
FIXED = "IRDIFF_WORKER_ADDRESSES_FIXED"
ADDR_NO_RANDOMIZE = 0x0040000  # linux/personality.h
PR_SET_PDEATHSIG, SIGKILL = 1, 9  # linux/prctl.h
LLVM_NAME = re.compile(rb"LLVM version ([0-9][0-9A-Za-z.]{2,30}(?: \([0-9a-f]{7,40}\))?)")
LLVM_SEARCHED = 256 << 20  # bytes of the library in which LLVM's name has been found in every release
DTYPES = {
    "i1": "int1", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u1": "int1", "u8": "uint8",
    "u16": "uint16", "u32": "uint32", "u64": "uint64", "fp8e4nv": "float8e4nv", "fp8e4b8": "float8e4b8",
    "fp8e4b15": "float8e4b15", "fp8e5": "float8e5", "fp8e5b16": "float8e5b16", "fp16": "float16",
    "bf16": "bfloat16", "fp32": "float32", "fp64": "float64",
}  # fmt: skip
KINDS = {"source": "front-end", "ttir": "pass", "ttgir": "pass", "cubin": "assembler", "hsaco": "assembler"}


class Failed(Exception):  # noqa: N818  # an outcome, not a fault
    """A job that ends without an entry, for a reason found here."""

    def __init__(self, kind: str, message: str, line: int | None = None, detail: str | None = None) -> None:
        super().__init__(message)
        self.kind, self.message, self.line, self.detail = kind, message, line, detail


class Channel:
    """The way to the other side, kept away from what anything here prints."""

    def __init__(self) -> None:
        self.jobs = os.fdopen(os.dup(0), "r", encoding="utf-8")
        self.events = os.fdopen(os.dup(1), "w", encoding="utf-8")
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(2, 1)
        os.close(null)

    def tell(self, event: str, **fields: Any) -> None:
        """Send one event."""
        self.events.write(json.dumps({"event": event, **fields}) + "\n")
        self.events.flush()


class Clock:
    """Stages of the running job and how long each took; tells the other side which one began."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.reset(None)

    def reset(self, job: int | None) -> None:
        """Start anew."""
        self.job = job
        self.stage: str | None = None
        self.times: dict[str, float] = {}
        self.began = self.since = time.perf_counter()

    def enter(self, stage: str) -> None:
        """The time since the last call was the last stage's."""
        now = time.perf_counter()
        name = self.stage or "setup"
        self.times[name] = self.times.get(name, 0.0) + now - self.since
        self.stage, self.since = stage, now
        self.channel.tell("stage", job=self.job, stage=stage)

    def stop(self) -> float:
        """The time since the last stage began is that stage's; seconds since the start."""
        now = time.perf_counter()
        name = self.stage or "setup"
        self.times[name] = self.times.get(name, 0.0) + now - self.since
        return now - self.began


class Compiler:
    """One Triton, as far as its releases differ."""

    def __init__(self, channel: Channel) -> None:
        self.triton = importlib.import_module("triton")
        self.language = importlib.import_module("triton.language")
        self.module = importlib.import_module("triton.compiler.compiler")
        self.backends = importlib.import_module("triton.backends.compiler")
        self.library = importlib.import_module("triton._C.libtriton")
        self.version: str = self.triton.__version__
        self.clock = Clock(channel)
        self.log = ""
        self.timed: set[type] = set()
        self.loaded: dict[str, Any] = {}

    def describe(self) -> dict[str, str | None]:
        """What is the same for all jobs, slow to find out: LLVM's name and a digest of Triton's own files."""
        key = getattr(self.module, "triton_key", None)  # to 3.5
        if key is None:
            key = importlib.import_module("triton.runtime.cache").triton_key
        return {"build": hashlib.sha256(key().encode()).hexdigest()[:16], "llvm": self.llvm()}

    def llvm(self) -> str | None:
        """LLVM's version string in the library; the one with a commit where there is one."""
        found = None
        with Path(str(self.library.__file__)).open("rb") as file:
            library = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        with library as data:
            at = data.find(b"LLVM version ", 0, LLVM_SEARCHED)
            while at >= 0:
                match = LLVM_NAME.match(data, at, at + 100)
                if match and (found is None or b"(" in match[1]):
                    found = match[1].decode()
                    if "(" in found:
                        break
                end = min(LLVM_SEARCHED, at + (32 << 20)) if found else LLVM_SEARCHED
                at = data.find(b"LLVM version ", at + 1, end)
        return found

    def environment(self) -> dict[str, str]:
        """Variables that are set and part of the cache key."""
        ask = getattr(self.library, "get_cache_invalidating_env_vars", None)  # 3.0 to 3.9
        return dict(ask()) if ask else {}

    def gpu(self) -> Any:
        """The target of the GPU that is here."""
        active = importlib.import_module("triton.runtime").driver.active
        return active.get_current_target()

    def compile(self, job: Job) -> dict[str, Any]:
        """Do one job and return the fields of its result."""
        target = job["target"]
        arch = int(target["arch"]) if target["arch"].isdigit() else target["arch"]
        gpu = self.backends.GPUTarget(target["backend"], arch, job["warp_size"])
        said = {"name": job["kernel"]}
        try:
            backend = self.backend(gpu)
            said["ptxas"] = ptxas_of(backend)
            source, dependencies = self.source(job, said)
            if dependencies is not None and dependencies == job["known"]:
                return dict(said, status="unchanged")
            given = {name: value(item) for name, item in job["options"].items()}
            said["options"] = self.options(backend, given)
            self.log = ""
            os.environ["TRITON_CACHE_DIR"] = job["cache"]
            self.triton.compile(source, target=gpu, options=given)
        except Failed as error:
            return dict(
                said, status="failed", failure=failure(error.kind, error.message, error.line, error.detail)
            )
        except BaseException as error:  # whatever a kernel or Triton raises is the result of this job
            if isinstance(error, KeyboardInterrupt):
                raise
            traceback.print_exc()
            return dict(said, status="failed", failure=self.explain(error, job))
        return dict(said, status="compiled", ptxas_log=self.log or None)

    def backend(self, gpu: Any) -> Any:
        """Triton's backend for a target, its stages timed from now on."""
        try:
            backend = self.module.make_backend(gpu)
        except Exception as error:
            names = ", ".join(sorted(importlib.import_module("triton.backends").backends))
            message = f"this Triton has no backend for {gpu.backend}:{gpu.arch}; it has: {names}"
            raise Failed("target", message) from error
        if type(backend) not in self.timed:
            self.timed.add(type(backend))
            time_stages(type(backend), self)
        return backend

    def options(self, backend: Any, given: dict[str, Any]) -> dict[str, Any]:
        """Every option with its value, defaults filled in; Triton itself ignores names it does not know."""
        try:
            full = backend.parse_options(dict(given))
        except Exception as error:
            raise Failed("option", f"{type(error).__name__}: {first_line(error)}") from error
        known = dict(vars(full))
        for name in given:
            if name not in known:
                near = difflib.get_close_matches(name, sorted(known), n=3)
                hint = (
                    "did you mean {}?".format(" or ".join(near))
                    if near
                    else "it has: " + ", ".join(sorted(known))
                )
                raise Failed("option", f"this backend has no option {name}; {hint}")
        return {name: plain(each) for name, each in sorted(known.items())}

    def source(self, job: Job, said: dict[str, Any]) -> tuple[Any, str | None]:
        """What ``triton.compile`` takes, and Triton's key of the kernel with all it calls."""
        if job["kind"] != "python":
            return job["file"], None
        fn = self.kernel(job)
        said["name"] = fn.__name__
        said["line"] = getattr(fn, "starting_line_number", None)
        arguments = Arguments(self, fn, job)
        said.update(
            signature=arguments.told(), constexprs=arguments.constexprs(), attributes=arguments.attributes()
        )
        dependencies = hashlib.sha256(str(fn.cache_key).encode()).hexdigest()
        said["dependencies"] = dependencies
        return arguments.source(), dependencies

    def kernel(self, job: Job) -> Any:
        """The kernel's function, also inside ``autotune`` and ``heuristics``."""
        module = self.load(job["file"])
        jitted = self.triton.runtime.jit.JITFunction

        def function(thing: Any) -> Any:
            while not isinstance(thing, jitted) and hasattr(thing, "fn"):
                thing = thing.fn
            return thing if isinstance(thing, jitted) else None

        here = {
            name: found
            for name, thing in vars(module).items()
            for found in [function(thing)]
            if found is not None
        }
        name = job["kernel"]
        if name is None:
            own = sorted(name for name, found in here.items() if found.fn.__module__ == module.__name__)
            if len(own) == 1:
                return here[own[0]]
            listed = "which one: FILE::" + ", FILE::".join(own) if own else "it has no @triton.jit function"
            raise Failed("load", f"the file has {len(own)} kernels; {listed}")
        if name in here:
            return here[name]
        if hasattr(module, name):
            raise Failed("load", f"{name} is no kernel: it has no @triton.jit")
        near = difflib.get_close_matches(name, sorted(here), n=3, cutoff=0.4) or sorted(here)[:10]
        message = "there is no kernel {}; the file has {}".format(name, ", ".join(near) or "none")
        raise Failed("load", message)

    def load(self, path: str) -> Any:
        """The user's module, imported once, as part of its package where it lies in one."""
        if path not in self.loaded:
            folder, name = Path(path).parent, Path(path).stem
            while (folder / "__init__.py").is_file():
                folder, name = folder.parent, f"{folder.name}.{name}"
            sys.path.insert(0, str(folder))
            try:
                self.loaded[path] = import_file(name, path)
            except (
                BaseException
            ) as error:  # SystemExit too: the file's fault, and the result of each of its jobs
                if isinstance(error, KeyboardInterrupt):
                    raise
                traceback.print_exc()
                message = f"importing it failed: {type(error).__name__}: {first_line(error)}"
                self.loaded[path] = Failed("load", message, line_in(path, error))
        if isinstance(self.loaded[path], Failed):
            raise self.loaded[path]
        return self.loaded[path]

    def explain(self, error: BaseException, job: Job) -> dict[str, Any]:
        """A failure inside ``triton.compile``."""
        stage = self.clock.stage
        name = type(error).__name__
        message = f"{name}: {first_line(error)}" if first_line(error) else name
        if stage is None or stage == "source":
            return explain_front_end(error, job["file"], message)
        return failure(KINDS.get(stage, "code-generation"), message, None, str(error))


class Arguments:
    """A job's items bound to the parameters of a kernel."""

    def __init__(self, compiler: Compiler, fn: Any, job: Job) -> None:
        self.compiler, self.fn, self.hip = compiler, fn, job["target"]["backend"] == "hip"
        self.modern = (
            "constexprs" in inspect.signature(compiler.module.ASTSource.__init__).parameters
        )  # from 3.3
        self.types: dict[str, Any] = {}
        self.values: dict[Path_, Any] = {}
        self.hints: dict[Path_, list[str]] = {}
        items = self.items(job)
        missing = []
        for index, parameter in enumerate(fn.params):
            item = items.get(parameter.name, {"item": "constexpr"})
            if item["item"] == "constexpr":
                if parameter.has_default and (parameter.is_constexpr or parameter.default is None):
                    self.types[parameter.name] = "constexpr"
                    self.values[(index,)] = parameter.default
                else:
                    missing.append(parameter.name)
                continue
            self.types[parameter.name] = self.bind((index,), item, parameter.is_constexpr)
        if missing:
            takes = ", ".join(fn.arg_names)
            raise Failed(
                "signature", "nothing is given for {}; the kernel takes {}".format(", ".join(missing), takes)
            )

    def items(self, job: Job) -> dict[str, Item]:
        """Parameter to item; those given by name after those by position."""
        names = list(self.fn.arg_names)
        items: dict[str, Item] = {}
        for index, argument in enumerate(job["arguments"]):
            if argument["name"] is None and index >= len(names):
                text = "the signature has {} items, the kernel takes {}: {}"
                raise Failed("signature", text.format(len(job["arguments"]), len(names), ", ".join(names)))
            items[argument["name"] or names[index]] = argument["item"]
        items.update(job["settings"])
        for name in items:
            if name not in names:
                near = difflib.get_close_matches(name, names, n=3) or names
                raise Failed(
                    "signature", "there is no parameter {}; there is {}".format(name, ", ".join(near))
                )
        return items

    def bind(self, path: Path_, item: Item, constexpr: bool) -> Any:  # noqa: FBT001
        """Take note of an item's value and hints, and return its type."""
        if item["item"] == "tuple" and not (constexpr and only_values(item)):
            if not self.modern:
                raise Failed("signature", f"Triton {self.compiler.version} takes no tuples")
            return tuple(
                self.bind((*path, index), each, constexpr) for index, each in enumerate(item["items"])
            )
        if item["item"] == "type" and not constexpr:
            if "1" in item["hints"]:
                self.values[path] = 1
            self.hints[path] = item["hints"]
            return "constexpr" if "1" in item["hints"] and self.modern else item["type"]
        self.values[path] = self.dtype(item, path) if item["item"] == "type" else value(item)
        return "constexpr"

    def dtype(self, item: Item, path: Path_) -> Any:
        """The value of a constexpr that is a type."""
        if item["hints"] or item["type"] not in DTYPES:
            text = "{} is a constexpr: {} is no value for it"
            raise Failed(
                "signature", text.format(self.fn.arg_names[path[0]], ":".join([item["type"], *item["hints"]]))
            )
        return getattr(self.compiler.language, DTYPES[item["type"]])

    def name(self, path: Path_) -> str:
        """``parameter``, or ``parameter.0.1`` inside tuples."""
        return ".".join([self.fn.arg_names[path[0]], *map(str, path[1:])])

    def told(self) -> dict[str, Any]:
        """Parameter to type."""
        return {name: plain(kind) for name, kind in self.types.items()}

    def constexprs(self) -> dict[str, Any]:
        """Parameter to value."""
        return {self.name(path): plain(each) for path, each in self.values.items()}

    def attributes(self) -> dict[str, dict[str, int]]:
        """Parameter to attributes."""
        return {self.name(path): dict(found) for path, found in self.found().items()}

    def found(self) -> dict[Path_, list[list[Any]]]:
        """Attributes by path; a buffer's range is told to AMD's backend alone, as Triton's own launcher does."""
        every = {
            path: [["tt.divisibility", 16]] * ("16" in hints)
            + [["tt.pointer_range", 32]] * ("range32" in hints and self.hip)
            for path, hints in self.hints.items()
        }
        return {path: found for path, found in every.items() if found}

    def source(self) -> Any:
        """An ``ASTSource``, whose constructor has changed."""
        make = self.compiler.module.ASTSource
        if self.modern:
            if getattr(self.fn, "is_gluon", bool)():
                make = importlib.import_module("triton.experimental.gluon._runtime").GluonASTSource
            return make(self.fn, signature=dict(self.types), constexprs=dict(self.values), attrs=self.found())
        # To 3.2: constants by name, and the signature names runtime arguments only.
        constants = {self.fn.arg_names[path[0]]: each for path, each in self.values.items()}
        signature = {name: kind for name, kind in self.types.items() if kind != "constexpr"}
        numbers = {
            path[0]: 1 if "1" in hints else 16
            for path, hints in self.hints.items()
            if {"1", "16"} & set(hints)
        }
        holder = (
            getattr(self.compiler.module, "AttrsDescriptor", None) or self.compiler.backends.AttrsDescriptor
        )
        if hasattr(holder, "from_hints"):  # 3.2
            attributes = holder.from_hints(numbers)
        else:
            divisible = {index for index, number in numbers.items() if number == 16}
            ones = {index for index, number in numbers.items() if number == 1}
            attributes = holder(divisible_by_16=divisible, equal_to_1=ones)
        return make(self.fn, signature=signature, constants=constants, attrs=attributes)


def only_values(item: Item) -> bool:
    """Whether a tuple holds no type."""
    return all(
        only_values(each) if each["item"] == "tuple" else each["item"] == "value" for each in item["items"]
    )


def value(item: Item) -> Any:
    """The Python value of a constexpr item or an option."""
    if item["item"] == "tuple":
        return tuple(value(each) for each in item["items"])
    if item["item"] == "type":
        return item["type"]
    text = item["text"]
    kind = item["kind"]
    if kind in ("bool", "none"):
        return text == "True" if kind == "bool" else None
    return int(text) if kind == "int" else float(text) if kind == "float" else text


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
    if type(thing).__name__ == "dtype":
        return {"dtype": str(thing)}
    return {"repr": repr(thing)[:200]}


def time_stages(backend: Any, compiler: Compiler) -> None:
    """Wrap the stages that a backend adds, so that each says when it begins."""
    add_stages = backend.add_stages

    def add(self: Any, stages: dict[str, Any], *rest: Any, **named: Any) -> None:
        add_stages(self, stages, *rest, **named)
        for name, make in list(stages.items()):
            stages[name] = timed(name, make, compiler)
        compiler.clock.enter("source")

    backend.add_stages = add


def timed(name: str, make: Any, compiler: Compiler) -> Any:
    """A stage that says when it begins, and keeps what ptxas said."""

    def stage(*arguments: Any, **named: Any) -> Any:
        compiler.clock.enter(name)
        if name != "cubin":
            return make(*arguments, **named)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):  # knobs.nvidia.dump_ptxas_log prints it, from 3.4 on
            made = make(*arguments, **named)
        compiler.log = said.getvalue()
        return made

    return stage


def ptxas_of(backend: Any) -> str | None:
    """The assembler's release, which is part of a CUDA backend's hash in every release."""
    try:
        text = str(backend.hash())
    except Exception as error:  # an assembler or linker that is not there
        raise Failed("target", f"{type(error).__name__}: {first_line(error)}") from error
    match = re.search(r"release ([0-9.]+, V[0-9.]+)", text)
    return match[1] if match else None


def import_file(name: str, path: str) -> Any:
    """Import a file by its path; a module of a package by its name."""
    if "." in name:
        return importlib.import_module(name)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def line_in(path: str, error: BaseException) -> int | None:
    """The line of a file that an exception came through last."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return lines[-1] if lines else None


def explain_front_end(error: BaseException, path: str, message: str) -> dict[str, Any]:
    """A failure while Python became TTIR: the line, and the innermost reason."""
    line, detail = None, None
    seen: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in seen:
        seen.append(cause)
        cause = cause.__cause__ or cause.__context__
    text = Path(path).read_text(encoding="utf-8", errors="replace")
    for each in seen:
        source, offset = getattr(each, "src", None), getattr(getattr(each, "node", None), "lineno", None)
        if isinstance(source, str) and isinstance(offset, int):
            at = text.find(source)
            if at >= 0:
                line = text.count("\n", 0, at) + offset
            said = getattr(each, "error_message", None)
            label = (
                "static_assert failed"
                if type(each).__name__ == "CompileTimeAssertionFailure"
                else type(each).__name__
            )
            message = label + (": " + str(said).strip() if said else "")
            detail = str(each)
        elif first_line(each):
            message = f"{type(each).__name__}: {first_line(each)}"
    return failure(
        "front-end", message.splitlines()[0], line if line is not None else line_in(path, error), detail
    )


def failure(kind: str, message: str, line: int | None = None, detail: str | None = None) -> dict[str, Any]:
    """The fields of a failure."""
    return {"kind": kind, "message": message, "line": line, "detail": detail}


def first_line(error: BaseException) -> str:
    """The first line of an exception that says something."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "")


def steady() -> None:
    """Make runs repeatable and orphans impossible, where Linux can.

    ptxas 12.9 gives other code for sm_100 with other addresses, so address space randomisation goes off, for this
    process (which starts itself anew) and the assemblers it starts. Where that is forbidden all else still works.
    """
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)
    if os.environ.get(FIXED) is None:
        os.environ[FIXED] = "1"
        before = libc.personality(0xFFFFFFFF)
        if (
            before >= 0
            and not before & ADDR_NO_RANDOMIZE
            and libc.personality(before | ADDR_NO_RANDOMIZE) >= 0
        ):
            os.execv(sys.executable, [sys.executable, str(Path(__file__).resolve())])  # noqa: S606  # no shell wanted


def main() -> None:
    """Say hello, then do jobs until there are none."""
    steady()
    sys.path.pop(0)  # this script's folder: its neighbours must not be found in place of the user's modules
    faulthandler.enable(2)
    channel = Channel()
    about: dict[str, Any] = {
        "python": platform.python_version(),
        "platform": f"{sys.platform}-{platform.machine()}",
    }
    try:
        compiler = Compiler(channel)
        about.update(triton=compiler.version, environment=compiler.environment(), **compiler.describe())
    except BaseException as error:  # noqa: BLE001  # whatever it is, the other side is told
        traceback.print_exc()
        missing = isinstance(error, ModuleNotFoundError) and error.name == "triton"
        reason = f"{type(error).__name__}: {first_line(error)}"
        channel.tell("unavailable", protocol=PROTOCOL, missing=missing, reason=reason, **about)
        return
    channel.tell("hello", protocol=PROTOCOL, **about)
    for line in channel.jobs:
        job = json.loads(line)
        if job["ask"] == "gpu":
            try:
                gpu = compiler.gpu()
                channel.tell("gpu", backend=gpu.backend, arch=str(gpu.arch))
            except BaseException as error:  # noqa: BLE001  # no driver: each release says it in its own way
                channel.tell("gpu", reason=f"{type(error).__name__}: {first_line(error)}")
            continue
        compiler.clock.reset(job["job"])
        result = compiler.compile(job)
        clock = compiler.clock
        total = clock.stop()
        channel.tell("result", job=job["job"], stage=clock.stage, times=clock.times, total=total, **result)


if __name__ == "__main__":
    main()
