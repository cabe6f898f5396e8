"""Run the user's program: its streams untouched, signals passed on, how it ended told."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from irdiff.compile.targets import warp_size
from irdiff.errors import ToolError
from irdiff.model.bundle import Target

SITE = Path(__file__).parent / "site"
DROPPED = ("TRITON_CACHE_MANAGER", "TRITON_REMOTE_CACHE_BACKEND")
"""Variables with which entries go elsewhere."""
PASSED_ON = (
    signal.SIGINT,
    signal.SIGTERM,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
FROM_KERNEL = 0x80  # SI_KERNEL, asm-generic/siginfo.h: the terminal's Ctrl-C, which the program got as well
DEVICES = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
COMPILE_ONLY = "IRDIFF_COMPILE_ONLY"
"""Set to the target in a program that runs without a GPU."""


class Work:
    """Where one run of a program puts what it makes."""

    def __init__(self, folder: Path) -> None:
        self.events = folder / "events"
        self.triton = folder / "triton"
        self.inductor = folder / "inductor"
        for each in (self.events, self.triton, self.inductor):
            each.mkdir(parents=True)


def program_environment(environment: Mapping[str, str], work: Work, target: Target | None) -> dict[str, str]:
    """The program's variables: fresh caches, and the recorder on Python's path in it and in all it starts."""
    made = {name: value for name, value in environment.items() if name not in DROPPED}
    path = made.get("PYTHONPATH")
    made["PYTHONPATH"] = f"{SITE}{os.pathsep}{path}" if path else str(SITE)
    made["TRITON_CACHE_DIR"] = str(work.triton)
    made["TORCHINDUCTOR_CACHE_DIR"] = str(work.inductor)
    made["IRDIFF_CAPTURE"] = str(work.events)
    made.pop(COMPILE_ONLY, None)
    settings: dict[str, object] = {"target": None}
    if target is not None:
        made[COMPILE_ONLY] = str(target)
        made.update(dict.fromkeys(DEVICES, ""))  # a GPU that is here has no part in it
        settings["target"] = {
            "backend": target.backend,
            "arch": target.arch,
            "warp_size": warp_size(target),
        }
    (work.events / "capture.json").write_text(json.dumps(settings))
    return made


def run_program(arguments: Sequence[str], environment: Mapping[str, str]) -> tuple[int, int]:
    """Run it to its end and return its process id and exit code: 128 + N where signal N ended it, as shells say.

    Raises ToolError where it cannot be started.
    """
    watched = {*PASSED_ON, signal.SIGCHLD}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    try:
        process = subprocess.Popen(  # noqa: S603  # the user's own program, as asked
            list(arguments),
            env=dict(environment),
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, before),  # noqa: PLW1509  # no threads here
        )
        while process.poll() is None:
            told = signal.sigtimedwait(watched, 1.0)
            if told is not None and told.si_signo != signal.SIGCHLD and told.si_code != FROM_KERNEL:
                process.send_signal(told.si_signo)
    except OSError as error:
        raise ToolError(
            f"cannot be started: {error.strerror or error}",
            where=arguments[0],
            hint="--python names a Python interpreter",
        ) from None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    code = process.returncode
    return process.pid, code if code >= 0 else 128 - code
