"""JUnit XML: a suite for each target, a test case for each kernel, so that a case is the same one in every run.

The format is what Jenkins, GitLab, GitHub and Azure viewers read: the schema ``junit-10.xsd`` of Jenkins' xunit
plugin. Rules that failed are one ``failure`` of their kernel (Jenkins keeps one), warnings its ``system-out``, what
could not be judged an ``error``. Characters: XML 1.0 section 2.2.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence

import msgspec

from irdiff.model.report import KernelReport, Report
from irdiff.present.escape import flat
from irdiff.present.gate import detail_of
from irdiff.present.labels import judged
from irdiff.present.problems import Problem, problems
from irdiff.present.remarks import Remark, remarks

NO_TARGET = "target not known"
INPUT = "input"
"""Suite of what concerns no kernel."""
LONGEST_LABEL = 400


class _Case(msgspec.Struct, kw_only=True):
    """One test case while it is collected."""

    suite: str
    name: str
    remarks: list[Remark] = []
    problems: list[Problem] = []


def junit(report: Report) -> str:
    """The report as JUnit XML."""
    cases = _cases(report)
    suites: dict[str, list[_Case]] = {}
    for case in cases:
        suites.setdefault(case.suite, []).append(case)
    root = ET.Element("testsuites", name="irdiff")
    for name, members in suites.items():
        suite = ET.SubElement(root, "testsuite", name=flat(f"irdiff {name}"))
        for case in members:
            _write(suite, case)
        _count(suite, suite)
    _count(root, root)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _cases(report: Report) -> Sequence[_Case]:
    """Kernels in the order of the report, then those that only a remark names, then the inputs as a whole."""
    cases = _Cases(report)
    for remark in remarks(report):
        cases.of(remark.kernel, remark.path, remark.target).remarks.append(remark)
    whole: dict[str, _Case] = {}
    for problem in problems(report):
        if problem.kernel is None:
            label = problem.label or problem.code
            whole.setdefault(label, _Case(suite=INPUT, name=label)).problems.append(problem)
        else:
            cases.of(problem.kernel, problem.path, None).problems.append(problem)
    if judged(report) is None:
        for kernel in report.kernels:
            case = cases.of(kernel.name, kernel.path_after, kernel.target)
            if kernel.status == "incomplete" and not case.problems:
                case.problems.append(_incomplete(kernel))
    return _told_apart([*cases.made, *whole.values()] or [_Case(suite=INPUT, name="no kernel to compare")])


class _Cases:
    """A case for each entry, found by the names and folders of both sides."""

    def __init__(self, report: Report) -> None:
        self.made: list[_Case] = []
        self._by_entry: dict[tuple[str, str], _Case] = {}
        self._by_name: dict[str, _Case] = {}
        for kernel in report.kernels:
            names = (kernel.name, kernel.name_after or kernel.name)
            self._add(kernel.name, kernel.target, names, (kernel.path_after, kernel.path_before))
        for only in (*report.added, *report.removed):
            self._add(only.name, only.target, (only.name,), (only.path,))

    def _add(self, name: str, target: str | None, names: Sequence[str], paths: Sequence[str]) -> _Case:
        case = _Case(suite=target or NO_TARGET, name=name)
        self.made.append(case)
        for each in names:
            self._by_name.setdefault(each, case)
            self._by_entry.update({(each, path): case for path in paths})
        return case

    def of(self, name: str, path: str | None, target: str | None) -> _Case:
        """The case of an entry; a new one where the report holds no such entry."""
        found = self._by_entry.get((name, path)) if path is not None else self._by_name.get(name)
        return found if found is not None else self._add(name, target, (name,), (path or "",))


def _incomplete(kernel: KernelReport) -> Problem:
    return Problem(
        level="error",
        code="incomplete",
        message="could not be compared in full",
        hint="",
        label=kernel.name,
        kernel=kernel.name,
        path=kernel.path_after,
        stage=None,
        rules=(),
    )


def _told_apart(cases: Sequence[_Case]) -> Sequence[_Case]:
    """Cases of one name in one suite are numbered: entries' hashes change with every edit, their order does not."""
    seen: Counter[tuple[str, str]] = Counter()
    for case in cases:
        case.name = flat(case.name, LONGEST_LABEL) or "unnamed"
        seen[case.suite, case.name] += 1
        number = seen[case.suite, case.name]
        if number > 1:
            case.name = f"{case.name} #{number}"
    return cases


def _write(suite: ET.Element, case: _Case) -> None:
    element = ET.SubElement(
        suite, "testcase", classname=flat(f"irdiff.{case.suite}"), name=case.name, time="0"
    )
    failed = [remark for remark in case.remarks if remark.level == "error" and remark.accepted is None]
    lesser = [remark for remark in case.remarks if remark not in failed]
    unsure = [_unsure(problem) for problem in case.problems]
    if failed:
        more = f" (and {len(failed) - 1:,} more)" if len(failed) > 1 else ""
        failure = ET.SubElement(
            element, "failure", type=flat(failed[0].code), message=flat(_short(failed[0])) + more
        )
        failure.text = _lines([*map(_line, failed), *unsure])
    elif unsure:
        first = case.problems[0]
        error = ET.SubElement(element, "error", type=flat(first.code), message=flat(first.message))
        error.text = _lines(unsure)
    if lesser:
        ET.SubElement(element, "system-out").text = _lines(map(_line, lesser))


def _short(remark: Remark) -> str:
    return f"{remark.code} {remark.title}: {remark.message}"


def _line(remark: Remark) -> str:
    accepted = f"   accepted: {remark.accepted}" if remark.accepted is not None else ""
    return f"{remark.level}: {remark.code} {remark.title}: {detail_of(remark)}{accepted}"


def _unsure(problem: Problem) -> str:
    needed = f"; needed by {', '.join(problem.rules)}" if problem.rules else ""
    hint = f" ({problem.hint})" if problem.hint else ""
    return f"not judged: {problem.message}{needed}{hint}"


def _lines(texts: Sequence[str] | map[str]) -> str:
    return "\n".join(flat(text) for text in texts)


def _count(element: ET.Element, within: ET.Element) -> None:
    element.set("tests", str(sum(1 for _ in within.iter("testcase"))))
    element.set("failures", str(sum(1 for _ in within.iter("failure"))))
    element.set("errors", str(sum(1 for _ in within.iter("error"))))
