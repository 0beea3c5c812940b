"""How far a labelling job is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from nodewise.ground.events import count, html_table
from nodewise.session.answers import SEPARATOR, numbers_of
from nodewise.session.meaning.agreement import Agreement, measure_agreement, measure_set_agreement
from nodewise.session.meaning.rules import Moment

__all__ = ["Status", "make_status"]


@dataclass(frozen=True, repr=False)
class Status:
    """A labelling job at one moment. It is read off the log; nothing is trained for it.

    Attributes:
        told: nodes labelled one by one, those of the audit left out: what the budget is spent on.
        bulk: nodes labelled in bulk alone; they train and spend no budget.
        given: labels that were there before.
        audit: nodes of the audit that are labelled, and how many there are to be.
        open: annotator -> the names of the nodes they have been asked and not answered.
        balance: class -> nodes labelled with it, given ones included.
        agreement: share of the pairs of votes on one node that say the same, or None without any pair. Votes given in
            bulk, and those on nodes whose answers are known, are left out.
        kappa: the agreement beyond chance: Cohen's and Fleiss' kappa, also for each class; None without any pair.
        disagreements: node's name -> annotator -> label, where they differ.
        notes: how many notes there are.
        random: annotator -> the nodes among those of ``open`` that were drawn at random, since the strategy had nothing
            to choose by.
        done: whether the budget is spent, or no node left, and the audit complete.
        several: whether a node may have several classes; ``agreement`` is then the share of alike decisions, class by
            class, and labels have ``;`` between classes.
        none: nodes answered with none of the classes, where they may have several.
        outdated: labelled rows that were changed since somebody last said something of them.
    """

    graph: str
    nodes: int
    strategy: str
    reason: str
    classifier: str
    budget: int
    told: int
    given: int
    audit: tuple[int, int]
    skipped: int
    open: Mapping[str, list[str]]
    classes: tuple[str, ...]
    balance: Mapping[str, int]
    annotators: Mapping[str, int]
    agreement: float | None
    disagreements: Mapping[str, Mapping[str, str]]
    done: bool
    bulk: int = 0
    kappa: Agreement | None = None
    notes: int = 0
    random: Mapping[str, list[str]] = field(default_factory=dict)
    several: bool = False
    none: int = 0
    outdated: tuple[str, ...] = ()

    @property
    def left(self) -> int:
        """Labels that the budget still has room for."""
        return max(0, self.budget - self.told)

    def __repr__(self) -> str:
        """One line: how far it is."""
        audit = f", {self.audit[0]} of {self.audit[1]} of the audit" if self.audit[1] else ""
        classes = count(len(self.classes), "class", "classes")
        done = ", done" if self.done else ""
        return f"Status({self.graph!r}: {self.told} of {count(self.budget, 'label')}{audit}, {classes}{done})"

    def _repr_html_(self) -> str:
        """A small table for notebooks."""
        rows = {
            "labels": f"{self.told} of {self.budget}",
            "audit": f"{self.audit[0]} of {self.audit[1]}" if self.audit[1] else "none",
            "labels of each class": ", ".join(f"{name} {number}" for name, number in self.balance.items())
            or "none yet",
            "annotators": ", ".join(f"{who} {number}" for who, number in self.annotators.items()) or "none yet",
            "disagreements": str(len(self.disagreements)),
            "done": "yes" if self.done else "no",
        }
        return html_table(self.graph, rows)

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            **asdict(self),
            "left": self.left,
            "classes": list(self.classes),
            "outdated": list(self.outdated),
            "audit": {"labelled": self.audit[0], "of": self.audit[1]},
            "kappa": None if self.kappa is None else self.kappa.as_dict(),
        }


def make_status(moment: Moment) -> Status:
    """How far a job is."""
    contents, history, rules = moment.contents, moment.history, moment.rules
    graph, settings, classes = contents.graph, contents.settings, tuple(each.name for each in history.classes)
    waiting: dict[str, list[str]] = {}
    drawn: dict[str, list[str]] = {}
    for query in history.open_queries(rules.redundancy):
        waiting.setdefault(query.annotator, []).append(contents.name_of(query.node))
        if query.body.get("random"):
            drawn.setdefault(query.annotator, []).append(contents.name_of(query.node))
    balance = Counter(history.classes.name(number) for said in moment.answers.values() for number in numbers_of(said))
    single = {
        node: {who: history.votes[node][who] for who, vote in by.items() if not vote.bulk}
        for node, by in history.ballots.items()
        if node not in rules.gone and node not in rules.known
    }
    if settings.several:
        agreement = measure_set_agreement(
            {node: {who: _names(text) for who, text in said.items()} for node, said in single.items()}
        )
    else:
        agreement = measure_agreement(single)
    voters = Counter(who for node, by in history.ballots.items() if node not in rules.gone for who in by)
    said_of = moment.labels.keys() | (
        rules.known & history.numbers.keys()
    )  # an answer may be out of date, label or not
    return Status(
        graph=graph.name,
        nodes=graph.num_nodes,
        strategy=settings.strategy,
        reason=settings.reason,
        classifier=settings.classifier,
        budget=rules.budget,
        told=len(rules.told(history)),
        given=len(rules.given),
        audit=(len(rules.audited(history)), len(rules.audit)),
        skipped=len({node for nodes in history.skipped.values() for node in nodes} - rules.gone),
        open=waiting,
        classes=classes,
        balance={name: balance[name] for name in classes},
        annotators=dict(voters),
        agreement=None if agreement is None else agreement.share,
        disagreements={contents.name_of(node): votes for node, votes in history.disagreements.items()},
        done=moment.done,
        bulk=len((history.bulk | rules.known) & moment.labels.keys()),
        kappa=agreement,
        notes=sum(len(notes) for node, notes in history.notes.items() if node not in rules.gone),
        random=drawn,
        several=settings.several,
        none=sum(said == () for said in moment.answers.values()),
        outdated=tuple(contents.name_of(node) for node in sorted(history.outdated & said_of)),
    )


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.split(SEPARATOR) if name)
