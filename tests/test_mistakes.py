"""Mistakes that people make in Python: each is told in a sentence that says what is wrong, what was received and what
to do.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import nodewise as nw
from nodewise.classifiers import Gcn
from nodewise.contracts import Learner
from nodewise.ground.errors import InputError
from nodewise.ground.events import Note
from tests.small_graphs import random_graph

GRAPH = random_graph()


class Flat(nw.Strategy):
    name = "flat"

    def scores(self, observation: Any) -> torch.Tensor:
        return torch.zeros(observation.pool.shape)


class NotNumbers(nw.Strategy):
    name = "not-numbers"

    def scores(self, observation: Any) -> torch.Tensor:
        return torch.full(observation.pool.shape, torch.nan)


class WrongShape(nw.Strategy):
    name = "wrong-shape"

    def scores(self, observation: Any) -> torch.Tensor:
        return torch.zeros(3)


def message(call: Any) -> str:
    with pytest.raises(InputError) as caught:
        call()
    return str(caught.value)


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


@pytest.mark.parametrize("thing", [GRAPH, "wine", Path("wine.npz"), 3], ids=lambda thing: type(thing).__name__)
def test_one_graph_in_place_of_a_list_for_training(thing: Any) -> None:
    said = message(lambda: nw.train_policy(thing))
    assert "train_policy takes a list of source graphs" in said and "train_policy([graph])" in said


def test_a_setting_of_training_that_does_not_exist() -> None:
    assert "unknown setting of train_policy 'episode': did you mean 'episodes'" in message(
        lambda: nw.train_policy([GRAPH], episode=3)
    )  # type: ignore[call-arg]
    assert "did you mean 'budgets'" in message(lambda: nw.train_policy([GRAPH], budget=3))  # type: ignore[call-arg]
    assert "episodes must be a whole number, got 2.5" in message(lambda: nw.train_policy([GRAPH], episodes=2.5))  # type: ignore[arg-type]


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


def test_scores_that_are_no_numbers_or_have_another_shape() -> None:
    assert "'not-numbers' gave scores that are not numbers" in message(
        lambda: nw.evaluate(GRAPH, NotNumbers(), budget=3, runs=1)
    )
    assert "'wrong-shape' gave scores of shape [3]" in message(
        lambda: nw.evaluate(GRAPH, WrongShape(), budget=3, runs=1)
    )


class NoTensor(nw.Strategy):
    name = "no-tensor"

    def scores(self, observation: Any) -> Any:
        return observation.noise.numpy()


@dataclass(frozen=True)
class Odd(nw.Classifier):
    """A classifier whose learners give whatever it is made with instead of logits."""

    name, trained = "odd", False
    gives: str = "logits"

    def start(self, graph: Any, prepared: Any, runs: int, classes: int, budget: int) -> Any:
        return OddLearner(self.gives, torch.zeros(runs, graph.num_nodes, classes))


class OddLearner(Learner):
    def __init__(self, gives: str, zeros: torch.Tensor) -> None:
        self.gives, self.zeros = gives, zeros

    def reset(self, seed: int) -> None:
        self.num_classes = self.zeros.shape[-1]

    def add(self, nodes: torch.Tensor, labels: torch.Tensor) -> None:
        pass

    def fit(self) -> None:
        pass

    def logits(self) -> Any:
        if self.gives == "more classes":
            return torch.cat([self.zeros, self.zeros], -1)
        return {
            "logits": self.zeros,
            "nan": self.zeros + torch.nan,
            "array": self.zeros.numpy(),
            "one run": self.zeros[0],
        }[self.gives]


def test_what_a_strategy_or_learner_gives_that_is_none_is_told_and_not_scored() -> None:
    assert "'no-tensor' gave scores as ndarray" in message(lambda: nw.evaluate(GRAPH, NoTensor(), budget=3, runs=1))
    shape = [1, GRAPH.num_nodes, GRAPH.num_classes]
    assert nw.evaluate(GRAPH, "random", classifier=Odd(), budget=3, runs=1).classifier == "odd"
    for gives, said in (
        ("nan", "OddLearner gave logits that are not numbers"),
        ("array", f"gave logits as ndarray: they must be a tensor [run, node, class], here {shape}"),
        ("one run", f"gave logits of shape {shape[1:]}: they must be"),
        ("more classes", f"gave logits of shape {[*shape[:2], 2 * shape[2]]}: they must be"),
    ):
        assert said in message(
            lambda gives=gives: nw.evaluate(GRAPH, "random", classifier=Odd(gives), budget=3, runs=1)
        )


def test_a_class_that_cannot_be_made_and_a_file_that_cannot_be_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Needy(Flat):
        def __init__(self, weight: float) -> None:
            self.weight = weight

    assert "the strategy 'Needy' could not be made with {}" in message(lambda: nw.evaluate(GRAPH, Needy))  # type: ignore[arg-type]
    (tmp_path / "half_written.py").write_text("\nundefined_name\n")
    info = tmp_path / "half-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: half\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[nodewise.strategies]\nhalf = half_written:Half\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("half_written:Half", "half"):
        said = message(lambda name=name: nw.evaluate(GRAPH, name))
        assert (
            f"the strategy {name!r}" in said
            and "(NameError: name 'undefined_name' is not defined, half_written.py line 2): mend" in said
        )


def test_two_classifiers_of_one_name_are_told_apart_by_their_settings() -> None:
    several = [Gcn(hidden=4), Gcn(hidden=5), Odd()]
    table = nw.compare(GRAPH, "random", classifiers=several, budgets=2, runs=1)
    names = [setting.classifier for setting in table.settings]
    assert len(set(names)) == 3 and "hidden=4" in names[0] and "hidden=5" in names[1] and names[2] == "odd"
    assert "each classifier only once, got gcn, gcn" in message(
        lambda: nw.compare(GRAPH, "random", classifiers=["gcn", Gcn()], budgets=2, runs=1)
    )
    assert "Method(strategy, name=…)" in message(lambda: nw.compare(GRAPH, [Flat(), Flat()]))


def test_flat_scores_are_warned_of_once_and_noise_mends_them() -> None:
    class Mended(Flat):
        def scores(self, observation: Any) -> torch.Tensor:
            return super().scores(observation) + observation.noise

    with pytest.warns(UserWarning, match="'flat' asked nodes in the order of their numbers.*observation.noise"):
        nw.evaluate(GRAPH, Flat(), budget=6, runs=2)
    with pytest.warns(UserWarning, match="'flat' asked nodes in the order of their numbers"):
        nw.compare(GRAPH, ["random", Flat()], budgets=6, runs=2)
    nw.evaluate(GRAPH, Mended(), budget=6, runs=2)


def test_class_names_may_be_an_array() -> None:
    graph = nw.Graph.build([[0, 1], [1, 2]], 3, y=np.array([0, 1, 0]), class_names=np.array(["a", "b"]))  # type: ignore[arg-type]
    assert graph.class_names == ("a", "b")


@pytest.mark.parametrize("runs", [1, 2])
def test_few_runs_are_told_as_few(runs: int) -> None:
    """No interval, no test: a lead of two runs is not called significant."""
    table = nw.compare(GRAPH, ["random", "centrality"], budgets=3, runs=runs)
    shown = repr(table) + table._repr_html_() + repr(nw.evaluate(GRAPH, "random", budget=3, runs=runs))
    assert "nan" not in shown and "±" not in shown
    assert ("1 run," in shown) == (runs == 1) and "1 runs" not in shown
    (setting,) = table.settings
    assert not setting.near_best() and all(not test.significant() for test in setting.tests)


def test_something_else_in_place_of_a_name_a_file_or_a_table(tmp_path: Path) -> None:
    policy = nw.load_policy("cora+citeseer")
    for call, said in (
        (lambda: nw.load_graph(GRAPH), "it is loaded already, use it as it is"),
        (lambda: nw.load_graph(3), "a data set's name or a file was expected, received int"),
        (lambda: nw.load_policy(GRAPH), "a policy's name or file was expected, received Graph"),
        (lambda: nw.save_policy(GRAPH, tmp_path / "p.safetensors"), "a policy was expected, received Graph"),
        (lambda: nw.save_policy(tmp_path / "p.safetensors", policy), "a policy was expected, received PosixPath"),
        (
            lambda: nw.Session.create(GRAPH, tmp_path / "job.nodewise"),
            "the file of the session was expected, received Graph",
        ),
        (lambda: nw.Session.open(GRAPH), "the file of a session was expected, received Graph"),
        (lambda: nw.knn_graph("wine"), "a table of numbers [nodes, features] was expected, received str"),
        (lambda: nw.knn_graph(GRAPH), "a table of numbers [nodes, features] was expected, received Graph"),
        (lambda: nw.Graph.from_networkx(GRAPH), "from_networkx takes a networkx graph, received Graph"),
        (
            lambda: nw.Graph.from_pyg(GRAPH),
            "from_pyg takes a torch_geometric.data.Data with one kind of nodes, received Graph",
        ),
        (lambda: nw.Graph.from_dataframe(GRAPH), "a data frame or a dict of columns is needed, received Graph"),
        (lambda: nw.Graph.from_texts("one text"), "received one text, 'one text': give [text, …]"),
        (lambda: nw.compare([], "random"), "no graph was given to compare on"),
        (lambda: nw.compare(GRAPH, []), "give at least one strategy"),
    ):
        assert said in message(call)


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
