"""Names that Triton's dialects changed between releases, folded to the newest ones.

Observed in artifacts of Triton 3.1.0, 3.3.1, 3.6.0 and 3.9.0. What is folded here is the same thing under
another name. What changed its content is left as it is and shows as a difference: ``shared`` with a leading
offset (now ``nvmma_shared``), ``versionMajor`` of ``amd_mfma``, the memory space of a memory descriptor, the
function type of ``tc_gen5_mma``.
"""

from __future__ import annotations

import re
from functools import lru_cache

DIALECTS = {
    "triton_gpu": "ttg",  # Triton 3.2
    "triton_nvidia_gpu": "ttng",  # Triton 3.2
    "amdgpu": "amdg",  # Triton 3.4
}
"""Dialect prefix before -> now, of operations, types, attributes and attribute names."""

OPERATIONS = {
    "ttg.memdesc_subview": "ttg.memdesc_index",  # 3.4: split into memdesc_index and memdesc_subslice
    "ttng.dot_async": "ttng.warp_group_dot",  # 3.2
    "ttng.dot_wait": "ttng.warp_group_dot_wait",  # 3.2
    "gpu.barrier": "ttg.barrier",  # 3.7
    "ttg.local_barrier": "ttg.barrier",  # 3.7
    "tt.experimental_descriptor_load": "tt.descriptor_load",  # 3.3
    "tt.experimental_descriptor_store": "tt.descriptor_store",  # 3.3
    "tt.experimental_descriptor_gather": "tt.descriptor_gather",  # 3.3
    "tt.experimental_descriptor_scatter": "tt.descriptor_scatter",  # 3.3
    "tt.experimental_make_tensor_descriptor": "tt.make_tensor_descriptor",  # 3.3
}
"""Operation after the dialect's fold -> name now."""

BARE = {
    "module": "builtin.module",
    "unrealized_conversion_cast": "builtin.unrealized_conversion_cast",
}
"""Names printed without their dialect -> registered name."""

TYPES = {"!tt.memdesc<": "!ttg.memdesc<"}
"""Type prefix before -> now; Triton 3.2 moved memory descriptors to the GPU dialect."""

ATTRIBUTES = {"#ttg.shared<": "#ttg.swizzled_shared<"}
"""Attribute prefix after the dialect's fold -> now (Triton 3.3); only without a leading offset."""

_BARRIERS = {"gpu.barrier": "all", "ttg.local_barrier": "local"}
"""What the newest ``ttg.barrier`` says in words."""

RELEASE_DEFAULTS = ('"ttng.two-ctas" = false',)
"""Attributes that a newer release writes with the value an older one had without saying so."""

_LONGEST = 2_048
"""Characters of a text that is remembered in its newest spelling; a longer one is spelled each time."""

_DIALECT = re.compile(r"(?<![\w.])(triton_nvidia_gpu|triton_gpu|amdgpu)(?=\.)")
_OLD_SHARED = re.compile(r"#ttg\.shared<\{([^{}]*), hasLeadingOffset = false\}>")
_OLD_SPELLINGS = (
    *(f"{dialect}." for dialect in DIALECTS),
    *TYPES,
    "tensordesc<tensor<",
    ", <tensor<",
    "#ttg.shared<",
    "gpu.barrier",
    "tt.experimental_descriptor",
    "cacheModifier = ",
    "evictionPolicy = ",
    "ttg.memdesc_subview",
    "ttg.local_barrier",
    "async_commit_group tokens",
    *RELEASE_DEFAULTS,
)
_PARTS = (
    "gpu.",
    "<tensor<",
    "tt.memdesc<",
    "#ttg.shared<",
    "experimental_desc",
    "Modifier = ",
    "Policy = ",
    "memdesc_subview",
    "local_barrier",
    "group tokens",
    "two-ctas",
)
"""One of these is in each of them."""
_POLICY = re.compile(r" (cacheModifier|evictionPolicy) = (\w+)")
_CLOSERS = re.compile(r"->|[<>]")


def has_old_names(text: str) -> bool:
    """Whether any spelling folded here occurs in the text."""
    return any(part in text for part in _PARTS) and any(spelling in text for spelling in _OLD_SPELLINGS)


def old_spellings(text: str) -> list[str]:
    """Those spellings folded here that occur in the text."""
    return [spelling for spelling in _OLD_SPELLINGS if spelling in text]


def registered(printed: str) -> str:
    """Registered name of an operation from the printed one: only ``module`` and casts lack a dialect."""
    return BARE.get(printed, printed)


def operation(name: str) -> str:
    """Newest name of an operation."""
    dialect, dot, rest = name.partition(".")
    if dialect in DIALECTS:
        name = DIALECTS[dialect] + dot + rest
    return OPERATIONS.get(name, name)


def text(written: str) -> str:
    """Types, attributes and attribute names of a piece of text in their newest spelling."""
    return _known(written) if len(written) <= _LONGEST else _newest(written)


def _newest(written: str) -> str:
    folded = _DIALECT.sub(lambda match: DIALECTS[match[1]], written)
    for before, after in TYPES.items():
        folded = folded.replace(before, after)
    if "#ttg.shared<" in folded:
        folded = _OLD_SHARED.sub(r"#ttg.swizzled_shared<{\1}>", folded)
    # Triton 3.9: a tensor descriptor names its block without the word tensor.
    return _unwrap(_unwrap(folded, "tensordesc<", "tensor<"), ", <", "tensor<")


_known = lru_cache(4096)(_newest)


def head(name: str, written: str) -> str:
    """Text of one operation in its newest syntax; ``name`` is the one this release gives it."""
    if name in _BARRIERS and not written:
        return _BARRIERS[name]
    if name == "ttg.async_commit_group":
        return written.removeprefix("tokens ")
    if name in ("tt.load", "tt.store") and " = " in written:
        return _cache_policy(written)
    return written


def _cache_policy(written: str) -> str:
    """``evictionPolicy = evict_last`` as the attribute it is from Triton 3.9 on."""
    found = dict(_POLICY.findall(written))
    if not found:
        return written
    policy = (
        f"cachePolicy = #tt.cache_policy<cache_modifier = {found.get('cacheModifier', 'none')}, "
        f"eviction_policy = {found.get('evictionPolicy', 'evict_normal')}>"
    )
    rest = _POLICY.sub("", written)
    operands, colon, types = rest.partition(" : ")
    if "{" in operands:
        return rest.replace("{", "{" + policy + ", ", 1)
    return f"{operands} {{{policy}}}{colon}{types}"


def _unwrap(folded: str, before: str, wrapper: str) -> str:
    """Replace ``before wrapper X>`` by ``before X``, brackets balanced."""
    opening = before + wrapper
    start = folded.find(opening)
    while start >= 0:
        inner = start + len(opening)
        depth = 1
        end = -1
        for match in _CLOSERS.finditer(folded, inner):
            if match[0] == "->":
                continue
            depth += 1 if match[0] == "<" else -1
            if depth == 0:
                end = match.start()
                break
        if end < 0:
            break
        folded = folded[: start + len(before)] + folded[inner:end] + folded[end + 1 :]
        start = folded.find(opening, start + len(before))
    return folded
