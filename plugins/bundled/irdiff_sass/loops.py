"""Loops of machine code: natural loops of the control-flow graph.

A backward branch alone is no loop: the assembler moves rarely taken paths behind the end of a kernel, and they
branch back. A loop is a branch to an instruction that every path to the branch passes (its dominator), with all
instructions that reach the branch without passing it; they need not be contiguous.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from irdiff_sass.instructions import BRANCHES, Instruction

LOOP_LIMIT = 256
"""Loops in one section; more are not told apart."""

PASS_LIMIT = 64
"""Passes until dominators must be found; code of a compiler needs two or three."""

ENDING = frozenset({"EXIT", "RET", "KILL", "BRX", "BRXU", "JMX", "JMXU"})
"""Families that no path goes on behind."""

GOING = frozenset({"BRA", "JMP", "WARPSYNC"})
"""Families that can go to the place they name, and no further than their warp."""

TURNING = BRANCHES | ENDING | GOING
"""Families that say where a path goes."""

Graph = list[list[int]]


class Loop(msgspec.Struct, frozen=True, kw_only=True):
    """One loop."""

    header: int
    """Index of its first instruction in the section."""
    members: frozenset[int]
    """Indices of its instructions, those of inner loops included."""
    parent: int | None
    """Position of the loop that directly holds it, in the same list."""


def find_loops(code: Sequence[Instruction], labels: dict[int, int]) -> tuple[Loop, ...]:
    """The loops of one section, in order of their headers; empty where they are beyond the limits.

    ``labels`` maps a place that a branch names to an index into ``code``. The guard behind a kernel's end, a
    branch to itself, is no loop.
    """
    starts, graph, roots = _blocks(code, labels)
    if not starts:
        return ()
    order = _reverse_postorder(graph, roots)
    dominators = _dominators(graph, order, roots)
    if dominators is None:
        return ()
    spans = _spans(dominators, order)
    backs: dict[int, list[int]] = {}
    for block in order:
        for successor in graph[block]:
            if spans[successor][0] <= spans[block][0] < spans[successor][1]:
                backs.setdefault(successor, []).append(block)
    guards = {head for head, tails in backs.items() if _is_guard(code, starts, head, tails)}
    heads = sorted((head for head in backs if head not in guards), key=lambda head: starts[head])
    if len(heads) > LOOP_LIMIT:
        return ()
    before = _reversed(graph)
    bodies = [_body(before, head, backs[head]) for head in heads]
    ends = [*starts[1:], len(code)]
    return tuple(
        Loop(
            header=starts[head],
            members=frozenset(index for block in body for index in range(starts[block], ends[block])),
            parent=_parent(heads, bodies, position),
        )
        for position, (head, body) in enumerate(zip(heads, bodies, strict=True))
    )


def _is_guard(code: Sequence[Instruction], starts: list[int], head: int, tails: list[int]) -> bool:
    """A block of one unconditional branch to itself."""
    index = starts[head]
    alone = head + 1 == len(starts) or starts[head + 1] == index + 1
    return alone and tails == [head] and _is_jump(code[index])


def _is_jump(instruction: Instruction) -> bool:
    """Whether nothing goes on behind it: ``BRA x`` without any condition."""
    return (
        not instruction.predicate
        and instruction.family in ("BRA", "JMP")
        and len(instruction.operands) == 1
        and not instruction.opcode.endswith((".DIV", ".CONV"))
    )


def _ends(instruction: Instruction) -> bool:
    """Whether no path goes on behind it."""
    if instruction.predicate:
        return False
    return _is_jump(instruction) or instruction.family in ENDING


def _blocks(code: Sequence[Instruction], labels: dict[int, int]) -> tuple[list[int], Graph, list[int]]:
    """(first instruction of each block, successors by block, blocks that are entered from outside)."""
    if not code:
        return [], [], []
    jumps: dict[int, int] = {}
    called = {0}
    leaders = {0}
    opcodes = [instruction.opcode for instruction in code]
    turns = {opcode for opcode in set(opcodes) if opcode.partition(".")[0] in TURNING}
    for index in [index for index, opcode in enumerate(opcodes) if opcode in turns]:
        instruction = code[index]
        place = instruction.target if instruction.executes else None
        goal = len(code) if place is None else labels.get(place, len(code))
        if goal < len(code):  # what goes into the padding goes nowhere
            if instruction.family == "CALL":
                called.add(goal)
            elif instruction.family in GOING:
                jumps[index] = goal
        if index in jumps or _ends(instruction):
            leaders.add(index + 1)
    leaders |= called | set(jumps.values())
    leaders.discard(len(code))
    starts = sorted(leaders)
    number = {start: block for block, start in enumerate(starts)}
    graph: Graph = []
    for stop in [*starts[1:], len(code)]:
        successors = [] if stop - 1 not in jumps else [number[jumps[stop - 1]]]
        if stop < len(code) and not _ends(code[stop - 1]):
            successors.append(number[stop])
        graph.append(successors)
    return starts, graph, sorted(number[index] for index in called)


def _reverse_postorder(graph: Graph, roots: list[int]) -> list[int]:
    seen = set(roots)
    order: list[int] = []
    stack = [(root, iter(graph[root])) for root in reversed(roots)]
    while stack:
        block, successors = stack[-1]
        following = next((each for each in successors if each not in seen), None)
        if following is None:
            order.append(block)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(graph[following])))
    return order[::-1]


def _dominators(graph: Graph, order: list[int], roots: list[int]) -> dict[int, int] | None:
    """Immediate dominator of each reachable block; -1, a block before all roots, dominates them.

    ``None`` where ``PASS_LIMIT`` passes do not find them.

    The iterative algorithm of Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
    """
    position = {block: index for index, block in enumerate(order)}
    position[-1] = -1
    before = _reversed(graph)
    known: dict[int, int] = {-1: -1} | dict.fromkeys(roots, -1)
    rooted = set(roots)
    for _ in range(PASS_LIMIT):
        moving = False
        for block in order:
            if block in rooted:
                continue
            found: int | None = None
            for source in before[block]:
                if source in known:
                    found = source if found is None else _meet(known, position, source, found)
            if found is not None and known.get(block) != found:
                known[block] = found
                moving = True
        if not moving:
            return known
    return None


def _meet(known: dict[int, int], position: dict[int, int], one: int, other: int) -> int:
    while one != other:
        while position[one] > position[other]:
            one = known[one]
        while position[other] > position[one]:
            other = known[other]
    return one


def _spans(dominators: dict[int, int], order: list[int]) -> dict[int, tuple[int, int]]:
    """Numbers of each block in a walk of the dominator tree: one dominates another if its span holds it."""
    children: dict[int, list[int]] = {}
    for block in order:
        children.setdefault(dominators[block], []).append(block)
    first: dict[int, int] = {}
    spans: dict[int, tuple[int, int]] = {}
    stack = [(-1, iter(children.get(-1, ())))]
    while stack:
        block, following = stack[-1]
        child = next(following, None)
        if child is None:
            spans[block] = (first.get(block, 0), len(first))
            stack.pop()
        else:
            first[child] = len(first)
            stack.append((child, iter(children.get(child, ()))))
    return spans


def _reversed(graph: Graph) -> Graph:
    before: Graph = [[] for _ in graph]
    for block, successors in enumerate(graph):
        for successor in successors:
            before[successor].append(block)
    return before


def _body(before: Graph, head: int, tails: list[int]) -> frozenset[int]:
    body = {head}
    stack = list(tails)
    while stack:
        block = stack.pop()
        if block not in body:
            body.add(block)
            stack.extend(before[block])
    return frozenset(body)


def _parent(heads: list[int], bodies: list[frozenset[int]], position: int) -> int | None:
    """The smallest other loop that holds this one's header."""
    holding = [other for other, body in enumerate(bodies) if other != position and heads[position] in body]
    return min(holding, key=lambda other: len(bodies[other]), default=None)
