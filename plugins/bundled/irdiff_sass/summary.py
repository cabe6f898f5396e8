"""The summary of one cubin, or of a dump's ``.sass`` text."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from irdiff.api import Artifact, Canonical, Context, Coverage, Exactness, Fact, Issue, Scalar, Summary, Value
from irdiff_sass import attributes
from irdiff_sass.canonical import canonical_form
from irdiff_sass.counting import count_facts, coverage
from irdiff_sass.cubin import Code, Cubin, Function, read_cubin
from irdiff_sass.decoded import Listing, Undecoded
from irdiff_sass.disassembly import prepare
from irdiff_sass.executed import fingerprint
from irdiff_sass.kind import REBUILD
from irdiff_sass.listing import read_listing
from irdiff_sass.live import live_registers
from irdiff_sass.source_lines import source_lines
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
    spills: Spills | None = None
    if parts.cubin is not None:
        spills = count_spills(parts.cubin)
        facts += _resources(parts.cubin, spills, issues)
        facts += _live_registers(parts, artifact, context, issues)
        issues += _cut(parts.cubin)
    if isinstance(parts.decoded, Undecoded):
        return Summary(
            facts=tuple(facts),
            coverage=_container_coverage(parts.cubin),
            issues=tuple(issues),
            degraded=parts.decoded.reason,
        )
    if parts.cubin is None:
        degraded = TEXT_ONLY
    counted = count_facts(parts.decoded)
    if spills is not None:
        for scope, members in counted.members.items():
            facts += _spill_facts(spills, scope, members)
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
        facts=(*facts, *counted.facts),
        scopes=counted.scopes,
        coverage=covered,
        issues=tuple(issues),
        degraded=degraded,
    )


def canonical(artifact: Artifact, context: Context) -> Canonical:
    """The canonical form. Raises ParseError as ``summarize`` does."""
    parts = _parts(artifact, context)
    return canonical_form(parts.cubin, parts.decoded, context.normalizes)


def lines_of_source(artifact: Artifact, context: Context) -> dict[int, str]:
    """Address to ``path:line`` of the user's Python. Raises ParseError as ``summarize`` does."""
    data = artifact.read()
    return source_lines(read_cubin(data)) if data[:4] == b"\x7fELF" else {}


def listing_of(artifact: Artifact, context: Context) -> Listing | Undecoded:
    """The decoded code, or why it is not. Raises ParseError as ``summarize`` does."""
    return _parts(artifact, context).decoded


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


def _resources(cubin: Cubin, spills: Spills, issues: list[Issue]) -> list[Fact]:
    """Facts from the container alone."""
    entries = cubin.entries
    codes = cubin.codes
    own = [code for code in codes if code.role.startswith("entry")] or list(codes)
    facts = [
        _fact("sass.target", f"cuda:{cubin.sm}", ()),
        _largest("sass.static_shared", [(code.shared, code.shared_place) for code in own]),
        _largest("sass.named_barriers", [(code.barriers, code.barriers_place) for code in own]),
        _fact(
            "sass.code_bytes",
            sum(code.section.size for code in codes),
            [code.section.offset for code in codes],
        ),
        _fact("sass.constant_bytes", sum(sum(code.constants.values()) for code in codes), ()),
        _fact("sass.fingerprint", fingerprint(cubin), [code.section.offset for code in codes]),
        *_spill_facts(spills),
        *_launch_bounds(own[0]),
        _parameters(own[0]),
    ]
    if spills.strays:
        issues.append(
            _issue(
                "unknown-spill",
                f"{len(spills.strays)} marked spills are neither STL nor LDL, first at {spills.strays[0]:#x}",
            )
        )
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


def _cut(cubin: Cubin) -> list[Issue]:
    """Say that the file ends early, behind all that facts come from."""
    if cubin.elf.missing is None:
        return []
    message = f"cut off at byte {len(cubin.elf.data):,} ({cubin.elf.missing} missing)"
    return [Issue(severity="error", code="truncated-elf", message=message, stage="sass", hint=REBUILD)]


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


def _spill_facts(spills: Spills, scope: str = "", members: frozenset[int] | None = None) -> list[Fact]:
    """Bytes of spills of the whole cubin, or of the instructions of one loop."""
    exactness: Exactness | None = None if spills.exact and not spills.strays else "estimate"
    facts = []
    for name, sites in (("store", spills.store_sites), ("load", spills.load_sites)):
        inside = [(place, width) for place, width in sites if members is None or place in members]
        facts.append(
            Fact(
                id=f"sass.spill_{name}_bytes",
                value=sum(width for _, width in inside),
                scope=scope,
                evidence={"": tuple(place for place, _ in inside)} if inside else {},
                exactness=exactness,
            )
        )
    return facts


def _live_registers(parts: Parts, artifact: Artifact, context: Context, issues: list[Issue]) -> list[Fact]:
    """The most registers that hold a value at once, where that was asked for and a tool can say it."""
    if parts.cubin is None or not context.wants("sass.live_registers"):
        return []
    live = live_registers(artifact.read(), parts.cubin, context.tools)
    if isinstance(live, str):
        issues.append(Issue(severity="note", code="no-live-registers", message=live, stage="sass"))
        return []
    facts = []
    counted = count_facts(parts.decoded).members if isinstance(parts.decoded, Listing) else {}
    for scope, members in [("", None), *counted.items()]:
        inside = {place: count for place, count in live.items() if members is None or place in members}
        if inside:
            peak = max(inside.values())
            places = tuple(place for place, count in sorted(inside.items()) if count == peak)
            facts.append(Fact(id="sass.live_registers", value=peak, scope=scope, evidence={"": places}))
    return facts


def _parameters(code: Code) -> Fact:
    """What the driver copies for a launch: size and place of each parameter, in order."""
    found: dict[int, tuple[int, int, int]] = {}
    for record in code.records:
        words = record.words() if record.tag == attributes.PARAMETER and record.format == 4 else ()
        if len(words) == 3:
            found[words[1] & 0xFFFF] = (words[1] >> 16, words[2] >> 18, record.place)
    ordered = [found[number] for number in sorted(found)]
    return Fact(
        id="sass.parameters",
        value=tuple(f"{size} B at {offset}" for offset, size, _ in ordered),
        evidence={"": tuple(place for _, _, place in ordered)} if ordered else {},
    )


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
