import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from nodewise.graph.knn import distances, neighbours
from nodewise.graph.knn.neighbours import nearest_neighbours
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
    monkeypatch.setattr(distances, "_WORTH_TORCH", 0)
    monkeypatch.setattr(distances, "_as_dense", lambda x: True)
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
    monkeypatch.setattr(distances, "_WORTH_TORCH", 0 if torch_s else 2**60)
    monkeypatch.setattr(distances, "_as_dense", lambda x: True)
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
