"""What is to be compiled: requests with lists of values, expanded into jobs in a fixed order."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from irdiff.compile.items import Argument, Item, ValueItem, spell, spell_signature
from irdiff.compile.targets import at_least, warp_size
from irdiff.errors import InputError, UsageError
from irdiff.model.bundle import Target

SourceKind: TypeAlias = Literal["python", "ttir", "ttgir"]
SOURCES: dict[str, SourceKind] = {".py": "python", ".ttir": "ttir", ".ttgir": "ttgir"}
"""Suffix of a file to what it holds. Triton compiles from no later stage."""

MAX_JOBS = 100_000
MAX_SHOWN = 60
"""Characters of a signature in a table."""


class Needs(msgspec.Struct, frozen=True, kw_only=True):
    """What a kernel cannot be compiled without; where it is missing the job is skipped and says so."""

    targets: tuple[Target, ...] = ()
    """For ``cuda`` the oldest architecture, for ``hip`` each one that will do; other backends all will."""
    triton: str | None = None
    """The oldest release."""
    why: str = ""
    """What it needs them for."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel as it was asked for; every list may have several values."""

    file: Path
    shown: str
    """The file as messages and records name it: relative, or its name alone."""
    kernel: str | None = None
    """``None``: the only kernel of the file."""
    label: str = ""
    """Name of this specialization, where it was given one."""
    arguments: tuple[Argument, ...] = ()
    settings: dict[str, tuple[Item, ...]] = {}
    options: dict[str, tuple[Item, ...]] = {}
    targets: tuple[Target, ...] = ()
    needs: Needs = Needs()


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One compilation."""

    file: str
    """Absolute path."""
    shown: str
    kind: SourceKind
    content: str
    """SHA-256 of the file."""
    kernel: str | None
    label: str
    specialization: str
    """What tells this job from its neighbours, on one line."""
    arguments: tuple[Argument, ...]
    settings: dict[str, Item]
    options: dict[str, Item]
    target: Target
    warp_size: int
    needs: Needs = Needs()

    @property
    def name(self) -> str:
        """The kernel as tables name it before it is known better."""
        return self.kernel or Path(self.shown).stem

    @property
    def slot(self) -> str:
        """What is compiled, whatever the file holds at the moment: 16 hex digits of SHA-256."""
        return _digest(
            {
                "file": self.shown,
                "kernel": self.kernel,
                "arguments": self.arguments,
                "settings": self.settings,
                "options": self.options,
                "target": str(self.target),
            }
        )[:16]

    def key(self, build: str, environment: dict[str, str]) -> str:
        """What decides the result: the slot, the file's content, the compiler, the variables it reads."""
        return _digest(
            {"slot": self.slot, "content": self.content, "build": build, "environment": environment}
        )


def expand(requests: list[Request]) -> list[Job]:
    """Every combination, each once: in the order of requests, then values (the first list varies slowest), targets.

    Raises UsageError for a request that cannot mean anything, InputError for a file that cannot be read.
    """
    jobs: dict[str, Job] = {}
    for request in requests:
        kind = _kind(request)
        content = _content(request)
        names = (*request.settings, *request.options)
        lists = [*request.settings.values(), *request.options.values()]
        for values in itertools.product(*lists):
            chosen = dict(zip(names, values, strict=True))
            for target in request.targets:
                job = Job(
                    file=str(request.file.resolve()),
                    shown=request.shown,
                    kind=kind,
                    content=content,
                    kernel=request.kernel,
                    label=request.label,
                    specialization=_described(request, chosen),
                    arguments=request.arguments,
                    settings={name: chosen[name] for name in request.settings},
                    options={name: chosen[name] for name in request.options},
                    target=target,
                    warp_size=warp_size(target),
                    needs=request.needs,
                )
                jobs.setdefault(job.slot, job)
                if len(jobs) > MAX_JOBS:
                    raise UsageError(
                        f"the lists of values make more than {MAX_JOBS:,} combinations", where=request.shown
                    )
    return list(jobs.values())


def _kind(request: Request) -> SourceKind:
    kind = SOURCES.get(request.file.suffix)
    if kind is None:
        raise UsageError(
            "is no file that Triton compiles",
            where=request.shown,
            hint="a Python file as FILE.py::KERNEL, or a .ttir or .ttgir file; no Triton compiles from a later stage",
        )
    if kind != "python" and (request.arguments or request.settings or request.kernel):
        raise UsageError(
            "is compiled as it is: it has its signature in it",
            where=request.shown,
            hint="leave ::KERNEL, --signature and --set out",
        )
    both = sorted(request.settings.keys() & request.options.keys())
    if both:
        raise UsageError(f"{both[0]} is both a parameter and an option", where=request.shown)
    return kind


def _content(request: Request) -> str:
    try:
        return hashlib.sha256(request.file.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror or error}",
            where=request.shown,
            hint="name it as FILE.py::KERNEL",
        ) from None


def _described(request: Request, chosen: Mapping[str, Item]) -> str:
    """The label with the values that vary, or else all that was given by name, or else the signature."""
    lists = {**request.settings, **request.options}
    parts = [request.label] if request.label else []
    if not parts and not request.settings and request.arguments:
        text = spell_signature(request.arguments)
        parts.append(text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…")
    for name, item in chosen.items():
        if not request.label or len(lists[name]) > 1:
            parts.append(f"{name}={item.text if isinstance(item, ValueItem) else spell(item)}")
    return " ".join(parts)


def _digest(value: object) -> str:
    return hashlib.sha256(msgspec.json.encode(value, order="deterministic")).hexdigest()


def lacks_target(job: Job) -> str | None:
    """Why a job cannot be compiled for its target, where its request says so."""
    needed = [each for each in job.needs.targets if each.backend == job.target.backend]
    if not needed or any(at_least(job.target, each) for each in needed):
        return None
    places = ", ".join(f"{each} or newer" if each.backend == "cuda" else str(each) for each in needed)
    return f"needs {job.needs.why or 'what this target is without'}: {places}"


def lacks_release(job: Job, release: str) -> str | None:
    """Why a job cannot be compiled by a Triton, where its request says so."""
    needed = job.needs.triton
    if needed is None or _numbers(release) >= _numbers(needed):
        return None
    return (
        f"needs Triton {needed} or newer{f' for {job.needs.why}' if job.needs.why else ''}; this is {release}"
    )


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"[0-9]{1,9}", release)[:3])
