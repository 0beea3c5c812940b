import numpy as np
import pytest
import scipy.sparse as sp

from nodewise.graph.knn.distances import Distances


@pytest.fixture(params=[False, True], ids=["dense", "sparse"])
def table(request):
    x = np.random.default_rng(0).normal(size=(60, 200)).astype(np.float32)
    x[np.abs(x) < 1] = 0
    x[3] *= 1e4  # one row far out
    x[7] = 0
    return sp.csr_matrix(x) if request.param else x


def truth(x, metric):
    x = (x.toarray() if sp.issparse(x) else x).astype(np.float64)
    if metric == "euclidean":
        return ((x[:, None] - x[None]) ** 2).sum(axis=2)
    length = np.linalg.norm(x, axis=1)
    length[length == 0] = np.inf
    return -(x @ x.T) / np.outer(length, length)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_exact_distances(table, metric):
    row, other = np.divmod(np.arange(3600), 60)
    found = Distances(table, metric).exact(row, other).reshape(60, 60)
    np.testing.assert_allclose(found, truth(table, metric), rtol=1e-11, atol=1e-10)
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_scores_are_off_by_no_more_than_the_slack(table, metric):
    distances = Distances(table, metric)
    scores = np.vstack([distances.scores(start, start + 20) for start in (0, 20, 40)]).astype(np.float64)
    slack = distances.slack(0, 60)[:, None]
    real = -truth(table, metric)
    if metric == "euclidean":
        # -d²/2 of rows scaled so that the longest, centred if dense, is 1; a score lacks the part that is the same
        # along a row.
        x = (table.toarray() if sp.issparse(table) else table).astype(np.float64)
        scale = np.linalg.norm(x - (0 if sp.issparse(table) else x.mean(axis=0)), axis=1).max()
        real = real / scale**2 / 2
        real, scores = real - real[:, :1], scores - scores[:, :1]
        slack = 2 * slack
    assert (np.abs(scores - real) <= slack).all()
    assert (slack < 1e-3).all()


def test_equal_distances_are_equal_whatever_the_order_of_the_sum():
    rng = np.random.default_rng(1)
    values = rng.normal(size=300).astype(np.float32)
    x = np.stack([np.zeros(300, np.float32), *(rng.permutation(values) for _ in range(40))])
    found = Distances(x, "euclidean").exact(np.zeros(40, dtype=np.int64), np.arange(1, 41))
    assert len(set(found.tolist())) == 1


def test_only_rows_with_a_direction_have_a_cosine(table):
    rows = np.arange(60)
    assert np.flatnonzero(~Distances(table, "cosine").has_direction(rows)).tolist() == [7]
    assert Distances(table, "euclidean").has_direction(rows).all()
