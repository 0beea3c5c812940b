"""What the page shows of a session: nodes, neighbourhoods, colours, events.

Everything here runs in the worker's thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from nodewise.ground.events import Event as Told
from nodewise.session.meaning.history import undone
from nodewise.studio.layout.neighbourhood import Neighbours
from nodewise.studio.work.cards import caption, heading, roles, texts
from nodewise.studio.work.node_table import NodeTable
from nodewise.studio.work.predictions import Predictions
from nodewise.studio.work.reports import Reports
from nodewise.studio.work.search import NodeSearch
from nodewise.studio.work.visibility import Visibility

if TYPE_CHECKING:
    from nodewise.session import Session
    from nodewise.session.answers import Event
    from nodewise.session.meaning.history import History
    from nodewise.studio.layout.overview import GraphMap
    from nodewise.studio.work.pictures import Pictures

__all__ = ["SessionPage"]


class SessionPage:
    """One session as the page sees it.

    Args:
        session: which.
        pictures: which pictures may be shown.
        give_way: called between the steps of long work.

    Attributes:
        predictions, reports, table: further parts of the page.
        sight: what of it may be seen, and by whom.
        map: where its nodes are drawn, once that is known.
    """

    def __init__(self, session: Session, pictures: Pictures, give_way: Callable[[], None]) -> None:
        def step(event: Told, /) -> None:
            give_way()

        self.session, self._pictures, self._step = session, pictures, step
        self.predictions, self.reports = Predictions(session, step), Reports(session, step)
        self.sight = Visibility(session)
        self.map: GraphMap | None = None
        self._roles = roles(session.graph)
        self._search = NodeSearch(session.graph, self._roles)
        self.table = NodeTable(session, self.predictions, self.sight, self._search, self._roles)
        self._neighbours: Neighbours | None = None

    def predict(self, check: Callable[[], None] = lambda: None) -> None:
        """Have the session predict now, with more urgent work in between; it keeps the result until the labels change.

        Args:
            check: called between the steps; may end the work by an error.
        """

        def step(event: Told, /) -> None:
            self._step(event)
            check()

        check()
        if self.session.history or self.sight.given.any():
            self.session.predict(step)

    def card(self, node: int, annotator: str | None = None) -> dict[str, Any]:
        """All that is known of a node, as far as the annotator may know it."""
        session = self.session
        history = session.refresh()
        self.predictions.want()
        hidden = self.sight.is_hidden(history, node, annotator)
        votes = {} if hidden else dict(history.votes.get(node, {}))
        label = None if hidden else self.sight.label(history, node)
        unseen = hidden or self.sight.is_undecided(history, node) or self.sight.is_blind(history, annotator)
        kept = None if unseen else self.predictions.kept
        predicted = None
        if kept is not None:
            row = kept.probabilities[node]
            predicted = [
                [kept.classes[column], round(float(row[column]), 6)]
                for column in (-row).argsort(kind="stable").tolist()
            ]
        return {
            "node": node,
            "name": session.name_of(node),
            "degree": int(session.graph.degree[node]),
            **texts(session.graph, node),
            "picture": f"/api/v1/nodes/{node}/picture" if self._pictures.shows(session.graph, node) else None,
            "label": label,
            "from": None if label is None else self._source(history, node),
            "votes": votes,
            "notes": [
                {"annotator": note.annotator, "text": note.text, "time": note.at}
                for note in history.notes.get(node, ())
            ],
            "heading": heading(session.graph, self._roles, node, session.name_of(node)),
            "skipped_by": sorted(who for who, nodes in history.skipped.items() if node in nodes),
            "predicted": predicted,
            "suggested": [] if unseen else self._suggested(history, node),
            "hidden": unseen,
            "updating": not self.predictions.fresh,
            "predictions_version": self.predictions.version,
        }

    def _suggested(self, history: History, node: int) -> list[dict[str, Any]]:
        """What models say of a node."""
        if not history.suggested:
            return []
        return [
            {
                "by": each.name,
                "label": history.classes.name(int(each.numbers[node])),
                "confidence": round(float(each.confidence[node]), 4),
            }
            for each in self.session.suggestions
            if each.numbers[node]
        ]

    def _source(self, history: History, node: int) -> str:
        """Where the label of a node comes from."""
        if node in self.sight.audit:
            return "audit"
        if node in history.bulk:
            return "bulk"
        return "told" if node in history.labels else "given"

    def search(self, text: str, limit: int, annotator: str | None = None) -> list[dict[str, Any]]:
        """Nodes whose names are, begin with or hold a text; then those whose own text holds it."""
        history = self.session.refresh()
        return [
            {
                "node": node,
                "name": self.session.name_of(node),
                "title": self.caption(node),
                "match": self._search.match(node, text),
                "label": None if self.sight.is_hidden(history, node, annotator) else self.sight.label(history, node),
            }
            for node in self._search.find(text, limit)
        ]

    def neighbourhood(self, node: int, hops: int, limit: int, annotator: str | None = None) -> dict[str, Any]:
        """A node and what lies around it, to be drawn."""
        self.predictions.want()
        session, history = self.session, self.session.refresh()
        kept = None if self.sight.is_blind(history, annotator) else self.predictions.kept
        if self._neighbours is None:
            self._neighbours = Neighbours(session.graph)
        labelled = self.sight.given.copy()
        labelled[list(history.labels)] = True
        seen = self._neighbours.around(node, hops, limit, labelled)
        shown = seen.nodes.tolist()
        nodes = []
        for each, x, y, hop in zip(shown, seen.x.tolist(), seen.y.tolist(), seen.hop.tolist(), strict=True):
            hidden = self.sight.is_hidden(history, each, annotator)
            predicted, sure = None, None
            if kept is not None and not hidden and not self.sight.is_undecided(history, each):
                best = int(kept.probabilities[each].argmax())
                predicted, sure = kept.classes[best], round(float(kept.probabilities[each, best]), 4)
            nodes.append(
                {
                    "node": each,
                    "name": session.name_of(each),
                    "title": caption(session.graph, self._roles, each),
                    "x": round(x, 4),
                    "y": round(y, 4),
                    "hop": hop,
                    "degree": int(session.graph.degree[each]),
                    "label": None if hidden else self.sight.label(history, each),
                    "picture": "picture" in self._roles and self._pictures.shows(session.graph, each),
                    "predicted": predicted,
                    "sure": sure,
                }
            )
        counts = {
            "hidden": seen.hidden,
            "total": seen.total,
            "exact": seen.exact,
            "updating": not self.predictions.fresh,
        }
        return {"centre": node, "nodes": nodes, "edges": seen.edges.tolist(), **counts}

    def colours(self, graph_map: GraphMap, annotator: str | None = None) -> dict[str, Any]:
        """Labels and predictions of the nodes on the map, in its order."""
        session = self.session
        self.predictions.want()
        history = session.refresh()
        kept = None if self.sight.is_blind(history, annotator) else self.predictions.kept
        classes = list(session.classes)
        index = {name: number for number, name in enumerate(classes)}
        nodes = graph_map.nodes.tolist()
        secret = self.sight.kept_from(annotator)
        labelled = [-1 if node in secret else index.get(self.sight.label(history, node) or "", -1) for node in nodes]
        predicted, sure = [-1] * len(nodes), [0.0] * len(nodes)
        if kept is not None:
            rows = kept.probabilities[graph_map.nodes]
            column = np.array([index.get(name, -1) for name in kept.classes])
            shown = np.array([not self.sight.is_undecided(history, node) for node in nodes])
            predicted = np.where(shown, column[rows.argmax(1)], -1).tolist()
            sure = np.where(shown, rows.max(1).astype(float).round(3), 0.0).tolist()
        return {
            "classes": classes,
            "labelled": labelled,
            "predicted": predicted,
            "sure": sure,
            "predictions_from": self.predictions.made_from,
            "updating": not self.predictions.fresh,
        }

    def events(self, limit: int, before: int | None, asks: bool, annotator: str | None = None) -> list[dict[str, Any]]:
        """What has happened, the newest first."""
        log = self.session.events
        gone = undone(log)
        listed: list[dict[str, Any]] = []
        for event in reversed(log if before is None else log[: max(0, before - 1)]):
            if event.kind != "ask" or asks:
                told = self.describe(event, log, annotator)
                listed.append({**told, "time": event.at, "undone": event.id in gone})
            if len(listed) == limit:
                break
        return listed

    def describe(
        self, event: Event, log: Sequence[Event] | None = None, annotator: str | None = None
    ) -> dict[str, Any]:
        """An event of the log in the page's words; an undo tells node and label of what it takes back.

        The label that somebody else gave is left out where the annotator's own opinion may still be asked for.
        """
        listed = log or self.session.events
        source = listed[int(event.body["event"]) - 1] if event.kind == "undo" else event
        about, classes = source.body, self.session.class_list
        node = about.get("node")
        label = about.get("label", about.get("name"))
        if isinstance(about.get("class"), int) and source.kind in ("tell", "settle", "describe"):
            label = classes.name(about["class"])
        if source.kind == "merge":  # by its own name, not by that of the class it counts as
            label = classes.names.get(about["class"], classes.name(about["class"]))
        if source.kind in ("bulk", "join"):
            label = ", ".join(dict.fromkeys(classes.name(number) for number in about["classes"]))
        if source.kind == "join" or (source.kind in ("tell", "bulk") and source.annotator != annotator):
            nodes = [about["node"]] if source.kind == "tell" else about["nodes"]
            if self.sight.wants_any(self.session.refresh(), nodes, annotator):
                label = None
        return {
            "event": event.id,
            "kind": event.kind,
            "annotator": event.annotator,
            "node": node,
            "name": None if node is None else self.session.name_of(int(node)),
            "label": label,
            "nodes": len(about.get("nodes", ())) or about.get("count"),
            "into": classes.name(about["into"]) if "into" in about else None,
            "text": about.get("text"),
            "budget": about.get("budget"),
            "redundancy": about.get("redundancy"),
            "undoes": event.body["event"] if event.kind == "undo" else None,
        }

    def class_numbers(self) -> dict[str, int]:
        """The number of every class, from 0, by which it has its key and colour for the life of the session.

        In the order of the screen.
        """
        return {each.name: each.number - 1 for each in self.session.class_list.in_order}

    def caption(self, node: int) -> str | None:
        """A few words that tell a node from others."""
        return caption(self.session.graph, self._roles, node)
