"""Ask NVIDIA's driver about captured kernels, in a process of its own that may crash."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from irdiff.compile.record import Resources
from irdiff.errors import ToolError
from irdiff.tools.process import run_limited

PROBE = Path(__file__).parent / "inside" / "driver_probe.py"
TIMEOUT = 300.0
"""Seconds; loading a cubin takes about a millisecond."""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """One kernel and its launch."""

    cubin: str
    name: str
    arch: str
    threads: int
    """Of one CTA."""
    shared: int
    """Bytes of dynamic shared memory."""


class DriverSays(Resources, frozen=True, kw_only=True, omit_defaults=True):
    """What the driver says of one kernel: ``registers`` and ``local`` of one thread, and this."""

    shared: int | None = None
    """Bytes of static shared memory."""
    constant: int | None = None
    """Bytes of constant memory of the user."""
    max_threads: int | None = None
    """Of one CTA."""
    ctas_per_sm: int | None = None
    """CTAs of its launch that one multiprocessor holds at once, thread block clusters left aside."""
    device: str | None = None
    loaded_by: Literal["program", "irdiff"] = "irdiff"
    """Who loaded the kernel that ``registers`` and ``local`` were asked of."""
    error: str | None = None


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """All of it, in the order of the questions; or why there is nothing."""

    reason: str | None = None
    device: str | None = None
    arch: str | None = None
    answers: tuple[DriverSays, ...] = ()


def ask_driver(
    questions: Sequence[Question], python: str, folder: Path, environment: Mapping[str, str]
) -> Answers:
    """What the driver says; a reason, and no answers, where there is no driver or device."""
    if not questions:
        return Answers(reason="there is no machine code for NVIDIA")
    asked, answered = folder / "asked.json", folder / "answers.json"
    asked.write_bytes(msgspec.json.encode(questions))
    try:
        ended = run_limited(
            [python, str(PROBE), str(asked), str(answered)], environment=environment, timeout=TIMEOUT
        )
        answers = msgspec.json.decode(answered.read_bytes(), type=Answers)
    except (ToolError, OSError, msgspec.DecodeError) as error:
        return Answers(reason=f"asking the driver failed: {error}")
    if answers.reason is None and len(answers.answers) != len(questions):
        return Answers(reason=f"asking the driver ended early with exit code {ended.returncode}")
    return answers


def question(folder: Path, fields: Mapping[str, object]) -> Question | None:
    """What to ask of an entry, by its stage JSON; ``None`` where it is none for NVIDIA or incomplete."""
    name, target = fields.get("name"), fields.get("target")
    warps, shared = fields.get("num_warps"), fields.get("shared")
    if not (isinstance(name, str) and isinstance(target, dict) and target.get("backend") == "cuda"):
        return None
    cubins = sorted(folder.glob("*.cubin"))
    if not (cubins and isinstance(warps, int) and isinstance(shared, int)):
        return None
    return Question(
        cubin=str(cubins[0]), name=name, arch=str(target.get("arch")), threads=32 * warps, shared=shared
    )


def said_by(answers: Answers, at: int) -> DriverSays | None:
    """One answer with the device's name."""
    if at >= len(answers.answers):
        return None
    return msgspec.structs.replace(answers.answers[at], device=answers.device)
