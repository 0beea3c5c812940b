"""Features in their leading directions: those of the singular value decomposition, by either way, whatever was drawn
first.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from nodewise.classifiers.views import reduction
from nodewise.classifiers.views.reduction import block_lanczos, reduced
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from tests.small_graphs import random_graph


@pytest.mark.parametrize("kind", ["sparse", "dense", "offset"])
@pytest.mark.parametrize(("nodes", "columns"), [(320, 400), (500, 300)])
def test_the_reduction_is_the_singular_value_decomposition_s(
    kind: str, nodes: int, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = random_graph(kind, nodes=nodes, columns=columns)  # type: ignore[arg-type]
    x = graph.dense_features().astype(np.float64)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    u, s, _ = np.linalg.svd(x, full_matrices=False)
    best = (u[:, :256] * s[:256] ** 2) @ u[:, :256].T  # the best product of rank 256
    exact = reduced(GraphTensors(graph))
    assert exact.shape == (nodes, 256)
    np.testing.assert_allclose(exact @ exact.T, best, atol=1e-5)
    monkeypatch.setattr(reduction, "_GRAM", 10)
    lanczos = reduced(GraphTensors(graph))
    np.testing.assert_allclose(lanczos @ lanczos.T, best, atol=1e-3)


def symmetric(values: np.ndarray, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A matrix with these eigenvalues, and its eigenvectors."""
    vectors = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))[0]
    return ((vectors * values) @ vectors.T).astype(np.float32), vectors


def test_eigenvectors_are_exact_to_the_tolerance_and_the_draw_does_not_matter() -> None:
    values = np.concatenate([[40.0, 12.0], np.linspace(6, 1, 598) ** 2 / 4])
    matrix, vectors = symmetric(values)
    spans = []
    for seed in range(3):
        found, columns = block_lanczos(lambda v: matrix @ v, 600, 40, 1e-3, seed)
        np.testing.assert_allclose(found, values[:40], rtol=1e-5)
        assert (np.linalg.norm(matrix @ columns - columns * found, axis=0) <= 1.1e-3 * found).all()
        np.testing.assert_allclose(columns.T @ columns, np.eye(40), atol=1e-5)
        spans.append(np.linalg.svd(columns.T @ vectors[:, :40])[1].min())
    assert min(spans) > 0.999


def test_few_columns_are_kept_at_a_time_and_the_result_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix, _ = symmetric(np.linspace(6, 0, 900) ** 2)
    widths: list[int] = []

    def product(v: np.ndarray) -> np.ndarray:
        widths.append(v.shape[1])
        return matrix @ v

    plain = block_lanczos(product, 900, 40, 1e-3)
    once = sum(widths)
    monkeypatch.setattr(reduction, "_MOST", 120)
    again = block_lanczos(product, 900, 40, 1e-3)
    assert once > 120 and sum(widths) - once > 120  # it had to begin anew
    np.testing.assert_allclose(plain[0], again[0], rtol=1e-4)
    assert np.linalg.svd(plain[1].T @ again[1])[1].min() > 0.99


def test_a_matrix_of_low_rank_and_one_of_equal_eigenvalues() -> None:
    low, vectors = symmetric(np.concatenate([np.arange(20.0, 0, -1), np.zeros(380)]))
    values, columns = block_lanczos(lambda v: low @ v, 400, 100, 1e-3)
    np.testing.assert_allclose(values[:20], np.arange(20.0, 0, -1), rtol=1e-4)
    assert np.abs(values[20:]).max() < 1e-3 and np.linalg.svd(columns[:, :20].T @ vectors[:, :20])[1].min() > 0.999
    values, columns = block_lanczos(lambda v: 2 * v, 400, 100, 1e-3)
    np.testing.assert_allclose(values, np.full(100, 2), rtol=1e-5)
    np.testing.assert_allclose(columns.T @ columns, np.eye(100), atol=1e-5)


def test_features_that_share_nothing_and_rows_without_any(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduction, "_GRAM", 10)
    x = sp.eye(400, 300, format="csr", dtype=np.float32)
    edges = np.stack([np.arange(399), np.arange(1, 400)])
    rows = reduced(GraphTensors(Graph.build(edges, 400, x=x)))
    assert np.isfinite(rows).all() and rows.shape == (400, 256) and not rows[300:].any()


def test_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reduction, "_GRAM", 10)
    graph = GraphTensors(random_graph("sparse", nodes=500, columns=300))
    before, several = torch.get_num_threads(), reduced(graph)
    try:
        torch.set_num_threads(before % 2 + 1)
        np.testing.assert_array_equal(reduced(graph), several)
    finally:
        torch.set_num_threads(before)
