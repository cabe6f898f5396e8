"""``irdiff check --against REVISION``: the ``[[kernel]]`` tables compiled at both revisions, without a GPU."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from irdiff.cli.progress import progress_bar
from irdiff.cli.worktree import checked_out
from irdiff.compile.output import OutputTree
from irdiff.compile.plan import Request, expand
from irdiff.compile.pool import Pool
from irdiff.compile.tables import find_tables, read_tables
from irdiff.compile.targets import CHOICES, parse_target
from irdiff.errors import UsageError
from irdiff.model.bundle import Target
from irdiff.model.issues import Issue


class Compiled(msgspec.Struct, frozen=True, kw_only=True):
    """Both revisions as trees that can be compared."""

    before: Path
    after: Path
    described: str
    """The revision before, for people."""
    issues: tuple[Issue, ...] = ()
    """What was passed over."""


@contextmanager
def compiled_against(
    revision: str,
    *,
    targets: Sequence[str] = (),
    python: str | None = None,
    jobs: int | None = None,
    timeout: float = 300.0,
) -> Iterator[Compiled]:
    """Compile the tables here and at a revision; both trees are removed at the end.

    The working tree is compiled as it is, with what is not committed. The revision is the merge base with HEAD, so
    that what others changed there since is not blamed on the change at hand. Each side's own tables hold; where the
    revision has none yet, those of the working tree, for the files that it has.
    Raises UsageError without tables, InputError and ToolError where git or Triton cannot do it.
    """
    here = Path.cwd().resolve()
    tables = find_tables(here)
    if tables is None:
        raise UsageError(
            "there are no [[kernel]] tables in irdiff.toml or pyproject.toml",
            where="--against",
            hint='write [[kernel]] with file = "kernels.py", signature and targets',
        )
    named = _targets(targets)
    interpreter = python or sys.executable
    with (
        checked_out(revision, here, os.environ) as (base, root),
        tempfile.TemporaryDirectory(prefix="irdiff-against-") as place,
    ):
        then, issues = _requests_then(tables, base.root, root)
        trees = (Path(place) / "before", Path(place) / "after")
        sides = (
            (base.described, then, trees[0], base.root),
            ("the working tree", read_tables(tables), trees[1], root),
        )
        for described, requests, folder, top in sides:
            plan = expand(_with_targets(requests, named, tables.name))
            with OutputTree(folder) as tree, progress_bar(f"compiling {described}") as progress:
                Pool(
                    plan,
                    tree,
                    interpreter,
                    _environment(os.environ, top, tables.parent.relative_to(root)),
                    workers=jobs or os.cpu_count() or 1,
                    timeout=timeout,
                    progress=progress,
                ).run()
        yield Compiled(before=trees[0], after=trees[1], described=base.described, issues=issues)


def _requests_then(tables: Path, base: Path, root: Path) -> tuple[list[Request], tuple[Issue, ...]]:
    """What the revision asks to be compiled, and what of it is not there."""
    then = base / tables.relative_to(root)
    if then.is_file():
        found = read_tables(then)
        if found:
            return found, ()
    requests: list[Request] = []
    issues: list[Issue] = []
    for request in read_tables(tables):
        file = base / request.file.resolve().relative_to(root)
        if file.is_file():
            requests.append(msgspec.structs.replace(request, file=file))
        else:
            issues.append(
                Issue(
                    severity="note",
                    code="not-there-before",
                    message="is not in the revision compared with: its kernels are new",
                    where=request.shown,
                )
            )
    return requests, tuple(issues)


def _targets(named: Sequence[str]) -> tuple[Target, ...]:
    return tuple(parse_target(name) for text in named for name in text.replace(",", " ").split() if name)


def _with_targets(requests: Sequence[Request], named: tuple[Target, ...], where: str) -> list[Request]:
    """Requests with targets; a check that depends on the GPU of the machine would judge another thing elsewhere."""
    made = []
    for request in requests:
        targets = named or request.targets
        if not targets:
            raise UsageError(
                f"{request.kernel or request.shown} has no targets",
                where=where,
                hint=f'write targets = ["cuda:90"] ({CHOICES}), or give --target',
            )
        made.append(msgspec.structs.replace(request, targets=targets))
    return made


def _environment(environment: Mapping[str, str], top: Path, inner: Path) -> dict[str, str]:
    """The environment, in which Python finds the modules of this revision before an installed copy of them."""
    first = [str(folder) for folder in (top / inner, top / inner / "src") if folder.is_dir()]
    rest = environment.get("PYTHONPATH", "")
    return {**environment, "PYTHONPATH": os.pathsep.join([*first, *([rest] if rest else [])])}
