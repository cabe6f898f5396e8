"""The file of a baseline: everything is read back, and equal baselines are equal bytes."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from irdiff.baseline.content import Baseline, Form, RecordedKernel, RecordedSpec
from irdiff.baseline.read import parse_baseline
from irdiff.baseline.write import baseline_text
from irdiff.model.facts import Fact, Scope

TEXT = st.text(max_size=8) | st.sampled_from(
    ["", "12", "null", 'a "b"\n', "kernel x", "  forms", "# no", "<<<<<<<", "é, [x]"]
)
COUNTS = st.dictionaries(TEXT, st.integers(0, 9), max_size=3)
SPECS = {
    "one.registers": RecordedSpec(stage="one", kind="quantity", role="registers"),
    "one.version": RecordedSpec(stage="one", kind="token"),
    "one.options": RecordedSpec(stage="one", kind="record", role="options"),
    "one.arguments": RecordedSpec(stage="one", kind="record", role="arguments"),
    "one.adds": RecordedSpec(stage="one", kind="count", in_loops=True),
    "two.arguments": RecordedSpec(stage="two", kind="record", role="arguments"),
    "two.ops": RecordedSpec(stage="two", kind="tally", in_loops=True),
    "two.names": RecordedSpec(stage="two", kind="sequence"),
    "all.ratio": RecordedSpec(stage="", kind="quantity"),
    "all.kinds": RecordedSpec(stage="", kind="set"),
}
PROVENANCE = frozenset({"one.version"})
VALUES = {
    "quantity": st.integers(-5, 300) | st.floats(-1e300, 1e300),
    "token": TEXT,
    "count": st.integers(0, 300),
    "tally": COUNTS,
    "sequence": st.lists(TEXT, max_size=3).map(tuple),
    "set": st.sets(TEXT, max_size=3).map(lambda found: tuple(sorted(found))),
    "record": st.dictionaries(TEXT, st.none() | st.booleans() | st.integers(0, 9) | TEXT, max_size=3),
}
DIGEST = st.text("0123456789abcdef", min_size=64, max_size=64)
FORM = st.builds(
    Form,
    canonical=st.none() | DIGEST,
    without=st.dictionaries(st.sampled_from(["control words", "x y"]), DIGEST, max_size=1),
    degraded=st.none() | TEXT.filter(bool),
    folded=st.sets(TEXT, max_size=2).map(lambda found: tuple(sorted(found))),
)


@st.composite
def kernels(draw: st.DrawFn) -> RecordedKernel:
    held = draw(st.sets(st.sampled_from(["one", "two", "three"])))
    loops = draw(st.lists(st.sampled_from(["loop0", "loop0/loop1", "loop2"]), unique=True, max_size=2))
    facts = []
    for scope in ("", *loops):
        for name, spec in SPECS.items():
            there = spec.stage in held or (spec.stage == "" and not scope)
            if there and (spec.in_loops or not scope) and draw(st.booleans()):
                value = draw(VALUES[spec.kind])
                facts.append(
                    Fact(
                        id=name, value=value, scope=scope, exactness=draw(st.sampled_from([None, "estimate"]))
                    )
                )
    stages = sorted(held & {"one", "two"})
    counts = {(stage, loop): draw(st.none() | st.integers(0, 9)) for stage in stages for loop in loops}
    return RecordedKernel(
        name=draw(TEXT),
        target=draw(st.sampled_from([None, "cuda:90", "hip:gfx942"])),
        layout=draw(st.sampled_from(["cache", "dump", "failed"])),
        forms={stage: draw(FORM) for stage in sorted(held)},
        unreadable=draw(st.sampled_from([(), ("four",)])),
        missing=draw(st.sampled_from([(), ("five",)])),
        facts=tuple(sorted(facts, key=lambda fact: (fact.scope, fact.id))),
        scopes={
            stage: tuple(Scope(id=loop, trip_count=counts[stage, loop]) for loop in loops) for stage in stages
        }
        if loops
        else {},
    )


BASELINES = st.lists(kernels(), max_size=4).map(
    lambda found: Baseline(
        readers={"one": "irdiff 0.1.0", "two": "a b 1", "three": "irdiff"}, specs=SPECS, kernels=tuple(found)
    )
)


def _kernels(baseline: Baseline) -> list[bytes]:
    """The kernels without their lines, in an order of their own; scopes in the order of their names."""
    found = []
    for kernel in baseline.kernels:
        scopes = {
            stage: tuple(sorted(scopes, key=lambda scope: scope.id))
            for stage, scopes in kernel.scopes.items()
        }
        found.append(
            msgspec.json.encode(msgspec.structs.replace(kernel, line=0, scopes=scopes), order="sorted")
        )
    return sorted(found)


@settings(max_examples=60)
@given(BASELINES)
def test_a_baseline_is_read_back_as_it_was(baseline):
    text = baseline_text(baseline, PROVENANCE)
    again = parse_baseline(text, where="kernels.baseline")
    assert (again.readers, again.specs) == (baseline.readers, baseline.specs)
    assert _kernels(again) == _kernels(baseline)


@settings(max_examples=60)
@given(BASELINES, st.randoms())
def test_equal_baselines_are_equal_bytes_whatever_the_order_of_kernels(baseline, random):
    shuffled = list(baseline.kernels)
    random.shuffle(shuffled)
    other = msgspec.structs.replace(baseline, kernels=tuple(shuffled))
    text = baseline_text(baseline, PROVENANCE)
    assert baseline_text(other, PROVENANCE) == text
    assert baseline_text(parse_baseline(text, where="x"), PROVENANCE) == text


@settings(max_examples=60)
@given(BASELINES)
def test_no_name_or_value_begins_a_line_of_its_own(baseline):
    text = baseline_text(baseline, PROVENANCE).decode()
    assert sum(line.startswith("kernel ") for line in text.split("\n")) == len(baseline.kernels)
    assert all(line.isprintable() for line in text.split("\n"))


def test_what_most_kernels_share_stands_once():
    def kernel(name, warps):
        options = Fact(id="one.options", value={"num_warps": warps, "arch": "sm90"})
        return RecordedKernel(name=name, forms={"one": Form(canonical="0" * 64)}, facts=(options,))

    baseline = Baseline(
        readers={"one": "irdiff 0.1.0"},
        specs=SPECS,
        kernels=tuple(kernel(str(n), 8 if n == 2 else 4) for n in range(9)),
    )
    text = baseline_text(baseline, PROVENANCE).decode()
    assert text.count("arch = sm90") == text.count("num_warps = 4") == 1
    assert text.count("num_warps = 8") == 1
