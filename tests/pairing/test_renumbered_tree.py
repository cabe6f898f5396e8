"""A recorded tree whose kernels all get other numbers is paired kernel by kernel with itself."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

from irdiff.engine.pair import pair
from irdiff.engine.summarize import Reader
from irdiff.plugins import load_plugins
from irdiff.sources import load
from irdiff.tools.toolbox import LocalToolbox

KEPT = (".json", ".ttir", ".cubin")
"""Files of each entry that take part: enough to tell kernels apart, and quick to read."""


def next_number(name: str) -> str:
    """The name with the next number of as many digits, so that names inside a cubin keep their length."""
    stem, _, number = name.rpartition("_")
    if not stem or not number.isdigit():
        return name
    following = int(number) + 1
    return f"{stem}_{following if len(str(following)) == len(number) else 0:0{len(number)}d}"


def renumbered(tree: Path, into: tuple[Path, Path]) -> int:
    """Copy the numbered kernels as they are, and with names, symbols, hashes and folders changed."""
    count = 0
    for folder in sorted(path for path in tree.iterdir() if path.is_dir()):
        name = next(folder.glob("*.ttir")).stem
        if next_number(name) == name:
            continue
        count += 1
        for root, new, place in (
            (into[0], name, folder.name),
            (into[1], next_number(name), folder.name[::-1]),
        ):
            (root / place).mkdir(parents=True)
            for path in folder.iterdir():
                if path.suffix not in KEPT or path.name.startswith("__grp__"):
                    continue
                data = path.read_bytes().replace(name.encode(), new.encode())
                if path.suffix == ".json" and new != name:
                    data = re.sub(rb'"hash": "\w+"', b'"hash": "%d"' % count, data)
                (root / place / path.name.replace(name, new)).write_bytes(data)
    return count


def test_each_kernel_finds_its_own_under_its_next_number(h200: Path, tmp_path: Path) -> None:
    into = (tmp_path / "before", tmp_path / "after")
    count = renumbered(h200, into)
    registry = load_plugins(external=False)
    with closing(LocalToolbox({tool.id: tool for tool in registry.tools}, {})) as tools:
        sides = [load(str(folder), registry, {}, registry.sources).bundles for folder in into]
        kernels = Reader(registry, tools, canonical=True).read_both(*sides)
        found = pair(*kernels, registry.facts)
    assert count > 80
    assert (len(found.pairs), found.removed, found.added) == (count, (), ())
    for one, other, _ in found.pairs:
        old, new = one.bundle, other.bundle
        assert new.name == next_number(old.name)
        text = old.artifacts["ttir"].read().replace(old.name.encode(), new.name.encode())
        assert text == new.artifacts["ttir"].read()
    for one, other, how in found.pairs:
        assert how.method == "name"
        assert how.confidence >= 0.8, (one.bundle.name, other.bundle.name)
