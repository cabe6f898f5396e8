"""The canonical form of a stage JSON: what means something, one sorted ``key = value`` a line."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict

from irdiff.api import Artifact, Canonical, Context, Normalization
from irdiff_meta.defaults import follows_target, is_default
from irdiff_meta.keys import PRINTING, PROVENANCE, target_of, without_folders
from irdiff_meta.reading import Field, Metadata, read

NORMALIZATIONS = (
    Normalization(
        id="irdiff-record",
        title="what irdiff recorded beside it",
        doc="`irdiff.json`: the specialization (which is in the IR too), versions, times, logs.",
    ),
    Normalization(
        id="dump-variables",
        title="variables that only print",
        doc="Environment variables that make the compiler print or write its steps are dropped.",
    ),
    Normalization(
        id="hash",
        title="cache hash",
        doc="`hash` covers the compiler's own files and the source text, so it differs where nothing else does.",
    ),
    Normalization(
        id="kernel-name",
        title="kernel name",
        doc="`name` is what two kernels are paired by; a renamed kernel is said to be one in the report itself.",
    ),
    Normalization(
        id="key-order",
        title="order of keys",
        doc="Keys are sorted: releases write them in different orders.",
    ),
    Normalization(
        id="library-paths",
        title="paths of libraries",
        doc="`extern_libs` keeps the base name of each file: the folder is where Triton is installed.",
    ),
    Normalization(
        id="release-defaults",
        title="options that one release does not have",
        doc="A key that not every release writes is dropped where it says what a release without it does.",
    ),
    Normalization(
        id="tool-versions",
        title="versions of tools",
        doc="`triton_version` is provenance: listed, never compared.",
    ),
)

_RULE_OF = {"hash": "hash", "name": "kernel-name"}


def canonical(artifact: Artifact, context: Context) -> Canonical:
    """Sorted lines, each with the byte offset of its key. Raises ParseError."""
    metadata = context.once("metadata", lambda: read(artifact.read()))
    kept: list[tuple[str, str, int]] = []
    erased: dict[str, list[str]] = defaultdict(list)
    for key, field in metadata.fields.items():
        rule = _rule(metadata, field)
        if rule and context.normalizes(rule):
            erased[rule].append(f"{key} = {field.text}")
            continue
        kept.append((key, _text(metadata, field, context, erased), field.offset))
    if metadata.record is not None:
        erased["irdiff-record"].append(json.dumps(metadata.record, sort_keys=True))
    if context.normalizes("key-order"):
        erased["key-order"] = [key for key, _, _ in kept]
        kept.sort()
    return Canonical.of(
        (f"{key} = {text}" for key, text, _ in kept),
        places=(offset for _, _, offset in kept),
        erased={
            rule: hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
            for rule, lines in sorted(erased.items())
        },
    )


def folded(metadata: Metadata) -> tuple[str, ...]:
    """Keys that say nothing by themselves: defaults of one release or of the target, variables that only print."""
    rules = {"release-defaults", "dump-variables"}
    return tuple(
        key
        for key, field in metadata.fields.items()
        if _rule(metadata, field) in rules or follows_target(metadata, key)
    )


def _rule(metadata: Metadata, field: Field) -> str | None:
    """The normalisation that drops this field."""
    if field.key in PROVENANCE:
        return "tool-versions"
    if field.key in PRINTING:
        return "dump-variables"
    if field.key in _RULE_OF:
        return _RULE_OF[field.key]
    return "release-defaults" if is_default(metadata, field.key) else None


def _text(metadata: Metadata, field: Field, context: Context, erased: dict[str, list[str]]) -> str:
    """The value's text behind ``key =``."""
    if field.key == "extern_libs" and context.normalizes("library-paths"):
        erased["library-paths"].append(field.text)
        return json.dumps(without_folders(field.value), sort_keys=True, separators=(",", ":"))
    if field.key == "target":
        target = target_of(metadata)
        return ":".join(target) if target else field.text
    if field.key == "tensordesc_meta" and context.normalizes("release-defaults"):
        return field.text.replace(',"is_im2col":false', "").replace('"is_im2col":false,', "")
    return field.text
