"""What may be seen of a node, and by whom: nothing that could sway an answer that is still wanted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from nodewise.session.meaning.suggestions import suggested_columns

if TYPE_CHECKING:
    from nodewise.session import Session
    from nodewise.session.meaning.history import History

__all__ = ["Visibility"]

_KEPT = 16
"""Annotators whose view of the log is kept."""


class Visibility:
    """Labels and predictions of one session that may be shown.

    A node of the audit shows no prediction before it has its label, and neither does one that waits for a further
    opinion: it could sway the answer. Whoever is asked about such a node sees no prediction of any node until they have
    answered, since those of its neighbours would tell its own. To an annotator whose opinion is still wanted, what
    others said of the node is not shown, wherever it could be read off. Of a row whose answer the owner knows, anybody
    else sees what they said themselves and nothing more, before they answer it and after: nothing tells them that
    others were asked the same.

    Args:
        session: which.

    Attributes:
        given: which nodes have a label that came with the graph and counts.
        audit: the nodes of the audit.
    """

    def __init__(self, session: Session) -> None:
        rules = session.rules()
        self._session = session
        self.given = np.zeros(session.graph.num_nodes, bool)
        self.given[list(rules.given)] = True
        self.audit = frozenset(rules.audit)
        self._given_answers = session.moment().given_answers
        self._whole: History | None = None
        self._parts: dict[str, History] = {}

    def history(self, annotator: str | None) -> History:
        """What the log says, to the annotator: of rows with an answer that somebody else knows their own vote alone.

        To None, the owner who gives no name, it says all.
        """
        whole = self._session.refresh()
        if annotator is None or not whole.known.answers:
            return whole
        if self._whole is not whole or len(self._parts) >= _KEPT:
            self._whole, self._parts = whole, {}
        if annotator not in self._parts:
            self._parts[annotator] = self._part(whole, annotator)
        return self._parts[annotator]

    def _part(self, whole: History, annotator: str) -> History:
        ballots, numbers = dict(whole.ballots), dict(whole.numbers)
        control = {node for node in whole.known.answers if self.is_control(whole, node, annotator)}
        for node in control & ballots.keys():
            own = ballots[node].get(annotator)
            if own is None:
                del ballots[node], numbers[node]
            else:
                ballots[node], numbers[node] = {annotator: own}, whole.classes.resolve(own.number)
        return replace(
            whole,
            ballots=ballots,
            numbers=numbers,
            overruled={node: who for node, who in whole.overruled.items() if node not in control},
            settled={node: what for node, what in whole.settled.items() if node not in control},
            outdated=whole.outdated - (control - numbers.keys()),
        )

    def kept_from(self, annotator: str | None) -> set[int]:
        """The nodes of which the annotator may not see yet what others said: their own opinion is still wanted."""
        history = self.history(annotator)
        return {node for node in history.votes if node not in history.gone and self.is_hidden(history, node, annotator)}

    def undecided(self, annotator: str | None) -> set[int]:
        """The nodes whose prediction the annotator may not see yet."""
        history = self.history(annotator)
        nodes = {*history.votes, *self.audit} - history.gone
        return {node for node in nodes if self.is_undecided(history, node, annotator)}

    def is_hidden(self, history: History, node: int, annotator: str | None) -> bool:
        """Whether the annotator may not see yet what others said of a node.

        From None, the owner who gives no name, nothing is hidden; from "", somebody unknown, all that still waits.
        """
        return (
            annotator is not None
            and annotator not in history.votes.get(node, {})
            and self._waits_for_votes(history, node, annotator)
        )

    def is_control(self, history: History, node: int, annotator: str | None) -> bool:
        """Whether the annotator may not learn that others have been asked about a node: another knows its answer."""
        return annotator is not None and node in history.known.answers and history.known.answers[node].by != annotator

    def hidden_columns(self, history: History) -> frozenset[str]:
        """The columns that hold known answers, or what models say: shown to nobody, since they could sway."""
        return history.known.columns | frozenset(suggested_columns(history))

    def is_blind(self, history: History, annotator: str | None) -> bool:
        """Whether the annotator may see no prediction at all: they are asked about a node to be judged without one.

        Whoever gives no name may be any of those who are asked.
        """
        return any(
            (not annotator or query.annotator == annotator)
            and (query.body.get("audit") or self._waits_for_votes(history, query.node, annotator))
            for query in history.open_queries(self._session.rules().redundancy)
        )

    def wants_any(self, history: History, nodes: Iterable[int], annotator: str | None) -> bool:
        """Whether the annotator may still be asked for a further opinion on one of the nodes.

        What others said of it, and took back, is not told to them then.
        """
        redundancy = self._session.rules().redundancy
        if any(self.is_control(history, node, annotator) for node in nodes):
            return True
        if annotator is None or redundancy == 1:
            return False
        votes = ((node, history.votes.get(node, {})) for node in nodes)
        return any(
            annotator not in said and len(said) < redundancy and node not in history.settled for node, said in votes
        )

    def is_undecided(self, history: History, node: int, annotator: str | None) -> bool:
        """Whether the annotator may not see a node's prediction yet."""
        return self._waits_for_votes(history, node, annotator) or (node in self.audit and not history.votes.get(node))

    def label(self, history: History, node: int) -> str | None:
        """The label that counts: what people said, else what came with the graph."""
        told = history.labels.get(node)
        if told is not None or not self.given[node]:
            return told
        return history.classes.name(self._given_answers[node])

    def _waits_for_votes(self, history: History, node: int, annotator: str | None) -> bool:
        """Whether further opinions on a node are wanted.

        To those who are not to know its answer, a row with a known one waits as any other that they answered.
        """
        votes = history.votes.get(node, {})
        waits = 0 < len(votes) < self._session.rules().redundancy and node not in history.settled
        return waits and (node not in history.known.answers or self.is_control(history, node, annotator))
