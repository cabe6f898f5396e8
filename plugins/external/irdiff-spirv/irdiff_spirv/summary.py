"""A module to facts: declared, counted in functions, and counted in loops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from irdiff.api import Artifact, Context, Coverage, Fact, Issue, Loop, Scalar, Scope, Summary, find_loops

from irdiff_spirv.memory import Memory, called
from irdiff_spirv.module import Instruction, Module, debug_sets, is_debug
from irdiff_spirv.names import names
from irdiff_spirv.reading import module_of
from irdiff_spirv.source_lines import source_lines

Tally: TypeAlias = dict[str, list[int]]
TALLIES = (
    *("opcodes", "global_loads", "global_stores", "shared_loads", "shared_stores"),
    *("atomics", "barriers", "calls", "matrix"),
)
MATRIX = ("MatrixMultiplyAccumulate", "MatrixMulAdd", "MatrixMad", "matrix_mad")
MOST_UNKNOWN = 50


def summarize(artifact: Artifact, context: Context) -> Summary:
    """Everything this stage says of one artifact. Raises ParseError."""
    module = module_of(artifact, context)
    sets = debug_sets(module)
    meant = [each for each in module.instructions if not is_debug(each, sets)]
    bodies = _bodies(meant)
    memory = Memory.of(meant)
    calls = called(meant)
    facts = [*_declared(module, meant), *_facts(bodies, memory, calls, "")]
    scopes = []
    for loop, inside in _loops(bodies):
        places = [each.place for each in inside]
        scopes.append(Scope(id=loop.id, first=min(places), last=max(places)))
        facts += _facts(inside, memory, calls, loop.id)
    unknown = [(each.place, each.opcode) for each in module.instructions if each.opcode not in names().known]
    total = len(module.instructions)
    return Summary(
        facts=tuple(facts),
        scopes=tuple(scopes),
        coverage=Coverage(
            understood=total - len(unknown), total=total, unknown=tuple(unknown[:MOST_UNKNOWN])
        ),
        issues=tuple(_issues(module)),
        source_lines=source_lines(module),
        degraded=module.degraded,
    )


def _bodies(instructions: Sequence[Instruction]) -> list[Instruction]:
    """What is in functions, without the function's own lines."""
    found, inside = [], False
    for each in instructions:
        if each.opcode == "OpFunction":
            inside = True
        elif each.opcode == "OpFunctionEnd":
            inside = False
        elif inside and each.opcode != "OpFunctionParameter":
            found.append(each)
    return found


def _declared(module: Module, instructions: Sequence[Instruction]) -> Iterable[Fact]:
    by_opcode: dict[str, list[Instruction]] = {}
    for each in instructions:
        by_opcode.setdefault(each.opcode, []).append(each)
    if module.header.version:
        yield Fact(id="spirv.version", value=module.header.version)
    if module.header.generator:
        yield Fact(id="spirv.generator", value=module.header.generator)
    for name, opcode in (("capabilities", "OpCapability"), ("extensions", "OpExtension")):
        found = by_opcode.get(opcode, [])
        value = tuple(sorted({each.operands[0].strip('"') for each in found if each.operands}))
        yield _placed(name, value, found)
    for each in by_opcode.get("OpMemoryModel", [])[:1]:
        yield _placed("memory_model", " ".join(each.operands), [each])
    points = [each for each in by_opcode.get("OpEntryPoint", []) if len(each.operands) > 2]
    entries = tuple(sorted({f"{each.operands[0]} {each.operands[2].strip(chr(34))}" for each in points}))
    yield _placed("entry_points", entries, points)
    yield _modes(by_opcode, {each.operands[1]: each.operands[2].strip('"') for each in points})
    variables: Tally = {}
    for each in by_opcode.get("OpVariable", []):
        if len(each.operands) > 1:
            variables.setdefault(each.operands[1], []).append(each.place)
    yield _tally("variables", variables, "")


def _modes(by_opcode: dict[str, list[Instruction]], points: dict[str, str]) -> Fact:
    value: dict[str, Scalar] = {}
    evidence: dict[str, tuple[int, ...]] = {}
    for each in (*by_opcode.get("OpExecutionMode", []), *by_opcode.get("OpExecutionModeId", [])):
        if len(each.operands) < 2:
            continue
        head = f"{points.get(each.operands[0], each.operands[0])} " if len(points) > 1 else ""
        said = each.operands[2:]
        number = int(said[0]) if len(said) == 1 and said[0].isdecimal() and len(said[0]) < 20 else None
        value[head + each.operands[1]] = number if number is not None else " ".join(said) or True
        evidence[head + each.operands[1]] = (each.place,)
    return Fact(
        id="spirv.execution_modes", value={name: value[name] for name in sorted(value)}, evidence=evidence
    )


def _facts(
    instructions: Sequence[Instruction], memory: Memory, calls: dict[str, str], scope: str
) -> Iterable[Fact]:
    tallies: dict[str, Tally] = {name: {} for name in TALLIES}
    for each in instructions:
        tallies["opcodes"].setdefault(each.opcode, []).append(each.place)
        for fact, key in _more(each, memory, calls):
            tallies[fact].setdefault(key, []).append(each.place)
    for name in TALLIES:
        yield _tally(name, tallies[name], scope)


def _more(each: Instruction, memory: Memory, calls: dict[str, str]) -> Iterable[tuple[str, str]]:
    """(fact, key) of everything that one instruction counts for beside its opcode."""
    access = memory.access(each)
    if access is not None:
        yield access
    if each.opcode.startswith("OpAtomic"):
        yield "atomics", each.opcode
    if each.opcode in ("OpControlBarrier", "OpMemoryBarrier"):
        yield "barriers", each.opcode
    name = calls.get(each.operands[1]) if each.opcode == "OpFunctionCall" and len(each.operands) > 1 else None
    if name is not None:
        yield "calls", name
    if any(word in (name or each.opcode) for word in MATRIX):
        yield "matrix", name or each.opcode


def _loops(instructions: Sequence[Instruction]) -> Iterable[tuple[Loop, list[Instruction]]]:
    """The loops of all functions with the instructions in them."""
    blocks: list[list[Instruction]] = []
    index: dict[str, int] = {}
    for each in instructions:
        if each.opcode == "OpLabel" and each.result is not None:
            index[each.result] = len(blocks)
            blocks.append([])
        if blocks:
            blocks[-1].append(each)
    successors = [
        [index[name] for name in block[-1].operands if name in index]
        if block[-1].opcode in ("OpBranch", "OpBranchConditional", "OpSwitch")
        else []
        for block in blocks
    ]
    for loop in find_loops(successors):
        yield loop, [each for block in sorted(loop.blocks) for each in blocks[block]]


def _tally(name: str, tally: Tally, scope: str) -> Fact:
    keys = sorted(tally)
    return Fact(
        id=f"spirv.{name}",
        value={key: len(tally[key]) for key in keys},
        scope=scope,
        evidence={key: tuple(sorted(set(tally[key]))) for key in keys},
    )


def _placed(name: str, value: str | tuple[str, ...], found: Iterable[Instruction]) -> Fact:
    places = tuple(each.place for each in found)
    return Fact(id=f"spirv.{name}", value=value, evidence={"": places} if places else {})


def _issues(module: Module) -> Iterable[Issue]:
    if module.truncated is not None:
        yield Issue(
            severity="error",
            code="truncated",
            message=f"the module is cut off in the instruction at byte {module.truncated}",
            hint="compile it again, or copy the file again",
        )
    elif not module.instructions or module.instructions[-1].opcode not in (
        "OpFunctionEnd",
        "OpLine",
        "OpNoLine",
    ):
        yield Issue(
            severity="error",
            code="truncated",
            message="the module does not end with the end of a function",
            hint="compile it again, or copy the file again",
        )
    if module.degraded is not None:
        yield Issue(
            severity="warning",
            code="not-disassembled",
            message=module.degraded,
            hint="pip install 'irdiff-spirv[tools]'",
        )
