"""How far our scores are from the paper's: every printed cell that can be compared, Micro and Macro, counted once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nodewise.evaluation.results.tables import Entry, ResultTable

__all__ = ["Cell", "agreement_table", "compared_cells", "far_table", "lead_counts"]

Record = Mapping[str, Any]
NEAR = 2.0
"""Points within which a score counts as the paper's."""

_METRICS = {"micro_f1": "Micro-F1", "macro_f1": "Macro-F1"}


@dataclass(frozen=True)
class Cell:
    """A number that the paper prints, and ours."""

    experiment: str
    graph: str
    method: str
    metric: str
    ours: float
    width: float | None
    paper: float

    @property
    def difference(self) -> float:
        """Ours minus the paper's, in points."""
        return self.ours - self.paper

    @property
    def near(self) -> bool:
        """Whether it lies within two points."""
        return abs(self.difference) <= NEAR


def compared_cells(records: Sequence[Record]) -> list[Cell]:
    """Every cell that the paper prints for graphs which we have with the paper's features, once.

    Where two of our rows stand beside one of the paper's (AGE with fixed weights, the authors' policy) the first
    counts. A number that the paper prints for a graph in two tables counts once, where it stands first: how many cells
    there are follows from the paper alone. Graphs with structural features are left out: there is nothing to compare.
    """
    cells: dict[tuple[object, ...], Cell] = {}
    for cell in _all_cells(records):
        cells.setdefault((cell.graph, cell.metric, cell.paper), cell)
    return list(cells.values())


def _all_cells(records: Sequence[Record]) -> Iterator[Cell]:
    for record in records:
        for part in record.get("parts", []):
            for setting in part["settings"]:
                if setting["features"] == "structural":
                    continue
                taken: list[Record] = []
                for result in setting["results"]:
                    if not result["paper"] or any(result["paper"] == one for one in taken):
                        continue
                    taken.append(result["paper"])
                    for metric, printed in result["paper"].items():
                        score = result[metric]
                        yield Cell(
                            record["experiment"],
                            setting["graph"],
                            result["name"],
                            metric,
                            score["mean"],
                            score["ci95"],
                            printed,
                        )
        scores = (
            {result["name"]: result["micro_f1"] for result in record["parts"][0]["settings"][0]["results"]}
            if record.get("sequences")
            else {}
        )
        seen: set[float] = set()
        for one in record.get("sequences", []):  # the case study's are printed below its pictures
            printed = one["paper_micro_f1"]
            if printed is not None and printed not in seen:
                seen.add(printed)
                score = scores[one["name"]]
                graph = record["parts"][0]["settings"][0]["graph"]
                yield Cell(record["experiment"], graph, one["name"], "micro_f1", score["mean"], score["ci95"], printed)


def agreement_table(records: Sequence[Record]) -> ResultTable:
    """How many cells lie within one and two points of the paper's, by experiment and by method."""
    cells = compared_cells(records)
    rows: list[tuple[Entry | str | None, ...]] = [_row("all", cells)]
    for kind in ("experiment", "method"):
        for name in dict.fromkeys(getattr(cell, kind) for cell in cells):
            rows.append(_row(name, [cell for cell in cells if getattr(cell, kind) == name]))
    columns = (
        "",
        *(f"{name}: {what}" for name in _METRICS.values() for what in ("cells", "within 1", "within 2", "farthest")),
    )
    return ResultTable("", columns, tuple(rows))


def _row(name: str, cells: Sequence[Cell]) -> tuple[str, ...]:
    texts = []
    for metric in _METRICS:
        some = [cell for cell in cells if cell.metric == metric]
        farthest = max(some, key=lambda cell: abs(cell.difference), default=None)
        texts += [
            str(len(some)),
            str(sum(abs(cell.difference) <= 1 for cell in some)),
            str(sum(cell.near for cell in some)),
            "" if farthest is None else f"{farthest.difference:+.1f}",
        ]
    return (name, *texts)


def far_table(records: Sequence[Record]) -> ResultTable:
    """The cells that are farther than two points."""
    rows = [
        (
            cell.experiment,
            cell.graph,
            cell.method,
            _METRICS[cell.metric],
            f"{cell.ours:.2f}" + ("" if cell.width is None else f" ± {cell.width:.2f}"),
            f"{cell.paper:.2f}",
            f"{cell.difference:+.2f}",
        )
        for cell in compared_cells(records)
        if not cell.near
    ]
    return ResultTable(
        "", ("experiment", "graph", "method", "", "ours", "paper", "difference"), tuple(rows), text_columns=4
    )


def lead_counts(records: Sequence[Record]) -> ResultTable:
    """Where GPA and AGE are told apart.

    How often each is ahead, by experiment, by AGE's form, and by whether the features are the paper's.
    """
    counts: dict[tuple[str, str, str], list[int]] = {}
    for record in records:
        for part in record.get("parts", []):
            for setting in part["settings"]:
                for test in setting["leads"]:
                    if test["first"] == "GPA" and test["second"].startswith("AGE"):
                        features = "structural" if setting["features"] == "structural" else "own"
                        count = counts.setdefault((record["experiment"], features, test["second"]), [0, 0, 0])
                        sure = test["corrected_p"] is not None and test["corrected_p"] < 0.05
                        count[1 if not sure else 0 if test["difference"] > 0 else 2] += 1
    rows = [(*key, *map(str, count)) for key, count in counts.items()]
    return ResultTable(
        "", ("experiment", "features", "against", "GPA ahead", "neither", "AGE ahead"), tuple(rows), text_columns=3
    )
