"""The page docs/reference/hooks.md: every hook with its signature, when it is called and what goes wrong, and every
specification with its fields, from the sources.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from itertools import pairwise

import msgspec

from irdiff import api, hookspecs

SPECIFICATIONS = (
    *("StageSpec", "Normalization", "EntryInfo", "Part", "Carrier", "FactSpec", "PatternFact", "DerivedSpec"),
    *("SourceSpec", "ToolSpec", "KindSpec", "RuleSpec", "RendererSpec", "Explanation"),
    *("Summary", "Coverage", "Fact", "Scope", "Canonical", "Issue"),
)
"""What hooks return, and what the functions in it return."""


def hooks() -> str:
    """The page."""
    lines = ["# Hooks", "", "A plugin implements some of these and marks each with `irdiff.api.hookimpl`."]
    lines += [
        "[The tutorial](../plugins/tutorial.md) builds one; [broken plugins](../plugins/versioning.md) has every error."
    ]
    lines += ["", *_text(hookspecs).split("\n"), ""]
    for name, function in vars(hookspecs).items():
        if name.startswith("irdiff_") and callable(function):
            lines += _hook(name, function)
    lines += ["# Specifications", "", "All are frozen and their fields are given by name.", ""]
    for name in SPECIFICATIONS:
        lines += _specification(name, getattr(api, name))
    return "\n".join(lines)


def _hook(name: str, function: object) -> list[str]:
    signature = str(inspect.signature(function)).replace("'", "")  # type: ignore[arg-type]  # vars() has functions
    returned = re.findall(r"[A-Z]\w+(?=\])|[A-Z]\w+(?= \|)", signature)
    lines = [f"## `{name}{signature}`", "", _text(function), ""]
    if name == "irdiff_explain":
        called = "Called: once for each changed kernel, after all facts are compared. Returns:"
        return [*lines, f"{called} {_link('Explanation')}.", ""]
    what = _link(returned[-1]) if returned else "specifications"
    return [
        *lines,
        f"Called: once, when plugins are loaded, without arguments. Returns: a tuple or list of {what}.",
        "Where it raises, returns anything else, or a specification in it cannot be, the whole plugin is skipped and a",
        "line says why.",
        "",
    ]


def _link(name: str) -> str:
    return f"[{name}](#{name.lower()})" if name in SPECIFICATIONS else f"`{name}`"


def _specification(name: str, kind: type[msgspec.Struct]) -> list[str]:
    lines = [
        f"## {name}",
        "",
        _text(kind),
        "",
        "| field | type | without it | meaning |",
        "|---|---|---|---|",
    ]
    for field, annotation, default, doc in _fields(kind):
        cells = [f"`{field}`", f"`{annotation}`", f"`{default}`" if default else "required", doc]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return [*lines, ""]


def _fields(kind: type[msgspec.Struct]) -> Iterator[tuple[str, str, str, str]]:
    """(name, type, default, meaning), in the order of the source."""
    (body,) = (node for node in ast.parse(inspect.getsource(kind)).body if isinstance(node, ast.ClassDef))
    statements = [*body.body, None]
    for statement, following in pairwise(statements):
        if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
            continue
        said = following.value if isinstance(following, ast.Expr) else None
        text = said.value if isinstance(said, ast.Constant) and isinstance(said.value, str) else ""
        default = ast.unparse(statement.value) if statement.value is not None else ""
        yield statement.target.id, ast.unparse(statement.annotation), default, _plain(text)


def _text(thing: object) -> str:
    """A docstring as Markdown."""
    return _plain(inspect.getdoc(thing) or "", keep_lines=True)


def _plain(text: str, *, keep_lines: bool = False) -> str:
    text = re.sub(r":\w+:`([^`]*)`", r"`\1`", text).replace("``", "`")
    return text if keep_lines else " ".join(text.split())
