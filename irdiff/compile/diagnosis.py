"""What the text that a compiler printed says about a failure: its reason and the line of the kernel; ptxas's log."""

from __future__ import annotations

import re

import msgspec

from irdiff.compile.record import Failure, Resources, without_folders

MAX_DETAIL = 4000
MAX_MESSAGE = 500

_DIAGNOSTIC = re.compile(
    r"^(?P<file>[^\s:\"][^:\n\"]*):(?P<line>[0-9]+):[0-9]+: error: (?P<message>[^\n]+)$", re.MULTILINE
)
_GENERIC = "Failures have been detected while processing an MLIR pass pipeline"
_PASS = re.compile(r"Pipeline failed while executing \[`(?P<name>[A-Za-z0-9_]+)`")
_BARE = re.compile(r"^(?:loc\([^\n]*\): )?error: (?P<message>[^\n]+)$", re.MULTILINE)
_FATAL = re.compile(
    r"^(?P<message>LLVM ERROR: [^\n]+|[^\n]*: Assertion [^\n]+ failed\.?|Fatal Python error: [^\n]+)$",
    re.MULTILINE,
)
_FRAME = re.compile(r"^  File \"(?P<file>[^\"\n]+)\", line (?P<line>[0-9]+) in [^\n]*$", re.MULTILINE)
_PTXAS_ERROR = re.compile(r"^ptxas[^\n]*?\b(?:error|fatal)\s*:\s*(?P<message>[^\n]+)$", re.MULTILINE)
_PTXAS_SAID = re.compile(r"`ptxas` stderr:\n(?P<log>.*?)(?:\nRepro command|\Z)", re.DOTALL)
_PTX_FILE = re.compile(r"(?<=ptxas )/[^\n,]*/[^/\n,]+(?=, line)")
_COMPILE_TIME = re.compile(r"^ptxas[a-z0-9-]* info\s*: Compile time = (?P<ms>[0-9.]+) ms\n?", re.MULTILINE)
_REGISTERS = re.compile(r"^ptxas[a-z0-9-]* info\s*: Used (?P<registers>[0-9]+) registers", re.MULTILINE)
_STACK = re.compile(
    r"^\s*(?P<stack>[0-9]+) bytes stack frame, (?P<stores>[0-9]+) bytes spill stores, "
    r"(?P<loads>[0-9]+) bytes spill loads",
    re.MULTILINE,
)


def enriched(failure: Failure, printed: str, file: str, shown: str) -> Failure:
    """A failure with the reason and line that were printed, and without anyone's folders."""
    message, line, detail = failure.message, failure.line, failure.detail
    if failure.kind == "assembler":
        message, detail = _assembler(message, detail or "")
    elif failure.kind in ("pass", "code-generation", "crash"):
        found, where = _printed_reason(printed, file)
        culprit = _PASS.search(printed)
        if culprit:
            message = f"pass {culprit['name']} failed"
        if found and found != _GENERIC:
            message = f"{found} ({message})"
        line = line or where
        detail = detail if detail and not printed else _excerpt(printed, found)
    if message.strip() == (detail or "").strip():
        detail = None
    return msgspec.structs.replace(
        failure,
        message=cleaned(message.splitlines()[0] if message.strip() else failure.kind, file, shown)[
            :MAX_MESSAGE
        ],
        line=line,
        detail=cleaned(detail, file, shown)[:MAX_DETAIL] if detail and detail.strip() else None,
    )


def cleaned(text: str, file: str, shown: str) -> str:
    """A text with the kernel's file as irdiff names it, and no folders."""
    return without_folders(text.replace(file, shown)).strip()


def _printed_reason(printed: str, file: str) -> tuple[str | None, int | None]:
    """The first error with a line in the kernel's file, or else the first one at all."""
    found = sorted(_DIAGNOSTIC.finditer(printed), key=lambda match: match["message"] == _GENERIC)
    own = [match for match in found if match["file"] == file]
    if own:
        return own[0]["message"], int(own[0]["line"])
    fatal = _FATAL.search(printed)
    frames = [int(match["line"]) for match in _FRAME.finditer(printed) if match["file"] == file]
    line = frames[0] if frames else None
    first = fatal or (found[0] if found else _BARE.search(printed))
    return (first["message"] if first else None), line


def _excerpt(printed: str, found: str | None) -> str:
    """What was printed from the reason on, or last."""
    at = printed.find(found) if found else -1
    if at < 0:
        return printed[-MAX_DETAIL:]
    return printed[printed.rfind("\n", 0, at) + 1 : at + MAX_DETAIL]


def _assembler(message: str, detail: str) -> tuple[str, str]:
    """What ptxas said itself, out of an error that also holds a command and, in some releases, all of the PTX."""
    said = _PTXAS_SAID.search(detail)
    log = _PTX_FILE.sub("kernel.ptx", said["log"] if said else detail)
    error = _PTXAS_ERROR.search(log)
    return (f"ptxas: {error['message']}" if error else message), log


class PtxasLog(msgspec.Struct, frozen=True, kw_only=True):
    """A log of ``ptxas -v``, its time apart from the rest."""

    text: str
    seconds: float | None
    resources: Resources | None


def read_ptxas_log(text: str) -> PtxasLog:
    """The log without paths and times, and what it says of registers, stack and spills."""
    time = _COMPILE_TIME.search(text)
    registers, stack = _REGISTERS.search(text), _STACK.search(text)
    resources = None
    if registers or stack:
        resources = Resources(
            registers=int(registers["registers"]) if registers else None,
            stack=int(stack["stack"]) if stack else None,
            spill_stores=int(stack["stores"]) if stack else None,
            spill_loads=int(stack["loads"]) if stack else None,
        )
    kept = _PTX_FILE.sub("kernel.ptx", _COMPILE_TIME.sub("", text))
    return PtxasLog(
        text=without_folders(kept).strip(),
        seconds=float(time["ms"]) / 1000 if time else None,
        resources=resources,
    )
