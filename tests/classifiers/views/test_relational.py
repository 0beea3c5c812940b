"""Views made of relations: which there are, that they are bounded, and that they tell classes apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import nodewise as nw
from nodewise.classifiers import Committee, make_classifier, notes_on_graph
from nodewise.classifiers.views.construction import make_views, view_names
from nodewise.classifiers.views.views import Views
from nodewise.contracts import seen_by
from nodewise.graph import NodeType, Relation, RelationalGraph
from nodewise.graph.relations import direction_of
from nodewise.graph.tensors import GraphTensors


def circles(nodes: int = 120, features: bool = True, relations: int = 1) -> RelationalGraph:
    """Papers of three classes, each written by two of ten authors of its class."""
    draws = np.random.default_rng(0)
    y = np.arange(nodes) % 3
    x = (draws.standard_normal((nodes, 8)) + 0.3 * y[:, None]).astype(np.float32) if features else None
    types = [NodeType("paper", nodes, x), NodeType("author", 30), NodeType("town", 6)]
    found = []
    for number in range(relations):
        author = 10 * np.repeat(y, 2) + draws.integers(0, 10, 2 * nodes)
        found.append(Relation(f"by {number}", "paper", "author", np.stack([np.repeat(np.arange(nodes), 2), author])))
    found.append(Relation("lives in", "author", "town", np.stack([np.arange(30), np.arange(30) // 5])))
    return RelationalGraph(tuple(types), tuple(found), "paper", y=y, name="circles")


def test_each_view_is_named_after_its_relation() -> None:
    views = make_views(GraphTensors(circles().to_graph()))
    assert views.names == (
        "spectrum: by 0",
        "spectrum: by 0, lives in",
        "spectrum: all",
        "features: by 0",
        "features: by 0, lives in",
        "features: all",
        "own",
        "kin",
        "kin: features",
        "kin: spectrum",
        *(f"union: {name}" for name in view_names(True, True) if name != "kin together"),
        *(
            f"whole: {name}"
            for name in ("spectrum", "near", "far", "farther", "farthest", "walk", "two hops", "layers")
        ),
    )
    assert np.isfinite(views.columns.numpy()).all()


def test_the_number_of_views_is_bounded() -> None:
    counts = {len(view_names(True, True, circles(relations=many).to_graph().relations)) for many in (4, 7, 40)}
    assert counts == {14 + 12 + 8}


@pytest.mark.parametrize("features", [True, False])
def test_relations_tell_the_classes_apart(features: bool) -> None:
    result = nw.evaluate(circles(features=features), "random", runs=4, budget=15, seed=1)
    assert result.micro.mean > 90


def test_other_types_features_reach_the_labelled_type() -> None:
    whole = circles(features=False)
    x = np.eye(3, dtype=np.float32)[np.arange(30) // 10]
    types = tuple(NodeType("author", 30, x) if kind.name == "author" else kind for kind in whole.types)
    graph = RelationalGraph(types, whole.relations, "paper", y=whole.y).to_graph()
    views = make_views(GraphTensors(graph))
    assert "reached: by 0" in views.names
    assert "own" not in views.names
    reached = views.columns[:, views.names.index("reached: by 0")].numpy()
    same = graph.y[:, None] == graph.y[None, :]  # type: ignore[index]
    assert (reached @ reached.T)[same].min() > 0.9
    assert (reached @ reached.T)[~same].max() < 0.1


def test_direction_adds_views_and_tells_what_edges_alone_do_not() -> None:
    """Sources and sinks: without the direction every node looks alike."""
    draws = np.random.default_rng(1)
    edges = np.stack([draws.integers(0, 100, 800), draws.integers(100, 200, 800)])
    y = (np.arange(200) >= 100).astype(int)
    turn = draws.permutation(200)
    edges, y = turn[edges], y[np.argsort(turn)]
    directed = nw.Graph.build(edges, 200, y=y, relations=direction_of(edges, 200))
    names = make_views(GraphTensors(directed)).names
    assert names == ("spectrum", "role", "spectrum far", "spectrum: edges along", "spectrum: edges against")
    assert nw.evaluate(directed, "random", runs=4, budget=10).micro.mean > 95


def test_relations_without_an_edge_leave_the_features() -> None:
    whole = circles()
    bare = RelationalGraph(
        whole.types, (Relation("none", "paper", "author", np.zeros((2, 0), int)),), "paper", y=whole.y
    )
    assert make_views(GraphTensors(bare.to_graph())).names == ("own", "kin")


def test_a_classifier_that_cannot_tell_relations_apart_gets_the_union_and_it_is_said() -> None:
    graph = circles().to_graph()
    tensors = GraphTensors(graph)
    gcn = make_classifier("gcn")
    seen = seen_by(gcn, tensors)
    assert seen.relations is None and seen.weighted
    assert seen_by(Views(), tensors) is tensors
    assert seen.fingerprint == GraphTensors(replace(graph, relations=None)).fingerprint != tensors.fingerprint
    assert notes_on_graph(gcn, graph, "unit") == [
        "'circles' has relations: gcn cannot tell them apart, and is given the union of the paths as plain edges"
    ]
    assert notes_on_graph(Views(), graph, "unit") == []
    bare = seen_by(Committee([Views(), gcn]), tensors)
    assert bare.relations is None


def test_whole_views_do_not_depend_on_the_order_of_types() -> None:
    whole = circles()
    turned = RelationalGraph(whole.types[::-1], whole.relations, "paper", y=whole.y)
    one, other = (make_views(GraphTensors(each.to_graph())) for each in (whole, turned))
    for name in (name for name in one.names if name.startswith("whole:")):
        a, b = (views.columns[:, views.names.index(name)].double() for views in (one, other))
        assert (a @ a.T - b @ b.T).abs().max() < 1e-3, name
