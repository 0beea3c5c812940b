"""The session that the studio has open, and what is derived from it. Everything here runs in the worker's thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodewise.errors import SessionError, UnknownNameError
from nodewise.studio.cards import card
from nodewise.studio.failures import ConflictError, MissingError, NoSessionError, TypoError
from nodewise.studio.predictions import Predictions
from nodewise.studio.search import NameIndex
from nodewise.studio.settings import ENDING, StudioSettings

if TYPE_CHECKING:
    from nodewise.session import Session

__all__ = ["Workplace"]


class Workplace:
    """What the studio's requests work on.

    Args:
        settings: the studio's.
        publish: told every message for the pages.
        give_way: called between the steps of long work.
    """

    def __init__(self, settings: StudioSettings, publish: Callable[[dict[str, Any]], None], give_way: Callable[[], None]) -> None:
        self.settings, self._publish, self._give_way = settings, publish, give_way
        self._session: Session | None = None
        self.predictions = Predictions()
        self._names: NameIndex | None = None
        self._seen = 0

    @property
    def session(self) -> Session:
        """The open session.

        Raises:
            NoSessionError: there is none.
        """
        if self._session is None:
            raise NoSessionError
        return self._session

    @property
    def is_open(self) -> bool:
        """Whether a session is open."""
        return self._session is not None

    @property
    def name(self) -> str:
        """What the session is called: its file's name without the ending."""
        return self.session.path.name.removesuffix(ENDING)

    def sessions(self) -> list[str]:
        """The sessions in the studio's folder, by name."""
        found = (path for path in self.settings.folder.glob(f"*{ENDING}") if not path.name.startswith(".") and path.is_file())
        return sorted(path.name.removesuffix(ENDING) for path in found)

    def open(self, name: str) -> str:
        """Open one of the sessions in the studio's folder; it is found in the list, never by a path.

        Raises:
            MissingError: there is none of that name.
        """
        from nodewise.session import Session

        if name not in self.sessions():
            raise MissingError(f"there is no session {name[:100]!r} in the studio's folder: open one of those listed, or make a new one")
        if self._session is None or self._session.path.resolve() != (self.settings.folder / f"{name}{ENDING}").resolve():
            self.take(Session.open(self.settings.folder / f"{name}{ENDING}"))
        return self.name

    def take(self, session: Session) -> None:
        """Work on this session from now on; the one before is closed."""
        self.close()
        self._session = session
        self.predictions, self._names = Predictions(), None
        self._seen = session.refresh().last
        self._publish({"type": "session", "name": self.name})

    def close(self) -> None:
        """Let go of the session's file."""
        session, self._session = self._session, None
        if session is not None:
            session.close()

    def poll(self) -> bool:
        """Whether the log has grown since somebody was last told, and tell the pages."""
        if self._session is None:
            return False
        return self._told()

    def status(self) -> dict[str, Any]:
        """How far the job is."""
        session = self.session
        now = session.status().as_dict()
        return {**now, "name": self.name, "last": session.refresh().last, "predictions_from": self.predictions.made_from}

    def ask(self, annotator: str, count: int) -> list[dict[str, Any]]:
        """The next nodes for an annotator, each with its card."""
        queries = self.session.ask(count, annotator)
        self._told()
        return [{**query.as_dict(), "card": self.card(query.node, query.annotator)} for query in queries]

    def tell(self, annotator: str, labels: Sequence[tuple[int, str]], new_class: bool) -> list[int]:
        """Write labels down, all or none.

        Raises:
            TypoError: one looks like a misspelt class.
        """
        session = self.session
        nodes = [self.node(node) for node, _ in labels]
        try:
            events = session.tell(nodes, [label for _, label in labels], annotator, new_class=new_class)
        except UnknownNameError as error:
            raise TypoError(str(error), error.suggestions[0]) from None
        self._told()
        return events if isinstance(events, list) else [events]

    def skip(self, annotator: str, node: int) -> int:
        """Note that an annotator cannot tell a node."""
        event = self.session.skip(self.node(node), annotator)
        self._told()
        return event

    def undo(self, annotator: str | None, event: int | None) -> dict[str, Any]:
        """Take something back."""
        session = self.session
        undone = session.undo(event, annotator)
        self._told()
        node = undone.body.get("node")
        return {
            "event": undone.id, "kind": undone.kind, "annotator": undone.annotator, "node": node,
            "name": undone.body.get("name") if node is None else session.name_of(int(node)), "label": undone.body.get("label"),
        }  # fmt: skip

    def add_class(self, name: str, annotator: str) -> int:
        """Declare a class."""
        event = self.session.add_class(name, annotator)
        self._told()
        return event

    def set_budget(self, budget: int, annotator: str) -> int:
        """Raise or lower the budget."""
        event = self.session.set_budget(budget, annotator)
        self._told()
        return event

    def node(self, node: int) -> int:
        """The node, if there is one of that index.

        Raises:
            MissingError: there is none.
        """
        size = self.session.graph.num_nodes
        if not 0 <= node < size:
            raise MissingError(f"there is no node {node}: the graph {self.session.graph.name!r} has nodes 0 to {size - 1}")
        return node

    def card(self, node: int, annotator: str | None = None) -> dict[str, Any]:
        """What the page shows of a node."""
        return card(self.session, self.node(node), self.predictions.kept, annotator=annotator)

    def search(self, text: str, limit: int) -> list[dict[str, Any]]:
        """Nodes whose names begin with or hold a text."""
        session = self.session
        if self._names is None:
            self._names = NameIndex(session.graph)
        labels = session.labels
        return [{"node": node, "name": session.name_of(node), "label": labels.get(node)} for node in self._names.find(text, limit)]

    def neighbourhood(self, node: int, hops: int, limit: int) -> dict[str, Any]:
        """A stand-in: the node and its first neighbours on a circle."""
        import math

        session = self.session
        self.node(node)
        ends = session.graph.edge_index
        around = sorted({*ends[1][ends[0] == node].tolist(), *ends[0][ends[1] == node].tolist()})
        shown = [node, *around[: limit - 1]]
        kept, labels = self.predictions.kept, session.labels
        nodes = []
        for place, each in enumerate(shown):
            angle, away = 2 * math.pi * place / max(1, len(shown) - 1), 0.0 if place == 0 else 0.8
            guess = None if kept is None else int(kept.probabilities[each].argmax())
            nodes.append({
                "node": each, "name": session.name_of(each), "x": away * math.cos(angle), "y": away * math.sin(angle), "hop": min(place, 1),
                "degree": int(session.graph.degree[each]), "label": labels.get(each),
                "predicted": None if kept is None or guess is None else kept.classes[guess],
                "sure": None if kept is None or guess is None else float(kept.probabilities[each][guess]),
            })  # fmt: skip
        edges = [[0, place] for place in range(1, len(shown))]
        return {"centre": node, "nodes": nodes, "edges": edges, "hidden": len(around) + 1 - len(shown), "total": len(around) + 1}

    def map(self) -> dict[str, Any]:
        """A stand-in: the nodes on a spiral."""
        import numpy as np

        size = self.session.graph.num_nodes
        turn = np.sqrt(np.arange(size) / size)
        angle = np.arange(size) * 2.399963
        x, y = turn * np.cos(angle), turn * np.sin(angle)
        return {"nodes": list(range(size)), "x": x.tolist(), "y": y.tolist(), "total": size, "sampled": False, "edges": []}

    def colours(self) -> dict[str, Any]:
        """Labels and predictions in the order of the map."""
        session = self.session
        self.predictions.renew(session)
        kept, labels = self.predictions.kept, session.labels
        classes = list(session.classes)
        places = {name: place for place, name in enumerate(classes)}
        size = session.graph.num_nodes
        best = [-1] * size if kept is None else [places.get(name, -1) for name in kept.names]
        sure = [0.0] * size if kept is None else [round(float(chance), 3) for chance in kept.confidence]
        return {
            "classes": classes, "labelled": [places[labels[node]] if node in labels else -1 for node in range(size)], "predicted": best,
            "sure": sure, "predictions_from": self.predictions.made_from,
        }  # fmt: skip

    def report(self) -> dict[str, Any]:
        """Whether more labels are worth it."""
        session = self.session
        history = session.refresh()
        training, given = session.training(history)
        if not training and not given:
            raise ConflictError("there is nothing to report before the first label: tell one")
        return {**session.stop_report().as_dict(), "from": history.last}

    def _told(self) -> bool:
        """Tell the pages if the log has grown."""
        if self._session is None:
            raise SessionError("the session was closed")
        last = self._session.refresh().last
        if last == self._seen:
            return False
        self._seen = last
        self._publish({"type": "changed", "last": last})
        return True
