from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from nodewise.environment import draw_splits
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError
from nodewise.ground.events import Event, Progress
from nodewise.training import search_age_weights
from nodewise.training.age_weights import weight_grid
from tests.small_graphs import block_graph, with_labels

SMALL = {"budget": 4, "runs": 5, "parts": 2, "device": "cpu"}  # 6 triples, 30 games


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
    done = [event.done for event in events if isinstance(event, Progress)]
    assert done == sorted(done) and done[-1] == 30 and len(done) > 1
    assert search_age_weights(block_graph(), **SMALL) == found
    assert search_age_weights(block_graph(), **SMALL, seed=1).scores != found.scores
    assert json.loads(json.dumps(found.as_dict()))["weights"] == list(found.weights)


def test_labels_of_test_nodes_are_never_read() -> None:
    graph = block_graph()
    one_run = {**SMALL, "runs": 1}
    test = draw_splits(GraphTensors(graph), 1, 0).test[0].numpy()
    assert graph.y is not None
    y = graph.y.copy()
    y[test] = (y[test] + 1) % 3
    assert search_age_weights(with_labels(graph, y), **one_run) == search_age_weights(graph, **one_run)


def test_a_killed_search_goes_on_with_nothing_done_twice(tmp_path: Path) -> None:
    path = tmp_path / "age.jsonl"

    class Killed(Exception):
        pass

    def kill(event: Event) -> None:
        raise Killed

    with pytest.raises(Killed):
        search_age_weights(block_graph(), **SMALL, progress=path, reporter=kill)
    lines = path.read_text().splitlines()
    assert len(lines) == 2  # the settings and one batch
    path.write_text("\n".join(lines) + '\n{"first": 6, "sco')  # torn by the kill
    whole = search_age_weights(block_graph(), **SMALL)
    assert search_age_weights(block_graph(), **SMALL, progress=path) == whole
    kept = [json.loads(line) for line in path.read_text().splitlines()]
    assert [record.get("first") for record in kept] == [None, 0, 6, 12, 18, 24]
    kept[1]["scores"] = [0.0] * 6  # what the file holds is taken, not played again
    path.write_text("".join(json.dumps(record) + "\n" for record in kept))
    assert max(search_age_weights(block_graph(), **SMALL, progress=path).scores) < max(whole.scores)


def test_progress_of_another_search_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "age.jsonl"
    search_age_weights(block_graph(), **{**SMALL, "runs": 1}, progress=path)
    with pytest.raises(InputError, match="other settings"):
        search_age_weights(block_graph(), **SMALL, progress=path)
    path.write_text("not JSON\n")
    with pytest.raises(InputError, match="does not hold a search's progress"):
        search_age_weights(block_graph(), **SMALL, progress=path)
    with pytest.raises(InputError, match="no folder"):
        search_age_weights(block_graph(), **SMALL, progress=tmp_path / "nowhere" / "age.jsonl")


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="runs must be at least 1"):
        search_age_weights(block_graph(), runs=0)
    with pytest.raises(InputError, match="has no labels"):
        search_age_weights(Graph.build(np.array([[0], [1]]), 2))


@pytest.mark.gpu
def test_a_search_on_a_gpu() -> None:
    found = search_age_weights(block_graph(), **{**SMALL, "device": "cuda"})
    assert len(found.scores) == 6 and 0 < min(found.scores) <= 100
