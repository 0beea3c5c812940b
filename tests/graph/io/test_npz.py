from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

from nodewise.graph import Graph
from nodewise.graph.differences import differences
from nodewise.graph.io import npz
from nodewise.graph.io.npz import read_npz, write_npz
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import GraphError
from tests.graph.generated import ANYTHING, graphs


@given(graphs(ANYTHING))
def test_keeps_everything(tmp_path_factory: pytest.TempPathFactory, graph: Graph) -> None:
    path = tmp_path_factory.mktemp("npz") / "graph.npz"
    assert write_npz(graph, path) == []
    again = read_npz(path)
    assert differences(graph, again) == []
    assert sp.issparse(again.x) == sp.issparse(graph.x)


def test_reads_the_plain_form_that_other_programs_write(tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    np.savez(
        path,
        edge_index=np.array([[1, 2], [0, 1]], dtype=np.int32),
        y=np.array([5, 2, 5], dtype=np.int32),
        x_data=np.float32([1, 2]),
        x_indices=np.int32([0, 3]),
        x_indptr=np.int32([0, 1, 1, 2]),
        x_shape=np.array([3, 4]),
    )
    graph = read_npz(path)
    assert (graph.name, graph.edge_index.tolist(), graph.class_names) == ("mine", [[0, 1], [1, 2]], ("2", "5"))
    assert sp.issparse(graph.x)
    assert graph.dense_features().tolist() == [[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 2]]


def test_unknown_fields_survive(tmp_path: Path) -> None:
    extra = {
        "mask": np.array([True, False]),
        "file": np.array(["é", ""]),
        "allow_pickle": np.array(3),
        "attribute_9": np.zeros((2, 0)),
        "a/b": np.float64([np.nan]),
    }
    graph = Graph.build([[0], [1]], extra=extra)
    write_npz(graph, tmp_path / "a.npz")
    write_npz(read_npz(tmp_path / "a.npz"), tmp_path / "b.npz")
    again = read_npz(tmp_path / "b.npz")
    assert differences(graph, again) == []
    assert {key: value.dtype for key, value in again.extra.items()} == {
        key: value.dtype for key, value in extra.items()
    }


def test_same_graph_gives_the_same_bytes(tmp_path: Path) -> None:
    graph = Graph.build([[0], [1]], y=["a", "b"])
    write_npz(graph, tmp_path / "a.npz")
    write_npz(graph, tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_strings_are_unicode_arrays(tmp_path: Path) -> None:
    write_npz(Graph.build([[0], [1]], node_names=["ä", "b"], attributes={"title": ["one", ""]}), tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz", allow_pickle=False) as fields:
        assert fields["node_names"].tolist() == ["ä", "b"]
        assert fields["attribute_names"].tolist() == ["title"]
        assert fields["attribute_0"].dtype.kind == "U"


def test_one_long_text_does_not_widen_the_others(tmp_path: Path) -> None:
    texts = ["long " * 5000, *["short"] * 2000]
    write_npz(Graph.build([[0], [1]], attributes={"text": texts}), tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz", allow_pickle=False) as fields:
        assert fields["attribute_0"].nbytes < 100_000
        assert json.loads(fields["attribute_0"].tobytes()) == texts
    assert read_npz(tmp_path / "a.npz").attributes["text"].tolist() == texts


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"y": [0, 1]}, r"no field 'edge_index', only 'y': a graph holds edge_index \[2, edges\]"),
        ({"edge_index": [[0], [1]], "x_data": [1.0]}, "x_indices'?, '?x_indptr'?, '?x_shape'? missing"),
        ({"edge_index": [[0], [1]], "x": [[1.0], [1.0]], "x_data": [1.0]}, "both x and x_data"),
        (
            {"edge_index": [[0], [1]], "x_data": [1.0], "x_indices": [9], "x_indptr": [0, 1, 1], "x_shape": [2, 2]},
            "do not form a graph",
        ),
        (
            {"edge_index": [[0], [1]], "x_data": [1.0], "x_indices": [0], "x_indptr": [0, 1], "x_shape": [2, 2]},
            "do not form a graph",
        ),
        (
            {"edge_index": [[0], [1]], "x_data": [1.0], "x_indices": [0], "x_indptr": [0, 1, 1], "x_shape": [2]},
            "do not form a graph",
        ),
        ({"edge_index": [[0], [1]], "num_nodes": [1, 2]}, "do not form a graph"),
        ({"edge_index": [[0], [1]], "node_names": [["a"], ["b"]]}, "node_names must be a list of strings"),
        ({"edge_index": [[0], [1]], "attribute_names": ["title"]}, "no field attribute_0: add it"),
        ({"edge_index": [[0], [1]], "node_names": np.uint8([1, 2])}, "node_names is no list of strings in JSON"),
    ],
)
def test_fields_that_do_not_fit_are_refused(tmp_path: Path, fields: dict[str, Any], message: str) -> None:
    np.savez(tmp_path / "bad.npz", **fields)
    with pytest.raises(GraphError, match=message) as refused:
        read_npz(tmp_path / "bad.npz")
    assert "bad.npz" in str(refused.value)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        ({"y": np.ones(1)}, "'y' has a name that npz files of graphs use"),
        ({"bad": np.array([{}], dtype=object)}, "never pickled"),
    ],
)
def test_fields_that_cannot_be_written_are_refused(tmp_path: Path, extra: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        write_npz(Graph.build([[0], [1]], extra=extra), tmp_path / "a.npz")
    assert list(tmp_path.iterdir()) == []


def test_features_that_the_memory_has_no_room_for_stay_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = np.random.default_rng(0)
    graph = Graph.build([[0], [1]], 20_000, x=generator.standard_normal((20_000, 64), dtype=np.float32), y=[0] * 20_000)
    write_npz(graph, tmp_path / "graph.npz")  # 5 MB of such numbers are not compressed
    monkeypatch.setattr(npz, "_MAPPED_BYTES", 2**20)
    monkeypatch.setattr(npz, "free_memory", lambda: 2**20)
    mapped = read_npz(tmp_path / "graph.npz")
    assert isinstance(mapped.x.base, np.memmap) and mapped.equals(graph) and mapped.fingerprint == graph.fingerprint
    assert GraphTensors(mapped).dense_x.data_ptr() == mapped.x.ctypes.data
    monkeypatch.setattr(npz, "free_memory", lambda: 2**40)
    assert not isinstance(read_npz(tmp_path / "graph.npz").x.base, np.memmap)
    write_npz(
        replace(graph, x=np.zeros((20_000, 64), np.float32)), tmp_path / "zeros.npz"
    )  # compressed: it must be read
    monkeypatch.setattr(npz, "free_memory", lambda: 2**20)
    assert not isinstance(read_npz(tmp_path / "zeros.npz").x.base, np.memmap)
