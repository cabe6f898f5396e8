"""How alike two kernels are: their specialization, what their earliest common stage does, and their names.

Each of the three is a set of short texts, kept as the bits of one integer, so that the share two kernels have in
common (Jaccard: shared texts of all texts) costs two counts of bits.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence

import msgspec

from irdiff.engine.kernels import Kernel
from irdiff.model.facts import Fact, FactSpec, Value

DESCRIBING_ROLES = ("target", "options", "specialization", "arguments")
"""Roles of the facts that say which specialization of a kernel one is looking at."""
OPTIONS = "options"
FINGERPRINT = "fingerprint"
LEVELS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 512, 1024, 4096)
"""Counts that make a step of their own: 100 additions are more like 90 than like 10."""
SCALE = 10_000
"""Likeness of two equal kernels; whole numbers, so that ties are ties."""


class Portrait(msgspec.Struct, frozen=True, kw_only=True):
    """What pairing knows of one kernel."""

    name: str
    stem: str
    """The name without the numbers at its end."""
    features: frozenset[str]
    """What describes the specialization; empty where nothing does."""
    feature_bits: int
    content_bits: int
    """What the earliest stage that the kernels have in common does."""
    name_bits: int
    code: frozenset[str]
    """Fingerprints of the machine code, where known."""
    place: str
    """Name of the folder that the entry's folder lies in: copies of one tree side by side are told apart by it."""


class Weights(msgspec.Struct, frozen=True, kw_only=True):
    """How much each part counts, of SCALE."""

    features: int
    content: int
    code: int
    name: int
    """For how alike the words of the names are."""
    same_name: int = 0
    """For the very same name, numbers included."""
    least_content: int = 0
    """Share of the earliest stage, of SCALE, under which kernels of two names are not alike at all."""


def likeness(before: Portrait, after: Portrait, weights: Weights) -> int:
    """0 to SCALE, the same in both directions."""
    return likenesses([before], [after], weights)[0][0] // 2


def likenesses(rows: Sequence[Portrait], columns: Sequence[Portrait], weights: Weights) -> list[list[int]]:
    """Twice the likeness of each row and column, and one more for entries in folders of one name.

    Pairs of other names whose contents have less than ``weights.least_content`` in common get 0.
    """
    features = _Distinct([face.feature_bits for face in columns])
    contents = _Distinct([face.content_bits for face in columns])
    words = _Distinct([face.name_bits for face in columns])
    by_code = _numbers([face.code for face in columns])
    by_name = _numbers([face.name for face in columns])
    by_place = _numbers([face.place for face in columns])
    table: list[list[int]] = []
    for face in rows:
        shared = contents.shares(face.content_bits)
        parts = zip(features.shares(face.feature_bits), shared, words.shares(face.name_bits), strict=True)
        same_name = by_name.get(face.name, ())
        line = [
            2 * ((weights.features * first + weights.content * second + weights.name * third) // SCALE)
            for first, second, third in parts
        ]
        for column in by_code.get(face.code, ()) if face.code else ():
            line[column] += 2 * weights.code
        for column in same_name:
            line[column] += 2 * weights.same_name
        for column in by_place.get(face.place, ()):
            line[column] += 1
        if weights.least_content:
            kept = set(same_name)
            for column, content in enumerate(shared):
                if content < weights.least_content and column not in kept:
                    line[column] = 0
        table.append(line)
    return table


class _Distinct:
    """Sets of bits of which many are equal: each share is computed once."""

    def __init__(self, masks: Sequence[int]) -> None:
        self._order = {mask: index for index, mask in enumerate(dict.fromkeys(masks))}
        self._index = [self._order[mask] for mask in masks]

    def shares(self, mask: int) -> list[int]:
        """How much each has in common with another, in the order of the masks."""
        found = [share(mask, other) for other in self._order]
        return [found[index] for index in self._index]


def _numbers(values: Sequence[Hashable]) -> dict[Hashable, list[int]]:
    found: dict[Hashable, list[int]] = {}
    for number, value in enumerate(values):
        found.setdefault(value, []).append(number)
    return found


def share(before: int, after: int) -> int:
    """How much of all bits both have, 0 to SCALE; SCALE for two empty sets."""
    every = (before | after).bit_count()
    return SCALE * (before & after).bit_count() // every if every else SCALE


def stem(name: str) -> str:
    """The name without numbers at its end: ``triton_poi_fused_add_3`` and ``_4`` are one family."""
    words = name.split("_")
    while len(words) > 1 and words[-1].isdigit():
        words.pop()
    return "_".join(words)


class Sketch(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of one kernel until all are known; its facts are let go."""

    name: str
    path: str
    target: str | None
    described: dict[str, Value]
    """Role to value, of the roles that describe a specialization."""
    contents: frozenset[int]
    """Bits of what its earliest common stage does."""
    code: frozenset[str]
    options: frozenset[str]
    """Names of the options it records."""
    form: tuple[str, str] | None
    """Its first step and the digest of its canonical form, of its bytes where those are on both sides."""


def asked_of(kernel: Kernel, common: str | None, specs: Mapping[str, FactSpec]) -> list[str]:
    """The stages that a sketch of a kernel rests on."""
    telling = {
        stage_id
        for stage_id, reading in kernel.readings.items()
        if any(
            spec.role in (*DESCRIBING_ROLES, FINGERPRINT)
            for fact in reading.stage.facts
            if (spec := specs.get(fact.id)) is not None
        )
    }
    earliest = {common} if common in kernel.readings else set(steps(kernel)[:1])
    return [name for name in kernel.readings if name in telling | earliest]


def kept_of(kernels: Sequence[Kernel]) -> frozenset[str] | None:
    """The facts that every record among the kernels holds: others tell nothing apart. None where none is a record."""
    records = [kernel.record.facts for kernel in kernels if kernel.record is not None]
    return frozenset.intersection(*records) if records else None


def sketch(
    kernel: Kernel,
    specs: Mapping[str, FactSpec],
    common: str | None,
    bits: dict[str, int],
    kept: frozenset[str] | None = None,
) -> Sketch:
    """What pairing needs of one kernel; ``bits`` numbers the texts of all, ``kept`` names the facts that count."""
    described: dict[str, Value] = {}
    code: set[str] = set()
    contents: set[int] = set()
    earliest = common if common in kernel.readings else next(iter(steps(kernel)), None)
    options: set[str] = set()
    for fact in kernel.facts():
        spec = specs.get(fact.id)
        if fact.scope or spec is None or (kept is not None and fact.id not in kept):
            continue
        if spec.role in DESCRIBING_ROLES:
            described[spec.role] = fact.value
        if spec.role == OPTIONS and isinstance(fact.value, dict):
            options.update(fact.value)
        if spec.role == FINGERPRINT and isinstance(fact.value, str):
            code.add(fact.value)
        elif earliest is not None and fact.id.startswith(f"{earliest}.") and not spec.provenance:
            contents.update(bits.setdefault(text, len(bits)) for text in _texts(fact))
    return Sketch(
        name=kernel.bundle.name,
        path=kernel.bundle.path,
        target=kernel.target,
        described=described,
        contents=frozenset(contents),
        code=frozenset(code),
        options=frozenset(options),
        form=_form(kernel),
    )


def _form(kernel: Kernel) -> tuple[str, str] | None:
    for reading in kernel.readings.values():
        if reading.stage.pipeline and reading.stage.reported_as is None:
            # equal bytes on both sides have no canonical form made
            text = reading.canonical or reading.sha256
            return (reading.stage.id, text) if text else None
    return None


def portraits(before: Sequence[Sketch], after: Sequence[Sketch], bits: dict[str, int]) -> list[Portrait]:
    """A portrait of each kernel, those before first; options that one side does not know tell nothing apart."""
    known = frozenset(name for one in before for name in one.options) & frozenset(
        name for one in after for name in one.options
    )
    return [_portrait(one, known, bits) for one in (*before, *after)]


def _portrait(one: Sketch, options: frozenset[str], bits: dict[str, int]) -> Portrait:
    features = {f"target={one.target}"} if one.target else set()
    for role, value in one.described.items():
        if role == OPTIONS and isinstance(value, dict):
            value = {name: item for name, item in value.items() if name in options}  # noqa: PLW2901
        features.update(f"{role}:{item}" for item in _items(value))
    words = [word for word in stem(one.name).split("_") if word]
    parts = one.path.replace("\\", "/").rstrip("/").split("/")
    content_bits = 0
    for bit in one.contents:
        content_bits |= 1 << bit
    return Portrait(
        name=one.name,
        stem=stem(one.name),
        features=frozenset(features),
        feature_bits=_mask(sorted(features), bits),
        content_bits=content_bits,
        name_bits=_mask(
            (f"{word}#{n}" for word, count in Counter(words).items() for n in range(count)), bits
        ),
        code=one.code,
        place=parts[-2] if len(parts) > 1 else "",
    )


def common_stage(kernels: Sequence[Kernel]) -> str | None:
    """The step of the compiler that most kernels were read of; of several the earliest."""
    counts = Counter(name for kernel in kernels for name in steps(kernel))
    return max(counts, key=lambda name: counts[name], default=None)


def steps(kernel: Kernel) -> list[str]:
    """Steps of the compiler that could be read, as far as is known, in order."""
    return [
        name
        for name, reading in kernel.readings.items()
        if (reading.summary is not None or not reading.read)
        and reading.stage.pipeline
        and reading.stage.reported_as is None
    ]


def _mask(texts: Iterable[str], bits: dict[str, int]) -> int:
    mask = 0
    for text in texts:
        mask |= 1 << bits.setdefault(text, len(bits))
    return mask


def _items(value: Value) -> list[str]:
    if isinstance(value, dict):
        return [f"{key}={value[key]}" for key in value]
    return [str(value)]


def _texts(fact: Fact) -> Iterable[str]:
    """A fact as texts: each value itself, and for counts a text for each level they reach."""
    value, name = fact.value, fact.id
    pairs = value.items() if isinstance(value, dict) else [("", value)]
    if isinstance(value, tuple):
        pairs = [(item, True) for item in value]
    for key, item in pairs:
        yield f"{name} {key} = {item}"
        if isinstance(item, int) and not isinstance(item, bool):
            for level in range(bisect_right(LEVELS, item)):
                yield f"{name} {key} {level}"
