"""What specializing on arguments buys, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from irdiff.model.report import Show, Specialization
from irdiff.present.wording import one_line

NAMED = 3
"""Arguments named below a table; the option names them all."""
NONE_FOUND = (
    "No kernel here has several entries that differ in one argument alone and whose machine code is known."
)


def sentences(shown: Show) -> list[str]:
    """One for each argument, those whose specialization buys nothing first."""
    found = sorted(shown.specializations, key=lambda one: not one.buys_nothing)
    return [one_line(sentence(one)) for one in found] or [NONE_FOUND]


def sentence(one: Specialization) -> str:
    """``k (cuda:90): the specialization of heads (with and without tt.divisibility = 16) buys nothing: ...``."""
    where = f"{one.kernel} ({one.target})" if one.target else one.kernel
    what = f"the specialization of {one.argument} ({values_text(one.values)})"
    entries = f"{one.entries:,} entries"
    if one.buys_nothing:
        codes = "same machine code" if one.codes == 1 else f"{one.codes} machine codes, the same for each"
        return f"{where}: {what} buys nothing: {entries}, {codes} (by fingerprint)"
    return f"{where}: {what}: {entries}, {one.codes} different machine codes"


def values_text(values: Sequence[str]) -> str:
    """What sets the values apart: what only some have, where the rest is common to all."""
    if "" in values:
        others = " or ".join(value for value in values if value)
        return f"{others}, or a constant"
    parts = [value.split(", ") for value in values]
    common = [part for part in parts[0] if all(part in other for other in parts)]
    apart = [", ".join(part for part in value if part not in common) for value in parts]
    if "" in apart and common:
        return f"with and without {' or '.join(text for text in apart if text)}"
    return " or ".join(values)


def footer(shown: Show) -> list[str]:
    """Below the table of many kernels: what buys nothing."""
    nothing = [one for one in shown.specializations if one.buys_nothing]
    lines = [one_line(sentence(one)) for one in nothing[:NAMED]]
    if len(nothing) > NAMED:
        lines.append(f"and {len(nothing) - NAMED:,} more like that: --specializations lists them")
    return lines
