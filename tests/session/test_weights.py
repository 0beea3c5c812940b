from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

import nodewise as nw


def test_a_session_keeps_its_graphs_weights_and_hands_them_on(tmp_path: Path) -> None:
    graph = nw.Graph.build([[0, 1, 2, 3, 0], [1, 2, 3, 4, 4]], 5, edge_weight=[1, 2, 3, 4, 5], name="five")
    with nw.Session.create(tmp_path / "job.nodewise", graph, budget=3, classes=["a", "b"]) as session:
        query = session.ask()
        assert any(f"it has {graph.degree[query.node]} neighbours" in reason for reason in query.why)
        session.tell(query.node, "a")
        session.export(tmp_path / "labels.npz")
        session.export(tmp_path / "labels.pt")
    with nw.Session.open(tmp_path / "job.nodewise") as session:
        assert session.graph.equals(graph)
    again = nw.load_graph(tmp_path / "labels.npz")
    assert again.edge_weight is not None
    assert again.edge_weight.tolist() == graph.edge_weight.tolist()
    tensors = torch.load(tmp_path / "labels.pt", weights_only=True)
    weights = np.zeros((5, 5))
    weights[tuple(tensors["edge_index"].numpy())] = tensors["edge_weight"].numpy()
    assert (weights == weights.T).all()
    assert weights[tuple(graph.edge_index)].tolist() == graph.edge_weight.tolist()
