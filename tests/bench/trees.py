"""The recorded H200 cache and what is made of it: a copy with kernels recompiled, and many copies side by side."""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import corpus

COMMENTS = {".ptx": "//", ".llir": ";", ".ttir": "//", ".ttgir": "//", ".source": "//"}
STAGES = ("source", "ttir", "ttgir", "llir", "ptx", "cubin")


@contextlib.contextmanager
def trees() -> Iterator[tuple[Path, Path]]:
    """The data, and a copy of which every tenth kernel was recompiled differently."""
    with tempfile.TemporaryDirectory() as folder:
        tree = corpus.unpack_h200(Path(folder)) if corpus.test_data() else _copied(Path(folder))
        after = Path(folder) / "after"
        recompiled(tree, after, 10)
        yield tree, after


def _copied(folder: Path) -> Path:
    tree = folder / "fixtures"
    for entry in sorted((corpus.BUNDLES / "triton-3.6.0" / "sm_90").iterdir()):
        if entry.is_dir():
            shutil.copytree(entry, tree / entry.name)
    return tree


def recompiled(tree: Path, into: Path, every: int) -> None:
    """A copy of a tree in which every so-many-th kernel has the files of another one."""
    shutil.copytree(tree, into)
    entries = sorted(path for path in tree.iterdir() if path.is_dir())
    by_name: dict[str, list[Path]] = {}
    for entry in entries:
        by_name.setdefault(_name(entry), []).append(entry)
    for number in range(0, len(entries), every):
        entry = entries[number]
        name = _name(entry)
        alike = [other for other in by_name[name] if other != entry]
        other = alike[number % len(alike)] if alike else entries[(number + 1) % len(entries)]
        for stage in STAGES:
            source = other / f"{_name(other)}.{stage}"
            if source.exists():
                (into / entry.name / f"{name}.{stage}").write_bytes(source.read_bytes())
        mine = json.loads((entry / f"{name}.json").read_text())
        theirs = json.loads((other / f"{_name(other)}.json").read_text())
        theirs |= {key: mine[key] for key in ("hash", "name") if key in mine}
        (into / entry.name / f"{name}.json").write_text(json.dumps(theirs))


def _name(entry: Path) -> str:
    return next(path.name[7:-5] for path in entry.iterdir() if path.name.startswith("__grp__"))


def replicated(tree: Path, into: Path, copies: int) -> None:
    """So many copies of a tree side by side, no file of one equal to a file of another."""
    for number in range(copies):
        for entry in sorted(path for path in tree.iterdir() if path.is_dir()):
            folder = into / f"{entry.name[:-4]}{_base32(number)}"
            folder.mkdir(parents=True)
            for file in entry.iterdir():
                data = file.read_bytes()
                if file.suffix in COMMENTS:
                    data += f"{COMMENTS[file.suffix]} {number}\n".encode()
                elif file.suffix == ".json" and not file.name.startswith("__grp__"):
                    said = json.loads(data)
                    said["hash"] = hashlib.sha256(f"{said.get('hash')} {number}".encode()).hexdigest()
                    data = json.dumps(said).encode()
                elif file.suffix == ".cubin":
                    data += number.to_bytes(16, "little")
                (folder / file.name).write_bytes(data)


def _base32(number: int) -> str:
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
    return "".join(letters[number >> shift & 31] for shift in (15, 10, 5, 0))
