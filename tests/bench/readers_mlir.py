"""How fast source, TTIR and TTGIR are read: all facts and the canonical form, MB of the files' bytes a second of CPU.

Run with ``python tests/bench/readers_mlir.py [FOLDER]``. Without a folder the recorded H200 cache is read where
IRDIFF_TEST_DATA names it, else the fixtures are. Every distinct content is read once a turn; the first turn also fills
the tables of forms that a process begins without.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import corpus
from irdiff.model.bundle import Artifact
from irdiff.model.specs import Context, StageSpec
from irdiff.plugins import load_plugins
from toy_stages import NoTools

SUFFIXES = (".source", ".ttir", ".ttgir")
TURNS = 5


def rates(folder: Path, turns: int = TURNS) -> dict[str, tuple[float, ...]]:
    """Stage to MB (10**6 raw bytes) a second of CPU time of each turn, the cold one first; files are read before."""
    stages = {suffix: stage for stage in load_plugins(external=False).stages for suffix in stage.suffixes}
    found: dict[str, tuple[float, ...]] = {}
    for suffix in SUFFIXES:
        contents = sorted({path.read_bytes() for path in folder.rglob(f"*{suffix}")})
        if contents:
            seconds = [_turn(stages[suffix], suffix, contents) for _ in range(turns)]
            found[stages[suffix].id] = tuple(sum(map(len, contents)) / 1e6 / one for one in seconds)
    return found


def _turn(stage: StageSpec, suffix: str, contents: list[bytes]) -> float:
    """CPU seconds of one summary and one canonical form of each content, one parse shared by both."""
    start = time.process_time()
    for data in contents:
        artifact = Artifact.of_bytes(data, stage=stage.id, suffix=suffix)
        context = Context(tools=NoTools())
        stage.summarize(artifact, context)
        stage.canonical(artifact, context)
    return time.process_time() - start


def main(folder: Path) -> None:
    """Print one line for each stage."""
    for stage, found in rates(folder).items():
        spread = f"({min(found):.2f} .. {max(found):.2f}, cold {found[0]:.2f})"
        print(f"{stage:<8}{statistics.median(found):7.2f} MB/s  {spread}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        if len(sys.argv) > 1:
            main(Path(sys.argv[1]))
        else:
            main(corpus.unpack_h200(Path(scratch)) if corpus.test_data() else corpus.BUNDLES)
