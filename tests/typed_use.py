"""Every public name as a user writes it: mypy must know what each gives. `make check` runs mypy on this file as on the
package; a wrong line is marked.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, assert_type

import networkx as nx
import numpy as np
import numpy.typing as npt
import torch
from sklearn.ensemble import RandomForestClassifier
from torch_geometric.nn import GCN

import nodewise as nw
from nodewise.classifiers import Committee, SklearnClassifier, TorchClassifier
from nodewise.contracts import Learner, Observation
from nodewise.evaluation import Comparison, Evaluation, EvaluationProtocol, Method, ProcessEngine, write_splits
from nodewise.fitted import Predictions
from nodewise.graph.tensors import GraphTensors
from nodewise.session import Query
from nodewise.session.files.erasing import Erased
from nodewise.session.files.people import PersonReport
from nodewise.session.learning.mistakes import LikelyMistake
from nodewise.session.learning.suggested import ModelReport


@dataclass(frozen=True)
class Lowest(nw.Strategy):
    name: str = "lowest"
    power: float = 1.0

    def scores(self, observation: Observation) -> torch.Tensor:
        return -(observation.probabilities.amax(-1) ** self.power)


@dataclass(frozen=True)
class Mine(nw.Classifier):
    name: str = "mine"

    def start(self, graph: GraphTensors, prepared: Any, runs: int, classes: int, budget: int) -> Learner:
        raise NotImplementedError


class Plain(nw.Classifier):
    name, trained = "plain", False

    def start(self, graph: GraphTensors, prepared: Any, runs: int, classes: int, budget: int) -> Learner:
        raise NotImplementedError


class Unsure(nw.Strategy):
    name, stateless = "unsure", True

    def scores(self, observation: Observation) -> torch.Tensor:
        return observation.negative_entropy


def use_what_the_guides_show(folder: Path) -> None:
    graph = assert_type(nw.Graph.from_networkx(nx.karate_club_graph()), nw.Graph)
    nw.compare([nx.karate_club_graph(), graph], [Unsure()], classifiers=[Plain()])
    mask = np.ones(graph.num_nodes, dtype=bool)
    for candidates in (np.arange(3), mask):
        with nw.Session.create(folder / "job", graph, candidates=candidates, closed_classes=True) as session:
            session.tell(np.arange(3), "a")
            session.tell_bulk(np.arange(3), ["a", "b", "a"])


def use_models_of_other_libraries(folder: Path) -> None:
    forest = SklearnClassifier(RandomForestClassifier(100), view="near")
    network = TorchClassifier(partial(GCN, hidden_channels=16, num_layers=2), epochs=200)
    both = Committee([forest, network])
    assert_type(nw.evaluate("wine", "gain", classifier=network, runs=2), Evaluation)
    assert_type(nw.compare("wine", ["random", "bald"], classifiers=["views", forest, both], runs=2), Comparison)
    with nw.Session.create(folder / "job", nw.load_graph("wine"), classifier=Committee(forest, size=3)) as session:
        assert_type(session.ask(), Query)
    TorchClassifier(GCN, epochs=200)
    TorchClassifier(GCN(13, 16, 2, 3), anew=False)
    SklearnClassifier(RandomForestClassifier(), vew="near")  # type: ignore[call-arg]


def least_sure(probabilities: npt.NDArray[np.float64], truth: npt.NDArray[np.int64]) -> float:
    return float(probabilities.max(1).min())


def use_a_protocol_of_ones_own(folder: Path) -> None:
    graph = nw.load_graph("wine")
    costs = 1 + graph.degree / graph.degree.mean()
    by_pair = [[0.9, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    protocol = EvaluationProtocol(2, start=1, retrain=True, noise=by_pair, scores=("log_loss", least_sure), cost=costs)
    table = nw.compare(
        graph,
        ["random", Method("gain", name="ours")],
        budgets=[20],
        runs=3,
        protocol=protocol,
        splits=write_splits(folder / "splits.json", graph, runs=3),
        engine=ProcessEngine(2),
        store=folder / "kept",
    )
    assert_type(table.to_latex("least_sure", caption="The least sure"), str)
    assert_type(table.to_markdown("log_loss"), str)
    assert_type(table.export(folder / "all.json"), Path)
    assert_type(table.settings[0].outcomes["ours"].costs(costs), npt.NDArray[np.float64])
    EvaluationProtocol(price=costs)  # type: ignore[call-arg]


def use_a_job_that_goes_on(folder: Path) -> None:
    graph = nw.Graph.from_texts(["a cat", "a dog", "a car"], k=1)
    with nw.Session.create(folder / "job", graph, classes=["animal", "thing"], several=False, trust=True) as session:
        session.add_rows(["a bus"])
        session.change_rows({0: "the cat"})
        session.remove_rows([1])
        session.set_known({2: "thing"}, percent=10, counts=True)
        session.suggest("a model", {0: "animal"}, 0.7)
        session.set_known({2: "thing"}, per_cent=10)  # type: ignore[call-arg]
        session.withdraw("a model")
        assert_type(session.model_reports(), list[ModelReport])
        assert_type(session.likely_mistakes(), list[LikelyMistake])
        assert_type(session.person_reports(), list[PersonReport])
        assert_type(session.erase_rows([0], folder / "out"), Erased)
        assert_type(session.preview_join(folder / "other"), dict[str, Any])
        assert_type(session.join(folder / "other", me="ada"), int)
        assert_type(session.tell(0, "animal"), int | list[int])
    fitted = assert_type(nw.fit(graph, {0: "animal", 2: "thing"}), nw.Fitted)
    assert_type(fitted.predict(), Predictions)
    assert_type(nw.load_fitted(folder / "x.fitted"), nw.Fitted)
    there = nw.connect("http://127.0.0.1:8080", "a token", annotator="ada")
    assert_type(there.status(), dict[str, Any])
    with nw.open_studio(["a cat", "a dog"], folder / "other") as opened:
        opened.tell(0, "animal")


def use(folder: Path) -> None:
    assert_type(nw.__version__, str)
    assert_type(nw.list_datasets(), list[str])
    graph = assert_type(nw.load_graph("digits"), nw.Graph)
    assert_type(nw.knn_graph([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], k=1, metric="euclidean"), nw.Graph)
    result = assert_type(
        nw.evaluate(graph, Lowest(), classifier=Mine(), budget=5, runs=3, device=torch.device("cpu"), progress=True),
        Evaluation,
    )
    assert_type(result.micro.mean, float)
    table = assert_type(
        nw.compare([graph, "wine"], ["random", Lowest()], classifiers=["gcn", Mine()], budgets=[5, 10]), Comparison
    )
    table.plot(folder / "curves.png")
    table.to_dataframe(runs=True)
    policy = assert_type(nw.train_policy([graph, "wine"], episodes=3, budgets=5, progress=True), nw.Policy)
    nw.save_policy(policy, folder / "mine.safetensors")
    assert_type(nw.load_policy("cora+citeseer"), nw.Policy)
    with nw.Session.create(folder / "job.nodewise", graph, budget=10) as session:
        query = assert_type(session.ask(), Query)
        session.tell(query.node, "3")
    fitted = assert_type(nw.fit(graph, {0: "zero", 1: "one"}), nw.Fitted)
    fitted.save(folder / "digits.fitted")
    assert_type(nw.load_fitted(folder / "digits.fitted").predict([[0.0] * 64]).labels, tuple[str, ...])
    with nw.open_studio({"body": ["a", "b"]}, text="body", browser=False, budget=2) as shown:
        there = nw.connect(assert_type(shown.address, str), annotator="ada")
        there.tell(there.ask().node, "3")
        assert_type([each.text for each in there.ask(2)], list[str | None])
    with suppress(nw.NodewiseError):
        nw.evaluate("no such graph")
    nw.evaluate(graph, runs="many")  # type: ignore[arg-type]
    nw.train_policy(graph)  # type: ignore[arg-type]
    nw.train_policy([graph], epochs=3)  # type: ignore[call-arg]
    nw.no_such_name  # type: ignore[attr-defined]  # noqa: B018
