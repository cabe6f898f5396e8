"""Give kernels a file that lies elsewhere and speaks of many of them: the log of an assembler."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from irdiff.errors import InputError
from irdiff.model.bundle import Artifact, Bundle
from irdiff.model.issues import Issue
from irdiff.model.specs import Part, StageSpec


def attach(
    bundles: Sequence[Bundle], stage: StageSpec, data: bytes, location: str
) -> tuple[tuple[Bundle, ...], tuple[Issue, ...]]:
    """The bundles, each with what the file says of its kernel, and what could not be matched.

    Matched by the kernel's name and, where both are known, its architecture. Where several kernels or several
    parts answer to one name, nobody gets any: a guess would be worse than nothing. Raises InputError for a file that
    speaks of no kernel.
    """
    parts = stage.parts(data) if stage.parts is not None else ()
    if not parts:
        raise InputError(
            "speaks of no kernel", where=location, hint=f"a file of the stage {stage.title} is due"
        )
    issues: list[Issue] = []
    made = list(bundles)
    for name in dict.fromkeys(part.kernel for part in parts):
        own = [part for part in parts if part.kernel == name]
        takers = [index for index, bundle in enumerate(bundles) if bundle.name == name]
        pairs = [(part, index) for part in own for index in takers if _fit(part, bundles[index])]
        for part, index in pairs:
            alone = sum(other is part for other, _ in pairs) == 1 == sum(other == index for _, other in pairs)
            if alone:
                artifact = Artifact.of_bytes(
                    part.data, stage=stage.id, suffix=stage.suffixes[0], location=location
                )
                artifacts = dict(sorted({**made[index].artifacts, stage.id: artifact}.items()))
                made[index] = msgspec.structs.replace(made[index], artifacts=artifacts)
        matched = {index for index, bundle in enumerate(made) if bundle is not bundles[index]}
        if not matched & set(takers):
            issues.append(_unmatched(name, len(own), len(takers), stage, location))
    return tuple(made), tuple(issues)


def _fit(part: Part, bundle: Bundle) -> bool:
    return part.arch is None or bundle.target is None or part.arch == bundle.target.arch


def _unmatched(name: str, parts: int, kernels: int, stage: StageSpec, location: str) -> Issue:
    why = (
        "no kernel has that name and architecture"
        if kernels == 0 or parts == 1 == kernels
        else (f"{parts} parts of the file and {kernels} kernels have that name")
    )
    return Issue(
        severity="warning",
        code="unmatched-part",
        message=f"what is said of {name} was not used: {why}",
        where=location,
        stage=stage.id,
        hint="select one kernel: DIR::KERNEL, DIR::HASHPREFIX",
    )
