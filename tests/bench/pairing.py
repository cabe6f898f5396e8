"""Time the pairing of many kernels that were read already: what it adds to the summaries.

Run with ``python tests/bench/pairing.py [COUNT]``; the kernels are variations of one fixture kernel, drawn from a
printed seed, so that no pair is found by an equal entry, specialization or text: the longest way through.
"""

from __future__ import annotations

import random
import sys
import time
from contextlib import closing
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import corpus
from irdiff.engine.kernels import Kernel
from irdiff.engine.pair import pair
from irdiff.engine.summarize import Reader
from irdiff.model.facts import Fact, Value
from irdiff.plugins import load_plugins
from irdiff.sources import load
from irdiff.tools.toolbox import LocalToolbox

SEED = 6
OPERATIONS = ("source.ops", "ttir.ops")


def main(count: int) -> None:
    """Print one line for each kind of tree."""
    registry = load_plugins(external=False)
    with closing(LocalToolbox({tool.id: tool for tool in registry.tools}, {})) as tools:
        loaded = load(str(corpus.entry("3.6.0", "sm_90", "matmul_kernel")), registry, {}, registry.sources)
        (kernel,) = Reader(registry, tools, canonical=True).read(loaded.bundles)
    print(f"seed {SEED}, {count:,} x {count:,} kernels")
    for words, numbered, options in (
        ("specializations of one name", False, True),
        ("one name, nothing known of the specialization", False, False),
        ("renumbered names", True, False),
    ):
        chance = random.Random(SEED)
        before = [varied(kernel, n, chance, numbered=numbered, options=options) for n in range(count)]
        places = chance.sample(range(count), count)
        after = [again(one, n, places[n], chance, numbered=numbered) for n, one in enumerate(before)]
        chance.shuffle(after)
        start = time.perf_counter()
        found = pair(before, after, registry.facts)
        seconds = time.perf_counter() - start
        own = sum(one.bundle.metadata == other.bundle.metadata for one, other, _ in found.pairs)
        print(f"{words:<48}{seconds:7.3f} s   {len(found.pairs)} pairs, {own} with their own")


def varied(kernel: Kernel, n: int, chance: random.Random, *, numbered: bool, options: bool) -> Kernel:
    """A kernel with other counts of operations, and another specialization where asked for."""
    name = f"triton_poi_fused_add_{n}" if numbered else kernel.bundle.name
    bundle = msgspec.structs.replace(
        kernel.bundle, name=name, path=f"before/{n}", hash=f"b{n}", metadata={"n": n}
    )

    def change(fact: Fact) -> Value:
        if fact.id in OPERATIONS and isinstance(fact.value, dict):
            return {key: chance.randrange(1, 60) for key in fact.value}
        if options and fact.id == "meta.options" and isinstance(fact.value, dict):
            return {**fact.value, "num_warps": 2 ** chance.randrange(4), "num_stages": n}
        return fact.value

    return edited(kernel, bundle=bundle, change=change)


def again(kernel: Kernel, n: int, place: int, chance: random.Random, *, numbered: bool) -> Kernel:
    """The same kernel compiled by another release: an option more, some counts moved, another number."""
    name = f"triton_poi_fused_add_{n + 1}" if numbered else kernel.bundle.name
    bundle = msgspec.structs.replace(kernel.bundle, name=name, path=f"after/{place}", hash=f"a{n}")

    def change(fact: Fact) -> Value:
        if fact.id in OPERATIONS and isinstance(fact.value, dict):
            return {
                key: value + chance.randrange(3)
                for key, value in fact.value.items()
                if isinstance(value, int)
            }
        if fact.id == "meta.options" and isinstance(fact.value, dict):
            return {**fact.value, "new_option": True}
        return fact.value

    return edited(kernel, bundle=bundle, change=change)


def edited(kernel: Kernel, *, bundle: object, change: object) -> Kernel:
    """The kernel with another bundle and its facts changed, no stage equal to any other kernel's."""
    readings = {}
    for name, reading in kernel.readings.items():
        summary = reading.summary
        assert summary is not None
        facts = tuple(msgspec.structs.replace(fact, value=change(fact)) for fact in summary.facts)  # type: ignore[operator]
        digest = f"{name} {bundle.path}"  # type: ignore[attr-defined]
        readings[name] = msgspec.structs.replace(
            reading, summary=msgspec.structs.replace(summary, facts=facts), canonical=digest, sha256=digest
        )
    return msgspec.structs.replace(kernel, bundle=bundle, readings=readings)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
