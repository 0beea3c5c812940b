"""What somebody says of nodes, checked and made into events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nodewise.ground.errors import AlreadyLabelledError, InputError
from nodewise.session.log.history import History
from nodewise.session.log.log import Draft
from nodewise.session.naming import probable_typo, valid_class, valid_person

if TYPE_CHECKING:
    from nodewise.session.session import Session

__all__ = ["Answers"]


@dataclass(frozen=True)
class Answers:
    """Labels for nodes, as one annotator gives them.

    Attributes:
        names: what the nodes are called, for messages.
        new_class: whether a label may be a new class though it looks like a misspelt one.
        overrule: whether they count whatever others have said.
        alone: whether one label a node is enough, so that another's is not changed unknowingly.
    """

    nodes: Sequence[int]
    names: Sequence[str]
    labels: Sequence[str]
    annotator: str
    new_class: bool
    overrule: bool
    alone: bool

    @classmethod
    def check(cls, session: Session, nodes: Sequence[int | str], label: object, annotator: str, new_class: bool, overrule: bool) -> Answers:
        """Answers on nodes that there are, one label each.

        Raises:
            InputError: says what is wrong.
        """
        who = valid_person(annotator)
        listed: list[Any] = list(nodes)
        one = isinstance(label, str) or not hasattr(label, "__len__")
        labels = [label] * len(listed) if one else list(label)  # type: ignore[call-overload]
        if len(listed) != len(labels):
            raise InputError(f"{len(listed)} nodes but {len(labels)} labels were told: give one label for each node")
        if not listed:
            raise InputError("no node was told: give at least one")
        indices = [session.find(node) for node in listed]
        names = [session.name_of(node) for node in indices]
        return cls(indices, names, [valid_class(name) for name in labels], who, new_class, overrule, session.rules().redundancy == 1)

    def as_tells(self, history: History) -> list[Draft]:
        """One event for each node."""
        numbers = self._numbers(history)
        beside = {"overrule": True} if self.overrule else {}
        return [
            Draft("tell", self.annotator, {"node": node, "label": label, "class": number, **beside})
            for node, label, number in zip(self.nodes, self.labels, numbers, strict=True)
        ]

    def as_bulk(self, history: History) -> list[Draft]:
        """One event for all."""
        numbers = self._numbers(history)
        beside = {"overrule": True} if self.overrule else {}
        return [Draft("bulk", self.annotator, {"nodes": list(self.nodes), "labels": list(self.labels), "classes": numbers, **beside})]

    def _numbers(self, history: History) -> list[int]:
        """The classes' numbers.

        Raises:
            UnknownNameError: a label is probably misspelt.
            AlreadyLabelledError: somebody else has labelled a node otherwise.
        """
        classes = history.classes
        known = {each.name: each.number for each in classes}
        numbers: list[int] = []
        added = 0
        for label in self.labels:
            number = known.get(label)
            if number is None and (not self.new_class or classes.is_told(label)):
                number = classes.find(label)  # by the name of a class that was merged, or by a former name
            if number is None:
                if not self.new_class and (typo := probable_typo(label, list(known))):
                    raise typo
                number = classes.former_number(label)
                if number is None:
                    number, added = classes.next_number + added, added + 1
                known[label] = number
            numbers.append(number)
        self._refuse_unsettling(history, numbers)
        if self.alone and not self.overrule:
            self._refuse_overruling(history, numbers)
        return numbers

    def _refuse_unsettling(self, history: History, numbers: Sequence[int]) -> None:
        """What was settled is changed by settling it again, not by a vote."""
        resolve, name = history.classes.resolve, history.classes.name
        for node, called, number in zip(self.nodes, self.names, numbers, strict=True):
            settled, who = history.settled.get(node, (number, ""))
            if resolve(settled) != resolve(number):
                raise InputError(
                    f"{who!r} has settled that node {called!r} is {name(settled)!r}: to change it, settle it again, or undo that event"
                )

    def _refuse_overruling(self, history: History, numbers: Sequence[int]) -> None:
        """Whoever has overruled already decides; else nobody else may have said something different."""
        resolve = history.classes.resolve
        for node, name, number in zip(self.nodes, self.names, numbers, strict=True):
            if history.overruled.get(node) != self.annotator:
                votes = {who: resolve(vote.number) for who, vote in history.ballots.get(node, {}).items() if who != self.annotator}
                against = [who for who, other in votes.items() if other != resolve(number)]
                if against:
                    other = history.decider(node) if history.decider(node) in against else against[0]
                    raise AlreadyLabelledError(name, history.classes.name(votes[str(other)]), str(other))
