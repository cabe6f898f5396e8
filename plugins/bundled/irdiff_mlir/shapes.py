"""What one line of printed MLIR is, whatever its values are called: found once for each shape, by the parser.

Triton's printer puts each operation on a line of its own, and an operation with regions on the lines of its braces.
So a line, or the braced lines of one operation, is parsed in a frame of dummy operations; where the parser finds just
what the line begins and ends with, every line of that shape is understood without another parse.
"""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from irdiff_mlir import building, ending, forms, lines, syntax
from irdiff_mlir.forms import Form
from irdiff_mlir.model import Item, ItemKind, Operation
from irdiff_mlir.syntax import END_MARK, Tree

OPERATION, OPEN, BETWEEN, CLOSE, LABEL, OTHER = range(6)
"""A whole operation; an operation up to the brace of its first region; ``} else {``; the end of the last region;
``^bb0(...):``; a line that has to be read in its context."""

_DUMMY = '"x.y"() : () -> ()' + END_MARK
_NAME = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|(%[\w$.-]*)')
_TOUCHING = re.compile(forms.MASK + r"[={%]")
_PRINTABLE = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?')
_STRINGS = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*"?)')
_NUMBER = re.compile(
    r"[1-9](?:(?<![\w.$#+-].)\d*(?![\w.$+-])"  # 16
    r"|(?<=[<x].)\d*(?=x[\d!a-z]))",  # of tensor<16x32xf32>; 0 is left, as 0x32 is one token
    re.ASCII,
)
_SYMBOL = re.compile(r"@[A-Za-z_][\w$.]*(?![\w$.-])", re.ASCII)  # of functions
_SYMBOL_STRING = re.compile(r'"[^"\\]*"')
_ALIAS = re.compile(r"#(?<![\w.].)(?!loc)[A-Za-z]\w*(?![\w.<($-])", re.ASCII)  # blocked1


class Shape(msgspec.Struct, frozen=True, kw_only=True, eq=False, gc=False):
    """A line with its names masked, without indentation and location."""

    kind: int = OTHER
    form: Form | None = None
    """Of an operation without regions."""
    spaces: str = ""
    """What the reader's digest of white space keeps of it."""


class Frame(msgspec.Struct, frozen=True, kw_only=True, eq=False, gc=False):
    """The lines of one operation with regions, without what the regions hold."""

    form: Form
    between: tuple[str, ...]
    """What stands between the regions."""
    tail: str
    """What stands behind the last one."""


_OTHER = Shape()


@lru_cache(forms.MOST)
def shape(masked: str) -> Shape:
    """The shape of a line: masked, not indented, without location, comment and line end, and not empty."""
    if len(masked) > forms.LONGEST:
        return _OTHER
    kind = _kind(_typical(masked))
    if kind == OTHER:
        return _OTHER
    form = building.head_of_masked(masked) if kind == OPERATION else None
    return Shape(kind=kind, form=form, spaces=lines.spaces(masked))


def _typical(masked: str) -> str:
    """A line with one number, alias and symbol for all: the grammar has one rule for each."""
    if '"' not in masked:
        return _plain(masked)
    pieces = _STRINGS.split(masked)
    for at in range(1, len(pieces), 2):
        if pieces[at - 1][-1:] == "@" and _SYMBOL_STRING.fullmatch(pieces[at]):
            pieces[at] = '"f"'
    pieces[::2] = [_plain(piece) for piece in pieces[::2]]
    return "".join(pieces)


def _plain(piece: str) -> str:
    """As :func:`_typical`, of text without strings."""
    piece = _NUMBER.sub("1", piece)
    if "#" in piece:
        piece = _ALIAS.sub("#a", piece)
    return _SYMBOL.sub("@f", piece) if "@" in piece else piece


@lru_cache(forms.MOST)
def _kind(masked: str) -> int:
    """The kind of all lines that differ from this one in numbers, aliases and symbols alone."""
    if not _regular(masked):
        return OTHER
    plain = _STRING.sub("", masked) if '"' in masked else masked
    net = plain.count("{") - plain.count("}")
    first, last = masked[0], masked[-1]
    if first == "}":
        kind = BETWEEN if last == "{" and net == 0 else CLOSE if last not in "{(,[=" and net == -1 else OTHER
        return OTHER if forms.MASK in plain else kind
    if first == "^":
        return LABEL if net == 0 and _is_label(masked) else OTHER
    if not (syntax.begins_operation(masked) and syntax.ends_the_one_before(masked)):
        return OTHER
    if last == "{":
        return OPEN if net == 1 else OTHER
    if last in "(,[=" or net:
        return OTHER
    return OPERATION if _is_operation(masked) else OTHER


@lru_cache(forms.MOST)
def frame(texts: tuple[str, ...]) -> Frame | None:
    """The operation whose first line, lines between regions and last line have these masked texts."""
    return _framed(texts) if _is_framed(tuple(map(_typical, texts))) else None


def _framed(texts: tuple[str, ...]) -> Frame:
    """What lines say that begin and end with the braces of the regions of one operation."""
    return Frame(
        form=building.head(texts[0][:-1])[0],
        between=tuple([building.squeezed(text[1:-1]) for text in texts[1:-1]]),
        tail=building.squeezed(texts[-1][1:]),
    )


@lru_cache(forms.MOST)
def _is_framed(texts: tuple[str, ...]) -> bool:
    """Whether the parser finds that in these lines and in all that differ in numbers, aliases and symbols alone."""
    body = f"\n{_DUMMY}\n".join(texts) + END_MARK
    inside = not texts[0].startswith("module")
    found = _parsed(f"{_OUTER[0]}\n{body}\n{_DUMMY}\n{_OUTER[1]}" if inside else body)
    if found is None:
        return False
    operations, items = found
    count = len(texts) - 1
    # the dummy operation of a region stands in the line after the brace that opens it
    expected = [(ItemKind.OPERATION, 1)]
    for line in range(1, 1 + 2 * count, 2):
        expected += [(ItemKind.REGION, line), (ItemKind.OPERATION, line + 1)]
    expected.append((ItemKind.END, 1 + 2 * count))
    if inside:
        expected = [
            (ItemKind.OPERATION, 1),
            (ItemKind.REGION, 1),
            *((kind, line + 1) for kind, line in expected),
            (ItemKind.OPERATION, 3 + 2 * count),
            (ItemKind.END, 4 + 2 * count),
        ]
    if [(item.kind, item.line) for item in items] != expected:
        return False
    own = operations[1 if inside else 0]
    regions = [item.text for item in items if item.kind is ItemKind.REGION and item.operation == own.index]
    inner = operations[own.index + 1 : own.index + 1 + count]
    if len(regions) != count or any(one.parent != own.index for one in inner):
        return False
    derived = _framed(texts)
    return derived.form is own.form and derived.between == tuple(regions[1:]) and derived.tail == own.tail


_ALONE = [("operation", 1), ("region", 1), ("operation", 2), ("operation", 3)]
_OUTER = ('"x.y"() ({', "}) : () -> ()" + END_MARK)


def _regular(masked: str) -> bool:
    """Whether a line is printed as all lines are: ASCII, spaces alone, every name masked, no location left."""
    return (
        _PRINTABLE.fullmatch(masked) is not None
        and "loc(" not in masked
        and all(name in ("", forms.MASK) for name in _NAME.findall(masked))
        and not _TOUCHING.search(masked)
        and ending.plausible(masked)
    )


def _parsed(text: str) -> tuple[tuple[Operation, ...], tuple[Item, ...]] | None:
    tree = syntax.parse(text.encode())
    if tree.errors or tree.missing:
        return None
    return building.build(tree, text.count("\n") + 1)


def _is_operation(masked: str) -> bool:
    """Whether the parser finds one operation in a line, from its first to its last character, and nothing else."""
    tree = syntax.parse(f"{_OUTER[0]}\n{masked}{END_MARK}\n{_DUMMY}\n{_OUTER[1]}".encode())
    if tree.errors or tree.missing:
        return False
    written = len([name for name in _NAME.findall(masked) if name])
    if [(span.kind, span.line) for span in tree.spans] == _ALONE:
        own = tree.spans[2]
        start = len(_OUTER[0]) + 1
        if (own.start, own.end) == (start, start + len(masked) + len(END_MARK)):
            return building.count_names(masked) == written
    return _is_built(masked, tree, written)


def _is_built(masked: str, tree: Tree, written: int) -> bool:
    """As :func:`_is_operation`, where the grammar also finds operations in an attribute dictionary."""
    operations, items = building.build(tree, 4)
    places = [(item.kind, item.line) for item in items]
    operation, region, end = ItemKind.OPERATION, ItemKind.REGION, ItemKind.END
    if places != [(operation, 1), (region, 1), (operation, 2), (operation, 3), (end, 4)]:
        return False
    own = operations[1]
    form, names, values = building.head(masked)
    return (
        own.form == form
        and own.results == names
        and own.values == values
        and written == len(names) + len(values)
    )


def _is_label(masked: str) -> bool:
    found = _parsed(f"{_OUTER[0]}\n{masked}\n{_DUMMY}\n{_OUTER[1]}")
    if found is None:
        return False
    places = [(item.kind, item.line) for item in found[1]]
    operation, region, end = ItemKind.OPERATION, ItemKind.REGION, ItemKind.END
    return (
        places == [(operation, 1), (region, 1), (ItemKind.LABEL, 2), (operation, 3), (end, 4)]
        and found[1][2].text == masked
    )
