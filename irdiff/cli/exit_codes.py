"""Every exit code, in one table. ``irdiff`` uses bits for a judgement, so that both can be said at once."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What the process ends with."""

    OK = 0
    """Done; check: passed; compare --exit-code: nothing changed in meaning; compile: every kernel compiled."""
    CHANGED = 1
    """Bit 1: check: a rule failed; compare --exit-code: a kernel changed; compile: a kernel failed to compile."""
    UNSURE = 2
    """Bit 2: something could not be read, compared, judged or tried: an input without a kernel, no Triton."""
    CHANGED_AND_UNSURE = 3
    """Both bits."""
    USAGE = 64
    """The command was called in a way that cannot mean anything."""
    INTERNAL = 70
    """A fault in irdiff itself."""
    INTERRUPTED = 130
    """Ctrl-C."""
    CLOSED_PIPE = 141
    """The reader of the output went away."""
    TERMINATED = 143
    """SIGTERM."""
