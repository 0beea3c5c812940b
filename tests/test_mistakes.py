"""Mistakes that people make in Python and on the command line: each is told in a sentence that says what is wrong, what
was received and what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import nodewise as nw
from nodewise.classifiers import Committee, Gcn, SklearnClassifier, TorchClassifier
from nodewise.cli import main
from nodewise.contracts import Learner
from nodewise.environment import EvaluationProtocol
from nodewise.graph import NodeType, Relation, RelationalGraph
from nodewise.ground.errors import InputError
from nodewise.ground.events import Note
from nodewise.policy import PolicySettings, StateSettings, register_state_feature
from nodewise.policy.policy import STATE_FEATURES
from nodewise.session import Query
from tests.small_graphs import random_graph

GRAPH = random_graph()
KARATE = nw.load_graph("karate")
QUERY = Query(3, "3", "me", 1, False, (), 1, 34, None, {}, {})
TYPES = (NodeType("paper", 3), NodeType("author", 2))
BY = Relation("by", "paper", "author", [[0, 1, 2], [0, 1, 1]])


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


class Nameless(nw.Strategy):
    def scores(self, observation: Any) -> torch.Tensor:
        return observation.noise


class NamelessClassifier(nw.Classifier):
    def start(self, graph: Any, prepared: Any, runs: int, classes: int, budget: int) -> Learner:
        raise NotImplementedError


@dataclass(frozen=True)
class World:
    """A folder with three sessions of two classes: an open one, one with a closed list of classes, an ended one."""

    folder: Path
    session: nw.Session
    closed: nw.Session
    ended: nw.Session


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("mistakes")
    shared: dict[str, Any] = {"budget": 5, "classes": ["alpha", "beta"], "use_labels": False}
    names: dict[str, dict[str, Any]] = {"open": {}, "closed": {"closed_classes": True}, "ended": {}}
    made = [nw.Session.create(folder / f"{name}.nodewise", KARATE, **shared, **more) for name, more in names.items()]
    made[-1].close()
    for name, content in (
        ("graph.xyz", b"1 2"),
        ("empty.npz", b""),
        ("p.safetensors", b"abc"),
        ("x.nodewise", b"hello"),
        ("rows.csv", b"a,b\n1,2\n"),
    ):
        (folder / name).write_bytes(content)
    yield World(folder, *made)
    for session in made[:-1]:
        session.close()


MISTAKES: list[tuple[str, Callable[[World], object], type[Exception], str]] = [
    (
        "a data set's name misspelt",
        lambda w: nw.load_graph("karat"),
        ValueError,
        "unknown data set 'karat': did you mean 'karate'? A file needs its endi",
    ),
    (
        "a file that is not there",
        lambda w: nw.load_graph("nowhere.npz"),
        ValueError,
        "there is no file nowhere.npz: check the path",
    ),
    (
        "a folder that is not there",
        lambda w: nw.load_graph("no/such/folder/graph.npz"),
        ValueError,
        "there is no file no/such/folder/graph.npz: check the path",
    ),
    (
        "an ending that nobody reads",
        lambda w: nw.load_graph(w.folder / "graph.xyz"),
        ValueError,
        "cannot be read: the ending '.xyz' is not known. Known forms: .npz (eve",
    ),
    (
        "an empty file",
        lambda w: nw.load_graph(w.folder / "empty.npz"),
        ValueError,
        "is empty (0 bytes): it was probably not written to the end, make or do",
    ),
    (
        "a folder in place of a graph",
        lambda w: nw.load_graph(w.folder),
        ValueError,
        "is a folder without nodes.csv: a graph as a folder holds nodes.csv a",
    ),
    (
        "a number in place of a name",
        lambda w: nw.load_graph(3),
        TypeError,
        "a data set's name or a file was expected, received int: give it as a t",
    ),
    (
        "None in place of a name",
        lambda w: nw.load_graph(None),
        TypeError,
        "a data set's name or a file was expected, received NoneType: give it a",
    ),
    (
        "a preprocessing misspelt",
        lambda w: nw.load_graph("karate", features="unt"),
        ValueError,
        "unknown feature preprocessing 'unt': did you mean 'unit'? Join several",
    ),
    (
        "edges transposed",
        lambda w: nw.Graph.build([[0, 1], [1, 2], [2, 0]], 3),
        ValueError,
        "edge_index must have the shape [2, edges], received [3, 2] — it looks",
    ),
    (
        "edges by names",
        lambda w: nw.Graph.build([["a"], ["b"]], 2),
        ValueError,
        "edge_index must hold integers, received <U1: map node names to indices",
    ),
    (
        "an edge to a node that is not there",
        lambda w: nw.Graph.build([[0], [7]], 3),
        ValueError,
        "edge 0 (0, 7) leads to a node that does not exist: there are 3 nodes,",
    ),
    (
        "a negative node",
        lambda w: nw.Graph.build([[0], [-1]], 3),
        ValueError,
        "edge 0 (0, -1) has a negative end: nodes are numbered from 0",
    ),
    (
        "no nodes",
        lambda w: nw.Graph.build([[], []]),
        ValueError,
        "a graph needs at least one node, received no nodes and no edges: check",
    ),
    (
        "labels for other nodes",
        lambda w: nw.Graph.build([[0], [1]], 3, y=[0, 1]),
        ValueError,
        "y must hold one label for each of the 3 nodes, received the shape [2]:",
    ),
    (
        "labels that are halves",
        lambda w: nw.Graph.build([[0], [1]], 2, y=[0.5, 1]),
        ValueError,
        "labels must be whole numbers or strings, received [0.5]",
    ),
    (
        "labels that are truths",
        lambda w: nw.Graph.build([[0], [1]], 2, y=[True, False]),
        TypeError,
        "labels must be whole numbers or texts, received booleans: give y.astyp",
    ),
    (
        "labels that are bytes",
        lambda w: nw.Graph.build([[0], [1]], 2, y=[b"a", b"b"]),
        TypeError,
        "a class is named by a text or a whole number, got the bytes b'a': deco",
    ),
    (
        "probabilities as labels",
        lambda w: nw.Graph.build([[0], [1]], 3, y=np.full((3, 3), 0.3)),
        ValueError,
        "a matrix of labels must hold 0 and 1",
    ),
    (
        "too few class names",
        lambda w: nw.Graph.build([[0], [1]], 2, y=[0, 5], class_names=["a", "b", "c"][:2][:1]),
        ValueError,
        "label 5 has no class name: there are 1 names, 'a', for ids 0 to 0; add",
    ),
    (
        "a label that is no class name",
        lambda w: nw.Graph.build([[0], [1]], 2, y=["a", "c"], class_names=["a", "b"]),
        ValueError,
        "labels 'c' are not among the class names 'a', 'b': add them or correct",
    ),
    (
        "a label that is nearly a class name",
        lambda w: nw.Graph.build([[0], [1]], 2, y=["alpha", "alpa"], class_names=["alpha", "beta"]),
        ValueError,
        "labels 'alpa' are not among the class names 'alpha', 'beta': add them or correct the labels; did you mean",
    ),
    (
        "two classes of one name",
        lambda w: nw.Graph.build([[0], [1]], 2, y=[0, 1], class_names=["a", "a"]),
        ValueError,
        "the class name 'a' occurs twice: class names must be unique, make them",
    ),
    (
        "two nodes of one name",
        lambda w: nw.Graph.build([[0], [1]], 2, node_names=["a", "a"]),
        ValueError,
        "the node name 'a' occurs twice: node names must be unique, make them s",
    ),
    (
        "features that are not finite",
        lambda w: nw.Graph.build([[0], [1]], 2, x=[[1.0], [np.nan]]),
        ValueError,
        "features must be finite, received nan at node 1, column 0: replace it,",
    ),
    (
        "features of texts",
        lambda w: nw.Graph.build([[0], [1]], 2, x=[["a"], ["b"]]),
        ValueError,
        "x must hold numbers, received <U1: turn texts into numbers first (a te",
    ),
    (
        "features of another number of nodes",
        lambda w: nw.Graph.build([[0], [1]], 2, x=[[1.0]]),
        ValueError,
        "features have 1 rows, but there are 2 nodes: give one row for each nod",
    ),
    (
        "features in one dimension",
        lambda w: nw.Graph.build([[0], [1]], 2, x=[1.0, 2.0]),
        ValueError,
        "features must have the shape [nodes, features], received [2]: reshape",
    ),
    (
        "a frame that is an array",
        lambda w: nw.Graph.from_dataframe(np.zeros((3, 2))),
        TypeError,
        "a data frame or a dict of columns is needed, received ndarray: give pa",
    ),
    (
        "a networkx graph that is none",
        lambda w: nw.Graph.from_networkx([(0, 1)]),
        TypeError,
        "from_networkx takes a networkx graph, received list: give the graph it",
    ),
    (
        "a PyTorch Geometric graph that is none",
        lambda w: nw.Graph.from_pyg({"edge_index": []}),
        TypeError,
        "from_pyg takes a torch_geometric.data.Data with one kind of nodes, rec",
    ),
    (
        "one text in place of a list",
        lambda w: nw.Graph.from_texts("one text"),
        TypeError,
        "texts must be a list with one text for each node, received one text, '",
    ),
    (
        "a CSV that is not there",
        lambda w: nw.Graph.from_csv("nodes.csv", "edges.csv"),
        ValueError,
        "there is no file nodes.csv: check the path",
    ),
    (
        "neighbours of a name",
        lambda w: nw.knn_graph("wine"),
        TypeError,
        "a table of numbers [nodes, features] was expected, received str: give",
    ),
    (
        "more neighbours than rows",
        lambda w: nw.knn_graph([[0.0], [1.0]], k=5),
        ValueError,
        "k must be a whole number from 1 to 1, below the 2 rows, received 5: gi",
    ),
    (
        "no neighbours",
        lambda w: nw.knn_graph([[0.0], [1.0], [2.0]], k=0),
        ValueError,
        "k must be a whole number from 1 to 2, below the 3 rows, received 0: gi",
    ),
    (
        "a metric misspelt",
        lambda w: nw.knn_graph([[0.0], [1.0], [2.0]], k=1, metric="cosin"),
        ValueError,
        "unknown metric 'cosin': did you mean 'cosine'?",
    ),
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
        "a strategy without a name",
        lambda w: nw.evaluate(KARATE, Nameless()),
        ValueError,
        "the strategy Nameless has no name: write one in its class, such as nam",
    ),
    (
        "a classifier without a name",
        lambda w: nw.evaluate(KARATE, classifier=NamelessClassifier()),
        ValueError,
        "the classifier NamelessClassifier has no name: write one in its class,",
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
        "one graph in place of a list",
        lambda w: nw.train_policy(KARATE),
        TypeError,
        "train_policy takes a list of source graphs, got Graph('karate': 34 nod",
    ),
    (
        "no source graphs",
        lambda w: nw.train_policy([]),
        ValueError,
        "no source graph was given: name at least one labelled graph",
    ),
    (
        "a setting of training misspelt",
        lambda w: nw.train_policy([KARATE], episode=3),
        ValueError,
        "unknown setting of train_policy 'episode': did you mean 'episodes'?",
    ),
    (
        "half an episode",
        lambda w: nw.train_policy([KARATE], episodes=2.5),
        TypeError,
        "episodes must be a whole number, got 2.5",
    ),
    (
        "a policy misspelt",
        lambda w: nw.load_policy("cora+citesear"),
        ValueError,
        "no policy file at 'cora+citesear': give a .safetensors file, or one of",
    ),
    (
        "a policy's file that is none",
        lambda w: nw.load_policy(w.folder / "p.safetensors"),
        ValueError,
        "is not a readable policy file (Error while deserializing header: heade",
    ),
    (
        "a graph saved as a policy",
        lambda w: nw.save_policy(KARATE, w.folder / "p.safetensors"),
        TypeError,
        "a policy was expected, received Graph: give what train_policy or load_",
    ),
    (
        "a policy where no folder is",
        lambda w: nw.save_policy(nw.load_policy("cora+citeseer"), w.folder / "none" / "p.safetensors"),
        ValueError,
        ": name a .safetensors file in a folder that is there",
    ),
    (
        "a session in the memory",
        lambda w: nw.Session.create(":memory:", KARATE),
        ValueError,
        "a session lives in a file, and ':memory:' is none: give a path, in a t",
    ),
    (
        "a session opened in the memory",
        lambda w: nw.Session.open(":memory:"),
        ValueError,
        "a session lives in a file, and ':memory:' is none: give a path, in a t",
    ),
    (
        "a session over another",
        lambda w: nw.Session.create(w.session.path, KARATE),
        ValueError,
        "already: a new session needs a new name; to go on with it, open it",
    ),
    (
        "graph and file the wrong way round",
        lambda w: nw.Session.create(KARATE, w.folder / "other.nodewise"),
        TypeError,
        "the file of the session was expected, received Graph: give it as a tex",
    ),
    (
        "a session that is not there",
        lambda w: nw.Session.open(w.folder / "none.nodewise"),
        ValueError,
        ": check the path, or make one with 'nodewise session new'",
    ),
    (
        "a session's file that is none",
        lambda w: nw.Session.open(w.folder / "x.nodewise"),
        ValueError,
        "is not a session, or its beginning is damaged: nothing was changed; us",
    ),
    (
        "a setting of sessions misspelt",
        lambda w: nw.Session.create(w.folder / "n", KARATE, buget=3),
        ValueError,
        "unknown setting of Session.create 'buget': did you mean 'budget'?",
    ),
    (
        "a session's budget of 0",
        lambda w: nw.Session.create(w.folder / "n", KARATE, budget=0),
        ValueError,
        "a session's budget must be a whole number, at least 1, got '0'",
    ),
    (
        "a session's budget as a text",
        lambda w: nw.Session.create(w.folder / "n", KARATE, budget="3"),
        TypeError,
        "a session's budget must be a whole number, at least 1, got '3'",
    ),
    (
        "a session's budget beyond the nodes",
        lambda w: nw.Session.create(w.folder / "n", KARATE, budget=50, use_labels=False),
        ValueError,
        "a budget of 50 is more than the 34 nodes that can be asked (0 have a l",
    ),
    (
        "classes as one text",
        lambda w: nw.Session.create(w.folder / "n", KARATE, budget=3, classes="ab", use_labels=False),
        TypeError,
        "classes must be a list of names, got the text 'ab': give ['ab'], or se",
    ),
    (
        "a class twice",
        lambda w: nw.Session.create(w.folder / "n", KARATE, budget=3, classes=["a", "a"], use_labels=False),
        ValueError,
        "classes must have names, each another one, got ['a', 'a']",
    ),
    (
        "classes that are truths",
        lambda w: nw.Session.create(w.folder / "n", KARATE, budget=3, classes=[True, False], use_labels=False),
        TypeError,
        "a class is named by a text or a whole number, got True: give 'True' if",
    ),
    (
        "a closed list without classes",
        lambda w: nw.Session.create(w.folder / "n", nw.Graph.build([[0], [1]], 2), budget=1, closed_classes=True),
        ValueError,
        "the list of classes is to be closed, but it is empty: name the classes",
    ),
    (
        "a closed list as a text",
        lambda w: nw.Session.create(w.folder / "n", KARATE, budget=3, closed_classes="yes"),
        TypeError,
        "a session's closed_classes must be yes or no, got 'yes'",
    ),
    (
        "a candidate that is not there",
        lambda w: nw.Session.create(w.folder / "n", KARATE, budget=3, candidates=[99], use_labels=False),
        ValueError,
        "candidates: there is no node 99, the graph 'karate' has nodes 0 to 33",
    ),
    (
        "zeros and ones as candidates",
        lambda w: nw.Session.create(w.folder / "n", KARATE, budget=3, candidates=[0, 1] * 17, use_labels=False),
        ValueError,
        "candidates are 34 zeros and ones, one for each node: as indices they w",
    ),
    (
        "a session's strategy misspelt",
        lambda w: nw.Session.create(w.folder / "n", KARATE, budget=3, strategy="gian", use_labels=False),
        ValueError,
        "unknown strategy 'gian': did you mean 'gain' or 'margin'? One of your",
    ),
    (
        "a policy beside a strategy",
        lambda w: nw.Session.create(
            w.folder / "n", KARATE, budget=3, strategy="age", policy="cora+citeseer", use_labels=False
        ),
        ValueError,
        "a policy was given, but the strategy is 'age': leave one of them out,",
    ),
    (
        "no queries",
        lambda w: w.session.ask(0),
        ValueError,
        "the number of queries must be a whole number, at least 1, got 0",
    ),
    (
        "a name in place of a number of queries",
        lambda w: w.session.ask("ada"),
        TypeError,
        "the number of queries must be a whole number, at least 1, got 'ada'",
    ),
    (
        "an annotator without a name",
        lambda w: w.session.ask(annotator=" "),
        ValueError,
        "an annotator needs a name of 1 to 200 printable characters, got ''",
    ),
    (
        "a node that is not there",
        lambda w: w.session.tell(99, "a"),
        ValueError,
        "there is no node 99: the graph 'karate' has nodes 0 to 33",
    ),
    (
        "a node's name that is not there",
        lambda w: w.session.tell("Nobody", "a"),
        ValueError,
        "node 'Nobody' is not an index: the graph's nodes have no names, give a",
    ),
    (
        "nothing as a label",
        lambda w: w.session.tell(0, None),
        ValueError,
        "None means unlabelled and is no class: give the class's name, or skip",
    ),
    (
        "NaN as a label",
        lambda w: w.session.tell(0, float("nan")),
        ValueError,
        "nan means unlabelled and is no class: give the class's name, or skip t",
    ),
    (
        "a word for nothing as a label",
        lambda w: w.session.tell(0, "n/a"),
        ValueError,
        "'n/a' means unlabelled and is no class here: skip the node, or if it i",
    ),
    (
        "True as a label",
        lambda w: w.session.tell(0, True),
        TypeError,
        "a class is named by a text or a whole number, got True: give 'True' if",
    ),
    (
        "bytes as a label",
        lambda w: w.session.tell(0, b"a"),
        TypeError,
        "a class is named by a text or a whole number, got the bytes b'a': deco",
    ),
    (
        "half a number as a label",
        lambda w: w.session.tell(0, 1.5),
        ValueError,
        "a class is named by a text or a whole number, got 1.5: give '1.5' if t",
    ),
    (
        "an empty label",
        lambda w: w.session.tell(0, "  "),
        ValueError,
        "a class needs a name of 1 to 200 printable characters, got ''",
    ),
    (
        "a label misspelt",
        lambda w: w.session.tell(0, "alhpa"),
        ValueError,
        "unknown class 'alhpa': did you mean 'alpha'? If it is a new class, say",
    ),
    (
        "more labels than nodes",
        lambda w: w.session.tell([0, 1], ["alpha"]),
        ValueError,
        "2 nodes but 1 label: give one for each",
    ),
    ("no node", lambda w: w.session.tell([], []), ValueError, "no node is named: give at least one"),
    (
        "a label outside a closed list",
        lambda w: w.closed.tell(0, "gamma", new_class=True),
        ValueError,
        "unknown class 'gamma': known: alpha, beta. This session takes no other",
    ),
    (
        "a class outside a closed list",
        lambda w: w.closed.add_class("alpa"),
        ValueError,
        "unknown class 'alpa': did you mean 'alpha'? This session takes no othe",
    ),
    (
        "a class that is there already",
        lambda w: w.session.add_class("alpha"),
        ValueError,
        "there is a class 'alpha' already: use it, or give another name",
    ),
    (
        "a class that is not there renamed",
        lambda w: w.session.rename_class("gamma", "delta"),
        ValueError,
        "unknown class 'gamma': known: alpha, beta.",
    ),
    (
        "a class merged with itself",
        lambda w: w.session.merge_classes("alpha", "alpha"),
        ValueError,
        "'alpha' and 'alpha' are one class already: give two different ones",
    ),
    (
        "an order that is a text",
        lambda w: w.session.order_classes("alpha"),
        TypeError,
        "the order must be a list of classes, got the text 'alpha': give ['alph",
    ),
    (
        "a node settled that nobody labelled",
        lambda w: w.session.settle(5, "alpha"),
        ValueError,
        "nobody has labelled node '5', or its answer is known, so there is nothing to",
    ),
    ("nothing to undo", lambda w: w.session.undo(), nw.NodewiseError, "there is nothing to undo"),
    (
        "an event that is not there undone",
        lambda w: w.session.undo(99),
        ValueError,
        "there is no event 99 to undo: the log is empty",
    ),
    (
        "a budget below 1",
        lambda w: w.session.set_budget(0),
        ValueError,
        "a budget must be a whole number from 1 to the graph's 34 nodes, got 0",
    ),
    (
        "a note that is a number",
        lambda w: w.session.add_note(0, 7),
        ValueError,
        "a note or a guideline must be a text of at most 20,000 characters, got",
    ),
    (
        "an export of no known form",
        lambda w: w.session.export(w.folder / "labels.doc"),
        ValueError,
        "cannot export to 'labels.doc': the ending must be one of .csv, .json,",
    ),
    (
        "an export over the session",
        lambda w: w.session.export(w.session.path),
        ValueError,
        "cannot export to 'open.nodewise': the ending must be one of .csv, .jso",
    ),
    (
        "an export where no folder is",
        lambda w: w.session.export(w.folder / "none" / "labels.csv"),
        ValueError,
        "for the export: make it first",
    ),
    (
        "a format misspelt",
        lambda w: w.session.export(w.folder / "labels.csv", format="ful"),
        ValueError,
        "unknown format 'ful': did you mean 'full'? Without one the ending of t",
    ),
    (
        "a closed session asked",
        lambda w: w.ended.ask(),
        nw.NodewiseError,
        "this session was closed: to go on, open it again with Session.open",
    ),
    (
        "a closed session told",
        lambda w: w.ended.tell(0, "alpha"),
        nw.NodewiseError,
        "this session was closed: to go on, open it again with Session.open",
    ),
    (
        "a closed session's status",
        lambda w: w.ended.status(),
        nw.NodewiseError,
        "this session was closed: to go on, open it again with Session.open",
    ),
    (
        "a query in place of its node",
        lambda w: w.session.tell(QUERY, "alpha"),
        ValueError,
        "a node is given by its index or its name, got a Query: give its .node",
    ),
    (
        "two classes where a row has one",
        lambda w: w.session.tell(0, ["alpha", "beta"]),
        ValueError,
        "1 node but 2 labels: give one for each; a row has one class here, sets are for jobs",
    ),
    (
        "nobody as an annotator",
        lambda w: w.session.ask(annotator=None),
        TypeError,
        "an annotator is named by a text, got None: give a name such as 'ada'",
    ),
    (
        "rows in place of a person",
        lambda w: w.session.release([3]),
        TypeError,
        "an annotator is named by a text, got [3]: give a name such as 'ada'",
    ),
    (
        "a model without a name",
        lambda w: w.session.suggest("", {0: "alpha"}),
        ValueError,
        "a model needs a name of 1 to 200 printable characters, got ''",
    ),
    (
        "answers of a model that name no class",
        lambda w: w.session.suggest("m", {0: "alhpa"}),
        ValueError,
        "no answer of 'm' names a class of the job (alpha, beta), it says alhpa: check the spe",
    ),
    (
        "answers of a model that are none",
        lambda w: w.session.suggest("m", None),
        TypeError,
        "a model's answers must be a dictionary, one label a node, a function,",
    ),
    (
        "a model that is surer than sure",
        lambda w: w.session.suggest("m", {0: "alpha"}, 1.5),
        ValueError,
        "a confidence must be a number from 0 to 1, got 1.5",
    ),
    (
        "too few answers of a model",
        lambda w: w.session.suggest("m", ["alpha"] * 3),
        ValueError,
        "3 answers for 34 nodes: give one for each node, None where the model s",
    ),
    (
        "rows for a graph that does not say how",
        lambda w: w.session.add_rows(["a text"]),
        ValueError,
        "the graph 'karate' does not say how its rows became features, so new r",
    ),
    (
        "rows taken out that are not there",
        lambda w: w.session.remove_rows([99]),
        ValueError,
        "there is no node 99: the graph 'karate' has nodes 0 to 33",
    ),
    (
        "no rows taken out",
        lambda w: w.session.remove_rows([]),
        ValueError,
        "there is no row to take out: give at least one that is still in the jo",
    ),
    (
        "no rows given away",
        lambda w: w.session.assign([0], "ada", most=0),
        ValueError,
        "the number of rows must be a whole number, at least 1, got 0",
    ),
    (
        "a graph in place of another job",
        lambda w: w.session.join(KARATE),
        TypeError,
        "the file of a session was expected, received Graph: give it as a text",
    ),
    (
        "another job that is not there",
        lambda w: w.session.join(w.folder / "none.nodewise"),
        nw.NodewiseError,
        "check the path, or make one with 'nodewise session new'",
    ),
    (
        "trust as a text",
        lambda w: nw.Session.create(w.folder / "n", KARATE, budget=3, trust="yes", use_labels=False),
        TypeError,
        "a session's trust must be yes or no, got 'yes'",
    ),
    (
        "several classes as a text",
        lambda w: nw.Session.create(w.folder / "n", KARATE, budget=3, several="yes", use_labels=False),
        TypeError,
        "a session's several must be yes or no, got 'yes'",
    ),
    (
        "a weight below 0",
        lambda w: nw.Graph.build([[0], [1]], 2, edge_weight=[-1]),
        ValueError,
        "the weight of edge 0 (0, 1) is -1: weights must be positive; a larger",
    ),
    (
        "a weight that is no number",
        lambda w: nw.Graph.build([[0], [1]], 2, edge_weight=[float("nan")]),
        ValueError,
        "the weight of edge 0 (0, 1) is nan: weights must be positive and finit",
    ),
    (
        "weights for other edges",
        lambda w: nw.Graph.build([[0], [1]], 2, edge_weight=[1, 2]),
        ValueError,
        "edge_weight must hold one number for each of the 1 edges, received the",
    ),
    (
        "sets beside single classes",
        lambda w: nw.Graph.build([[0], [1]], 2, y=[["a"], "b"]),
        ValueError,
        "some nodes have sets of classes and others do not, 'b' for example: gi",
    ),
    (
        "a matrix of labels with a two",
        lambda w: nw.Graph.build([[0], [1]], 2, y=np.array([[0, 2], [1, 0]])),
        ValueError,
        "a matrix of labels must hold 0 and 1 (-1 in a whole row: no answer), r",
    ),
    (
        "a labelled type that is not there",
        lambda w: RelationalGraph(TYPES, (BY,), "venue"),
        ValueError,
        "no node type carries the labels: received 'venue', there are 'paper',",
    ),
    (
        "a relation to a node that is not there",
        lambda w: RelationalGraph(TYPES, (Relation("by", "paper", "author", [[0], [9]]),), "paper"),
        ValueError,
        "the relation 'by' leads to node 9 of the type 'author', which has 2 no",
    ),
    (
        "two relations of one name",
        lambda w: RelationalGraph(TYPES, (BY, BY), "paper"),
        ValueError,
        "two relations are called 'by': give each a name of its own",
    ),
    (
        "one type in place of a list",
        lambda w: RelationalGraph(TYPES[0], (BY,), "paper"),
        ValueError,
        "a list of NodeType was expected, received NodeType: give [NodeType(…),",
    ),
    (
        "fitted to a class outside the list",
        lambda w: nw.fit(KARATE, {0: "a"}, classes=["b"]),
        ValueError,
        "the labels name 'a', and the classes are 'b': add it, or correct it",
    ),
    (
        "fitted to a class nearly in the list",
        lambda w: nw.fit(KARATE, {0: "alpa"}, classes=["alpha", "beta"]),
        ValueError,
        "the labels name 'alpa', and the classes are 'alpha', 'beta': add it, or correct it; did you mean 'alpha'?",
    ),
    (
        "zeros and ones in place of a mask of nodes told",
        lambda w: w.session.tell([0, 1] * 17, "alpha"),
        ValueError,
        "nodes are 34 zeros and ones, one for each node: as indices they w",
    ),
    (
        "a mask of other nodes told",
        lambda w: w.session.tell_bulk([True, False], "alpha"),
        ValueError,
        "nodes: a mask needs one True or False for each of the 34 nodes, received [2]",
    ),
    (
        "fitted to too few labels",
        lambda w: nw.fit(KARATE, [1, 2]),
        ValueError,
        "labels need one entry for each of the 34 nodes, None where it is not k",
    ),
    (
        "fitted with a classifier misspelt",
        lambda w: nw.fit(KARATE, {0: "a"}, "viws"),
        ValueError,
        "unknown classifier 'viws': did you mean 'views'? One of your own is na",
    ),
    (
        "a graph in place of a fitted learner's file",
        lambda w: nw.load_fitted(KARATE),
        TypeError,
        "the file of a fitted learner was expected, received Graph: give it as",
    ),
    (
        "another file in place of a fitted learner's",
        lambda w: nw.load_fitted(w.folder / "x.nodewise"),
        ValueError,
        "is no fitted learner, or damaged: give a file that Fitted.save wrote",
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
    (
        "no estimator in a wrapped classifier",
        lambda w: SklearnClassifier("logistic"),
        ValueError,
        "'logistic' is no estimator as scikit-learn has them: give an object wi",
    ),
    (
        "no network in a wrapped classifier",
        lambda w: nw.evaluate(KARATE, "random", classifier=TorchClassifier(3), budget=3, runs=1),
        ValueError,
        "3 is no network: give one, or a class or function that makes one of th",
    ),
    (
        "a committee of nobody",
        lambda w: Committee([]),
        ValueError,
        "a committee has a member at least: give a classifier and a size, or se",
    ),
    (
        "names in place of a committee's members",
        lambda w: Committee(["viws"]),
        ValueError,
        "a committee's members are classifiers, got ['viws']",
    ),
]
"""What a person does wrong in Python, what kind of error it is, and what is said; each message was read aloud."""

COMMANDS: list[tuple[str, str, int, str]] = [
    (
        "no such command",
        "sesion new job karate",
        2,
        "No such command 'sesion'. Did you mean 'session'?. Try 'nodewise --hel",
    ),
    ("no such data set", "evaluate karat", 2, "unknown data set 'karat': did you mean 'karate'? A file needs its endi"),
    (
        "no such option",
        "evaluate karate --run 3",
        2,
        "No such option: --run (Possible options: --runs). Try 'nodewise evalua",
    ),
    (
        "a number that is none",
        "evaluate karate --runs many",
        2,
        "Invalid value for '--runs': Input should be a valid integer, unable to",
    ),
    (
        "no runs on the command line",
        "evaluate karate --runs 0",
        2,
        "Invalid value for '--runs': Input should be greater than or equal to 1",
    ),
    (
        "no such strategy",
        "evaluate karate --strategy gian",
        2,
        "unknown strategy 'gian': did you mean 'gain' or 'margin'? One of your",
    ),
    (
        "no such classifier",
        "evaluate karate --classifier gcm",
        2,
        "unknown classifier 'gcm': did you mean 'gcn'? One of your own is named",
    ),
    (
        "no such device",
        "evaluate karate --device gpu --runs 1",
        2,
        "unknown device 'gpu': use auto, cpu, cuda or cuda:N",
    ),
    (
        "a graph's file that is not there",
        "convert nowhere.csv out.npz",
        2,
        "there is no file nowhere.csv: check the path",
    ),
    ("a session without a graph", "session new job", 2, "Missing argument 'GRAPH'. Try 'nodewise session new --help'."),
    (
        "a session on a graph that is not there",
        "session new job karat",
        2,
        "unknown data set 'karat': did you mean 'karate'? A file needs its endi",
    ),
    (
        "classes without names",
        "session new job karate --classes ,",
        2,
        "--classes got ',': give names joined by commas, with none left empty",
    ),
    (
        "a closed list that does not hold the graph's classes",
        "session new job karate --budget 3 --use-labels --closed-classes --classes x,y",
        2,
        "unknown class '0': known: x, y. The graph has labels of it, but the li",
    ),
    (
        "a budget of 0",
        "session new job karate --budget 0",
        2,
        "Invalid value for '--budget': Input should be greater than or equal to",
    ),
    (
        "a session that is not there, asked",
        "session ask none.nodewise",
        2,
        "there is no session 'none.nodewise': check the path, or make one with",
    ),
    (
        "a label for a node that is not there",
        "session tell open.nodewise 99 alpha",
        2,
        "there is no node '99': the graph 'karate' has nodes 0 to 33",
    ),
    (
        "a misspelt label",
        "session tell open.nodewise 3 alhpa",
        2,
        "unknown class 'alhpa': did you mean 'alpha'? If it is a new class, say",
    ),
    (
        "a word for nothing",
        "session tell open.nodewise 3 NaN",
        2,
        "'NaN' means unlabelled and is no class here: skip the node, or if it i",
    ),
    (
        "another class for a closed list",
        "session tell closed.nodewise 3 gamma --new-class",
        2,
        "unknown class 'gamma': known: alpha, beta. This session takes no other",
    ),
    (
        "an export without an ending",
        "session export open.nodewise labels",
        2,
        "cannot export to 'labels': the ending must be one of .csv, .json, .npz",
    ),
    (
        "a policy that is not there",
        "policy show nobody",
        2,
        "unknown policy 'nobody': known: citeseer+pubmed, cora+citeseer, cora+p",
    ),
    (
        "rows for a job that does not say how",
        "session add open.nodewise rows.csv",
        2,
        "the graph 'karate' does not say how its rows became features, so new r",
    ),
    ("rows that are not there", "session add open.nodewise none.csv", 2, "there is no file none.csv: check the path"),
    (
        "no node to take out",
        "session remove open.nodewise 99",
        2,
        "there is no node '99': the graph 'karate' has nodes",
    ),
    (
        "suggestions without a column of nodes",
        "session suggest open.nodewise rows.csv --as m",
        2,
        "'rows.csv' has the columns a, b: suggestions need one that names the n",
    ),
    (
        "an endpoint that is no address",
        "session suggest open.nodewise --from ftp://x --as m --show",
        2,
        "the endpoint must be an http or https address without a name or passwo",
    ),
    (
        "an endpoint with a password",
        "session suggest open.nodewise --from http://ada:secret@localhost --as m --show",
        2,
        "the endpoint must be an http or https address without a name or passwo",
    ),
    (
        "another job that is not there, joined",
        "session join open.nodewise none.nodewise",
        2,
        "there is no session 'none.nodewise': check the path, or make one with",
    ),
    (
        "a job joined with itself",
        "session join open.nodewise open.nodewise",
        2,
        "the job 'open.nodewise' has no label that is not here already: nothing",
    ),
    (
        "predictions of no learner",
        "predict x.nodewise rows.csv",
        2,
        "x.nodewise is no fitted learner, or damaged: give",
    ),
    (
        "a role that nobody has",
        "people add ada --role boss",
        2,
        "'boss' is not one of 'annotator', 'reviewer', 'onlooker', 'owner'",
    ),
    ("nobody's link taken away", "people revoke nobody", 2, "nobody called 'nobody' has a link: see `nodewise people"),
    (
        "a benchmark on no graph",
        "benchmark --graphs nothing",
        2,
        "unknown data set 'nothing': known: acmv9, actor, airp",
    ),
    ("a benchmark of no strategy", "benchmark --strategies gian", 2, "unknown strategy 'gian': did you mean 'gain' or"),
    (
        "noise in words",
        "evaluate karate --noise lots",
        2,
        "--noise must be a rate between 0 and 1, or a CSV file of rates, received 'lots' (there is no file lots",
    ),
    (
        "two classes for one row",
        "session tell open.nodewise 3 alpha beta",
        2,
        "1 node but 2 labels: give one for each; a row has one class",
    ),
    (
        "none of the classes, where a row has one",
        "session tell open.nodewise 3 --none",
        2,
        "--none was given, where a node has one class: give the label, or skip",
    ),
]
"""The same on the command line: its exit status, and what is said."""


@pytest.mark.parametrize(("do", "kind", "said"), [one[1:] for one in MISTAKES], ids=[one[0] for one in MISTAKES])
def test_a_mistake_in_python_is_told(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    do: Callable[[World], object],
    kind: type[Exception],
    said: str,
) -> None:
    monkeypatch.chdir(world.folder)
    with pytest.raises(nw.NodewiseError) as refused:
        do(world)
    assert isinstance(refused.value, kind) and said in str(refused.value)
    assert world.session.events == () == world.closed.events, "nothing was written"
    assert not {":memory:", "n", "other.nodewise"} & {path.name for path in world.folder.iterdir()}, "no file was made"


@pytest.mark.parametrize(("typed", "status", "said"), [one[1:] for one in COMMANDS], ids=[one[0] for one in COMMANDS])
def test_a_mistake_on_the_command_line_is_told(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    typed: str,
    status: int,
    said: str,
) -> None:
    monkeypatch.chdir(world.folder)
    assert main(typed.split()) == status
    told = capfd.readouterr()
    assert said in told.err and told.out == "" and "Traceback" not in told.err
    assert not (world.folder / "job").exists()


def test_the_list_is_long_enough() -> None:
    assert len(MISTAKES) >= 150 and len(COMMANDS) >= 30 and len({one[0] for one in MISTAKES}) == len(MISTAKES)


def test_a_state_feature_of_another_shape_is_told() -> None:
    register_state_feature("odd-shape")(lambda observation, settings: torch.zeros(3, 5))
    register_state_feature("no-tensor")(lambda observation, settings: [0.0])  # type: ignore[arg-type,return-value]
    try:
        for name, said in (("odd-shape", "gave the shape [3, 5], not [run, node]"), ("no-tensor", "gave list, not a")):
            features = PolicySettings(state=StateSettings(features=(name, "degree")))
            assert f"the state feature {name!r} {said}" in message(
                lambda features=features: nw.train_policy([GRAPH], episodes=1, budgets=2, policy=features)
            )
    finally:
        STATE_FEATURES.pop("odd-shape"), STATE_FEATURES.pop("no-tensor")
