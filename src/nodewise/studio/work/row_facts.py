"""What one annotator may know of every row at one moment, as arrays; and which rows fit a filter.

Everything here runs in the worker's thread. Nothing loops over all rows: what people said is a loop over labelled ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from nodewise.session.answers import SEPARATOR, undone
from nodewise.studio.work.predictions import Decided

if TYPE_CHECKING:
    from nodewise.session import Prediction, Session
    from nodewise.session.learning.mistakes import LikelyMistake
    from nodewise.session.meaning.history import History
    from nodewise.studio.work.visibility import Visibility

__all__ = ["Filter", "RowFacts", "RowFilter"]

Filter = Literal[
    "all",
    "labelled",
    "unlabelled",
    "bulk",
    "unsure",
    "confident",
    "mistake",
    "unlike",
    "model",
    "disagreement",
    "settled",
    "skipped",
    "noted",
    "changed",
]
Mask = npt.NDArray[np.bool_]
_UNSURE, _CONFIDENT, _AROUND = 0.5, 0.9, 0.7


@dataclass(frozen=True)
class RowFilter:
    """Which rows: those that all of it holds for.

    Attributes:
        filters: ``unsure``: predicted with less than 50 %; ``confident``: not labelled, predicted with more than 90 %;
            ``mistake``: labels that the prediction without them, or 70 % of the labelled neighbours, contradict, none
            where a row may have several classes; ``unlike``: not labelled, and unlike all labelled rows;
            ``model``: not labelled, and a model says another class than is predicted; ``disagreement``: people differ
            and nobody has settled it; ``bulk``: labelled in bulk alone; ``noted``: somebody has written a note;
            ``changed``: labelled, and changed since.
        label: only rows that are labelled so, or else predicted so; where a row may have several classes, also those
            with this one among others, and ``;`` for those with none.
        by: only rows of which this person has said something.
        said_by: only rows of which this model says something; beside ``model`` among the filters, something else than
            is predicted.
        least, most: only rows whose most likely class has a probability from ``least`` to ``most``.
        text: only rows whose name or text holds it.
    """

    filters: tuple[Filter, ...] = ()
    label: str | None = None
    by: str | None = None
    said_by: str | None = None
    least: float | None = None
    most: float | None = None
    text: str = ""


class RowFacts:
    """What an annotator may know of every row, at one moment.

    Args:
        session: which.
        sight: what may be seen, and by whom.
        kept: what is predicted; None where there is nothing, or the annotator may see none of it.
        annotator: who looks.

    Attributes:
        names: what the numbers below stand for: the classes; behind them, where a row may have several, the sets.
        label, predicted: int64 [row], -1 for none.
        sure: how likely the predicted class is, float64 [row]; 0 for none.
        secret: the rows of which what others said may not be seen. unpredicted: those whose prediction may not.
    """

    def __init__(self, session: Session, sight: Visibility, kept: Prediction | None, annotator: str | None) -> None:
        self._session, self._kept = session, kept
        self.history: History = sight.history(annotator)
        self.size = session.graph.num_nodes
        self.unpredicted = np.array(sorted(sight.undecided(annotator)), dtype=np.int64)
        self.secret = np.union1d(self.unpredicted, np.array(sorted(sight.kept_from(annotator)), dtype=np.int64))
        self._numbers = {name: number for number, name in enumerate(session.classes)}
        labels = session.labels
        self.label = np.full(self.size, -1)
        self.label[np.fromiter(labels, np.int64, len(labels))] = [self._number(name) for name in labels.values()]
        self._annotator = annotator
        self._doubts: Mapping[int, LikelyMistake] | None = None
        otherwise = {node for node in sight.labelled_otherwise(self.history, annotator) if node < self.size}
        self._control = {node for node in otherwise if sight.is_control(self.history, node, annotator)}
        for node in otherwise:
            shown = sight.label(self.history, node)
            self.label[node] = -1 if shown is None else self._number(shown)
        self.label[self.secret] = -1
        self.predicted, self.sure = np.full(self.size, -1), np.zeros(self.size)
        if kept is not None and not kept.unknown:
            decided = Decided.of(kept)
            self.predicted = np.array([self._number(name) for name in decided.names])[decided.index]
            self.sure = decided.sure
            self.predicted[self.unpredicted], self.sure[self.unpredicted] = -1, 0.0

    def _number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    @property
    def names(self) -> list[str]:
        return list(self._numbers)

    @cached_property
    def suggested(self) -> dict[str, npt.NDArray[np.int64]]:
        """What each model says of every row, by number, -1 for nothing; nothing where no prediction may be seen."""
        if self._kept is None:
            return {}
        said = {}
        classes = self._session.class_list
        for each in self._session.suggestions:
            known = np.unique(each.numbers)
            number = {int(one): self._number(classes.name(int(one))) if one else -1 for one in known}
            said[each.name] = np.array([number[int(one)] for one in known])[np.searchsorted(known, each.numbers)]
            said[each.name][self.unpredicted] = -1
        return said

    @property
    def doubts(self) -> Mapping[int, LikelyMistake]:
        """Likely mistakes, the least trusted first; looked for when first asked for."""
        if self._doubts is None:
            hidden = set(self.secret.tolist()) | {node for node in self._control if self.label[node] < 0}
            mistakes = () if self._kept is None else self._session.likely_mistakes(self.size)
            self._doubts = {one.node: one for one in mistakes if one.node not in hidden}
        return self._doubts

    def doubt(self, node: int) -> LikelyMistake | None:
        """Why a row's label may be a mistake, where somebody has asked for likely mistakes already."""
        return None if self._doubts is None else self._doubts.get(node)

    @cached_property
    def unlike(self) -> list[int]:
        """Rows that stand out as unlike all labelled ones, the most unlike first; none where no prediction may be seen,
        since they are found by the same views.
        """
        return [] if self._kept is None else self._session.unlike_labels()

    @cached_property
    def last_labelled(self) -> tuple[npt.NDArray[np.float64], dict[int, str]]:
        """When each row was last labelled, in seconds since 1970 and 0 for never, and by whom; of what may be seen."""
        when = np.zeros(self.size)
        who: dict[int, str] = {}
        log = self._session.events
        gone = undone(log)
        for event in log:
            if event.kind in ("tell", "bulk") and event.id not in gone:
                said = event.body["nodes"] if event.kind == "bulk" else [event.body["node"]]
                left_out = self._control if event.annotator != self._annotator else ()
                nodes = [node for node in said if node < self.size and node not in left_out]
                when[nodes] = event.at
                who.update(dict.fromkeys(nodes, event.annotator))
        when[self.label < 0] = 0.0
        return when, {node: name for node, name in who.items() if self.label[node] >= 0}

    def fitting(self, wanted: RowFilter) -> Mask:
        """The rows that fit, [row]; those that were taken out never do. Texts are not looked at here."""
        fits = np.ones(self.size, bool)
        for name in wanted.filters:
            fits &= self._holds(name, wanted)
        if wanted.label is not None:
            shown = np.where(self.label >= 0, self.label, self.predicted)
            fits &= np.isin(shown, self._with_class(wanted.label))
        if wanted.by is not None:
            theirs = [node for node, ballot in self.history.ballots.items() if wanted.by in ballot]
            fits &= self._at(theirs) & self.seen
        if wanted.said_by is not None and "model" not in wanted.filters:
            fits &= self.suggested.get(wanted.said_by, np.full(self.size, -1)) >= 0
        if wanted.least is not None or wanted.most is not None:
            low, high = wanted.least or 0.0, 1.0 if wanted.most is None else wanted.most
            fits &= (self.predicted >= 0) & (self.sure >= low) & (self.sure <= high)
        return fits & ~self._at(self.history.gone)

    def rank(self, numbers: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        """Where each class stands among the names in alphabetical order; none comes last."""
        names = self.names
        order = np.zeros(len(names) + 1, np.int64)
        order[sorted(range(len(names)), key=lambda number: names[number].casefold())] = np.arange(len(names))
        order[-1] = len(names)
        rank: npt.NDArray[np.int64] = order[numbers]
        return rank

    @cached_property
    def disagreements(self) -> frozenset[int]:
        """The rows on which people differ, and that nobody has settled."""
        return frozenset(self.history.disagreements)

    @cached_property
    def seen(self) -> Mask:
        """The rows of which what people said may be seen, [row]."""
        return ~self._at(self.secret)

    def _at(self, nodes: Any) -> Mask:
        mask = np.zeros(self.size, bool)
        found = np.fromiter(nodes, np.int64)
        mask[found[found < self.size]] = True  # others were said of rows whose addition was taken back
        return mask

    def _with_class(self, label: str) -> list[int]:
        """The numbers of a class, and of the sets that hold it."""
        names = self._numbers.items()
        if not self._session.settings.several:
            return [number for name, number in names if name == label]
        return [number for name, number in names if label in name.split(SEPARATOR) or name == label]

    def _holds(self, name: Filter, wanted: RowFilter) -> Mask:
        """The rows that one filter holds for."""
        history = self.history
        if name == "labelled":
            return self.label >= 0
        if name == "unlabelled":
            return self.label < 0
        if name == "unsure":
            return (self.label < 0) & (self.predicted >= 0) & (self.sure < _UNSURE)
        if name == "confident":
            return (self.label < 0) & (self.predicted >= 0) & (self.sure >= _CONFIDENT)
        if name == "bulk":
            return self._at(history.bulk) & self.seen
        if name == "disagreement":
            return self._at(self.disagreements) & self.seen
        if name == "settled":
            return self._at(history.settled) & self.seen
        if name == "skipped":
            return self._at(node for nodes in history.skipped.values() for node in nodes)
        if name == "noted":
            return self._at(history.notes)
        if name == "changed":
            return self._at(history.outdated) & (self.label >= 0)
        if name == "mistake":
            if self._session.settings.several:
                return np.zeros(self.size, bool)
            return self._contradicted() | self._at(self.doubts)
        if name == "unlike":
            return self._at(self.unlike) & (self.label < 0) & self.seen
        if name == "model":
            found = np.zeros(self.size, bool)
            for speaker, said in self.suggested.items():
                if wanted.said_by in (None, speaker):
                    found |= (said >= 0) & (said != self.predicted)
            return found & (self.label < 0) & (self.predicted >= 0)
        return np.ones(self.size, bool)

    def _contradicted(self) -> Mask:
        """Labels that the classifier does not come back to, or that most labelled neighbours do not share."""
        adjacency = self._session.graph.adjacency()
        known = self.label >= 0
        total, own = np.zeros(self.size), np.zeros(self.size)
        for number in np.unique(self.label[known]).tolist():
            votes = np.asarray(adjacency @ (self.label == number).astype(np.float32)).ravel()
            total += votes
            own = np.where(self.label == number, votes, own)
        alone = known & (total >= 2) & (total - own >= _AROUND * total)
        contradicted: Mask = alone | (known & (self.predicted >= 0) & (self.predicted != self.label))
        return contradicted
