"""Calls into plugins: whatever goes wrong becomes an Issue that names the plugin, and spreads no further."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from irdiff.errors import IrdiffError, ParseError
from irdiff.model.bundle import Artifact
from irdiff.model.issues import Issue

T = TypeVar("T")


def guarded(call: Callable[[], object], kind: type[T], owner: str, artifact: Artifact | None) -> T | Issue:
    """Call into a plugin: its result, or the Issue that its exception or wrong type becomes, naming ``owner``."""
    where = artifact.location if artifact else None
    stage = artifact.stage if artifact else None
    try:
        made = call()
        if not isinstance(made, kind):
            raise TypeError(f"returned {type(made).__name__} where {kind.__name__} is due")
    except ParseError as error:
        return Issue(
            severity="error",
            code="unreadable",
            message=_placed(error),
            where=where,
            stage=stage,
            line=error.line,
            hint=error.hint,
        )
    except IrdiffError as error:
        return Issue(
            severity="error", code="failed", message=error.message, where=where, stage=stage, hint=error.hint
        )
    except Exception as error:  # noqa: BLE001  # protects everything else from the plugin named in the message
        return Issue(
            severity="error",
            code="plugin-error",
            message=f"plugin {owner} failed: {type(error).__name__}: {error}",
            where=where,
            stage=stage,
            hint="report it to the plugin's authors; IRDIFF_DISABLE_PLUGINS switches a plugin off",
        )
    return made


def _placed(error: ParseError) -> str:
    """The message with the byte where it happened, once."""
    if error.offset is None or f"byte {error.offset}" in error.message:
        return error.message
    return f"{error.message} (byte {error.offset})"
