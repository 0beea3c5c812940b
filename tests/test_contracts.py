"""Capabilities by name: what is said is asked, what is not said is not used, and what is missing is told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import pytest
import torch

import nodewise as nw
from nodewise.classifiers import CLASSIFIERS, Gcn, Views, make_classifier
from nodewise.contracts import CAPABILITIES, Capability, Classifier, Learner, can, check_capabilities, refusal
from nodewise.ground.errors import InputError, UnknownNameError
from nodewise.strategies import STRATEGIES, Gain, Random
from tests.small_graphs import block_graph


class Silent(Learner):
    """A learner whose optional methods raise: nobody may call what is not declared."""

    def __init__(self, x: torch.Tensor, runs: int, classes: int) -> None:
        self.x, self.runs, self.first = x, runs, classes

    def reset(self, seed: int) -> None:
        assert 0 <= seed < 2**32
        self.num_classes = max(1, self.first)
        self.nodes = self.labels = torch.zeros(self.runs, 0, dtype=torch.int64)
        self.weights = torch.zeros(self.runs, self.x.shape[1], self.num_classes)

    def add(self, nodes: torch.Tensor, labels: torch.Tensor) -> None:
        self.nodes, self.labels = torch.cat([self.nodes, nodes], 1), torch.cat([self.labels, labels], 1)

    def fit(self) -> None:
        weights = torch.zeros_like(self.weights, requires_grad=True)
        guesses = (self.x[self.nodes] @ weights).log_softmax(-1)
        (-guesses.gather(2, self.labels[..., None]).mean()).backward()
        assert weights.grad is not None
        self.weights = -weights.grad

    def logits(self) -> torch.Tensor:
        assert not torch.is_grad_enabled()
        return self.x @ self.weights

    def refuse(self, *arguments: Any) -> Any:
        raise AssertionError("what is not declared was used")

    add_classes = leave_one_out = part = evidence = reach = ridge_posterior = logits_from = refuse


@dataclass(frozen=True)
class Plain(Classifier):
    """One step of gradient descent from the labels alone."""

    name, trained = "plain", False

    def prepare(self, graph: Any, reporter: Any = None) -> torch.Tensor:
        return graph.norm.mm(graph.x[None])[0]

    def start(self, graph: Any, prepared: Any, runs: int, classes: int, budget: int) -> Learner:
        return Silent(prepared, runs, classes)

    def foresee(self, *arguments: Any) -> None:
        raise AssertionError("what is not declared was used")


def test_every_capability_is_described_and_those_of_the_house_are_among_them() -> None:
    assert set(CAPABILITIES) == set(get_args(Capability))
    for name, make in CLASSIFIERS.items():
        check_capabilities(make(), "classifier", name)
    for name in set(STRATEGIES) - {"policy"}:
        check_capabilities(STRATEGIES[name](), "strategy", name)
    assert can(Views(), "explain") and can(Gcn(), "grow-classes") and not can(Gcn(), "explain")
    assert can(Gain(), "several-queries") and not can(Random(), "several-queries")


def test_what_is_missing_is_told_with_its_name_and_a_way_out() -> None:
    assert str(refusal(Plain(), "grow-classes", "no class is named")) == (
        "the classifier 'plain' cannot take in classes while it learns, and no class is named: name all classes at the"
        " start, or use the classifier views or gcn"
    )


def test_a_name_that_there_is_not_is_refused() -> None:
    @dataclass(frozen=True)
    class Typo(Plain):
        capabilities = frozenset({"grow-clases"})  # type: ignore[arg-type]

    @dataclass(frozen=True)
    class Listed(Plain):
        capabilities = ["grow-classes"]  # type: ignore[assignment]  # noqa: RUF012

    with pytest.raises(UnknownNameError, match="unknown capability 'grow-clases': did you mean 'grow-classes'"):
        make_classifier(Typo())
    with pytest.raises(InputError, match="they must be a frozenset of names"):
        make_classifier(Listed())


def test_what_is_not_declared_is_not_used(tmp_path: Path) -> None:
    """In an evaluation, with a strategy that would share a posterior, and in all that a session does."""
    graph = block_graph(60, signal=3.0)
    assert nw.evaluate(graph, "gain", classifier=Plain(), budget=4, runs=2).micro.mean > 30
    with nw.Session.create(
        tmp_path / "job.nodewise", graph, budget=8, classifier=Plain(), classes=["a", "b", "c"], use_labels=False
    ) as session:
        for number in range(6):
            for query in session.ask(2)[:1]:
                session.tell(query.node, "abc"[number % 3])
        assert session.ask().why
        assert session.stop_report().left_out is None
        session.predict()


def test_a_session_that_its_classifier_cannot_serve_is_refused_when_it_is_made(tmp_path: Path) -> None:
    graph, path = block_graph(60), tmp_path / "job.nodewise"
    bare = nw.Graph.build(graph.edge_index, graph.num_nodes, x=graph.x)
    with pytest.raises(InputError, match="'plain' cannot take in classes while it learns, and no class is named"):
        nw.Session.create(path, bare, budget=4, classifier=Plain())
    assert not path.exists()
    with nw.Session.create(path, bare, budget=4, classifier=Plain(), classes=["a", "b"]) as session:
        session.tell(0, "a")
        for attempt in (
            lambda: session.tell(1, "new", new_class=True),
            lambda: session.tell_bulk([1, 2], ["b", "new"], new_class=True),
            lambda: session.add_class("new"),
        ):
            with pytest.raises(InputError, match="cannot take in classes while it learns, and the job has begun"):
                attempt()
        session.tell(1, "b")
        session.predict()


def test_the_page_on_plug_ins_lists_every_capability() -> None:
    page = (Path(__file__).parents[1] / "docs" / "plugins.md").read_text(encoding="utf-8")
    listed = page.partition("<!-- capabilities -->\n")[2].partition("<!-- /capabilities -->")[0]
    assert listed == capability_table(), f"write into docs/plugins.md:\n{capability_table()}"


def capability_table() -> str:
    """The capabilities as the page shows them."""
    rows = ["| name | declared by | it can | methods | without it |", "| --- | --- | --- | --- | --- |"]
    for name, info in CAPABILITIES.items():
        methods = ", ".join(f"`{method}`" for method in info.methods)
        by = info.declared_by if info.also_by is None else f"{info.declared_by}, {info.also_by}"
        rows.append(f"| `{name}` | {by} | {info.ability} | {methods} | {info.instead} |")
    return "".join(f"{row}\n" for row in rows)
