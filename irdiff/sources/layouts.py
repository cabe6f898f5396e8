"""How an entry was written, told from the suffixes of its files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import PurePath

from irdiff.model.bundle import Layout
from irdiff.model.specs import StageLookup
from irdiff.sources.names import BINARY_SUFFIXES, JSON_SUFFIX, SOURCE_SUFFIX

OVERRIDE_VARIABLE = "TRITON_OVERRIDE_DIR"
_DEFAULT_OVERRIDE = (".triton", "override")


def layout_of(written: AbstractSet[str], context: StageLookup) -> Layout:
    """The layout of an entry in whose folder files of these suffixes lie or are listed as written.

    ============  ============================================================
    cache         the JSON, and stages between the source and the machine code
    binary-only   the JSON and machine code; at most the source beside them
    dump          no JSON, but machine code or its text
    failed        neither
    ============  ============================================================
    """
    machine = {suffix for suffix in written if suffix in BINARY_SUFFIXES or context.is_final(suffix)}
    if JSON_SUFFIX not in written:
        return "dump" if machine else "failed"
    between = any(_is_between(suffix, context) for suffix in written - machine - {JSON_SUFFIX})
    return "binary-only" if machine and not between else "cache"


def is_override(path: str, environment: Mapping[str, str]) -> bool:
    """Whether a folder lies where Triton looks for files that replace a stage (``TRITON_KERNEL_OVERRIDE``).

    People put there what they want replaced, often one stage alone: nothing else is expected beside it.
    """
    if OVERRIDE_VARIABLE not in environment and _DEFAULT_OVERRIDE[1] not in path:
        return False
    folder = PurePath(os.path.abspath(path))  # noqa: PTH100
    named = environment.get(OVERRIDE_VARIABLE, "").strip()
    if named and PurePath(os.path.abspath(named)) in folder.parents:  # noqa: PTH100
        return True
    parts = folder.parts
    return any(parts[at : at + 2] == _DEFAULT_OVERRIDE for at in range(len(parts) - 1))


def _is_between(suffix: str, context: StageLookup) -> bool:
    """Whether a stage is neither the source nor machine code; so are those that no plugin claims."""
    stage = context.stage_of(suffix)
    return bool(context.stage_after(stage)) if stage is not None else suffix != SOURCE_SUFFIX
