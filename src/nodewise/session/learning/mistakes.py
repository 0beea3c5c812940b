"""Labels that are likely mistakes: those that all other labels speak against, the least trusted first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from nodewise.contracts import LeavesOneOut, TakesTrust, can

if TYPE_CHECKING:
    from nodewise.session.learning.learner import SessionLearner
    from nodewise.session.meaning.rules import Moment
    from nodewise.session.meaning.trust import LabelTrust

__all__ = ["LikelyMistake", "find_mistakes"]


@dataclass(frozen=True)
class LikelyMistake:
    """A label that all others speak against.

    Attributes:
        node: its index. name: what it is called.
        label: what it was labelled. instead: what the other labels say. probability: how likely they take that to be.
        chance: how likely they take the label itself to be.
        trust: how far the label is trusted, from 0 to 1: by them, times how far who gave it is.
    """

    node: int
    name: str
    label: str
    instead: str
    probability: float
    chance: float
    trust: float


def find_mistakes(moment: Moment, learner: SessionLearner, given: LabelTrust, most: int) -> list[LikelyMistake]:
    """Labels for which the others would have said another class, the least trusted first, then the least likely.

    What people have settled, overruled or said alike is none. None are listed where a node may have several classes.

    Args:
        learner: it has learned the labels. given: how far they are trusted by who gave them. most: how many at most.
    """
    tells = can(learner.classifier, "leave-one-out") and not learner.several
    table = cast(LeavesOneOut, learner.learner).leave_one_out() if tells else None
    if table is None:
        return []
    classes, taken = moment.history.classes, learner.environment.taken
    trust = cast(TakesTrust, learner.learner).label_trust()[0].numpy()
    if not learner.weighs_labels:  # else the learner has multiplied them
        trust = trust * given.trust[[node for node, _ in taken]]
    numbers, chances = learner.by_class(table[0].numpy(), classes)
    found = []
    for index, (node, column) in enumerate(taken):
        assert isinstance(column, int)
        number = classes.number_of_key(learner.classes[column])
        best = numbers[int(chances[index].argmax())]
        if number not in numbers or best == number or given.confirmed[node]:
            continue
        row = chances[index]
        found.append(
            LikelyMistake(
                node,
                moment.contents.name_of(node),
                classes.name(number),
                classes.name(best),
                float(row.max()),
                float(row[numbers.index(number)]),
                float(trust[index]),
            )
        )
    return sorted(found, key=lambda one: (one.trust, one.chance, one.node))[:most]
