"""The terminal renderer: the one module that imports rich. Text goes in as data, never as markup."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TextIO, cast

from rich.console import Console
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn
from rich.table import Table
from rich.text import Text

from irdiff.present.gate import ExplainView, GateView, RuleLine
from irdiff.present.plain import PIPED_WIDTH, piped_width
from irdiff.present.view import Block, View
from irdiff.present.wording import one_line

__all__ = [
    "Console",
    "ProgressBar",
    "console_for",
    "grid",
    "render",
    "render_gate",
    "write",
    "write_explained",
    "write_gate",
]

TONES = {"good": "bold green", "bad": "bold red", "neutral": "bold yellow", "unsure": "bold magenta"}
EFFECTS = {"worse": "red", "better": "green", "unexplained": "yellow", "differs": "yellow"}
MARKS = {"error": ("✗", "red"), "warning": ("!", "yellow"), "note": ("·", "")}
WHOLE = 12
"""Characters up to which the cells of a column are never folded."""
HUNKS = {"": "", "title": "bold", "header": "cyan", "removed": "red", "added": "green", "dim": "dim"}


def console_for(stream: TextIO, *, width: int | None = None) -> Console:
    """A console on a stream: its own width and colours on a terminal, plain text elsewhere; honours NO_COLOR."""
    if stream.isatty():
        return _Console(file=stream, width=width, highlight=False, markup=False, emoji=False)
    plain = cast("TextIO", _Trimmed(stream))
    columns = piped_width(os.environ)
    return _Console(
        file=plain, width=width or columns, highlight=False, markup=False, emoji=False, color_system=None
    )


class _Console(Console):
    """rich's console, but a closed pipe is the caller's to handle."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class _Trimmed:
    """A text stream that drops the blanks which tables leave at the end of lines."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write("\n".join(line.rstrip(" ") for line in text.split("\n")))
        return len(text)

    def flush(self) -> None:
        self._stream.flush()


def render(view: View, *, width: int = PIPED_WIDTH) -> str:
    """The view as plain text."""
    buffer = io.StringIO()
    write(view, console_for(buffer, width=width))
    return buffer.getvalue()


def write(view: View, console: Console) -> None:
    """Print the view."""
    console.print(_headline(view))
    for paragraph in view.paragraphs:
        console.print(Padding(Text(one_line(paragraph)), (0, 0, 0, 2)))
    for block in view.blocks:
        _block(block, console)
    if view.hunks:
        console.print()
    for row in view.hunks:
        console.print(Text(one_line(row.text), style=HUNKS[row.tone]), soft_wrap=True)
    if view.issues:
        console.print()
        for line in view.issues:
            style = "red" if line.startswith("error") else "yellow" if line.startswith("warning") else ""
            console.print(Padding(Text(one_line(line), style=style), (0, 0, 0, 2)))
    for line in view.footer:
        console.print(Padding(Text(one_line(line), style="dim"), (0, 0, 0, 2)))


def render_gate(view: GateView, *, width: int = PIPED_WIDTH) -> str:
    """The view of a judgement as plain text."""
    buffer = io.StringIO()
    write_gate(view, console_for(buffer, width=width))
    return buffer.getvalue()


def write_gate(view: GateView, console: Console) -> None:
    """Print the view of a judgement."""
    console.print(_headline(view))
    if view.changes or view.rules or view.unjudged:
        console.print()
    if view.changes:
        _indented(view.changes, console)
    if view.rules:
        console.print(Padding(_fired(view.rules, console.width), (0, 0, 0, 2)))
    if view.unjudged:
        table = Table.grid(padding=(0, 2))
        table.add_column(overflow="fold", max_width=console.width // 3)
        table.add_column(overflow="fold", ratio=1)
        table.add_column(justify="right", no_wrap=True)
        for unsure in view.unjudged:
            cells = (unsure.label, unsure.text, unsure.code)
            table.add_row(*(Text(one_line(cell)) for cell in cells))
        console.print(Padding(table, (0, 0, 0, 2)))
    for note in view.notes:
        _indented(note, console)
    for issue in view.issues:
        _indented(issue, console)
    for line in view.footer:
        _indented(line, console, style="dim")


def _indented(text: str, console: Console, *, style: str = "") -> None:
    console.print(Padding(Text(one_line(text), style=style), (0, 0, 0, 2)))


def _fired(rules: Sequence[RuleLine], width: int) -> Table:
    """A line for each rule with its kernels, and below it what it says; one line where all of it fits."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    room = width - 2 - 3 - max(len(rule.code) for rule in rules) - 2
    titles = min(max(len(rule.title) for rule in rules), room // 2)
    counts = max(len(rule.count) for rule in rules)
    for rule in rules:
        mark, style = MARKS[rule.level]
        words = [f"{rule.title:<{titles}}", f"{rule.count:<{counts}}" if counts else "", rule.example]
        head = "   ".join(word for word in words if word)
        first, *rest = rule.details
        joined = f"{head}   {first}"
        lines = [joined, *rest] if len(joined) <= room else [head.rstrip(), *rule.details]
        lines += [rule.more] if rule.more else []
        text = "\n".join(part for line in map(one_line, lines) for part in _broken(line, room))
        table.add_row(Text(mark, style=style), Text(one_line(rule.code)), Text(text))
    return table


def _broken(line: str, room: int) -> Iterator[str]:
    """A line that is too long in lines, between its parts where that helps."""
    made = ""
    parts = [part.strip() for part in line.split("   ")] if len(line) > room else [line]
    for part in filter(None, parts):
        if made and len(made) + 3 + len(part) > room:
            yield made
            made = part
        else:
            made = f"{made}   {part}" if made else part
    yield made


def write_explained(view: ExplainView, console: Console) -> None:
    """Print what decided."""
    console.print(Text(one_line(view.title), style="bold"))
    for paragraph in view.paragraphs:
        _indented(paragraph, console)
    for listed in view.tables:
        console.print()
        if listed.heading:
            _indented(listed.heading, console, style="bold")
        grid(listed.rows, console, header=listed.header, indent=2)
        if listed.more:
            _indented(f"and {listed.more:,} more: --all shows them", console, style="dim")
    console.print()
    for line in view.footer:
        _indented(line, console, style="dim")


def _headline(view: View | GateView) -> Table:
    table = Table.grid(expand=True, padding=(0, 2))
    table.add_column(overflow="fold", ratio=1)
    table.add_column(justify="right", no_wrap=True)
    table.add_row(Text(one_line(view.subject), style="bold"), Text(view.verdict, style=TONES[view.tone]))
    return table


def _block(block: Block, console: Console) -> None:
    console.print()
    if block.title:
        console.print(Padding(Text(one_line(block.title), style="bold"), (0, 0, 0, 2)))
    console.print(Padding(Text(one_line(block.sentence)), (0, 0, 0, 2)))
    if block.rows:
        console.print()
        console.print(Padding(_rows(block, codes=any(row.codes for row in block.rows)), (0, 0, 0, 2)))
    if block.more:
        console.print(Padding(Text(f"and {block.more:,} more: --all shows them", style="dim"), (0, 0, 0, 2)))
    if block.stages:
        console.print()
        console.print(Padding(Text(one_line(block.stages), style="dim"), (0, 0, 0, 2)))


def _rows(block: Block, *, codes: bool) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    if codes:
        table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for row in block.rows:
        cells = [Text(row.effect, style=EFFECTS.get(row.effect, ""))]
        if codes:
            cells.append(Text(row.codes))
        place = f"   {row.place}" if row.place else ""
        table.add_row(*cells, Text(one_line(row.title)), Text(one_line(row.change + place)))
    return table


def grid(
    rows: Sequence[Sequence[str]], console: Console, *, header: Sequence[str] = (), indent: int = 0
) -> None:
    """Print a table of plain text: columns fold on a terminal, a pipe gets one line for each row."""
    if not console.is_terminal and "COLUMNS" not in os.environ:
        for line in _aligned([header, *rows] if header else rows):
            console.print(Text(" " * indent + one_line(line)), soft_wrap=True)
        return
    table = Table.grid(padding=(0, 2))
    for column in zip_longest(*([header] if header else []), *rows, fillvalue=""):
        # what is short is a number, a code or a word, and means nothing in two halves
        table.add_column(overflow="fold", no_wrap=max(map(len, column)) <= WHOLE)
    if header:
        table.add_row(*(Text(cell, style="bold") for cell in header))
    for row in rows:
        table.add_row(*(Text(one_line(cell)) for cell in row))
    console.print(Padding(table, (0, 0, 0, indent), expand=False))


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip()


class ProgressBar:
    """A progress bar on a terminal, nothing elsewhere; appears only where work is long."""

    def __init__(self, stream: TextIO, words: str) -> None:
        self._words = words
        self._console = Console(file=stream)
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._shown = stream.isatty()

    def __call__(self, done: int, total: int) -> None:
        """Take note that ``done`` of ``total`` are done."""
        if not self._shown or total < 50:
            return
        if self._progress is None:
            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                console=self._console,
                transient=True,
            )
            self._task = self._progress.add_task(self._words, total=total)
            self._progress.start()
        assert self._task is not None
        self._progress.update(self._task, completed=done, total=total)
        if done >= total:
            self.close()

    def close(self) -> None:
        """Remove the bar."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
            self._shown = False
