"""Laws that hold for every layout."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from irdiff_layouts import access, algebra, attribute, build, conflicts, shared
from irdiff_layouts.linear import LayoutError, LinearLayout, identity, nothing, of_bases
from layouts import layout_samples
from layouts.asking import layout_of

INPUTS = ("register", "lane", "warp", "block")
ITEMS = [
    *layout_samples.distributed(11),
    *(item for item in layout_samples.later(12) if item["kind"] != "padded"),
]


@st.composite
def boxes(draw: st.DrawFn, bits: int, rank: int) -> list[int]:
    """A box of ``2**bits``."""
    dims = draw(st.lists(st.integers(0, rank - 1), min_size=bits, max_size=bits))
    return [1 << dims.count(dim) for dim in range(rank)]


@st.composite
def blocked(draw: st.DrawFn, rank: int | None = None) -> tuple[str, list[int]]:
    """A blocked layout and the shape of its tile."""
    rank = rank or draw(st.integers(1, 3))
    parts = [draw(boxes(draw(st.integers(0, 4)), rank)), draw(boxes(5, rank)), draw(boxes(2, rank))]
    order = draw(st.permutations(range(rank)))
    text = (
        f"#ttg.blocked<{{sizePerThread = {parts[0]}, threadsPerWarp = {parts[1]}, warpsPerCTA = {parts[2]}, "
        f"order = {list(order)}}}>"
    )
    return text, [prod(sizes) for sizes in zip(*parts, strict=True)]


@st.composite
def linears(draw: st.DrawFn, rank: int = 2, count: int = 8) -> LinearLayout:
    """A layout of any bases over a 16x16 tensor."""
    basis = st.tuples(*(st.integers(0, 15),) * rank)
    found = draw(st.lists(basis, min_size=count, max_size=count))
    return LinearLayout((("register", tuple(found[:3])), ("lane", tuple(found[3:]))), (16,) * rank)


@st.composite
def coverings(draw: st.DrawFn) -> LinearLayout:
    """A layout of any bases over a 16x16 tensor that holds every element: unit bases, some added to others."""
    flat = [1 << bit for bit in draw(st.permutations(range(8)))]
    for at, others in enumerate(draw(st.lists(st.integers(0, 127), min_size=8, max_size=8))):
        for other in range(at):
            flat[at] ^= flat[other] if others >> other & 1 else 0
    found = tuple((value >> 4, value & 15) for value in flat)
    return LinearLayout((("register", found[:3]), ("lane", found[3:])), (16, 16))


def _everything(layout: LinearLayout) -> list[tuple[int, ...]]:
    """The element at every index."""
    names = [name for name, _ in layout.inputs]
    ranges = [range(1 << len(layout.bases(name))) for name in names]
    return [layout.apply(dict(zip(names, at, strict=True))) for at in product(*ranges)]


@given(blocked())
def test_a_blocked_layout_holds_each_element_of_its_own_tile_once(sample: tuple[str, list[int]]) -> None:
    text, tile = sample
    assume(prod(tile) <= 4096)
    found = _everything(layout_of(text, tile))
    assert len(found) == len(set(found)) == prod(tile)
    assert set(found) == set(product(*map(range, tile)))


@given(blocked(), st.data())
def test_a_blocked_layout_covers_any_shape(sample: tuple[str, list[int]], data: st.DataObject) -> None:
    text, tile = sample
    shape = [1 << data.draw(st.integers(0, 10)) for _ in tile]
    layout = layout_of(text, shape)
    assert layout.sizes == tuple(shape)
    assert algebra.covers(layout)
    larger = all(size >= own for size, own in zip(shape, tile, strict=True))
    assert not larger or algebra.injective(layout)


@given(blocked(rank=2), st.integers(0, 1), st.integers(0, 8))
def test_a_slice_is_its_parent_without_a_dimension(
    sample: tuple[str, list[int]], dim: int, bits: int
) -> None:
    text, _ = sample
    size = 1 << bits
    sliced = layout_of(f"#ttg.slice<{{dim = {dim}, parent = {text}}}>", [size])
    parent = layout_of(text, [1, size] if dim == 0 else [size, 1])
    for lane, warp in ((3, 1), (17, 2), (31, 3)):
        at = {"lane": lane, "warp": warp}
        assert sliced.apply(at) == (parent.apply(at)[1 - dim],)
    assert algebra.covers(sliced)


@pytest.mark.parametrize("item", ITEMS[::7], ids=lambda item: item["text"][5:40])
def test_every_layout_covers_its_shape(item: layout_samples.Item) -> None:
    layout = layout_of(item["text"], item["shape"])
    assert layout.sizes == tuple(item["shape"])
    assert algebra.covers(layout)
    assert all(
        value < size
        for _, bases in layout.inputs
        for basis in bases
        for value, size in zip(basis, layout.sizes, strict=True)
    )


@given(linears())
def test_composition_with_the_identity_changes_nothing(layout: LinearLayout) -> None:
    same = identity("row", 16, 0, 2) * identity("column", 16, 1, 2)
    assert algebra.composed(layout, same, {"row": 0, "column": 1}) == layout
    assert nothing(2) * layout == layout


@given(linears(), linears())
def test_a_composition_is_one_after_the_other(first: LinearLayout, second: LinearLayout) -> None:
    inner = LinearLayout((("register", first.bases("register")), ("lane", first.bases("lane"))), (16, 16))
    outer = LinearLayout(
        (("row", second.bases("lane")[:4]), ("column", (*second.bases("register"), (0, 1)))), (16, 16)
    )
    both = algebra.composed(inner, outer, {"row": 0, "column": 1})
    for at in ({"register": 5, "lane": 19}, {"register": 2, "lane": 30}):
        row, column = inner.apply(at)
        assert both.apply(at) == outer.apply({"row": row, "column": column})


@given(linears())
def test_the_pseudo_inverse_finds_every_element_that_is_there(layout: LinearLayout) -> None:
    found = algebra.inverse(layout)
    assert (found is not None) == algebra.covers(layout)
    assert algebra.covers(layout) == (len(set(_everything(layout))) == prod(layout.sizes))
    for position in range(0, 256, 37) if found is not None else ():
        index = 0
        for bit, value in enumerate(found or ()):
            index ^= value if position >> bit & 1 else 0
        assert algebra.element(layout, index) == (position // 16, position % 16)


@given(linears(), linears(), linears())
def test_equality_is_an_equivalence(first: LinearLayout, second: LinearLayout, third: LinearLayout) -> None:
    assert algebra.same(first, first)
    assert algebra.same(first, second) == algebra.same(second, first)
    assert not (algebra.same(first, second) and algebra.same(second, third)) or algebra.same(first, third)
    repeated = LinearLayout(
        (("register", (*first.bases("register"), (0, 0))), ("lane", first.bases("lane")), ("warp", ())),
        first.sizes,
    )
    assert algebra.same(first, repeated)


@given(blocked(), st.data())
def test_exchanging_two_bases_makes_another_layout(
    sample: tuple[str, list[int]], data: st.DataObject
) -> None:
    text, tile = sample
    layout = layout_of(text, tile)
    bases = [basis for _, found in layout.inputs for basis in found]
    first, second = data.draw(
        st.tuples(*(st.integers(0, len(bases) - 1),) * 2).filter(lambda pair: pair[0] != pair[1])
    )
    bases[first], bases[second] = bases[second], bases[first]
    rest = iter(bases)
    other = LinearLayout(
        tuple((name, tuple(next(rest) for _ in found)) for name, found in layout.inputs), layout.sizes
    )
    assert not algebra.same(layout, other)
    assert access.movement(layout, layout) == access.NOTHING
    assert access.movement(layout, other) != access.NOTHING


@given(blocked(), st.integers(0, 2))
def test_a_blocked_layout_does_the_same_as_the_linear_layout_of_its_bases(
    sample: tuple[str, list[int]], more: int
) -> None:
    text, tile = sample
    shape = [size << more for size in tile]
    layout = layout_of(text, tile)
    bases = ", ".join(f"{name} = {[list(basis) for basis in layout.bases(name)]}" for name in INPUTS)
    linear = f"#ttg.linear<{{{bases}}}>"
    assert algebra.same(layout, layout_of(linear, tile))
    larger, other = layout_of(text, shape), layout_of(linear, shape)
    assert access.movement(larger, other) in (access.NOTHING, access.INSIDE)


@given(coverings(), linears() | coverings())
def test_movement_is_what_trying_every_place_finds(before: LinearLayout, after: LinearLayout) -> None:
    """Which elements a thread needs, and where they are."""
    assert algebra.covers(before)

    def held(layout: LinearLayout, lane: int) -> set[tuple[int, ...]]:
        return {layout.apply({"register": at, "lane": lane}) for at in range(8)}

    inside = all(held(after, lane) <= held(before, lane) for lane in range(32))
    expected = access.NOTHING if algebra.same(before, after) else access.INSIDE if inside else access.LANES
    assert access.movement(before, after) == expected


@given(st.permutations(range(2)), st.integers(0, 3), st.integers(0, 2), st.integers(0, 3), st.booleans())
def test_a_swizzle_keeps_every_element_and_its_row(
    order: list[int], vector: int, phase: int, phases: int, rotating: bool
) -> None:
    kind = "amd_rotating_shared" if rotating else "swizzled_shared"
    text = f"#ttg.{kind}<{{vec = {1 << vector}, perPhase = {1 << phase}, maxPhase = {1 << phases}, order = {order}}}>"
    layout = layout_of(text, [32, 32])
    assert algebra.covers(layout)
    assert algebra.injective(layout)
    columns, row = 32, order[1]
    for offset in (0, 5, 33, 100, 517, 1023):
        assert layout.apply({"offset": offset})[row] == offset // columns


def test_rotating_changes_the_phase_from_group_to_group() -> None:
    """No gluon knows ``amd_rotating_shared``: the rule of `TritonGPUAttrDefs.td`, phase xor group, is written out."""
    layout = layout_of(
        "#ttg.amd_rotating_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0]}>", [16, 16]
    )
    for row, column in product(range(16), range(16)):
        turn = (row % 4) ^ (row // 4 % 4)
        assert layout.apply({"offset": row * 16 + column}) == (row, column ^ turn * 4)


@given(blocked(rank=2), st.integers(0, 1))
def test_a_reduction_stays_inside_a_thread_where_no_other_index_moves_along_the_axis(
    sample: tuple[str, list[int]], axis: int
) -> None:
    text, tile = sample
    layout = layout_of(text, tile)
    found = access.reach(layout, axis)
    moves = {
        words
        for name, words in (("lane", access.LANES), ("warp", access.WARPS))
        if len({layout.apply({name: at})[axis] for at in range(1 << len(layout.bases(name)))}) > 1
    }
    assert set(found) == (moves or {access.INSIDE})


@given(blocked(), st.sampled_from((8, 16, 32, 64)))
def test_contiguous_bytes_are_those_that_counting_elements_finds(
    sample: tuple[str, list[int]], bits: int
) -> None:
    text, tile = sample
    layout = layout_of(text, tile)
    each = bits // 8
    thread, warp = access.thread_bytes(layout, bits), access.warp_bytes(layout, bits)
    assert each <= thread <= 16
    assert thread <= warp
    elements = [layout.apply({"register": at}) for at in range(thread // each)]
    moved = {tuple(value for dim, value in enumerate(at) if value != elements[0][dim]) for at in elements}
    assert len(elements) == len(set(elements))
    assert len({sum(at) for at in elements}) == len(elements)
    assert max(map(len, moved)) <= 1
    lanes = {
        sum(layout.apply({"register": at, "lane": lane}))
        for at in range(thread // each)
        for lane in range(32)
    }
    assert set(range(warp // each)) <= lanes


def test_padding_is_kept_beside_the_layout() -> None:
    layout = attribute.parse("#ttg.padded_shared<[512:+8, 1024:+16] {order = [1, 0], shape = [128, 64]}>")
    assert shared.padding(layout) == ((512, 8), (1024, 16))


def test_a_column_read_from_a_row_major_buffer_conflicts_and_a_swizzle_mends_it() -> None:
    column = layout_of(
        "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [32, 1], warpsPerCTA = [1, 1], order = [1, 0]}>",
        [32, 32],
    )
    plain = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>"
    swizzled = "#ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [1, 0]}>"
    assert conflicts.ways(column, layout_of(plain, [32, 32]), 32) == 8
    assert conflicts.ways(column, layout_of(swizzled, [32, 32]), 32) == 1


TILE = "sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]"
SPELLINGS = {
    f"#triton_gpu.blocked<{{{TILE}, CTAsPerCGA = [1, 2], CTASplitNum = [1, 2], CTAOrder = [1, 0]}}>": (
        f"#ttg.blocked<{{{TILE}, CGALayout = [[0, 1]]}}>"
    ),
    f"#ttg.blocked<{{{TILE}, CTAsPerCGA = [2, 2], CTASplitNum = [1, 2], CTAOrder = [0, 1]}}>": (
        f"#ttg.blocked<{{{TILE}, CGALayout = [[0, 0], [0, 1]]}}>"
    ),
    "#triton_gpu.shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0], hasLeadingOffset = true}>": (
        "#ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>"
    ),
    "#triton_gpu.shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0], hasLeadingOffset = false}>": (
        "#ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>"
    ),
    "#triton_gpu.amd_mfma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [32, 32]}>": (
        "#ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = false}>"
    ),
    "#ttng.tensor_memory_encoding<blockM = 64, blockN = 64, unpacked = true>": (
        "#ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 2>"
    ),
}
"""Before -> now."""


@pytest.mark.parametrize(("before", "now"), SPELLINGS.items())
def test_an_old_spelling_does_the_same_as_the_new_one(before: str, now: str) -> None:
    assert layout_of(before, [64, 64], 16) == layout_of(now, [64, 64], 16)


@settings(max_examples=300)
@given(st.sampled_from(ITEMS), st.data())
def test_damaged_layouts_end_in_a_layout_error_alone(item: layout_samples.Item, data: st.DataObject) -> None:
    text = item["text"]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 6)))
    changed = (
        text[:start] + data.draw(st.text("0123456789-[]{}<>,=# truefalsn:+\0é", max_size=6)) + text[end:]
    )
    shape = data.draw(st.lists(st.sampled_from((0, 1, 3, 4, 16, 64, 1 << 40)), max_size=4))
    try:
        layout = attribute.parse(changed)
        build.rank(layout)
        built = build.build(layout, shape, data.draw(st.integers(0, 64)))
    except LayoutError:
        return
    assert built.sizes == tuple(shape)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "#",
        "#ttg.unheard_of<{order = [0]}>",
        "#ttg.nvidia_mma<{versionMajor = 1, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 16]}>",
        "#ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = true, elementBitWidth = 16}>",  # releases differ
        "#ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1, twoCTAs = true>",
        "[" * 50_000,
        "#ttg.slice<{dim = 0, parent = " * 500,
        "#ttg.blocked<{order = [" + "9" * 5_000 + "]}>",
    ],
)
def test_what_is_not_understood_is_said_not_guessed(text: str) -> None:
    with pytest.raises(LayoutError):
        layout_of(text, [64, 64], 16)


def test_bases_of_another_rank_are_no_layout() -> None:
    with pytest.raises(LayoutError):
        of_bases((("lane", ((1, 0), (2,))),), 2)
