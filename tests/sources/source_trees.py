"""Small trees as Triton writes them, and a context that knows a few stages."""

from __future__ import annotations

import json
from pathlib import Path

STAGES = {
    ".json": "meta",
    ".source": "source",
    ".ttir": "ttir",
    ".ttgir": "ttgir",
    ".llir": "llir",
    ".ptx": "ptx",
    ".cubin": "sass",
    ".sass": "sass",
}
ORDER = ("source", "ttir", "ttgir", "llir", "ptx", "sass")
SUFFIXES = ("source", "ttir", "ttgir", "llir", "ptx", "cubin")
BASE32 = "27HBJUFOCS4XMOGKJQZZS4FVJW54PH76JYKS54B4A4HETHVZOTWA"
OTHER32 = "2EKUD647RH6YW5UBHFEGRXYRW5VZUMES5JFJ2ZO5Y7JGIIAUONTA"
HEX = "d7ce14d0ae14b97638ca4c339970b54dbbc79ffe4e152ef03c070e499eb974ec"


class FakeContext:
    """A SourceContext over STAGES."""

    def __init__(self, stages=STAGES):
        self.stages = stages
        self.reported = []

    def stage_of(self, suffix):
        return self.stages.get(suffix)

    def stage_after(self, stage_id):
        return ORDER[: ORDER.index(stage_id)] if stage_id in ORDER else ()

    def is_final(self, suffix):
        return self.stages.get(suffix) == "sass"

    def report(self, issue):
        self.reported.append(issue)


def record(name="k", **more):
    return {
        "name": name,
        "hash": HEX,
        "target": {"backend": "cuda", "arch": 90, "warp_size": 32},
        "num_warps": 4,
        "num_stages": 3,
        "triton_version": "3.6.0",
        "supported_fp8_dtypes": ["fp8e5"],
        "maxnreg": None,
        **more,
    }


def entry(folder: Path, name="k", suffixes=SUFFIXES, said="default", group=True, listed=None) -> Path:
    """One cache entry; ``said`` is the JSON's object, or None for no JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    for suffix in suffixes:
        content = f"{suffix} of {name}"
        (folder / f"{name}.{suffix}").write_bytes(
            b"\x7fELF\0" + content.encode() if suffix == "cubin" else content.encode()
        )
    said = record(name) if said == "default" else said
    if said is not None:
        (folder / f"{name}.json").write_text(json.dumps(said))
    if group:
        names = listed or [f"{name}.{suffix}" for suffix in (*suffixes, "json")]
        paths = {file: f"/gone/{folder.name}/{file}" for file in names}
        (folder / f"__grp__{name}.json").write_text(json.dumps({"child_paths": paths}))
    return folder


def codes(loaded):
    """Codes of all issues, of the input and of its bundles, sorted."""
    issues = [*loaded.issues, *(issue for bundle in loaded.bundles for issue in bundle.issues)]
    return sorted(issue.code for issue in issues)


def contents(loaded):
    """What was loaded, without where it lies: name, target, layout, and the digest of every stage."""
    return [
        (
            bundle.name,
            str(bundle.target),
            bundle.layout,
            bundle.entry,
            {stage: artifact.sha256 for stage, artifact in bundle.artifacts.items()},
        )
        for bundle in loaded.bundles
    ]
