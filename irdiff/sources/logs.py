"""Read tritonparse logs: one line of JSON for each event, of which compilations hold the text of their stages."""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator, Mapping

from irdiff.model.issues import Issue
from irdiff.model.specs import StageLookup
from irdiff.sources.entries import Found, bundles_of
from irdiff.sources.files import Folder, FoundFile, in_memory, lost
from irdiff.sources.names import JSON_SUFFIX

MAX_LINE = 1 << 28
"""Bytes (256 MiB) of one event; tritonparse leaves out files over 10 MiB itself."""

MAX_TOTAL = 1 << 31
"""Bytes (2 GiB) of one log after decompression."""

MAX_ISSUES = 20
"""Lines of one log that are complained of one by one."""

_NOT_RECORDED = re.compile(r"<(?:file too large|error |\S{1,40} failed)[^\n]{0,2000}>\Z")
"""What tritonparse puts in the place of a content it does not have (``structured_logging.py``)."""


def read_log(file: FoundFile, context: StageLookup) -> Found:
    """Every compilation of a log, of layout ``log``; where a log is named ``path``, a line of it is ``path:7``.

    Compressed or not is told from the content. The order of compilations is kept in ``Bundle.modified``. The same
    compilation recorded twice (by several ranks) counts once. Raises nothing: what is damaged is an issue, and what
    could be read up to there is returned.
    """
    if file.read is None:
        return Found(issues=(file.issue,) if file.issue is not None else ())
    found = _Log(path=file.location, modified=file.modified, context=context)
    try:
        for number, line in enumerate(_lines(file.read()), 1):
            found.event(number, line)
    except _TooLargeError as error:
        found.complain("too-large", str(error), None)
    except (OSError, EOFError, zlib.error) as error:
        found.complain("damaged-log", f"cannot be read to its end: {error}", None)
    return found.result()


class _TooLargeError(Exception):
    """A limit was reached."""


def _lines(data: bytes) -> Iterator[bytes]:
    """Lines of a log, decompressed: gzip members one after another (``.ndjson.gz``, ``.bin.ndjson``) or plain."""
    memory = io.BytesIO(data)
    stream: gzip.GzipFile | io.BytesIO = (
        gzip.GzipFile(fileobj=memory) if data.startswith(b"\x1f\x8b") else memory
    )
    total = 0
    while line := stream.readline(MAX_LINE + 1):
        total += len(line)
        if len(line) > MAX_LINE:
            raise _TooLargeError(f"has a line of more than {MAX_LINE >> 20} MiB; the rest was not read")
        if total > MAX_TOTAL:
            raise _TooLargeError(f"holds more than {MAX_TOTAL >> 20} MiB; the rest was not read")
        yield line


class _Log:
    """The compilations of one log so far."""

    def __init__(self, *, path: str, modified: float, context: StageLookup) -> None:
        self._path = path
        self._modified = modified
        self._context = context
        self._seen: set[tuple[tuple[str, str], ...]] = set()
        self._found: list[Found] = []
        self._issues: list[Issue] = []
        self._bad = 0

    def complain(self, code: str, message: str, line: int | None) -> None:
        self._bad += 1
        if self._bad <= MAX_ISSUES:
            self._issues.append(
                Issue(severity="error", code=code, message=message, where=self._path, line=line)
            )

    def event(self, number: int, line: bytes) -> None:
        """Take in one line."""
        if not line.strip():
            return
        try:
            event = json.loads(line.decode("utf-8"), parse_int=_integer)
        except (ValueError, RecursionError) as error:
            self.complain("bad-log-line", f"is not JSON: {type(error).__name__}", number)
            return
        if not isinstance(event, dict) or event.get("event_type") != "compilation":
            return
        payload = event.get("payload")
        content = payload.get("file_content") if isinstance(payload, dict) else None
        if not isinstance(payload, dict) or not isinstance(content, dict):
            self.complain("bad-log-line", "is a compilation without file_content", number)
            return
        texts = {name: text for name, text in content.items() if isinstance(text, str)}
        if len(texts) < len(content):
            self.complain("bad-log-line", "holds a file that is no text", number)
        identity = tuple(sorted(texts.items()))
        if not texts or identity in self._seen:
            return
        self._seen.add(identity)
        self._take(number, texts, payload.get("metadata"))

    def _take(self, number: int, texts: Mapping[str, str], metadata: object) -> None:
        path = f"{self._path}:{number}"
        modified = self._modified + number * 1e-5  # the order of events, within the time stamp of the file
        files = [_file(name, path, text, modified) for name, text in texts.items()]
        if isinstance(metadata, dict) and not any(name.endswith(JSON_SUFFIX) for name in texts):
            files.append(_metadata(files, path, metadata, modified))
        folder = Folder(path=path, name="", files=tuple(sorted(files, key=lambda file: file.name)))
        found = bundles_of(folder, self._context, layout="log")
        if not found.bundles:
            self.complain("bad-log-line", "is a compilation without any stage that irdiff knows", number)
        self._found.append(found)

    def result(self) -> Found:
        if self._bad > MAX_ISSUES:
            message = f"has {self._bad - MAX_ISSUES} more lines that could not be read"
            self._issues.append(
                Issue(severity="error", code="bad-log-line", message=message, where=self._path)
            )
        return Found(
            bundles=tuple(bundle for found in self._found for bundle in found.bundles),
            issues=(*self._issues, *(issue for found in self._found for issue in found.issues)),
        )


def _file(name: str, path: str, text: str, modified: float) -> FoundFile:
    location = f"{path}!{_clean(name)}"
    if _NOT_RECORDED.match(text):
        return lost(_clean(name), location, "not-recorded", f"was not recorded by tritonparse: {text[1:-1]}")
    return in_memory(_clean(name), location, text.encode("utf-8", "surrogatepass"), modified)


def _metadata(
    files: list[FoundFile], path: str, metadata: Mapping[str, object], modified: float
) -> FoundFile:
    """The event's own metadata in the place of the JSON it was made from, where that is not recorded itself."""
    stems = sorted({file.kind.stem for file in files if file.kind.role == "stage"})
    file_name = f"{stems[0] if stems else 'kernel'}{JSON_SUFFIX}"
    text = json.dumps(metadata, sort_keys=True)  # ASCII; it was parsed, so it is neither too deep nor a cycle
    return in_memory(file_name, f"{path}!metadata", text.encode("ascii"), modified)


def _integer(digits: str) -> int | str:
    """Digits past 20 stay text: Python takes quadratic time for them, and refuses more than 4,300."""
    return int(digits) if len(digits) <= 20 else digits


def _clean(name: str) -> str:
    return name.encode("utf-8", "backslashreplace").decode("utf-8")
