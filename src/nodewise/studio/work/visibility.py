"""What may be seen of a node, and by whom: nothing that could sway an answer that is still wanted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from nodewise.session.answers import Event, majority, nodes_of
from nodewise.session.meaning.rules import Moment
from nodewise.session.meaning.suggestions import swaying_columns

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
    else sees what they said themselves, before they answer it and after, and nothing tells them that others were asked
    the same; where several opinions are wanted, those that come after theirs are the further ones. What they said of
    it counts to them as any other label. Once somebody labels such a row who was not asked, it is an ordinary one, of
    which nobody sees what was answered before but who has answered it.

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
        self._parts: dict[str, tuple[History, History]] = {}
        self._done: tuple[History, bool] | None = None

    def history(self, annotator: str | None) -> History:
        """What the log says, to the annotator.

        Of rows with an answer that somebody else knows it says their own vote, and where several are wanted those that
        came after it. To None, the owner who gives no name, it says all.
        """
        whole = self._session.refresh()
        if annotator is None or not (whole.known.answers or whole.known.opened):
            return whole
        if self._whole is not whole or len(self._parts) >= _KEPT:
            self._whole, self._parts = whole, {}
        if annotator not in self._parts:
            part = self._part(whole, annotator)
            known = part.known
            own = {node: one for node, one in known.answers.items() if one.by == annotator}
            opened = {node: one for node, one in known.opened.items() if one.answer.by == annotator}
            # a question whose answer was known waits no longer, which the part without its opening cannot tell
            asked = [each for each in part.asked if "control" not in each.body or each.node not in known.opened]
            known = replace(known, answers=own, opened=opened)
            self._parts[annotator] = part, replace(part, known=known, asked=asked)
        return self._parts[annotator][0]

    def _part(self, whole: History, annotator: str) -> History:
        ballots, numbers = dict(whole.ballots), dict(whole.numbers)
        control = self._control(whole, annotator)
        for node in control & ballots.keys():
            said = whole.said_of(node)
            voters = list(said)
            if annotator not in voters:
                del ballots[node], numbers[node]
                continue
            first = voters.index(annotator)
            seen = voters[first : first + self._session.rules().redundancy]
            ballots[node] = {who: said[who] for who in seen}
            numbers[node] = majority({who: whole.classes.resolve(vote.number) for who, vote in ballots[node].items()})
        return replace(
            whole,
            ballots=ballots,
            numbers=numbers,
            overruled={node: who for node, who in whole.overruled.items() if node not in control},
            settled={node: what for node, what in whole.settled.items() if node not in control},
            outdated=whole.outdated - (control - numbers.keys()),
        )

    def moment(self, annotator: str | None) -> Moment:
        """What is known now, as the annotator may count it: what they said of a row with a known answer is a label as
        any other, so that no number tells such a row from another.
        """
        now = self._session.moment()
        if annotator is None or self.history(annotator) is now.history:
            return now
        return Moment.at(now.contents, self._parts[annotator][1], now.now)

    def open_moment(self, annotator: str | None) -> Moment:
        """The same without votes that the annotator may not see yet: neither how many labels a class has nor how far
        people agree may tell them.
        """
        moment, kept = self.moment(annotator), self.kept_from(annotator)
        if not kept:
            return moment
        history = moment.history
        ballots = {node: votes for node, votes in history.ballots.items() if node not in kept}
        numbers = {node: number for node, number in history.numbers.items() if node not in kept}
        return replace(moment, history=replace(history, ballots=ballots, numbers=numbers))

    def uncounted(self, history: History | None, annotator: str | None) -> int:
        """How many labels of theirs the annotator takes to have trained by then, and that did not, since the answers
        are known.

        Args:
            history: what the log said then; None: nothing was trained.
        """
        if history is None or not annotator:
            return 0
        known = history.known.answers.keys() & history.ballots.keys() - history.gone
        return sum(annotator in history.ballots[node] and self.is_control(history, node, annotator) for node in known)

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
        """Whether the annotator may not learn that others have been asked about a node: another knows its answer, or
        knew it when the annotator answered it.
        """
        known = history.known
        if annotator is None:
            return False
        if opened := known.opened.get(node):
            return annotator in opened.earlier
        return node in known.answers and known.answers[node].by != annotator

    def _control(self, history: History, annotator: str | None) -> set[int]:
        nodes = {*history.known.answers, *history.known.opened}
        return {node for node in nodes if self.is_control(history, node, annotator)}

    def labelled_otherwise(self, history: History, annotator: str | None) -> set[int]:
        """The nodes whose label the annotator may not know as it is: another knows, or knew, its answer."""
        known = history.known
        opened = {node for node, one in known.opened.items() if annotator not in (None, one.answer.by)}
        return self._control(history, annotator) | opened

    def is_unseen(self, history: History, event: Event, annotator: str | None) -> bool:
        """Whether an event tells of a question, or of an answer to one, that the annotator may not know of."""
        opened = (history.known.opened.get(node) for node in nodes_of(event.body))
        return any(self.is_control(history, node, annotator) for node in nodes_of(event.body)) or any(
            one is not None and event.id < one.event and annotator not in (None, one.answer.by) for one in opened
        )

    def hidden_columns(self, history: History) -> frozenset[str]:
        """The columns that hold known answers, or what models say: shown to nobody, since they could sway."""
        return swaying_columns(history)

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
        label = history.labels.get(node)
        if label is not None or not self.given[node]:
            return label
        return history.classes.name(self._given_answers[node])

    def _waits_for_votes(self, history: History, node: int, annotator: str | None) -> bool:
        """Whether further opinions on a node are wanted.

        To those who are not to know its answer, a row with a known one waits as any other that they answered, until
        nothing is left to ask.
        """
        votes = history.votes.get(node, {})
        if not 0 < len(votes) < self._session.rules().redundancy or node in history.settled:
            return False
        if node in history.known.opened:
            return not self._is_done()
        if node not in history.known.answers:
            return True
        return self.is_control(history, node, annotator) and not self._is_done()

    def _is_done(self) -> bool:
        whole = self._session.refresh()
        if self._done is None or self._done[0] is not whole:
            self._done = whole, self._session.moment().done
        return self._done[1]
