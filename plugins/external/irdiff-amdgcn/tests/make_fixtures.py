# SPDX-License-Identifier: Apache-2.0
"""Makes the compiled fixtures anew: ``python tests/make_fixtures.py VENVS``; no GPU is needed.

VENVS holds one virtual environment for each Triton release, ``triton-3.6.0/bin/python`` and so on; ``irdiff`` is on
PATH or named by ``--irdiff``. All compiling happens under one folder, because Triton writes paths into what it makes.
Two archives come out, with fixed names, order, owners and times:

- ``fixtures/corpus.tar.xz``: TTIR, assembly, code object and JSON of the kernels of ``kernels/irdiff.toml``, as
  ``RELEASE/TARGET/KERNEL-LABEL/``;
- ``fixtures/cases.tar.xz``: the whole entries of the cases of ``test_cases.py``, as ``CASE/RELEASE/ENTRY/``.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORK = Path("/tmp/irdiff-fixtures/amdgcn")
RELEASES = ("3.3.1", "3.6.0", "3.7.1", "3.8.0", "3.9.0")
TARGETS = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201")
KEPT = (".amdgcn", ".hsaco", ".json", ".ttir")
FP16 = "*fp16:16, *fp16:16, *fp16:16"
CASES = {
    "attention-gfx950": (
        "flash_attention.py::flash_attention_fwd_kernel",
        f"{FP16}, *fp16:16, *fp32:16, i32:16, fp32, 256, 32, 256, False",
        "hip:gfx950",
        ("--num-warps", "8", "--num-stages", "2"),
        ("3.6.0", "3.7.1"),
    ),
    "matmul-gfx942": (
        "matmul.py::matmul_strided_kernel",
        f"{FP16}, i32:16, i32:16, i32:16, i32:16, 256, 256, 64",
        "hip:gfx942",
        ("--num-warps", "4", "--num-stages", "2"),
        ("3.7.1", "3.8.0"),
    ),
}
"""Case to kernel, signature, target, options and the two releases."""
LINKER = """#!{python}
import sys
from triton._C.libtriton import amd
if "--version" in sys.argv:
    print("LLD of Triton 3.6.0")
else:
    amd.link_hsaco(sys.argv[sys.argv.index("-shared") + 1], sys.argv[sys.argv.index("-o") + 1])
"""
"""Triton 3.3 calls a linker that its wheel lacks; 3.6 has LLD in its library, and lends it."""


def main() -> None:
    """Compile everything and write both archives."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("venvs", type=Path)
    parser.add_argument("--irdiff", default="irdiff")
    options = parser.parse_args()
    shutil.rmtree(WORK, ignore_errors=True)
    shutil.copytree(HERE / "kernels", WORK / "kernels")
    linker = WORK / "ld.lld"
    linker.write_text(LINKER.format(python=options.venvs / "triton-3.6.0/bin/python"))
    linker.chmod(0o755)

    def compile_(release: str, out: Path, *arguments: str) -> None:
        python = options.venvs / f"triton-{release}/bin/python"
        command = [options.irdiff, "compile", *arguments, "--python", str(python), "-o", str(out)]
        environment = {**os.environ, "TRITON_HIP_LLD_PATH": str(linker)}
        subprocess.run(command, cwd=WORK / "kernels", env=environment, check=True)

    targets = [word for target in TARGETS for word in ("--target", f"hip:{target}")]
    corpus: dict[str, Path] = {}
    for release in RELEASES:
        out = WORK / "corpus" / release
        compile_(release, out, *targets)
        for record in sorted(out.rglob("irdiff.json")):
            entry = json.loads(record.read_text())
            folder = f"{release}/{entry['target'].removeprefix('hip:')}/{entry['kernel']}-{entry['label']}"
            for path in sorted(record.parent.iterdir()):
                if path.suffix in KEPT and not path.name.startswith(("__grp__", "irdiff.")):
                    corpus[f"{folder}/{path.name}"] = path
    cases: dict[str, Path] = {}
    for case, (kernel, signature, target, given, releases) in CASES.items():
        for release in releases:
            out = WORK / "cases" / case / release
            compile_(release, out, kernel, "-s", signature, "--target", target, *given)
            cases |= {
                str(path.relative_to(WORK / "cases")): path for path in out.rglob("*.*") if path.is_file()
            }
    write(HERE / "fixtures" / "corpus.tar.xz", corpus)
    write(HERE / "fixtures" / "cases.tar.xz", cases)


def write(archive: Path, files: dict[str, Path]) -> None:
    """One archive whose bytes depend on the files alone; files of one kind lie together, which packs better."""
    archive.parent.mkdir(exist_ok=True)
    with tarfile.open(archive, "w:xz", preset=9) as tar:
        for name, path in sorted(files.items(), key=lambda each: (each[1].suffix, each[0])):
            data = path.read_bytes()
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(data), 0o644
            tar.addfile(member, io.BytesIO(data))


if __name__ == "__main__":
    main()
