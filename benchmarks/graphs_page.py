"""The page on graphs: which column names mean what, from the code that reads them; what weights are worth, as measured.

python -m benchmarks.graphs_page
"""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.marks import filled
from nodewise.graph.checks import MISSING
from nodewise.graph.tables import table

PAGE = Path(__file__).parents[1] / "docs" / "graphs.md"
WEIGHTS = Path(__file__).parent / "results" / "weights.json"
_MEANINGS = {
    "label": table.LABEL,
    "name of the node": table.ID,
    "title": table.TITLE,
    "text": table.TEXT,
    "link": table.LINK,
    "picture": table.PICTURE,
}


def columns_table() -> str:
    """Column names by what they mean, and the words of a label column that mean no label."""
    rows = [f"| {meaning} | {', '.join(names)} |" for meaning, names in _MEANINGS.items()]
    missing = ", ".join(f"`{word}`" for word in sorted(MISSING - {""}))
    rows.append(f"| weight of an edge, in a table of edges | {', '.join(table.WEIGHTS)} |")
    rows.append(f"| no label, as a cell of the label column | {missing}, or nothing |")
    return "\n".join(["| meaning | column names, in any case |", "| --- | --- |", *rows])


def weights_table() -> str:
    """Micro-F1 of each classifier with and without the weights of `sbm-weighted`."""
    record = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    head = f"Micro-F1 in percent, {record['runs']} runs, ± is the 95 % interval; chance is 33.3:"
    rows = [
        f"| {row['classifier']} | "
        + " | ".join(f"{row[form]['micro_f1']:.1f} ± {row[form]['ci95']:.1f}" for form in ("with", "without"))
        + " |"
        for row in record["rows"]
    ]
    return "\n".join([head, "", "| classifier | with weights | without |", "| --- | ---: | ---: |", *rows])


def page_text(text: str) -> str:
    """The page with its tables made anew."""
    return filled(filled(text, "columns", columns_table()), "weights", weights_table())


if __name__ == "__main__":
    PAGE.write_text(page_text(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
