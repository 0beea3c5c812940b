"""scikit-learn's estimators as classifiers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import nodewise as nw
from nodewise.classifiers import SklearnClassifier
from nodewise.classifiers.views.construction import make_views
from nodewise.classifiers.views.views import VIEWS_VERSION
from nodewise.classifiers.wrapped import estimator as wrapped
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError, UnknownNameError
from nodewise.ground.plugins import identity_of
from nodewise.testing import check_classifier


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "node_order"),
    [
        (LogisticRegression(), True),
        (RidgeClassifier(), True),  # it decides, and gives no probabilities
        (RandomForestClassifier(5), False),  # which rows a tree sees depends on where they stand
    ],
)
def test_estimators_keep_the_contract(estimator: Any, node_order: bool) -> None:
    check_classifier(SklearnClassifier(estimator), node_order=node_order)


def test_it_predicts_what_the_estimator_predicts_alone() -> None:
    graph = nw.load_graph("wine")
    tensors = GraphTensors(graph)
    classifier = SklearnClassifier(LogisticRegression(), view="near")
    assert classifier.name == "LogisticRegression (near)"  # as tables have it
    rows = classifier.prepare(tensors)
    learner = classifier.start(tensors, rows, 1, 3, 6)
    nodes = np.array([170, 3, 80, 5, 90, 160])
    learner.reset(0)
    learner.add(torch.from_numpy(nodes)[None], torch.from_numpy(graph.y[nodes].astype(np.int64))[None])
    alone = LogisticRegression().fit(rows[np.sort(nodes)], graph.y[np.sort(nodes)])
    np.testing.assert_allclose(learner.logits()[0].softmax(-1).numpy(), alone.predict_proba(rows), atol=1e-5)


@pytest.mark.slow
def test_views_are_chosen_by_name_and_a_graph_without_that_view_is_refused() -> None:
    tensors = GraphTensors(nw.load_graph("wine"))
    forest = RandomForestClassifier(3)
    own, all_views = (SklearnClassifier(forest, view=view).prepare(tensors).shape[1] for view in ("own", "views"))
    assert all_views > own and all_views % own == 0
    with pytest.raises(UnknownNameError, match="unknown view 'nearr': did you mean 'near'"):
        SklearnClassifier(forest, view="nearr")
    bare = GraphTensors(nw.load_graph("karate"))
    with pytest.raises(InputError, match="has no view 'near': it has spectrum, role"):
        SklearnClassifier(forest, view="near").prepare(bare)
    for view in make_views(bare).names:  # `spectrum far` among them, which no graph with features has
        assert len(SklearnClassifier(forest, view=view).prepare(bare)) == bare.num_nodes


def test_seeds_follow_from_the_run_in_a_pipelines_parts_too() -> None:
    classifier = SklearnClassifier(make_pipeline(StandardScaler(), DecisionTreeClassifier(max_features=1)))
    one, again = (nw.evaluate("wine", "random", classifier=classifier, budget=6, runs=3) for _ in range(2))
    assert one.micro_f1.tolist() == again.micro_f1.tolist()
    other = nw.evaluate("wine", "random", classifier=classifier, budget=6, runs=3, seed=1)
    assert one.micro_f1.tolist() != other.micro_f1.tolist()


def test_results_are_told_apart_by_settings_and_by_the_librarys_version() -> None:
    one, other = (identity_of(SklearnClassifier(RandomForestClassifier(trees))) for trees in (5, 6))
    assert one.settings != other.settings and one.storable
    assert one.code.startswith("version 1, scikit-learn ")


def test_results_on_views_are_told_apart_by_the_version_of_views(monkeypatch: pytest.MonkeyPatch) -> None:
    def codes() -> list[str]:
        kinds = ((RandomForestClassifier(), "features"), (RandomForestClassifier(), "near"), (Majority(), "views"))
        return [identity_of(SklearnClassifier(kind, view)).code for kind, view in kinds]

    now = codes()
    monkeypatch.setattr(wrapped, "VIEWS_VERSION", VIEWS_VERSION + 1)
    later = codes()
    assert [one == other for one, other in zip(now, later, strict=True)] == [True, False, False]
    digest = identity_of(SklearnClassifier(Majority())).code.rpartition(" ")[2]
    assert now[2] == f"version 1, views {VIEWS_VERSION}, {digest}", "somebody's own estimator still counts"


class Majority:
    """An estimator of somebody's own."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {}

    def set_params(self, **settings: Any) -> Majority:
        return self

    def fit(self, rows: Any, labels: Any) -> Majority:
        self.most = np.bincount(labels).argmax()
        return self

    def predict(self, rows: Any) -> Any:
        return np.full(len(rows), self.most)


def test_ones_own_estimator_is_told_by_its_code() -> None:
    classifier = SklearnClassifier(Majority(), name="majority")
    assert identity_of(classifier).storable and "scikit" not in identity_of(classifier).code
    assert nw.evaluate("wine", "random", classifier=classifier, budget=5, runs=2).classifier == "majority"


def test_what_is_no_estimator_is_refused() -> None:
    for wrong in (RandomForestClassifier, "forest"):
        with pytest.raises(InputError, match="is no estimator as scikit-learn has them: give an object"):
            SklearnClassifier(wrong)
    with pytest.raises(InputError, match="predicts numbers, and nodes have classes"):
        SklearnClassifier(LinearRegression())


def test_an_estimator_that_cannot_learn_from_so_few_labels_says_so() -> None:
    with pytest.raises(InputError, match=r"KNeighborsClassifier cannot learn from 3 labels of \d .*n_neighbors"):
        nw.evaluate("wine", "random", classifier=SklearnClassifier(KNeighborsClassifier(50)), budget=3, runs=1)


@pytest.mark.slow
def test_a_forest_compares_and_labels_in_a_session(tmp_path: Path) -> None:
    graph = nw.load_graph("wine")
    forest = SklearnClassifier(RandomForestClassifier(5))
    table = nw.compare(graph, ["random"], classifiers=["views", forest], budgets=[6], runs=2, store=tmp_path)
    assert {setting.classifier for setting in table.settings} == {"views", "RandomForestClassifier"}
    path = tmp_path / "job.nodewise"
    with nw.Session.create(path, graph, budget=6, classifier=forest, use_labels=False) as session:
        for node in (0, 70, 170, 3):
            session.tell(node, graph.class_names[graph.y[node]])
        before = session.predict()
    with nw.Session.open(path, classifier=SklearnClassifier(RandomForestClassifier(5))) as session:
        np.testing.assert_array_equal(session.predict().probabilities, before.probabilities)
    with (
        pytest.raises(nw.NodewiseError, match="give that one"),
        nw.Session.open(path, classifier=SklearnClassifier(RandomForestClassifier(6))) as session,
    ):
        session.predict()
