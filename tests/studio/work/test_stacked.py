"""Several tables as one: rows below each other, bounded together, nothing left beside the whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodewise.graph.tables.table import read_table
from nodewise.ground.errors import GraphError
from nodewise.studio.work import stacked
from nodewise.studio.work.stacked import stack_tables


def tables(folder: Path, *texts: str) -> list[tuple[Path, str]]:
    found = []
    for number, text in enumerate(texts):
        path = folder / f"given-{number}.csv"
        path.write_text(text)
        found.append((path, f"month {number}.csv"))
    return found


def test_rows_come_below_each_other_by_the_names_of_their_columns(tmp_path: Path) -> None:
    given = tables(tmp_path, "a,a,b\n1,2,3\n", "b,a,a\n6,4,5\n", "a,a,b\n")
    table = read_table(stack_tables(given, tmp_path / "whole.csv", header=True).path)
    assert table.columns == {"a": ["1", "4"], "a 2": ["2", "5"], "b": ["3", "6"]}
    assert {path.name for path in tmp_path.iterdir()} == {"whole.csv", *(path.name for path, _ in given)}
    with pytest.raises(GraphError, match="month 1.csv has the columns a, c, and month 0.csv has a, b"):
        stack_tables(tables(tmp_path, "a,b\n1,2\n", "a,c\n3,4\n"), tmp_path / "whole.csv", header=True)


def test_tables_that_grow_together_are_refused_before_all_are_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixty-four compressed ones, each in bounds, would fill a disk."""
    monkeypatch.setattr(stacked, "WRITTEN", 100)
    given = tables(tmp_path, *["a,b\n" + "some text,more text\n" * 3] * 3, "")
    with pytest.raises(GraphError, match="grow to more than 0 MB together"):
        stack_tables(given, tmp_path / "whole.csv", header=True)
    assert len(list(tmp_path.glob("whole-*.csv"))) == 1, "the last was never read, and those before it are gone"
