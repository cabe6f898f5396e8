"""Markdown for a comment on a pull request: the verdict, at most 20 rows, the rest folded.

GitHub Flavored Markdown (github.github.com/gfm, tables in section 4.10); a comment on GitHub holds at most 65,536
characters. All that comes from artifacts, plugins and people stands in code spans or, escaped, in ``<pre>``: nothing
in it is formatted, mentioned, linked or taken for HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from irdiff.model.gate import Judgement
from irdiff.model.report import Report
from irdiff.present.escape import code, flat, html_escape, prose
from irdiff.present.gate import GateView, detail_of, gate_view
from irdiff.present.labels import judged
from irdiff.present.remarks import Cluster, RuleGroup, grouped, remarks, spread
from irdiff.present.view import Row, View, view
from irdiff.present.wording import plural

MARK = "<!-- irdiff -->"
"""By which a comment is found again, to be updated."""
MOST = 65_536
"""Characters of a comment; counted here in bytes, which are never fewer."""
RESERVE = 2_000
ROWS = 20
LONGEST_NAME = 60
LONGEST_CELL = 200
LONGEST_LINE = 600
MOST_LINES = 8
"""Of what could not be judged, above the fold."""
LEVELS = {"error": "**error**", "warning": "warning", "note": "note"}


def markdown(report: Report) -> str:
    """The report as a comment."""
    judgement = judged(report)
    return _of_check(report, judgement) if judgement is not None else _of_compare(report)


def _of_check(report: Report, judgement: Judgement) -> str:
    told = gate_view(report, everything=True)
    found = remarks(report)
    fired = grouped([remark for remark in found if remark.accepted is None])
    page = _Page()
    page.add(MARK, f"### irdiff check: {' '.join(told.verdict.split())}", "", _subject(told.subject), "")
    if told.changes:
        page.add(f"{told.changes}.", "")
    _not_judged(page, told)
    shown, left = spread(fired, ROWS)
    if shown:
        rows = [_check_row(group, cluster) for group in shown for cluster in group.clusters]
        left += page.table(("", "rule", "kernels", "what", "where"), rows)
    if left:
        page.add(f"And {plural(left, 'more row')}: below.", "")
    page.lines(told.notes)
    rows_of = {(group.level, group.code): group for group in shown}
    folds = [
        _Fold(
            what=f"{plural(group.kernels, 'kernel')}, {group.level}",
            name=f"{group.code} {group.title}",
            lines=_group_lines(group),
        )
        for group in fired
        if not _told_in_full(group, rows_of.get((group.level, group.code)))
    ]
    if len(told.unjudged) > MOST_LINES:
        lines = [f"{line.label}: {line.text} [{line.code}]" for line in told.unjudged]
        folds.insert(0, _Fold(what=f"not judged: {len(lines):,}", name="", lines=lines))
    if judgement.silenced:
        lines = [f"{each.rule}  {each.kernel}  {each.message}  {each.why}" for each in judgement.silenced]
        folds.append(_Fold(what=f"silenced: {len(lines):,}", name="", lines=lines))
    if told.issues:
        folds.append(_Fold(what=f"on what was read: {len(told.issues):,}", name="", lines=told.issues))
    page.folded(folds)
    return page.text()


def _of_compare(report: Report) -> str:
    told, whole = view(report), view(report, everything=True)
    page = _Page()
    page.add(MARK, f"### irdiff compare: {told.verdict}", "", _subject(told.subject), "")
    page.lines(told.paragraphs)
    rows = _compare_rows(told)
    if len(told.blocks) == 1 and not told.blocks[0].title:
        page.lines([told.blocks[0].sentence])
    left = max(len(rows) - ROWS, 0)
    if rows:
        named = ("kernels",) if any(block.title for block in told.blocks) else ()
        left += page.table(("", *named, "what", "change", "where"), rows[:ROWS])
    left += sum(block.more for block in told.blocks)
    if left:
        page.add(f"And {left:,} more: below.", "")
    page.lines(told.issues)
    folds = [
        _Fold(
            what="all that changed in" if block.title else "all that changed",
            name=block.title,
            lines=_block_lines(block.sentence, block.rows),
        )
        for block in whole.blocks
    ]
    if whole.hunks:
        folds.append(_Fold(what="lines", name="", lines=[row.text for row in whole.hunks]))
    page.folded(folds)
    return page.text()


class _Fold(msgspec.Struct, frozen=True, kw_only=True):
    """Details that open with a click."""

    what: str
    """In our own words."""
    name: str
    """In those of others."""
    lines: Sequence[str]


class _Page:
    """Text that stays under the limit: what does not fit is counted instead."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._left = MOST - RESERVE

    def add(self, *lines: str) -> None:
        """Lines that are there in any case; each of them is short."""
        self._parts += lines
        self._left -= sum(_size(line) for line in lines)

    def lines(self, texts: Iterable[str]) -> None:
        """Short paragraphs of foreign text, as a list."""
        made = [f"- {prose(text, LONGEST_LINE)}" for text in texts]
        kept = [line for line in made[:MOST_LINES] if self._fits([line])]
        left = len(made) - len(kept)
        kept += [f"- and {left:,} more"] if left else []
        if kept:
            self.add(*kept, "")

    def table(self, header: Sequence[str], rows: Sequence[str]) -> int:
        """A table; the number of rows that did not fit. It takes no more than half of the page."""
        made = [f"| {' | '.join(header)} |", f"|{' --- |' * len(header)}"]
        room = self._left // 2
        kept = 0
        for row in rows:
            room -= _size(row)
            if room < 0:
                break
            made.append(row)
            kept += 1
        self.add(*made, "")
        return len(rows) - kept

    def folded(self, folds: Sequence[_Fold]) -> None:
        """Details, each with its share of what is left of the page."""
        for at, fold in enumerate(folds):
            name = f" <code>{html_escape(flat(fold.name, LONGEST_CELL))}</code>" if fold.name else ""
            head = f"<details><summary>{fold.what}{name}</summary>"
            frame = _size(head) + 200
            room = self._left // (len(folds) - at) - frame
            if room < LONGEST_LINE:
                self.add(
                    f"And {plural(len(folds) - at, 'more section')} that would not fit into a comment.", ""
                )
                return
            made: list[str] = []
            for line in fold.lines:
                text = html_escape(flat_indented(line))
                room -= _size(text)
                if room < 0:
                    break
                made.append(text)
            left = len(fold.lines) - len(made)
            made += [f"and {plural(left, 'more line')} that would not fit into a comment"] if left else []
            self.add(head, "", "<pre>", *made, "</pre>", "", "</details>", "")

    def _fits(self, lines: Sequence[str]) -> bool:
        return sum(map(_size, lines)) < self._left // 2

    def text(self) -> str:
        """The page."""
        return "\n".join(self._parts).rstrip("\n") + "\n"


def flat_indented(line: str) -> str:
    """One line with its indentation, cut where it is long."""
    body = line.lstrip(" ")
    return " " * min(len(line) - len(body), 8) + flat(body, LONGEST_LINE)


def _size(line: str) -> int:
    return len(line.encode("utf-8", "replace")) + 1


def _subject(subject: str) -> str:
    return " · ".join(prose(part.strip(), LONGEST_CELL) for part in subject.split("   ") if part.strip())


def _not_judged(page: _Page, told: GateView) -> None:
    if told.unjudged:
        page.add("Not judged:", "")
        page.lines(f"{line.label}: {line.text}" if line.label else line.text for line in told.unjudged)


def _check_row(group: RuleGroup, cluster: Cluster) -> str:
    worst = cluster.worst
    more = f" and {len(cluster.members) - 1:,} more" if len(cluster.members) > 1 else ""
    where = [code(worst.source, LONGEST_NAME)] if worst.source else []
    where += [prose(worst.begins, LONGEST_CELL)] if worst.begins else []
    cells = (
        LEVELS[group.level],
        f"{code(group.code, LONGEST_NAME)} {prose(group.title, LONGEST_CELL)}",
        f"{code(worst.label, LONGEST_NAME)}{more}",
        prose(worst.message, LONGEST_CELL),
        ", ".join(where),
    )
    return f"| {' | '.join(cells)} |"


def _compare_rows(told: View) -> list[str]:
    """A row for each fact that moved; the kernels in the first row of their group, where there are several."""
    several = any(block.title for block in told.blocks)
    rows = []
    for block in told.blocks:
        name = block.title
        for row in block.rows:
            cells = [
                " ".join(prose(word, LONGEST_NAME) for word in (row.effect, row.codes) if word),
                *([prose(name, LONGEST_CELL) if name else ""] if several else []),
                prose(row.title, LONGEST_CELL),
                prose(row.change, LONGEST_CELL),
                code(row.place, LONGEST_NAME) if row.place else "",
            ]
            rows.append(f"| {' | '.join(cells)} |")
            name = ""
    return rows


def _told_in_full(group: RuleGroup, shown: RuleGroup | None) -> bool:
    """Whether the rows of the table left nothing out."""
    return (
        shown is not None
        and len(shown.clusters) == len(group.clusters)
        and all(
            len(cluster.members) == 1
            and len(cluster.worst.label) <= LONGEST_NAME
            and len(cluster.worst.message) <= LONGEST_CELL
            for cluster in group.clusters
        )
    )


def _group_lines(group: RuleGroup) -> list[str]:
    """Kernel by kernel, so that a reader can search for one."""
    return [
        f"{remark.label}{f' [{remark.target}]' if remark.target else ''}  {detail_of(remark)}"
        for cluster in group.clusters
        for remark in cluster.members
    ]


def _block_lines(sentence: str, rows: Sequence[Row]) -> list[str]:
    lines = [sentence] if sentence else []
    for row in rows:
        parts = (row.effect, row.codes, row.title, row.change, row.place)
        lines.append("  ".join(part for part in parts if part))
    return lines
