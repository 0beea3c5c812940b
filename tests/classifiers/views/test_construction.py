"""Views of a graph: the formulas against a plain computation, and nothing that depends on threads or blocks."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from nodewise.classifiers.views import construction
from nodewise.classifiers.views.construction import make_views
from nodewise.datasets import load_graph, synthetic_graph
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors


def graph(features: int = 20) -> Graph:
    return synthetic_graph(nodes=300, classes=3, mean_degree=6, features=features, degrees="powerlaw", seed=4)


def kernel(columns: np.ndarray) -> np.ndarray:
    return columns.astype(np.float64) @ columns.T.astype(np.float64)


def centred(z: np.ndarray) -> np.ndarray:
    z = z - z.mean(0)
    return z / np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1e-9)


def test_diffused_views_are_what_their_steps_give() -> None:
    one = graph()
    views = make_views(GraphTensors(one))
    x = np.asarray(one.x, dtype=np.float64)
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    loops = one.adjacency().astype(np.float64) + sp.eye(one.num_nodes)
    size = np.asarray(loops.sum(1)).ravel()
    symmetric, walk = sp.diags(size**-0.5) @ loops @ sp.diags(size**-0.5), sp.diags(1 / size) @ loops
    cases = {
        "near": (symmetric, 0.1, 10),
        "far": (symmetric, 0.05, 20),
        "farther": (symmetric, 0.02, 40),
        "farthest": (symmetric, 0.005, 100),
    }
    for name, (matrix, alpha, steps) in {**cases, "walk": (walk, 0.1, 10)}.items():
        z = x
        for _ in range(steps):
            z = (1 - alpha) * (matrix @ z) + alpha * x
        np.testing.assert_allclose(kernel(views.columns[:, views.names.index(name)].numpy()), kernel(centred(z)), atol=1e-4)
    mean = sp.diags(1 / np.maximum(one.degree, 1)) @ one.adjacency().astype(np.float64)
    layers = centred(np.concatenate([centred(x), centred(mean @ x), centred(mean @ (mean @ x))], 1))
    for name, expected in (("own", centred(x)), ("two hops", centred(mean @ (mean @ x))), ("layers", layers)):
        np.testing.assert_allclose(kernel(views.columns[:, views.names.index(name)].numpy()), kernel(expected), atol=1e-4)


def test_threads_and_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    tensors = GraphTensors(graph(features=90))
    alone = make_views(tensors)
    monkeypatch.setattr(construction, "_LARGE", 0)
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    np.testing.assert_array_equal(make_views(tensors).columns.numpy(), alone.columns.numpy())
    monkeypatch.setattr(construction, "_ROWS", 7)
    np.testing.assert_allclose(kernel(make_views(tensors).columns.flatten(1).numpy()), kernel(alone.columns.flatten(1).numpy()), atol=1e-4)


def test_which_views_there_are_and_that_the_graph_stays_as_it_is() -> None:
    one = graph()
    before = np.array(one.x)
    tensors = GraphTensors(one)
    events: list[object] = []
    views = make_views(tensors, events.append)
    assert views.names == ("spectrum", "role", "near", "far", "farther", "farthest", "walk", "two hops", "own", "layers")
    assert [event.done for event in events] == list(range(1, 11)) and {event.total for event in events} == {10}  # type: ignore[attr-defined]
    np.testing.assert_array_equal(one.x, before)
    np.testing.assert_array_equal(tensors.dense_x.numpy(), before)  # type: ignore[union-attr]
    assert make_views(GraphTensors(load_graph("karate"))).names == ("spectrum", "role")
    lonely = Graph.build(np.zeros((2, 0), dtype=np.int64), 5, x=np.eye(5, dtype=np.float32))
    assert make_views(GraphTensors(lonely)).names == ("own",)
    assert make_views(GraphTensors(Graph.build(np.zeros((2, 0), dtype=np.int64), 5))).names == ("nothing",)
