"""The pytest plugin: the fixture ``irdiff_baseline`` holds compiled kernels to baselines kept beside the tests.

pytest imports this module in every run of every project that has irdiff installed: what the fixture needs is imported
when it is called.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from irdiff.model.gate import Level
    from irdiff.model.policy import Policy
    from irdiff.model.report import Report

FOLDER = "baselines"
"""Beside the test's file: ``baselines/test_matmul/test_forward.baseline``."""
SUFFIX = ".baseline"
UPDATE = "--irdiff-update"
PROPERTY = "irdiff_baseline"
_UNSAFE = re.compile(r"[^A-Za-z0-9_.=+-]+")
_LONGEST = 120
_WIDTH = 100
"""Columns of a failure's text."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare ``--irdiff-update``."""
    group = parser.getgroup("irdiff", "baselines of compiled Triton kernels")
    group.addoption(
        UPDATE,
        action="store_true",
        default=False,
        help="write the baselines that irdiff_baseline compares with, instead of comparing",
    )


@pytest.fixture
def irdiff_baseline(request: pytest.FixtureRequest) -> KernelBaseline:
    """Hold a compiled kernel to its baseline: ``irdiff_baseline(kernel)``.

    The kernel is what ``triton.compile`` or a launch returned, a path to a cache entry or to a folder that ``irdiff
    compile`` made, or a ``triton.jit`` function with ``signature`` and ``target``, which is compiled without a GPU.
    ``--irdiff-update`` writes the baselines.
    """
    return KernelBaseline(request)


class KernelBaseline:
    """What the fixture returns: call it with a kernel."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._request = request
        self._calls = 0

    def __call__(
        self,
        kernel: object,
        *,
        signature: str | None = None,
        target: str | Sequence[str] | None = None,
        options: Mapping[str, object] | None = None,
        constexprs: Mapping[str, object] | None = None,
        name: str | None = None,
        file: str | Path | None = None,
        policy: Policy | str | Path | None = None,
        rules: Mapping[str, Level] | None = None,
    ) -> Report | None:
        """Compare with the stored baseline and fail the test where the policy says so; the report, for more checks.

        ``signature``, ``target``, ``options`` (of Triton's backend) and ``constexprs`` (by name) are those of ``irdiff
        compile``. ``name`` names the baseline where a test has several, ``file`` its place. ``policy`` is a file or a
        value; without it the configuration nearest to the test holds. ``rules`` sets levels of rules. With
        ``--irdiff-update`` the baseline is written and None is returned.
        """
        __tracebackhide__ = True
        from irdiff.errors import IrdiffError

        place = Path(file) if file is not None else self._place(name)
        if not place.is_absolute():
            place = self._request.path.parent / place
        try:
            source = self._compiled(kernel, signature, target, options, constexprs)
            if self._request.config.getoption(UPDATE):
                self._write(source, place)
                return None
            return self._check(source, place, policy, rules)
        except IrdiffError as error:
            message = f"irdiff: {error}"
        pytest.fail(message)

    def _place(self, name: str | None) -> Path:
        """``baselines/test_file/test_name.baseline``; a second call of one test has its number behind the name."""
        self._calls += 1
        own = self._request.node.name
        if name is not None:
            own = f"{own}-{name}"
        elif self._calls > 1:
            own = f"{own}-{self._calls}"
        return Path(FOLDER) / self._request.path.stem / f"{_file_name(own)}{SUFFIX}"

    def _compiled(
        self,
        kernel: object,
        signature: str | None,
        target: str | Sequence[str] | None,
        options: Mapping[str, object] | None,
        constexprs: Mapping[str, object] | None,
    ) -> object:
        """The kernel, compiled now where it is given as a function with a signature."""
        from irdiff.errors import UsageError
        from irdiff.library import compile_kernel

        given = {"signature": signature, "target": target, "options": options, "constexprs": constexprs}
        used = sorted(key for key, value in given.items() if value is not None)
        if signature is None:
            if used:
                raise UsageError(f"{used[0]} is given without a signature", where="irdiff_baseline")
            return kernel
        if target is None:
            raise UsageError("a signature needs a target", where="irdiff_baseline", hint='target="cuda:90"')
        folder = self._request.getfixturevalue("tmp_path_factory").mktemp("irdiff")
        return compile_kernel(kernel, signature, target, folder, options=options, constexprs=constexprs)

    def _write(self, source: object, place: Path) -> None:
        from irdiff.library import write_baseline

        changed = write_baseline(source, place)
        shown = _shown(place, self._request.config.rootpath)
        self._request.node.user_properties.append((PROPERTY, f"{'written' if changed else 'kept'} {shown}"))

    def _check(
        self,
        source: object,
        place: Path,
        policy: Policy | str | Path | None,
        rules: Mapping[str, Level] | None,
    ) -> Report:
        __tracebackhide__ = True
        from irdiff.errors import InputError
        from irdiff.library import check
        from irdiff.model.gate import Judgement

        shown = _shown(place, self._request.config.rootpath)
        if not place.exists():
            raise InputError("there is no baseline yet", where=shown, hint=f"pytest {UPDATE} writes it")
        report = check(
            None, source, baseline=place, policy=policy, rules=rules, folder=self._request.path.parent
        )
        judgement = report.judgement
        assert isinstance(judgement, Judgement)
        if judgement.failed or judgement.unsure:
            pytest.fail(f"{told(report)}\n\n{shown} is what it is held to; pytest {UPDATE} writes it anew")
        return report


def told(report: Report) -> str:
    """The judgement as ``irdiff check`` shows it, then the facts that changed as ``irdiff compare`` does."""
    from irdiff.present.gate import gate_view
    from irdiff.present.terminal import render, render_gate
    from irdiff.present.view import view

    parts = [render_gate(gate_view(report), width=_WIDTH)]
    if report.verdict == "changed":
        parts.append(render(view(report), width=_WIDTH))
    return "\n".join(part.strip("\n") + "\n" for part in parts).rstrip()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which baselines were written; with pytest-xdist too, for properties travel with the reports."""
    if not terminalreporter.config.getoption(UPDATE):
        return
    found = sorted(
        {
            str(value)
            for reports in terminalreporter.stats.values()
            for report in reports
            if getattr(report, "when", None) == "call"
            for key, value in getattr(report, "user_properties", ())
            if key == PROPERTY
        }
    )
    terminalreporter.section("irdiff baselines")
    for line in found:
        terminalreporter.write_line(line)
    if not found:
        terminalreporter.write_line("no test that ran has one")


def _file_name(name: str) -> str:
    """A test's name as a file name, ``test_x[64]`` as ``test_x-64``; two names never share one."""
    plain = name.removesuffix("]").replace("[", "-", 1) if name.endswith("]") else name
    made = _UNSAFE.sub("-", plain)
    if made == plain and len(made) <= _LONGEST:
        return made
    import hashlib

    return f"{made[:_LONGEST]}-{hashlib.sha256(name.encode('utf-8', 'backslashreplace')).hexdigest()[:8]}"


def _shown(place: Path, root: Path) -> str:
    try:
        return str(place.relative_to(root))
    except ValueError:
        return str(place)
