"""Graphs as the research commands take them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nodewise.cli.loading import load_for_command
from nodewise.graph import Graph, write_graph
from nodewise.ground.events import Silent


@pytest.mark.parametrize(
    ("given", "features", "recorded"),
    [("citeseer", None, "row+center"), ("citeseer", "raw", "raw"), ("mine", None, "raw"), ("mine", "row,unit", "row+unit")],
)
def test_what_was_done_to_the_features_is_recorded_as_it_was_done(given: str, features: str | None, recorded: str, tmp_path: Path) -> None:
    x = np.array([[1, 3], [2, 2], [0, 4]], dtype=np.float32)
    write_graph(Graph.build([[0, 1], [1, 2]], x=x, y=[0, 1, 1], name=given), tmp_path / f"{given}.npz")
    loaded = load_for_command(given, features, tmp_path, Silent())
    assert loaded.features == recorded
    assert np.allclose(loaded.graph.dense_features(), x) is (recorded == "raw")


def test_without_a_budget_it_is_five_a_class(tmp_path: Path) -> None:
    write_graph(Graph.build([[0, 1], [1, 2]], y=[0, 1, 2], name="mine"), tmp_path / "mine.npz")
    assert load_for_command("mine", None, tmp_path, Silent()).budget == 15
