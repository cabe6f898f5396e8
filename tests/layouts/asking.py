"""Asks the installed Triton what layouts do, and says the same of ours."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from irdiff.api import Artifact, Context
from irdiff.testing import NoTools
from irdiff_layouts import attribute, build
from irdiff_layouts.linear import LayoutError, LinearLayout
from irdiff_mlir import program, types
from layouts.layout_samples import Item, tensor

SCRIPT = Path(__file__).with_name("linear_layouts.py")


def answers(items: list[Item], folder: Path) -> list[dict[str, object]]:
    """Triton's answers; none is an error."""
    asked, answered = folder / "items.json", folder / "answers.json"
    asked.write_text(json.dumps(items))
    subprocess.run([sys.executable, str(SCRIPT), str(asked), str(answered)], check=True, timeout=300)
    found = json.loads(answered.read_text())
    for item, answer in zip(items, found, strict=True):
        assert "error" not in answer, (item, answer)
    return found


def ours(item: Item, inputs: list[str]) -> dict[str, list[list[int]]] | str:
    """Our bases of the same inputs, or why there are none."""
    try:
        layout = layout_of(item["text"], item["shape"])
    except LayoutError as error:
        return str(error)
    return {name: [list(basis) for basis in layout.bases(name)] for name in inputs}


def layout_of(text: str, shape: list[int] | tuple[int, ...], element_bits: int = 0) -> LinearLayout:
    return build.build(attribute.parse(text), shape, element_bits)


def resolved(path: Path) -> program.Program:
    return program.resolve(Artifact.of_bytes(path.read_bytes()), Context(tools=NoTools()))


def tensors_of(paths: list[Path]) -> list[Item]:
    """Every (layout, shape) of a tensor in these files, once."""
    found: dict[tuple[str, tuple[int, ...]], Item] = {}
    for path in paths:
        module = resolved(path)
        target = "hip:gfx942" if "gfx942" in path.parts else "cuda:90"
        for text in {text for listed in module.types for text in listed or ()}:
            shaped = types.shaped(text)
            if shaped is None or not shaped.layout or not text.startswith("tensor<"):
                continue
            shape = [int(size) for size in shaped.shape]
            item = tensor(shaped.layout, shape, lanes=64 if target.startswith("hip") else 32, target=target)
            found.setdefault((shaped.layout, tuple(shape)), item)
    return [found[key] for key in sorted(found)]
