"""``irdiff.json``: what was compiled, with what, and what came of it. Schema ``irdiff-entry/1``, additive."""

from __future__ import annotations

import re
from typing import Any, Literal, TypeAlias

import msgspec

FailureKind: TypeAlias = Literal[
    "load",  # the file could not be imported, or holds no such kernel
    "signature",  # the items do not fit the kernel's parameters
    "option",  # an option that this Triton's backend does not have or refuses
    "target",  # this Triton compiles for no such target
    "front-end",  # Python to TTIR: errors of the kernel, static_assert
    "pass",  # a pass of TTIR or TTGIR failed
    "code-generation",  # LLVM
    "assembler",  # ptxas, or AMD's linker
    "out-of-resources",  # compiled, but needs more than a program may use there: it could not be launched
    "crash",  # the compiler's process died
    "timeout",  # it ran longer than it may
    "worker",  # the process did not speak as a worker does
]
Json: TypeAlias = Any  # JSON of options and constexprs is open-ended


class Failure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why a kernel did not compile."""

    kind: FailureKind
    message: str
    """One line."""
    stage: str | None = None
    """The stage that was being made: ``source`` (front end), ``ttir`` … ``cubin``; ``None`` before the first."""
    line: int | None = None
    """Line of the kernel's file, from 1."""
    detail: str | None = None
    """More of what the compiler said, at most 4,000 characters."""


class Source(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where the kernel came from."""

    file: str
    """Relative to where irdiff ran, or the file's name alone."""
    sha256: str
    """Of the file's content."""
    kind: str = "python"
    """``python``, ``ttir`` or ``ttgir``."""
    line: int | None = None
    """First line of the kernel, decorators included, from 1."""
    dependencies: str | None = None
    """Triton's own key of the kernel's source and of everything it calls (``JITFunction.cache_key``)."""


class Provenance(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What compiled it. Names of no user and no host."""

    irdiff: str
    triton: str
    build: str | None = None
    """Digest of Triton's key of its own files: tells two source builds of one release apart."""
    llvm: str | None = None
    """As the library names itself, with the commit where it says it: ``22.0.0git (f6ded0b…)``."""
    ptxas: str | None = None
    """``12.8, V12.8.93``."""
    python: str | None = None
    platform: str | None = None
    """``linux-x86_64``."""


class Resources(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one thread or program uses, as someone else than irdiff says."""

    registers: int | None = None
    """32-bit registers of one thread."""
    stack: int | None = None
    """Bytes of one thread."""
    spill_stores: int | None = None
    """Bytes of one thread."""
    spill_loads: int | None = None
    """Bytes of one thread."""
    local: int | None = None
    """Bytes of local memory of one thread, as the driver reports them."""


class Times(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How long it took, in seconds: the one field in which two runs differ."""

    total: float = 0.0
    stages: dict[str, float] = {}
    """``setup`` (until the first stage: keys and hashes), ``source`` (front end), then the stages in order."""
    ptxas: float | None = None
    """As ptxas says itself."""


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The content of one ``irdiff.json``, or of one file in ``failed/``."""

    schema: Literal["irdiff-entry/1"]
    status: Literal["compiled", "failed"]
    origin: Literal["compile", "run"] = "compile"
    """``compile``: ahead of time; ``run``: captured from a program."""
    kernel: str
    target: str
    """``cuda:90``."""
    entry: str | None = None
    """Name of the entry's folder: Triton's cache key."""
    label: str | None = None
    source: Source
    signature: dict[str, Json] = {}
    """Parameter to type, in order; ``constexpr`` for those in ``constexprs``; a list for a tuple."""
    constexprs: dict[str, Json] = {}
    """Parameter (``name`` or ``name.0.1`` inside tuples) to value. JSON where JSON has the value, else an object:
    ``{"dtype": "fp16"}``, ``{"float": "inf"}``, ``{"tuple": […]}``."""
    attributes: dict[str, dict[str, int]] = {}
    """Parameter to attributes, as ``{"tt.divisibility": 16}``."""
    options_given: dict[str, Json] = {}
    options: dict[str, Json] = {}
    """Every option of the backend, defaults filled in. Of a path only its last part is kept."""
    environment: dict[str, str] = {}
    """Variables that were set and that Triton's cache key depends on. Of a path only its last part is kept."""
    provenance: Provenance
    slot: str = ""
    """What was asked for, whatever the source held then."""
    key: str = ""
    """What decides the result: equal keys need not be compiled again."""
    resources: Resources | None = None
    """As ptxas says in its log."""
    driver: Resources | None = None
    """As the GPU's driver says, where the kernel was loaded."""
    ptxas_log: str | None = None
    """What ptxas -v wrote while this entry was made (Triton 3.4 and newer print it), without times."""
    failure: Failure | None = None
    times: Times = Times()


def encode_entry(entry: Entry) -> bytes:
    """Indented JSON with a final newline; equal entries give equal bytes."""
    return msgspec.json.format(msgspec.json.encode(entry), indent=1) + b"\n"


def decode_entry(data: bytes) -> Entry | None:
    """An entry, or ``None`` where the bytes are none of this schema."""
    try:
        return msgspec.json.decode(data, type=Entry)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):  # ValidationError is a DecodeError
        return None


_FOLDERS = re.compile(r"(?<![\w:/.])/(?:[^\s/:'\",]+/)+")


def without_folders(text: str) -> str:
    """A text in which absolute paths have lost their folders: records are passed on, folders name people."""
    return _FOLDERS.sub("", text)
