"""A session that the studio has open: asking and telling. Everything here runs in the worker's thread."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from nodewise.ground.errors import InputError, UnknownNameError
from nodewise.session.answers import valid_person
from nodewise.session.files.status import make_status
from nodewise.session.settings import NewSettings, settings_of
from nodewise.studio.settings import ENDING
from nodewise.studio.work.errors import ConflictError, MissingError, TypoError
from nodewise.studio.work.pictures import Picture, Pictures
from nodewise.studio.work.session_page import SessionPage

if TYPE_CHECKING:
    from nodewise.session import Session

__all__ = ["OpenSession", "Said", "file_identity"]

T = TypeVar("T")
Said = str | list[str]
"""A label as a request has it: a class, or where a node may have several a list of them."""


class OpenSession:
    """One session with its file, as the studio's requests use it.

    Args:
        session: which; it is closed with this object.
        pictures: which pictures may be shown.
        publish: gets every message for the pages.
        give_way: called between the steps of long work.
    """

    def __init__(
        self,
        session: Session,
        pictures: Pictures,
        publish: Callable[[dict[str, Any]], None],
        give_way: Callable[[], None],
    ) -> None:
        self.name = session.path.name.removesuffix(ENDING)
        self._publish, self._pictures = publish, pictures
        self._page, self._graph, self._give_way = SessionPage(session, pictures, give_way), session.graph, give_way
        self._seen = session.refresh().last

    @property
    def page(self) -> SessionPage:
        """The session as the page sees it.

        Raises:
            ConflictError: its file is not where it was; SQLite would call that an error of the disk.
        """
        if not self.in_place:
            raise ConflictError(
                f"the file {self._page.session.path.name!r} has been moved, removed or replaced since it was opened:"
                " put it back, or open another session"
            )
        session = self._page.session
        session.refresh()
        with session.at_one_moment():
            if session.graph is not self._graph:  # rows were added: all that was kept is of others
                self._page, self._graph = SessionPage(session, self._pictures, self._give_way), session.graph
        return self._page

    @property
    def in_place(self) -> bool:
        """Whether the file that was opened still lies where it was."""
        return self._page.session.in_place

    @property
    def session(self) -> Session:
        """The session itself."""
        return self.page.session

    def describe(self) -> dict[str, str]:
        """Its name, its graph's name and its file's."""
        return {"name": self.name, "graph": self._page.session.graph.name, "file": self._page.session.path.name}

    def close(self) -> None:
        """Let go of the file."""
        self._page.session.close()

    def look(self, watched: bool) -> bool:
        """Tell the pages what other processes have written; whether the predictions are to be made again.

        Args:
            watched: whether a page of this session is open.
        """
        self._tell_pages()
        predictions = self.page.predictions
        return (watched or predictions.wanted) and predictions.due()

    def renew(self) -> None:
        """Make the predictions again, and tell the pages, which then fetch the colours."""
        if self.page.predictions.renew():
            self._publish({"type": "changed", "session": self.name, "last": self._seen})

    def status(self, annotator: str | None = None, predict: bool = True) -> dict[str, Any]:
        """How far the job is, as far as the annotator may know it.

        Args:
            annotator: who looks.
            predict: whether predictions are made first, where somebody looks at them and that is quick; a label need
                not wait for them.
        """
        session, predictions = self.session, self.page.predictions
        if predict and predictions.wanted:
            predictions.want()
        sight = self.page.sight
        moment, seen = sight.moment(annotator), sight.open_moment(annotator)
        now = make_status(moment).as_dict()
        if seen is not moment:
            shown = make_status(seen).as_dict()
            now |= {name: shown[name] for name in ("balance", "none", "agreement", "kappa", "disagreements")}
        now["done"] = session.moment().done
        known = session.refresh()
        control = {session.name_of(node) for node in session.rules().known if sight.is_control(known, node, annotator)}
        for asked in ("open", "random"):
            now[asked] = {
                who: names if who == annotator else [name for name in names if name not in control]
                for who, names in now[asked].items()
            }
        numbers = self.page.class_numbers()
        now |= {"classes": list(numbers), "numbers": numbers, "guideline": session.guideline}
        now["descriptions"] = {each.name: each.description for each in session.class_list if each.description}
        return {
            **now,
            "name": self.name,
            "named": session.graph.node_names is not None,
            "last": session.refresh().last,
            "predictions_from": self.page.made_from(annotator),
            "updating": predictions.wanted and not predictions.fresh and not predictions.quick,
            "predictions_version": predictions.version,
        }

    def known(self) -> dict[str, Any]:
        """The rows whose answers the owner knows, with what people said, and how many of a hundred questions are about
        these.
        """
        session, history = self.session, self.session.refresh()
        name = history.classes.name
        return {
            "percent": session.rules().control,
            "rows": [
                {
                    "node": node,
                    "name": session.name_of(node),
                    "title": self.page.caption(node),
                    "label": name(history.known.answers[node].number),
                    "counts": history.known.answers[node].counts,
                    "answers": {
                        who: name(vote.number)
                        for who, vote in history.ballots.get(node, {}).items()
                        if who != history.known.answers[node].by
                    },
                }
                for node in sorted(session.rules().known)
            ],
        }

    def ask(self, annotator: str, count: int) -> list[dict[str, Any]]:
        """The next nodes for an annotator, each with its card."""
        queries = self.session.ask(count, annotator)
        self._tell_pages()
        return [
            {"given": None, **query.as_dict(), "card": self.page.card(query.node, query.annotator)} for query in queries
        ]

    def tell(self, annotator: str, labels: Sequence[tuple[int, Said]], new_class: bool, overrule: bool) -> list[int]:
        """Write labels down, all or none.

        Raises:
            TypoError: one looks like a misspelt class.
            InputError: one is a list of classes, and a node has one.
        """
        nodes, names = self._answers(labels)
        events = self._changed(
            lambda session: session.tell(nodes, names, annotator, new_class=new_class, overrule=overrule)
        )
        return events if isinstance(events, list) else [events]

    def tell_bulk(self, annotator: str, labels: Sequence[tuple[int, Said]], new_class: bool, overrule: bool) -> int:
        """Write many labels down as one: they train, spend no budget, and are taken back together."""
        nodes, names = self._answers(labels)
        return self._changed(
            lambda session: session.tell_bulk(nodes, names, annotator, new_class=new_class, overrule=overrule)
        )

    def settle(self, annotator: str, node: int, label: Said) -> int:
        """Decide a disagreement."""
        ((index,), (said,)) = self._answers([(node, label)])
        return self._changed(lambda session: session.settle(index, said, annotator))

    def _answers(self, labels: Sequence[tuple[int, Said]]) -> tuple[list[int], list[Said]]:
        """The nodes, and what is said of each.

        Raises:
            MissingError: there is no such node.
            InputError: a list of classes is given, and a node of this session has one class.
        """
        nodes, said = [self.node(node) for node, _ in labels], [label for _, label in labels]
        listed = next((label for label in said if not isinstance(label, str)), None)
        if listed is not None and not self.session.settings.several:
            raise InputError(
                f"a node of this session has one class, and a list was given, {str(listed)[:80]}: give the class's name"
            )
        return nodes, said

    def disagreements(self, annotator: str | None = None) -> list[dict[str, Any]]:
        """The nodes with differing votes, those that nobody has settled first; each vote with its annotator."""
        session, page = self.session, self.page
        history = page.sight.history(annotator)
        left_out = page.sight.kept_from(annotator) | history.gone
        votes = {node: said for node, said in history.votes.items() if node not in left_out}
        differing = [node for node, said in votes.items() if len(set(said.values())) > 1]
        return [
            {
                "node": node,
                "name": session.name_of(node),
                "title": page.caption(node),
                "votes": dict(votes[node]),
                "label": history.labels[node],
                "settled_by": history.settled[node][1] if node in history.settled else None,
            }
            for node in sorted(differing, key=lambda node: (node in history.settled, node))
        ]

    def settings(self) -> dict[str, Any]:
        """What the session was made with, and what has been changed since."""
        session, rules = self.session, self.session.rules()
        made = session.settings
        return {
            **{one.name: getattr(made, one.name) for one in settings_of(NewSettings) if one.is_fact},
            "reason": made.reason,
            "facts": made.facts(),
            "budget": rules.budget,
            "redundancy": rules.redundancy,
            "control": rules.control,
            "guideline": session.guideline,
            "name": self.name,
            "file": session.path.name,
            "bytes": session.path.stat().st_size,
            "graph": session.graph.name,
            "nodes": session.graph.num_nodes,
            "edges": session.graph.num_edges,
        }

    def change(self, change: Callable[[Session], T]) -> T:
        """Any other change of the session, after which the pages are told."""
        return self._changed(change)

    def after_change(self, annotator: str | None) -> dict[str, Any]:
        """Tell the pages of a change that was made beside the worker, and how far the job is."""
        self._tell_pages()
        return self.status(annotator, predict=False)

    def _changed(self, change: Callable[[Session], T]) -> T:
        try:
            result = change(self.session)
        except UnknownNameError as error:
            if not error.suggestions or self.session.settings.closed_classes:
                raise
            raise TypoError(error.name, error.suggestions) from None
        self._tell_pages()
        return result

    def skip(self, annotator: str, node: int) -> int:
        """Note that an annotator cannot tell a node."""
        event = self.session.skip(self.node(node), annotator)
        self._tell_pages()
        return event

    def undo(self, annotator: str | None, event: int | None) -> dict[str, Any]:
        """Take something back."""
        undone = self.session.undo(event, None if annotator is None else valid_person(annotator))
        self._tell_pages()
        return self.page.describe(undone, annotator=annotator)

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
            raise MissingError(
                f"there is no node {node}: the graph {self.session.graph.name!r} has nodes 0 to {size - 1}"
            )
        return node

    def _tell_pages(self) -> None:
        """Tell the pages if the log has grown."""
        last = self.session.refresh().last
        if last != self._seen:
            self._seen = last
            self._publish({"type": "changed", "session": self.name, "last": last})


def file_identity(path: Path) -> tuple[int, int]:
    """Which file lies at a path; none at all is (0, 0)."""
    try:
        facts = os.stat(path)  # noqa: PTH116
    except OSError:
        return 0, 0
    return facts.st_dev, facts.st_ino
