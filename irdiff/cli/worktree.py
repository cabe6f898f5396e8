"""Another revision of the user's git repository, checked out beside it for as long as it is needed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from irdiff.errors import InputError, ToolError

TIME_LIMIT = 600.0
"""Seconds for one git command: a large repository takes a while to check out."""
GRACE = 10.0
"""Seconds that git has to remove what it made by half."""


class Revision(msgspec.Struct, frozen=True, kw_only=True):
    """A revision that was checked out."""

    commit: str
    """Its full hash."""
    described: str
    """``1a2b3c4d5e (merge base with origin/main)``"""
    root: Path
    """Folder of the worktree."""


@contextmanager
def checked_out(
    revision: str, folder: Path, environment: Mapping[str, str]
) -> Iterator[tuple[Revision, Path]]:
    """The merge base of a revision and HEAD in a worktree of its own, and the root of the repository of ``folder``.

    Where they have no common ancestor here (a shallow clone), the revision itself. No hook of the repository runs.
    Raises InputError where ``folder`` lies in no repository or it has no such revision, ToolError without git.
    """
    git = _Git(folder, environment)
    root = Path(git.line(("rev-parse", "--show-toplevel"), "lies in no git repository"))
    named = git.line(
        ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"),
        f"no revision is called {revision!r}",
        hint="git fetch it first; in CI check out with the whole history (fetch-depth: 0)",
    )
    merge_base = git.maybe(("merge-base", named, "HEAD"))
    commit = merge_base or named
    described = commit[:10] if merge_base in (None, named) else f"{commit[:10]} (merge base with {revision})"
    with tempfile.TemporaryDirectory(prefix="irdiff-base-") as place:
        tree = Path(place).resolve() / "base"
        try:
            git.line(
                ("worktree", "add", "--quiet", "--detach", "--force", str(tree), commit),
                "cannot be checked out",
            )
            yield Revision(commit=commit, described=described, root=tree), root
        finally:
            git.maybe(("worktree", "unlock", str(tree)))  # it is locked while it is made
            git.maybe(("worktree", "remove", "--force", str(tree)))
            shutil.rmtree(tree, ignore_errors=True)
            git.maybe(("worktree", "prune"))


class _Git:
    """Runs git for one folder."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        # A git hook sets GIT_DIR, GIT_INDEX_FILE and others: they would make the worktree's commands mean the
        # repository that is being committed to.
        self._environment = {
            name: value for name, value in environment.items() if not name.startswith("GIT_")
        } | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}

    def line(self, arguments: Sequence[str], trouble: str, *, hint: str | None = None) -> str:
        """What git prints. Raises InputError with ``trouble`` where it fails."""
        done = self._run(arguments)
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise InputError(trouble, where=str(self._folder), hint=hint or (said[-1] if said else None))
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def maybe(self, arguments: Sequence[str]) -> str | None:
        """What git prints; None where it fails or prints nothing."""
        done = self._run(arguments)
        return done.stdout.decode("utf-8", "replace").strip() or None if done.returncode == 0 else None

    def _run(self, arguments: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
        command = ["git", "-c", f"core.hooksPath={os.devnull}", *arguments]
        try:
            with subprocess.Popen(  # noqa: S603  # an argument list, no shell
                command,
                cwd=self._folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            ) as git:
                try:
                    out, err = git.communicate(timeout=TIME_LIMIT)
                except BaseException:  # the time is over, or irdiff is asked to end: git is asked too
                    _end(git)
                    raise
            return subprocess.CompletedProcess(command, git.returncode, out, err)
        except FileNotFoundError:
            raise ToolError("git was not found", where="--against", hint="install git") from None
        except subprocess.TimeoutExpired:
            raise ToolError(f"git ran longer than {TIME_LIMIT:.0f} s", where="--against") from None
        except OSError as error:
            raise ToolError(f"git cannot be run: {error.strerror or error}", where="--against") from None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask a program to end, and see to it."""
    process.terminate()
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
