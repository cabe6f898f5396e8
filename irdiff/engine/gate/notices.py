"""What a person has to know beside the findings: settings that select nothing, kernels that no side compiled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from irdiff.engine.gate.policy import selects
from irdiff.model.issues import Issue
from irdiff.model.policy import Policy, Selection
from irdiff.model.report import KernelReport

Named = tuple[str, str | None]
"""Name and target of a kernel."""


def selecting_nothing(
    policy: Policy, off: Iterable[str], compared: frozenset[Named], known: frozenset[Named]
) -> Iterator[Issue]:
    """Expectations and overrides that hold for no kernel: a mistyped glob would judge nothing and pass.

    ``compared`` are the pairs that are judged, which alone can meet an expectation; ``known`` adds the kernels of
    one side; ``off`` are codes of expectations that are switched off anyway.
    """
    if not known:
        return
    file = policy.path or "policy"
    for own in policy.expectations:
        if own.code not in off and not _any(own.selection, compared):
            yield _nothing(f"{file}: check.expect {own.code}", "is compared")
    for override in policy.overrides:
        if not _any(override.selection, known):
            yield _nothing(override.where or file, "is there")


def failed_on_both_sides(kernels: Iterable[KernelReport]) -> Iterator[Issue]:
    """One line for each kernel of which nothing was judged since neither side compiled it."""
    for kernel in kernels:
        yield Issue(
            severity="warning",
            code="failed-on-both-sides",
            message=f"{kernel.name} did not compile, neither before nor after: nothing of it was judged",
            where=kernel.path_after,
        )


def _any(selection: Selection, kernels: Iterable[Named]) -> bool:
    return any(selects(selection, name, target) for name, target in kernels)


def _nothing(where: str, what: str) -> Issue:
    return Issue(
        severity="warning",
        code="selects-nothing",
        message=f"it selects no kernel that {what}",
        where=where,
        hint="`kernels` and `targets` are globs over whole names, in upper and lower case as irdiff show prints them",
    )
