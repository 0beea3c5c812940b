"""How similar rows are: by hand, whatever form features have, and bounded at many rows."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from nodewise.graph import Graph
from nodewise.studio.work.similar import SimilarRows

EDGES = np.array([[0, 1, 3], [1, 2, 4]])
FEATURES = np.array([[2, 0], [1, 1], [0, 3], [5, 0], [0, 0]], np.float32)


def by_hand() -> np.ndarray:
    """Likeness of all rows, written out: half of it is the cosine, half that of the means around."""
    unit = np.array([[1, 0], [0.5**0.5, 0.5**0.5], [0, 1], [1, 0], [0, 0]])
    around = np.array(
        [(unit[0] + unit[1]) / 2, unit[:3].mean(0), (unit[1] + unit[2]) / 2, unit[3:].mean(0), unit[3:].mean(0)]
    )
    return np.asarray((unit @ unit.T + around @ around.T) / 2)


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_likeness_is_the_mean_of_the_cosines_of_rows_and_of_what_lies_around_them(form: str) -> None:
    x = FEATURES if form == "dense" else sp.csr_matrix(FEATURES)
    rows = SimilarRows(Graph.build(EDGES, x=x))
    assert rows.by == "features"
    for node in range(5):
        np.testing.assert_allclose(rows.to(node), by_hand()[node], atol=1e-6)
    nodes, likeness = rows.nearest(0, np.ones(5, bool), 3)
    assert nodes == [3, 1, 2] and likeness == sorted(likeness, reverse=True)
    assert rows.nearest(0, np.array([1, 1, 1, 0, 1], bool), 1)[0] == [1], "one that is not allowed is left out"


@pytest.mark.parametrize("x", [None, np.zeros((5, 0), np.float32)], ids=["none", "no column"])
def test_without_features_rows_are_compared_by_their_neighbours(x: np.ndarray | None) -> None:
    rows = SimilarRows(Graph.build(EDGES, x=x))
    assert rows.by == "edges"
    # rows 0 and 1 share both of row 0's neighbours, itself counted: 2 / (√2 √3); rows 0 and 2 share row 1: 1 / 2
    np.testing.assert_allclose(rows.to(0), [1, 2 / 6**0.5, 1 / 2, 0, 0], atol=1e-6)
    assert rows.nearest(0, np.ones(5, bool), 10)[0] == [1, 2], "such as share nothing are left out"
    assert rows.nearest(3, np.ones(5, bool), 10)[0] == [4]


def test_a_graph_of_one_row_has_none() -> None:
    rows = SimilarRows(Graph.build(np.zeros((2, 0), int), x=np.ones((1, 2), np.float32)))
    assert rows.nearest(0, np.ones(1, bool), 20) == ([], [])


@pytest.mark.slow
def test_many_rows_are_compared_without_a_table_of_pairs() -> None:
    """200,000 rows: what is held beside the graph are a few vectors and one matrix of its edges."""
    import tracemalloc

    generator = np.random.default_rng(0)
    count = 200_000
    edges = generator.integers(0, count, (2, 5 * count))
    x = sp.random(count, 2_000, 0.005, "csr", np.float32, generator)
    graph = Graph.build(edges[:, edges[0] != edges[1]], x=x, num_nodes=count)
    rows = SimilarRows(graph)
    allowed = np.ones(count, bool)
    rows.nearest(0, allowed, 100)  # what is made once
    tracemalloc.start()
    nodes, _ = rows.nearest(7, allowed, 100)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(nodes) == 100 and 7 not in nodes
    assert peak < 40_000_000


@pytest.mark.parametrize("form", ["features", "edges"])
def test_a_row_with_all_others_around_it_copies_neither_features_nor_edges(form: str) -> None:
    """The features of 100,000 rows take 25 MB, and so do their edges with a number each."""
    import tracemalloc

    generator = np.random.default_rng(0)
    count = 100_000
    x = generator.random((count, 64), np.float32) if form == "features" else None
    star = np.stack([np.zeros(count - 1, int), np.arange(1, count)])
    more = generator.integers(1, count, (2, 10 * count if form == "edges" else 1))
    rows = SimilarRows(Graph.build(np.concatenate([star, more[:, more[0] != more[1]]], 1), x=x, num_nodes=count))
    rows.to(1)  # what is made once
    tracemalloc.start()
    alike = rows.to(0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (alike > 0).all() and peak < 12_000_000
