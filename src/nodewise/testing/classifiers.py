"""The contract suite of classifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

import numpy as np
import torch

from nodewise.classifiers import make_classifier
from nodewise.contracts import (
    CAPABILITIES,
    Classifier,
    Explains,
    Foresees,
    GrowsByClasses,
    Learner,
    LeavesOneOut,
    LooksAtPart,
    PredictsFromEmbedding,
    TakesSets,
    TakesSuggestions,
    TakesTrust,
    can,
)
from nodewise.environment import finish_learner, fit_learner
from nodewise.graph import Graph
from nodewise.graph.graph import canonical_features
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.events import Silent
from nodewise.testing.promises import Suite, close, graph_parts, odd_graphs, reordered, small_graph

__all__ = ["check_classifier"]

_RUNS, _LABELS = 3, 6


def check_classifier(classifier: Classifier | str, device: str = "cpu", *, node_order: bool | None = None) -> None:
    """Plays a classifier on small graphs and looks whether it keeps the contract of `nodewise.contracts`.

    Args:
        classifier: an object, or a name as `make_classifier` takes it.
        device: where: ``"cpu"`` or ``"cuda"``.
        node_order: whether predictions must not depend on the order of the nodes; by default they must not where the
            classifier is in closed form.

    Raises:
        nodewise.testing.promises.ContractError: it does not; the sentence says which promise.
    """
    _ClassifierSuite(make_classifier(classifier), device, node_order).run()


class _ClassifierSuite(Suite):
    """Every promise of a classifier and its learners."""

    def __init__(self, classifier: Classifier, device: str, node_order: bool | None) -> None:
        super().__init__("classifier", classifier)
        self._classifier, self._device = classifier, device
        self._node_order = not classifier.trained if node_order is None else node_order

    def run(self) -> None:
        """All promises, the plainest first."""
        self.identity(self._classifier)
        for promise, check in (
            ("it answers what it needs and prefers", self._preferences),
            ("it can do what it says, and says what is used", self._capabilities),
            ("its learners give numbers of the right shape and kind", self._numbers),
            ("it works on any graph", self._odd),
            ("it leaves what it is given as it is", self._given),
            ("the same seed gives the same result", self._seed),
            ("runs do not see each other's labels", self._runs),
            ("a snapshot is come back to as if nothing had happened", self._snapshot),
            ("it learns with gradients on, from a seed of 32 bits", self._fitting),
            ("where it can take in classes, they may come while it learns", self._classes),
            ("where it can, predictions for left-out labels are probabilities", self._leave_one_out),
            ("where it can begin with what models say, it does", self._suggestions),
            ("where it can let labels count less, it does", self._trust),
            ("where it can deal with several labels of a node, each class is decided", self._several),
            ("where it can look at a part, that shows the same", self._part),
            ("where it can explain, labels speak for a prediction", self._explain),
            ("where it can predict from an embedding, its own gives its prediction", self._from_embedding),
            ("without epochs, predictions follow from the labels alone", self._closed_form),
            ("the order of the nodes does not matter", self._order),
            ("it learns", self._learns),
        ):
            with torch.no_grad(), self.own_randomness():
                self.attempt(promise, check)

    def _tensors(self, graph: Graph) -> GraphTensors:
        return GraphTensors(graph, self._device)

    def _started(
        self, graph: GraphTensors, runs: int = _RUNS, seed: int = 7, classes: int | None = None, budget: int = _LABELS
    ) -> Learner:
        """Fresh learners, which are given no labels but those that it adds: the graph has none."""
        prepared = graph.prepared_by(self._classifier)
        known = graph.num_classes if classes is None else classes
        learner = self._classifier.start(graph.unlabelled, prepared, runs, known, budget)
        learner.reset(seed)
        return learner

    def _taught(
        self,
        graph: GraphTensors,
        learner: Learner,
        labels: int = _LABELS,
        shift: Callable[[torch.Tensor], None] | None = None,
        runs: int = _RUNS,
    ) -> Learner:
        """The learner after labels, one at a time, each with its fit."""
        for step in range(labels):
            nodes = _nodes(graph, step)[:runs]
            answers = graph.y[nodes]
            if shift is not None:
                shift(answers)
            learner.add(nodes, answers)
            fit_learner(learner)
        return learner

    def _preferences(self) -> None:
        graph = small_graph()
        wanted = self._classifier.default_features(graph)
        canonical_features(wanted, graph.name)
        size = self._classifier.bytes_per_run(self._tensors(graph), 10)
        self.expect(isinstance(size, int) and size > 0, "bytes_per_run() gives a whole number above 0", f"got {size!r}")
        trained = self._classifier.trained
        self.expect(isinstance(trained, bool), "trained is True or False", f"got {trained!r}")

    def _numbers(self) -> None:
        graph = self._tensors(small_graph())
        learner = self._started(graph)
        recordable = learner.recordable
        self.expect(isinstance(recordable, bool), "its learners' recordable is True or False", f"got {recordable!r}")
        self._look(learner, graph, "before the first label")
        learner = self._taught(graph, learner, 2)
        self._look(learner, graph, "after two labels")
        given = learner.logits()
        kept = given.clone()
        self.expect(close(learner.logits(), kept), "looking twice at logits() shows the same")
        self._taught(graph, learner, 1)
        self.expect(torch.equal(given, kept), "logits that were handed out are not overwritten later")
        learner.add(
            torch.tensor([[3, 4]] * _RUNS, device=graph.device),
            graph.y[torch.tensor([[3, 4]] * _RUNS, device=graph.device)],
        )
        fit_learner(learner)
        self._look(learner, graph, "after two labels at once")
        finish_learner(learner, Silent())
        self._look(learner, graph, "after finish()")

    def _look(self, learner: Learner, graph: GraphTensors, when: str) -> None:
        logits, embedding = learner.logits(), learner.embedding()
        wanted = (_RUNS, graph.num_nodes, max(1, graph.num_classes))
        self.expect(
            tuple(logits.shape) == wanted,
            f"logits() is [run, node, class] {when}",
            f"got {list(logits.shape)}, not {list(wanted)}",
        )
        self.expect(
            learner.num_classes == wanted[2],
            f"num_classes is the number of classes {when}",
            f"got {learner.num_classes}",
        )
        self.expect(
            embedding.dim() == 3 and embedding.shape[:2] == wanted[:2], f"embedding() is [run, node, width] {when}"
        )
        for name, tensor in (("logits", logits), ("embedding", embedding)):
            kind = tensor.dtype == graph.dtype and tensor.device == graph.device
            self.expect(
                kind, f"{name}() has the graph's kind and device {when}", f"got {tensor.dtype} on {tensor.device}"
            )
            self.expect(torch.isfinite(tensor).all(), f"{name}() is finite {when}")
            self.expect(not tensor.requires_grad, f"{name}() carries no gradient {when}")

    def _odd(self) -> None:
        for name, graph in odd_graphs().items():
            tensors = self._tensors(graph)

            def play(tensors: GraphTensors = tensors, name: str = name) -> None:
                learner = self._taught(tensors, self._started(tensors))
                finish_learner(learner)
                self._look(learner, tensors, f"on {name}")

            self.attempt(f"it works on {name}", play)

    def _given(self) -> None:
        for features in ("dense", "sparse"):
            graph = self._tensors(small_graph(features))
            nodes = torch.cat([_nodes(graph, step) for step in range(2)], 1)
            labels = graph.y[nodes]
            with self.untouched({**graph_parts(graph), "the nodes of add()": nodes, "the labels of add()": labels}):
                learner = self._started(graph)
                learner.add(nodes, labels)
                fit_learner(learner)
                learner.logits(), learner.embedding()
                finish_learner(learner)
                learner.logits()

    def _seed(self) -> None:
        graph = self._tensors(small_graph())
        learner = self._started(graph)
        first = self._taught(graph, learner).logits().clone()
        finish_learner(learner)
        learner.reset(7)
        again = self._taught(graph, learner).logits()
        self.expect(close(first, again), "after reset() with the same seed everything is as it was the first time")
        fresh = self._taught(graph, self._started(graph)).logits()
        self.expect(close(first, fresh), "the same seed gives the same predictions in other learners")

    def _runs(self) -> None:
        graph = self._tensors(small_graph())

        def other(labels: torch.Tensor) -> None:
            labels[1] = (labels[1] + 1) % graph.num_classes

        plain = self._taught(graph, self._started(graph)).logits()
        shifted = self._taught(graph, self._started(graph), shift=other).logits()
        self.expect(close(plain[[0, 2]], shifted[[0, 2]]), "other labels in one run leave the other runs as they are")
        self.expect(not torch.equal(plain[1], shifted[1]), "other labels give other predictions")

    def _snapshot(self) -> None:
        graph = self._tensors(small_graph())
        straight, disturbed = (self._taught(graph, self._started(graph), 2) for _ in range(2))
        kept = disturbed.snapshot()
        if kept is None:
            return
        for _ in range(2):
            self._taught(graph, disturbed, 3)
            finish_learner(disturbed)
            disturbed.restore(kept)
            self.expect(
                close(disturbed.logits(), straight.logits()),
                "restore() brings the predictions of the snapshot back, as often as wanted",
            )
        for learner in (straight, disturbed):
            nodes = _nodes(graph, 4)
            learner.add(nodes, graph.y[nodes])
            fit_learner(learner)
        self.expect(
            close(disturbed.logits(), straight.logits()), "after restore() learning goes on as if nothing had happened"
        )

    def _capabilities(self) -> None:
        self.capabilities(self._classifier, "classifier", self._classifier.name)
        learner = self._started(GraphTensors(small_graph()))  # what is declared, a session asks on the CPU
        self.capabilities(learner, "learner", type(learner).__name__)
        for name, info in CAPABILITIES.items():
            of_learner = [method.partition(".")[2] for method in info.methods if method.startswith("Learner.")]
            self.methods(learner, name, of_learner, declared=can(self._classifier, name))
        if can(self._classifier, "foresee"):
            cast(Foresees, self._classifier).foresee(small_graph(), Silent())

    def _fitting(self) -> None:
        graph = self._tensors(small_graph())
        learner = self._started(graph, seed=2**32 - 1)
        nodes = _nodes(graph, 0)
        learner.add(nodes, graph.y[nodes])
        for work in (fit_learner, finish_learner):
            work(learner)
            self.expect(not torch.is_grad_enabled(), "it leaves torch's gradients as they were")
        self.expect(not learner.logits().requires_grad, "logits() carries no gradient after it has learned")

    def _part(self) -> None:
        if not can(self._classifier, "part"):
            return
        graph = GraphTensors(small_graph())  # a session's, on the CPU
        learner = self._taught(graph, self._started(graph))
        nodes = torch.tensor([5, 1, 40])
        some = cast(LooksAtPart, learner).part(nodes).logits()
        same = torch.allclose(some.softmax(-1), learner.logits()[:, nodes].softmax(-1), rtol=1e-4, atol=1e-5)
        self.expect(same, "part() predicts its nodes as they are predicted among all others")

    def _from_embedding(self) -> None:
        graph = self._tensors(small_graph())
        learner = self._taught(graph, self._started(graph))
        said = can(learner, "from-embedding")
        self.expect(
            can(self._classifier, "from-embedding") == said,
            "a classifier and its learners declare 'from-embedding' alike: both are asked",
        )
        if not said:
            return
        finish_learner(learner)
        made = cast(PredictsFromEmbedding, learner).logits_from(learner.embedding())
        same = torch.allclose(made.softmax(-1), learner.logits().softmax(-1), rtol=1e-3, atol=1e-3)
        self.expect(same, "logits_from(embedding()) predicts as logits() does once it has finished")

    def _explain(self) -> None:
        if not can(self._classifier, "explain"):
            return
        graph = GraphTensors(small_graph())  # a session's, on the CPU
        learner = self._taught(graph, self._started(graph, runs=1), runs=1)
        explains = cast(Explains, learner)
        evidence = explains.evidence(40)
        nodes = sorted(int(_nodes(graph, step)[0, 0]) for step in range(_LABELS))
        self.expect(
            sorted(node for node, _ in evidence) == nodes, "evidence() gives the labelled nodes", f"got {evidence!r}"
        )
        amounts = [amount for _, amount in evidence]
        self.expect(amounts == sorted(amounts, reverse=True), "evidence() gives the strongest first")
        self.expect(explains.reach(40) >= 0, "reach() is a number of nodes", f"got {explains.reach(40)!r}")

    def _classes(self) -> None:
        if not can(self._classifier, "grow-classes"):
            return
        graph = GraphTensors(small_graph())  # classes come in a session, and that runs on the CPU
        learner = cast(_Growing, self._started(graph, runs=1, classes=0))
        self.expect(
            learner.num_classes >= 1 and learner.logits().shape[-1] == learner.num_classes,
            "with no class known there is one to predict",
        )
        learner.add_classes(["a", "b"])
        node, label = (torch.tensor([[number]], device=graph.device) for number in (0, 1))
        learner.add(node, label)
        fit_learner(learner)
        kept = learner.snapshot()
        for names, count in ((["c"], 3), (["d", "e"], 5), ([], 5)):
            learner.add_classes(names)
            learner.add(node + count, torch.tensor([[count - 1]], device=graph.device))
            fit_learner(learner)
            self.expect(
                learner.num_classes == count,
                "num_classes counts the classes that came",
                f"got {learner.num_classes}, not {count}",
            )
            self.expect(
                tuple(learner.logits().shape) == (1, graph.num_nodes, count),
                "logits() has a column for each class that came",
            )
            self.expect(torch.isfinite(learner.logits()).all(), "logits() is finite after classes came")
        learner.reset(7)
        self.expect(
            learner.num_classes == 1 and learner.logits().shape[-1] == 1,
            "reset() forgets the classes that came, and knows those of the start",
            f"num_classes is {learner.num_classes}",
        )
        if kept is not None:
            learner.restore(kept)
            self.expect(
                learner.num_classes == 2 and learner.logits().shape[-1] == 2,
                "restore() brings back the classes that there were",
            )

    def _leave_one_out(self) -> None:
        if not can(self._classifier, "leave-one-out"):
            return
        graph = self._tensors(small_graph())
        learner = self._taught(graph, self._started(graph))
        left_out = cast(LeavesOneOut, learner).leave_one_out()
        if left_out is None:
            self.fail("leave_one_out() gives a prediction for each label", "got None")
        wanted = (_RUNS, _LABELS, graph.num_classes)
        self.expect(
            tuple(left_out.shape) == wanted,
            "leave_one_out() is [run, label, class]",
            f"got {list(left_out.shape)}, not {list(wanted)}",
        )
        ones = torch.allclose(left_out.sum(-1), torch.ones_like(left_out[..., 0]), atol=1e-4)
        self.expect(ones and bool((left_out >= 0).all()), "leave_one_out() gives probabilities")

    def _suggestions(self) -> None:
        if not can(self._classifier, "own-centre"):
            return
        graph = self._tensors(small_graph())
        learner = self._taught(graph, self._started(graph))
        before = learner.logits().softmax(-1).clone()
        answers = np.eye(graph.num_classes, dtype=np.float32)[graph.y.cpu().numpy()][None]
        takes = cast(TakesSuggestions, learner)
        takes.set_suggestions(answers)
        learner.reset(7)
        right = (learner.logits().argmax(-1) == graph.y).float().mean()
        self.expect(
            float(right) > 0.5,
            "before the first label predictions follow what a model says that is right, after reset() as well",
            f"{100 * float(right):.0f} % are right",
        )
        takes.set_suggestions(None)
        taught = self._taught(graph, learner)
        same = torch.allclose(before, taught.logits().softmax(-1), rtol=1e-4, atol=1e-4)
        self.expect(same, "set_suggestions(None) takes back what models have said")

    def _trust(self) -> None:
        if not can(self._classifier, "label-trust"):
            return
        graph = self._tensors(small_graph())
        learner = self._taught(graph, self._started(graph))
        before = learner.logits().softmax(-1).clone()
        takes = cast(TakesTrust, learner)
        trust = takes.label_trust()
        within = tuple(trust.shape) == (_RUNS, _LABELS) and bool(((trust >= 0) & (trust <= 1)).all())
        self.expect(within, "label_trust() is [run, label], from 0 to 1", f"got {list(trust.shape)}")
        takes.set_trust(np.ones(graph.num_nodes, np.float32), np.ones(graph.num_nodes, bool))
        same = torch.allclose(before, learner.logits().softmax(-1), rtol=1e-4, atol=1e-4)
        self.expect(same, "set_trust() changes nothing where no label is to be doubted")
        takes.set_trust(np.full(graph.num_nodes, 0.02, np.float32))
        changed = not torch.allclose(before, learner.logits().softmax(-1))
        self.expect(changed, "set_trust() lets labels count less that are hardly trusted")
        takes.set_trust(None)
        whole = torch.allclose(before, learner.logits().softmax(-1), rtol=1e-4, atol=1e-4)
        self.expect(whole, "set_trust(None) lets each label count whole")

    def _several(self) -> None:
        if not can(self._classifier, "several-labels"):
            return
        graph = self._tensors(small_graph())
        classes = graph.num_classes
        prepared = graph.prepared_by(self._classifier)
        starts = cast(TakesSets, self._classifier)
        learner = starts.start_several(graph.unlabelled, prepared, _RUNS, classes, 2 * _LABELS)
        learner.reset(3)
        one_hot = torch.nn.functional.one_hot(graph.y.clamp_min(0), classes).to(torch.int8)
        for step in range(2 * _LABELS):
            nodes = _nodes(graph, step)
            answers = one_hot[nodes]
            learner.add(nodes, torch.zeros_like(answers) if step == 1 else answers)
            fit_learner(learner)
        finish_learner(learner)
        logits, thresholds = learner.logits(), learner.thresholds()
        self.expect(
            logits.shape == (_RUNS, graph.num_nodes, classes) and bool(torch.isfinite(logits).all()),
            "logits() of several labels are finite log odds [run, node, class]",
            f"got {list(logits.shape)}",
        )
        self.expect(
            thresholds.shape == (_RUNS, classes) and bool(torch.isfinite(thresholds).all()),
            "thresholds() are finite log odds [run, class]",
            f"got {list(thresholds.shape)}",
        )

    def _closed_form(self) -> None:
        if self._classifier.trained:
            return
        graph = self._tensors(small_graph())
        nodes = torch.cat([_nodes(graph, step) for step in range(_LABELS)], 1)
        predictions = []
        for order in (range(_LABELS), reversed(range(_LABELS))):
            learner = self._started(graph)
            for step in order:
                learner.add(nodes[:, [step]], graph.y[nodes[:, [step]]])
                fit_learner(learner)
            predictions.append(learner.logits().softmax(-1))
        together = self._started(graph)
        together.add(nodes, graph.y[nodes])
        fit_learner(together)
        fit_learner(together)
        predictions.append(together.logits().softmax(-1))
        for other in predictions[1:]:
            same = torch.allclose(predictions[0], other, rtol=1e-3, atol=1e-3)
            self.expect(
                same,
                "where it is not trained, predictions do not depend on the order of the labels, nor on how often it"
                " fits",
            )

    def _order(self) -> None:
        if not self._node_order or self._device != "cpu":
            return
        graph = small_graph()
        order = np.random.default_rng(3).permutation(graph.num_nodes)
        index = torch.from_numpy(np.argsort(order))
        plain, turned = GraphTensors(graph, dtype=torch.float64), reordered(graph, order, torch.float64)
        one, other = self._started(plain), self._started(turned)
        for step in range(_LABELS):
            nodes = _nodes(plain, step)
            one.add(nodes, plain.y[nodes])
            other.add(index[nodes], plain.y[nodes])
        fit_learner(one)
        fit_learner(other)
        same = torch.allclose(one.logits().softmax(-1), other.logits().softmax(-1)[:, index], rtol=1e-4, atol=1e-5)
        self.expect(same, "the nodes in another order are predicted as before")

    def _learns(self) -> None:
        graph = self._tensors(small_graph(nodes=90))
        learner = self._started(graph, budget=15)
        for step in range(15):
            nodes = torch.full((_RUNS, 1), step, device=graph.device)
            learner.add(nodes, graph.y[nodes])
            fit_learner(learner)
        finish_learner(learner)
        right = float((learner.logits().argmax(-1) == graph.y).float().mean())
        self.expect(
            right > 0.5,
            "five labels of each of three easy classes teach it something",
            f"{100 * right:.0f} % are predicted right",
        )


def _nodes(graph: GraphTensors, step: int) -> torch.Tensor:
    """The node that each run learns in a step, int64 [run, 1]; all differ, and one stands alone."""
    nodes = torch.tensor([[step], [step + _LABELS], [step + 2 * _LABELS]], device=graph.device)
    return torch.where(nodes == 2 * _LABELS + 1, graph.num_nodes - 1, nodes)


class _Growing(Learner, GrowsByClasses, Protocol):
    """A learner that can take in classes."""
