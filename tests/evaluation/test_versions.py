"""Results that change without a raised version are noticed: what was kept under the old one would be taken for new.

``python -m tests.evaluation.test_versions`` records the results anew, once the version is raised.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nodewise.classifiers import CLASSIFIERS
from nodewise.classifiers.views.construction import make_views
from nodewise.contracts import Classifier, Learner, Observation, Strategy
from nodewise.datasets import RelationSettings, library_graph, relational_graph, synthetic_graph
from nodewise.evaluation import compare
from nodewise.evaluation.versions import built_in_versions
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.policy import Policy
from nodewise.strategies import STRATEGIES, Learned, Uncertainty

RECORD = Path(__file__).with_name("recorded_results.json")


def small() -> Graph:
    return synthetic_graph(nodes=120, classes=3, mean_degree=6, features=8, seed=3, name="small")


@dataclass(frozen=True)
class Spread(Classifier):
    """Labels spread over two steps: a classifier that nothing of ours can change."""

    name = "spread"
    trained = False

    def start(self, graph: GraphTensors, prepared: Any, runs: int, classes: int, budget: int) -> Learner:
        return SpreadLearner(graph, runs, classes)


class SpreadLearner(Learner):
    def __init__(self, graph: GraphTensors, runs: int, classes: int) -> None:
        self.graph, self.runs, self.num_classes = graph, runs, classes

    def reset(self, seed: int) -> None:
        self.votes = torch.zeros(self.runs, self.graph.num_nodes, self.num_classes)

    def add(self, nodes: torch.Tensor, labels: torch.Tensor) -> None:
        for run, (some, answers) in enumerate(zip(nodes, labels, strict=True)):
            self.votes[run, some, answers] = 1.0

    def fit(self) -> None:
        return

    def logits(self) -> torch.Tensor:
        return 4 * self.graph.norm.mm(self.graph.norm.mm(self.votes))


class InOrder(Strategy):
    """A fixed order of nodes: a strategy that nothing of ours can change."""

    name, reads_budget, stateless = "in-order", False, True

    def scores(self, observation: Observation) -> torch.Tensor:
        order = torch.arange(observation.graph.num_nodes) * 37 % 120
        return order.to(torch.float32).expand(observation.runs, -1)


class Looking(Strategy):
    """Reads what an environment shows."""

    name, reads_budget, stateless = "looking", False, True

    def scores(self, observation: Observation) -> torch.Tensor:
        one, other = observation.divergences
        return observation.noise - observation.negative_entropy + one - other


def played(strategy: Strategy, classifier: Classifier) -> dict[str, Any]:
    """The queries of three runs, and their scores at three budgets."""
    table = compare(
        small(), [strategy], classifiers=[classifier], budgets=[3, 6, 9], runs=3, seed=1, features="raw", device="cpu"
    )
    outcomes = [next(iter(setting.outcomes.values())) for setting in table.settings]
    scores = [[outcome.micro_f1.tolist(), outcome.macro_f1.tolist()] for outcome in outcomes]
    return {"queries": outcomes[-1].queries.tolist(), "scores": np.round(scores, 2).tolist()}


def views_of_a_graph(graph: Graph | None = None) -> dict[str, Any]:
    """Every view's products of nodes, which do not depend on the signs of its columns."""
    views = make_views(GraphTensors(small() if graph is None else graph))
    columns = views.columns.double()
    sizes = torch.einsum("nvk,mvk->vnm", columns, columns).abs().mean((1, 2))
    return {"names": list(views.names), "sizes": np.round(sizes.numpy(), 4).tolist()}


def views_of_plain_graphs() -> dict[str, Any]:
    """The same of graphs with features and edges, with edges alone, and with features alone."""
    both = small()
    edges = Graph.build(both.edge_index, both.num_nodes)
    features = Graph.build(np.zeros((2, 0), np.int64), both.num_nodes, x=both.x)
    of_parts = {"edges alone": views_of_a_graph(edges), "features alone": views_of_a_graph(features)}
    return views_of_a_graph(both) | {
        f"{part}, {which}": value for which, views in of_parts.items() for part, value in views.items()
    }


def views_of_relations() -> dict[str, Any]:
    """The same of graphs of several node types, one without features and one whose types have some."""
    kinds = [
        RelationSettings("written by", "paper", "author", 3.0, 0.8),
        RelationSettings("cites", "paper", "paper", 2.0, 0.7),
    ]
    featured = relational_graph(
        {"paper": 60, "author": 40}, kinds, 3, features={"paper": (8, 1.0), "author": (6, 1.0)}, seed=3
    )
    plain, other = views_of_a_graph(library_graph(60)), views_of_a_graph(featured.to_graph())
    return plain | {f"{part}, with features": value for part, value in other.items()}


RESULTS: dict[str, Callable[[], dict[str, Any]]] = {
    "Environment": lambda: played(Looking(), Spread()),
    "VIEWS_VERSION": views_of_plain_graphs,
    "RELATIONS_VERSION": views_of_relations,
    "Learned": lambda: played(Learned(Policy(seed=5)), Spread()),
    **{
        kind.__name__: lambda kind=kind: played(InOrder(), kind())  # type: ignore[misc]
        for kind in CLASSIFIERS.values()
    },
    **{
        kind.__name__: lambda kind=kind: played(kind(), Spread())  # type: ignore[misc]
        for kind in STRATEGIES.values()
        if isinstance(kind, type)
    },
}


def complaint(name: str) -> str | None:
    """What is to be done about one's results and version; None: nothing."""
    kept, version, now = json.loads(RECORD.read_text())[name], built_in_versions()[name], RESULTS[name]()
    same = kept["results"].keys() == now.keys() and all(alike(kept["results"][part], now[part]) for part in now)
    if version == kept["version"]:
        return None if same else f"the results of {name} have changed: raise the version of {name} (CONTRIBUTING.md)"
    return f"the version of {name} was raised: python -m tests.evaluation.test_versions records its results anew"


def alike(kept: Any, now: Any) -> bool:
    """Queries and names are the same; scores are within what another machine rounds otherwise."""
    one, other = np.asarray(kept), np.asarray(now)
    if one.dtype.kind != "f":
        return bool(np.array_equal(one, other))
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=1e-3, atol=0.02))


def test_everything_that_carries_a_version_is_played() -> None:
    versions = built_in_versions()
    assert [name for name in RESULTS if name not in versions] == [], "give each of these classes version = 1"
    assert set(RESULTS) == set(versions) == set(json.loads(RECORD.read_text())), "record its results (CONTRIBUTING.md)"


@pytest.mark.parametrize("name", sorted(RESULTS))
def test_results_are_those_of_the_version(name: str) -> None:
    assert complaint(name) is None


def test_a_change_without_a_raised_version_is_noticed_and_a_raised_one_asks_for_a_new_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Uncertainty, "scores", lambda self, observation: observation.negative_entropy)
    assert "raise the version of Uncertainty" in str(complaint("Uncertainty"))
    monkeypatch.setattr(Uncertainty, "version", Uncertainty.version + 1)
    assert "was raised" in str(complaint("Uncertainty"))


if __name__ == "__main__":
    versions = built_in_versions()
    record = {name: {"version": versions[name], "results": play()} for name, play in sorted(RESULTS.items())}
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(one)}" for name, one in record.items())
    RECORD.write_text(f"{{\n{lines}\n}}\n")
