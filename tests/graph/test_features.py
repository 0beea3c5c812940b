from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from nodewise.graph import Graph, features, preprocess
from nodewise.graph.features import gcn_features, prepared
from nodewise.graph.graph import PREPROCESSING, canonical_features
from nodewise.ground.errors import InputError, UnknownNameError

X = np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 0.0], [-1.0, 1.0, 2.0], [0.0, 0.0, 8.0]])
STORED = pytest.mark.parametrize("x", [X, sp.csr_matrix(X)], ids=["dense", "sparse"])


def graph(x: object, name: str = "graph") -> Graph:
    return Graph.build([[0, 1, 2], [1, 2, 3]], 4, x=x, name=name)


@STORED
@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("raw", X),
        ("unit", [[0.6, 0.8, 0], [0, 0, 0], np.array([-1, 1, 2]) / np.sqrt(6), [0, 0, 1]]),
        ("row", [[3 / 7, 4 / 7, 0], [0, 0, 0], [-0.25, 0.25, 0.5], [0, 0, 1]]),
        ("center", X - [0.5, 1.25, 2.5]),
        ("binary", [[1, 1, 0], [0, 0, 0], [1, 1, 1], [0, 0, 1]]),
        ("first2", X[:, :2]),
        ("first200", X),
        ("binary+first1+center", [[0.5], [-0.5], [0.5], [-0.5]]),
        ("center+first1", [[2.5], [-0.5], [-1.5], [-0.5]]),
        ("center+center", X - [0.5, 1.25, 2.5]),
        ("raw,row , Unit", [[0.6, 0.8, 0], [0, 0, 0], np.array([-1, 1, 2]) / np.sqrt(6), [0, 0, 1]]),
    ],
)
def test_steps_by_hand(x: object, spec: str, expected: object) -> None:
    found = preprocess(graph(x), spec).dense_features()
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, np.asarray(expected, dtype=np.float64), atol=1e-6)


def test_sparse_features_stay_sparse_and_centring_is_an_offset() -> None:
    for spec in ("unit", "row", "binary", "first2", "unit+center", "row+center"):
        found = preprocess(graph(sp.csr_matrix(X)), spec)
        assert sp.issparse(found.x), spec
        assert (found.x_offset is not None) == spec.endswith("center")


def test_a_step_after_centring_sees_centred_features() -> None:
    for step in ("unit", "row", "binary"):
        dense, sparse = (preprocess(graph(x), f"center+{step}").dense_features() for x in (X, sp.csr_matrix(X)))
        np.testing.assert_allclose(dense, sparse, atol=1e-6)


def test_a_step_after_centring_is_refused_where_it_would_take_too_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "DENSE_LIMIT", 40)
    with pytest.raises(
        InputError, match=r"would take .* GiB as a dense array.*put `center` last, such as unit\+center"
    ):
        preprocess(graph(sp.csr_matrix(X)), "center+unit")


@given(
    hnp.arrays(np.float32, (4, 3), elements=st.floats(-100, 100, width=32)),
    st.permutations(["unit", "row", "binary", "center", "first2"]),
)
@pytest.mark.slow
def test_storage_makes_no_difference(x: np.ndarray, steps: list[str]) -> None:
    spec = "+".join(steps[:3])
    dense, sparse = preprocess(graph(x), spec), preprocess(graph(sp.csr_matrix(x)), spec)
    np.testing.assert_allclose(dense.dense_features(), sparse.dense_features(), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cora", "raw"),
        ("citeseer", "row+center"),
        ("Pubmed", "row+center"),
        ("coauthor-cs", "binary"),
        ("coauthor-physics", "binary+first2000"),
        ("reddit1", "raw"),
        ("mine", "raw"),
    ],
)
def test_paper_means_what_the_paper_did_with_that_graph(name: str, expected: str) -> None:
    assert canonical_features("paper", name) == expected
    ours, theirs = preprocess(graph(X, name), "paper"), preprocess(graph(X), expected)
    assert np.array_equal(ours.dense_features(), theirs.dense_features())


def test_canonical_spelling() -> None:
    assert canonical_features(" Row , center") == "row+center"
    assert canonical_features("raw+unit") == "unit"
    assert canonical_features("paper+unit", "pubmed") == "row+center+unit"
    for known in PREPROCESSING:
        if known not in ("firstN", "paper"):
            assert canonical_features(known) == known


@pytest.mark.parametrize("spec", ["centre", "row+", "", "first", "first0", "firstN", "row center"])
def test_unknown_steps_are_refused(spec: str) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown feature preprocessing.*Join several with \+"):
        preprocess(graph(X), spec)


def test_misspelt_step_says_what_was_meant() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'center'"):
        canonical_features("centre")


def test_raw_is_the_same_graph_and_others_share_all_but_features() -> None:
    before = replace(graph(X), name="cora")
    assert preprocess(before, "raw") is before
    assert preprocess(before, "paper") is before
    after = preprocess(before, "unit")
    assert after.edge_index is before.edge_index
    assert not after.dense_features().flags.owndata or before.dense_features().tolist() == X.tolist()


def test_a_graph_without_features_gets_structural_ones() -> None:
    bare = graph(None)
    assert preprocess(bare, "raw").x is None
    assert preprocess(bare, "structural").num_features == preprocess(bare, "unit").num_features > 0
    np.testing.assert_allclose(np.linalg.norm(preprocess(bare, "unit").dense_features(), axis=1), 1, rtol=1e-6)
    assert preprocess(graph(X), "structural").num_features == preprocess(bare, "structural").num_features


def test_what_was_done_is_recorded_and_further_steps_are_appended() -> None:
    assert graph(X).features == preprocess(graph(X), "raw").features == "raw"
    assert preprocess(graph(X, "citeseer"), "paper").features == "row+center"
    assert preprocess(preprocess(graph(X), "row"), "Center , first2").features == "row+center+first2"
    assert preprocess(graph(None), "unit").features == "structural+unit"
    assert (
        preprocess(preprocess(graph(X), "row"), "structural+unit").features == "structural+unit"
    )  # nothing is left of the rows


def test_the_record_is_checked_and_goes_with_the_features() -> None:
    assert Graph.build([[0], [1]], x=np.ones((2, 1)), features="Row, center").features == "row+center"
    assert replace(preprocess(graph(X), "unit"), x=None).features == "raw"
    with pytest.raises(UnknownNameError, match="unknown feature preprocessing 'xyzzy'"):
        replace(graph(X), features="xyzzy")
    with pytest.raises(InputError, match="must be the name of a preprocessing.*received None"):
        replace(graph(X), features=None)


def test_features_nobody_asked_for_get_the_default_unless_they_were_preprocessed() -> None:
    assert prepared(graph(X), None, "unit").features == "unit"
    assert prepared(graph(X), None, "raw").features == "raw"
    done = preprocess(graph(X), "row")
    assert prepared(done, None, "unit") is done


def test_features_asked_for_are_made_once() -> None:
    assert prepared(graph(X, "pubmed"), "paper", "raw").features == "row+center"
    done = preprocess(graph(X), "row+center")
    for same in ("raw", "row,center", "Raw+row+center"):
        assert prepared(done, same, "unit") is done
    bare = preprocess(graph(None), "unit")
    assert prepared(bare, "unit", "raw") is prepared(bare, "structural+unit", "raw") is bare


def test_features_that_can_no_longer_be_made_are_refused() -> None:
    with pytest.raises(
        InputError,
        match=r"features of 'graph' were preprocessed already \(row\), so unit can no longer.*features='raw'",
    ):
        prepared(preprocess(graph(X), "row"), "unit", "raw")
    for done in ("raw", "row"):
        with pytest.raises(UnknownNameError, match="unknown feature preprocessing 'xyzzy'"):
            prepared(preprocess(graph(X), done), "xyzzy", "raw")


def test_the_default_of_a_gcn_is_the_papers_for_its_graphs_and_unit_elsewhere() -> None:
    assert [gcn_features(graph(X, name)) for name in ("cora", "Citeseer", "reddit5", "reddit-case-study", "mine")] == [
        *["paper"] * 4,
        "unit",
    ]
    assert gcn_features(graph(None)) == "raw"


def test_very_different_scales_are_noted() -> None:
    graph = Graph.build([[0], [1]], 3, x=[[0.5, 1995, 0], [0.1, 2024, 0], [0.9, 2001, 0]])
    assert graph.notes[-1].startswith(
        "the features have very different scales (column 1 goes up to 2024, column 0 up to 0.9)"
    )
    assert not preprocess(graph, "first1").notes[1:] and not any(
        "scales" in note for note in Graph.build([[0], [1]], 4, x=X).notes
    )
    scaled = Graph.build([[0], [1]], 3, x=[[0.5, 1995], [0.1, 2024], [0.9, 2001]], features="unit")
    assert scaled.notes == ()
