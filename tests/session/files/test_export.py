"""Every form of the export, read back."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from nodewise.graph import read_graph
from nodewise.ground.errors import InputError
from nodewise.session import Session
from tests.session.jobs import small_job, unlabelled
from tests.small_graphs import block_graph


@pytest.fixture
def session(tmp_path: Path) -> Session:
    graph = replace(unlabelled(block_graph(60)), node_names=tuple(f'n"{i},\n=1+1' if i == 4 else f"n{i}" for i in range(60)))
    session = small_job(tmp_path / "job", graph=graph, audit=2)
    session.tell([4, 5, 6], ["a", "b", "neu, ü"])
    session.tell(5, "b", "ada")
    session.tell(session.rules().audit[0], "a")
    return session


def test_csv(session: Session, tmp_path: Path) -> None:
    session.export(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    prediction = session.predict()
    assert len(rows) == 60 and rows[4]["name"] == 'n"4,\n=1+1' and rows[4]["label"] == "a" and rows[4]["from"] == "told"
    assert rows[6]["label"] == "neu, ü" and rows[session.rules().audit[0]]["from"] == "audit"
    assert [row["predicted"] for row in rows] == prediction.names
    assert np.allclose([float(row["p_neu, ü"]) for row in rows], prediction.probabilities[:, 2], atol=1e-5)


def test_json(session: Session, tmp_path: Path) -> None:
    session.export(tmp_path / "out.json")
    record = json.loads((tmp_path / "out.json").read_text())
    assert record["schema"] == 1 and record["classes"] == ["a", "b", "neu, ü"] and len(record["predictions"]) == 60
    first = next(entry for entry in record["labels"] if entry["node"] == 5)
    assert first["votes"] == {"me": "b", "ada": "b"} and first["label"] == "b" and not first["audit"] and first["from"] == "told"


def test_npz_is_a_graph(session: Session, tmp_path: Path) -> None:
    session.export(tmp_path / "out.npz")
    graph = read_graph(tmp_path / "out.npz")
    assert graph.class_names == ("a", "b", "neu, ü") and graph.y is not None
    assert {int(n): graph.class_names[graph.y[n]] for n in np.flatnonzero(graph.y >= 0)} == session.labels
    assert np.array_equal(graph.extra["predicted"], session.predict().best) and graph.num_edges == session.graph.num_edges


@pytest.mark.parametrize("ending", ["npz", "pt"])
def test_a_class_that_somebody_tells_while_predictions_are_made_is_not_in_the_export(session: Session, tmp_path: Path, ending: str) -> None:
    made = session.predict()
    session.predict = lambda *_: made  # type: ignore[method-assign]  # as they were a moment ago
    with Session.open(session.path) as other:
        other.tell(7, "brand new", new_class=True)
    session.export(tmp_path / f"out.{ending}")
    if ending == "npz":
        y = read_graph(tmp_path / "out.npz").y
        assert y is not None and y[7] == -1 and y[4] >= 0
    else:
        y = torch.load(tmp_path / "out.pt", weights_only=True)["y"]
        assert y[7] == -1 and y[4] >= 0


def test_pt_is_plain_tensors_that_pytorch_geometric_takes(session: Session, tmp_path: Path) -> None:
    from torch_geometric.data import Data

    session.export(tmp_path / "out.pt")
    data = Data.from_dict(torch.load(tmp_path / "out.pt", weights_only=True))
    assert (
        data.num_nodes == 60
        and data.edge_index.shape[1] == 2 * session.graph.num_edges
        and not data.has_self_loops()
        and data.is_undirected()
    )
    assert data.train_mask.nonzero()[:, 0].tolist() == [4, 5, 6] and data.test_mask.nonzero()[:, 0].tolist() == [session.rules().audit[0]]
    assert data.y[5] == 1 and data.y[7] == -1 and torch.equal(data.predicted, torch.from_numpy(session.predict().best))


def test_pt_keeps_sparse_features_sparse_for_a_layer_that_takes_them(tmp_path: Path) -> None:
    from torch_geometric.data import Data
    from torch_geometric.nn import GCNConv

    x = sp.random(60, 500, 0.02, format="csr", dtype=np.float32, random_state=0)
    session = small_job(tmp_path / "job", graph=replace(unlabelled(block_graph(60)), x=x))
    session.tell([1, 2, 3], ["a", "b", "a"])
    session.export(tmp_path / "out.pt")
    data = Data.from_dict(torch.load(tmp_path / "out.pt", weights_only=True))
    assert data.x.is_sparse and data.num_node_features == 500 and (tmp_path / "out.pt").stat().st_size < 60 * 500 * 4 / 2
    assert np.array_equal(data.x.to_dense().numpy(), session.graph.dense_features())
    assert GCNConv(500, 4)(data.x, data.edge_index).shape == (60, 4)


def test_before_the_first_label_there_are_no_predictions(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job")
    assert session.export(tmp_path / "out.csv") == ["0 labels", "no predictions, since nothing trains them yet"]
    for wrong in ("out.xlsx", "none/out.csv"):
        with pytest.raises(InputError):
            session.export(tmp_path / wrong)
    named = small_job(tmp_path / "job.csv")
    with pytest.raises(InputError, match="the session itself"):
        named.export(tmp_path / "job.csv")
