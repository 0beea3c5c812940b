"""All nodes as a table: filtered, searched, sorted, a window of rows at a time.

Everything here runs in the worker's thread.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from nodewise.studio.work.cards import caption
from nodewise.studio.work.row_facts import RowFacts, RowFilter

if TYPE_CHECKING:
    from nodewise.session import Session
    from nodewise.studio.work.predictions import Predictions
    from nodewise.studio.work.search import NodeSearch
    from nodewise.studio.work.visibility import Visibility

__all__ = ["NodeTable", "Sort", "TableQuery"]

Sort = Literal["node", "name", "label", "predicted", "sure", "time", "trust", "unlike", "column"]
_KEPT = 32
"""Lists of rows that are kept for those who read on in them."""
_CELL = 300
"""Characters of a cell that the table shows."""


@dataclass(frozen=True)
class TableQuery:
    """Which rows, in which order.

    Attributes:
        filter: which rows.
        sort: by which column, by how far labels are trusted, or by how unlike all labelled rows a row is; ``column`` is
            one of the job's own, which is then named; ``descending`` turns it round.
        offset, limit: which window of the rows.
        columns: which of the job's own columns are shown.
        listing: the list of rows that was found before, to read on in it: its rows and their order stay, and each says
            whether it still fits. Empty, or of another question: it is made anew.
    """

    filter: RowFilter = field(default_factory=RowFilter)
    sort: Sort = "node"
    column: str | None = None
    descending: bool = False
    offset: int = 0
    limit: int = 100
    columns: tuple[str, ...] = ()
    listing: str | None = None


@dataclass(frozen=True)
class _Listing:
    """Rows that were found, in their order, for one who looks and one question."""

    question: object
    moment: object
    nodes: npt.NDArray[np.int64]


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
        self._facts: OrderedDict[object, RowFacts] = OrderedDict()
        self._listings: OrderedDict[str, _Listing] = OrderedDict()
        self._keys: dict[str, npt.NDArray[Any]] = {}

    @property
    def columns(self) -> list[str]:
        """The job's own columns, as its table had them, without those that hold known answers or what models say."""
        kept_back = self._sight.hidden_columns(self._session.refresh())
        return [name for name in self._session.graph.attributes if name not in kept_back]

    def rows(self, query: TableQuery, annotator: str | None = None) -> dict[str, Any]:
        """A window of rows, and how many there are in all; those that were taken out are left out."""
        with self._session.at_one_moment():
            facts, moment = self.facts(annotator)
            token, listing = self._listing(query, facts, moment, annotator)
            window = listing.nodes[query.offset : query.offset + query.limit].tolist()
            fits = self._fitting(query.filter, facts) if listing.moment != moment else None
            known = self.columns
            shown = [name for name in dict.fromkeys(query.columns) if name in known]
            return {
                "total": len(listing.nodes),
                "offset": query.offset,
                "updating": not self._predictions.fresh,
                "listing": token,
                "columns": known,
                "captions": [self._roles[role] for role in ("title", "text") if role in self._roles],
                "models": list(facts.suggested),
                "rows": [self._row(node, facts, shown, fits is None or bool(fits[node])) for node in window],
            }

    def some(self, nodes: Sequence[int], annotator: str | None = None) -> list[dict[str, Any]]:
        """These rows as the table shows them."""
        facts, _ = self.facts(annotator)
        return [self._row(node, facts, [], True) for node in nodes]

    def found(self, query: TableQuery, annotator: str | None = None) -> npt.NDArray[np.int64]:
        """All rows that a question finds, in its order; of a listing that is read, those of it that still fit."""
        with self._session.at_one_moment():
            facts, moment = self.facts(annotator)
            _, listing = self._listing(query, facts, moment, annotator)
            if listing.moment == moment:
                return listing.nodes
            return listing.nodes[self._fitting(query.filter, facts)[listing.nodes]]

    def facts(self, annotator: str | None) -> tuple[RowFacts, object]:
        """What the annotator may know of every row now, and what tells this moment from others."""
        self._predictions.want()
        history = self._sight.history(annotator)
        blind = self._sight.is_blind(history, annotator)
        moment = (annotator, blind, history.last, self._predictions.version)
        facts = self._facts.get(moment)
        if facts is None:
            kept = None if blind else self._predictions.kept
            facts = self._facts[moment] = RowFacts(self._session, self._sight, kept, annotator)
            while len(self._facts) > 4:
                self._facts.popitem(last=False)
        return facts, moment

    def _listing(
        self, query: TableQuery, facts: RowFacts, moment: object, annotator: str | None
    ) -> tuple[str, _Listing]:
        """The list that a question reads: the one that it names, one of the same moment, or a new one."""
        blind = self._sight.is_blind(facts.history, annotator)
        question = (annotator, blind, query.filter, query.sort, query.column, query.descending)
        kept = self._listings.get(query.listing or "")
        if query.listing is not None and kept is not None and kept.question == question:
            self._listings.move_to_end(query.listing)
            return query.listing, kept
        for token, listing in self._listings.items():
            if listing.question == question and listing.moment == moment:
                return token, listing
        nodes = np.flatnonzero(self._fitting(query.filter, facts))
        order = np.argsort(self._sort_keys(query, facts, nodes), kind="stable")
        token = secrets.token_hex(8)
        self._listings[token] = _Listing(question, moment, nodes[order[::-1] if query.descending else order])
        while len(self._listings) > _KEPT:
            self._listings.popitem(last=False)
        return token, self._listings[token]

    def _fitting(self, wanted: RowFilter, facts: RowFacts) -> npt.NDArray[np.bool_]:
        fits = facts.fitting(wanted)
        if wanted.text.strip():
            held = np.zeros(facts.size, bool)
            held[self._search.find(wanted.text, facts.size)] = True
            fits &= held
        return fits

    def _sort_keys(self, query: TableQuery, facts: RowFacts, nodes: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        if query.sort == "sure":
            return facts.sure[nodes]
        if query.sort == "label":
            return facts.rank(facts.label[nodes])
        if query.sort == "predicted":
            return facts.rank(facts.predicted[nodes])
        if query.sort == "time":
            return facts.last_labelled[0][nodes]
        if query.sort == "trust":
            place = np.full(facts.size, len(facts.doubts))
            place[list(facts.doubts)] = np.arange(len(facts.doubts))
            return place[nodes]
        if query.sort == "unlike":
            place = np.full(facts.size, len(facts.unlike))
            place[facts.unlike] = np.arange(len(facts.unlike))
            return place[nodes]
        if query.sort == "name" and self._session.graph.node_names is not None:
            return self._ranks("\0name", self._session.graph.node_names)[nodes]
        if query.sort == "column" and query.column in self.columns:
            return self._ranks(query.column, self._session.graph.attributes[query.column])[nodes]
        return nodes

    def _ranks(self, name: str, cells: Any) -> npt.NDArray[Any]:
        """Where each row stands by a column: by number where all that is filled is one, else by text; empty ones last.

        It is found once: the graph's own columns never change.
        """
        if name not in self._keys:
            texts = np.array([str(cell).strip().casefold() for cell in cells], dtype=object)
            filled = texts != ""
            try:
                values: npt.NDArray[Any] = texts[filled].astype(np.float64)
            except ValueError:
                values = texts[filled]
            _, rank = np.unique(values, return_inverse=True)
            self._keys[name] = np.full(len(texts), len(texts))
            self._keys[name][filled] = rank
        return self._keys[name]

    def _row(self, node: int, facts: RowFacts, columns: list[str], fits: bool) -> dict[str, Any]:
        session, names, history = self._session, facts.names, facts.history
        label, predicted = int(facts.label[node]), int(facts.predicted[node])
        when, who = facts.last_labelled
        doubt = facts.doubt(node)
        seen = bool(facts.seen[node])
        return {
            "node": node,
            "name": session.name_of(node),
            "title": caption(session.graph, self._roles, node),
            "label": names[label] if label >= 0 else None,
            "predicted": names[predicted] if predicted >= 0 else None,
            "sure": round(float(facts.sure[node]), 4) if predicted >= 0 else None,
            "trust": None if doubt is None else round(doubt.trust, 4),
            "suggested": [
                {"by": name, "label": names[int(said[node])]}
                for name, said in facts.suggested.items()
                if said[node] >= 0
            ],
            "bulk": seen and node in history.bulk,
            "by": who.get(node),
            "time": float(when[node]) or None,
            "fits": fits,
            "notes": len(history.notes.get(node, ())),
            "differs": seen and node in facts.disagreements,
            "cells": {name: str(session.graph.attributes[name][node])[:_CELL] for name in columns},
        }
