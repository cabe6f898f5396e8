"""What a stage JSON says of a kernel: its target, its options, and the memory it needs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from irdiff.api import Artifact, Context, Coverage, Fact, Issue, Scalar, Summary
from irdiff_meta.canonical import folded
from irdiff_meta.keys import is_environment, is_known, is_option, target_of, without_folders
from irdiff_meta.reading import Json, Metadata, read
from irdiff_meta.record import record_facts

_NUMBERS = {
    "meta.num_warps": "num_warps",
    "meta.num_ctas": "num_ctas",
    "meta.num_stages": "num_stages",
    "meta.shared": "shared",
    "meta.tmem": "tmem_size",
}
_SCRATCH = ("global_scratch_size", "profile_scratch_size")


def summarize(artifact: Artifact, context: Context) -> Summary:
    """Facts of one JSON; a field of the wrong type is an issue and no fact. Raises ParseError."""
    metadata = context.once("metadata", lambda: read(artifact.read()))
    wrong = tuple(_wrong(metadata))
    unknown = [
        (field.offset, f"{key}: {field.text[:80]}")
        for key, field in metadata.fields.items()
        if key in wrong or not is_known(key)
    ]
    return Summary(
        facts=tuple(_facts(metadata, wrong)),
        coverage=Coverage(
            understood=len(metadata.fields) - len(unknown),
            total=len(metadata.fields),
            unknown=tuple(unknown[:50]),
        ),
        issues=tuple(_issues(metadata, wrong)),
        folded=folded(metadata),
    )


def _facts(metadata: Metadata, wrong: Iterable[str]) -> Iterator[Fact]:
    target = target_of(metadata)
    if target:
        where = [key for key in ("target", "arch") if key in metadata.fields][:1]
        yield Fact(id="meta.target", value=":".join(target), evidence=_places(metadata, where))
    for fact, key in _NUMBERS.items():
        value = metadata.value(key)
        if isinstance(value, int) and key not in wrong:
            yield Fact(id=fact, value=value, evidence=_places(metadata, [key]))
    scratch = [key for key in _SCRATCH if key in metadata.fields and key not in wrong]
    if scratch:
        total = sum(size for size in map(metadata.value, scratch) if isinstance(size, int))
        yield Fact(id="meta.scratch", value=total, evidence=_places(metadata, scratch))
    descriptors = metadata.value("tensordesc_meta")
    if isinstance(descriptors, list):
        texts = tuple(_descriptor(item) for item in descriptors)
        yield Fact(id="meta.descriptors", value=texts, evidence=_places(metadata, ["tensordesc_meta"]))
    yield from _records(metadata)
    yield from record_facts(metadata)
    version = metadata.value("triton_version")
    if isinstance(version, str):
        yield Fact(id="meta.triton", value=version, evidence=_places(metadata, ["triton_version"]))


def _records(metadata: Metadata) -> Iterator[Fact]:
    options = sorted(key for key in metadata.fields if is_option(key))
    yield Fact(
        id="meta.options",
        value={key: _scalar(metadata, key) for key in options},
        evidence=_places(metadata, options),
    )
    environment = sorted(filter(is_environment, metadata.fields))
    if environment or isinstance(metadata.value("target"), dict):  # 2.1, without a target, does not record it
        yield Fact(
            id="meta.environment",
            value={key: _scalar(metadata, key) for key in environment},
            evidence=_places(metadata, environment),
        )
    constants = metadata.value("constants")
    if isinstance(constants, dict) and metadata.record is None:
        yield Fact(
            id="meta.specialization",
            value={
                f"argument {key}": _as_scalar(constants[key]) for key in sorted(constants, key=_number_first)
            },
            evidence=_places(metadata, ["constants"]),
        )


def _wrong(metadata: Metadata) -> Iterator[str]:
    """Keys whose value is of a type that no release writes."""
    for key in (*_NUMBERS.values(), *_SCRATCH):
        value = metadata.value(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
            yield key
    for key, kind in (("tensordesc_meta", list), ("constants", dict), ("triton_version", str), ("name", str)):
        value = metadata.value(key)
        if value is not None and not isinstance(value, kind):
            yield key
    if "target" in metadata.fields and target_of(metadata) is None:
        yield "target"


def _issues(metadata: Metadata, wrong: Iterable[str]) -> Iterator[Issue]:
    for key in wrong:
        yield Issue(
            severity="warning",
            code="bad-field",
            message=f"{key} is {metadata.fields[key].text[:80]}, which no Triton release writes",
            stage="meta",
        )
    for key in metadata.repeated:
        yield Issue(severity="warning", code="repeated-key", message=f"{key!r} occurs twice", stage="meta")


def _scalar(metadata: Metadata, key: str) -> Scalar:
    field = metadata.fields[key]
    return _as_scalar(without_folders(field.value) if key == "extern_libs" else field.value)


def _as_scalar(value: Json) -> Scalar:
    """Scalars as they are, lists and tables as compact JSON text."""
    if isinstance(value, (list, dict)):
        return json.dumps(value, sort_keys=True, separators=(",", ":"))
    return value


def _descriptor(item: Json) -> str:
    """``block_size [64,64], elem_size 2 ...``; what every older release leaves out is left out where it is false."""
    if not isinstance(item, dict):
        return str(_as_scalar(item))
    return ", ".join(
        f"{key} {_as_scalar(item[key])}"
        for key in sorted(item)
        if not (key == "is_im2col" and item[key] is False)
    )


def _places(metadata: Metadata, keys: Iterable[str]) -> dict[str, tuple[int, ...]]:
    offsets = tuple(sorted(metadata.fields[key].offset for key in keys))
    return {"": offsets} if offsets else {}


def _number_first(key: str) -> tuple[int, str]:
    return (int(key), key) if key.isdecimal() and len(key) < 10 else (1 << 30, key)
