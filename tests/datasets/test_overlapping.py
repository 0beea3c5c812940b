"""The generated graph whose nodes may have several classes."""

from __future__ import annotations

import nodewise as nw
from nodewise.datasets import dataset_info, overlapping_graph


def test_the_data_set_is_as_its_record_says() -> None:
    graph, info = nw.load_graph("overlapping"), dataset_info("overlapping")
    assert (graph.num_nodes, graph.num_edges, graph.num_features, graph.num_classes) == (
        info.nodes,
        info.edges,
        info.features,
        info.classes,
    )
    assert graph.y_sets is not None
    held = graph.y_sets.sum(1)
    assert set(held.tolist()) == {0, 1, 2} and graph.labelled.all()
    assert graph.homophily is not None and graph.homophily > 0.8


def test_a_seed_gives_the_same_graph_and_another_one_another() -> None:
    assert overlapping_graph(60, 3).equals(overlapping_graph(60, 3))
    assert not overlapping_graph(60, 3).equals(overlapping_graph(60, 3, seed=1))
    assert overlapping_graph(60, 3, features=0).x is None
