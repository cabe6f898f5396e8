"""The mark of a hook's implementation: pluggy's own, without importing pluggy for plugins that need no looking at."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, overload

F = TypeVar("F", bound=Callable[..., object])

MARK = "irdiff_impl"
"""The attribute that ``pluggy.HookimplMarker("irdiff")`` sets; a test holds the two to the same value."""


class HookImplementation:
    """Used bare (``@hookimpl``) or called with pluggy's options."""

    @overload
    def __call__(self, function: F) -> F: ...

    @overload
    def __call__(
        self,
        function: None = None,
        hookwrapper: bool = ...,  # noqa: FBT001  # pluggy's signature
        optionalhook: bool = ...,  # noqa: FBT001
        tryfirst: bool = ...,  # noqa: FBT001
        trylast: bool = ...,  # noqa: FBT001
        specname: str | None = ...,
        wrapper: bool = ...,  # noqa: FBT001
    ) -> Callable[[F], F]: ...

    def __call__(
        self,
        function: F | None = None,
        hookwrapper: bool = False,  # noqa: FBT001, FBT002
        optionalhook: bool = False,  # noqa: FBT001, FBT002
        tryfirst: bool = False,  # noqa: FBT001, FBT002
        trylast: bool = False,  # noqa: FBT001, FBT002
        specname: str | None = None,
        wrapper: bool = False,  # noqa: FBT001, FBT002
    ) -> F | Callable[[F], F]:
        """Mark a function."""

        def mark(marked: F) -> F:
            options = {
                "wrapper": wrapper,
                "hookwrapper": hookwrapper,
                "optionalhook": optionalhook,
                "tryfirst": tryfirst,
                "trylast": trylast,
                "specname": specname,
            }
            setattr(marked, MARK, options)
            return marked

        return mark if function is None else mark(function)
