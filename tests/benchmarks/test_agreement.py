"""How far scores are from the paper's: what is counted, and that it is counted once."""

from __future__ import annotations

from benchmarks.agreement import compared_cells, far_table, lead_counts
from tests.benchmarks.records import RECORDS, record, setting


def test_every_printed_cell_counts_once() -> None:
    again = record("again", setting("cora"))  # the same runs beside the same numbers, in another table
    other = record(
        "other", setting("cora", gpa=71.05)
    )  # other runs beside them, such as a GPU's: the paper's number is one all the same
    cells = compared_cells([RECORDS["one"], again, other])
    assert {(c.experiment, c.graph, c.method, c.metric) for c in cells} == {
        ("one", graph, method, metric)
        for graph in ("cora", "pubmed")
        for method in ("AGE", "GPA")
        for metric in ("micro_f1", "macro_f1")
    }
    assert [row[:4] for row in far_table([RECORDS["one"]]).rows] == [
        ("one", "cora", "AGE", "Macro-F1"),
        ("one", "pubmed", "AGE", "Macro-F1"),
    ]
    assert ("one", "own", "AGE", "1", "1", "0") in lead_counts([RECORDS["one"]]).rows
    assert ("one", "structural", "AGE", "0", "0", "1") in lead_counts([RECORDS["one"]]).rows
