"""Time ``irdiff compile`` against bare ``triton.compile``, all in this one run; prints seconds and ratios.

    python tests/bench/compile.py [RUNS]

24 specializations of the reference matmul for sm_90, each made fresh. ``bare``: the sum of the times of
``triton.compile`` in one process, each into an empty cache. ``start``: a process that imports Triton and computes
the key of its own files, as every compiling process must. Targets: two workers at least 1.7 times as fast as one,
and one worker at most 1.15 times bare plus one start.
"""

from __future__ import annotations

import itertools
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
from irdiff.compile.notation import parse_signature, parse_values
from irdiff.compile.output import OutputTree
from irdiff.compile.plan import Request, expand
from irdiff.compile.pool import Pool
from irdiff.compile.targets import parse_target

KERNEL = ROOT / "irdiff" / "suite" / "matmul.py"
SIGNATURE = "*fp16:16, *fp16:16, *fp16:16, 256, 256, 256, 256, 1, 256, 1, 256, 1"
BLOCKS = {"BLOCK_M": "64,128", "BLOCK_N": "64,128", "BLOCK_K": "32,64"}
STAGES = "2,3,4"
BARE = """
import importlib.util, itertools, os, sys, tempfile, time
path = sys.argv[1]
began = time.perf_counter()
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.cache import triton_key
triton_key()
started = time.perf_counter()
spec = importlib.util.spec_from_file_location("matmul", path)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
fn = module.matmul_kernel
fixed = dict(M=256, N=256, K=256, stride_am=256, stride_ak=1, stride_bk=256, stride_bn=1, stride_cm=256, stride_cn=1)
total = 0.0
for m, n, k, stages in itertools.product((64, 128), (64, 128), (32, 64), (2, 3, 4)):
    constexprs = dict(fixed, BLOCK_M=m, BLOCK_N=n, BLOCK_K=k)
    signature = {name: "constexpr" if name in constexprs else "*fp16" for name in fn.arg_names}
    attributes = {(index,): [["tt.divisibility", 16]] for index in range(3)}
    source = ASTSource(fn, signature=signature, constexprs=constexprs, attrs=attributes)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TRITON_CACHE_DIR"] = cache
        since = time.perf_counter()
        triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 4, "num_stages": stages})
        total += time.perf_counter() - since
print(started - began, total)
"""


def bare() -> tuple[float, float]:
    """Seconds of a start, and of the compilations."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", BARE, str(KERNEL)], capture_output=True, text=True, check=True
    )
    whole = time.perf_counter() - began
    start, total = map(float, done.stdout.split())
    return max(start, whole - total), total


def ours(workers: int) -> float:
    """Seconds of a whole run."""
    request = Request(
        file=KERNEL,
        shown=KERNEL.name,
        kernel="matmul_kernel",
        arguments=parse_signature(SIGNATURE),
        settings={name: parse_values(values, where=name) for name, values in BLOCKS.items()},
        options={"num_warps": parse_values("4", where=""), "num_stages": parse_values(STAGES, where="")},
        targets=(parse_target("cuda:90"),),
    )
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, OutputTree(Path(folder)) as tree:
        results = Pool(
            expand([request]), tree, sys.executable, os.environ, workers=workers, timeout=300
        ).run()
    assert [result.status for result in results.results] == ["compiled"] * 24, results
    return time.perf_counter() - began


def cpu() -> float:
    """CPU seconds of this process and of those that it started and that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def main() -> None:
    """Alternate the three, so that a busy moment of the machine touches all of them."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    starts, totals, one, two, used = [], [], [], [], []
    for _ in range(runs):
        marks = [cpu()]
        start, total = bare()
        starts.append(start)
        totals.append(total)
        marks.append(cpu())
        one.append(ours(1))
        marks.append(cpu())
        two.append(ours(2))
        marks.append(cpu())
        used.append([after - before for before, after in itertools.pairwise(marks)])
    start, total = statistics.median(starts), statistics.median(totals)
    single, double = statistics.median(one), statistics.median(two)
    print(f"bare {total:.2f} s, start {start:.2f} s, one worker {single:.2f} s, two workers {double:.2f} s")
    seconds = [statistics.median(each) for each in zip(*used, strict=True)]
    print("CPU seconds: bare {:.2f}, one worker {:.2f}, two workers {:.2f}".format(*seconds))
    print(f"two workers against one: {single / double:.2f} times as fast (target 1.70)")
    print(f"one worker against bare and one start: {single / (total + start):.2f} (target 1.15 at most)")
    print(f"two workers against bare and two starts, halved: {double / ((total + 2 * start) / 2):.2f}")


if __name__ == "__main__":
    main()
