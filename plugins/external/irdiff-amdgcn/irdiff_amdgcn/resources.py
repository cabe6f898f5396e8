"""What the metadata, the descriptor and LLVM's comments say of a kernel as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from irdiff.api import Fact, Scalar

from irdiff_amdgcn.metadata import Kernel, Metadata, arch_of
from irdiff_amdgcn.operands import number as number_of
from irdiff_amdgcn.reader import Item, Listing

_FROM_METADATA = (
    ("amdgcn.registers", "vgpr_count"),
    ("amdgcn.agprs", "agpr_count"),
    ("amdgcn.sgprs", "sgpr_count"),
    ("amdgcn.private_segment", "private_segment_fixed_size"),
    ("amdgcn.static_lds", "group_segment_fixed_size"),
    ("amdgcn.kernarg_bytes", "kernarg_segment_size"),
)
_FROM_COMMENTS: tuple[tuple[str, str, Callable[[Sequence[int]], int]], ...] = (
    ("amdgcn.vgprs", "NumVgprs", max),
    ("amdgcn.code_bytes", "codeLenInByte", sum),
    ("amdgcn.compiler_occupancy", "Occupancy", min),
)
"""Fact, LLVM's word, and what is made of it over all functions: those that a kernel calls have comments of their own;
a kernel's own registers hold theirs too, and only kernels have an occupancy."""
_REPEATED = (
    "next_free_", "accum_offset", "group_segment", "private_segment_fixed", "kernarg_size", "wavefront_size32",
    "workgroup_processor_mode",
)  # fmt: skip
_ZERO_BY_DEFAULT = (
    "user_sgpr_", "uses_dynamic_stack", "enable_private", "system_sgpr_workgroup_info", "system_vgpr", "exception_",
    "tg_split", "fp16_overflow", "shared_vgpr_count", "round_robin", "float_round", "system_sgpr_private", "inst_pref",
    "named_barrier", "enable_wavefront", "system_sgpr_workgroup_id_y", "system_sgpr_workgroup_id_z",
)  # fmt: skip
"""Directives whose default is 0 (LLVM's AMDGPU usage guide, AMDHSA kernel assembler directives)."""
PREFIX = ".amdhsa_"


def is_dropped(directive: str, value: str) -> bool:
    """Whether a descriptor directive says what would hold without it."""
    name = directive.removeprefix(PREFIX)
    return value.strip() == "0" and name.startswith(_ZERO_BY_DEFAULT)


def header(listing: Listing, metadata: Metadata) -> Iterator[Fact]:
    """Target, version, descriptor, parameters and launch."""
    target = next((item for item in listing.items if item.word == ".amdgcn_target"), None)
    text, line = (
        (target.operands, target.line)
        if target is not None
        else (metadata.target or "", metadata.target_place)
    )
    arch = arch_of(text)
    if arch is not None:
        yield Fact(id="amdgcn.target", value=f"hip:{arch}", evidence={"": (line,)})
    version = next((item for item in listing.items if item.word == f"{PREFIX}code_object_version"), None)
    if version is not None:
        yield Fact(id="amdgcn.code_object", value=version.operands.strip(), evidence={"": (version.line,)})
    directives = {
        item.word.removeprefix(PREFIX): item
        for item in reversed(listing.items)
        if item.word.startswith(PREFIX)
    }
    record: dict[str, Scalar] = {}
    places: dict[str, tuple[int, ...]] = {}
    for name in sorted(directives):
        item = directives[name]
        if name in ("kernel", "code_object_version") or name.startswith(_REPEATED):
            continue
        if not is_dropped(item.word, item.operands):
            record[name], places[name] = _scalar(item.operands), (item.line,)
    if record:
        yield Fact(id="amdgcn.descriptor", value=record, evidence=places)
    if metadata.kernels:
        kernel = metadata.kernels[0]
        yield Fact(
            id="amdgcn.parameters",
            value=kernel.arguments,
            evidence={"": (kernel.places.get("kernarg_segment_size", listing.metadata[0][0]),)},
        )
        yield from launch("amdgcn", kernel, directives.get("workgroup_processor_mode"))


def launch(stage: str, kernel: Kernel, mode: Item | None) -> Iterator[Fact]:
    """How the kernel is launched, under the names that occupancy is computed from."""
    record: dict[str, Scalar] = {}
    places: dict[str, tuple[int, ...]] = {}
    for name, key in (("wavefront size", "wavefront_size"), ("workgroup size", "max_flat_workgroup_size")):
        if key in kernel.numbers:
            record[name], places[name] = kernel.numbers[key], (kernel.places[key],)
    name, key = "workgroup processor mode", "workgroup_processor_mode"
    value = number_of(mode.operands.strip()) if mode is not None else None
    if mode is not None and value is not None:
        record[name], places[name] = value, (mode.line,)
    elif key in kernel.numbers:
        record[name], places[name] = kernel.numbers[key], (kernel.places[key],)
    if record:
        yield Fact(id=f"{stage}.launch", value=record, evidence=places)


def _scalar(text: str) -> Scalar:
    value = number_of(text.strip())
    return text.strip() if value is None else value


def largest(fact_id: str, kernels: Sequence[Kernel], key: str) -> Iterator[Fact]:
    """The largest number of several kernels, where any records it."""
    found = [(kernel.numbers[key], kernel.places[key]) for kernel in kernels if key in kernel.numbers]
    if found:
        value, place = max(found)
        yield Fact(id=fact_id, value=value, evidence={"": (place,)})


def resources(listing: Listing, metadata: Metadata) -> Iterator[Fact]:
    """Registers and sizes, from metadata and comments."""
    for fact_id, key in _FROM_METADATA:
        yield from largest(fact_id, metadata.kernels, key)
    for fact_id, name, over in _FROM_COMMENTS:
        found = listing.info.get(name)
        if found:
            value = over([number for number, _ in found])
            lines = tuple(line for number, line in found if over is sum or number == value)
            yield Fact(id=fact_id, value=value, evidence={"": lines})
