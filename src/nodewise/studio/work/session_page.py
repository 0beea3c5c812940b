"""What the page shows of a session: nodes, neighbourhoods, colours, events.

Everything here runs in the worker's thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from nodewise.ground.events import Event as Told
from nodewise.session.answers import undone
from nodewise.session.learning.stopping import unlike_words
from nodewise.session.learning.unlike import LookedFor
from nodewise.studio.layout.neighbourhood import Neighbourhood, Neighbours
from nodewise.studio.layout.related import Related, RelatedNeighbourhood
from nodewise.studio.work.cards import caption, heading, roles, texts
from nodewise.studio.work.errors import ConflictError
from nodewise.studio.work.node_table import NodeTable
from nodewise.studio.work.predictions import Decided, Predictions
from nodewise.studio.work.reports import Reports
from nodewise.studio.work.search import NodeSearch
from nodewise.studio.work.similar import SimilarRows
from nodewise.studio.work.visibility import Visibility

if TYPE_CHECKING:
    from nodewise.session import Session
    from nodewise.session.answers import Answer, Event
    from nodewise.session.meaning.history import History
    from nodewise.studio.layout.overview import GraphMap
    from nodewise.studio.work.pictures import Pictures

__all__ = ["SessionPage"]


_EXCERPT = 400
"""Characters of a similar row's text."""
_Method = TypeVar("_Method", bound=Callable[..., Any])


def _at_one_moment(method: _Method) -> _Method:
    """A method of the page during which the session stands still: rows that come meanwhile are for the next page."""

    @wraps(method)
    def still(page: SessionPage, *arguments: Any, **options: Any) -> Any:
        with page.session.at_one_moment():
            return method(page, *arguments, **options)

    return cast(_Method, still)


def _answer(logged: int | list[int]) -> Answer:
    """What an event says of a node, by number: a class, or where it may have several a list of them."""
    return tuple(logged) if isinstance(logged, list) else logged


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
        self._similar = SimilarRows(session.graph)
        self._neighbours: Neighbours | None = None
        self._related: Related | None = None

    def made_from(self, annotator: str | None) -> int | None:
        """How many labels the predictions were made from, as the annotator may count them; None without any."""
        labels = self.predictions.made_from
        return None if labels is None else labels + self.sight.uncounted(self.predictions.history, annotator)

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

    def report(self, annotator: str | None, check: Callable[[], None]) -> dict[str, Any]:
        """Whether more labels are worth it, as far as the annotator may know it; see `Reports.latest`.

        Nothing of rows that stand out where they may see no prediction: the same views tell both. Labels are counted
        as they may count them.
        """
        report = dict(self.reports.latest(check))
        if self.sight.is_blind(self.sight.history(annotator), annotator):
            looked = report["looked_for"]
            kept = {unlike_words(report["unlike"] or 0), "" if looked is None else LookedFor(**looked).words}
            words = [said for said in report["words"] if said not in kept]
            report |= {"unlike": None, "looked_for": None, "words": words}
        if more := self.sight.uncounted(self.reports.history, annotator):
            curve = [{**point, "labels": point["labels"] + more} for point in report["curve"]]
            report |= {"labels": report["labels"] + more, "curve": curve}
        return report

    @_at_one_moment
    def card(self, node: int, annotator: str | None = None) -> dict[str, Any]:
        """All that is known of a node, as far as the annotator may know it."""
        session = self.session
        history = self.sight.history(annotator)
        self.predictions.want()
        hidden = self.sight.is_hidden(history, node, annotator)
        votes = {} if hidden else dict(history.votes.get(node, {}))
        label = None if hidden else self.sight.label(history, node)
        unseen = self.sight.is_undecided(history, node, annotator) or self.sight.is_blind(history, annotator)
        kept = None if unseen else self.predictions.kept
        predicted, given = None, None
        if kept is not None:
            row = kept.probabilities[node]
            if kept.given is not None:
                given = [kept.classes[column] for column in np.flatnonzero(kept.given[node])]
            predicted = [
                [kept.classes[column], round(float(row[column]), 6)]
                for column in (-row).argsort(kind="stable").tolist()
            ]
        return {
            "node": node,
            "name": session.name_of(node),
            "degree": int(session.graph.degree[node]),
            **texts(session.graph, node, self.sight.hidden_columns(history)),
            "picture": f"/api/v1/nodes/{node}/picture" if self._pictures.shows(session.graph, node) else None,
            "label": label,
            "from": None if label is None else self._source(history, node),
            "votes": votes,
            "settled_by": history.settled[node][1] if node in history.settled and not hidden else None,
            "notes": [
                {"annotator": note.annotator, "text": note.text, "time": note.at}
                for note in history.notes.get(node, ())
            ],
            "heading": heading(session.graph, self._roles, node, session.name_of(node)),
            "skipped_by": sorted(who for who, nodes in history.skipped.items() if node in nodes),
            "predicted": predicted,
            "given": given,
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

    @_at_one_moment
    def search(self, text: str, limit: int, annotator: str | None = None) -> list[dict[str, Any]]:
        """Nodes whose names are, begin with or hold a text; then those whose own text holds it."""
        history = self.sight.history(annotator)
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

    @_at_one_moment
    def similar(self, node: int, limit: int, labelled: bool, annotator: str | None = None) -> dict[str, Any]:
        """The rows most similar to one that may be labelled together, with some of their text.

        Never among them: rows to be judged one by one (the audit's without an answer, and those that wait for a further
        opinion), and rows that were taken out.

        Args:
            labelled: whether rows that have a label may be among them.

        Raises:
            ConflictError: the row is one of the audit.
        """
        if node in self.sight.audit:
            raise ConflictError(
                "this row belongs to the audit: rows like it are not looked for from here, since labelling them would"
                " make it easier than a row drawn at random, and the measured accuracy too high"
            )
        facts, _ = self.table.facts(annotator)
        allowed = facts.seen.copy()
        allowed[list(facts.history.gone)] = False
        if not labelled:
            allowed &= facts.label < 0
        nodes, likeness = self._similar.nearest(node, allowed, limit)
        graph, hidden = self.session.graph, self.sight.hidden_columns(facts.history)
        shown = [texts(graph, each, hidden)["text"] for each in nodes]
        return {
            "node": node,
            "by": self._similar.by,
            "rows": [
                {**row, "text": None if text is None else text[:_EXCERPT], "likeness": round(alike, 4)}
                for row, text, alike in zip(self.table.some(nodes, annotator), shown, likeness, strict=True)
            ],
        }

    @_at_one_moment
    def neighbourhood(self, node: int, hops: int, limit: int, annotator: str | None = None) -> dict[str, Any]:
        """A node and what lies around it, to be drawn; where there are relations, nodes of all types."""
        self.predictions.want()
        session, history = self.session, self.sight.history(annotator)
        decided = None if self.sight.is_blind(history, annotator) else self.predictions.decided
        labelled = self.sight.given.copy()
        labelled[list(history.labels)] = True
        labelled[list(self.sight.kept_from(annotator))] = False
        seen: Neighbourhood
        if session.graph.relations is not None:
            if self._related is None:
                self._related = Related(session.graph.relations)
            seen = self._related.around(node, hops, limit, labelled)
        else:
            if self._neighbours is None:
                self._neighbours = Neighbours(session.graph)
            seen = self._neighbours.around(node, hops, limit, labelled)
        places = [
            {"x": round(x, 4), "y": round(y, 4), "hop": hop}
            for x, y, hop in zip(seen.x.tolist(), seen.y.tolist(), seen.hop.tolist(), strict=True)
        ]
        counts = {
            "hidden": seen.hidden,
            "total": seen.total,
            "exact": seen.exact,
            "updating": not self.predictions.fresh,
        }
        if not isinstance(seen, RelatedNeighbourhood):
            drawn = [
                self._drawn(each, history, decided, annotator) | place
                for each, place in zip(seen.nodes.tolist(), places, strict=True)
            ]
            return {"centre": node, "nodes": drawn, "edges": seen.edges.tolist(), "related": None, **counts}
        record = session.graph.relations
        assert record is not None
        nodes: list[dict[str, Any]] = []
        others: list[dict[str, Any]] = []
        for each, of, degree, place in zip(
            seen.nodes.tolist(), seen.types.tolist(), seen.degree.tolist(), places, strict=True
        ):
            kind = record.types[of]
            if kind.name == record.labelled:
                nodes.append(self._drawn(each, history, decided, annotator) | place | {"degree": degree})
            else:
                others.append({"type": kind.name, "node": each, "name": kind.called(each), "degree": degree} | place)
        own = np.array([record.types[of].name == record.labelled for of in seen.types.tolist()])
        index = np.where(own, np.cumsum(own) - 1, len(nodes) + np.cumsum(~own) - 1)
        related = {
            "labelled": record.labelled,
            "others": others,
            "relations": [{"name": one.name, "source": one.source, "target": one.target} for one in record.relations],
            "edge_relations": seen.edges[:, 2].tolist(),
        }
        edges = index[seen.edges[:, :2]].tolist()
        return {"centre": node, "nodes": nodes, "edges": edges, "related": related, **counts}

    def _drawn(self, node: int, history: History, decided: Decided | None, annotator: str | None) -> dict[str, Any]:
        """What a drawing says of a node, as far as the annotator may know it."""
        session = self.session
        hidden = self.sight.is_hidden(history, node, annotator)
        predicted, sure = None, None
        if decided is not None and not self.sight.is_undecided(history, node, annotator):
            predicted, sure = decided.names[decided.index[node]], round(float(decided.sure[node]), 4)
        return {
            "node": node,
            "name": session.name_of(node),
            "title": caption(session.graph, self._roles, node),
            "degree": int(session.graph.degree[node]),
            "label": None if hidden else self.sight.label(history, node),
            "picture": "picture" in self._roles and self._pictures.shows(session.graph, node),
            "predicted": predicted,
            "sure": sure,
        }

    @_at_one_moment
    def colours(self, graph_map: GraphMap, annotator: str | None = None) -> dict[str, Any]:
        """Labels and predictions of the nodes on the map, in its order."""
        session = self.session
        self.predictions.want()
        history = self.sight.history(annotator)
        decided = None if self.sight.is_blind(history, annotator) else self.predictions.decided
        # where a node may have several classes, every set that occurs gets an index
        index = {} if session.settings.several else {name: number for number, name in enumerate(session.classes)}
        nodes = graph_map.nodes.tolist()
        secret = self.sight.kept_from(annotator)
        labels = [None if node in secret else self.sight.label(history, node) for node in nodes]
        labelled = [-1 if label is None else index.setdefault(label, len(index)) for label in labels]
        predicted, sure = [-1] * len(nodes), [0.0] * len(nodes)
        if decided is not None:
            column = np.array([index.setdefault(name, len(index)) for name in decided.names], np.int64)
            shown = np.array([not self.sight.is_undecided(history, node, annotator) for node in nodes])
            predicted = np.where(shown, column[decided.index[graph_map.nodes]], -1).tolist()
            sure = np.where(shown, decided.sure[graph_map.nodes].round(3), 0.0).tolist()
        return {
            "classes": list(index),
            "labelled": labelled,
            "predicted": predicted,
            "sure": sure,
            "predictions_from": self.made_from(annotator),
            "updating": not self.predictions.fresh,
        }

    @_at_one_moment
    def events(
        self, limit: int, before: int | None, asks: bool, annotator: str | None = None, owner: bool = True
    ) -> list[dict[str, Any]]:
        """What has happened, the newest first; which answers are known is shown to the owner alone."""
        log = self.session.events
        gone = undone(log)
        listed: list[dict[str, Any]] = []
        for event in reversed(log if before is None else log[: max(0, before - 1)]):
            if (event.kind != "ask" or asks) and self._may_be_told(event, log, annotator, owner):
                described = self.describe(event, log, annotator)
                listed.append({**described, "time": event.at, "undone": event.id in gone})
            if len(listed) == limit:
                break
        return listed

    def _may_be_told(self, event: Event, log: Sequence[Event], annotator: str | None, owner: bool) -> bool:
        """Whether the event gives no question with a known answer away."""
        source = event
        while source.kind == "undo":
            source = log[int(source.body["event"]) - 1]
        if source.kind == "known":
            return owner
        if source.annotator == annotator or source.kind not in ("ask", "tell", "bulk", "skip", "settle"):
            return True
        history = self.session.refresh()
        return not self.sight.is_unseen(history, source, annotator)

    @_at_one_moment
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
        if about.get("class") is not None and source.kind in ("tell", "settle", "describe"):
            label = classes.name(_answer(about["class"]))
        if source.kind == "merge":  # by its own name, not by that of the class it counts as
            label = classes.names.get(about["class"], classes.name(about["class"]))
        if source.kind in ("bulk", "join", "known"):
            names = dict.fromkeys(classes.name(_answer(number)) for number in about["classes"])
            label = ", ".join(names) if len(names) == 1 or not self.session.settings.several else None
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
