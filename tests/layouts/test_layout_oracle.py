"""What layouts do is what Triton's own gluon says."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

import corpus
from irdiff_layouts import conflicts
from layouts import layout_samples
from layouts.asking import answers, layout_of, ours, tensors_of
from layouts.layout_samples import Item
from mlir import libtriton

RECORD = Path(__file__).with_name("triton-3.9.0.json")


def _kind(text: str) -> str:
    outer = text.partition("<")[0].rpartition(".")[2]
    inner = text.partition("parent = ")[2].partition("<")[0].rpartition(".")[2]
    return f"{outer} of {inner}" if inner else outer


def _agrees(items: list[Item], found: list[dict[str, object]]) -> None:
    for item, answer in zip(items, found, strict=True):
        assert ours(item, list(answer)) == answer, (item["text"], item["shape"])


def test_generated_layouts_are_those_of_gluon(tmp_path: Path) -> None:
    libtriton.require()
    items = list(layout_samples.distributed())
    assert len({(item["text"], tuple(item["shape"])) for item in items}) >= 300
    assert {
        "blocked",
        "slice of blocked",
        "slice of slice",
        "slice of nvidia_mma",
        "dot_op of blocked",
        "linear",
        "nvidia_mma",
        "dot_op of nvidia_mma",
        "amd_mfma",
        "dot_op of amd_mfma",
        "amd_wmma",
        "dot_op of amd_wmma",
    } <= {_kind(item["text"]) for item in items}
    _agrees(items, answers(items, tmp_path))


def test_layouts_of_the_fixtures_are_those_of_gluon(tmp_path: Path) -> None:
    libtriton.require()
    paths = [path for path in corpus.artifacts(".ttgir") if f"triton-{libtriton.RELEASE}" in path.parts]
    items = tensors_of(paths)
    assert len(items) > 50
    _agrees(items, answers(items, tmp_path))


@pytest.mark.data
def test_layouts_of_the_h200_kernels_are_those_of_gluon(h200: Path, tmp_path: Path) -> None:
    libtriton.require()
    items = tensors_of(sorted(h200.glob("*/*.ttgir")))
    assert len(items) > 300
    _agrees(items, answers(items, tmp_path))


def test_layouts_of_shared_and_tensor_memory_are_those_recorded_of_a_later_gluon() -> None:
    recorded = json.loads(RECORD.read_text())
    kinds = Counter(_kind(item["text"]) for item in recorded)
    assert kinds["swizzled_shared"] >= 60
    assert kinds["nvmma_shared"] >= 60
    assert kinds["padded_shared"] >= 30
    assert kinds["shared_linear"] >= 15
    assert kinds["tensor_memory_encoding"] >= 40
    assert kinds["amd_wmma"] >= 24  # its warps as bases
    for item in recorded:
        assert ours(item, list(item["answer"])) == item["answer"], (item["text"], item["shape"])


def test_the_record_holds_what_its_script_asks() -> None:
    asked = [
        {key: value for key, value in item.items() if key != "answer"}
        for item in json.loads(RECORD.read_text())
    ]
    assert asked == list(layout_samples.later())


def test_bank_conflicts_are_those_of_gluon(tmp_path: Path) -> None:
    """Gluon counts the turns beyond the first.

    Left out are swizzles of chunks smaller than a bank (``vec`` times the element under 4 bytes): there gluon counts
    lanes whose addresses differ inside a word as apart from those that differ in the word.
    """
    libtriton.require()
    items = list(layout_samples.accesses())
    assert len(items) >= 200
    found = answers(items, tmp_path)
    assert len({answer["conflicts"] for answer in found}) > 3
    for item, answer in zip(items, found, strict=True):
        registers, buffer = (layout_of(text, item["shape"]) for text in (item["text"], item["buffer"]))
        bits = int(item["element"][1:])
        assert conflicts.ways(registers, buffer, bits) - 1 == answer["conflicts"], item
