"""A table of results, written for the terminal, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["Entry", "ResultTable", "to_latex", "to_markdown", "to_rows"]

Mark = Literal["", "best", "near"]


@dataclass(frozen=True)
class Entry:
    """A cell.

    Attributes:
        text: what it says.
        mark: ``"best"`` of its column, or ``"near"``: not significantly worse than the best.
    """

    text: str
    mark: Mark = ""


@dataclass(frozen=True)
class ResultTable:
    """Columns, rows and what has to be said below them.

    Attributes:
        rows: texts, or entries where a cell has a mark; None is an empty cell.
        notes: sentences for below the table.
        text_columns: how many of the first columns are text; the rest are numbers, set flush right.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Entry | str | None, ...], ...]
    notes: tuple[str, ...] = ()
    text_columns: int = 1

    def __post_init__(self) -> None:
        assert all(len(row) == len(self.columns) for row in self.rows), "every row has a cell for each column"


def to_rows(table: ResultTable) -> list[tuple[str | None, ...]]:
    """Rows of plain text, as a terminal or a pipe shows them: ``*`` is the best, ``=`` is not significantly worse."""
    signs = {"": "", "best": " *", "near": " ="}
    return [
        tuple(None if cell is None else cell if isinstance(cell, str) else cell.text + signs[cell.mark] for cell in row)
        for row in table.rows
    ]


def to_markdown(table: ResultTable) -> str:
    """A Markdown table: the best in bold, what is not significantly worse in italics."""
    frames = {"": "{}", "best": "**{}**", "near": "*{}*"}
    lines = [f"**{table.title}**", ""] if table.title else []
    lines.append(_piped(table.columns))
    lines.append(_piped(["---" if i < table.text_columns else "---:" for i in range(len(table.columns))], escape=False))
    for row in table.rows:
        lines.append(
            _piped(
                [
                    frames[cell.mark].format(_bar(cell.text)) if isinstance(cell, Entry) else _bar(cell or "")
                    for cell in row
                ],
                escape=False,
            )
        )
    for note in table.notes:
        lines += ["", note]
    return "\n".join(lines) + "\n"


def to_latex(table: ResultTable) -> str:
    """A LaTeX table for the package booktabs: the best in bold, what is not significantly worse underlined."""
    frames = {"": "{}", "best": r"\textbf{{{}}}", "near": r"\underline{{{}}}"}
    body = [" & ".join(map(_tex, table.columns)) + r" \\", r"\midrule"]
    for row in table.rows:
        cells = [
            frames[cell.mark].format(_tex(cell.text)) if isinstance(cell, Entry) else _tex(cell or "") for cell in row
        ]
        body.append(" & ".join(cells) + r" \\")
    shape = "l" * table.text_columns + "r" * (len(table.columns) - table.text_columns)
    caption = _tex(" ".join(dict.fromkeys(_sentence(text) for text in (table.title, *table.notes) if text.strip())))
    lines = [
        r"\begin{table}",
        rf"\caption{{{caption}}}",
        r"\centering",
        rf"\begin{{tabular}}{{{shape}}}",
        r"\toprule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _sentence(text: str) -> str:
    """A text that begins with a capital letter and ends with one full stop."""
    whole = text.strip()
    return whole[:1].upper() + whole[1:] + ("" if whole.endswith((".", "!", "?", ":")) else ".")


def _piped(cells: Sequence[str], escape: bool = True) -> str:
    return "| " + " | ".join(_bar(cell) if escape else cell for cell in cells) + " |"


def _bar(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


_TEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "−": "$-$",
    "×": r"$\times$",
    "–": "--",
    "≤": r"$\leq$",
    "→": r"$\to$",
    "…": r"\ldots{}",
}


def _tex(text: str) -> str:
    return "".join(_TEX.get(letter, letter) for letter in text)
