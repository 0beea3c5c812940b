"""The page on graphs: which column names mean what, from the code that reads them.

python benchmarks/graphs_page.py
"""

from __future__ import annotations

import re
from pathlib import Path

from nodewise.graph.checks import MISSING
from nodewise.graph.tables import table

PAGE = Path(__file__).parents[1] / "docs" / "graphs.md"
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


def page_text(text: str) -> str:
    """The page with its table made anew."""
    begin, end = "<!-- columns:begin -->", "<!-- columns:end -->"
    return re.sub(f"{begin}.*?{end}", lambda _: f"{begin}\n{columns_table()}\n{end}", text, flags=re.DOTALL)


if __name__ == "__main__":
    PAGE.write_text(page_text(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
