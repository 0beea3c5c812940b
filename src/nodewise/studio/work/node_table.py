"""All nodes as a table: filtered, searched, sorted, a window of rows at a time.

Everything here runs in the worker's thread.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from nodewise.session.meaning.history import undone
from nodewise.studio.work.cards import caption

if TYPE_CHECKING:
    from nodewise.session import Session
    from nodewise.studio.work.predictions import Predictions
    from nodewise.studio.work.search import NodeSearch
    from nodewise.studio.work.visibility import Visibility

__all__ = ["Filter", "NodeTable", "Sort", "TableQuery"]

Filter = Literal["all", "labelled", "unlabelled", "unsure", "confident", "disagreement", "skipped", "mistake"]
Sort = Literal["node", "name", "label", "predicted", "sure", "time"]
_UNSURE, _CONFIDENT, _AROUND = 0.5, 0.9, 0.7


@dataclass(frozen=True)
class TableQuery:
    """Which rows, in which order.

    Attributes:
        filter: ``unsure``: predicted with less than 50 %; ``confident``: not labelled, predicted with more than 90 %;
            ``mistake``: labels that the prediction without them, or 70 % of the labelled neighbours, contradict.
        label: only nodes that are labelled so, or else predicted so.
        text: only nodes whose name or text holds it.
        sort: by which column; ``descending`` turns it round. offset, limit: which window of the rows.
    """

    filter: Filter = "all"
    label: str | None = None
    text: str = ""
    sort: Sort = "node"
    descending: bool = False
    offset: int = 0
    limit: int = 100


class NodeTable:
    """The table of one session; what it shows an annotator is what they may know.

    Args:
        session: which.
        predictions: what is predicted.
        sight: what of both may be seen, and by whom.
        search: finds the nodes that hold a text.
        roles: which of the graph's attributes are titles and texts.
    """

    def __init__(
        self,
        session: Session,
        predictions: Predictions,
        sight: Visibility,
        search: NodeSearch,
        roles: Mapping[str, str],
    ) -> None:
        self._session, self._predictions, self._sight = session, predictions, sight
        self._search, self._roles = search, roles

    def rows(self, query: TableQuery, annotator: str | None = None) -> dict[str, Any]:
        """A window of rows, and how many there are in all."""
        session = self._session
        self._predictions.want()
        history = session.refresh()
        kept = None if self._sight.is_blind(history, annotator) else self._predictions.kept
        size = session.graph.num_nodes
        secret = self._sight.kept_from(annotator) | self._sight.undecided()
        numbers = {name: number for number, name in enumerate(session.classes)}
        names = list(numbers)
        label = np.full(size, -1)
        for node, told in session.labels.items():
            if node not in secret:
                label[node] = numbers.get(told, -1)
        predicted, sure = np.full(size, -1), np.zeros(size)
        if kept is not None:
            column = np.array([numbers.get(name, -1) for name in kept.classes])
            predicted, sure = column[kept.probabilities.argmax(1)], kept.probabilities.max(1).astype(float)
            hidden = list(secret)
            predicted[hidden], sure[hidden] = -1, 0.0
        when, who = self._last_told()
        chosen = self._filtered(query, label, predicted, sure, secret)
        if query.label is not None:
            number = numbers.get(query.label, -2)
            chosen &= np.where(label >= 0, label, predicted) == number
        nodes = np.flatnonzero(chosen)
        if query.text.strip():
            held = np.zeros(size, bool)
            held[self._search.find(query.text, size)] = True
            nodes = nodes[held[nodes]]
        keys: dict[str, npt.NDArray[Any]] = {
            "node": nodes,
            "sure": sure[nodes],
            "label": _by_name(label[nodes], names),
            "predicted": _by_name(predicted[nodes], names),
            "name": (
                np.array([session.name_of(node) for node in nodes.tolist()], dtype=object)
                if query.sort == "name"
                else nodes
            ),
            "time": np.array([when.get(node, 0.0) for node in nodes.tolist()]) if query.sort == "time" else nodes,
        }
        order = np.argsort(keys[query.sort], kind="stable")
        ordered = nodes[order[::-1] if query.descending else order]
        window = ordered[query.offset : query.offset + query.limit].tolist()
        return {
            "total": len(ordered),
            "offset": query.offset,
            "updating": not self._predictions.fresh,
            "rows": [
                {
                    "node": node,
                    "name": session.name_of(node),
                    "title": caption(session.graph, self._roles, node),
                    "label": names[label[node]] if label[node] >= 0 else None,
                    "predicted": names[predicted[node]] if predicted[node] >= 0 else None,
                    "sure": round(float(sure[node]), 4) if predicted[node] >= 0 else None,
                    "bulk": node in history.bulk,
                    "by": None if node in secret else who.get(node),
                    "time": None if node in secret else when.get(node),
                }
                for node in window
            ],
        }

    def _filtered(
        self,
        query: TableQuery,
        label: npt.NDArray[Any],
        predicted: npt.NDArray[Any],
        sure: npt.NDArray[Any],
        secret: Collection[int],
    ) -> npt.NDArray[np.bool_]:
        history = self._session.refresh()
        if query.filter == "labelled":
            return label >= 0
        if query.filter == "unlabelled":
            return label < 0
        if query.filter == "unsure":
            return (label < 0) & (predicted >= 0) & (sure < _UNSURE)
        if query.filter == "confident":
            return (label < 0) & (predicted >= 0) & (sure >= _CONFIDENT)
        chosen = np.ones(len(label), bool)
        if query.filter == "all":
            return chosen
        chosen[:] = False
        if query.filter == "disagreement":
            chosen[[node for node in history.disagreements if node not in secret]] = True
        elif query.filter == "skipped":
            chosen[[node for nodes in history.skipped.values() for node in nodes]] = True
        elif query.filter == "mistake":
            return self._contradicted(label, predicted)
        return chosen

    def _last_told(self) -> tuple[dict[int, float], dict[int, str]]:
        """When each node was last labelled, and by whom."""
        when: dict[int, float] = {}
        who: dict[int, str] = {}
        log = self._session.events
        gone, labels = undone(log), self._session.refresh().labels
        for event in log:
            if event.kind in ("tell", "bulk") and event.id not in gone:
                for node in event.body["nodes"] if event.kind == "bulk" else [event.body["node"]]:
                    if node in labels:
                        when[node], who[node] = event.at, event.annotator
        return when, who

    def _contradicted(self, label: npt.NDArray[Any], predicted: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Labels that the classifier does not come back to, or that most labelled neighbours do not share."""
        adjacency = self._session.graph.adjacency()
        known, most = label >= 0, int(label.max()) + 1
        if most <= 0:
            return known
        votes = np.stack(
            [np.asarray(adjacency @ (label == number).astype(np.float32)).ravel() for number in range(most)]
        )
        total, own = votes.sum(0), votes[np.where(known, label, 0), np.arange(len(label))]
        alone = known & (total >= 2) & (total - own >= _AROUND * total)
        contradicted: npt.NDArray[np.bool_] = alone | (known & (predicted >= 0) & (predicted != label))
        return contradicted


def _by_name(numbers: npt.NDArray[Any], names: list[str]) -> npt.NDArray[np.int64]:
    """Where each class stands among the names in alphabetical order; none comes last."""
    rank = {
        number: index
        for index, number in enumerate(sorted(range(len(names)), key=lambda number: names[number].casefold()))
    }
    return np.array([rank.get(int(number), len(names)) for number in numbers], dtype=np.int64)
