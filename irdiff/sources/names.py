"""What Triton's file names say: which files are stages of a kernel, which describe them, which are neither."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

import msgspec

Role: TypeAlias = Literal["stage", "group", "autotune", "provenance", "reproducer", "log", "foreign"]
"""``stage``: one stage of the kernel ``stem`` (its JSON too); ``group``: Triton's list of an entry's files;
``autotune``: the winner and timings of the autotuner; ``provenance``: ``irdiff.json``; ``reproducer``: a pass
pipeline with its input; ``log``: a tritonparse log; ``foreign``: nothing of a compiled kernel."""

JSON_SUFFIX = ".json"
"""Suffix of the stage JSON, ``NAME.json`` (every Triton from 2.1 on)."""

SOURCE_SUFFIX = ".source"
"""The kernel as the front end left it (Triton 3.6 on); kept by ``TRITON_STORE_BINARY_ONLY`` too."""

GROUP_PREFIX = "__grp__"
"""Triton's ``runtime/cache.py`` (``put_group``): ``__grp__NAME.json`` lists the files of ``NAME``."""

BINARY_SUFFIXES = frozenset({".cubin", ".hsaco"})
"""What ``TRITON_STORE_BINARY_ONLY`` keeps beside the JSON (Triton's ``compiler/compiler.py``): machine code even
where no plugin claims it."""

PROVENANCE_NAME = "irdiff.json"
"""What ``irdiff compile`` writes beside an entry."""

REPRODUCER_INPUT = {
    "make_ttir": SOURCE_SUFFIX,
    "make_ttgir": ".ttir",
    "gluon_to_ttgir": SOURCE_SUFFIX,
    "make_llir": ".ttgir",
}
"""``TRITON_REPRODUCER_PATH`` writes ``PREFIX.PASSES.repro.mlir``: the input of those passes, so the suffix of
the stage before them (the stages of ``backends/nvidia/compiler.py``; files of Triton 3.6 were read)."""

# fmt: off
IGNORED_SUFFIXES = frozenset({
    ".a", ".bak", ".best_config", ".bin", ".bz2", ".c", ".cc", ".cfg", ".cpp", ".css", ".csv", ".cu",
    ".cuh", ".d", ".db", ".dll", ".dylib", ".exe", ".gitignore", ".gitkeep", ".gz", ".h", ".hpp",
    ".hsaco_path", ".html", ".ini", ".ipynb", ".js", ".kernel_perf", ".lock", ".log", ".md", ".mlir",
    ".npy", ".npz", ".o", ".orig", ".out", ".pdf", ".pid", ".pkl", ".png", ".pt", ".pth", ".py", ".pyc",
    ".pyd", ".pyi", ".pyo", ".rej", ".rst", ".safetensors", ".sh", ".so", ".sqlite", ".svg", ".swp",
    ".tar", ".tgz", ".tmp", ".toml", ".tsv", ".txt", ".whl", ".xml", ".xz", ".yaml", ".yml", ".zip",
    ".zst",
})
# fmt: on
"""Never a stage: sources, libraries (launcher stubs), locks, logs, archives, configuration, editors' leftovers.
``.hsaco_path`` is Triton 2.1's note of where an AMD binary is. Any other suffix behind a kernel's name is a
stage, with or without a plugin."""

SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", "__pycache__", "node_modules"})
"""Folders that are never looked into, beside ``.irdiff-*`` (unfinished work of irdiff) and ``tmp.pid_*``
(where Triton after 3.0 writes a file before it renames it)."""

ARCHIVE_SUFFIXES = (
    ".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tbz2", ".zip",
)  # fmt: skip

UNSUPPORTED_SUFFIXES = (".tar.zst", ".tzst", ".7z", ".rar")
"""Archives too, of a kind that the standard library does not read."""

_ENTRY = re.compile(r"(?:[0-9a-f]{64}|[0-9a-f]{32}|[A-Z2-7]{52}|[A-Z2-7]{26})\Z")
_REPRODUCER = re.compile(r"(?P<stem>.+)\.(?P<passes>[A-Za-z_][A-Za-z0-9_]*)\.repro\.mlir\Z", re.DOTALL)


class FileName(msgspec.Struct, frozen=True, kw_only=True):
    """A file name taken apart."""

    role: Role
    stem: str = ""
    """Name of the kernel (the prefix, for a reproducer); Triton cuts it at 150 characters."""
    suffix: str = ""
    """With its dot, in lower case; for a reproducer the suffix of the stage it holds, ``""`` if not known."""


_FOREIGN = FileName(role="foreign")
_PROVENANCE = FileName(role="provenance")


def classify(name: str) -> FileName:
    """What a file is, by its name alone."""
    if name == PROVENANCE_NAME:
        return _PROVENANCE
    if name.startswith(GROUP_PREFIX):
        if name.endswith(JSON_SUFFIX):
            return FileName(
                role="group", stem=name[len(GROUP_PREFIX) : -len(JSON_SUFFIX)], suffix=JSON_SUFFIX
            )
        return _FOREIGN
    if name.startswith("._") or ".tmp.pid_" in name:  # macOS's shadow files; Triton 2.1 to 3.0 while writing
        return _FOREIGN
    stem, dot, extension = name.rpartition(".")
    suffix = f".{extension.lower()}"
    if suffix in (".ndjson", ".gz", ".mlir", JSON_SUFFIX):
        special = _special(name, name.lower())
        if special is not None:
            return special
    if not stem or not dot or not extension or suffix in IGNORED_SUFFIXES:
        return _FOREIGN
    return FileName(role="stage", stem=stem, suffix=suffix)


def _special(name: str, lowered: str) -> FileName | None:
    """Names of which more than the last suffix counts."""
    if lowered.endswith((".ndjson", ".ndjson.gz")):
        return FileName(role="log")
    if lowered.endswith(".autotune.json"):
        return FileName(role="autotune", stem=name[: -len(".autotune.json")])
    reproducer = _REPRODUCER.match(name)
    if reproducer is None:
        return None
    suffix = REPRODUCER_INPUT.get(reproducer["passes"], "")
    return FileName(role="reproducer", stem=reproducer["stem"], suffix=suffix)


def is_archive(path: str) -> bool:
    """Whether a name is that of an archive."""
    return path.lower().endswith((*ARCHIVE_SUFFIXES, *UNSUPPORTED_SUFFIXES))


def is_entry_name(folder: str) -> bool:
    """Whether a folder's name is a cache key: an MD5 or SHA-256 in hex (Triton 2.1 to 3.1) or base32."""
    return _ENTRY.match(folder) is not None


def is_skipped_folder(name: str) -> bool:
    """Whether nothing below a folder of that name is a finished entry."""
    return name in SKIPPED_FOLDERS or name.startswith(("tmp.pid_", ".irdiff-"))


def shown(name: str) -> str:
    r"""A file name as text that every output can hold: bytes that are not UTF-8 as ``\xNN``."""
    if name.isascii():
        return name
    try:
        return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except (
        UnicodeEncodeError
    ):  # half of a surrogate pair: no file's name, but whoever calls from Python may give it
        return name.encode("utf-8", "backslashreplace").decode()
