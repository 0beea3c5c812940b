from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from nodewise.classifiers import Gcn
from nodewise.datasets import default_budget
from nodewise.environment import draw_splits
from nodewise.evaluation import GraphReference, Task
from nodewise.evaluation.engine import LocalEngine
from nodewise.evaluation.task import chunk_digest
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError
from nodewise.ground.events import Event, Progress
from nodewise.strategies import Age
from nodewise.training import search_age_budgets, search_age_weights
from nodewise.training.age_weights import weight_grid
from tests.small_graphs import block_graph, with_labels

SMALL = {
    "budget": 4,
    "runs": 5,
    "parts": 2,
    "device": "cpu",
    "basefs": (0.5, 0.95),
    "basef_runs": 4,
}  # 6 triples: 30 games; and 8


def test_the_grid() -> None:
    grid = weight_grid()
    assert len(set(grid)) == 66
    assert np.allclose(np.sum(grid, axis=1), 1) and np.min(grid) == 0
    assert set(weight_grid(2)) == {(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.5, 0.5, 0), (0.5, 0, 0.5), (0, 0.5, 0.5)}
    with pytest.raises(InputError, match="at least 1 part"):
        weight_grid(0)


def test_the_best_of_the_grid_by_mean_validation_score() -> None:
    events: list[Event] = []
    found = search_age_weights(block_graph(), **SMALL, reporter=events.append)
    assert found.grid == weight_grid(2) and len(found.scores) == 6
    assert found.weights == found.grid[int(np.argmax(found.scores))]
    assert 0 < min(found.scores) < max(found.scores) <= 100
    assert found.basefs == (0.5, 0.95) and found.basef == found.basefs[int(np.argmax(found.basef_scores))]
    told = [event for event in events if isinstance(event, Progress)]
    done = [event.done for event in told if event.total == 30]
    assert (
        done == sorted(done)
        and done[-1] == 30
        and len(done) == len(told) - 1 == 5
        and told[-1].done == told[-1].total == 8
    )
    assert search_age_weights(block_graph(), **SMALL) == found
    assert search_age_weights(block_graph(), **SMALL, seed=1).scores != found.scores
    assert json.loads(json.dumps(found.as_dict()))["weights"] == list(found.weights)


def test_a_grids_scores_are_those_of_age_with_these_parameters() -> None:
    graph = block_graph()
    found = search_age_weights(
        graph, **{**SMALL, "basefs": (0.8,), "runs": 1, "basef_runs": 2, "parts": 1}, features="raw"
    )
    engine = LocalEngine()
    reference, _ = engine.prepare(graph, GraphReference.of(graph), "cpu")
    task = Task(reference, Gcn(), Age(basef=[0.8, 0.8]), (4,), 0, 0, 2, score_on="validation")
    assert found.basef_scores == (round(float(engine.play_one(task)[4].micro_f1.mean()), 4),)


def test_several_budgets_are_searched_in_one_go() -> None:
    options = {key: value for key, value in SMALL.items() if key != "budget"}
    found = search_age_budgets(block_graph(), (6, 4), **options)
    assert list(found) == [4, 6] and [one.budget for one in found.values()] == [4, 6]
    assert found[4].scores != found[6].scores
    longest = search_age_weights(block_graph(), **{**SMALL, "budget": 6})
    assert (longest.scores, longest.basef_scores) == (found[6].scores, found[6].basef_scores)


def test_labels_of_test_nodes_are_never_read() -> None:
    graph = block_graph()
    one_run = {**SMALL, "runs": 1, "basef_runs": 1}
    test = draw_splits(GraphTensors(graph), 1, 0).test[0].numpy()
    assert graph.y is not None
    y = graph.y.copy()
    y[test] = (y[test] + 1) % 3
    assert search_age_weights(with_labels(graph, y), **one_run) == search_age_weights(graph, **one_run)


def test_a_killed_search_goes_on_with_nothing_done_twice(tmp_path: Path) -> None:
    class Killed(Exception):
        pass

    def kill(event: Event) -> None:
        raise Killed

    def kept() -> list[Path]:
        return sorted(tmp_path.rglob("*.json"))

    with pytest.raises(Killed):
        search_age_weights(block_graph(), **SMALL, store=tmp_path, reporter=kill)
    (first,) = kept()  # one batch
    written = first.stat().st_mtime_ns
    whole = search_age_weights(block_graph(), **SMALL)
    assert search_age_weights(block_graph(), **SMALL, store=tmp_path) == whole
    assert len(kept()) == 6 and first.stat().st_mtime_ns == written
    for path in kept():  # what the files hold is taken, not played again
        record = json.loads(path.read_text())
        record["micro_f1"] = [0.0] * len(record["micro_f1"])
        path.write_text(json.dumps({**record, "digest": chunk_digest(record)}))
    assert max(search_age_weights(block_graph(), **SMALL, store=tmp_path).scores) == 0
    first.write_text(first.read_text()[:100])  # torn
    assert max(search_age_weights(block_graph(), **SMALL, store=tmp_path).scores) > 0


def test_another_search_in_the_same_folder_is_played_for_itself(tmp_path: Path) -> None:
    search_age_weights(block_graph(), **{**SMALL, "runs": 1}, store=tmp_path)
    assert search_age_weights(block_graph(), **SMALL, seed=4, store=tmp_path) == search_age_weights(
        block_graph(), **SMALL, seed=4
    )


def test_a_name_stands_for_its_graph_and_the_default_budget_fits_the_pool() -> None:
    few = {"classifier": "views", "runs": 1, "parts": 1, "basefs": (0.9,), "basef_runs": 1, "device": "cpu"}
    assert search_age_weights("karate", **few).budget == default_budget("karate") == 9


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="the number of runs must be a whole number, at least 1, got 0"):
        search_age_weights(block_graph(), runs=0)
    with pytest.raises(InputError, match="needs a budget, a basef and a run"):
        search_age_weights(block_graph(), basefs=())
    with pytest.raises(InputError, match="has no labels"):
        search_age_weights(Graph.build(np.array([[0], [1]]), 2))


@pytest.mark.gpu
def test_a_search_on_a_gpu() -> None:
    found = search_age_weights(block_graph(), **{**SMALL, "device": "cuda"})
    assert len(found.scores) == 6 and 0 < min(found.scores) <= 100
