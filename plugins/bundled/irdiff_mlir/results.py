"""The type of every result: MLIR's custom syntax prints only what cannot be inferred, so it is inferred here.

The rules are those of the operations' definitions (Triton 3.6 ``TritonOps.td``, ``TritonGPUOps.td``,
``TritonNvidiaGPUOps.td``; MLIR ``ArithOps.td``); the tests hold them against libtriton's own parser.
"""

from __future__ import annotations

from irdiff_mlir import types
from irdiff_mlir.model import Operation

_TOKEN_RESULT = frozenset(
    (
        "ttg.async_wait",
        "ttg.async_commit_group",
        "ttg.async_copy_global_to_local",
        "amdg.buffer_load_to_local",
        "amdg.async_wait",
    )
)
_TOKEN = "!ttg.async.token"  # noqa: S105  # an MLIR type
_COMPARISONS = frozenset(("arith.cmpi", "arith.cmpf"))
_LAST_TYPE = frozenset(("arith.select", "tt.make_tensor_descriptor"))
_SAME_AS_ALL = frozenset(("ttng.warp_group_dot_wait",))
_BARE_LITERALS = {"true": "i1", "false": "i1"}
_SHORTHANDS = {
    "tt.make_tensor_descriptor": "!tt.tensordesc",
    "tt.make_tensor_ptr": "!tt.ptr",
    "tt.advance": "!tt.ptr",
}
"""Operations that print ``<...>`` for the type of their result."""


def type_section(operation: Operation) -> str:
    """What follows the first top-level `` : `` of the operation, or of its end where it has regions."""
    text = operation.tail if operation.generic and operation.regions else operation.head
    last = (" " + text).rpartition(" : ")[2]
    if last.count("{") == last.count("}") and '"' not in last:
        return last if " : " in text or text.startswith(": ") else ""
    parts = types.split(" " + text, " : ")  # the last colon stands in an attribute or string
    return parts[-1] if len(parts) > 1 else ""


def result_types(operation: Operation) -> tuple[str, ...] | None:
    """Types of the results with aliases as written; None where they cannot be told."""
    expected = operation.result_count
    if expected == 0:
        return ()
    found = _types(operation)
    return tuple(found) if len(found) == expected else None


def _types(operation: Operation) -> list[str]:
    name = operation.name
    if name in ("scf.for", "scf.if", "scf.index_switch", "scf.execute_region", "ttg.warp_specialize"):
        return _after_arrow(operation)
    section = type_section(operation)
    if name in _TOKEN_RESULT:
        return [_TOKEN]
    arrow = types.split(section, "->")
    if len(arrow) > 1:
        return types.listed(arrow[-1])
    if name == "arith.constant":
        return [section or _BARE_LITERALS.get(operation.head.split(" ")[-1], "i64")]
    return _without_arrow(operation, section)


def _after_arrow(operation: Operation) -> list[str]:
    for text in (operation.head, operation.tail):
        arrow = types.split(types.split(text, " : ")[0] if operation.name == "scf.for" else text, "->")
        if len(arrow) > 1:
            return types.listed(arrow[-1])
    return []


def _without_arrow(operation: Operation, section: str) -> list[str]:
    name = operation.name
    cast = types.split(section, " to ")
    if len(cast) > 1:
        return [cast[-1]]
    listed = types.split(section) if section else []
    if not listed or name in _SAME_AS_ALL:
        return listed
    if name in _COMPARISONS:
        return [_with_element(listed[0], "i1")]
    if name == "tt.load":
        return [_loaded(listed[0])]
    chosen = listed[-1] if name in _LAST_TYPE else listed[0]
    if chosen.startswith("<") and name in _SHORTHANDS:
        chosen = _SHORTHANDS[name] + chosen
    return [chosen]


def _with_element(text: str, element: str) -> str:
    found = types.shaped(text)
    if found is None:
        return element
    body = "x".join((*found.shape, element))
    return f"tensor<{', '.join((body, *found.parameters))}>"


def _loaded(pointer: str) -> str:
    """What a load from a pointer, a tensor of pointers or a pointer to a block gives."""
    found = types.shaped(pointer)
    if found is not None:
        return _with_element(pointer, types.pointee(found.element) or found.element)
    return types.pointee(pointer) or pointer
