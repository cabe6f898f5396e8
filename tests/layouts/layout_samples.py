"""Layouts to ask Triton about: many of every kind, made from a fixed seed.

    python layout_samples.py later > ITEMS.json
    PYTHON_WITH_TRITON_3.9.0 linear_layouts.py ITEMS.json ANSWERS.json
    python layout_samples.py record ITEMS.json ANSWERS.json > triton-3.9.0.json

makes the record of what Triton 3.6's gluon cannot be asked.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Item = dict[str, Any]

_CDNA = {"lanes": 64, "target": "hip:gfx942"}
_RDNA = {1: "hip:gfx1100", 2: "hip:gfx1200", 3: "hip:gfx1250"}


class Samples:
    """Draws parameters."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def size(self, low: int, high: int) -> int:
        """A power of two."""
        return 1 << self.random.randint(low, high)

    def shape(self, rank: int, low: int, high: int) -> list[int]:
        return [self.size(low, high) for _ in range(rank)]

    def split(self, bits: int, rank: int) -> list[int]:
        """A box of ``2**bits``."""
        found = [1] * rank
        for _ in range(bits):
            found[self.random.randrange(rank)] *= 2
        return found

    def order(self, rank: int) -> list[int]:
        return self.random.sample(range(rank), rank)

    def one(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def cluster(self, rank: int, bits: int) -> str:
        """``CGALayout = ..., `` of that many blocks, some of which read the same."""
        sizes, bases = [1] * rank, []
        for _ in range(bits):
            dim = self.random.randrange(rank + 1)
            bases.append([sizes[at] if at == dim else 0 for at in range(rank)])
            if dim < rank:
                sizes[dim] *= 2
        return f"CGALayout = {bases}, " if bits else ""

    def blocked(self, rank: int, *, blocks: int = 0, lanes: int = 5, warps: int = 2) -> str:
        return (
            f"#ttg.blocked<{{{self.cluster(rank, blocks)}sizePerThread = {self.shape(rank, 0, 3)}, "
            f"threadsPerWarp = {self.split(lanes, rank)}, warpsPerCTA = {self.split(warps, rank)}, "
            f"order = {self.order(rank)}}}>"
        )

    def mma(self, rank: int = 2) -> str:
        size = [1] * (rank - 2) + [16, 8]
        return (
            f"#ttg.nvidia_mma<{{versionMajor = 2, versionMinor = 0, warpsPerCTA = {self.split(2, rank)}, "
            f"instrShape = {size}}}>"
        )

    def wgmma(self, blocks: int = 0) -> str:
        return (
            f"#ttg.nvidia_mma<{{versionMajor = 3, versionMinor = 0, warpsPerCTA = {self.one([4, 1], [4, 2], [8, 1])}, "
            f"{self.cluster(2, blocks)}instrShape = [16, {self.size(3, 8)}, 16]}}>"
        )

    def mfma(self, rank: int = 2) -> str:
        size = (
            self.one([32, 32, 8], [16, 16, 16])
            if rank == 3
            else self.one([32, 32, 8], [16, 16, 16], [64, 4, 4], [4, 64, 4])
        )
        tiles = (
            "tilesPerWarp = [1, 1, 1], "
            if rank == 3
            else self.one("", "", f"tilesPerWarp = {self.one([1, 2], [2, 1], [2, 2])}, ")
        )
        transposed = "true" if size[0] == 64 else self.one("true", "false")
        return (
            f"#ttg.amd_mfma<{{version = {self.one(1, 2, 3, 4)}, warpsPerCTA = {self.split(2, rank)}, {tiles}"
            f"instrShape = {size}, isTransposed = {transposed}}}>"
        )

    def wmma(self, version: int, rank: int = 2) -> str:
        tiles = "tilesPerWarp = [1, 1, 1], " if rank == 3 else ""
        if version == 3 and rank == 2:
            tiles = self.one("", f"tilesPerWarp = {self.one([1, 2], [2, 1], [2, 2])}, ")
        deep = ", instrShape = [16, 16, 32]" if version == 3 else ""
        return (
            f"#ttg.amd_wmma<{{version = {version}, isTranspose = {self.one('true', 'false')}, {tiles}"
            f"warpsPerCTA = {self.split(2, rank)}{deep}}}>"
        )

    def wmma_by_bases(self, version: int) -> str:
        steps = self.one(
            "warp = [[0, 1], [1, 0]]",
            "warp = [[1, 0], [2, 0]]",
            "warp = [[0, 1], [0, 2]]",
            "register = [[0, 1], [1, 0]], warp = [[0, 2], [2, 0]]",
        )
        deep = ", instrShape = [16, 16, 32]" if version == 3 else ""
        return (
            f"#ttg.amd_wmma<{{version = {version}, isTranspose = {self.one('true', 'false')}, "
            f"ctaLayout = {{{steps}}}{deep}}}>"
        )

    def bases(self, rank: int, count: int) -> tuple[list[list[int]], list[int]]:
        """Unit bases in any order, and the shape they cover."""
        shape, found = [1] * rank, []
        for _ in range(count):
            dim = self.random.randrange(rank)
            found.append([shape[at] if at == dim else 0 for at in range(rank)])
            shape[dim] *= 2
        self.random.shuffle(found)
        return found, shape


def tensor(text: str, shape: list[int], element: str = "f16", **more: Any) -> Item:
    return {"kind": "tensor", "text": text, "shape": shape, "element": element, **more}


def distributed(seed: int = 1) -> Iterator[Item]:
    """Tensor layouts that Triton 3.6 knows."""
    draw = Samples(seed)
    for _ in range(90):
        rank, blocks = draw.one(1, 2, 2, 3), draw.one(0, 0, 1, 2)
        lanes, warps = draw.one(5, 5, 6), draw.one(0, 2, 3)
        text = draw.blocked(rank, blocks=blocks, lanes=lanes, warps=warps)
        shape = draw.shape(rank, blocks, {1: 9, 2: 7, 3: 5}[rank])
        yield tensor(text, shape, blocks=1 << blocks, lanes=1 << lanes, warps=1 << warps)
    for _ in range(30):
        rank, blocks = draw.one(2, 3), draw.one(0, 0, 1)
        text = f"#ttg.slice<{{dim = {draw.random.randrange(rank)}, parent = {draw.blocked(rank, blocks=blocks)}}}>"
        yield tensor(text, draw.shape(rank - 1, blocks, 7), blocks=1 << blocks)
    for dims in ((0, 1), (0, 2), (1, 0)):
        inner = f"#ttg.slice<{{dim = {dims[1]}, parent = {draw.blocked(3)}}}>"
        yield tensor(f"#ttg.slice<{{dim = {dims[0]}, parent = {inner}}}>", draw.shape(1, 4, 6))
        yield tensor(f"#ttg.slice<{{dim = {dims[0] % 2}, parent = {draw.mma()}}}>", draw.shape(1, 4, 7))
        yield tensor(
            f"#ttg.slice<{{dim = {dims[0] % 2}, parent = {draw.mfma()}}}>", draw.shape(1, 4, 7), **_CDNA
        )
    for _ in range(20):
        rank = draw.one(2, 2, 3)
        text = f"#ttg.dot_op<{{opIdx = {draw.one(0, 1)}, parent = {draw.blocked(rank)}}}>"
        yield tensor(text, draw.shape(rank, 0, 6), "f32")
    for _ in range(30):
        rank, count = draw.one(1, 2, 2, 3), draw.random.randint(9, 12)
        found, shape = draw.bases(rank, count)
        text = f"#ttg.linear<{{register = {found[7:]}, lane = {found[:5]}, warp = {found[5:7]}, block = []}}>"
        yield tensor(text, [max(1, int(size * draw.one(0.5, 1, 1, 2, 4))) for size in shape])
    yield from _nvidia(draw)
    yield from _amd(draw)


def _nvidia(draw: Samples) -> Iterator[Item]:
    for _ in range(30):
        rank = draw.one(2, 2, 3)
        yield tensor(draw.mma(rank), [*draw.shape(rank - 2, 0, 2), *draw.shape(2, 3, 8)], "f32")
    for _ in range(30):
        blocks = draw.one(0, 0, 1)
        text = draw.wgmma(blocks)
        warps = 4 if "[4, 1]" in text else 8
        yield tensor(text, draw.shape(2, 4 + blocks, 8), "f32", blocks=1 << blocks, warps=warps)
    for _ in range(40):
        rank, width = draw.one(2, 2, 3), draw.one(1, 2, 4, 8)
        text = f"#ttg.dot_op<{{opIdx = {draw.one(0, 1)}, parent = {draw.mma(rank)}, kWidth = {width}}}>"
        yield tensor(text, [*draw.shape(rank - 2, 0, 2), *draw.shape(2, 3, 7)], _element(width))
    for _ in range(12):
        parent, width = draw.wgmma(), draw.one(1, 2, 4)
        text = f"#ttg.dot_op<{{opIdx = 0, parent = {parent}, kWidth = {width}}}>"
        yield tensor(text, draw.shape(2, 4, 7), _element(width), warps=4 if "[4, 1]" in parent else 8)


def _element(width: int) -> str:
    return {1: "f32", 2: "f16"}.get(width, "i8")


def _amd(draw: Samples) -> Iterator[Item]:
    for _ in range(45):
        rank = draw.one(2, 2, 2, 3)
        yield tensor(draw.mfma(rank), [*draw.shape(rank - 2, 0, 3), *draw.shape(2, 2, 8)], "f32", **_CDNA)
    for _ in range(45):
        rank = draw.one(2, 2, 2, 3)
        text = f"#ttg.dot_op<{{opIdx = {draw.one(0, 1)}, parent = {draw.mfma(rank)}, kWidth = {draw.one(4, 8, 16)}}}>"
        yield tensor(text, [*draw.shape(rank - 2, 0, 3), *draw.shape(2, 3, 8)], **_CDNA)
    yield tensor(
        "#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [16, 16, 4], isTransposed = false, "
        "elementBitWidth = 64}>",
        [128, 128],
        "f64",
        **_CDNA,
    )
    for version in (1, 2, 3) * 10:
        rank = draw.one(2, 2, 3)
        shape = [*draw.shape(rank - 2, 0, 2), *draw.shape(2, 4, 7)]
        yield tensor(draw.wmma(version, rank), shape, "f32", target=_RDNA[version])
        width = {1: 16, 2: 8, 3: draw.one(8, 16)}[version]
        text = f"#ttg.dot_op<{{opIdx = {draw.one(0, 1)}, parent = {draw.wmma(version)}, kWidth = {width}}}>"
        yield tensor(text, draw.shape(2, 5, 7), target=_RDNA[version])


def later(seed: int = 2) -> Iterator[Item]:
    """Layouts of shared and tensor memory, and spellings, that only a later gluon can be asked about."""
    draw = Samples(seed)
    for _ in range(60):
        rank, blocks = draw.one(1, 2, 2, 3), draw.one(0, 0, 1)
        text = (
            f"#ttg.swizzled_shared<{{vec = {draw.size(0, 3)}, perPhase = {draw.size(0, 2)}, "
            f"maxPhase = {draw.size(0, 3)}, {draw.cluster(rank, blocks)}order = {draw.order(rank)}}}>"
        )
        yield {
            "kind": "shared",
            "text": text,
            "shape": draw.shape(rank, 2 + blocks, 7),
            "element": "f16",
            "blocks": 1 << blocks,
        }
    for _ in range(60):
        rank, blocks = draw.one(1, 2, 2, 3), draw.one(0, 0, 1)
        swizzle, bits = draw.one(0, 32, 64, 128) if rank > 1 else 0, draw.one(8, 16, 32)
        inner = max(3 + blocks, blocks + (8 * swizzle // bits).bit_length() - 1)
        transposed = "true" if swizzle and draw.one(True, False, False) else "false"
        padded = "fp4Padded = true, " if bits == 8 and swizzle == 128 and draw.one(True, False) else ""
        cluster = draw.cluster(rank, blocks)
        text = (
            f"#ttg.nvmma_shared<{{swizzlingByteWidth = {swizzle}, transposed = {transposed}, {padded}{cluster}"
            f"elementBitWidth = {bits}{f', rank = {rank}' if rank != 2 and not cluster else ''}}}>"
        )
        shape = draw.shape(rank, 3 + blocks, 9 if rank < 3 else 7)
        shape[0 if transposed == "true" else -1] = draw.size(inner, max(inner, 8))
        yield {"kind": "shared", "text": text, "shape": shape, "element": f"i{bits}", "blocks": 1 << blocks}
    for _ in range(15):
        found, shape = draw.bases(2, 8)
        yield {
            "kind": "shared",
            "text": f"#ttg.shared_linear<{{offset = {found}}}, alignment = 16>",
            "shape": shape,
            "element": "f16",
        }
        text = f"#ttg.padded_shared<[{draw.size(5, 6)}:+4, 128:+8] {{offset = {found}, block = []}}>"
        yield {"kind": "padded", "text": text, "shape": shape, "element": "f16", **_CDNA}
        order = draw.order(2)
        text = (
            f"#ttg.padded_shared<[{draw.size(5, 8)}:+{draw.size(0, 3)}] {{order = {order}, shape = {shape}}}>"
        )
        yield {"kind": "padded", "text": text, "shape": shape, "element": "f16", **_CDNA}
    for _ in range(40):
        rows, columns, element = draw.one(64, 128), draw.size(4, 8), draw.one("f32", "f16")
        stride = 1 if element == "f32" else draw.one(1, 2)
        text = f"#ttng.tensor_memory_encoding<blockM = {rows}, blockN = {columns}, colStride = {stride}>"
        shape = [rows * draw.size(0, 1), columns * draw.size(0, 1)]
        yield {
            "kind": "tensor memory",
            "text": text,
            "shape": shape,
            "element": element,
            "target": "cuda:100",
        }
    for _ in range(12):
        shape = [draw.size(4, 9), draw.size(0, 4)]
        text = "#ttng.tensor_memory_scales_encoding<>"
        yield {"kind": "tensor memory", "text": text, "shape": shape, "element": "i8", "target": "cuda:100"}
    for version in (1, 2, 3) * 8:
        text = draw.wmma_by_bases(version)
        yield tensor(text, draw.shape(2, 5, 7), "f32", target=_RDNA[version])
        width = {1: 16, 2: 8, 3: draw.one(8, 16)}[version]
        operand = f"#ttg.dot_op<{{opIdx = {draw.one(0, 1)}, parent = {text}, kWidth = {width}}}>"
        yield tensor(operand, draw.shape(2, 5, 7), target=_RDNA[version])


def accesses(seed: int = 3) -> Iterator[Item]:
    """Registers and buffers, for bank conflicts. Chunks of a swizzle are at least a bank wide: see the test."""
    draw = Samples(seed)
    for at in range(240):
        bits, shape = draw.one(8, 16, 32), [draw.size(4, 7), draw.size(5, 7)]
        registers = draw.blocked(2)
        if at % 4 == 0:
            registers = (
                f"#ttg.dot_op<{{opIdx = {draw.one(0, 1)}, parent = {draw.mma()}, kWidth = {32 // bits}}}>"
            )
        buffer = (
            f"#ttg.swizzled_shared<{{vec = {draw.size(0, 2) * 32 // bits}, perPhase = {draw.size(0, 2)}, "
            f"maxPhase = {draw.size(0, 3)}, order = {draw.order(2)}}}>"
        )
        if at % 2:
            swizzle = draw.one(0, 32, 64, 128)
            transposed = "true" if swizzle and draw.one(True, False) else "false"
            inner = 0 if transposed == "true" else 1
            shape[inner] = max(shape[inner], 8 * swizzle // bits)
            buffer = (
                f"#ttg.nvmma_shared<{{swizzlingByteWidth = {swizzle}, transposed = {transposed}, "
                f"elementBitWidth = {bits}}}>"
            )
        yield {
            "kind": "conflicts",
            "text": registers,
            "buffer": buffer,
            "shape": shape,
            "element": f"i{bits}",
        }


def main(what: str, *paths: str) -> None:
    if what == "later":
        sys.stdout.write(json.dumps(list(later())))
        return
    items, answers = (json.loads(Path(path).read_text()) for path in paths)
    lines = [
        json.dumps({**item, "answer": answer})
        for item, answer in zip(items, answers, strict=True)
        if "error" not in answer
    ]
    sys.stdout.write("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
