"""A session's classifier and scores as a pure function of graph, settings, seed and effective history.

`follow` brings them to a history. A classifier that is trained takes the labels in their order, one epoch each: labels
that were there before, in the same positions, are kept, and from the first difference on everything is replayed;
snapshots are a cache in memory, without which the same numbers come out, later. A classifier in closed form takes all
labels at once, sorted by node: its predictions do not depend on their order, and an undo is one fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np
import torch

from nodewise.contracts import (
    AsksAtRandom,
    AsksSeveral,
    Classifier,
    GrowsByClasses,
    Learner,
    LearnsSets,
    LooksAtPart,
    Strategy,
    TakesSets,
    TakesSuggestions,
    TakesTrust,
    can,
    refusal,
    seen_by,
)
from nodewise.environment import (
    Columns,
    EnvironmentObservation,
    SessionEnvironment,
    checked_logits,
    checked_scores,
    choose,
    finish_learner,
    fit_learner,
    reset_learner,
)
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import one_thread
from nodewise.ground.errors import InputError
from nodewise.ground.events import Progress, Reporter, Silent
from nodewise.session.answers import ClassList
from nodewise.session.meaning.given import answer_table
from nodewise.session.meaning.rules import Label
from nodewise.session.meaning.suggestions import Said
from nodewise.session.meaning.trust import LabelTrust
from nodewise.session.settings import SessionSettings

if TYPE_CHECKING:
    import numpy.typing as npt

    from nodewise.session.log.contents import Contents

__all__ = ["MANY_NODES", "Learners", "Purpose", "SessionLearner"]

MANY_NODES = 200_000
"""Nodes from which predictions are computed where they are looked at, and shares of all nodes are those of a sample.
"""
_NO_CHANCE = 1e-9
"""What a class that is never predicted has at most: an observation keeps chances above 1e-10, for their logarithms."""
_GIVEN_EPOCHS = 35
"""Epochs, at most, on the labels that were there before the session."""
Purpose = Literal["ask", "predict", "report"]
_SNAPSHOT_BYTES: dict[Purpose, int] = {"ask": 256 * 2**20, "predict": 64 * 2**20, "report": 64 * 2**20}
"""Memory for the snapshots of each classifier."""


class SessionLearner:
    """One person's classifier and what the strategy wants next.

    Args:
        tensors: the graph's; they may be shared.
        settings: classes and seed. classifier, strategy: those that the settings name.
        given: labels that were there before the session; they are taken in together, one epoch for each but at most 35
            in all.
        candidates: nodes that may be asked, bool [node].
        snapshot_bytes: memory for snapshots, at most.
    """

    def __init__(
        self,
        tensors: GraphTensors,
        settings: SessionSettings,
        classifier: Classifier,
        strategy: Strategy,
        given: Sequence[Label],
        candidates: torch.Tensor,
        snapshot_bytes: int = 256 * 2**20,
    ) -> None:
        self.tensors, self.classifier = tensors, classifier
        self._of_classifier = seen_by(classifier, tensors)
        self._prepared = self._of_classifier.prepared_by(classifier)
        self._settings, self._strategy, self._snapshot_bytes = settings, strategy, snapshot_bytes
        self.several = settings.several
        learner = self._new_learner()
        self.environment = SessionEnvironment(tensors, learner, settings.budget, candidates, settings.several)
        self._in_order = classifier.trained or not strategy.stateless
        self._first, self._begun = settings.classes, False
        self._history: tuple[Label, ...] = ()
        self._classes: tuple[str, ...] = ()
        self._scores: torch.Tensor | None = None
        self._seen: EnvironmentObservation | None = None
        self._all: torch.Tensor | None = None
        self._snapshots: dict[int, _Remembered] = {}
        self._said: Said | None = None
        self._said_for: tuple[Said, tuple[str, ...]] | None = None
        self._trusted: LabelTrust | None = None
        with one_thread():
            if self._in_order:
                self._start(tuple(given))
            else:
                self._learn_together((), tuple(given))

    def _new_learner(self) -> Learner:
        """A learner to which classes are added by name; one that cannot take in classes knows those of the start."""
        classes = 0 if can(self.classifier, "grow-classes") else len(self._settings.classes)
        seen = self._of_classifier.unlabelled
        start = cast(TakesSets, self.classifier).start_several if self.several else self.classifier.start
        return start(seen, self._prepared, 1, classes, self._settings.budget)

    @property
    def learner(self) -> Learner:
        """What learns."""
        return self.environment.learner

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes that the classifier knows.

        Those of the start, then those of the labels in the order of the history.
        """
        return self._classes

    @property
    def count(self) -> int:
        """How many labels it has learned from, given ones included."""
        return self.environment.step

    @property
    def predicts(self) -> bool:
        """Whether it has anything to predict from: labels, or what models say.

        Where a node may have several classes, no answer but "none of them" may have been given.
        """
        return (bool(self.count) and bool(self._classes)) or self._said is not None

    @property
    def weighs_labels(self) -> bool:
        """Whether labels count by how far they are trusted."""
        return self._trusted is not None

    def begin_with(self, classes: tuple[str, ...]) -> None:
        """Take the classes of the start that still count; `follow` then begins anew where they have changed.

        A classifier that cannot take in classes keeps those that it was made with.
        """
        if classes != self._first and can(self.classifier, "grow-classes"):
            self._first, self._begun = classes, False

    def hear(self, said: Said | None, trusted: LabelTrust | None = None) -> None:
        """Take what models say and how far labels are trusted, None for neither; and go on with the labels it has.

        Raises:
            InputError: the classifier cannot begin with what models say, or cannot let labels count less.
        """
        heard, weighed, history = said is not self._said, trusted is not self._trusted, self._history
        if weighed and not can(self.classifier, "label-trust"):
            raise refusal(self.classifier, "label-trust", "the job was made with trust")
        if heard and not can(self.classifier, "own-centre"):
            raise refusal(self.classifier, "own-centre", "the job has suggestions of models")
        if weighed:
            self._trusted = trusted
            cast(TakesTrust, self.learner).set_trust(*(trusted or (None,)))
            self._moved()
        self._said = said
        with one_thread():
            if heard and not self._in_order:
                self._learn_together(history, self._given)
            elif self._in_order and (heard or weighed):  # every step is seen anew, as in a session that is reopened
                self._start(self._given)
                self.follow(history)

    def _hand_on(self) -> None:
        """Give the learner what models say, by its own columns; nothing where it has that already."""
        before, now = self._said_for, None if self._said is None else (self._said, self._classes)
        if before is now or (before is not None and now is not None and before[0] is now[0] and before[1] == now[1]):
            return
        self._said_for, table = now, None
        if self._said is not None:
            table = answer_table(len(self._said.table), self._said.table.shape[1], len(self._classes))
            for column, key in enumerate(self._said.classes):
                table[..., self._classes.index(key)] += self._said.table[..., column]
        cast(TakesSuggestions, self.learner).set_suggestions(table)

    def follow(
        self, history: Sequence[Label], given: Sequence[Label] | None = None, reporter: Reporter | None = None
    ) -> None:
        """Bring classifier and scores to a history.

        Args:
            history: people's labels, in order, without the given ones.
            given: the labels from before the session, if they have changed.
            reporter: hears of each label; it may use anything but this object.
        """
        history = tuple(history)
        given = self._given if given is None else tuple(given)
        report = reporter or Silent()
        with one_thread():
            if not self._in_order:
                if not self._begun or (history, given) != (self._history, self._given):
                    self._learn_together(history, given)
                return
            if not self._begun or given != self._given:
                self._start(given)
            same = 0
            for old, new in zip(self._history, history, strict=False):
                if old != new:
                    break
                same += 1
            if same < len(self._history):
                self._return_to(same)  # or to a position before it
            for label in history[len(self._history) :]:
                self._learn(label)
                report(Progress("learn", len(self._history), len(history)))

    def scores(self) -> torch.Tensor:
        """How much the strategy wants each node now: [node]."""
        with one_thread():
            if self._scores is None:
                if self._strategy.stateless:
                    self.environment.begin(self._strategy)
                scores = self._strategy.scores(self.observation)
                self._scores = checked_scores(self._strategy, scores, self.environment.pool)[0]
            return self._scores

    def batch(self, count: int, allowed: torch.Tensor, waiting: Sequence[int] = ()) -> list[int] | None:
        """Nodes to be asked together, the most wanted first; None where the strategy has not thought of it.

        Args:
            count: how many, at most.
            allowed: the nodes that may be asked, bool [node].
            waiting: nodes whose labels are being asked for already.
        """
        with one_thread():
            scores = self.scores()
            if not can(self._strategy, "several-queries"):
                return None
            # a batch of one need not compute the scores again, unless what they chose from was more than is allowed; a
            # strategy that carries something has chosen in them
            as_scored = not self._strategy.stateless or torch.equal(allowed, self.environment.pool[0])
            if count == 1 and not waiting and as_scored:
                return [int(choose(scores[None], allowed[None]))]
            seen = copy(self.observation)
            seen.pool, seen.labelled = allowed[None], seen.labelled.clone()
            seen.labelled[0, list(waiting)] = True
            nodes = cast(AsksSeveral, self._strategy).batch(seen, count)
            if nodes is None:
                return None
            chosen: list[int] = nodes[0].tolist()
            if len(set(chosen)) < len(chosen) or any(
                not 0 <= node < len(allowed) or not allowed[node] for node in chosen
            ):
                raise InputError(
                    f"strategy {self._strategy.name!r} gave a batch that cannot be asked: {chosen}; batch() must give"
                    " different nodes of the pool"
                )
            return chosen

    def why_random(self) -> str | None:
        """Why the strategy's next question is a random one, by its own words; None where it chooses, or does not say.

        It is about the labels so far, so all nodes of a batch are random, or none.
        """
        if not can(self._strategy, "random-questions"):
            return None
        with one_thread():
            return cast(AsksAtRandom, self._strategy).why_random(self.observation)

    def set_budget(self, budget: int) -> None:
        """The budget as the strategy sees it.

        Strategies that carry something keep the first one, which they have begun with.
        """
        if budget != self.environment.budget and self._strategy.stateless:
            self.environment.budget = budget
            self._moved()

    @property
    def observation(self) -> EnvironmentObservation:
        """What there is to see now; computed once for each moment."""
        if self._seen is None:
            self._seen = self.environment.observe()
        return self._seen

    def probabilities(self) -> torch.Tensor:
        """The predictions of the moment: [node, class]."""
        with one_thread():
            if self._looks_at_few and not (self._seen is not None and self._seen.has_predictions):
                if self._all is None:
                    self._all = self._chances(self._logits())
                return self._all
            return self.observation.probabilities[0]

    def probabilities_of(self, nodes: Sequence[int] | npt.NDArray[np.int64]) -> torch.Tensor:
        """The predictions of the moment for some nodes: [node, class].

        On a large graph no others are computed for it.
        """
        if not self._looks_at_few or self._all is not None:
            return self.probabilities()[torch.as_tensor(nodes)]
        with one_thread():
            part = cast(LooksAtPart, self.learner).part(torch.as_tensor(nodes))
            return self._chances(part.logits()[0])

    def _chances(self, logits: torch.Tensor) -> torch.Tensor:
        """The probabilities that logits mean: of classes that exclude each other, or of each by itself."""
        return torch.sigmoid(logits) if self.several else torch.softmax(logits, -1)

    def thresholds(self, classes: ClassList) -> npt.NDArray[np.float32]:
        """The probability from which on a node is given each of the session's classes: [class].

        Only where a node may have several. A class that has no label is given to nobody.
        """
        numbers, result = list(classes.numbers), np.full(len(classes), np.inf, np.float32)
        with one_thread():
            odds = torch.sigmoid(cast(LearnsSets, self.learner).thresholds()[0]).tolist()
        labels = self.labels_by_class(classes)
        for column, key in enumerate(self._classes):
            number = classes.number_of_key(key)
            if number in numbers and labels[number]:
                result[numbers.index(number)] = min(result[numbers.index(number)], odds[column])
        return result

    @property
    def is_large(self) -> bool:
        """Whether the graph has so many nodes that shares of all are read off a sample."""
        return self.tensors.num_nodes >= MANY_NODES

    @property
    def _looks_at_few(self) -> bool:
        """Whether predictions of some nodes are to be had, and worth having, without those of all."""
        return self.is_large and can(self.classifier, "part")

    def by_class(self, table: npt.NDArray[np.float32], classes: ClassList) -> tuple[list[int], npt.NDArray[np.float32]]:
        """The classifier's columns as the session's classes, by number.

        A class that was merged adds to the one that it counts as; one that the classifier does not know yet, or that it
        predicts for none of these nodes, has 0.

        Args:
            table: probabilities, [node, column of the classifier].
            classes: the session's classes.

        Returns:
            The classes' numbers and the probabilities, [node, class].
        """
        numbers = list(classes.numbers)
        result = np.zeros((len(table), len(numbers)), np.float32)
        index: dict[int | None, int] = {number: column for column, number in enumerate(numbers)}
        first: dict[int, int] = {}
        merged: list[tuple[int, int]] = []
        for source, key in enumerate(self._classes):
            column = index.get(classes.number_of_key(key))
            if column is not None and first.setdefault(column, source) != source:
                merged.append((column, source))
        result[:, list(first)] = table[:, list(first.values())]
        for column, source in merged:
            result[:, column] += table[:, source]
        result[:, result.max(0, initial=0) <= _NO_CHANCE] = 0
        return numbers, result

    def labels_by_class(self, classes: ClassList) -> dict[int, int]:
        """How many labels it has learned of each of the session's classes, by number, also of those without any."""
        counts = dict.fromkeys(classes.numbers, 0)
        taken = Counter(answer for _, answer in self.environment.taken)
        for answer, times in taken.items():
            for column in answer if isinstance(answer, tuple) else (answer,):
                number = classes.number_of_key(self._classes[column])
                if number in counts:
                    counts[number] += times
        return counts

    def closed(self, reporter: Reporter | None = None) -> torch.Tensor:
        """The final predictions: [node, class].

        Of a classifier that is trained, those of a copy that was trained to the end.
        """
        if not self.classifier.trained:
            return self.probabilities()
        with one_thread():
            kept = self.learner.snapshot()
            if kept is None:
                return self._trained_anew(reporter)
            try:
                finish_learner(self.learner, reporter)
                return self._chances(self._logits())
            finally:
                self.learner.restore(kept)

    def _logits(self) -> torch.Tensor:
        return checked_logits(self.learner, (1, self.tensors.num_nodes, self.learner.num_classes))[0]

    def _trained_anew(self, reporter: Reporter | None) -> torch.Tensor:
        """The final predictions of a classifier that gives no snapshots: another one learns everything, and ends."""
        twin = SessionLearner(
            self.tensors, self._settings, self.classifier, self._strategy, self._given, self.environment.candidates, 0
        )
        twin.begin_with(self._first)
        twin.follow(self._history)
        finish_learner(twin.learner, reporter)
        return self._chances(twin._logits())

    def _start(self, given: tuple[Label, ...]) -> None:
        self._given, self._history, self._classes, self._begun = given, (), (), True
        self._snapshots.clear()
        self.environment.clear(self._settings.seed)
        reset_learner(self.learner, self._settings.seed, "classifier")
        self._know([*self._first, *(() if self._said is None else self._said.classes)])
        self._hand_on()
        for label in given:
            self.environment.take(label.node, self._columns(label))
        for _ in range(min(len(given), _GIVEN_EPOCHS if self.classifier.trained else 1)):
            fit_learner(self.learner)
        self._moved()
        if not self._strategy.stateless:
            self.environment.begin(self._strategy)
        self._keep()

    def _learn(self, label: Label) -> None:
        """One label and its epoch."""
        if not self._strategy.stateless:
            self.scores()  # the strategy sees every step exactly once, in a replay as well
        self.environment.take(label.node, self._columns(label))
        fit_learner(self.learner)
        self._history = (*self._history, label)
        self._moved()
        self._keep()

    def _learn_together(self, history: tuple[Label, ...], given: tuple[Label, ...]) -> None:
        """All labels at once, sorted by node."""
        self._classes, self._begun = (), True
        self.environment.clear(self._settings.seed)
        reset_learner(self.learner, self._settings.seed, "classifier")
        heard = () if self._said is None else self._said.classes
        named: list[str] = [name for label in (*given, *history) for name in label.classes]
        self._know([*self._first, *named, *heard])
        self._hand_on()
        known: tuple[str, ...] = self._classes
        column_of = {name: column for column, name in enumerate(known)}
        self.environment.take_all(
            sorted((label.node, _by_column(label, column_of.__getitem__)) for label in (*given, *history))
        )
        if given or history:
            fit_learner(self.learner)
        self._given, self._history = given, history
        self._moved()

    def _know(self, names: Sequence[str]) -> None:
        """Take in the classes that are new."""
        fresh = [name for name in dict.fromkeys(names) if name not in self._classes]
        if can(self.classifier, "grow-classes"):
            if fresh:
                cast(GrowsByClasses, self.learner).add_classes(fresh)
        elif not set(fresh) <= set(self._settings.classes):
            raise refusal(self.classifier, "grow-classes", f"{fresh[-1]!r} is not among those of the start")
        self._classes = (*self._classes, *fresh)
        if self.learner.num_classes != max(1, len(self._classes)):
            raise InputError(
                f"the classifier {self.classifier.name!r} has {self.learner.num_classes} classes where"
                f" {len(self._classes)} are known: reset() must forget those that came by add_classes(), and"
                " num_classes count them; nodewise.testing.check_classifier looks for this"
            )

    def _columns(self, label: Label) -> Columns:
        """The classifier's column of a label's class, or those of its classes."""
        if unknown := [name for name in label.classes if name not in self._classes]:
            self._know(unknown)
        return _by_column(label, self._classes.index)

    def _moved(self) -> None:
        self._scores = self._seen = self._all = None

    def _return_to(self, position: int) -> None:
        """Back to a position of the history, or to the last one before it that is remembered."""
        nearest = max((at for at in self._snapshots if at <= position), default=None)
        if not self._strategy.stateless or nearest is None:
            self._start(self._given)
        else:
            kept = self._snapshots[nearest]
            self.learner.restore(kept.learner)
            self.environment.go_back(self.environment.taken[: kept.taken])
            self._classes, self._history = kept.classes, self._history[:nearest]
            self._snapshots = {at: value for at, value in self._snapshots.items() if at <= nearest}
            self._moved()

    def _keep(self) -> None:
        """Remember this moment; of many, every second old one is dropped."""
        if not self._strategy.stateless or not self._in_order:
            return
        snapshot = self.learner.snapshot()
        if snapshot is None:
            return
        self._snapshots[len(self._history)] = _Remembered(snapshot, self.environment.step, self._classes)
        most = max(8, self._snapshot_bytes // max(1, _size(snapshot) + 2 * self.tensors.num_nodes))
        if len(self._snapshots) > most:
            positions = sorted(self._snapshots)
            for position in positions[1 : len(positions) // 2 : 2]:
                del self._snapshots[position]


class Learners:
    """The learners of a session, one for each purpose, made when first needed; they share the graph's tensors.

    Args:
        contents: graph, settings and candidates.
        plugins: makes the classifier and the strategy that the settings name; see `Rebuilding`.
    """

    def __init__(self, contents: Contents, plugins: Callable[[], tuple[Classifier, Strategy]]) -> None:
        self._contents, self._plugins = contents, plugins
        self._made: dict[Purpose, SessionLearner] = {}
        self._tensors: GraphTensors | None = None

    def on(self, contents: Contents, keep_tensors: bool) -> Learners:
        """Learners of the same plug-ins where rows were added or taken out; a graph that stayed keeps its tensors."""
        others = Learners(contents, self._plugins)
        others._tensors = self._tensors if keep_tensors else None
        return others

    def __contains__(self, purpose: Purpose) -> bool:
        return purpose in self._made

    @property
    def classifier(self) -> Classifier:
        """The classifier that the session was begun with; no learner is made for it."""
        made = next(iter(self._made.values()), None)
        return self._plugins()[0] if made is None else made.classifier

    def get(self, purpose: Purpose, given: Sequence[Label]) -> SessionLearner:
        """The learner as it was left when last used; a new one begins with the labels from before the session."""
        if purpose not in self._made:
            self._made[purpose] = self._new(given, _SNAPSHOT_BYTES[purpose])
        return self._made[purpose]

    def _new(self, given: Sequence[Label], snapshot_bytes: int) -> SessionLearner:
        contents = self._contents
        classifier, strategy = self._plugins()
        mask = contents.candidates.copy()
        mask[list(contents.audit)] = False
        if self._tensors is None:
            self._tensors = GraphTensors(contents.graph, "cpu")
        return SessionLearner(
            self._tensors, contents.settings, classifier, strategy, given, torch.from_numpy(mask), snapshot_bytes
        )


class _Remembered(NamedTuple):
    learner: Any
    taken: int
    classes: tuple[str, ...]


def _by_column(label: Label, column: Callable[[str], int]) -> Columns:
    return tuple(sorted(map(column, label.label))) if isinstance(label.label, tuple) else column(label.label)


def _size(snapshot: Any) -> int:
    """Bytes of the tensors in a snapshot."""
    if isinstance(snapshot, torch.Tensor):
        return snapshot.numel() * snapshot.element_size()
    if isinstance(snapshot, dict):
        snapshot = list(snapshot.values())
    return sum(map(_size, snapshot)) if isinstance(snapshot, (list, tuple)) else 0
