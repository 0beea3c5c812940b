"""Who said what, and what can be said of each person: how much, how fast, how far others agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from nodewise.session.answers import Event, undone
from nodewise.session.learning.estimates import Accuracy, wilson
from nodewise.session.meaning.rules import Moment

__all__ = ["Opinion", "PersonReport", "answer_rows", "find_opinions", "report_people", "score_known"]


@dataclass(frozen=True)
class Opinion:
    """What a person says of a node now.

    Attributes:
        node: its index. name: its name.
        annotator: who. label: what they say; of a class that was renamed or merged, as it is called now.
        at: when they said it, in seconds since 1970.
        seconds: from the question to the answer; None where they were not asked, or said it in bulk.
        bulk: whether it was said of many nodes in one go.
        counts: the label that counts.
    """

    node: int
    name: str
    annotator: str
    label: str
    at: float
    seconds: float | None
    bulk: bool
    counts: str | None


@dataclass(frozen=True)
class PersonReport:
    """What can be said of a person's work.

    Attributes:
        annotator: who.
        labels: nodes that they labelled one by one. bulk: in bulk. skipped: nodes that they could not tell.
        open: rows given to them that they have not answered.
        seconds: the median time from a question to its answer; None without any.
        shared: of their labels given one by one, those on nodes that somebody else labelled so as well.
        agreement: share of the others' votes on these nodes that say the same (of several classes: all); None without.
        settled: of their labels, those on nodes that were settled. right: those that say what it was settled as.
        known: how right they are on questions whose answers the owner knows, with its 95 % interval; None without any
            that they answered one by one.
    """

    annotator: str
    labels: int
    bulk: int
    skipped: int
    open: int
    seconds: float | None
    shared: int
    agreement: float | None
    settled: int
    right: int
    known: Accuracy | None = None


def find_opinions(moment: Moment, events: Sequence[Event]) -> list[Opinion]:
    """What everybody says of every node now, by node and in the order said; rows that were taken out are left out."""
    history, asked, answer_times = moment.history, _asked(events), _told(events)
    found = []
    for node in sorted(history.ballots):
        if node in moment.rules.gone:
            continue
        for who, vote in history.said_of(node).items():
            label, bulk = history.classes.name(vote.number), vote.bulk
            at = answer_times.get((who, node), 0.0)
            began = None if bulk else asked.get((who, node))
            seconds = None if began is None or at < began else round(at - began, 3)
            counts = moment.labels.get(node)
            found.append(Opinion(node, moment.contents.name_of(node), who, label, at, seconds, bulk, counts))
    return found


def report_people(moment: Moment, events: Sequence[Event]) -> list[PersonReport]:
    """What can be said of everybody who labelled, skipped or was given a row; who labelled most comes first."""
    history = moment.history
    opinions = find_opinions(moment, events)
    single: dict[int, dict[str, str]] = {}
    for each in opinions:
        if not each.bulk:
            single.setdefault(each.node, {})[each.annotator] = each.label
    known = score_known(moment)
    waiting = [query.annotator for query in history.open_queries(moment.rules.redundancy)]
    people = dict.fromkeys([*(each.annotator for each in opinions), *history.skipped, *waiting])
    reports = []
    for who in people:
        own = [each for each in opinions if each.annotator == who]
        alone = [each for each in own if not each.bulk]
        others = [(each.label, label) for each in alone for other, label in single[each.node].items() if other != who]
        settled = [each for each in alone if each.node in history.settled and each.counts is not None]
        times = [each.seconds for each in alone if each.seconds is not None]
        reports.append(
            PersonReport(
                annotator=who,
                labels=len(alone),
                bulk=len(own) - len(alone),
                skipped=len(set(history.skipped.get(who, ())) - moment.rules.gone),
                open=waiting.count(who),
                seconds=round(median(times), 3) if times else None,
                shared=sum(len(single[each.node]) > 1 for each in alone),
                agreement=sum(one == other for one, other in others) / len(others) if others else None,
                settled=len(settled),
                right=sum(each.label == each.counts for each in settled),
                known=known.get(who),
            )
        )
    return sorted(reports, key=lambda each: (-each.labels, each.annotator))


def score_known(moment: Moment) -> dict[str, Accuracy]:
    """How right everybody is on the questions whose answers the owner knows: those that they were asked, and answered
    one by one.
    """
    history = moment.history
    resolve = history.classes.resolve
    right: dict[str, list[bool]] = {}
    for who, node in history.known.asked:
        answer, vote = history.known.answers.get(node), history.ballots.get(node, {}).get(who)
        if opened := history.known.opened.get(node):
            answer, vote = opened.answer, opened.answer_of(who)
        if answer is not None and node not in moment.rules.gone and vote is not None and not vote.bulk:
            right.setdefault(who, []).append(resolve(vote.number) == resolve(answer.number))
    return {who: wilson(sum(said), len(said)) for who, said in right.items()}


def answer_rows(opinions: Sequence[Opinion]) -> tuple[list[str], list[list[Any]]]:
    """Who said what as a table: its heading and a row for each opinion."""
    head = ["node", "name", "annotator", "label", "time", "seconds", "bulk", "counts as"]
    rows: list[list[Any]] = [
        [
            each.node,
            each.name,
            each.annotator,
            each.label,
            f"{each.at:.3f}",
            "" if each.seconds is None else each.seconds,
            "yes" if each.bulk else "",
            each.counts or "",
        ]
        for each in opinions
    ]
    return head, rows


def _asked(events: Sequence[Event]) -> dict[tuple[str, int], float]:
    """When each person was first asked about a node."""
    first: dict[tuple[str, int], float] = {}
    for event in events:
        if event.kind == "ask":
            first.setdefault((event.annotator, int(event.body["node"])), event.at)
    return first


def _told(events: Sequence[Event]) -> dict[tuple[str, int], float]:
    """When each person last said something of a node that was not taken back."""
    gone = undone(events)
    last: dict[tuple[str, int], float] = {}
    for event in events:
        if event.id in gone:
            continue
        if event.kind == "tell":
            last[event.annotator, int(event.body["node"])] = event.at
        elif event.kind == "bulk":
            last.update({(event.annotator, int(node)): event.at for node in event.body["nodes"]})
        elif event.kind == "join":
            said = zip(event.body["nodes"], event.body["annotators"], event.body["times"], strict=True)
            last.update({(str(who), int(node)): float(at) for node, who, at in said})
    return last
