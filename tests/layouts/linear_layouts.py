# SPDX-License-Identifier: Apache-2.0
"""What the running interpreter's Triton says that layouts do. It needs no GPU.

    python linear_layouts.py ITEMS.json ANSWERS.json

ITEMS.json is a list of {"kind", "text", "shape", "element", ...} as `layout_samples.py` prints it. ANSWERS.json
becomes a list as long: {input: bases} by gluon's `to_linear_layout`; {"offset": bases} that gluon reads for a padded
buffer, which has no linear layout of its own; {"conflicts": n} by gluon's `get_shared_bank_conflicts`; {"error": why}
where Triton does not take it.

Each layout is read by Triton's own MLIR parser as the type of a value. Triton aborts on what it does not expect,
so it is asked in a child process, and in another one after an abort."""

import json
import os
import sys
import tempfile
from pathlib import Path

from triton._C.libtriton import amd, gluon_ir, ir, nvidia

NAMES = {
    "reg_bases": "register",
    "lane_bases": "lane",
    "warp_bases": "warp",
    "block_bases": "block",
    "offset_bases": "offset",
    "rows": "row",
    "cols": "col",
}
MODULE = """module attributes {{"ttg.num-warps" = {warps} : i32, "ttg.num-ctas" = {blocks} : i32,
    "ttg.threads-per-warp" = {lanes} : i32, ttg.target = "{target}"}} {{
  tt.func @f() {{
    %0 = ub.poison : {type}
    tt.return
  }}
}}
"""
SPACES = {
    "shared": "#ttg.shared_memory",
    "padded": "#ttg.shared_memory",
    "tensor memory": "#ttng.tensor_memory",
}
DEFAULTS = {"warps": 4, "blocks": 1, "lanes": 32, "target": "cuda:90"}


class Asked:
    """A context of Triton's, kept as long as values of it are used."""

    def __init__(self):
        self.context = ir.context()
        ir.load_dialects(self.context)
        nvidia.load_dialects(self.context)
        amd.load_dialects(self.context)
        self.builder = gluon_ir.GluonOpBuilder(self.context)

    def layout(self, kind, text, item):
        """Gluon's own object for a layout."""
        sizes = "x".join(map(str, item["shape"]))
        written = f"{sizes}x{item['element']}, {text}"
        type_ = (
            f"tensor<{written}>" if kind == "tensor" else f"!ttg.memdesc<{written}, {SPACES[kind]}, mutable>"
        )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "layout.mlir"
            path.write_text(MODULE.format(**{**DEFAULTS, **item}, type=type_))
            module = ir.parse_mlir_module(str(path), self.context)
        module.context = self.context
        found = []
        module.walk(lambda op: found.extend([op.get_result(0)] if op.get_num_results() else []))
        self.module = module
        if kind == "tensor":
            return self.builder.get_gluon_layout_from_tensor(found[0])
        return self.builder.get_gluon_layout_from_memdesc(found[0])

    def answer(self, item):
        kind = item["kind"]
        if kind == "conflicts":
            registers = self.layout("tensor", item["text"], item)._to_ir(self.builder)
            buffer = self.layout("shared", item["buffer"], item)._to_ir(self.builder)
            bits = int("".join(filter(str.isdigit, item["element"])))
            return {
                "conflicts": self.builder.get_shared_bank_conflicts(registers, buffer, item["shape"], bits)
            }
        layout = self.layout(kind, item["text"], item)
        if kind == "padded":
            return {"offset": layout.offset_bases}
        linear = self.builder.to_linear_layout(layout._to_ir(self.builder), item["shape"])
        return {NAMES[name]: value for name, value in vars(linear).items() if name in NAMES}


def apart(asked, items):
    """Answers of a child process, up to the item that it died of."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with os.fdopen(writing, "w") as pipe:
            for item in items:
                try:
                    answer = asked.answer(item)
                except Exception as error:  # noqa: BLE001  # what Triton raises is an answer
                    answer = {"error": str(error)[:200]}
                print(json.dumps(answer), file=pipe, flush=True)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        found = [json.loads(line) for line in pipe]
    os.waitpid(child, 0)
    return found


def main(items, answers):
    asked = Asked()
    items = json.loads(Path(items).read_text())
    found = []
    while len(found) < len(items):
        found += apart(asked, items[len(found) :])
        if len(found) < len(items):
            found.append({"error": "aborted"})
    Path(answers).write_text(json.dumps(found))
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
