"""A classifier fitted to a graph and labels, without a session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from nodewise.classifiers import make_classifier
from nodewise.contracts import (
    Classifier,
    Explains,
    Learner,
    LearnsSets,
    LeavesOneOut,
    PlacesRows,
    Restores,
    Saves,
    TakesSets,
    TakesTrust,
    can,
    refusal,
    seen_by,
)
from nodewise.environment import finish_learner, fit_learner, reset_learner
from nodewise.fitted.extras import Extras, named_classes, read_answers, read_extras
from nodewise.fitted.file import read_fitted, write_fitted
from nodewise.fitted.labels import Label, are_several, numbers_of, read_labels, read_sets
from nodewise.fitted.predictions import Evidence, Predictions
from nodewise.graph import Graph
from nodewise.graph.features import prepared
from nodewise.graph.io.files import from_foreign
from nodewise.graph.knn.rows import NodeSearch, new_features, reach_of, vector_features
from nodewise.graph.label_sets import separator_for, set_texts
from nodewise.graph.nodes import listed_nodes, node_index
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import one_thread
from nodewise.ground.errors import GraphError, InputError, WrongTypeError
from nodewise.ground.events import Reporter, Silent, count, html_table
from nodewise.ground.files import scratch_folder
from nodewise.ground.plugins import code_of

__all__ = ["Fitted", "fit", "load_fitted"]

_EPOCHS = 35
"""Epochs, at most, on the labels, where the classifier is trained; it is finished after these."""

_ALIKE_NODES, _UNLIKE = 2000, 0.005
"""Nodes, evenly spaced, that tell how near things are to each other here, and the share of them that is farther from
all others than a row must be to be called unlike anything.
"""

_ROWS = 4096
"""Rows that are predicted at once."""


def fit(
    graph: Any,
    labels: Any,
    classifier: str | Classifier = "views",
    *,
    classes: Sequence[str] | None = None,
    several: bool | None = None,
    suggestions: Mapping[str, Any] | None = None,
    trust: Any = False,
    features: str | None = None,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    reporter: Reporter | None = None,
) -> Fitted:
    """Fit a classifier to the labels of a graph.

    Args:
        graph: the graph; its own labels are not looked at.
        labels: node (name or index) -> class; or one for each node, None, NaN, −1 or an empty text where it is not
            known; or a pandas Series, whose index names the nodes. Where a node may have several classes, a list or set
            in the place of a class, an empty one for none of them; or zeros and ones, [node, class], −1 in the whole
            row of a node that is not known. None: there is no label yet.
        classifier: a name or an object.
        classes: every class, in the order wanted; None: the graph's and those of the labels, and where there are none
            those that models name.
        several: whether a node may have several classes; None: where the labels or the graph hold sets of them.
        suggestions: what models say of the nodes, name -> answers, or a pair of these and the confidences, as
            `Session.suggest` takes them. The labels decide how far each is believed. An answer that names none of the
            classes is left out.
        trust: True: a label that the others contradict counts less; or how far each node's label is trusted by who
            gave it, from 0 to 1: one number a node, or node -> number.
        features: preprocessing by name; None: the classifier's own.
        seed: of what is random in it.
        settings: of the classifier.
        reporter: gets the progress.

    Example:
        >>> import nodewise as nw
        >>> graph = nw.load_graph("wine")
        >>> fitted = nw.fit(graph, {0: "class_0", 60: "class_1", 150: "class_2"})
        >>> fitted.predict().labels[1], fitted.predict(graph.x[:1]).labels
        ('class_0', ('class_0',))

    Raises:
        InputError: the labels do not fit the graph, the classifier cannot learn from so few, or cannot take sets of
            classes, suggestions or trust.
    """
    made = make_classifier(classifier, settings)
    given = from_foreign(graph)
    sets = (given.several or are_several(labels)) if several is None else several
    if sets and not can(made, "several-labels"):
        raise refusal(made, "several-labels", "nodes may have several")
    if sets and (suggestions or trust is not False):
        raise InputError(
            "suggestions and trust are for one class a node, and here a node may have several: leave them out"
        )
    known: Mapping[int, Label]
    known, names = (read_sets if sets else read_labels)(labels, given, classes)
    said = read_answers(suggestions, given)
    names = names or named_classes(said)
    if made.trained and not known:
        raise InputError(f"the classifier {made.name!r} is trained, and there is no label: give at least one")
    if not names:
        raise InputError("there is no label, and no class is named: give labels, or classes=[…]")
    extras = read_extras(said, trust, given, names)
    ready = prepared(given, features, made.default_features(given))
    tensors = GraphTensors(ready)
    with one_thread():
        seen = seen_by(made, tensors)
        start = cast(TakesSets, made).start_several if sets else made.start
        learner = start(seen.unlabelled, seen.prepared_by(made, reporter), 1, len(names), max(1, len(known)))
        reset_learner(learner, seed)
        extras.hand_to(learner, made, len(names))
        _learn(learner, known, made, reporter, len(names) if sets else None)
    return Fitted(ready, names, known, made, learner, seed, settings, extras, sets)


def load_fitted(path: str | Path, classifier: Classifier | None = None) -> Fitted:
    """Open what `Fitted.save` wrote. No code is imported that the file names.

    Args:
        path: the file.
        classifier: the object, where it was one of one's own.

    Raises:
        FittedFileError: the file is damaged, from another version, or holds another classifier.

    Example:
        >>> import nodewise as nw
        >>> graph = nw.load_graph("wine")
        >>> nw.fit(graph, {0: "class_0", 60: "class_1", 150: "class_2"}).save("wine.fitted")
        >>> nw.load_fitted("wine.fitted").predict(graph.x[:1]).labels
        ('class_0',)
    """
    if not isinstance(path, (str, Path)):
        raise WrongTypeError(
            f"the file of a fitted learner was expected, received {type(path).__name__}: give it as a text or a Path"
        )
    kept = read_fitted(Path(path))
    with kept.refusing():
        held, seed = kept.record["classifier"], int(kept.record["seed"])
        name, settings = str(held["name"]), dict(held["settings"])
        names = tuple(map(str, kept.record["classes"]))
        several, labels = kept.several, kept.labels
        extras = Extras.unpacked(kept.arrays, kept.record.get("extras", {}), kept.graph.num_nodes, len(names))
    made = make_classifier(classifier or name, None if classifier else settings, imports=False)
    kept.check_classifier(made)
    seen = seen_by(made, GraphTensors(kept.graph))
    with kept.refusing(), one_thread():
        learner = cast(Restores, made).restored(seen.unlabelled, kept.arrays, kept.record["learner"], len(names))
        if several != isinstance(learner, LearnsSets):
            raise InputError("its labels and its learner differ in whether a node may have several classes")
        if not made.trained:
            reset_learner(learner, seed)
            extras.hand_to(learner, made, len(names))
            _learn(learner, labels, made, None, len(names) if several else None)
        _try_rows(learner, made, kept.graph)
    return Fitted(kept.graph, names, labels, made, learner, seed, settings, extras, several)


def _try_rows(learner: Learner, classifier: Classifier, graph: Graph) -> None:
    """Predict two rows, one joined to every node and one to none: arrays that do not fit are refused at once.

    Raises:
        InputError: what is predicted is no number.
    """
    if not can(classifier, "new-rows") or graph.x is None or not graph.has_features:
        return
    joined = sp.csr_matrix(np.repeat([[1.0], [0.0]], graph.num_nodes, 1).astype(np.float32))
    with torch.no_grad(), np.errstate(all="ignore"):
        logits = cast(PlacesRows, learner).new_rows(graph.x[[0, 0]], joined)
    if not bool(torch.isfinite(logits).all()):
        raise InputError("what it predicts is no number")


class Fitted:
    """A classifier that has learned labels of a graph; nothing of it changes.

    Attributes:
        graph: the graph, with the features that the classifier was given.
        classes: the names of all classes; one without a label, and that no model names, is never predicted.
        labels: node -> class number, in the order of the nodes; where a node may have several, all their numbers.
        classifier: what learned. seed: of what is random in it.
        extras: what models say of the nodes, and how far labels are trusted.
        several: whether a node may have several classes.

    Example:
        >>> import nodewise as nw
        >>> fitted = nw.fit(nw.load_graph("wine"), {0: "class_0", 60: "class_1", 150: "class_2"})
        >>> fitted.classes
        ('class_0', 'class_1', 'class_2')
        >>> len(fitted.ask(2))
        2
    """

    def __init__(
        self,
        graph: Graph,
        classes: tuple[str, ...],
        labels: Mapping[int, Label],
        classifier: Classifier,
        learner: Learner,
        seed: int,
        settings: Mapping[str, Any] | None,
        extras: Extras,
        several: bool,
    ) -> None:
        self.graph, self.classes, self.labels = graph, classes, dict(labels)
        self.classifier, self.seed, self.extras, self.several = classifier, seed, extras, several
        self._learner, self._settings = learner, dict(settings or {})

    def __repr__(self) -> str:
        heard = f", with what {', '.join(self.extras.names)} said" if self.extras.names else ""
        return (
            f"Fitted({self.graph.name!r}: {self.classifier.name}, {count(len(self.labels), 'label')} of"
            f" {count(self.graph.num_nodes, 'node')}, {count(len(self.classes), 'class', 'classes')}{heard})"
        )

    def _repr_html_(self) -> str:
        """A small table for notebooks: how many labels each class has."""
        counts = Counter(self.classes[number] for label in self.labels.values() for number in numbers_of(label))
        return html_table(repr(self), {name: count(number, "label") for name, number in counts.most_common(20)})

    @cached_property
    def probabilities(self) -> npt.NDArray[np.float32]:
        """The probabilities of all nodes: float32 [node, class]."""
        with one_thread(), torch.no_grad():
            return self._chances(self._learner.logits()[0])

    @property
    def leave_one_out(self) -> npt.NDArray[np.float32] | None:
        """The prediction for each label from all the others, in the order of `labels`: float32 [label, class].

        None without a label.

        Raises:
            InputError: the classifier cannot.
        """
        if not can(self.classifier, "leave-one-out"):
            raise refusal(self.classifier, "leave-one-out")
        left_out = cast(LeavesOneOut, self._learner).leave_one_out()
        return None if left_out is None else np.asarray(left_out[0].detach().cpu().numpy(), np.float32)

    @property
    def label_trust(self) -> npt.NDArray[np.float32]:
        """How far each label is trusted, from 0 to 1, in the order of `labels`; without trust as it would be: [label].

        Raises:
            InputError: the classifier cannot.
        """
        if not can(self.classifier, "label-trust") or self.several:
            raise refusal(self.classifier, "label-trust", "nodes may have several" if self.several else "")
        if not self.labels:
            return np.zeros(0, np.float32)
        with one_thread(), torch.no_grad():
            return np.asarray(cast(TakesTrust, self._learner).label_trust()[0].numpy(), np.float32)

    def predict(
        self,
        new: Any = None,
        *,
        neighbours: Sequence[Iterable[Any]] | None = None,
        encoder: Callable[[list[str]], Any] | None = None,
        folder: str | Path | None = None,
    ) -> Predictions:
        """What is predicted for every node, or for rows that are not in the graph.

        Args:
            new: rows as the graph was made from: texts, a table, pictures' files, vectors; of a graph that was not made
                from rows vectors with its features' columns. None: the graph's nodes.
            neighbours: for each row the nodes that it is joined to, by names or indices; None: its nearest, where the
                graph joins each row to its nearest, else none.
            encoder: the one that the graph's texts were encoded by, where they were.
            folder: that paths of pictures are relative to.

        Raises:
            InputError: the classifier cannot predict new rows, or the encoder is missing or another one.
            GraphError: the rows do not have the graph's columns.
        """
        if new is None:
            return self._named(self.probabilities, [""] * self.graph.num_nodes)
        if not can(self.classifier, "new-rows"):
            raise refusal(self.classifier, "new-rows")
        if self.graph.x is None or not self.graph.has_features:
            raise GraphError(
                f"the graph {self.graph.name!r} has no features, so a row is known by its neighbours alone: make a"
                " graph with the row in it"
            )
        vectors = self.graph.preparation is None or self.graph.preparation.rows == "vectors"
        x: Any = (
            vector_features(self.graph, new)
            if vectors and not _is_text(new)
            else new_features(self.graph, new, encoder=encoder, folder=folder)
        )
        if neighbours is not None and len(neighbours) != x.shape[0]:
            raise InputError(f"neighbours need one list for each of the {x.shape[0]} rows, received {len(neighbours)}")
        parts, words = [np.zeros((0, len(self.classes)), np.float32)], []
        for first in range(0, x.shape[0], _ROWS):
            some = x[first : first + _ROWS]
            joined = self._joined(some, None if neighbours is None else neighbours[first : first + _ROWS])
            with one_thread(), torch.no_grad():
                parts.append(self._chances(cast(PlacesRows, self._learner).new_rows(some, joined)))
            words += self._words(some, joined if neighbours is not None else None)
        return self._named(np.concatenate(parts), words)

    def explain(self, node: int | str) -> list[Evidence]:
        """The labels that speak for what is predicted for a node, the strongest first.

        Raises:
            InputError: there is no such node, or the classifier cannot.
        """
        if not can(self.classifier, "explain"):
            raise refusal(self.classifier, "explain")
        index = node_index(node, self.graph)
        if not self.labels:
            return []
        pairs = cast(Explains, self._learner).evidence(index)
        return [Evidence(other, self._text(self.labels[other]), amount) for other, amount in pairs]

    def ask(self, k: int = 1, strategy: Any = None) -> list[int]:
        """The nodes whose labels would help most, the most wanted first, as a session would ask them.

        With trust labels are doubted by each other alone, whoever gave them.

        Args:
            k: how many.
            strategy: by name or an object; None: gain.
        """
        from nodewise.session import Session

        graph = self._labelled_graph()
        with scratch_folder() as folder:
            session = Session.create(
                folder / "ask.nodewise",
                graph,
                budget=k,
                classes=list(self.classes),
                classifier=self.classifier,
                strategy=strategy,
                seed=self.seed,
                use_labels=bool(self.labels),
                several=self.several,
                trust=self.extras.trust is not None,
                suggestions=self.extras.said(self.classes),
                reporter=Silent(),
            )
            with session:
                return [query.node for query in session.ask(k)]

    def _labelled_graph(self) -> Graph:
        """The graph with the labels as its own."""
        y = np.full(self.graph.num_nodes, -1, np.int64)
        sets = np.full((self.graph.num_nodes, len(self.classes)), -1, np.int8)
        for node, label in self.labels.items():
            if isinstance(label, tuple):
                sets[node] = 0
                sets[node, list(label)] = 1
            else:
                y[node] = label
        held: Any = {"y": None, "y_sets": sets} if self.several else {"y": y, "y_sets": None}
        return replace(self.graph, class_names=self.classes, **held)

    def save(self, path: str | Path) -> None:
        """Write everything into one file of arrays and JSON, with digests; nothing is pickled.

        Raises:
            InputError: the classifier cannot be kept.
        """
        if not can(self.classifier, "save"):
            raise refusal(self.classifier, "save")
        with one_thread():
            arrays, record = cast(Saves, self._learner).saved()
        beside, extras = self.extras.packed()
        unlabelled = replace(self.graph, y=None, y_sets=None, class_names=())
        record = {
            "classes": list(self.classes),
            "several": self.several,
            "labels": [[node, label] for node, label in self.labels.items()],
            "extras": extras,
            "seed": self.seed,
            "classifier": {
                "name": self.classifier.name,
                "settings": self._settings,
                "code": code_of(self.classifier),
            },
            "learner": record,
        }
        write_fitted(Path(path).expanduser(), unlabelled, {**arrays, **beside}, record)

    def _chances(self, logits: torch.Tensor) -> npt.NDArray[np.float32]:
        """The probabilities that logits mean: of classes that exclude each other, or of each by itself."""
        given = logits.detach().float()
        return np.asarray(
            (torch.sigmoid(given) if self.several else torch.softmax(given, -1)).cpu().numpy(), np.float32
        )

    def _text(self, label: Label) -> str:
        """A label by the names of its classes."""
        names = [self.classes[number] for number in numbers_of(label)]
        return self._separator.join(names) or self._separator if self.several else names[0]

    @cached_property
    def _separator(self) -> str:
        """What stands between the classes of a row in a text."""
        return separator_for(self.classes)

    @cached_property
    def _thresholds(self) -> npt.NDArray[np.float32]:
        """The probability from which on a row is given each class, where it may have several: [class]."""
        with one_thread(), torch.no_grad():
            odds = cast(LearnsSets, self._learner).thresholds()[0]
        return np.asarray(torch.sigmoid(odds.float()).cpu().numpy(), np.float32)

    def _named(self, probabilities: npt.NDArray[np.float32], words: Sequence[str]) -> Predictions:
        unknown = not self.labels and not self.extras.names
        labels, given = ("",) * len(probabilities), None
        if self.several:
            given = np.zeros(probabilities.shape, bool) if unknown else probabilities >= self._thresholds
            given &= np.isin(
                np.arange(len(self.classes)), [n for each in self.labels.values() for n in numbers_of(each)]
            )
            if not unknown:
                labels = tuple(set_texts(given.view(np.int8), self.classes, self._separator))
        elif not unknown:
            labels = tuple(self.classes[i] for i in probabilities.argmax(1).tolist())
        return Predictions(labels, probabilities, tuple(words), given, self.classes)

    @cached_property
    def _search(self) -> NodeSearch:
        return NodeSearch.of(self.graph)

    @cached_property
    def _reach(self) -> npt.NDArray[np.float64] | None:
        """How similar a row must be to each node to be among its nearest, where the graph joins nearest rows."""
        known = self.graph.preparation
        if known is None or known.nearest is None or self.graph.x is None:
            return None
        return reach_of(self.graph.x, sp.csr_matrix(self.graph.adjacency()), known.nearest, known.metric)

    @cached_property
    def _least(self) -> float:
        """How near nearly all nodes are to another one."""
        assert self.graph.x is not None
        nodes = np.unique(np.linspace(0, self.graph.num_nodes - 1, _ALIKE_NODES).astype(int))
        near = self._search.nearest(self.graph.x[nodes], 2).near[:, -1]
        near = near[np.isfinite(near)]
        return float(np.quantile(near, _UNLIKE)) if len(near) else 0.0

    def _joined(self, x: Any, neighbours: Sequence[Iterable[Any]] | None) -> sp.csr_matrix[np.float32]:
        known = self.graph.preparation
        if neighbours is None and known is not None and known.nearest is not None:
            return self._search.joined(x, known.nearest, self._reach)
        pairs = [
            (row, node)
            for row, nodes in enumerate(neighbours or ())
            for node in {node_index(one, self.graph) for one in listed_nodes(nodes, self.graph, "neighbours")}
        ]
        rows, nodes = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        return sp.csr_matrix((np.ones(len(rows), np.float32), (rows, nodes)), shape=(x.shape[0], self.graph.num_nodes))

    def _words(self, x: Any, joined: sp.csr_matrix[np.float32] | None) -> list[str]:
        near = self._search.nearest(x, 1).near[:, 0]
        known = np.zeros(len(near), bool) if joined is None else np.diff(joined.indptr) > 0
        return [
            "like nothing seen" if one < self._least and not there else ""
            for one, there in zip(near.tolist(), known.tolist(), strict=True)
        ]


def _learn(
    learner: Learner,
    labels: Mapping[int, Label],
    classifier: Classifier,
    reporter: Reporter | None,
    of_sets: int | None = None,
) -> None:
    """Add the labels and train; `of_sets` is the number of classes where a node may have several."""
    if labels:
        targets = (
            torch.tensor([list(labels.values())]) if of_sets is None else torch.zeros(1, len(labels), of_sets).char()
        )
        for row, label in enumerate(labels.values()):
            if of_sets is not None:
                targets[0, row, list(numbers_of(label))] = 1
        learner.add(torch.tensor([list(labels)]), targets)
    for _ in range(min(len(labels), _EPOCHS) if classifier.trained else 1):
        fit_learner(learner)
    if classifier.trained:
        finish_learner(learner, reporter)


def _is_text(rows: Any) -> bool:
    """Whether rows are no numbers, so that a graph of vectors, or one that was not made from rows, cannot take them."""
    if isinstance(rows, (str, Path, Mapping)):
        return True
    return isinstance(rows, Sequence) and len(rows) > 0 and isinstance(rows[0], (str, Path, Mapping))
