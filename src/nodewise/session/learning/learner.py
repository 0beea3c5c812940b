"""The classifier and the scores as a pure function of graph, settings, seed and effective history.

`follow` brings them to a history: labels that were there before, in the same places, are kept; from the first difference on everything is
replayed. Snapshots of the classifier are a cache in memory: without them the same numbers come out, later.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

import torch

from nodewise.environment import CLOSING_EPOCHS, Observation, Strategy
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.device import one_thread
from nodewise.ground.errors import UnknownNameError
from nodewise.ground.events import Progress, Reporter, Silent
from nodewise.session.learning.environment import Desk
from nodewise.session.learning.growing import GrowingGcn
from nodewise.session.log.history import Label
from nodewise.session.settings import SessionSettings

__all__ = ["CLASSIFIERS", "FRESH", "Learner"]

CLASSIFIERS = {"gcn": GrowingGcn}
"""The classifiers that a session can use: those that new classes can be added to."""

FRESH = frozenset({"random", "uncertainty", "centrality", "centrality-pagerank", "kcenter", "policy", "age"})
"""Strategies that begin anew for every query: their choice depends on the present alone (AGE's clusters are made for each query, as in the
released code). The others carry something from step to step; for them every step's scores are computed, also in a replay."""


class Learner:
    """One person's classifier and what the strategy wants next.

    Args:
        graph: its labels are not read.
        settings: classes, strategy, classifier, seed.
        strategy: the strategy that the settings name.
        given: labels that were there before the session; they are taken in together, one epoch for each but at most 35 in all.
        candidates: nodes that may be asked, bool [node].
        tensors: the graph's, if there are any already; they are shared.
        snapshot_bytes: memory for snapshots, at most.
    """

    def __init__(
        self,
        graph: Graph,
        settings: SessionSettings,
        strategy: Strategy,
        given: Sequence[Label],
        candidates: torch.Tensor,
        tensors: GraphTensors | None = None,
        snapshot_bytes: int = 256 * 2**20,
    ) -> None:
        if settings.classifier not in CLASSIFIERS:
            raise UnknownNameError("classifier for a session", settings.classifier, CLASSIFIERS)
        # A copy without its arrays: the number of classes is each learner's own.
        self.tensors = GraphTensors(graph, "cpu") if tensors is None else copy(tensors)
        self.tensors.num_classes = max(1, len(settings.classes))
        self.classifier = CLASSIFIERS[settings.classifier](self.tensors)
        self.desk = Desk(self.tensors, self.classifier, settings.budget, candidates)
        self._settings, self._strategy, self._snapshot_bytes = settings, strategy, snapshot_bytes
        self._carried = settings.strategy not in FRESH
        self._history: tuple[Label, ...] = ()
        self._classes: tuple[str, ...] = ()
        self._scores: torch.Tensor | None = None
        self._seen: Observation | None = None
        self._snapshots: dict[int, _Moment] = {}
        with one_thread():
            self._start(tuple(given))

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that the classifier knows: those of the start, then those of the labels in the order of the history."""
        return self._classes

    @property
    def count(self) -> int:
        """How many labels it has learned from, given ones included."""
        return self.desk.step

    def follow(self, history: Sequence[Label], given: Sequence[Label] | None = None, reporter: Reporter | None = None) -> None:
        """Bring classifier and scores to a history, from the last place that it shares with the one before.

        Args:
            history: what was told, in order, without the given labels.
            given: the labels from before the session, if they have changed.
            reporter: told after each label; it may use anything but this object.
        """
        history = tuple(history)
        given = self._given if given is None else tuple(given)
        report = reporter or Silent()
        with one_thread():
            if given != self._given:
                self._start(given)
            same = 0
            for old, new in zip(self._history, history, strict=False):
                if old != new:
                    break
                same += 1
            if same < len(self._history):
                self._return_to(same)  # or to a place before it
            for label in history[len(self._history) :]:
                self._learn(label)
                report(Progress("learn", len(self._history), len(history)))

    def scores(self) -> torch.Tensor:
        """How much the strategy wants each node now: [node]."""
        with one_thread():
            if self._scores is None:
                if not self._carried:
                    self._strategy.begin(self.desk)
                self._scores = self._strategy.scores(self.observation)[0]
            return self._scores

    def set_budget(self, budget: int) -> None:
        """The budget as the strategy sees it. Strategies that carry something keep the first one, which they have begun with."""
        if budget != self.desk.budget and not self._carried:
            self.desk.budget = budget
            self._moved()

    @property
    def observation(self) -> Observation:
        """What there is to see now; computed once for each moment."""
        if self._seen is None:
            self._seen = self.desk.observe()
        return self._seen

    def probabilities(self) -> torch.Tensor:
        """The predictions of the moment: [node, class]."""
        with one_thread():
            return self.observation.probabilities[0]

    def closed(self, epochs: int = CLOSING_EPOCHS, reporter: Reporter | None = None) -> torch.Tensor:
        """The predictions of a copy that was trained the closing epochs: [node, class]. The reporter is told after each, as in `follow`."""
        report = reporter or Silent()
        with one_thread():
            kept = self.classifier.snapshot()
            try:
                for done in range(epochs):
                    self.classifier.epoch()
                    report(Progress("predict", done + 1, epochs))
                return torch.softmax(self.classifier.logits()[0], -1)
            finally:
                self.classifier.restore(kept)

    def forget_snapshots(self) -> None:
        """Drop the cache; nothing but time depends on it."""
        self._snapshots.clear()

    def _start(self, given: tuple[Label, ...]) -> None:
        self._given, self._history, self._classes = given, (), tuple(self._settings.classes)
        self._snapshots.clear()
        self.desk.clear(self._settings.seed)
        self.classifier.begin(self.desk.classifier_seed(), self._classes)
        for label in given:
            self.desk.take(label.node, self._number(label.label))
        for _ in range(min(len(given), CLOSING_EPOCHS)):
            self.classifier.epoch()
        self._moved()
        if self._carried:
            self._strategy.begin(self.desk)
        self._keep()

    def _learn(self, label: Label) -> None:
        """One label and its epoch."""
        if self._carried:
            self.scores()  # the strategy sees every step exactly once, in a replay as well
        self.desk.take(label.node, self._number(label.label))
        self.classifier.epoch()
        self._history = (*self._history, label)
        self._moved()
        self._keep()

    def _number(self, name: str) -> int:
        if name not in self._classes:
            if self._classes:
                self.classifier.add_class(name)
            else:
                self.classifier.begin(self.desk.classifier_seed(), (name,))  # the first class of all takes the nameless column's place
            self._classes = (*self._classes, name)
        return self._classes.index(name)

    def _moved(self) -> None:
        self._scores, self._seen = None, None

    def _return_to(self, place: int) -> None:
        """Back to a place of the history, or to the last one before it that is remembered."""
        nearest = max((kept for kept in self._snapshots if kept <= place), default=None)
        if self._carried or nearest is None:
            self._start(self._given)
        else:
            moment = self._snapshots[nearest]
            self.classifier.restore(moment.classifier)
            nodes, numbers = (column[0, : moment.taken].tolist() for column in self.desk.queried)
            self.desk.go_back(list(zip(nodes, numbers, strict=True)))
            self._classes, self._history = moment.classes, self._history[:nearest]
            self._snapshots = {kept: value for kept, value in self._snapshots.items() if kept <= nearest}
            self._moved()

    def _keep(self) -> None:
        """Remember this moment; of many, every second old one is dropped."""
        if self._carried:
            return
        self._snapshots[len(self._history)] = _Moment(self.classifier.snapshot(), self.desk.step, self._classes)
        size = 12 * (self.classifier.w0.numel() + self.classifier.w1.numel()) + 2 * self.tensors.num_nodes
        most = max(8, self._snapshot_bytes // size)
        if len(self._snapshots) > most:
            places = sorted(self._snapshots)
            for place in places[1 : len(places) // 2 : 2]:
                del self._snapshots[place]


class _Moment(NamedTuple):
    classifier: Any
    taken: int
    classes: tuple[str, ...]
