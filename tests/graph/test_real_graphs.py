"""Every graph of the data folder, through every form and back."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from nodewise.graph import Graph, preprocess, read_graph, write_graph
from nodewise.graph.differences import differences

pytestmark = pytest.mark.slow

FOLDER = Path(os.environ.get("NODEWISE_DATA") or "/nonexistent")
FILES = sorted(file.stem for file in FOLDER.glob("*.npz"))
LIMIT = 100_000
"""Edges and nonzeros of the features from which a graph is written as text in the long tests alone."""


def _size(name: str) -> int:
    with np.load(FOLDER / f"{name}.npz", allow_pickle=False) as fields:
        edges = int(fields["edge_index"].shape[1])
        if "x_indptr" in fields:
            return edges + int(fields["x_indptr"][-1])
        return edges + (int(np.count_nonzero(fields["x"])) if "x" in fields else 0)


EVERY = FILES or [
    pytest.param("none", marks=pytest.mark.skip(reason="needs real graphs: set NODEWISE_DATA to their folder"))
]
TEXT = [pytest.param(name, marks=pytest.mark.long) if _size(name) >= LIMIT else name for name in FILES] or EVERY


@cache
def load(name: str) -> Graph:
    return read_graph(FOLDER / f"{name}.npz")


@pytest.mark.parametrize("name", EVERY)
def test_reading_keeps_what_the_file_holds(name: str) -> None:
    graph = load(name)
    with np.load(FOLDER / f"{name}.npz", allow_pickle=False) as fields:
        assert np.array_equal(graph.edge_index, fields["edge_index"])
        assert graph.y is not None
        if "class_names" in fields:
            assert list(graph.class_names) == fields["class_names"].tolist()
            assert np.array_equal(graph.y, fields["y"])
        else:
            assert [int(graph.class_names[label]) for label in graph.y] == fields["y"].tolist()
        if "x" in fields:
            assert isinstance(graph.x, np.ndarray)
            assert np.array_equal(graph.x, fields["x"])
        elif "x_data" in fields:
            assert isinstance(graph.x, sp.csr_matrix)
            given = sp.csr_matrix((fields["x_data"], fields["x_indices"], fields["x_indptr"]), shape=fields["x_shape"])
            assert (graph.x - given).count_nonzero() == 0
        else:
            assert graph.x is None
        known = {"edge_index", "y", "name", "class_names", "x", "x_data", "x_indices", "x_indptr", "x_shape"}
        assert set(graph.extra) == set(fields.files) - known


@pytest.mark.parametrize("name", EVERY)
def test_npz_keeps_everything(tmp_path: Path, name: str) -> None:
    assert write_graph(load(name), tmp_path / "a.npz") == []
    again = read_graph(tmp_path / "a.npz")
    assert differences(load(name), again) == []
    assert type(again.x) is type(load(name).x)


@pytest.mark.parametrize("form", ["a", "a.graphml"])
@pytest.mark.parametrize("name", TEXT)
def test_text_forms_keep_all_but_further_fields(tmp_path: Path, name: str, form: str) -> None:
    graph = load(name)
    assert bool(write_graph(graph, tmp_path / form)) == bool(graph.extra)
    again = read_graph(tmp_path / form)
    assert differences(replace(graph, extra={}), again) == []
    assert type(again.x) is type(graph.x)


@pytest.mark.parametrize("name", TEXT)
def test_edge_lists_keep_the_edges(tmp_path: Path, name: str) -> None:
    graph = load(name)
    assert write_graph(graph, tmp_path / "a.edges")
    again = read_graph(tmp_path / "a.edges")
    assert again.num_nodes == graph.num_nodes
    assert np.array_equal(again.edge_index, graph.edge_index)


@pytest.mark.parametrize("name", EVERY)
def test_pyg_and_networkx_keep_everything(name: str) -> None:
    graph = load(name)
    assert differences(graph, Graph.from_pyg(graph.to_pyg(sparse=True))) == []
    if (graph.x is None or np.prod(graph.x.shape) < 10_000_000) and graph.num_edges < 100_000:
        assert differences(replace(graph, extra={}), Graph.from_networkx(graph.to_networkx())) == []


@pytest.mark.parametrize(
    ("name", "nodes", "edges", "features", "classes", "homophily"),
    [
        ("cora", 2708, 5278, 1433, 7, 0.810),
        ("citeseer", 3327, 4552, 3703, 6, 0.736),
        ("pubmed", 19717, 44324, 500, 3, 0.802),
        ("coauthor-cs", 18333, 81894, 6805, 15, 0.808),
        ("coauthor-physics", 34493, 247962, 8415, 5, 0.931),
    ],
)
def test_counts_of_the_papers_graphs(
    data_folder: Path, name: str, nodes: int, edges: int, features: int, classes: int, homophily: float
) -> None:
    if not (data_folder / f"{name}.npz").exists():
        pytest.skip(f"needs {name}.npz in the folder that NODEWISE_DATA names")
    graph = load(name)
    assert (graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes) == (
        nodes,
        edges,
        features,
        classes,
    )
    assert graph.homophily is not None
    assert round(graph.homophily, 3) == homophily


@pytest.mark.parametrize("name", ["citeseer", "pubmed", "coauthor-cs", "coauthor-physics"])
def test_paper_features(data_folder: Path, name: str) -> None:
    if not (data_folder / f"{name}.npz").exists():
        pytest.skip(f"needs {name}.npz in the folder that NODEWISE_DATA names")
    graph = preprocess(load(name), "paper")
    assert isinstance(graph.x, sp.csr_matrix)
    if name.startswith("coauthor"):
        assert set(graph.x.data.tolist()) == {1.0}
        assert graph.num_features == (2000 if name.endswith("physics") else 6805)
    else:
        raw = load(name).dense_features().astype(np.float64)
        shares = raw / np.maximum(raw.sum(axis=1, keepdims=True), 1e-12)
        assert np.allclose(graph.dense_features(), shares - shares.mean(axis=0), atol=1e-6, rtol=1e-5)


def test_label_ids_with_gaps_become_names(data_folder: Path) -> None:
    if not (data_folder / "reddit1401-graphforvis.npz").exists():
        pytest.skip("needs reddit1401-graphforvis.npz in the folder that NODEWISE_DATA names")
    assert load("reddit1401-graphforvis").class_names == ("2", "3", "5", "7")
