"""The type of every result: MLIR's custom syntax prints only what cannot be inferred, so it is inferred here.

The rules are those of the operations' definitions (Triton 3.6 ``TritonOps.td``, ``TritonGPUOps.td``,
``TritonNvidiaGPUOps.td``; MLIR ``ArithOps.td``); the tests hold them against libtriton's own parser.
"""

from __future__ import annotations

from functools import lru_cache

from irdiff_mlir import forms, types
from irdiff_mlir.forms import Form
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
    form = operation.form
    return _section(operation.tail) if form.generic and operation.regions else head_section(form)


@lru_cache(forms.MOST)
def head_section(form: Form) -> str:
    """As :func:`type_section`, of an operation that prints its types in its head."""
    return _section(form.text)


def _section(text: str) -> str:
    last = (" " + text).rpartition(" : ")[2]
    if last.count("{") == last.count("}") and '"' not in last:
        return last if " : " in text or text.startswith(": ") else ""
    parts = types.split(" " + text, " : ")  # the last colon stands in an attribute or string
    return parts[-1] if len(parts) > 1 else ""


def result_types(operation: Operation) -> tuple[str, ...] | None:
    """Types of the results with aliases as written; None where they cannot be told."""
    if not operation.form.results:
        return ()
    if not operation.regions:
        return of_form(operation.form)
    return _expected(operation.form, operation.tail, type_section(operation))


@lru_cache(forms.MOST)
def of_form(form: Form) -> tuple[str, ...] | None:
    """As :func:`result_types`, of an operation without regions."""
    return _expected(form, "", head_section(form))


def _expected(form: Form, tail: str, section: str) -> tuple[str, ...] | None:
    count = sum(form.results)
    if count == 0:
        return ()
    found = _types(form, tail, section)
    return tuple(found) if len(found) == count else None


_ARROW_ALONE = frozenset(
    ("scf.for", "scf.if", "scf.index_switch", "scf.execute_region", "ttg.warp_specialize")
)


def _types(form: Form, tail: str, section: str) -> tuple[str, ...]:
    name = form.name
    if name in _ARROW_ALONE:
        return _after_arrow(form, tail)
    if name in _TOKEN_RESULT:
        return (_TOKEN,)
    arrow = types.split(section, "->")
    if len(arrow) > 1:
        return types.listed(arrow[-1])
    if name == "arith.constant":
        return (section or _BARE_LITERALS.get(form.text.split(" ")[-1], "i64"),)
    return _without_arrow(name, section)


def _after_arrow(form: Form, tail: str) -> tuple[str, ...]:
    for text in (form.text, tail):
        arrow = types.split(types.split(text, " : ")[0] if form.name == "scf.for" else text, "->")
        if len(arrow) > 1:
            return types.listed(arrow[-1])
    return ()


def _without_arrow(name: str, section: str) -> tuple[str, ...]:
    cast = types.split(section, " to ")
    if len(cast) > 1:
        return (cast[-1],)
    listed = types.split(section) if section else ()
    if not listed or name in _SAME_AS_ALL:
        return listed
    if name in _COMPARISONS:
        return (_with_element(listed[0], "i1"),)
    if name == "tt.load":
        return (_loaded(listed[0]),)
    chosen = listed[-1] if name in _LAST_TYPE else listed[0]
    if chosen.startswith("<") and name in _SHORTHANDS:
        chosen = _SHORTHANDS[name] + chosen
    return (chosen,)


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
