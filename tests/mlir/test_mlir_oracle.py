"""What is counted is what libtriton's own MLIR parser finds."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

import corpus
from irdiff_mlir import drift, program, reader
from mlir import libtriton
from mlir.mlir_samples import STAGES, SUFFIXES, artifact, context, fact_of, kernel

UNUSUAL = kernel(
    """
    %0 = arith.constant 0 : i32
    %1 = arith.constant 1 : i32
    scf.for %i = %0 to %n step %1  : i32 {
      scf.if %c {
        tt.assert %c, "a  // {b loc(#loc) \\" x" : i1
      }
      scf.if %c {
        %q = arith.addi %i, %1 : i32
      } else {
        tt.print " pid: " {hex = false, isSigned = array<i32: 1>} : %n : i32
      }
    } {tt.num_stages = 2 : i32}
    %2:2 = scf.if %c -> (i32, i32) {
      scf.yield %0, %1 : i32, i32
    } else {
      scf.yield %n, %1 : i32, i32
    }
    %3 = scf.while (%arg = %2#1) : (i32) -> i32 {
      scf.condition(%c) %arg : i32
    } do {
    ^bb0(%arg: i32):
      scf.for %i = %0 to %arg step %1  : i32 {
      }
      scf.yield %arg : i32
    }
    %4 = tt.elementwise_inline_asm "x" {constraints = "=r", packed_element = 1 : i32, pure = true} %3 : i32 -> i32
    %5 = ttg.warp_specialize(%4) attributes {requestedRegisters = array<i32: 24, 80>}
    default {
      %6 = arith.addi %4, %4 : i32
      ttg.warp_yield %6 : i32
    }
    partition0(%arg0: i32) num_warps(4) {
      ttg.warp_return
    }
    partition1(%arg0: i32) num_warps(1) {
      ttg.warp_return
    } : (i32) -> i32
    """
)
"""Syntax that the fixtures have none of: loops that carry nothing, strings like code, warp specialization."""


def _counts(path: Path) -> dict[str, int]:
    stage = STAGES[path.suffix]
    summary = stage.summarize(artifact(path.read_bytes()), context())
    assert not [issue for issue in summary.issues if issue.severity == "error"]
    value = fact_of(summary, f"{stage.id}.ops").value
    assert isinstance(value, dict)
    return {name: count for name, count in value.items() if isinstance(count, int)}


def _folded(counts: dict[str, int]) -> Counter[str]:
    """The oracle's counts in the newest names, as the fact has them."""
    folded: Counter[str] = Counter()
    for name, count in counts.items():
        folded[drift.operation(name)] += count
    return folded


def _agrees(path: Path) -> None:
    """Counts of operations, and the type of every result, are libtriton's."""
    expected = libtriton.operations(path)
    assert _counts(path) == _folded(Counter(name for name, _ in expected)), path
    resolved = program.build(reader.parse(path.read_bytes()))
    found = Counter(
        (operation.written, types)
        for operation, types in zip(resolved.module.operations, resolved.types, strict=True)
        if operation.results
    )
    if not resolved.module.old_names:
        assert found == Counter((name, types) for name, types in expected if types), path


def test_operations_of_every_release_are_those_its_own_parser_counts() -> None:
    recorded = json.loads((corpus.FIXTURES / "oracle" / "mlir-ops.json").read_text())
    assert len(recorded) > 100
    assert {"3.1.0", "3.3.1", "3.6.0", "3.9.0"} <= {
        part.removeprefix("triton-") for name in recorded for part in name.split("/")
    }
    for name, counts in recorded.items():
        assert _counts(corpus.FIXTURES / name) == _folded(counts), name


def test_operations_and_result_types_of_the_fixtures_are_libtritons() -> None:
    paths = [path for path in corpus.artifacts(*SUFFIXES) if f"triton-{libtriton.RELEASE}" in path.parts]
    assert len(paths) > 30
    for path in paths:
        _agrees(path)


def test_syntax_without_printed_terminators_is_counted_like_libtriton_does(tmp_path: Path) -> None:
    path = tmp_path / "unusual.ttgir"
    path.write_text(UNUSUAL)
    _agrees(path)


@pytest.mark.data
def test_operations_and_result_types_of_all_h200_kernels_are_libtritons(h200: Path) -> None:
    paths = sorted(path for suffix in SUFFIXES for path in h200.glob(f"*/*{suffix}"))
    assert len(paths) == 3 * 141
    for path in paths:
        _agrees(path)
