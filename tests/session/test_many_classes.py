"""A job whose 60 classes come one by one: the views get further columns on the way."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from nodewise.classifiers.views.construction import LEADING, leading_columns
from nodewise.graph import Graph, knn_graph
from nodewise.session import Session
from nodewise.session.files.export import ExportFormat, Prediction, find_writer

CLASSES, ROWS = 60, 1500


@pytest.fixture(scope="module")
def rows() -> tuple[Graph, np.ndarray]:
    """Rows around 60 centres, each joined to its nearest, and their classes."""
    rng = np.random.default_rng(0)
    kind = np.arange(ROWS) % CLASSES
    x = 2 * rng.normal(size=(CLASSES, 32))[kind] + rng.normal(size=(ROWS, 32))
    x = x.astype(np.float32)
    return knn_graph(x, 10), kind


@pytest.mark.slow
def test_sixty_classes_that_come_one_by_one(rows: tuple[Graph, np.ndarray], tmp_path: Path) -> None:
    graph, kind = rows
    assert leading_columns(CLASSES) > LEADING  # the columns grow on the way
    session = Session.create(tmp_path / "job", graph, budget=200)
    order = np.random.default_rng(1).permutation(ROWS).tolist()
    first = [next(node for node in order if kind[node] == number) for number in range(CLASSES)]
    for node in first[:-1]:
        session.tell(node, f"class {kind[node]:02}")
        if len(session.labels) in (1, 20, 40):
            session.ask()
            session.skip(session.ask().node)
    before = session.predict()
    assert len(before.classes) == CLASSES - 1 and np.allclose(before.probabilities.sum(1), 1, atol=1e-4)
    others = np.setdiff1d(np.arange(ROWS), first)
    session.tell(first[-1], f"class {kind[first[-1]]:02}")
    whole = session.predict()
    right = [whole.names[node] == f"class {kind[node]:02}" for node in others]
    assert len(whole.classes) == CLASSES and np.mean(right) > 0.7  # by chance 0.02
    session.undo()
    again = session.predict()
    assert again.classes == before.classes and np.array_equal(again.probabilities, before.probabilities)
    session.tell(first[-1], f"class {kind[first[-1]]:02}")
    np.testing.assert_array_equal(session.predict().probabilities, whole.probabilities)
    learner = session.follow(session.refresh())
    expected = learner.batch(5, learner.environment.pool[0])
    session.close()
    with Session.open(tmp_path / "job") as reopened:
        learner = reopened.follow(reopened.refresh())
        assert learner.batch(5, learner.environment.pool[0]) == expected
        np.testing.assert_array_equal(reopened.predict().probabilities, whole.probabilities)
        assert "0 of 60 have them" in (reopened.stop_report().left_out_lack or "")


@pytest.mark.slow
@pytest.mark.parametrize("format", [None, "full"])
def test_an_export_takes_no_more_memory_with_more_classes_than_a_few_rows_do(
    tmp_path: Path, format: ExportFormat | None
) -> None:
    """400 rows of 2,000 classes are 8 MB of text: row by row none of it is kept."""
    names = tuple(f"class {number}" for number in range(2000))
    ring = list(range(400))
    table = np.random.default_rng(0).random((400, len(names)), dtype=np.float32)
    graph, path = Graph.build([ring, [*ring[1:], 0]]), tmp_path / "out.csv"
    with Session.create(tmp_path / "job", graph, classes=["a", "b"], strategy="random") as session:
        moment, write = session.moment(), find_writer(path, format)
        tracemalloc.start()
        write(moment, Prediction(names, table, 1), path)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert most < 3 * 2**20 < path.stat().st_size
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 401 and lines[1].split(",")[6] == f"{table[0, 0]:.6g}"


MEASURED = """
import re, sys
from pathlib import Path
import numpy as np
from nodewise.graph import knn_graph
from nodewise.session import Session

classes, rows = int(sys.argv[1]), int(sys.argv[2])
graph = knn_graph(np.random.default_rng(0).normal(size=(rows, 16)).astype(np.float32), 10)
names = [f"class {number}" for number in range(classes)]
with Session.create(Path(sys.argv[3]), graph, classes=names, budget=100) as session:
    session.tell(list(range(60)), [names[node % classes] for node in range(60)])
    query = session.ask()
    session.tell(query.node, names[query.node % classes])
    assert session.ask().predicted
print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""
"""Prints the most memory that two questions took, in kB."""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_questions_of_ten_thousand_classes_take_a_few_tables_of_memory(tmp_path: Path) -> None:
    """Beside what two classes take at most twelve tables of a number for each row and class."""
    rows, classes = 2000, 10_000

    def most(count: int) -> int:
        command = [sys.executable, "-c", MEASURED, str(count), str(rows), str(tmp_path / f"{count}.nodewise")]
        done = subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, check=False
        )
        assert done.returncode == 0, done.stderr
        return 1024 * int(done.stdout)

    assert most(classes) - most(2) < 12 * 4 * rows * classes
