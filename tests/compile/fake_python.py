"""Stands in for an interpreter: speaks the worker's protocol, and misbehaves as the job's kernel is named."""

# ruff: noqa: T201, C901  # prints are its protocol; one branch for each misbehaviour

import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

KERNEL_SECONDS = float(os.environ.get("FAKE_SECONDS", "0"))


def tell(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


def compiled(job):
    name = job["kernel"]
    if job["known"] == "fake":
        tell("result", job=job["job"], status="unchanged")
        return
    if os.environ.get("FAKE_LOG"):
        with Path(os.environ["FAKE_LOG"]).open("a") as log:
            log.write(f"{name} {job['target']['arch']}\n")
    tell("stage", job=job["job"], stage="ttir")
    time.sleep(KERNEL_SECONDS)
    entry = Path(job["cache"]) / f"{name.upper()}{job['target']['arch']}"
    entry.mkdir()
    (entry / f"{name}.ttir").write_text("module {}")
    (entry / f"{name}.json").write_text(json.dumps({"name": name, "shared": 64, "num_warps": 4}))
    children = {file: str(entry / file) for file in (f"{name}.ttir", f"{name}.json")}
    (entry / f"__grp__{name}.json").write_text(json.dumps({"child_paths": children}))
    (entry / f"{name}.lock").touch()
    tell("result", job=job["job"], status="compiled", name=name, total=0.5, dependencies="fake")


def main():
    start = os.environ.get("FAKE_START", "")
    if start == "dies":
        sys.exit("this interpreter is broken")
    if start == "speaks":
        print("Python 2.7.18", flush=True)
        time.sleep(60)
    if start == "missing":
        tell("unavailable", protocol=1, missing=True, reason="no", platform=os.environ["FAKE_PLATFORM"])
        return
    tell("hello", protocol=1, triton="3.6.0", python="3.11.7", platform="linux-x86_64", build="b1")
    for line in sys.stdin:
        job = json.loads(line)
        if job["ask"] == "gpu":
            answer = os.environ.get("FAKE_GPU")
            tell("gpu", **({"backend": "cuda", "arch": answer} if answer else {"reason": "0 active drivers"}))
            continue
        name = job["kernel"]
        if name == "aborts":
            tell("stage", job=job["job"], stage="llir")
            print("LLVM ERROR: Cannot select: t1", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGABRT)
        elif name == "leaves":
            sys.exit(3)
        elif name == "hangs":
            tell("stage", job=job["job"], stage="ttgir")
            tempfile.mkstemp(suffix=".ptx")  # as Triton does while ptxas runs
            if os.environ.get("FAKE_LOG"):
                Path(os.environ["FAKE_LOG"]).write_text(str(os.getpid()))
            time.sleep(600)
        elif name == "babbles":
            print("<html>", flush=True)
            time.sleep(600)
        elif name == "stops":
            sys.stdout.write('{"event": "res')
            sys.stdout.flush()
            os._exit(0)
        elif name == "mistakes":
            tell("result", job=job["job"] + 1, status="compiled")
            time.sleep(600)
        elif name == "forgets":
            tell("result", job=job["job"], status="compiled", name=name)
        else:
            compiled(job)


main()
