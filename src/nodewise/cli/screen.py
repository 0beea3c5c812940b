"""Where a command writes: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nodewise.cli.reporting import printable
from nodewise.ground.events import Event, Reporter

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Cell", "Screen"]

Cell = str | int | float | None
"""What a table may hold; None is shown as a dash."""

_UNLIMITED = 100_000  # columns: a pipe has no edge to wrap at


@dataclass(frozen=True)
class Screen:
    """The two streams of one command, and how much it may say.

    Colours and boxes are for terminals; a pipe, a file or ``NO_COLOR`` gets plain text, one row a line.

    Attributes:
        quiet: results and errors only: no notes, no warnings, no progress.
        out: standard output, for what was asked for.
        err: standard error, for everything said about it.
    """

    quiet: bool
    out: Console
    err: Console

    @classmethod
    def open(cls, quiet: bool = False) -> Screen:
        """The screen on the process's own streams."""
        from rich.console import Console

        out = Console(markup=False, emoji=False, highlight=False)
        err = Console(stderr=True, markup=False, emoji=False, highlight=False)
        for console in (out, err):
            if not console.is_terminal:
                console.width = _UNLIMITED
        return cls(quiet, out, err)

    def line(self, text: str) -> None:
        """Writes one line of the result."""
        self.out.print(printable(text), soft_wrap=True)

    def json(self, value: object, to: Path | None = None) -> None:
        """Writes the result for a machine: one JSON document, ASCII, no colours; to standard output or, whole or not at
        all, to a file.
        """
        if to is None or str(to) == "-":
            self.text(json.dumps(value, indent=2) + "\n")
            return
        from nodewise.ground.files import write_json

        write_json(to, value)
        self.note(f"{to}: written")

    def text(self, text: str) -> None:
        """Writes a result that has its form already, such as a JSON document, as it is."""
        self.out.file.write(text)

    def note(self, text: str, style: str = "") -> None:
        """Tells the person something beside the result, unless quiet."""
        if not self.quiet:
            self.err.print(printable(text), style=style, soft_wrap=True)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Cell]], title: str = "") -> None:
        """Writes a table; a column of numbers is set flush right. Without any column names there is no heading.

        On a terminal that is too narrow for its words every row becomes a block, one line a column.
        """
        from rich import box
        from rich.measure import Measurement
        from rich.table import Table

        fancy = self.out.is_terminal
        table = Table(box=box.SIMPLE_HEAD if fancy else None, show_header=any(columns), pad_edge=fancy)
        if fancy and title:
            table.title, table.title_justify = title, "left"
        for position, name in enumerate(columns):
            cells = [row[position] for row in rows]
            numeric = bool(cells) and all(cell is None or isinstance(cell, (int, float)) for cell in cells)
            table.add_column(
                name, justify="right" if numeric else "left", overflow="fold", style="cyan" if position == 0 else ""
            )
        for row in rows:
            table.add_row(*map(_shown, row))
        if (
            fancy
            and len(columns) > 2
            and Measurement.get(self.out, self.out.options.update(width=_UNLIMITED), table).minimum > self.out.width
        ):
            table = Table(box=None, show_header=False, title=table.title, title_justify="left")
            table.add_column(style="cyan")
            table.add_column(overflow="fold")
            for row in rows:
                for name, cell in zip(columns, row, strict=True):
                    table.add_row(name, _shown(cell))
                table.add_row()
        with self.out.capture() as drawn:
            self.out.print(table)
        self.out.file.write("".join(f"{line.rstrip()}\n" for line in drawn.get().splitlines()))

    def report(self, event: Event, /) -> None:
        """A reporter for what has no progress to draw: notes and warnings as lines, nothing when quiet."""
        from nodewise.cli.reporting import LineReporter

        if not self.quiet:
            LineReporter(self.err)(event)

    @contextmanager
    def reporting(self) -> Iterator[Reporter]:
        """A reporter for the library's events: bars on a terminal, lines otherwise, nothing when quiet."""
        from nodewise.cli.reporting import BarReporter, LineReporter
        from nodewise.ground.events import Silent

        if self.quiet:
            yield Silent()
        elif self.err.is_terminal and not self.err.is_dumb_terminal:
            with BarReporter(self.err) as reporter:
                yield reporter
        else:
            yield LineReporter(self.err)


def _shown(cell: Cell) -> str:
    return "–" if cell is None else printable(str(cell))
