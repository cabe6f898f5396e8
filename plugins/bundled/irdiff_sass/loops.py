"""Loops of machine code: natural loops of the control-flow graph.

A backward branch alone is no loop: the assembler moves rarely taken paths behind the end of a kernel, and they
branch back. A loop is a branch to an instruction that every path to the branch passes (its dominator), with all
instructions that reach the branch without passing it; they need not be contiguous.
"""

from __future__ import annotations

import msgspec

from irdiff_sass.decoded import CodeText
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


class Turns(msgspec.Struct, frozen=True, kw_only=True):
    """Where paths go in one section, by the indices of its instructions."""

    stop: int
    """Where the padding begins."""
    jumps: dict[int, int]
    """Branch to where it can go."""
    called: frozenset[int]
    """Instructions that are entered from outside."""
    ends: frozenset[int]
    """Instructions that no path goes on behind."""

    def goes_back(self) -> bool:
        """Whether any branch but a guard goes back: there is no loop without one."""
        return any(
            goal < index or (goal == index and index not in self.ends) for index, goal in self.jumps.items()
        )


def find_loops(code: CodeText) -> tuple[Loop, ...]:
    """The loops of one section, in order of their headers; empty where they are beyond the limits.

    The guard behind a kernel's end, a branch to itself, is no loop.
    """
    turns = _turns(code)
    return _loops(code, turns) if turns.goes_back() else ()


def _loops(code: CodeText, turns: Turns) -> tuple[Loop, ...]:
    starts, graph, roots = _blocks(turns)
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
    ends = [*starts[1:], turns.stop]
    return tuple(
        Loop(
            header=starts[head],
            members=frozenset(index for block in body for index in range(starts[block], ends[block])),
            parent=_parent(heads, bodies, position),
        )
        for position, (head, body) in enumerate(zip(heads, bodies, strict=True))
    )


def _is_guard(code: CodeText, starts: list[int], head: int, tails: list[int]) -> bool:
    """A block of one unconditional branch to itself."""
    index = starts[head]
    alone = head + 1 == len(starts) or starts[head + 1] == index + 1
    return alone and tails == [head] and _is_jump(code.at(index))


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


def _turns(code: CodeText) -> Turns:
    stop = code.body
    jumps: dict[int, int] = {}
    called = {0}
    ends: set[int] = set()
    for index in code.of_families(TURNING):
        instruction = code.at(index)
        place = instruction.target if instruction.executes else None
        goal = None if place is None else code.index(place)
        if goal is not None and goal < stop:  # what goes into the padding goes nowhere
            if instruction.family == "CALL":
                called.add(goal)
            elif instruction.family in GOING:
                jumps[index] = goal
        if _ends(instruction):
            ends.add(index)
    return Turns(stop=stop, jumps=jumps, called=frozenset(called), ends=frozenset(ends))


def _blocks(turns: Turns) -> tuple[list[int], Graph, list[int]]:
    """(first instruction of each block, successors by block, blocks that are entered from outside)."""
    behind = {index + 1 for index in (*turns.jumps, *turns.ends)}
    starts = sorted((turns.called | behind | set(turns.jumps.values())) - {turns.stop})
    number = {start: block for block, start in enumerate(starts)}
    graph: Graph = []
    for end in [*starts[1:], turns.stop]:
        successors = [] if end - 1 not in turns.jumps else [number[turns.jumps[end - 1]]]
        if end < turns.stop and end - 1 not in turns.ends:
            successors.append(number[end])
        graph.append(successors)
    return starts, graph, sorted(number[index] for index in turns.called)


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
