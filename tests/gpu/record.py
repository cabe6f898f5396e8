# ruff: noqa: T201
"""Records on a GPU: trees captured from programs, and for each kernel the driver's numbers beside irdiff's.

    python tests/gpu/record.py OUT

Runs the three scripts beside this file through ``irdiff compile --run``, then two of them once more without their GPU
(``--target``) and compares machine code. Needs Triton, PyTorch with CUDA and irdiff's dependencies; six minutes at
most. Every step is guarded: what fails is in ``OUT/record.json``, and the rest goes on.
Writes ``OUT/NAME.tar.xz`` for each tree, ``OUT/kernels.json`` (for each kernel what the driver and irdiff say) and
``OUT/record.json`` (steps, versions, totals).
"""

from __future__ import annotations

import importlib.metadata
import json
import lzma
import os
import platform
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import tomllib

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SCRIPTS = ("matmul", "autotuned", "model")
BOTH_WAYS = ("matmul", "autotuned")
WORK = Path("/tmp/irdiff-record")  # the artifacts hold it: a path that is nobody's
LIMIT = 360.0
LARGEST = 16 << 20
FACTS = (
    "sass.registers", "sass.stack", "sass.spill_store_bytes", "sass.spill_load_bytes", "sass.static_shared",
    "sass.constant_bytes", "sass.fingerprint", "meta.shared", "meta.num_warps", "kernel.ctas_per_sm", "kernel.code",
)  # fmt: skip
ENTRY = (
    "kernel", "target", "signature", "constexprs", "attributes", "autotune", "subprocess", "driver", "options_given",
)  # fmt: skip
RUN = (
    "import sys; from pathlib import Path; from irdiff.cli.run_script import run_script; "
    "sys.exit(run_script(sys.argv[1], sys.argv[4:], targets=[t for t in [sys.argv[2]] if t], python=sys.executable, "
    "output=Path(sys.argv[3])))"
)


class Record:
    """What came of each step."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.began = time.monotonic()
        self.told: dict[str, object] = {"steps": {}}

    def left(self) -> float:
        return LIMIT - (time.monotonic() - self.began)

    def step(self, name: str, do: Callable[[], object]) -> None:
        began = time.monotonic()
        entry: dict[str, object] = {}
        try:
            entry["result"] = do()
        except BaseException as error:  # noqa: BLE001  # whatever fails, the rest goes on
            entry["error"] = f"{type(error).__name__}: {error}"
            entry["traceback"] = traceback.format_exc()[-3000:]
        entry["seconds"] = round(time.monotonic() - began, 2)
        self.told["steps"][name] = entry  # type: ignore[index]
        print(name, "FAILED" if "error" in entry else "done", entry["seconds"], "s", flush=True)
        (self.out / "record.json").write_text(json.dumps(self.told, indent=1, default=str))


def paths(out: Path) -> list[str]:
    """Where irdiff and its plugins are found; a checkout that is not installed gets entry points of its own."""
    found = [str(ROOT), str(ROOT / "plugins" / "bundled")]
    try:
        importlib.metadata.distribution("irdiff")
    except importlib.metadata.PackageNotFoundError:
        points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["irdiff"]
        info = out / "site" / "irdiff-0.dist-info"
        info.mkdir(parents=True, exist_ok=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: irdiff\nVersion: 0\n")
        lines = ["[irdiff]", *(f"{name} = {module}" for name, module in points.items())]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
        found.append(str(info.parent))
    return found


def environment() -> dict[str, str]:
    """That of a process with irdiff: ``main`` put its folders on the path."""
    return dict(os.environ)


def versions() -> dict[str, object]:
    import torch
    import triton

    return {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "device": torch.cuda.get_device_name(0),
        "capability": torch.cuda.get_device_capability(0),
    }


def command(script: str, target: str, tree: Path) -> list[str]:
    """``irdiff compile --run``; the function behind it where this checkout's command has no ``--run`` yet."""
    helped = subprocess.run(
        [sys.executable, "-m", "irdiff", "compile", "--help"],
        env=environment(),
        capture_output=True,
        text=True,
    )
    if "--run" not in helped.stdout:
        return [sys.executable, "-c", RUN, script, target, str(tree)]
    asked = [
        sys.executable,
        "-m",
        "irdiff",
        "compile",
        "--run",
        script,
        "--python",
        sys.executable,
        "-o",
        str(tree),
    ]
    return [*asked, *(["--target", target] if target else [])]


def capture(record: Record, name: str, target: str = "") -> dict[str, object]:
    tree = WORK / (f"{name}-without-gpu" if target else name)
    asked = command(str(WORK / "scripts" / f"{name}.py"), target, tree)
    limit = max(20.0, min(240.0, record.left() - 60))
    log = record.out / f"{tree.name}.log"
    with log.open("w") as file, (record.out / f"{tree.name}.stdout").open("w+") as out:
        process = subprocess.Popen(asked, env=environment(), stdout=out, stderr=file, start_new_session=True)
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            code = None
            process.terminate()  # ends the program, and irdiff keeps what it compiled
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        out.seek(0)
        stdout, stderr = out.read(), log.read_text(errors="replace")
    entries = len(list(tree.glob("*/irdiff.json")))
    shown = [part.replace(str(ROOT) + os.sep, "").replace(str(record.out), "OUT") for part in asked[1:]]
    told = {
        "command": shown,
        "exit": code,
        "kernels": entries,
        "stdout": stdout[-3000:],
        "stderr": stderr[-6000:],
    }
    if code != 0:
        raise RuntimeError(json.dumps(told))
    return told


def read(record: Record, trees: list[str]) -> dict[str, object]:
    """What the driver and irdiff say of each kernel, side by side."""
    import msgspec

    from irdiff.capture.check import ROLES, Checked, compare
    from irdiff.capture.entries import RunEntry
    from irdiff.cli.session import session

    rows, compared = [], []
    with session(external=False) as run:
        stages = {stage.id for stage in run.registry.stages if stage.machine_code or not stage.pipeline}
        roles = {fact: spec.role for fact, spec in run.registry.facts.items() if spec.role in ROLES}
        for tree in trees:
            if not any((WORK / tree).glob("*/irdiff.json")):
                continue
            bundles = [
                msgspec.structs.replace(
                    bundle,
                    artifacts={name: each for name, each in bundle.artifacts.items() if name in stages},
                )
                for bundle in run.load(str(WORK / tree)).bundles
            ]
            for kernel in run.reader(canonical=False).read(bundles):
                entry = kernel.bundle.entry
                data = (WORK / tree / entry / "irdiff.json").read_bytes()
                noted = msgspec.json.decode(data, type=RunEntry)
                facts = {fact.id: fact.value for fact in kernel.facts() if not fact.scope}
                plain = json.loads(data)
                rows.append(
                    {
                        "tree": tree,
                        "entry": entry,
                        **{name: plain[name] for name in ENTRY if name in plain},
                        "facts": {name: facts[name] for name in FACTS if name in facts},
                    }
                )
                if noted.driver is not None and noted.driver.error is None:
                    by_role = {roles[fact]: value for fact, value in facts.items() if fact in roles}
                    compared.append(compare(kernel.bundle.name, entry, noted.driver, by_role))
    (record.out / "kernels.json").write_text(json.dumps(rows, indent=1, default=str))
    checked = Checked(kernels=tuple(compared))
    return {
        "kernels": len(rows),
        "compared": len(compared),
        "agreeing": {name: checked.agreeing(name) for name in ("registers", "local", "ctas_per_sm")},
        "specialization recorded": sum(bool(row.get("signature")) for row in rows),
        "lines": list(checked.lines(20)),
    }


def both_ways(record: Record) -> dict[str, object]:
    """Machine code made with the GPU and without it: fingerprints by what was compiled."""
    rows = json.loads((record.out / "kernels.json").read_text())
    told = {}
    for name in BOTH_WAYS:
        made: dict[str, dict[str, object]] = {}
        for row in rows:
            if row["tree"] in (name, f"{name}-without-gpu"):
                config = (row.get("autotune") or {}).get("config")
                names = ("kernel", "target", "signature", "constexprs", "attributes")
                asked = json.dumps([*(row.get(each) for each in names), config], sort_keys=True)
                made.setdefault(asked, {})[row["tree"]] = row["facts"].get("sass.fingerprint")
        pairs = [each for each in made.values() if len(each) == 2]
        told[name] = {
            "kernels": len(made),
            "in both": len(pairs),
            "equal": sum(len(set(each.values())) == 1 for each in pairs),
        }
    return told


def pack(record: Record, tree: str) -> dict[str, object]:
    folder, archive = WORK / tree, record.out / f"{tree}.tar.xz"
    if not any(folder.glob("*/irdiff.json")):
        raise FileNotFoundError(tree)

    def nobody(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        member.mtime = 0
        return member

    with lzma.open(archive, "wb", preset=6) as packed, tarfile.open(fileobj=packed, mode="w") as made:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                made.add(path, f"{tree}/{path.relative_to(folder)}", filter=nobody)
    size = archive.stat().st_size
    if size > LARGEST:
        raise RuntimeError(f"{archive.name} has {size:,} bytes, {LARGEST:,} are allowed")
    return {"bytes": size}


def main(out: Path) -> int:
    out = out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    found = paths(out)
    sys.path[:0] = found
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [*found, os.environ.get("PYTHONPATH", "")]))
    shutil.rmtree(WORK, ignore_errors=True)
    shutil.copytree(HERE / "scripts", WORK / "scripts")
    record = Record(out)
    trees = [*SCRIPTS, *(f"{name}-without-gpu" for name in BOTH_WAYS)]
    record.step("versions", versions)
    for name in SCRIPTS:
        record.step(name, lambda name=name: capture(record, name))  # type: ignore[misc]
    for name in BOTH_WAYS:
        record.step(f"{name} without a GPU", lambda name=name: capture(record, name, "cuda:90"))  # type: ignore[misc]
    record.step("read", lambda: read(record, trees))
    record.step("both ways", lambda: both_ways(record))
    for tree in trees:
        record.step(f"pack {tree}", lambda tree=tree: pack(record, tree))  # type: ignore[misc]
    steps = record.told["steps"]
    assert isinstance(steps, dict)
    failed = [name for name, step in steps.items() if "error" in step]
    print(json.dumps(steps.get("read", {}).get("result"), indent=1))
    print(
        f"{len(steps) - len(failed)} steps done, {len(failed)} failed: {failed}; {LIMIT - record.left():.0f} s"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
