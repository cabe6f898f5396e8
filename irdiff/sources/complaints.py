"""What can be wrong with the files of an entry, as issues."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from irdiff.model.bundle import Artifact
from irdiff.model.issues import Issue
from irdiff.model.specs import StageLookup
from irdiff.sources.files import Folder, FoundFile


def missing(
    listed: Mapping[str, str], there: set[str], folder: Folder, group: FoundFile, context: StageLookup
) -> Iterable[Issue]:
    """Files that Triton's group file lists and that are not there."""
    for name, suffix in listed.items():
        if name in there or "/" in name or "\\" in name:
            continue
        yield Issue(
            severity="error",
            code="missing-file",
            message=f"{name} is not there, though {group.name} lists it",
            where=folder.path,
            stage=context.stage_of(suffix),
            hint="it was deleted or not copied; compile the kernel again",
        )


def ended_early(folder: Folder) -> Issue:
    """Triton leaves the stages it reached, and no JSON, where a compilation fails or is interrupted."""
    return Issue(
        severity="error",
        code="compilation-ended-early",
        message="holds no JSON and no machine code: its compilation failed, was interrupted, or still runs",
        where=folder.path,
        hint="compile it again to see the compiler's message",
    )


def bad_json(file: FoundFile, what: str, code: str, hint: str, *, severity: str = "error") -> Issue:
    """A JSON file that cannot be used."""
    return Issue(
        severity="error" if severity == "error" else "warning",
        code=code,
        message=f"the JSON {what}",
        where=file.location,
        hint=hint,
    )


def second(unused: Artifact, used: Artifact) -> Issue:
    """A file that is passed over for another of the same stage."""
    return Issue(
        severity="note",
        code="second-file",
        message=f"is not read: {used.location} holds the same stage",
        where=unused.location,
        stage=used.stage,
    )
