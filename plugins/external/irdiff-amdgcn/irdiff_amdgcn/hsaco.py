"""The stage ``hsaco``: what AMD's code object says of itself, and what in it executes. It is not disassembled."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from irdiff.api import (
    Artifact,
    Canonical,
    Context,
    Coverage,
    Fact,
    Issue,
    Scalar,
    Summary,
)

from irdiff_amdgcn.canonical import metadata_lines
from irdiff_amdgcn.elf import (
    ALLOC,
    DESCRIPTOR,
    EXECUTE,
    NOBITS,
    CodeObject,
    KernelCode,
    Section,
    read_code_object,
)
from irdiff_amdgcn.erased import Erased, digest
from irdiff_amdgcn.hsaco_specs import NUMBERS, STAGE
from irdiff_amdgcn.metadata import arch_of, features_of
from irdiff_amdgcn.resources import largest, launch

_LINKING = (
    ".dynsym",
    ".gnu.hash",
    ".hash",
    ".dynstr",
    ".dynamic",
    ".symtab",
    ".shstrtab",
    ".strtab",
    ".relro_padding",
)
_TOOLS = (".comment", ".note.GNU", ".AMDGPU.")


def summarize(artifact: Artifact, context: Context) -> Summary:
    """Facts of one code object. Raises ParseError for a file that is none."""
    code = _read(artifact, context)
    kernels = code.metadata.kernels
    facts: list[Fact] = [*_header(code)]
    for fact_id, key in NUMBERS:
        facts += largest(fact_id, kernels, key)
    offsets = tuple(each.offset for each in code.kernels)
    everywhere = {"": offsets} if offsets else {}
    facts.append(
        Fact(id="hsaco.code_bytes", value=sum(len(each.code) for each in code.kernels), evidence=everywhere)
    )
    digests = tuple(f"{len(each.code)} B {digest([each.code])}" for each in code.kernels)
    facts.append(Fact(id="hsaco.code", value=digests, evidence=everywhere))
    facts.append(Fact(id="hsaco.fingerprint", value=fingerprint(code), evidence=everywhere))
    known = sum(len(kernel.numbers) + len(kernel.arguments) for kernel in kernels)
    issues = []
    if len(kernels) > 1:
        names = ", ".join(kernel.name for kernel in kernels[:8])
        issues.append(
            Issue(
                severity="note",
                code="several-kernels",
                message=f"the code object holds {len(kernels)} kernels ({names}): resources are the largest of them",
                stage=STAGE,
            )
        )
    return Summary(facts=tuple(facts), coverage=Coverage(understood=known, total=known), issues=tuple(issues))


def canonical(artifact: Artifact, context: Context) -> Canonical:
    """What executes, and nothing else. Raises ParseError as ``summarize`` does."""
    code = _read(artifact, context)
    on = context.normalizes
    erased = Erased()
    lines = list(_executed(code, on, erased))
    written = sorted({"debug-sections", "symbol-names", "tool-notes", "padding"})
    for rule in written:
        for section in code.sections:
            if _rule_of(section) != rule or not section.size:
                continue
            content = _padding(code, section) if rule == "padding" else code.content(section)
            if on(rule):
                erased.add(rule, section.name, digest([content]))
            elif content:
                lines.append((section.offset, f"section {section.name} {len(content)} B {digest([content])}"))
    return Canonical.of(
        [text for _, text in lines], places=[place for place, _ in lines], erased=erased.digests()
    )


def fingerprint(code: CodeObject) -> str:
    """Digest of what executes."""
    parts: list[bytes | str] = []
    for _, text in _executed(code, lambda rule: True, Erased()):
        parts.append(text)
    return digest(parts)


def _read(artifact: Artifact, context: Context) -> CodeObject:
    return context.once("hsaco", lambda: read_code_object(artifact.read()))


def _header(code: CodeObject) -> Iterator[Fact]:
    metadata = code.metadata
    place = code.note[0]
    named = arch_of(metadata.target or "") or code.processor
    if named is not None:
        yield Fact(
            id="hsaco.target", value=f"hip:{named}", evidence={"": (place if metadata.target else 48,)}
        )
    yield Fact(id="hsaco.code_object", value=str(code.version + 2), evidence={"": (8,)})
    if metadata.kernels:
        yield Fact(id="hsaco.parameters", value=metadata.kernels[0].arguments, evidence={"": (place,)})
        yield from launch(STAGE, metadata.kernels[0], None)
    found = next((each.descriptor for each in code.kernels if each.descriptor is not None), None)
    if found is not None:
        record: dict[str, Scalar] = {
            "rsrc1": f"{found.resources[0]:#x}",
            "rsrc2": f"{found.resources[1]:#x}",
            "rsrc3": f"{found.resources[2]:#x}",
            "properties": f"{found.properties:#x}",
            "preload": found.preload,
        }
        yield Fact(id="hsaco.descriptor", value=record, evidence=dict.fromkeys(record, (found.place,)))


def _executed(code: CodeObject, on: Callable[[str], bool], erased: Erased) -> Iterator[tuple[int, str]]:
    """(file offset, text) of everything that executes."""
    yield 48, f"processor {code.flags & 0xFF:#x} features {code.flags >> 8:#x}"
    for index, each in enumerate(code.kernels):
        yield from _function(index, each, on, erased)
    yield from _note_lines(code, on, erased)
    for section in code.sections:
        if _rule_of(section) is None and section.size:
            content = _without_descriptors(code, section)
            if content.strip(b"\0") or section.kind == NOBITS:
                yield section.offset, f"data {section.name} {section.size} B {digest([content])}"
    for where, kind, addend in code.relocations:
        yield 0, f"relocation type {kind} at {where:#x} {addend:+#x}"


def _note_lines(code: CodeObject, on: Callable[[str], bool], erased: Erased) -> Iterator[tuple[int, str]]:
    """What the metadata note says."""
    place, target = code.note[0], code.metadata.target
    if target is not None and on("target-spelling") and arch_of(target):
        erased.add("target-spelling", target.partition(":")[0])
        target = f"{arch_of(target)}{features_of(target)}"
    if target is not None:
        yield place, f"amdhsa.target {target}"
    version = f"code object {code.version} {code.metadata.version or ''}".strip()
    if on("code-object-version"):
        erased.add("code-object-version", version)
    else:
        yield 8, version
    for kernel in code.metadata.kernels:
        yield from metadata_lines(kernel, place)
        for text in kernel.other:
            if on("metadata-notes"):
                erased.add("metadata-notes", text)
            else:
                yield place, f"metadata {text}"


def _function(
    index: int, each: KernelCode, on: Callable[[str], bool], erased: Erased
) -> Iterator[tuple[int, str]]:
    role = f"{'function' if each.descriptor is None else 'kernel'} {index}"
    if on("symbol-names"):
        erased.add("symbol-names", each.name)
    else:
        role = f"{role} {each.name}"
    yield each.offset, f"{role} {len(each.code)} B {digest([each.code])}"
    found = each.descriptor
    if found is not None:
        numbers = " ".join(f"{value:#x}" for value in (*found.resources, found.properties, found.preload))
        yield (
            found.place,
            f"{role} descriptor {numbers} segments {found.group_segment} {found.private_segment} {found.kernarg}",
        )


def _rule_of(section: Section) -> str | None:
    """The normalisation that drops a section; None for one whose bytes execute or are read."""
    if section.kind == 0 or section.name.startswith(_LINKING):
        return "symbol-names"
    if section.name.startswith(".debug"):
        return "debug-sections"
    if section.name.startswith(_TOOLS) or section.kind == 7:
        return "tool-notes"
    if section.flags & EXECUTE:
        return "padding"
    return "symbol-names" if section.kind in (4, 5, 6, 9) or not section.flags & ALLOC else None


def _padding(code: CodeObject, section: Section) -> bytes:
    """The bytes of an executable section outside any function."""
    rest = bytearray(code.content(section))
    for each in code.kernels:
        start = each.offset - section.offset
        if 0 <= start < len(rest):
            rest[start : start + len(each.code)] = bytes(len(each.code))
    return bytes(rest).strip(b"\0")


def _without_descriptors(code: CodeObject, section: Section) -> bytes:
    content = bytearray(code.content(section))
    for each in code.kernels:
        if each.descriptor is not None:
            start = each.descriptor.place - section.offset
            if 0 <= start < len(content):
                content[start : start + DESCRIPTOR] = bytes(DESCRIPTOR)
    return bytes(content)
