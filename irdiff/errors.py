"""The errors a user can meet: each says what, where, and what to do next."""

from __future__ import annotations


class IrdiffError(Exception):
    """Something the user must know about; the command line prints it without a traceback.

    ``message`` says what is wrong, ``where`` names the file, flag or kernel, ``hint`` the next step.
    """

    def __init__(self, message: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text} ({self.hint})" if self.hint else text


class UsageError(IrdiffError):
    """The command was called in a way that cannot mean anything (exit code 64)."""


class InputError(IrdiffError):
    """A path, archive or selector holds nothing that can be compared."""


class ParseError(IrdiffError):
    """The only exception that may leave a stage's parser: an artifact that is not what its name says.

    ``line`` counts from 1 in a text artifact; ``offset`` is a byte offset in a binary one.
    """

    def __init__(
        self,
        message: str,
        *,
        line: int | None = None,
        offset: int | None = None,
        hint: str | None = None,
    ) -> None:
        where = f"line {line}" if line is not None else f"byte {offset}" if offset is not None else None
        super().__init__(message, where=where, hint=hint)
        self.line = line
        self.offset = offset


class ToolError(IrdiffError):
    """An external tool was not found, timed out or failed."""
