import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from nodewise.graph.knn import neighbours
from nodewise.graph.knn.neighbours import Distances, nearest_neighbours
from nodewise.ground.events import Progress


def by_hand(x, k, metric):
    """The definition, row by row: nearest first, ties onwards from the row itself."""
    x = np.asarray(x, dtype=np.float64)
    size, pairs = len(x), set()
    length = np.sqrt((x**2).sum(axis=1))
    for i in range(size):
        order = []
        for j in range(size):
            if metric == "cosine":
                cosine = round(float(x[i] @ x[j] / (length[i] * length[j])), 9) if length[i] and length[j] else 0.0
                distance = -cosine if cosine > 0 else np.inf
            else:
                distance = round(float(((x[i] - x[j]) ** 2).sum()), 9)
            if i != j and distance < np.inf:
                order.append((distance, (j - i) % size, j))
        pairs |= {(i, j) for _, _, j in sorted(order)[:k]}
    return pairs


def pairs(x, k, metric):
    found = nearest_neighbours(x, k, metric)
    assert found.dtype == np.int64
    listed = list(zip(*found.tolist(), strict=True))
    assert len(set(listed)) == len(listed)
    return set(listed)


tables = st.tuples(st.integers(2, 20), st.integers(1, 4)).flatmap(
    lambda shape: st.one_of(
        # Small whole numbers give equal rows, equal distances and rows of zeros; the others give none of these.
        arrays.arrays(np.float32, shape, elements=st.integers(-2, 2).map(float)),
        arrays.arrays(np.float32, shape, elements=st.integers(0, 1).map(float)),
        st.integers(0, 2**32 - 1).map(lambda seed: np.random.default_rng(seed).normal(size=shape).astype(np.float32)),
    )
)


@settings(deadline=None, max_examples=150)
@given(
    x=tables,
    k=st.integers(1, 19),
    metric=st.sampled_from(["cosine", "euclidean"]),
    sparse=st.booleans(),
    small=st.booleans(),
)
@pytest.mark.slow
def test_are_those_of_the_definition(x, k, metric, sparse, small):
    k = min(k, len(x) - 1)
    with pytest.MonkeyPatch.context() as patch:
        if small:  # many blocks, chunks and parts on a small table
            patch.setattr(neighbours, "_BLOCK", 7)
            patch.setattr(neighbours, "_CHUNK", 2)
            patch.setattr(neighbours, "_PAIRS", 16)
        assert pairs(sp.csr_matrix(x) if sparse else x, k, metric) == by_hand(x, k, metric)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_agree_with_scikit_learn_on_many_rows(metric):
    from sklearn.neighbors import NearestNeighbors

    x = np.random.default_rng(1).normal(size=(3000, 20)).astype(np.float32)
    theirs = (
        NearestNeighbors(n_neighbors=8, metric=metric, algorithm="brute")
        .fit(x.astype(np.float64))
        .kneighbors(return_distance=False)
    )
    assert pairs(x, 8, metric) == {(i, int(j)) for i, row in enumerate(theirs) for j in row}


def test_equal_rows_form_a_ring_and_not_a_star():
    x = np.ones((100, 3), dtype=np.float32)
    for metric in ("cosine", "euclidean"):
        assert pairs(x, 2, metric) == {(i, (i + step) % 100) for i in range(100) for step in (1, 2)}


def test_rounding_of_float32_does_not_decide():
    # One row far out: relative to it, the distances within the cluster are below what float32 products can tell apart.
    x = np.random.default_rng(2).normal(size=(60, 3)).astype(np.float32)
    x[0] = 1e6
    assert pairs(x, 4, "euclidean") == by_hand(x, 4, "euclidean")


def test_do_not_depend_on_the_scale():
    x = np.random.default_rng(3).normal(size=(50, 4)).astype(np.float32)
    for metric in ("cosine", "euclidean"):
        here = pairs(x, 5, metric)
        assert pairs(x * np.float32(2.0**60), 5, metric) == here
        assert pairs(x * np.float32(2.0**-60), 5, metric) == here


def test_rows_of_zeros_have_no_cosine_neighbours():
    x = np.array([[1, 0], [0, 0], [1, 1], [0, 0]], dtype=np.float32)
    assert pairs(x, 3, "cosine") == {(0, 2), (2, 0)}
    assert len(pairs(x, 3, "euclidean")) == 12


@pytest.mark.parametrize("threads", [1, 2, 64])
def test_progress_reaches_the_end(threads, monkeypatch):
    monkeypatch.setattr(neighbours, "cores", lambda: threads)  # how many rows a step has follows from it
    monkeypatch.setattr(neighbours, "_BLOCK", 200)
    events = []
    nearest_neighbours(np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32), 3, "cosine", events.append)
    done = [event.done for event in events]
    assert done == sorted(set(done)) and len(done) > 2 and done[-1] == 40
    assert all(isinstance(event, Progress) and event.total == 40 for event in events)


def test_threads_do_not_matter():
    from threadpoolctl import threadpool_limits

    x = np.random.default_rng(4).integers(0, 4, size=(1500, 30)).astype(np.float32)
    together = pairs(x, 5, "cosine")
    with threadpool_limits(1):
        assert pairs(x, 5, "cosine") == together


def test_either_product_of_sparse_rows_and_many_columns_find_the_same(monkeypatch):
    rows = sp.random(700, 80, 0.2, format="csr", dtype=np.float32, random_state=np.random.default_rng(4))
    there = pairs(rows.toarray(), 2, "cosine")  # 700 columns: their largest scores are looked at by sets
    assert pairs(rows, 2, "cosine") == there
    monkeypatch.setattr(neighbours, "_WORTH_TORCH", 0)
    monkeypatch.setattr(neighbours, "_as_dense", lambda x: True)
    assert pairs(rows, 2, "cosine") == there
    monkeypatch.setattr(neighbours, "_CHUNK", 700)  # all columns one by one
    assert pairs(rows, 2, "cosine") == there


@pytest.mark.parametrize("torch_s", [False, True])
@pytest.mark.parametrize(("density", "k"), [(0.2, 3), (0.02, 7), (0.004, 5)])
def test_every_pair_scored_once_gives_the_same(density, k, torch_s, monkeypatch):
    generator = np.random.default_rng(5)
    rows = sp.random(
        300, 90, density, format="csr", dtype=np.float32, random_state=generator
    )  # the sparsest share nothing with most others
    rows = rows[generator.integers(0, 280, 300)]  # some rows are there several times
    there = pairs(rows.toarray(), k, "cosine")
    monkeypatch.setattr(neighbours, "_WORTH_TORCH", 0 if torch_s else 2**60)
    monkeypatch.setattr(neighbours, "_as_dense", lambda x: True)
    monkeypatch.setattr(neighbours, "_MANY", 1)
    monkeypatch.setattr(neighbours, "_TOGETHER", 16)
    looked = []
    monkeypatch.setattr(neighbours._Together, "look", _told(neighbours._Together.look, looked))
    assert pairs(rows, k, "cosine") == there and len(looked) > 2
    signed = rows.copy()
    signed.data[::2] *= -1
    assert pairs(signed, k, "cosine") == pairs(signed.toarray(), k, "cosine")


def _told(method, calls):
    def told(*arguments):
        calls.append(arguments)
        return method(*arguments)

    return told


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
