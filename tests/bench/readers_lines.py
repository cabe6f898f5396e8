"""How fast LLVM IR, PTX and SASS text are read, with all facts, and with the canonical form too: MB a second of CPU.

Run with ``python tests/bench/readers_lines.py [FOLDER]``. Without a folder the recorded H200 cache is read where
IRDIFF_TEST_DATA names it, else the fixtures are. Every distinct content is read once a turn, in one process; MB are
10**6 bytes of the files, of SASS those of what ``nvdisasm -c`` writes of the cubins. The first turn begins without
what a process remembers of statements and operands: it is the figure of a run that reads each file once.
"""

from __future__ import annotations

import contextlib
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import corpus
from irdiff.model.bundle import Artifact
from irdiff.model.specs import Context, StageSpec
from irdiff.plugins import load_plugins
from irdiff.tools.toolbox import LocalToolbox
from toy_stages import NoTools

TURNS = 5
GOALS = {"llir": 40, "ptx": 25, "sass": 30}
"""MB a second, all facts, on a machine where nothing else runs."""


def rates(folder: Path, turns: int = TURNS) -> dict[str, dict[str, tuple[float, ...]]]:
    """Stage to ``facts`` and ``facts and canonical form`` to MB a second of each turn, the cold one first."""
    registry = load_plugins(external=False)
    stages = {suffix: stage for stage in registry.stages for suffix in stage.suffixes}
    found: dict[str, dict[str, tuple[float, ...]]] = {}
    for suffix in (".llir", ".ptx", ".sass"):
        if suffix == ".sass":
            with contextlib.closing(LocalToolbox({tool.id: tool for tool in registry.tools}, {})) as tools:
                contents = listings(sorted(folder.rglob("*.cubin")), tools)
        else:
            contents = sorted({path.read_bytes() for path in folder.rglob(f"*{suffix}")})
        if contents:
            size = sum(map(len, contents)) / 1e6
            pairs = [_turn(stages[suffix], suffix, contents) for _ in range(turns)]
            found[stages[suffix].id] = {
                "facts": tuple(size / facts for facts, _ in pairs),
                "facts and canonical form": tuple(size / both for _, both in pairs),
            }
    return found


def listings(cubins: Sequence[Path], tools: LocalToolbox) -> list[bytes]:
    """What ``nvdisasm -c`` writes of each distinct cubin that it can decode; nothing where there is no nvdisasm."""
    copies = tools.find("nvdisasm")
    distinct = list({path.read_bytes(): path for path in cubins}.values()) if copies else []
    with ThreadPoolExecutor(2) as threads:
        done = list(threads.map(lambda path: tools.run(copies[0], ["-c", str(path)], timeout=120), distinct))
    return sorted({each.stdout for each in done if each.returncode == 0})


def _turn(stage: StageSpec, suffix: str, contents: Sequence[bytes]) -> tuple[float, float]:
    """CPU seconds of the summary of each content, and of that with the canonical form: one parse is shared by both."""
    facts = both = 0.0
    for data in contents:
        artifact = Artifact.of_bytes(data, stage=stage.id, suffix=suffix)
        context = Context(tools=NoTools())
        start = time.process_time()
        stage.summarize(artifact, context)
        facts += time.process_time() - start
        stage.canonical(artifact, context)
        both += time.process_time() - start
    return facts, both


def bare(folder: Path, turns: int = TURNS) -> float:
    """MB a second at which one expression finds the first word of every line of the PTX: what this machine can do."""
    contents = sorted({path.read_bytes() for path in folder.rglob("*.ptx")})
    word = re.compile(rb"(?m)^[ \t]*([A-Za-z_.@%$]\S*)")
    rates = []
    for _ in range(turns):
        start = time.process_time()
        for data in contents:
            word.findall(data)
        rates.append(sum(map(len, contents)) / 1e6 / (time.process_time() - start))
    return statistics.median(rates)


def main(folder: Path) -> None:
    """Print two lines for each stage."""
    print(f"one expression over every line of the PTX {bare(folder):7.1f} MB/s")
    for stage, found in rates(folder).items():
        for what, turns in found.items():
            goal = f", goal {GOALS[stage]}" if what == "facts" else ""
            spread = f"({min(turns):.1f} .. {max(turns):.1f}, cold {turns[0]:.1f}{goal})"
            print(f"{stage:<6}{what:<26}{statistics.median(turns):7.1f} MB/s  {spread}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        if len(sys.argv) > 1:
            main(Path(sys.argv[1]))
        else:
            main(corpus.unpack_h200(Path(scratch)) if corpus.test_data() else corpus.BUNDLES)
