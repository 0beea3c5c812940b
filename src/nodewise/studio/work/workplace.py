"""The session that the studio has open: finding, opening, asking and telling. Everything here runs in the worker's thread."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodewise.ground.errors import UnknownNameError
from nodewise.session.naming import valid_person
from nodewise.studio.api.failures import ConflictError, MissingError, NoSessionError, TypoError
from nodewise.studio.settings import ENDING, StudioSettings
from nodewise.studio.work.pictures import Picture, Pictures
from nodewise.studio.work.views import Views
from nodewise.studio.work.worker import StoppedError

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
        self._pictures = Pictures(settings.pictures)
        self._views: Views | None = None
        self._file: tuple[int, int] = (0, 0)
        self._seen = 0
        self._leaving = False

    @property
    def is_open(self) -> bool:
        """Whether a session is open."""
        return self._views is not None

    @property
    def views(self) -> Views:
        """The open session as the page sees it.

        Raises:
            NoSessionError: there is none.
            ConflictError: its file is not where it was; SQLite would call that an error of the disk.
        """
        if self._views is None:
            raise NoSessionError
        if _identity(self._views.session.path) != self._file:
            raise ConflictError(
                f"the file {self._views.session.path.name!r} has been moved, removed or replaced since it was opened: put it back, or open another session"
            )
        return self._views

    @property
    def session(self) -> Session:
        """The open session."""
        return self.views.session

    @property
    def name(self) -> str:
        """What the session is called: its file's name without the ending."""
        if self._views is None:
            raise NoSessionError
        return self._views.session.path.name.removesuffix(ENDING)

    def describe(self) -> dict[str, str] | None:
        """The open session by name, or None."""
        if self._views is None:
            return None
        return {"name": self.name, "graph": self._views.session.graph.name, "file": self._views.session.path.name}

    def sessions(self) -> list[str]:
        """The sessions in the studio's folder, by name."""
        found = (path for path in self.settings.folder.glob(f"*{ENDING}") if not path.name.startswith(".") and path.is_file())
        return sorted(path.name.removesuffix(ENDING) for path in found)

    def leave(self) -> None:
        """Have long work on the present session end at its next step, since another one is about to be opened; from any thread."""
        self._leaving = True

    def stay(self) -> None:
        """The other session is not opened after all."""
        self._leaving = False

    def open(self, name: str) -> str:
        """Open one of the sessions in the studio's folder; it is found in the list, never by a path.

        Raises:
            MissingError: there is none of that name.
        """
        from nodewise.session import Session

        self._leaving = False
        if name not in self.sessions():
            raise MissingError(f"there is no session {name[:100]!r} in the studio's folder: open one of those listed, or make a new one")
        path = self.settings.folder / f"{name}{ENDING}"
        if not self.is_open or _identity(path) != self._file:
            session = Session.open(path)
            try:
                self.take(session)
            except BaseException:
                session.close()
                raise
        return self.name

    def take(self, session: Session) -> None:
        """Work on this session from now on; the one before is closed."""
        views = Views(session, self._pictures, self._step)
        self.close()
        self._views, self._file = views, _identity(session.path)
        self._seen = session.refresh().last
        self._publish({"type": "session", "name": self.name})

    def close(self) -> None:
        """Let go of the session's file."""
        self._leaving = False
        views, self._views = self._views, None
        if views is not None:
            views.session.close()

    def look(self, watched: bool) -> bool:
        """Tell the pages what other processes have written; whether the predictions are to be made again.

        Args:
            watched: whether a page is open.
        """
        if self._views is None:
            return False
        self._tell_pages()
        predictions = self._views.predictions
        return (watched or predictions.wanted) and predictions.due()

    def renew(self) -> None:
        """Make the predictions again, and tell the pages, which then fetch the colours."""
        if self._views is not None and self._views.predictions.renew():
            self._publish({"type": "changed", "last": self._seen})

    def expect(self, name: str | None) -> None:
        """Refuse what was meant for another session: a page may not know yet that this one was opened.

        Raises:
            ConflictError: the open session has another name.
        """
        if name is not None and name != self.name:
            raise ConflictError(f"the session {name!r} was meant, but {self.name!r} is open now: load the page again, or open that one")

    def status(self, annotator: str | None = None) -> dict[str, Any]:
        """How far the job is, as far as the annotator may know it."""
        session = self.session
        now = session.status().as_dict()
        for node in self.views.kept_from(annotator):
            now["disagreements"].pop(session.name_of(node), None)
        return {**now, "name": self.name, "last": session.refresh().last, "predictions_from": self.views.predictions.made_from}

    def ask(self, annotator: str, count: int) -> list[dict[str, Any]]:
        """The next nodes for an annotator, each with its card."""
        queries = self.session.ask(count, annotator)
        self._tell_pages()
        return [{**query.as_dict(), "card": self.views.card(query.node, query.annotator)} for query in queries]

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
            raise TypoError(error.name, error.suggestions) from None
        self._tell_pages()
        return events if isinstance(events, list) else [events]

    def skip(self, annotator: str, node: int) -> int:
        """Note that an annotator cannot tell a node."""
        event = self.session.skip(self.node(node), annotator)
        self._tell_pages()
        return event

    def undo(self, annotator: str | None, event: int | None) -> dict[str, Any]:
        """Take something back."""
        undone = self.session.undo(event, None if annotator is None else valid_person(annotator))
        self._tell_pages()
        return self.views.describe(undone)

    def add_class(self, name: str, annotator: str) -> int:
        """Declare a class."""
        event = self.session.add_class(name, annotator)
        self._tell_pages()
        return event

    def set_budget(self, budget: int, annotator: str) -> int:
        """Raise or lower the budget."""
        event = self.session.set_budget(budget, annotator)
        self._tell_pages()
        return event

    def picture(self, node: int) -> Picture | None:
        """The picture of a node, if there is one that may be shown."""
        return self._pictures.fetch(self.session.graph, node)

    def node(self, node: int) -> int:
        """The node, if there is one of that index.

        Raises:
            MissingError: there is none.
        """
        size = self.session.graph.num_nodes
        if not 0 <= node < size:
            raise MissingError(f"there is no node {node}: the graph {self.session.graph.name!r} has nodes 0 to {size - 1}")
        return node

    def _step(self) -> None:
        if self._leaving:
            raise StoppedError("another session was opened meanwhile: ask again")
        self._give_way()

    def _tell_pages(self) -> None:
        """Tell the pages if the log has grown."""
        last = self.session.refresh().last
        if last != self._seen:
            self._seen = last
            self._publish({"type": "changed", "last": last})


def _identity(path: Path) -> tuple[int, int]:
    """Which file lies at a path; none at all is (0, 0)."""
    try:
        found = os.stat(path)  # noqa: PTH116
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino
