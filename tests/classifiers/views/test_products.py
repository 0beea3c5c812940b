"""Sparse products in blocks: both ways to make them give the same up to rounding."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from nodewise.classifiers.views import products, relational
from nodewise.classifiers.views.construction import make_views
from nodewise.classifiers.views.products import (
    ROWS,
    GatheredProduct,
    SparseProduct,
    affine_product,
    gram_matrix,
    product_kind,
)
from nodewise.datasets import RelationSettings, relational_graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground import compute
from nodewise.ground.compute import one_thread


@pytest.mark.parametrize("width", [1, 7, 16, 65])
@pytest.mark.parametrize("rows", [3, 4096, 5000])
def test_a_gathered_product_is_scipys_up_to_rounding(rows: int, width: int) -> None:
    draws = np.random.default_rng(rows)
    ends = draws.integers(0, rows // 2 + 1, 2 * rows), draws.integers(0, 900, 2 * rows)  # the later rows hold nothing
    matrix = sp.csr_matrix((draws.random(2 * rows).astype(np.float32), ends), shape=(rows, 900))
    z = draws.standard_normal((900, width)).astype(np.float32)
    found = GatheredProduct(matrix)(z)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, matrix.astype(np.float64) @ z, atol=1e-4)
    some = np.arange(0, min(rows, 900), 2)
    part = GatheredProduct(matrix[:, :rows] if rows < 900 else matrix[:900]).part(some)
    assert type(part) is GatheredProduct


def test_a_large_relational_graph_has_the_views_of_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = [
        RelationSettings("written by", "paper", "author", 3.0, 0.8),
        RelationSettings("cites", "paper", "paper", 2.0, 0.7),
    ]
    features = {"paper": (8, 1.0), "author": (6, 1.0)}
    graph = relational_graph({"paper": 150, "author": 40}, kinds, 3, features=features, seed=3).to_graph()
    assert graph.relations is not None
    assert product_kind(relational.all_nodes(graph.relations)) is SparseProduct
    with monkeypatch.context() as smaller:
        smaller.setattr(products, "LARGE", 190)  # papers and authors together
        assert product_kind(relational.all_nodes(graph.relations)) is GatheredProduct
    slow = make_views(GraphTensors(graph))
    monkeypatch.setattr(relational, "product_kind", lambda nodes: GatheredProduct)
    monkeypatch.setattr("nodewise.classifiers.views.construction.product_kind", lambda nodes: GatheredProduct)
    fast = make_views(GraphTensors(graph))
    assert fast.names == slow.names
    for name, one, other in zip(slow.names, slow.columns.unbind(1), fast.columns.unbind(1), strict=True):
        np.testing.assert_allclose((one @ one.T).numpy(), (other @ other.T).numpy(), atol=5e-3, err_msg=name)


def test_a_gram_matrix_of_very_many_rows_is_exact_to_double_precision() -> None:
    draws = np.random.default_rng(2)
    one, other = (draws.standard_normal((ROWS + 77, columns), dtype=np.float32) for columns in (5, 3))
    exact, crossed = one.astype(np.float64), other.astype(np.float64)
    np.testing.assert_allclose(gram_matrix(one), exact.T @ exact, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(gram_matrix(one, other), exact.T @ crossed, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize(("rows", "columns", "results"), [(2708, 768, 7), (6000, 768, 3), (900, 32, 40), (300, 64, 2)])
def test_a_product_shared_out_among_cores_is_that_of_one(
    rows: int, columns: int, results: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    draws = torch.Generator().manual_seed(rows)
    table, factor = torch.randn(rows, columns, generator=draws), torch.randn(columns, results, generator=draws)
    base, found = torch.randn(results, generator=draws), []
    with one_thread():
        for threads in (1, 3):
            for module in (compute, products):
                monkeypatch.setattr(module, "cores", lambda threads=threads: threads)
            found.append(affine_product(table, factor, base))
        nothing = affine_product(table, torch.zeros_like(factor), base)
    torch.testing.assert_close(found[0], table @ factor + base, atol=1e-3, rtol=1e-4)
    assert torch.equal(found[0], found[1]) and found[0].stride() == found[1].stride() == nothing.stride()
    assert torch.equal(nothing, base.expand(rows, results))
