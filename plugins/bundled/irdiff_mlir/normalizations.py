"""The rules of the canonical form of source, TTIR and TTGIR, each with what it takes away."""

from __future__ import annotations

from irdiff.api import Normalization

NORMALIZATIONS = (
    Normalization(
        id="ssa-names",
        title="names of values and blocks",
        doc="Values become `%0`, `%1` in order of first appearance in their function, blocks `^b0`. Releases "
        "before 3.6 number values, later ones name them after Python's variables.",
    ),
    Normalization(
        id="function-names",
        title="names of private functions",
        doc="Functions that only the kernel calls become `@f0`, `@f1` in the order they stand in; their bodies are "
        "compared. Triton's front end spells constants into their names, differently from 3.7 on.",
    ),
    Normalization(
        id="attribute-aliases",
        title="attribute aliases",
        doc="`#blocked1` becomes its content; the definitions are dropped.",
    ),
    Normalization(
        id="attribute-order",
        title="order of attributes",
        doc="Attribute dictionaries are sorted by key. Parameters of types and layouts keep their order.",
    ),
    Normalization(
        id="constant-order",
        title="order of constants",
        doc="Constants that stand side by side are sorted: they depend on nothing, and passes leave them in any order.",
    ),
    Normalization(
        id="dialect-renames",
        title="names that dialects changed between releases",
        doc="`triton_gpu` becomes `ttg`, `memdesc_subview` becomes `memdesc_index` and so on: the table of "
        "`irdiff_mlir.drift`. Attributes with a newer release's default that an older one did not write are dropped.",
    ),
    Normalization(id="source-paths", title="source paths", doc="Files named in locations are dropped."),
    Normalization(
        id="source-lines",
        title="line numbers",
        doc="Lines and columns of locations, and how locations refer to each other, are dropped.",
    ),
    Normalization(
        id="argument-locations",
        title="names of variables in locations",
        doc='Names that locations record (`loc("a_ptr"(#loc))`, Triton 3.6 and newer) are dropped.',
    ),
    Normalization(id="comments", title="comments", doc="`// pred: ^bb0` and any other comment is dropped."),
    Normalization(id="whitespace", title="white space", doc="Indentation, blank lines and runs of spaces."),
)
"""What the canonical form of source, TTIR and TTGIR takes away."""
