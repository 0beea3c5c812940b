"""Graphs as the research commands take them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from nodewise.cli.loading import load_labelled
from nodewise.graph import Graph, write_graph
from nodewise.ground.errors import InputError, UnknownNameError
from nodewise.ground.events import Silent


def test_a_graph_is_loaded_as_it_is(tmp_path: Path) -> None:
    x = np.array([[1, 3], [2, 2], [0, 4]], dtype=np.float32)
    write_graph(Graph.build([[0, 1], [1, 2]], x=x, y=[0, 1, 1], name="citeseer"), tmp_path / "citeseer.npz")
    for features in (None, "paper", "raw", "row,unit"):
        loaded = load_labelled("citeseer", features, tmp_path, Silent())
        assert loaded.features == "raw" and np.array_equal(loaded.dense_features(), x)


def test_a_misspelt_preprocessing_is_told_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown feature preprocessing 'unti': did you mean 'unit'?"):
        load_labelled("nowhere", "unti", tmp_path, Silent())


def test_a_graph_without_labels_is_refused(tmp_path: Path) -> None:
    write_graph(Graph.build([[0, 1], [1, 2]], name="bare"), tmp_path / "bare.npz")
    with pytest.raises(InputError, match="'bare' has no labels: this command needs them to answer queries"):
        load_labelled("bare", None, tmp_path, Silent())
