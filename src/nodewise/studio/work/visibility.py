"""What may be seen of a node, and by whom: nothing that could sway an answer that is still wanted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from nodewise.session import Session
    from nodewise.session.meaning.history import History

__all__ = ["Visibility"]


class Visibility:
    """Labels and predictions of one session that may be shown.

    A node of the audit shows no prediction before it has its label, and neither does one that waits for a further
    opinion: it could sway the answer. Whoever is asked about such a node sees no prediction of any node until they have
    answered, since those of its neighbours would tell its own. To an annotator whose opinion is still wanted, what
    others said of the node is not shown, wherever it could be read off.

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

    def kept_from(self, annotator: str | None) -> set[int]:
        """The nodes of which the annotator may not see yet what others said: their own opinion is still wanted."""
        history = self._session.refresh()
        return {node for node in history.votes if self.is_hidden(history, node, annotator)}

    def undecided(self) -> set[int]:
        """The nodes whose prediction nobody may see yet."""
        history = self._session.refresh()
        return {node for node in (*history.votes, *self.audit) if self.is_undecided(history, node)}

    def is_hidden(self, history: History, node: int, annotator: str | None) -> bool:
        """Whether the annotator may not see yet what others said of a node; without a name nothing is hidden."""
        return (
            annotator is not None
            and annotator not in history.votes.get(node, {})
            and self._waits_for_votes(history, node)
        )

    def is_blind(self, history: History, annotator: str | None) -> bool:
        """Whether the annotator may see no prediction at all: they are asked about a node to be judged without one."""
        return annotator is not None and any(
            query.annotator == annotator and (query.body.get("audit") or self._waits_for_votes(history, query.node))
            for query in history.open_queries(self._session.rules().redundancy)
        )

    def wants_any(self, history: History, nodes: Iterable[int], annotator: str | None) -> bool:
        """Whether the annotator may still be asked for a further opinion on one of the nodes.

        What others said of it, and took back, is not told to them then.
        """
        redundancy = self._session.rules().redundancy
        if annotator is None or redundancy == 1:
            return False
        votes = ((node, history.votes.get(node, {})) for node in nodes)
        return any(
            annotator not in said and len(said) < redundancy and node not in history.settled for node, said in votes
        )

    def is_undecided(self, history: History, node: int) -> bool:
        """Whether nobody may see a node's prediction yet."""
        return self._waits_for_votes(history, node) or (node in self.audit and not history.votes.get(node))

    def label(self, history: History, node: int) -> str | None:
        """The label that counts: what people said, else what came with the graph."""
        told = history.labels.get(node)
        if told is not None or not self.given[node]:
            return told
        graph = self._session.graph
        assert graph.y is not None
        return graph.class_names[int(graph.y[node])]

    def _waits_for_votes(self, history: History, node: int) -> bool:
        votes = history.votes.get(node, {})
        return 0 < len(votes) < self._session.rules().redundancy and node not in history.settled
