"""The numbers that the paper prints, with their places: its tables and its text. Nothing is read off a figure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from nodewise.ground.errors import UnknownNameError

__all__ = [
    "DatasetRow",
    "PaperTable",
    "Statement",
    "dataset_rows",
    "paper_statement",
    "paper_statements",
    "paper_table",
    "paper_tables",
]

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class PaperTable:
    """A table of scores.

    Attributes:
        place: where the paper prints it.
        sources: the graphs that the policy was trained on.
        scores: by the method's name in the paper, then by graph, then by metric: percent.
    """

    id: str
    number: int
    place: str
    about: str
    sources: tuple[str, ...]
    scores: dict[str, dict[str, dict[str, float]]]

    def score(self, method: str | None, graph: str, metric: str = "micro_f1") -> float | None:
        """What it prints for a method on a graph; None where it prints nothing."""
        return self.scores.get(method or "", {}).get(graph, {}).get(metric)


@dataclass(frozen=True)
class DatasetRow:
    """A row of the table of graphs; Reddit's nodes and edges are means over its five graphs."""

    graph: str
    nodes: float
    edges: float
    features: int
    classes: int
    budget: int


@dataclass(frozen=True)
class Statement:
    """A number in the text."""

    id: str
    place: str
    what: str
    value: Any


@cache
def paper_tables() -> dict[str, PaperTable]:
    """Every table of scores by its name."""
    tables = _read("tables.json")["tables"]
    return {one["id"]: PaperTable(**{**one, "sources": tuple(one["sources"])}) for one in tables}


def paper_table(name: str) -> PaperTable:
    """The table of that name.

    Raises:
        UnknownNameError: there is none.
    """
    if name not in paper_tables():
        raise UnknownNameError("table of the paper", name, paper_tables())
    return paper_tables()[name]


@cache
def dataset_rows() -> tuple[DatasetRow, ...]:
    """The table of graphs, table 5 in appendix B."""
    return tuple(DatasetRow(**row) for row in _read("tables.json")["datasets"]["rows"])


@cache
def paper_statements() -> dict[str, Statement]:
    """Every number of the text by its name."""
    return {one["id"]: Statement(**one) for one in _read("text.json")["statements"]}


def paper_statement(name: str) -> Any:
    """The value of the statement of that name.

    Raises:
        UnknownNameError: there is none.
    """
    if name not in paper_statements():
        raise UnknownNameError("statement of the paper", name, paper_statements())
    return paper_statements()[name].value


def _read(name: str) -> Any:
    return json.loads((FOLDER / name).read_text(encoding="utf-8"))
