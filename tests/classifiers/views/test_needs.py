"""What views will take is told before they are made, and a graph for which the memory is not there is refused with what would fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodewise.classifiers.views import needs
from nodewise.classifiers.views.needs import tell_needs, views_needs
from nodewise.datasets import synthetic_graph
from nodewise.evaluation import evaluate
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import free_memory
from nodewise.ground.errors import InputError
from nodewise.ground.events import Note
from nodewise.session import Session
from tests.small_graphs import block_graph


def test_needs_of_a_million_nodes_are_about_what_was_measured() -> None:
    million = views_needs(1_000_000, 10_000_000, 128)
    assert 4e9 < million.bytes < 8e9 and 60 < million.seconds < 900
    assert views_needs(2_000_000, 20_000_000, 128).bytes == 2 * million.bytes
    assert views_needs(50_000, 400_000, 10_000, 4_000_000).bytes > views_needs(50_000, 400_000, 256).bytes
    assert views_needs(1000, 5000, 0).bytes < views_needs(1000, 5000, 64).bytes


def test_the_memory_that_is_free_is_told_where_the_machine_tells_it() -> None:
    free = free_memory()
    assert free is None or 2**20 < free < 2**50


def test_long_work_is_told_and_short_work_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[object] = []
    graph = block_graph(60)
    tell_needs(graph, events.append)
    assert not events
    monkeypatch.setattr(needs, "_WORTH_TELLING", 0.0)
    tell_needs(graph, events.append)
    tell_needs(GraphTensors(graph), events.append)
    (one, other) = events
    assert isinstance(one, Note) and one == other and "views of 60 nodes" in one.message and "made once and kept" in one.message


def test_what_does_not_fit_is_refused_before_anything_is_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    graph = synthetic_graph(nodes=2500, features=16)
    monkeypatch.setattr(needs, "free_memory", lambda: 1_000_000)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(
        InputError, match=r"views of 2,500 nodes .* 1 MB are free here: .* label a part of the graph; about \d00 of its nodes would fit"
    ):
        evaluate(graph, runs=1, budget=5)
    with pytest.raises(InputError, match="would fit"):
        Session.create(tmp_path / "job", graph, budget=5)
    assert not (tmp_path / "job").exists()


def test_a_session_and_evaluate_tell_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(needs, "_WORTH_TELLING", 0.0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    graph = synthetic_graph(nodes=2100, features=8, mean_degree=4)
    told: list[object] = []
    Session.create(tmp_path / "job", graph, budget=5, reporter=told.append).close()
    evaluate(graph, strategy="random", runs=1, budget=5, reporter=told.append)
    said = [event.message for event in told if isinstance(event, Note) and "made once and kept" in event.message]
    assert len(said) == 2
    evaluate(graph, strategy="random", runs=1, budget=5, reporter=told.append)  # they are there now
    assert sum(isinstance(event, Note) and "made once and kept" in event.message for event in told) == 2
