"""irdiff: what changed between two compilations of a Triton kernel, stage by stage, and where it began.

>>> import irdiff
>>> report = irdiff.compare("before/", "after/")  # doctest: +SKIP
>>> [change.fact for change in report.changes]  # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from irdiff.library import check, compare, compile_kernel, show, write_baseline

__version__ = "0.1.0"

_LIBRARY = ("check", "compare", "compile_kernel", "show", "write_baseline")

__all__ = ["__version__", "check", "compare", "compile_kernel", "show", "write_baseline"]


def __getattr__(name: str) -> object:
    """The functions of :mod:`irdiff.library`, imported when first asked for: ``import irdiff`` stays light."""
    if name in _LIBRARY:
        from irdiff import library

        return getattr(library, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted((*globals(), *_LIBRARY))
