"""Pictures of results as files."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg

import nodewise as nw
from nodewise.classifiers import Gcn
from nodewise.evaluation.results.plots import new_figure, save_figure
from nodewise.ground.files import part_path
from tests.small_graphs import random_graph


def test_titles_stay_above_their_own_panels_and_inside_the_picture() -> None:
    """Long names of graphs, and a classifier told by all its settings, as two of one name are."""
    graphs = [replace(random_graph(), name=name) for name in ("a graph with a long name of many words", "g" * 80)]
    table = nw.compare(graphs, "random", classifiers=[Gcn(hidden=4), Gcn(hidden=5)], budgets=[2, 3], runs=1)
    for figure in (table.plot(), table.chosen(budget=2).plot()):
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        boxes = [axes.title.get_window_extent() for axes in figure.axes if axes.get_title()]
        assert len(boxes) == 4
        for number, box in enumerate(boxes):
            assert box.x0 >= 0 and box.x1 <= figure.bbox.width and box.y0 >= 0 and box.y1 <= figure.bbox.height
            assert not any(box.overlaps(other) for other in boxes[:number])


def test_what_a_killed_process_left_of_a_picture_is_removed_by_the_next(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    part = part_path(tmp_path / "curves.png")
    left = tmp_path / part.name.replace(f"-{os.getpid()}-", f"-{process.pid}-")
    left.write_bytes(b"half of a picture")
    save_figure(new_figure(1, 1), tmp_path / "curves.png")
    assert [path.name for path in tmp_path.iterdir()] == ["curves.png"]
