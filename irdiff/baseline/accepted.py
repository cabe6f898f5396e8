"""The file of accepted changes: TOML, sorted, reviewed like code; read strictly and written whole."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterable, Sequence
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import Annotated

import msgspec
from msgspec import Meta

from irdiff.config.find import find_config
from irdiff.engine.gate.acceptance import words_of
from irdiff.errors import InputError, UsageError
from irdiff.model.gate import Acceptance, Finding, Judgement
from irdiff.model.report import Report

DEFAULT_NAME = "irdiff-accepted.toml"
HEAD = """\
# Changes that somebody accepted: `irdiff baseline accept REPORT` adds them, `irdiff check` reads them.
# An entry holds for one finding and one value after it; `check` reports those that expired or match nothing any more.
# The command rewrites this file: say what there is to say in `reason`.
"""
_FIELDS = ("rule", "kernel", "target", "before", "after", "reason", "owner", "expires", "fingerprint")
_PLACE = re.compile(r"^(?P<what>.*?)(?: - at `(?:key in )?\$(?P<path>.*)`)?$", re.DOTALL)
_INDEX = re.compile(r"\[(\d+)\]")


class _Entry(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    rule: str
    kernel: str
    fingerprint: str
    before: str
    after: str
    reason: Annotated[str, Meta(min_length=1)]
    owner: Annotated[str, Meta(min_length=1)]
    expires: date | None = None
    target: str | None = None


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    accepted: list[_Entry] = []


def read_accepted(path: Path) -> tuple[Acceptance, ...]:
    """The acceptances of a file. Raises InputError, with the entry, where it cannot be read or is no such file."""
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        content = toml.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=str(path)) from None
    except (ValueError, RecursionError) as error:  # TOMLDecodeError and UnicodeDecodeError are ValueErrors
        raise InputError(f"is no TOML: {error}", where=str(path)) from None
    try:
        found = msgspec.convert(content, type=_File)
    except msgspec.ValidationError as error:
        raise _located(str(error), path) from None
    return tuple(
        Acceptance(
            rule=each.rule,
            kernel=each.kernel,
            fingerprint=each.fingerprint,
            before=each.before,
            after=each.after,
            reason=each.reason,
            owner=each.owner,
            expires=each.expires.isoformat() if each.expires is not None else None,
            target=each.target,
        )
        for each in found.accepted
    )


def default_accepted(baseline: Path | None, folder: Path) -> Path:
    """Where accepted changes are kept where nothing else is said.

    Beside the baseline, else beside the configuration that holds for ``folder``, else there.
    """
    if baseline is not None:
        return baseline.parent / DEFAULT_NAME
    found = find_config(folder)
    return (found[0].parent if found is not None else folder) / DEFAULT_NAME


def accepted_text(acceptances: Iterable[Acceptance]) -> bytes:
    """The file: one entry for each finding, sorted by kernel and rule; of two for one finding the later."""
    entries = {each.fingerprint: each for each in acceptances}
    blocks = [_block(each) for each in sorted(entries.values(), key=_key)]
    return "\n\n".join([HEAD.rstrip("\n"), *blocks]).encode() + b"\n"


def acceptances_of(
    report: Report,
    *,
    reason: str,
    owner: str,
    expires: date | None = None,
    rules: Sequence[str] = (),
    kernels: Sequence[str] = (),
) -> tuple[Acceptance, ...]:
    """An acceptance for each finding of a saved report that is not accepted yet, of those rules and kernels (globs).

    A kernel may be one specialization, as the report names it: ``matmul_kernel::ABCDEFGH``. Raises UsageError where the
    report is none of ``check`` or nothing in it is chosen.
    """
    judgement = report.judgement
    if not isinstance(judgement, Judgement):
        raise UsageError(
            "holds no judgement", where="accept", hint="save one: irdiff check ... --format json -o FILE"
        )
    for word, text in (("--reason", reason), ("--owner", owner)):
        if not text.strip():
            raise UsageError("is empty", where=word, hint="a reader must see who accepted it, and why")
    open_findings = [each for each in judgement.findings if each.accepted is None]
    chosen = [
        each
        for each in open_findings
        if _matches(each.rule, [rule.upper() for rule in rules])
        and _is_named(each, kernels)
        and each.fingerprint
    ]
    if not chosen:
        names = sorted({f"{each.rule} {each.kernel}" for each in open_findings})
        found = (
            f"there are: {', '.join(names[:5])}"
            if names
            else "the report has no finding that is not accepted"
        )
        raise UsageError("no finding is chosen", where="accept", hint=found)
    return tuple(
        Acceptance(
            rule=each.rule,
            kernel=each.kernel,
            fingerprint=each.fingerprint,
            before=words_of(each.before, each.fact, report.facts),
            after=words_of(each.after, each.fact, report.facts),
            reason=reason.strip(),
            owner=owner.strip(),
            expires=expires.isoformat() if expires is not None else None,
            target=each.target,
        )
        for each in chosen
    )


def _matches(name: str, globs: Sequence[str]) -> bool:
    return not globs or any(fnmatchcase(name, glob) for glob in globs)


def _is_named(finding: Finding, globs: Sequence[str]) -> bool:
    """By the kernel's name, or with the beginning of its entry, as reports tell specializations apart."""
    entry = f"{finding.kernel}::{PurePath(finding.path).name}"
    return _matches(finding.kernel, globs) or any(
        fnmatchcase(entry, f"{glob}*") for glob in globs if "::" in glob
    )


def _key(acceptance: Acceptance) -> tuple[str, ...]:
    return (acceptance.kernel, acceptance.rule, acceptance.target or "", acceptance.fingerprint)


def _block(acceptance: Acceptance) -> str:
    lines = ["[[accepted]]"]
    for name in _FIELDS:
        value = getattr(acceptance, name)
        if value is not None:
            lines.append(f"{name} = {value if name == 'expires' else _basic(value)}")
    return "\n".join(lines)


def _basic(text: str) -> str:
    """A basic string of TOML: what is not printable is escaped, a lone surrogate replaced."""
    known = text.encode("utf-8", "replace").decode("utf-8")
    return f'"{"".join(map(_escaped, known))}"'


def _escaped(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    return letter if letter.isprintable() else f"\\U{ord(letter):08x}"


def _located(text: str, path: Path) -> InputError:
    """Msgspec's words with the number of the entry."""
    found = _PLACE.match(text)
    what, inside = (found["what"], found["path"] or "") if found else (text, "")
    place = _INDEX.sub(lambda index: f" {int(index[1]) + 1}", inside.lstrip("."))
    return InputError(
        what[:1].lower() + what[1:],
        where=f"{path}: {place}" if place else str(path),
        hint="irdiff baseline accept writes such files",
    )
