"""How many registers hold a value at each instruction, as nvdisasm's flow analysis says.

``nvdisasm -c -plr -lrm count`` appends columns ``// | GPR | PRED | UGPR |`` to each instruction. It needs a copy of the
cubin's own generation: one of CUDA 12 for ABI 7, of CUDA 12.8 or newer for ABI 8 (measured: 12.4, 12.8, 13.1, 13.5).
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from irdiff.api import Tool, Toolbox, ToolError
from irdiff_sass.cubin import Cubin
from irdiff_sass.disassembly import SECONDS
from irdiff_sass.specs import TOOL

ARGUMENTS = ("-c", "-plr", "-lrm", "count")

_SECTION = re.compile(r"\s*\.section\s+\.text\.([^,\s]+)")
_HEADING = re.compile(r".*// \|\s*GPR\s*\|")
_ROW = re.compile(r"\s*/\*([0-9a-f]{4,8})\*/.*// \|\s*(\d{0,4})\s*\|")


def live_registers(data: bytes, cubin: Cubin, tools: Toolbox) -> dict[int, int] | str:
    """Address of each instruction to its live vector registers, or the reason why that is not known."""
    copies = [tool for tool in tools.find(TOOL) if _knows(tool, cubin)]
    if not copies:
        return f"live registers are not known: no nvdisasm was found that knows sm_{cubin.sm}"
    why = ""
    for tool in copies:
        try:
            found = _run(data, cubin, tool, tools)
        except ToolError as error:
            why = error.message
            continue
        if found:
            return found
    generation = "of CUDA 12" if cubin.elf.abi == 7 else "of CUDA 12.8 or newer"
    tried = ", ".join(dict.fromkeys(tool.version for tool in copies))
    said = f": {why}" if why else f": nvdisasm {tried} does not analyse ABI {cubin.elf.abi}"
    return f"live registers are not known{said}; a copy {generation} does (IRDIFF_NVDISASM)"


def _knows(tool: Tool, cubin: Cubin) -> bool:
    return not tool.supports or bool({f"SM{cubin.sm}", f"SM{cubin.sm}a"} & set(tool.supports))


def _run(data: bytes, cubin: Cubin, tool: Tool, tools: Toolbox) -> dict[int, int]:
    """What one copy says; empty where it cannot analyse the file. Raises ToolError."""
    with tempfile.TemporaryDirectory(prefix="irdiff-live-") as folder:
        path = Path(folder) / "code.cubin"
        path.write_bytes(data)
        limit = SECONDS * (1 + len(data) / (1 << 20))
        result = tools.run(tool, [*ARGUMENTS, str(path)], timeout=limit)
    if result.returncode:
        return {}
    return _read(result.stdout.decode("utf-8", "replace").splitlines(), cubin)


def _read(lines: Sequence[str], cubin: Cubin) -> dict[int, int]:
    bases = {code.name: code.base for code in cubin.codes}
    base: int | None = None
    counted = False
    found: dict[int, int] = {}
    for line in lines:
        section = _SECTION.match(line)
        if section:
            base, counted = bases.get(section[1]), False
        elif _HEADING.match(line):
            counted = True
        elif counted and base is not None:
            row = _ROW.match(line)
            if row:
                found[base + int(row[1], 16)] = int(row[2] or 0)
    return found
