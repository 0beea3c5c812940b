"""Mistakes in evaluating and comparing: what is played on what, numbers, devices, protocols."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import nodewise as nw
from nodewise.environment import EvaluationProtocol
from nodewise.ground.events import Note
from tests.mistakes.telling import GRAPH, KARATE, Mistake, World, is_refused, message


def test_a_misspelt_name_in_place_of_a_graph_says_which_was_meant() -> None:
    assert "unknown data set 'digit': did you mean 'digits'" in message(lambda: nw.evaluate("digit"))


@pytest.mark.parametrize(
    "thing", [np.zeros((4, 3)), torch.zeros(4, 3), None, 7, {"edges": []}], ids=lambda thing: type(thing).__name__
)
def test_what_is_no_graph_is_told_by_its_kind(thing: Any) -> None:
    for call in (lambda: nw.evaluate(thing), lambda: nw.compare([thing]), lambda: nw.train_policy([thing])):
        said = message(call)
        assert "a graph was expected" in said and type(thing).__name__ in said and "Graph" in said


def test_graphs_of_other_libraries_are_taken_and_those_without_labels_told() -> None:
    networkx = pytest.importorskip("networkx")
    expected = nw.evaluate(GRAPH, "random", budget=3, runs=2).micro_f1
    for thing in (GRAPH.to_pyg(), GRAPH.to_networkx()):
        assert np.array_equal(nw.evaluate(thing, "random", budget=3, runs=2).micro_f1, expected)
    path = networkx.path_graph(30)
    for call in (lambda: nw.evaluate(path), lambda: nw.compare(path), lambda: nw.train_policy([path])):
        assert "has no labels" in message(call)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"seed": None}, "the seed must be a whole number, at least 0, got None"),
        ({"seed": -1}, "the seed must be a whole number, at least 0, got -1"),
        ({"runs": 0}, "the number of runs must be a whole number, at least 1, got 0"),
        ({"runs": True}, "the number of runs must be a whole number, at least 1, got True"),
        ({"device": "gpu"}, "unknown device 'gpu': use auto, cpu, cuda or cuda:N"),
        ({"device": None}, "a device is named auto, cpu, cuda or cuda:N, got None"),
    ],
)
def test_numbers_and_devices_that_are_none(options: dict[str, Any], said: str) -> None:
    for call in (lambda: nw.evaluate(GRAPH, "random", **options), lambda: nw.compare(GRAPH, "random", **options)):
        assert said in message(call)


def test_half_a_budget() -> None:
    assert "the budget must be a whole number, at least 1, got 2.5" in message(
        lambda: nw.evaluate(GRAPH, "random", budget=2.5)
    )  # type: ignore[arg-type]
    assert "the budget must be a whole number, at least 1, got 2.5" in message(
        lambda: nw.compare(GRAPH, "random", budgets=2.5)
    )  # type: ignore[arg-type]
    assert "got '10,20'" in message(lambda: nw.compare(GRAPH, "random", budgets="10,20"))  # type: ignore[arg-type]


def test_a_device_of_torch_is_taken() -> None:
    assert nw.evaluate(GRAPH, "random", budget=2, runs=1, device=torch.device("cpu")).device == "cpu"


def test_one_name_in_place_of_a_list_is_that_one() -> None:
    assert nw.compare(GRAPH, "random", classifiers="gcn", budgets=2, runs=2).methods == ["random"]


@pytest.mark.parametrize("runs", [1, 2])
def test_few_runs_are_told_as_few(runs: int) -> None:
    """No interval, no test: a lead of two runs is not called significant."""
    table = nw.compare(GRAPH, ["random", "centrality"], budgets=3, runs=runs)
    shown = repr(table) + table._repr_html_() + repr(nw.evaluate(GRAPH, "random", budget=3, runs=runs))
    assert "nan" not in shown and "±" not in shown
    assert ("1 run," in shown) == (runs == 1) and "1 runs" not in shown
    (setting,) = table.settings
    assert not setting.near_best() and all(not test.significant() for test in setting.tests)


def test_an_unknown_strategy_or_classifier_says_which_are_there() -> None:
    assert "did you mean 'random'" in message(lambda: nw.evaluate(GRAPH, "randon"))
    assert "did you mean 'gcn'" in message(lambda: nw.evaluate(GRAPH, classifier="gcm"))
    assert "is no strategy" in message(lambda: nw.evaluate(GRAPH, 7))  # type: ignore[arg-type]


def test_a_picture_with_no_known_ending_is_refused_before_it_is_drawn(tmp_path: Path) -> None:
    table = nw.compare(GRAPH, "random", budgets=2, runs=1)
    assert "name a .png, .svg or .pdf file" in message(lambda: table.plot(tmp_path / "curves.bmp"))
    assert "in a folder that is there" in message(lambda: table.plot(tmp_path / "nowhere" / "curves.png"))


@pytest.mark.parametrize(
    ("classifier", "said"),
    [
        ("views", "'ring' has no features: views looks at its edges alone"),
        (
            "gcn",
            "'ring' has no features: gcn is given numbers made of its edges (degree, clustering, PageRank …) instead",
        ),
    ],
)
def test_a_graph_without_features_says_what_is_used_instead(classifier: str, said: str, tmp_path: Path) -> None:
    ring = nw.Graph.build([range(12), [*range(1, 12), 0]], y=["a", "b"] * 6, name="ring")
    events: list[object] = []
    nw.evaluate(ring, "random", classifier=classifier, budget=2, runs=2, reporter=events.append)
    assert [event for event in events if isinstance(event, Note)] == [Note(said)]
    events.clear()
    nw.compare(ring, ["random", "uncertainty"], classifiers=[classifier], budgets=[2], runs=2, reporter=events.append)
    assert [event for event in events if isinstance(event, Note)] == [Note(said)], "once a graph and classifier"
    events.clear()
    nw.Session.create(
        tmp_path / "job.nodewise", ring, budget=2, classifier=classifier, use_labels=False, reporter=events.append
    ).close()
    assert Note(said) in events
    events.clear()
    nw.evaluate("wine", "random", classifier=classifier, budget=3, runs=2, reporter=events.append)
    assert not [event for event in events if isinstance(event, Note)]


MISTAKES: list[Mistake] = [
    (
        "a strategy misspelt",
        lambda w: nw.evaluate(KARATE, "uncertanty"),
        ValueError,
        "unknown strategy 'uncertanty': did you mean 'uncertainty'? One of your",
    ),
    (
        "a strategy that is a number",
        lambda w: nw.evaluate(KARATE, 7),
        ValueError,
        "7 is no strategy: it needs a name, recordable, reads_budget, stateless",
    ),
    (
        "a classifier misspelt",
        lambda w: nw.evaluate(KARATE, classifier="view"),
        ValueError,
        "unknown classifier 'view': did you mean 'views'? One of your own is na",
    ),
    (
        "a setting of a classifier that there is not",
        lambda w: nw.evaluate(KARATE, "random", classifier="gcn", settings={"hiden": 3}),
        ValueError,
        "unknown setting of the classifier 'gcn' 'hiden': did you mean 'hidden'",
    ),
    (
        "no runs",
        lambda w: nw.evaluate(KARATE, "random", runs=0),
        ValueError,
        "the number of runs must be a whole number, at least 1, got 0",
    ),
    (
        "runs as a text",
        lambda w: nw.evaluate(KARATE, "random", runs="10"),
        TypeError,
        "the number of runs must be a whole number, at least 1, got '10'",
    ),
    (
        "half a budget",
        lambda w: nw.evaluate(KARATE, "random", budget=2.5),
        TypeError,
        "the budget must be a whole number, at least 1, got 2.5",
    ),
    (
        "a budget beyond the pool",
        lambda w: nw.evaluate(KARATE, "random", budget=1000, runs=1),
        ValueError,
        "a budget of 1000 queries is more than the pool's 18 nodes: lower the b",
    ),
    (
        "a seed below zero",
        lambda w: nw.evaluate(KARATE, "random", seed=-1),
        ValueError,
        "the seed must be a whole number, at least 0, got -1",
    ),
    (
        "a device misspelt",
        lambda w: nw.evaluate(KARATE, "random", device="gpu"),
        ValueError,
        "unknown device 'gpu': use auto, cpu, cuda or cuda:N",
    ),
    (
        "all nodes as test nodes",
        lambda w: nw.evaluate(KARATE, "random", budget=2, runs=1, test_nodes=list(range(34))),
        ValueError,
        "no node is left to ask: all that have a label are test or validation n",
    ),
    (
        "a test node that is not there",
        lambda w: nw.evaluate(KARATE, "random", budget=2, runs=1, test_nodes=[99]),
        ValueError,
        "test nodes: there is no node 99, the graph 'karate' has nodes 0 to 33",
    ),
    (
        "a graph without labels",
        lambda w: nw.evaluate(nw.Graph.build([[0], [1]], 2), "random"),
        ValueError,
        "graph 'graph' has no labels: a simulation needs them to answer queries",
    ),
    (
        "nothing to compare",
        lambda w: nw.compare(KARATE, []),
        ValueError,
        "give at least one strategy, and each only once, got none; two with oth",
    ),
    (
        "no graph to compare on",
        lambda w: nw.compare([], "random"),
        ValueError,
        "no graph was given to compare on: name at least one",
    ),
    (
        "a strategy twice",
        lambda w: nw.compare(KARATE, ["random", "random"]),
        ValueError,
        "give at least one strategy, and each only once, got random, random; tw",
    ),
    (
        "a budget that is a text",
        lambda w: nw.compare(KARATE, "random", budgets="10,20"),
        TypeError,
        "the budget must be a whole number, at least 1, got '10,20'",
    ),
    (
        "a number in place of a protocol",
        lambda w: nw.evaluate(KARATE, "random", protocol=3, budget=3, runs=1),
        TypeError,
        "a protocol was expected, received int: give an EvaluationProtocol(…)",
    ),
    (
        "noise that is a word",
        lambda w: EvaluationProtocol(noise="some"),
        ValueError,
        "noise must be numbers, received 'some': give a rate such as 0.1, a rat",
    ),
    (
        "a start with fewer labels than none",
        lambda w: EvaluationProtocol(start=-1),
        ValueError,
        "a round has at least one query and the start no fewer labels than none",
    ),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake[0])
def test_a_mistake_in_python_is_told(mistake: Mistake, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    is_refused(mistake, world, monkeypatch)
