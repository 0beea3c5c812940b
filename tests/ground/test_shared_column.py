"""Very many classes, of which those without a label share their columns: the same numbers as with a column each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import nodewise as nw
from nodewise.classifiers.views import posterior
from nodewise.classifiers.views.views import ViewsLearner
from nodewise.ground import shared_column
from nodewise.ground.shared_column import SharedColumn
from nodewise.session import Session
from nodewise.testing.promises import small_graph

CLASSES = 600


def test_classes_that_differ_have_columns_of_their_own_and_two_stand_for_the_others() -> None:
    known = torch.zeros(CLASSES, dtype=torch.bool)
    known[[3, 500]] = True
    shared = SharedColumn.of(known)
    assert shared is not None
    assert shared.kept.tolist() == [3, 500, 0, 1] and shared.times.tolist() == [1, 1, 1, CLASSES - 3]
    assert shared.column[[3, 500, 0, 1, 2, 599]].tolist() == [0, 1, 2, 3, 3, 3]


def test_equal_columns_are_found_and_nothing_else_is_taken_for_equal() -> None:
    table = torch.zeros(70, CLASSES)
    table[:, 7] = torch.arange(70.0)
    found = SharedColumn.found_in(table)
    assert found is not None and found.kept.tolist() == [7, 0, 1]
    assert torch.equal(found.spread(found.narrow(table)), table)
    table[69, 20] = 1  # one number, in the last row
    found = SharedColumn.found_in(table)
    assert found is not None and found.kept.tolist() == [7, 20, 0, 1]
    assert SharedColumn.found_in(table[:, :100]) is None
    assert SharedColumn.found_in(torch.rand(70, CLASSES, generator=torch.Generator().manual_seed(1))) is None


def learned(path: Path, models: bool, trust: bool) -> list[np.ndarray]:
    """What a job with so many classes computes after some labels."""
    graph = small_graph()
    names = [f"class {number}" for number in range(CLASSES)]
    with Session.create(path, graph, budget=12, classes=names, trust=trust) as session:
        if models:
            session.suggest("rules", {node: f"class {node % 5}" for node in range(0, graph.num_nodes, 2)})
        results = []
        for _ in range(8):
            query = session.ask()
            results.append(np.array([query.node]))
            session.tell(query.node, f"class {int(graph.y[query.node]) * 99}")
        prediction = session.predict()
        query = session.ask()
        assert prediction.probabilities.shape[1] == CLASSES
        return [*results, np.array([query.node]), prediction.probabilities, np.array(list(query.features.values()))]


@pytest.mark.parametrize(("models", "trust"), [(False, False), (True, False), (False, True)])
def test_the_numbers_are_those_of_a_column_for_each_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, models: bool, trust: bool
) -> None:
    shared = learned(tmp_path / "shared.nodewise", models, trust)
    for module in (shared_column, posterior):
        monkeypatch.setattr(module, "MANY_CLASSES", 10**9)
    for with_shared, alone in zip(shared, learned(tmp_path / "alone.nodewise", models, trust), strict=True):
        np.testing.assert_allclose(with_shared, alone, atol=2e-4)


def test_a_fit_of_many_classes_holds_columns_of_the_labelled_ones_alone() -> None:
    graph = small_graph()
    fitted = nw.fit(graph, {0: "a", 1: "b", 2: "a"}, classes=[f"c{number}" for number in range(CLASSES)] + ["a", "b"])
    learner = fitted._learner
    assert isinstance(learner, ViewsLearner)
    assert learner.solution().coefficients.shape[-1] == 4 and learner.mean().shape[-1] == CLASSES + 2
    assert learner.solution().left_out.predictions.shape[-1] == CLASSES + 2
