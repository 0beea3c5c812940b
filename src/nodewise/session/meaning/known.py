"""What the owner knows of some rows: people are asked about these now and then, to see how right they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from nodewise.session.answers import Answer

__all__ = ["KnownAnswer", "KnownAnswers", "KnownAnswersBuilder", "Opened", "Vote"]


class Vote(NamedTuple):
    """What an annotator says of a node: the class's number, or all of them where it may have several, and whether it
    was said of many nodes in one go.
    """

    number: Answer
    bulk: bool = False


class KnownAnswer(NamedTuple):
    """What the owner knows of a node, who has said so, and whether it is the node's label as well."""

    number: Answer
    by: str
    counts: bool = False


class Opened(NamedTuple):
    """A node whose answer was known until somebody labelled it who was not asked: it is an ordinary one since.

    Attributes:
        answer: what the owner knows of it.
        event: the label that made it ordinary. who, vote: whose it is, and what it says.
        earlier: annotator -> what they had answered when they were asked; it goes on to train nothing.
    """

    answer: KnownAnswer
    event: int
    who: str
    vote: Vote
    earlier: Mapping[str, Vote]

    def answer_of(self, who: str) -> Vote | None:
        """What an annotator said while nobody else's label of the node was shown to them."""
        return self.vote if who == self.who else self.earlier.get(who)


@dataclass(frozen=True)
class KnownAnswers:
    """What is known, and how often it is asked.

    What people answer there trains nothing. Whoever labels such a node of their own accord could tell it by that from
    any other, so a label that answers no question makes it an ordinary one.

    Attributes:
        answers: node -> what is known of it.
        percent: how many of a hundred questions are about these, as it was last set, or None if it never was.
        columns: the columns that hold such answers: nobody is shown them.
        opened: node -> what was known of it, of nodes that are ordinary ones since.
        asked: annotator and node -> the last question about a node whose answer was known.
    """

    answers: Mapping[int, KnownAnswer] = field(default_factory=dict)
    percent: int | None = None
    columns: frozenset[str] = frozenset()
    opened: Mapping[int, Opened] = field(default_factory=dict)
    asked: Mapping[tuple[str, int], int] = field(default_factory=dict)

    @cached_property
    def counting(self) -> Mapping[int, KnownAnswer]:
        """node -> what is known of it, where that is its label, also of nodes that are ordinary ones since."""
        every = {**{node: one.answer for node, one in self.opened.items()}, **self.answers}
        return {node: answer for node, answer in every.items() if answer.counts}


class KnownAnswersBuilder:
    """What is known, as it grows by events; what it began with stays as it is."""

    def __init__(self, before: KnownAnswers) -> None:
        self._percent, self._columns = before.percent, before.columns
        self.answers, self._opened, self._asked = dict(before.answers), dict(before.opened), dict(before.asked)

    def take(self, who: str, body: Mapping[str, Any], said: Sequence[Answer]) -> None:
        """Add what an event says is known, its answers given by number."""
        for node, one in zip(body["nodes"], said, strict=True):
            self.answers[int(node)] = KnownAnswer(one, who, "counts" in body)
            self._opened.pop(int(node), None)
        self._percent = body.get("percent", self._percent)
        self._columns |= {str(body["column"])} if "column" in body else set()

    def ask(self, who: str, node: int, event: int) -> None:
        """Add a question about a node whose answer is known."""
        self._asked[who, node] = event

    def was_asked(self, who: str, node: int, since: int) -> bool:
        """Whether somebody was asked about a node after an event."""
        return self._asked.get((who, node), -1) > since

    def open(self, node: int, event: int, who: str, vote: Vote, earlier: Mapping[str, Vote]) -> None:
        """Make a node an ordinary one; see `Opened` for the arguments."""
        answer = self.answers.pop(node)
        self._opened[node] = Opened(
            answer, event, who, vote, {name: one for name, one in earlier.items() if name != answer.by}
        )

    def known(self) -> KnownAnswers:
        """What is known by now."""
        return KnownAnswers(self.answers, self._percent, self._columns, self._opened, self._asked)
