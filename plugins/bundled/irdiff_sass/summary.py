"""The summary of one cubin, or of a dump's ``.sass`` text."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from irdiff.api import Artifact, Canonical, Context, Coverage, Exactness, Fact, Issue, Scalar, Summary, Value
from irdiff_sass import attributes
from irdiff_sass.canonical import canonical_form
from irdiff_sass.counting import count_facts, coverage
from irdiff_sass.cubin import Code, Cubin, Function, read_cubin
from irdiff_sass.disassembly import prepare
from irdiff_sass.executed import fingerprint
from irdiff_sass.listing import Listing, Undecoded, read_listing
from irdiff_sass.spills import Spills, count_spills

TEXT_ONLY = (
    "only the SASS text of a dump is here, no cubin: registers, stack, spills and fingerprint are not known"
)


class Parts(msgspec.Struct, frozen=True, kw_only=True):
    """What was read of one artifact, for its summary and its canonical form."""

    cubin: Cubin | None
    decoded: Listing | Undecoded


def summarize(artifact: Artifact, context: Context) -> Summary:
    """Facts of one artifact. Raises ParseError for a file that is neither a cubin nor SASS text."""
    parts = _parts(artifact, context)
    facts: list[Fact] = []
    issues: list[Issue] = []
    degraded: str | None = None
    if parts.cubin is not None:
        facts += _resources(parts.cubin, issues)
    if isinstance(parts.decoded, Undecoded):
        return Summary(
            facts=tuple(facts),
            coverage=_container_coverage(parts.cubin),
            issues=tuple(issues),
            degraded=parts.decoded.reason,
        )
    if parts.cubin is None:
        degraded = TEXT_ONLY
    counted, scopes = count_facts(parts.decoded)
    covered = coverage(parts.decoded.codes)
    if covered.unknown:
        place, text = covered.unknown[0]
        issues.append(
            Issue(
                severity="warning",
                code="unknown-instruction",
                message=f"{covered.total - covered.understood} instructions are not understood, "
                f"first at {place:#x}: {text}",
                stage="sass",
            )
        )
    return Summary(
        facts=(*facts, *counted),
        scopes=tuple(scopes),
        coverage=covered,
        issues=tuple(issues),
        degraded=degraded,
    )


def canonical(artifact: Artifact, context: Context) -> Canonical:
    """The canonical form. Raises ParseError as ``summarize`` does."""
    parts = _parts(artifact, context)
    return canonical_form(parts.cubin, parts.decoded, context.normalizes)


def _parts(artifact: Artifact, context: Context) -> Parts:
    return context.once("sass", lambda: _read(artifact, context))


def _read(artifact: Artifact, context: Context) -> Parts:
    data = artifact.read()
    if artifact.suffix == ".sass" and data[:4] != b"\x7fELF":
        return Parts(cubin=None, decoded=read_listing(data))
    cubin = read_cubin(data)
    decoded = context.prepared
    if not isinstance(decoded, (Listing, Undecoded)):
        decoded = prepare([artifact], context.tools).get(artifact.sha256)
    if not isinstance(decoded, (Listing, Undecoded)):
        decoded = Undecoded(reason="SASS not decoded: its code was not given to a disassembler")
    return Parts(cubin=cubin, decoded=decoded)


def _container_coverage(cubin: Cubin | None) -> Coverage:
    """Without instructions: the attribute records, all of which were read."""
    records = (
        0 if cubin is None else len(cubin.shared_records) + sum(len(code.records) for code in cubin.codes)
    )
    return Coverage(understood=records, total=records)


def _resources(cubin: Cubin, issues: list[Issue]) -> list[Fact]:
    """Facts from the container alone."""
    entries = cubin.entries
    codes = cubin.codes
    own = [code for code in codes if code.role.startswith("entry")] or list(codes)
    facts = [
        _largest("sass.static_shared", [(code.shared, code.shared_place) for code in own]),
        _largest("sass.named_barriers", [(code.barriers, code.barriers_place) for code in own]),
        _fact(
            "sass.code_bytes",
            sum(code.section.size for code in codes),
            [code.section.offset for code in codes],
        ),
        _fact("sass.constant_bytes", sum(sum(code.constants.values()) for code in codes), ()),
        _fact("sass.fingerprint", fingerprint(cubin), [code.section.offset for code in codes]),
        *_spill_facts(count_spills(cubin), issues),
        *_launch_bounds(own[0]),
    ]
    registers = [(entry.registers, entry.registers_place) for entry in entries if entry.registers is not None]
    if registers:
        facts.append(_largest("sass.registers", registers))
    else:
        issues.append(
            _issue("no-register-count", "the cubin does not say how many registers its kernel uses")
        )
    stacks = [(entry.stack, entry.stack_place) for entry in entries if entry.stack is not None]
    if stacks and len(stacks) == len(entries):
        facts.append(_largest("sass.stack", stacks))
    elif any(entry.unbounded for entry in entries):
        issues.append(_issue("unbounded-stack", "the assembler could not bound the stack (recursion)"))
    if cubin.ptxas is not None:
        facts.append(_fact("sass.ptxas", cubin.ptxas, ()))
    issues += _functions(entries, cubin)
    return facts


def _functions(entries: Sequence[Function], cubin: Cubin) -> list[Issue]:
    """Say which functions there are beside one kernel."""
    found = []
    if len(entries) > 1:
        names = ", ".join(entry.name for entry in entries[:8])
        found.append(
            Issue(
                severity="note",
                code="several-kernels",
                message=f"the cubin holds {len(entries)} kernels ({names}): resources are the largest of them, "
                "sizes and counts their sums",
                stage="sass",
            )
        )
    called = [function.name for function in cubin.functions if function.code and not function.entry]
    if called:
        found.append(
            Issue(
                severity="note",
                code="device-functions",
                message=f"{len(called)} functions are called and not inlined: {', '.join(called[:8])}",
                stage="sass",
            )
        )
    return found


def _spill_facts(spills: Spills, issues: list[Issue]) -> list[Fact]:
    exactness: Exactness | None = None if spills.exact else "estimate"
    if spills.strays:
        issues.append(
            _issue(
                "unknown-spill",
                f"{len(spills.strays)} marked spills are neither STL nor LDL, first at byte {spills.strays[0]}",
            )
        )
        exactness = "estimate"
    return [
        _fact("sass.spill_store_bytes", spills.stores, spills.store_places, exactness),
        _fact("sass.spill_load_bytes", spills.loads, spills.load_places, exactness),
    ]


def _launch_bounds(code: Code) -> list[Fact]:
    value: dict[str, Scalar] = {}
    places = []
    for record in code.records:
        if (
            record.tag in (attributes.REQUIRED_THREADS, attributes.MAXIMUM_THREADS)
            and len(record.words()) == 3
        ):
            name = "reqntid" if record.tag == attributes.REQUIRED_THREADS else "maxntid"
            value[name] = ", ".join(map(str, record.words()))
            places.append(record.place)
        if record.tag == attributes.MAXIMUM_REGISTERS and record.format != 4:
            value["maxnreg"] = record.small()
            places.append(record.place)
    return [_fact("sass.launch_bounds", dict(sorted(value.items())), places)] if value else []


def _largest(fact_id: str, found: Sequence[tuple[int, int]]) -> Fact:
    value, place = max(found)
    return _fact(fact_id, value, (place,))


def _fact(fact_id: str, value: Value, places: Sequence[int], exactness: Exactness | None = None) -> Fact:
    return Fact(id=fact_id, value=value, evidence={"": tuple(places)} if places else {}, exactness=exactness)


def _issue(code: str, message: str) -> Issue:
    return Issue(severity="warning", code=code, message=message, stage="sass")
