"""SARIF 2.1.0: rules, results with the line of the user's Python, stable fingerprints, what could not be judged.

Sections named here are those of the OASIS standard "Static Analysis Results Interchange Format (SARIF) Version
2.1.0 Plus Errata 01". What GitHub makes of it: docs.github.com, "SARIF support for code scanning".
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import TypeAlias
from urllib.parse import quote

from irdiff import __version__
from irdiff.model.gate import Judgement
from irdiff.model.report import Report
from irdiff.present.escape import flat
from irdiff.present.gate import exit_bits
from irdiff.present.labels import judged, place_of
from irdiff.present.problems import Problem, problems
from irdiff.present.remarks import Remark, remarks

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "irdiff/v2"
"""Name and version of how the fingerprint is made (section 3.27.17)."""
GITHUB_FINGERPRINT = "primaryLocationLineHash"
"""The one that GitHub tracks alerts by: with ours there an alert stays the same one when lines move."""
ROOT = "%SRCROOT%"
"""Relative addresses are of the repository's root (section 3.4.4)."""
DRIVE = re.compile(r"[A-Za-z]:[\\/]")


def sarif(report: Report) -> str:
    """The report as a SARIF log of one run."""
    found = remarks(report)
    judgement = judged(report)
    rules = _rules(report, judgement, found)
    index = {str(rule["id"]): place for place, rule in enumerate(rules)}
    unsure = problems(report, lesser=True)
    codes = sorted({flat(problem.code) for problem in unsure})
    accepted = any(remark.accepted is not None for remark in found)
    driver: dict[str, Json] = {"name": "irdiff", "version": __version__, "rules": [*rules]}
    if codes:
        driver["notifications"] = [{"id": code} for code in codes]
    run: dict[str, Json] = {
        "tool": {"driver": driver},
        "invocations": [_invocation(judgement, unsure)],
        "results": [_result(remark, index[flat(remark.code)], suppressible=accepted) for remark in found],
        "columnKind": "unicodeCodePoints",
    }
    log: Json = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return f"{json.dumps(log, indent=2, ensure_ascii=False)}\n"


def _rules(report: Report, judgement: Judgement | None, found: Sequence[Remark]) -> list[dict[str, Json]]:
    """Section 3.49: the rules that were applied; without a gate the facts that moved."""
    fired = {remark.code: remark for remark in reversed(found)}
    if judgement is None:
        made = [_fact_rule(report, fired[code]) for code in sorted(fired)]
    else:
        applied = {code for code, rule in judgement.rules.items() if rule.level != "off"}
        made = [_gate_rule(code, judgement, fired) for code in sorted(applied | fired.keys())]
    return list({str(rule["id"]): rule for rule in made}.values())


def _gate_rule(code: str, judgement: Judgement, fired: Mapping[str, Remark]) -> dict[str, Json]:
    told = judgement.rules.get(code)
    title = told.title if told is not None else fired[code].title
    level = {"error": "error", "warn": "warning"}.get(told.level if told is not None else "", "none")
    return {
        "id": flat(code),
        "shortDescription": {"text": flat(title) or flat(code)},
        "fullDescription": {"text": flat(told.why if told is not None else "") or flat(title) or flat(code)},
        "defaultConfiguration": {"level": level},
        "help": {"text": f"irdiff rules {flat(code)} says when exactly it fires, with examples."},
    }


def _fact_rule(report: Report, remark: Remark) -> dict[str, Json]:
    spec = report.facts.get(remark.code)
    title = flat(spec.title if spec is not None else remark.title) or flat(remark.code)
    return {
        "id": flat(remark.code),
        "shortDescription": {"text": title},
        "fullDescription": {"text": flat(spec.doc if spec is not None else "") or title},
        "defaultConfiguration": {"level": "note"},
        "help": {"text": f"irdiff facts {flat(remark.code)} says what it means."},
    }


def _result(remark: Remark, index: int, *, suppressible: bool) -> dict[str, Json]:
    """Section 3.27. Either all results of a run hold ``suppressions`` or none does (section 3.27.23)."""
    begins = f"; {remark.begins}" if remark.begins else ""
    target = f" [{remark.target}]" if remark.target else ""
    made: dict[str, Json] = {
        "ruleId": flat(remark.code),
        "ruleIndex": index,
        "level": remark.level,
        "message": {"text": flat(f"{remark.label}{target}: {remark.title}: {remark.message}{begins}")},
        "locations": [_location(remark)],
        "partialFingerprints": {
            FINGERPRINT: flat(remark.fingerprint),
            GITHUB_FINGERPRINT: f"{flat(remark.fingerprint)}:1",
        },
        "properties": _properties(remark),
    }
    if suppressible:
        reason = remark.accepted
        made["suppressions"] = (
            []
            if reason is None
            else [{"kind": "external", "status": "accepted", "justification": flat(reason)}]
        )
    return made


def _location(remark: Remark) -> dict[str, Json]:
    """Section 3.28: the line of the user's Python, else its file, else the folder of the entry; and the kernel."""
    parts = [remark.target or "", remark.kernel, remark.scope]
    made: dict[str, Json] = {"physicalLocation": _physical(remark.path, None)}
    if remark.file:
        made["physicalLocation"] = _physical(
            remark.file, place_of(remark.source)[1] if remark.source else None
        )
    made["logicalLocations"] = [
        {
            "name": flat(remark.kernel) or "unnamed",
            "fullyQualifiedName": "/".join(flat(part) for part in parts if part) or "unnamed",
            "kind": "function",
        }
    ]
    return made


def _physical(path: str, line: int | None) -> dict[str, Json]:
    artifact = _address(path)
    return {"artifactLocation": artifact, **({"region": {"startLine": line}} if line is not None else {})}


def _address(path: str) -> dict[str, Json]:
    """Section 3.4: a relative address with its base, or an absolute ``file:`` one."""
    text = flat(path).replace("\\", "/") or "unknown"
    if DRIVE.match(text):
        return {"uri": f"file:///{quote(text, safe='/:')}"}
    quoted = quote(text, safe="/")
    if text.startswith("/"):
        return {"uri": f"file:///{quoted.lstrip('/')}"}
    return {"uri": str(PurePosixPath(quoted)), "uriBaseId": ROOT}


def _properties(remark: Remark) -> dict[str, Json]:
    """Section 3.8: what a program may want as values."""
    values: dict[str, object] = {
        "kernel": remark.kernel,
        "target": remark.target,
        "fact": remark.fact,
        "scope": remark.scope or None,
        "before": remark.before,
        "after": remark.after,
        "decided": remark.decided or None,
    }
    return {name: _plain(value) for name, value in values.items() if value is not None}


def _plain(value: object) -> Json:
    if isinstance(value, dict):
        return {flat(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bool | int | float):
        return value
    return None if value is None else flat(str(value))


def _invocation(judgement: Judgement | None, unsure: Sequence[Problem]) -> dict[str, Json]:
    """Section 3.20: whether all of it was judged, what was not, and acceptances that accept nothing any more."""
    made: dict[str, Json] = {
        "executionSuccessful": not any(problem.level == "error" for problem in unsure),
        "toolExecutionNotifications": [_notification(problem) for problem in unsure],
    }
    if judgement is not None:
        made["executionSuccessful"] = not judgement.unsure
        made["exitCode"] = exit_bits(judgement)
        made["toolConfigurationNotifications"] = [
            {
                "level": "warning",
                "message": {
                    "text": flat(
                        f"the acceptance of {each.rule} for {each.kernel} accepts nothing any more: {each.why}"
                    )
                },
            }
            for each in judgement.stale
        ]
    return made


def _notification(problem: Problem) -> dict[str, Json]:
    """Section 3.58."""
    needed = f"; needed by {', '.join(problem.rules)}" if problem.rules else ""
    hint = f" ({problem.hint})" if problem.hint else ""
    where = f"{problem.label}: " if problem.label else ""
    made: dict[str, Json] = {
        "descriptor": {"id": flat(problem.code)},
        "level": problem.level,
        "message": {"text": flat(f"{where}{problem.message}{needed}{hint}") or "not judged"},
    }
    if problem.kernel:
        logical: dict[str, Json] = {"name": flat(problem.kernel), "kind": "function"}
        made["locations"] = [{"logicalLocations": [logical]}]
    return made
