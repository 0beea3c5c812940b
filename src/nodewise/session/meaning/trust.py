"""How far labels are trusted by who gave them, read off the log: annotators weighed by their agreement with others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nodewise.session.meaning.history import History

__all__ = ["LabelTrust", "TrustReader", "annotator_trust", "label_trust"]

_Z = 1.959963984540054


class LabelTrust(NamedTuple):
    """How far the labels of a job are trusted before a learner has looked at them.

    Attributes:
        trust: from 0 to 1 by the annotators who gave each label, 1 where there is none: float32 [node].
        confirmed: labels that no learner is to doubt: settled, overruled, or given alike by two people: bool [node].
    """

    trust: npt.NDArray[np.float32]
    confirmed: npt.NDArray[np.bool_]


class TrustReader:
    """How far labels are trusted, read once for each state of the log; the same object as long as it stays the same.

    Attributes:
        turn: how often it has changed.
    """

    def __init__(self) -> None:
        self._last, self._read, self.turn = -1, LabelTrust(np.ones(0, np.float32), np.zeros(0, bool)), 0

    def of(self, history: History, nodes: int) -> LabelTrust:
        """The trust in the labels of a history, on a graph of so many nodes."""
        if self._last != history.last or len(self._read.trust) != nodes:
            found = label_trust(history, nodes)
            if not all(map(np.array_equal, self._read, found)):
                self._read, self.turn = found, self.turn + 1
            self._last = history.last
        return self._read


def annotator_trust(votes: Mapping[int, Mapping[str, str]]) -> dict[str, float]:
    """How far each annotator is trusted, from 0 to 1, by how often others say the same of the same nodes.

    With s the share of all pairs of votes on one node that say the same, and u the upper end of the 95 % interval of an
    annotator's own share (Wilson's), it is the odds of u divided by the odds of s, 1 at most: who agrees with others as
    often as all do, or has too few nodes in common with them to tell, is trusted whole.

    Args:
        votes: node -> annotator -> label.
    """
    agreed, pairs = Counter[str](), Counter[str]()
    for by in votes.values():
        said = Counter(by.values())
        for person, label in by.items():
            agreed[person] += said[label] - 1
            pairs[person] += len(by) - 1
    every = sum(pairs.values())
    share = (sum(agreed.values()) + 1) / (every + 2)
    return {
        person: min(1.0, _odds(_upper(agreed[person] / number, number)) / _odds(share)) if number else 1.0
        for person, number in pairs.items()
    }


def _upper(share: float, number: int) -> float:
    """The upper end of Wilson's interval."""
    spread = _Z * math.sqrt(share * (1 - share) / number + _Z * _Z / (4 * number * number))
    return (share + _Z * _Z / (2 * number) + spread) / (1 + _Z * _Z / number)


def _odds(share: float) -> float:
    return share / max(1 - share, 1e-9)


def label_trust(history: History, nodes: int) -> LabelTrust:
    """How far each label is trusted by who gave it. Of several who say the same, each adds to what is left to trust.

    Args:
        history: what the log means. nodes: how many the graph has.
    """
    trust, confirmed = np.ones(nodes, np.float32), np.zeros(nodes, bool)
    people, resolve = annotator_trust(history.votes), history.classes.resolve
    for node, number in history.numbers.items():
        if node >= nodes:  # of an addition that was taken back
            continue
        if node in history.settled or node in history.overruled:
            confirmed[node] = True
            continue
        who = [person for person, vote in history.ballots.get(node, {}).items() if resolve(vote.number) == number]
        if who:
            trust[node] = 1 - math.prod(1 - people[person] for person in who)
            confirmed[node] = len(who) > 1
    return LabelTrust(trust, confirmed)
