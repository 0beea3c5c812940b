"""`query(X, y)`: the same that a session with these labels asks, and refusals in sentences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import nodewise as nw
from nodewise.adapters import PoolQuery
from nodewise.ground.errors import GraphError, InputError

WINE = load_wine()
X = StandardScaler().fit_transform(WINE.data)


def partly(*rows: int) -> np.ndarray:
    y = np.full(len(X), np.nan)
    y[list(rows)] = WINE.target[list(rows)]
    return y


@pytest.mark.parametrize(("strategy", "classifier"), [(None, None), ("uncertainty", "gcn")])
def test_it_asks_what_a_session_with_these_labels_asks(
    tmp_path: Path, strategy: str | None, classifier: str | None
) -> None:
    y, allowed = partly(0, 70, 150), list(range(40, 170))
    graph = nw.knn_graph(X, 7, y=[None if np.isnan(label) else str(int(label)) for label in y])
    with nw.Session.create(
        tmp_path / "job",
        graph,
        budget=3,
        strategy=strategy,
        classifier=classifier,
        seed=4,
        candidates=allowed,
        use_labels=True,
    ) as session:
        asked = [query.node for query in session.ask(3)]
    adapter = PoolQuery(k=7, strategy=strategy, classifier=classifier, random_state=4)
    chosen = adapter.query(X, y, allowed, 3)
    assert chosen.tolist() == asked and chosen.dtype == np.int64
    assert adapter.query(X, y, allowed, 3).tolist() == asked, "nothing is remembered from call to call"


def test_a_loop_learns_and_asks_no_row_twice() -> None:
    adapter, y = PoolQuery(classes=[0, 1, 2]), partly()
    for _ in range(4):
        rows = adapter.query(X, y, batch_size=2)
        assert np.isnan(y[rows]).all() and len(set(rows)) == 2
        y[rows] = WINE.target[rows]
    assert set(y[~np.isnan(y)]) == {0, 1, 2}, "eight labels find all three classes"


def test_the_graph_is_made_once_for_each_table(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr(
        "nodewise.adapters.knn_graph", lambda *given, **more: made.append(1) or nw.knn_graph(*given, **more)
    )
    adapter = PoolQuery(strategy="random")
    adapter.query(X, partly(0))
    adapter.query(X.copy(), partly(0, 1))
    assert len(made) == 1
    adapter.query(sp.csr_matrix(np.maximum(X, 0)), partly(0))
    assert len(made) == 2


def test_texts_none_and_another_word_for_missing() -> None:
    names = [None] * len(X)
    names[3], names[100] = "red", "white"
    one = PoolQuery().query(X, names)
    two = PoolQuery(missing_label="?").query(X, ["?" if name is None else name for name in names])
    assert one.tolist() == two.tolist()


def test_refusals() -> None:
    with pytest.raises(InputError, match=r"y needs one label for each of the 178 rows of X, received \(3,\)"):
        PoolQuery().query(X, [0, 1, 2])
    with pytest.raises(
        InputError,
        match=(
            r"candidates must be indices of nodes, from 0 to 177, names, or a mask of True and False, received float64"
            r" of shape \[2, 13\]"
        ),
    ):
        PoolQuery().query(X, partly(), candidates=X[:2])
    with pytest.raises(InputError, match="candidates are 178 zeros and ones, one for each node"):
        PoolQuery().query(X, partly(), candidates=np.arange(178) % 2)
    for size in (0, 3, 1.5, True):
        with pytest.raises(
            InputError, match="batch_size must be a whole number from 1 to 2, the rows that can be asked, received"
        ):
            PoolQuery().query(X, partly(5), candidates=[4, 5, 6], batch_size=size)
    with pytest.raises(GraphError, match="finite"):
        PoolQuery().query(np.where(X > 2, np.nan, X), partly())
