"""Reports with a judgement, as the gate makes them: small ones to read, and large and hostile ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from irdiff.api import Change, Issue, KernelReport, Report
from irdiff.model.gate import Finding, Judgement, RuleTold, Silenced, Stale, Unjudged
from irdiff.model.report import FirstDivergence, KernelRef, Pairing, StageReport

RULES = {
    "BUILD102": RuleTold(title="an expected stage is missing or unreadable", level="error", default="error"),
    "LAY102": RuleTold(
        title="layout conversions added",
        level="warn",
        default="warn",
        why="Each conversion moves a tensor through shared memory.",
        judged=141,
    ),
    "PIPE101": RuleTold(
        title="a load in a loop is no longer asynchronous",
        level="error",
        default="error",
        why="The loop now waits for memory in every iteration.",
        judged=38,
        not_applicable=103,
    ),
    "RES101": RuleTold(
        title="spills appear or grow",
        level="error",
        default="error",
        why="A spill is a round trip to local memory.",
        judged=141,
    ),
    "RES102": RuleTold(title="registers per thread grow", level="off", default="warn", judged=141),
}


def pair(name: str, status: str = "changed", **fields: Any) -> KernelReport:
    """One pair of kernels; its folders are named after it."""
    changed = status == "changed"
    made: dict[str, Any] = {
        "name": name,
        "path_before": f"base/{name.upper()[:12]}",
        "path_after": f"head/{name.upper()[:12]}",
        "target": "cuda:90",
        "pairing": Pairing(method="only", confidence=1.0),
        "status": status,
        "direction": "worse" if changed else None,
        "machine_code": "changed" if changed else "identical",
        "first_divergence": FirstDivergence(stage="ttgir", fact_stage="ttgir", cause="TTGIR passes")
        if changed
        else None,
        "stages": {"ttgir": StageReport(sameness="changed" if changed else "identical")},
        "changes": (spill_change(name),) if changed else (),
    }
    return KernelReport(**{**made, **fields})


def spill_change(name: str) -> Change:
    return Change(
        fact="two.spills", scope=name, before=0, after=288, delta=288, effect="worse", source="attn.py:88"
    )


def finding(rule: str, kernel: str, message: str, **fields: Any) -> Finding:
    made: dict[str, Any] = {
        "rule": rule,
        "level": "warn" if rule.startswith("LAY") else "error",
        "message": message,
        "kernel": kernel,
        "path": f"head/{kernel.upper()[:12]}",
        "target": "cuda:90",
        "fingerprint": f"{rule}-{kernel}".encode().hex()[:32],
    }
    return Finding(**{**made, **fields})


def report(kernels: Sequence[KernelReport], judgement: Judgement | None, **fields: Any) -> Report:
    """A report over some pairs."""
    statuses = {kernel.status for kernel in kernels}
    verdict = next(
        (word for word in ("incomplete", "changed", "equivalent") if word in statuses), "identical"
    )
    made: dict[str, Any] = {
        "before": "base/",
        "after": "head/",
        "verdict": verdict,
        "direction": "worse" if "changed" in statuses else None,
        "kernels": tuple(kernels),
        "stages": {"ttgir": "TritonGPU IR"},
        "steps": ("ttgir",),
    }
    whole = Report(**{**made, **fields})
    return whole if judgement is None else msgspec.structs.replace(whole, judgement=judgement)


def pull_request() -> Report:
    """The pull request of the guide: two rules fail in 141 kernels, one warns."""
    loads = [f"triton_mm_fused_add_{n}" for n in range(6)]
    copies = [f"triton_poi_fused_{n}" for n in range(31)]
    kernels = [pair(name) for name in (*loads, "attn_fwd", *copies)]
    kernels += [pair(f"same_{n}", "identical" if n < 88 else "equivalent") for n in range(103)]
    findings = [
        finding("PIPE101", name, "tt.load in loop0 0 → 1, cp.async 8 → 4", scope="loop0", before=0, after=1,
                fact="ttgir.loads", source="mm.py:40")
        for name in loads
    ]  # fmt: skip
    findings.append(
        finding("RES101", "attn_fwd", "0 → 288 B, in loop0", scope="loop0", before=0, after=288,
                fact="sass.spill_load_bytes", source="attn.py:88")
    )  # fmt: skip
    findings += [finding("LAY102", name, "1 → 2, outside loops", before=1, after=2) for name in copies]
    return report(kernels, Judgement(failed=True, unsure=False, findings=tuple(findings), rules=RULES))


def could_not_tell() -> Report:
    """A cut-off file and a GPU that the disassembler does not know."""
    unjudged = (
        Unjudged(
            code="unreadable",
            kernel="softmax",
            path="head/SOFTMAX",
            stage="sass",
            message='cubin of "head" is cut off at byte 8192 (section headers missing)',
            rules=("BUILD102",),
        ),
        Unjudged(
            code="not-decoded",
            kernel="matmul",
            path="head/MATMUL",
            stage="sass",
            message="SASS not decoded: nvdisasm 12.8 does not know sm_121; registers and spills were read without it",
            rules=("PIPE101", "LAY102"),
            hint="pip install 'irdiff[sass]' brings one that does",
        ),
    )
    kernels = (
        pair("softmax", "incomplete", target="cuda:121"),
        pair("matmul", "incomplete", target="cuda:121"),
        pair("vector_add", "equivalent", target="cuda:121"),
    )
    return report(kernels, Judgement(failed=False, unsure=True, unjudged=unjudged, rules=RULES))


def passed() -> Report:
    """Nothing happened."""
    kernels = [pair(name, "identical") for name in ("matmul", "softmax")]
    return report(kernels, Judgement(failed=False, unsure=False, rules=RULES))


def everything_at_once() -> Report:
    """Failed and unsure, with accepted, silenced and stale changes, a removed kernel, issues, a policy."""
    fused = pair("attn_fwd", name_after="attn_forward", path_after="head/ATTN")
    twins = [
        pair("copy", path_before=f"base/{name}XXXX", path_after=f"head/{name}XXXX")
        for name in ("AAAAAAAA", "BBBBBBBB")
    ]
    findings = (
        finding("BUILD103", "gone", "only before", level="error", path="base/GONE"),
        finding("RES101", "attn_forward", "0 → 16 B", path="head/ATTN", before=0, after=16, source="attn.py:12"),
        finding("RES101", "attn_forward", "0 → 288 B, in loop0", path="head/ATTN", scope="loop0", before=0, after=288,
                source="attn.py:88", decided="irdiff.toml: check.override 2 RES*"),
        finding("RES101", "copy", "8 → 16 B", path="head/AAAAAAAAXXXX", before=8, after=16, source="copy.py:4"),
        finding("RES101", "copy", "8 → 64 B", path="head/BBBBBBBBXXXX", before=8, after=64, source="copy.py:4"),
        finding("RES101", "moe", "0 → 4 B", target="hip:gfx942", before=0, after=4,
                accepted="needed for fp8, ann, until 2026-12-31"),
        finding("LAY102", "copy", "1 → 2", path="head/AAAAAAAAXXXX", before=1, after=2),
    )  # fmt: skip
    judgement = Judgement(
        failed=True,
        unsure=True,
        findings=findings,
        unjudged=(
            Unjudged(code="plugin-skipped", message="plugin mine (mine 0.1) is skipped: no stage", path="mine"),
            Unjudged(code="missing-stage", message="no SASS", kernel="copy", path="head/AAAAAAAAXXXX", stage="sass",
                     rules=("RES101",), hint="compile it again"),
            Unjudged(code="missing-stage", message="no SASS", kernel="copy", path="head/BBBBBBBBXXXX", stage="sass",
                     rules=("RES101",), hint="compile it again"),
        ),
        silenced=(
            Silenced(rule="RES102", kernel="attn_forward", target="cuda:90", message="64 → 72", why="switched off"),
            Silenced(rule="RES101", kernel="moe", message="100 → 104 B", why="within the tolerance of 5 %"),
        ),
        stale=(Stale(rule="RES101", kernel="old", why="expired 2026-01-31", owner="ann"),),
        rules={**RULES, "BUILD103": RuleTold(title="a kernel disappeared", level="error", default="warn")},
        policy="irdiff.toml",
    )  # fmt: skip
    return report(
        [fused, *twins, pair("moe", target="hip:gfx942"), pair("same", "identical")],
        judgement,
        removed=(KernelRef(name="gone", path="base/GONE", target="cuda:90"),),
        issues=(Issue(severity="warning", code="low-coverage", message="82 % understood", where="head/X"),),
    )


REPORTS = {
    "pull-request": pull_request,
    "could-not-tell": could_not_tell,
    "passed": passed,
    "everything": everything_at_once,
}
