"""The story of one kernel in two or three sentences: where it begins and why, what it led to, what is the same again.

Everything comes from the report: titles, units and roles from the FactSpecs, the order of the stages, the changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from irdiff.model.facts import FactSpec, Scalar
from irdiff.model.report import Change, KernelReport, Report
from irdiff.present.ranking import ROLES, is_fingerprint, of_the_last_stage, ranked
from irdiff.present.wording import ARROW, number

MAX_THERE = 2
"""Facts told of the stage where it begins."""
MAX_DOWNSTREAM = 4
"""Facts told of what it led to."""
SCREEN = 116
"""Columns of a paragraph."""
LEAST_ROWS = 3
"""Rows that stay below a story, however long it is."""
MOST_KEYS = 4
LONGEST_KEY = 40
"""Letters; a tally with longer keys (layouts) is told by its total."""
SAME = ("identical", "equivalent")
FOLLOWS = {
    "stack": "spills",
    "local_accesses": "spills",
    "shared_limit": "shared_bytes",
    "async_waits": "mma_class",
    "code_bytes": "",
}
"""Roles that say once more what another one says where both moved; code size is no news in a sentence."""


def story(kernel: KernelReport, report: Report) -> str:
    """Two or three sentences; the machine code first where it is the same."""
    begins = begins_in(kernel, report)
    if kernel.first_divergence is None or report.stages_compared is not None:
        return begins
    there, downstream = _told(kernel, report)
    sentences = [begins]
    if there:
        sentences.append(f"There {_listed(there)}.")
    if downstream:
        sentences.append(f"Downstream {_listed(downstream)}.")
    return " ".join(sentences)


def begins_in(kernel: KernelReport, report: Report) -> str:
    """Where it begins and why, and what is the same before and behind it."""
    begins = kernel.first_divergence
    if begins is None:
        first = f"The machine code is {kernel.machine_code}. " if kernel.machine_code in SAME else ""
        return f"{first}No stage of the compiler differs; what describes the compilation does."
    cause = f" ({begins.cause.replace('->', ARROW)})" if begins.cause else ""
    if report.stages_compared is not None:
        first, second = (name.upper() for name in report.stages_compared)
        return f"{first} {ARROW} {second} of one dialect: what lies between them{cause}."
    steps = [name for name in kernel.stages if name in report.steps]
    at = steps.index(begins.stage) if begins.stage in steps else 0
    earlier = steps[:at]
    last_change = max(
        (n for n, name in enumerate(earlier) if kernel.stages[name].sameness == "changed"), default=-1
    )
    differing = [name.upper() for name in earlier if kernel.stages[name].sameness == "changed"]
    same = [name.upper() for name in earlier[last_change + 1 :] if kernel.stages[name].sameness in SAME]
    tail = f"; {_and(same)} {'are' if len(same) > 1 else 'is'} the same" if same else ""
    if same and differing:
        tail = f"; {_and(differing)} {'differ' if len(differing) > 1 else 'differs'}, but {tail[2:]} again"
    text = f"Begins in {begins.stage.upper()}{cause}{tail}."
    if kernel.machine_code in SAME:
        text = f"The machine code is {kernel.machine_code}{_again(kernel, steps, begins.stage)}. {text}"
    return text


def _again(kernel: KernelReport, steps: Sequence[str], first: str) -> str:
    """``: LLIR, PTX and SASS are the same again`` where the stages meet before the machine code."""
    behind = steps[steps.index(first) + 1 :] if first in steps else []
    changed = [n for n, name in enumerate(behind) if kernel.stages[name].sameness == "changed"]
    same = [
        name.upper()
        for name in behind[max(changed, default=-1) + 1 :]
        if kernel.stages[name].sameness in SAME
    ]
    return f": {_and(same)} {'are' if len(same) > 1 else 'is'} the same again" if same else ""


def _told(kernel: KernelReport, report: Report) -> tuple[list[str], list[str]]:
    """Phrases for the stage where it begins, and for what comes behind it."""
    begins = kernel.first_divergence
    whole = [
        change
        for change in ranked(kernel.changes, report)
        if change.scope == kernel.name and not is_fingerprint(change, report)
    ]
    roles = {_role(change, report) for change in whole}
    first = begins.fact_stage if begins is not None else None
    told: set[str] = set()
    there: list[str] = []
    for change in whole:
        if change.fact.partition(".")[0] == first and len(there) < MAX_THERE:
            there += _phrase(change, report, roles, told)
    if kernel.machine_code in SAME:
        return there, []
    downstream: list[str] = []
    for change in of_the_last_stage(whole, report):
        if change.fact.partition(".")[0] != first and len(downstream) < MAX_DOWNSTREAM:
            downstream += _phrase(change, report, roles, told)
    return there, downstream


def _role(change: Change, report: Report) -> str:
    spec = report.facts.get(change.fact)
    return spec.role or "" if spec is not None else ""


def _phrase(change: Change, report: Report, roles: set[str], told: set[str]) -> list[str]:
    """One phrase for a change whose role matters and was not told yet; ``told`` grows."""
    spec, role = report.facts.get(change.fact), _role(change, report)
    if spec is None or role not in ROLES or role in told or change.effect == "incomparable":
        return []
    if FOLLOWS.get(role, "-") in {*roles, ""}:
        return []
    text = moved(change, spec)
    if text:
        told.add(role)
    return [text] if text else []


def moved(change: Change, spec: FactSpec) -> str:
    """``registers per thread rose 64 → 72``; empty where nothing short can be said."""
    before, after = change.before, change.after
    if before is None or after is None:
        return ""
    if isinstance(before, dict) and isinstance(after, dict):
        return _tally(before, after, spec)
    if isinstance(before, (tuple, dict)) or isinstance(after, (tuple, dict)):
        return ""
    limit = f" (limited by {change.limits[1]})" if change.limits is not None else ""
    return f"{spec.title} {_verb(before, after)}{number(before)} {ARROW} {number(after, spec.unit)}{limit}"


def _verb(before: Scalar, after: Scalar) -> str:
    numbers = [v for v in (before, after) if isinstance(v, (int, float)) and not isinstance(v, bool)]
    if len(numbers) < 2:
        return "went "
    return "rose " if numbers[0] < numbers[1] else "fell "


def _tally(before: dict[str, Scalar], after: dict[str, Scalar], spec: FactSpec) -> str:
    counts = [{key: n for key, n in side.items() if isinstance(n, int) and n} for side in (before, after)]
    totals = [sum(side.values()) for side in counts]
    if spec.measure == "key" and len(counts[0]) == len(counts[1]) == 1:
        (old, times_old), (new, times_new) = (next(iter(side.items())) for side in counts)
        if old == new:
            return ""  # as wide as before: how many there are is no news of their size
        if spec.key_unit:
            unit = spec.key_unit
            return f"{spec.title} went from {times_old:,} of {old} {unit} to {times_new:,} of {new} {unit}"
        if old.isdecimal() and new.isdecimal():
            return f"{spec.title} {_verb(int(old), int(new))}{old} {ARROW} {new}"
    keys = sorted(key for key in {**counts[0], **counts[1]} if counts[0].get(key) != counts[1].get(key))
    short = all(len(key) <= LONGEST_KEY for key in keys)
    if totals[0] != totals[1] and spec.measure == "total" and (spec.better != "neutral" or not short):
        return f"{spec.title} {_verb(totals[0], totals[1])}{totals[0]:,} {ARROW} {totals[1]:,}"
    if not short:
        return ""
    unit = f" {spec.key_unit}" if spec.key_unit else ""
    deltas = {key: counts[1].get(key, 0) - counts[0].get(key, 0) for key in keys}
    largest = sorted(deltas, key=lambda key: (-abs(deltas[key]), key))
    parts = [f"{deltas[key]:+,} {key}{unit}" for key in largest[:MOST_KEYS]]
    more = f" and {len(keys) - MOST_KEYS} more" if len(keys) > MOST_KEYS else ""
    return f"{spec.title}: {', '.join(parts)}{more}"


def _listed(phrases: Sequence[str]) -> str:
    """Phrases in one sentence; with semicolons where one of them has commas or a colon of its own."""
    parted = any(", " in phrase or ": " in phrase for phrase in phrases)
    return "; ".join(phrases) if parted else _and(phrases)


def _and(words: Sequence[str]) -> str:
    """``A``, ``A and B``, ``A, B and C``."""
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def beside(told: str, kernel: KernelReport, report: Report, changes: Sequence[Change]) -> Sequence[Change]:
    """The changes to list below a story so that it makes no screen longer: the least important ones give way."""
    room = len(changes) - _lines(told) + _lines(begins_in(kernel, report))
    order = sorted(range(len(changes)), key=lambda at: (*_least(changes[at], report), at))
    kept = set(order[: max(room, LEAST_ROWS)])
    return [change for at, change in enumerate(changes) if at in kept]


def _least(change: Change, report: Report) -> tuple[bool, bool]:
    role = _role(change, report)
    return not (change.rules or change.effect == "unexplained"), role not in ROLES or not FOLLOWS.get(
        role, "-"
    )


def _lines(text: str) -> int:
    """Lines that a text takes on a screen."""
    return sum(1 for _ in _wrapped(text, SCREEN))


def _wrapped(text: str, width: int) -> Iterator[str]:
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line
