"""The suite of classifiers: what keeps the contract passes, and each broken promise is told by its sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import pytest
import torch

from nodewise.classifiers import Gcn
from nodewise.contracts import Capability, Classifier, Learner
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError
from nodewise.testing import ContractError, check_classifier


class MeansLearner(Learner):
    """Scores a class by the product with the mean of its labelled nodes' diffused features."""

    def __init__(self, x: torch.Tensor, runs: int, classes: int) -> None:
        self.x, self.runs, self.first = x, runs, classes

    def reset(self, seed: int) -> None:
        self.num_classes, self.known = max(1, self.first), self.first
        self.nodes = self.labels = torch.zeros(self.runs, 0, dtype=torch.int64)

    def add(self, nodes: torch.Tensor, labels: torch.Tensor) -> None:
        self.nodes, self.labels = torch.cat([self.nodes, nodes], 1), torch.cat([self.labels, labels], 1)

    def fit(self) -> None:
        pass

    def logits(self) -> torch.Tensor:
        hot = torch.nn.functional.one_hot(self.labels, self.num_classes).to(self.x.dtype)  # [run, label, class]
        means = hot.transpose(1, 2) @ self.x[self.nodes] / hot.sum(1)[..., None].clamp_min(1)  # [run, class, feature]
        return self.x @ means.transpose(1, 2)

    def add_classes(self, names: Sequence[str]) -> None:
        self.known += len(names)
        self.num_classes = max(1, self.known)

    def snapshot(self) -> Any:
        return self.nodes, self.labels, self.known

    def restore(self, snapshot: Any) -> None:
        self.nodes, self.labels, self.known = snapshot
        self.num_classes = max(1, self.known)


@dataclass(frozen=True)
class Means(Classifier):
    """A classifier in closed form that keeps every promise."""

    name = "means"
    trained = False
    capabilities = frozenset[Capability]({"grow-classes"})
    steps: int = 2

    def prepare(self, graph: GraphTensors, reporter: Any = None) -> torch.Tensor:
        x = graph.input_product(torch.eye(graph.num_features, dtype=graph.dtype)[None])
        for _ in range(self.steps):
            x = graph.norm.mm(x)
        x = x[0] - x[0].mean(0)
        return x / x.norm(dim=1, keepdim=True).clamp_min(1e-6)

    def start(self, graph: GraphTensors, prepared: Any, runs: int, classes: int, budget: int) -> Learner:
        return self.learner(prepared, runs, classes)

    learner = MeansLearner


def broken(*capabilities: Any, **methods: Any) -> Means:
    """The classifier with learners of which some methods are others, and with more capabilities."""
    made = type(
        "Means",
        (Means,),
        {
            "learner": type("BrokenLearner", (MeansLearner,), methods),
            "capabilities": Means.capabilities | set(capabilities),
            "__reduce__": lambda self: (Means, ()),
        },
    )()
    assert isinstance(made, Means)
    return made


def noisy(learner: MeansLearner) -> torch.Tensor:
    return MeansLearner.logits(learner) + torch.rand(1)


def seedless(learner: MeansLearner) -> torch.Tensor:
    learner.calls = getattr(learner, "calls", 0) + 1  # type: ignore[attr-defined]
    return MeansLearner.logits(learner) + learner.calls  # type: ignore[attr-defined]


def blended(learner: MeansLearner) -> torch.Tensor:
    return MeansLearner.logits(learner).mean(0, keepdim=True).expand(learner.runs, -1, -1).contiguous()


def by_order(learner: MeansLearner) -> torch.Tensor:
    weight = torch.linspace(1, 2, max(1, learner.nodes.shape[1]))[: learner.nodes.shape[1]]
    hot = torch.nn.functional.one_hot(learner.labels, learner.num_classes).to(learner.x.dtype) * weight[:, None]
    return learner.x @ (hot.transpose(1, 2) @ learner.x[learner.nodes]).transpose(1, 2)


def stuck(learner: MeansLearner, snapshot: Any) -> None:
    return


def narrow(learner: MeansLearner, names: Sequence[str]) -> None:
    return


def swollen(learner: MeansLearner, names: Sequence[str]) -> None:
    """Classes that came stay after a reset."""
    learner.first += len(names)
    MeansLearner.add_classes(learner, names)


def shifted(learner: MeansLearner, nodes: torch.Tensor, labels: torch.Tensor) -> None:
    MeansLearner.add(learner, nodes, labels.clone())
    labels.zero_()


@pytest.mark.slow
def test_what_keeps_the_contract_passes() -> None:
    check_classifier(Means())
    check_classifier(Means(steps=1))
    check_classifier(Gcn(hidden=16, dropout=0.0))
    check_classifier(Gcn(hidden=16, observed="training"))


@pytest.mark.parametrize(
    ("methods", "said"),
    [
        ({"logits": noisy}, "global random states|shows the same"),
        ({"logits": seedless}, "looking twice"),
        ({"logits": blended}, "other labels in one run leave the other runs as they are"),
        ({"logits": by_order}, "do not depend on the order of the labels"),
        (
            {"logits": lambda learner: MeansLearner.logits(learner)[0]},
            r"logits\(\) is \[run, node, class\] before the first label",
        ),
        ({"logits": lambda learner: MeansLearner.logits(learner).double()}, "the graph's kind and device"),
        ({"logits": lambda learner: MeansLearner.logits(learner).log()}, r"logits\(\) is finite"),
        ({"logits": lambda learner: -MeansLearner.logits(learner)}, "teach it something"),
        (
            {"reset": lambda learner, seed: None if hasattr(learner, "nodes") else MeansLearner.reset(learner, seed)},
            r"after reset\(\)|shape",
        ),
        ({"restore": stuck}, r"restore\(\) brings the predictions of the snapshot back"),
        ({"add_classes": narrow}, "num_classes counts the classes that came|raised"),
        (
            {"add_classes": swollen},
            r"reset\(\) forgets the classes that came, and knows those of the start; num_classes is 5",
        ),
        ({"add": shifted}, r"changes nothing that it is given, here the labels of add\(\)"),
        ({"recordable": "yes"}, "recordable is True or False"),
        ({"embedding": lambda learner: learner.x}, r"embedding\(\) is \[run, node, width\]"),
    ],
)
def test_a_broken_promise_is_told(methods: Mapping[str, Any], said: str) -> None:
    with pytest.raises(ContractError, match=f"the classifier 'means' does not keep its contract: .*({said})"):
        check_classifier(broken(**methods))


def test_a_classifier_that_reads_labels_is_found_out() -> None:
    class Peeking(Means):
        def start(self, graph: GraphTensors, prepared: Any, runs: int, classes: int, budget: int) -> Learner:
            return self.learner(prepared + graph.y[:, None], runs, classes)

        def __reduce__(self) -> Any:
            return Means, ()

    with pytest.raises(ContractError, match="it raised AttributeError"):
        check_classifier(Peeking())


@pytest.mark.parametrize(
    ("capability", "methods", "said"),
    [
        ("leave-one-out", {"leave_one_out": lambda learner: torch.ones(3, 6, 3)}, r"\(\) gives probabilities"),
        ("leave-one-out", {"leave_one_out": lambda learner: torch.ones(3, 3)}, r"\(\) is \[run, label, class\]"),
        ("leave-one-out", {"leave_one_out": lambda learner: None}, r"\(\) gives a prediction for each label; got None"),
        ("leave-one-out", {}, r"come its methods; BrokenLearner has no leave_one_out\(\)"),
        ("part", {"part": lambda learner, nodes: shuffled(learner, nodes)}, r"part\(\) predicts its nodes as"),
        ("explain", {"evidence": lambda learner, node: [], "reach": lambda learner, node: 1.0}, "gives the labelled"),
        ("explain", {"evidence": lambda learner, node: []}, r"BrokenLearner has no reach\(\)"),
        ("foresee", {}, r"come its methods; Means has no foresee\(\)"),
        ("foresight", {}, "unknown capability 'foresight': did you mean .*'foresee'"),
        ("several-queries", {}, "unknown capability 'several-queries': .* The classifier 'means' declares it"),
    ],
)
def test_what_is_declared_holds(capability: str, methods: Mapping[str, Any], said: str) -> None:
    with pytest.raises((ContractError, InputError), match=said):
        check_classifier(broken(capability, **methods))


def shuffled(learner: MeansLearner, nodes: torch.Tensor) -> MeansLearner:
    part = copy(learner)
    part.logits = lambda: MeansLearner.logits(learner)[:, nodes.flip(0)]  # type: ignore[method-assign]
    return part


def test_what_nobody_would_use_is_told() -> None:
    with pytest.raises(ContractError, match=r"add 'leave-one-out' to capabilities.*; BrokenLearner has leave_one_out"):
        check_classifier(broken(leave_one_out=lambda learner: None))


def test_who_cannot_take_in_classes_says_nothing_of_it() -> None:
    class Fixed(Means):
        capabilities = frozenset()

        def start(self, graph: GraphTensors, prepared: Any, runs: int, classes: int, budget: int) -> Learner:
            return FixedLearner(MeansLearner(prepared, runs, classes))

        def __reduce__(self) -> Any:
            return Means, ()

    check_classifier(Fixed())


class FixedLearner(Learner):
    """The same without classes that come on the way."""

    def __init__(self, inner: MeansLearner) -> None:
        self.inner = inner

    def reset(self, seed: int) -> None:
        self.inner.reset(seed)
        self.num_classes = self.inner.num_classes

    def add(self, nodes: torch.Tensor, labels: torch.Tensor) -> None:
        self.inner.add(nodes, labels)

    def logits(self) -> torch.Tensor:
        return self.inner.logits()


def test_learning_by_gradients_needs_no_word_of_its_own() -> None:
    """`fit` and `finish` run with gradients on, though the suite, episodes and sessions run without."""

    class Descending(MeansLearner):
        def fit(self) -> None:
            self.scale = torch.ones(1, requires_grad=True)
            (self.scale * 2).sum().backward()
            assert self.scale.grad is not None

        finish = lambda self, reporter=None: self.fit()  # noqa: E731

    check_classifier(broken(fit=Descending.fit, finish=Descending.finish))
