"""What the log means: labels by majority in the order first told, classes, skips, queries, notes.

It imports neither torch nor numpy.

An event counts unless an undo that counts itself takes it back; an undo may be undone. Every annotator has one vote a
node, the last one that counts; saying the same again is no new vote. A node's label is the one with most votes; between
equals the one whose oldest standing vote is the oldest. A vote that overrules decides alone, until its annotator
changes it or another overrules. What was settled stands whatever the votes say, until it is settled otherwise. A node's
position in the history is that of its first vote that counts: a label that is changed stays where it was.

A node whose answer the owner knows becomes an ordinary one by the first label that answers no question which waits for
it: one that nobody was asked for, or given in bulk, or by another job. It begins anew with that label.

Where a node may have several classes, votes are counted class by class: a class counts that more than half of the votes
name, and of one that half of them name the oldest standing vote decides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from nodewise.session.answers import (
    CHANGES,
    SEPARATOR,
    Answer,
    ClassList,
    Event,
    Said,
    effective,
    majority,
    nodes_of,
    numbers_of,
    said_of,
)
from nodewise.session.meaning.known import KnownAnswers, KnownAnswersBuilder, Vote

__all__ = [
    "History",
    "Note",
    "OpenQuery",
    "Query",
    "Vote",
    "extend_history",
    "read_history",
]


_NAMING = ("tell", "class", "bulk", "settle", "suggest", "join", "known")
"""The kinds that name classes."""


@dataclass(frozen=True)
class Note:
    """What somebody has written to a node."""

    event: int
    at: float
    annotator: str
    text: str


@dataclass(frozen=True)
class OpenQuery:
    """A query that its annotator has not answered yet: its number in the log, when it was asked (in seconds since
    1970), whom, about which node, and the query as it was logged.
    """

    event: int
    at: float
    annotator: str
    node: int
    body: Mapping[str, Any]


@dataclass(frozen=True)
class Query:
    """A node that the session asks about, as it was when it was asked.

    Attributes:
        node: its index.
        name: its name, or its index as text.
        annotator: who is asked.
        event: the query's number in the log.
        audit: whether it was drawn at random to measure the accuracy; then no prediction is shown, so that it cannot
            sway the answer.
        why: the reasons, in words.
        rank: its rank among the candidates by the strategy's score, the best is 1; 0 for an audit and a random
            question.
        candidates: how many there were.
        score: the strategy's score, or None for an audit and a random question.
        features: the state features by name, as the policy reads them.
        predicted: class -> probability, the most likely first; empty before the first label and for an audit.
        random: whether the strategy drew it at random instead of choosing it; the first reason says why.
        given: where a node may have several classes, those that the classifier would give it; else None.
        unlike: whether it is asked in the strategy's place, being unlike all labelled nodes; the first reason says so.
    """

    node: int
    name: str
    annotator: str
    event: int
    audit: bool
    why: tuple[str, ...]
    rank: int
    candidates: int
    score: float | None
    features: Mapping[str, float]
    predicted: Mapping[str, float]
    random: bool = False
    given: tuple[str, ...] | None = None
    unlike: bool = False

    @property
    def unknown(self) -> bool:
        """Whether no label was there yet to predict its class from; one that is kept back, as in an audit, was."""
        return bool(self.features) and not self.predicted

    @property
    def sure(self) -> float | None:
        """The probability of the most likely class, of several that the least certain is decided rightly, or None."""
        if self.given is not None:
            decided = [p if name in self.given else 1 - p for name, p in self.predicted.items()]
            return min(decided, default=None)
        return next(iter(self.predicted.values()), None)

    @property
    def guess(self) -> str | None:
        """The most likely class, or None where nothing is predicted; of several the names with ``;`` between them."""
        if self.given is not None:
            return (SEPARATOR.join(self.given) or SEPARATOR) if self.predicted else None
        return next(iter(self.predicted), None)

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        asked = {"node": self.node, "name": self.name, "annotator": self.annotator, "event": self.event}
        return {**asked, "unlike": self.unlike, **self.body(), "guess": self.guess, "sure": self.sure}

    def body(self) -> dict[str, Any]:
        """What the log keeps beside node, annotator and number."""
        body = {
            "audit": self.audit,
            "random": self.random,
            "why": list(self.why),
            "rank": self.rank,
            "candidates": self.candidates,
            "score": self.score,
            "features": dict(self.features),
            "predicted": [[name, chance] for name, chance in self.predicted.items()],
        }
        given = {} if self.given is None else {"given": list(self.given)}
        return {**body, **given, **({"unlike": True} if self.unlike else {})}

    @classmethod
    def from_log(cls, logged: OpenQuery, name: str, classes: ClassList) -> Query:
        """The query as the log has kept it, with the names that classes have now."""
        body = logged.body
        predicted: dict[str, float] = {}

        def now(written: object) -> str:
            number = classes.find(str(written))
            return str(written) if number is None else classes.name(number)

        for written, chance in body.get("predicted", ()):
            predicted[now(written)] = min(1.0, predicted.get(now(written), 0.0) + float(chance))
        return cls(
            node=logged.node,
            name=name,
            annotator=logged.annotator,
            event=logged.event,
            audit=bool(body.get("audit", False)),
            why=tuple(body.get("why", ())),
            rank=int(body.get("rank", 0)),
            candidates=int(body.get("candidates", 0)),
            score=body.get("score"),
            features=dict(body.get("features", {})),
            predicted=predicted,
            random=bool(body.get("random", False)),
            given=tuple(dict.fromkeys(map(now, body["given"]))) if "given" in body else None,
            unlike="unlike" in body,
        )


@dataclass(frozen=True)
class History:
    """What the log says, at one moment.

    Attributes:
        last: the last event's number.
        ballots: node -> annotator -> vote, nodes in the order first told, a node's votes by age.
        numbers: node -> number of the class that counts, or numbers where it may have several, in the same order.
        overruled: node -> the annotator whose vote decides alone.
        settled: node -> what a disagreement has come to, and who has settled it.
        skipped: annotator -> the nodes that they could not label.
        asked: every query, the oldest first, answered or not.
        released: annotator -> the last event that freed their queries.
        freed: annotator and node -> the last event that freed this query alone.
        classes: the classes.
        guideline: what everybody should know of the job.
        notes: node -> what was written to it.
        budget: the budget as it was last set, or None if it never was.
        redundancy: how many are to label each node, as it was last set, or None if it never was.
        changes: the events that an undo can take back, in order.
        suggested: the events in which models have said something, in order.
        added: event -> first number and count of the rows that it added, also of those that were taken back: numbers
            are never given twice.
        gone: the rows that are taken out: by an event, or since their addition was taken back.
        changed: the events that changed rows, in order.
        outdated: rows that were changed and of which nobody has said anything since.
        erased: rows of which nothing is left in the file but their numbers.
        known: what the owner knows of some rows; these are asked now and then to see how right people are.
    """

    last: int = 0
    ballots: Mapping[int, Mapping[str, Vote]] = field(default_factory=dict)
    numbers: Mapping[int, Answer] = field(default_factory=dict)
    overruled: Mapping[int, str] = field(default_factory=dict)
    settled: Mapping[int, tuple[Answer, str]] = field(default_factory=dict)
    skipped: Mapping[str, frozenset[int]] = field(default_factory=dict)
    asked: Sequence[OpenQuery] = ()
    released: Mapping[str, int] = field(default_factory=dict)
    freed: Mapping[tuple[str, int], int] = field(default_factory=dict)
    classes: ClassList = field(default_factory=ClassList)
    guideline: str = ""
    notes: Mapping[int, tuple[Note, ...]] = field(default_factory=dict)
    budget: int | None = None
    redundancy: int | None = None
    changes: Sequence[Event] = ()
    suggested: tuple[Event, ...] = ()
    added: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    gone: frozenset[int] = frozenset()
    changed: tuple[int, ...] = ()
    outdated: frozenset[int] = frozenset()
    erased: frozenset[int] = frozenset()
    known: KnownAnswers = field(default_factory=KnownAnswers)

    @cached_property
    def votes(self) -> Mapping[int, Mapping[str, str]]:
        """node -> annotator -> label, by the names that classes have now."""
        return {
            node: {who: self.classes.name(vote.number) for who, vote in by.items()} for node, by in self.ballots.items()
        }

    def said_of(self, node: int) -> Mapping[str, Vote]:
        """What everybody says of a node, by age, also what was answered before it became an ordinary one."""
        opened, ballot = self.known.opened.get(node), self.ballots.get(node, {})
        return ballot if opened is None else {**opened.earlier, **ballot}

    @cached_property
    def labels(self) -> Mapping[int, str]:
        """node -> the label that counts, in the order first told, by the names that classes have now."""
        return {node: self.classes.name(number) for node, number in self.numbers.items()}

    @cached_property
    def bulk(self) -> frozenset[int]:
        """The nodes that were labelled in bulk alone: nobody has answered for them one by one."""
        return frozenset(node for node, by in self.ballots.items() if all(vote.bulk for vote in by.values()))

    @property
    def disagreements(self) -> dict[int, dict[str, str]]:
        """The nodes whose annotators say different things, and that nobody has settled: node -> annotator -> label."""
        return {
            node: dict(votes)
            for node, votes in self.votes.items()
            if len(set(votes.values())) > 1 and node not in self.settled and node not in self.gone
        }

    def open_queries(self, redundancy: int = 1) -> list[OpenQuery]:
        """The queries that still wait.

        The annotator has neither labelled nor skipped the node nor left, and it has fewer votes than it should.
        """
        waiting: dict[tuple[str, int], OpenQuery] = {}
        for query in (each for each in self.asked if each.node not in self.gone):
            ballot: Collection[str] = self.ballots.get(query.node, {})
            known = query.node in self.known.answers
            if query.body.get("audit") or known:  # what was labelled in bulk is no answer to a question of this kind
                ballot = [who for who, vote in self.ballots.get(query.node, {}).items() if not vote.bulk]
            if query.annotator in ballot or query.node in self.skipped.get(query.annotator, ()):
                continue
            if "control" in query.body and query.node in self.known.opened:  # nobody else knew of it
                continue
            settled = len(ballot) >= redundancy or query.node in self.overruled or query.node in self.settled
            free = max(self.released.get(query.annotator, 0), self.freed.get((query.annotator, query.node), 0))
            if (known or not settled) and query.event > free:  # where it is known, all may be asked
                waiting[query.annotator, query.node] = query  # asked again, the later one counts
        return sorted(waiting.values(), key=lambda query: query.event)

    def decider(self, node: int) -> str | None:
        """Who gives a node its label: who settled it, whose vote overrules, else the oldest standing vote for it.

        None without a label.
        """
        if node in self.settled and node in self.ballots:
            return self.settled[node][1]
        if node in self.overruled:
            return self.overruled[node]
        resolve = self.classes.resolve
        ballot = self.ballots.get(node, {})
        return next((who for who, vote in ballot.items() if resolve(vote.number) == self.numbers[node]), None)


def read_history(events: Iterable[Event], start: Sequence[str] = ()) -> History:
    """What the log means.

    Args:
        events: the log.
        start: the classes that there were before it, in order.
    """
    listed = list(events)
    names = dict(enumerate(dict.fromkeys(start), 1))
    builder = _Builder(History(classes=ClassList(first_names=names, names=names)))
    builder.number(listed)
    for event in effective(listed):
        builder.take(event)
    return builder.history(listed[-1].id if listed else 0)


def extend_history(history: History, events: Sequence[Event], start: Sequence[str] = ()) -> History:
    """What the log means, from what it meant at an earlier event.

    The same as `read_history`, and as quick for a long log as for a short one.

    Args:
        history: the meaning of the first events.
        events: all events. Where one of the new ones is an undo, everything is read anew.
        start: as for `read_history`.
    """
    new = events[history.last :]
    if any(event.kind == "undo" for event in new):
        return read_history(events, start)
    builder = _Builder(history)
    builder.number(new)
    for event in new:
        builder.take(event)
    return builder.history(events[-1].id if events else 0)


class _Builder:
    """A history that grows; what is in its dictionaries is replaced, never changed, so that the one it began with keeps
    its own.
    """

    def __init__(self, before: History) -> None:
        self._before = before
        self._ballots: dict[int, Mapping[str, Vote]] = dict(before.ballots)
        self._overruled = dict(before.overruled)
        self._settled = dict(before.settled)
        self._skipped = dict(before.skipped)
        self._asked = list(before.asked)
        self._released, self._freed = dict(before.released), dict(before.freed)
        self._notes = dict(before.notes)
        self._changes = list(before.changes)
        self._suggested = before.suggested
        self._guideline, self._budget, self._redundancy = before.guideline, before.budget, before.redundancy
        known = before.classes
        self._first_names, self._names, self._merged = dict(known.first_names), dict(known.names), dict(known.merged)
        self._descriptions, self._aliases, self._shown = dict(known.descriptions), dict(known.aliases), known.shown
        self._by_first_name = {name: number for number, name in reversed(self._first_names.items())}
        self._added, self._gone = dict(before.added), before.gone
        self._changed, self._outdated, self._erased = before.changed, set(before.outdated), before.erased
        self._known = None if before.known == KnownAnswers() else KnownAnswersBuilder(before.known)
        self._touched: dict[int, None] = {}
        self._anew: set[int] = set()
        self._classes_changed = self._merges_changed = False

    def number(self, events: Iterable[Event]) -> None:
        """Give numbers to the classes of all events, also of those that were taken back, so that no number is ever
        given twice.
        """
        for event in events:
            if event.kind == "rows":  # taken out until they are taken in
                first, count = self._added[event.id] = int(event.body["first"]), int(event.body["count"])
                self._gone |= set(range(first, first + count))
            if event.kind in _NAMING or "erased" in event.body:
                for number, name in self._classes_of(event):
                    if number not in self._first_names:
                        self._first_names[number] = name
                        self._by_first_name.setdefault(name, number)
                        self._classes_changed = True

    def take(self, event: Event) -> None:
        body, who = event.body, event.annotator
        if "erased" in body:
            for number, name in self._classes_of(event):
                self._declare(number, name)
        if event.kind == "tell":
            (said,) = self._answers_of(event)
            self._open(event, int(body["node"]), who, said[0], bulk=False)
            self._vote(int(body["node"]), who, said, bulk=False, overrule="overrule" in body)
            self._outdated.discard(int(body["node"]))
        elif event.kind == "bulk":
            for node, said in zip(body["nodes"], self._answers_of(event), strict=True):
                self._open(event, int(node), who, said[0], bulk=True)
                self._vote(int(node), who, said, bulk=True, overrule="overrule" in body)
            self._outdated.difference_update(map(int, body["nodes"]))
        elif event.kind == "skip":
            self._skipped[who] = self._skipped.get(who, frozenset()) | set(nodes_of(body))
        elif event.kind == "class":
            ((number, name),) = self._classes_of(event)
            self._declare(number, name)
        elif event.kind == "settle":
            (said,) = self._answers_of(event)
            self._declare_all(said)
            self._settled[int(body["node"])] = said[0], who
            self._outdated.discard(int(body["node"]))
            if int(body["node"]) in self._ballots:
                self._touched[int(body["node"])] = None
        elif event.kind == "budget":
            self._budget = int(body["budget"])
        elif event.kind == "redundancy":
            self._redundancy = int(body["redundancy"])
        elif event.kind == "note":
            note = Note(event.id, event.at, who, str(body["text"]))
            for node in nodes_of(body):
                self._notes[node] = (*self._notes.get(node, ()), note)
        elif event.kind == "ask":
            self._asked.append(OpenQuery(event.id, event.at, who, int(body["node"]), body))
            if "control" in body and self._known is not None:
                self._known.ask(who, int(body["node"]), event.id)
        elif event.kind == "suggest":
            for number, name in self._classes_of(event):
                self._declare(number, name)
            self._suggested = (*self._suggested, event)
        elif event.kind == "rows":
            first, count = self._added[event.id]
            self._gone -= set(range(first, first + count))
        elif event.kind == "join":
            answers = zip(body["nodes"], body["annotators"], body["bulk"], self._answers_of(event), strict=True)
            for node, person, bulk, said in answers:
                self._open(event, int(node), str(person), said[0], bulk=bool(bulk), joined=True)
                self._vote(int(node), str(person), said, bulk=bulk, overrule=False)
        elif event.kind == "change":
            self._changed = (*self._changed, event.id)
            self._outdated.update(map(int, body["nodes"]))
        elif event.kind in ("remove", "erase"):
            self._gone |= set(body["nodes"])
            self._erased |= set(body["nodes"] if event.kind == "erase" else ())
        elif event.kind == "known":
            self._known = self._known or KnownAnswersBuilder(self._before.known)
            self._known.take(who, body, [said[0] for said in self._answers_of(event)])
            for node, each in zip(body["nodes"], self._answers_of(event), strict=True) if "counts" in body else ():
                self._vote(int(node), who, each, bulk=True, overrule=True)
        elif event.kind == "release":
            if "nodes" in body:
                self._freed |= {(str(body["annotator"]), node): event.id for node in nodes_of(body)}
            else:
                self._released[str(body["annotator"])] = event.id
        elif event.kind in ("rename", "merge", "describe", "order"):
            self._change_classes(event.kind, body)
        if event.kind in CHANGES:
            self._changes.append(event)

    def history(self, last: int) -> History:
        classes = self._before.classes
        if self._classes_changed:
            classes = ClassList(
                self._first_names, self._names, self._merged, self._descriptions, self._aliases, self._shown
            )
        numbers = self._before.numbers
        if self._anew:
            numbers = {node: number for node, number in numbers.items() if node not in self._anew}
        if self._touched or self._merges_changed:
            changed: Iterable[int] = self._ballots if self._merges_changed else self._touched
            numbers = {**numbers, **{node: self._count(classes, node) for node in changed}}
        return replace(
            self._before,
            last=last,
            ballots=self._ballots,
            numbers=numbers,
            overruled=self._overruled,
            settled=self._settled,
            skipped=self._skipped,
            asked=self._asked,
            released=self._released,
            freed=self._freed,
            classes=classes,
            guideline=self._guideline,
            notes=self._notes,
            budget=self._budget,
            redundancy=self._redundancy,
            changes=self._changes,
            suggested=self._suggested,
            added=self._added,
            gone=self._gone,
            changed=self._changed,
            outdated=frozenset(self._outdated),
            erased=self._erased,
            known=self._before.known if self._known is None else self._known.known(),
        )

    def _classes_of(self, event: Event) -> list[tuple[int, str]]:
        """The classes that an event speaks of, also where what it said was erased: number and name."""
        said = [] if event.kind not in _NAMING else self._answers_of(event)
        if lost := event.body.get("erased"):
            said.append((tuple(lost["classes"]), tuple(lost["labels"])))
        return [each for answer, names in said for each in zip(numbers_of(answer), names, strict=True)]

    def _answers_of(self, event: Event) -> list[Said]:
        """What an event says, of one node after the other.

        A class from before there were numbers has the number of its name.
        """
        body = event.body
        if event.kind in ("bulk", "suggest", "join", "known"):
            return [said_of(number, name) for number, name in zip(body["classes"], body["labels"], strict=True)]
        if isinstance(body.get("class"), list):
            return [said_of(body["class"], body["label"])]
        name = str(body["name"] if event.kind == "class" else body["label"])
        number = body.get("class") or self._by_first_name.get(name) or max(self._first_names, default=0) + 1
        return [(int(number), (name,))]

    def _declare(self, number: int, name: str) -> None:
        if number not in self._names:
            self._names[number] = self._first_names.get(number, name)
            self._classes_changed = True

    def _declare_all(self, said: Said) -> None:
        for number, name in zip(numbers_of(said[0]), said[1], strict=True):
            self._declare(number, name)

    def _open(self, event: Event, node: int, who: str, answer: Answer, *, bulk: bool, joined: bool = False) -> None:
        """Make a node whose answer is known an ordinary one, unless this label answers a question that waits for it, or
        changes such an answer.

        It begins anew with this label: what others have answered before stays as unseen as it was.
        """
        if self._known is None or node not in self._known.answers:
            return
        earlier = self._ballots.get(node, {})
        if not bulk and not joined:
            free = max(self._released.get(who, 0), self._freed.get((who, node), 0))
            waits = self._known.was_asked(who, node, free) and node not in self._skipped.get(who, ())
            if waits or (who in earlier and not earlier[who].bulk):
                return
        self._known.open(node, event.id, who, Vote(answer, bulk), earlier)
        for kept in (self._ballots, self._touched, self._overruled, self._settled):
            kept.pop(node, None)
        self._anew.add(node)

    def _vote(self, node: int, who: str, said: Said, *, bulk: bool, overrule: bool) -> None:
        self._declare_all(said)
        number = said[0]
        before = self._ballots.get(node, {})
        old = before.get(who)
        if not before:
            self._ballots[node] = {who: Vote(number, bulk)}
        elif old is not None and self._is_same(old.number, number):
            # no new vote, but perhaps one that is now meant for this node
            self._ballots[node] = {**before, who: Vote(number, old.bulk and bulk)}
        else:  # a change of mind is a later vote
            self._ballots[node] = {
                **{other: vote for other, vote in before.items() if other != who},
                who: Vote(number, bulk),
            }
        if overrule:
            self._overruled[node] = who
        if who in self._skipped:
            self._skipped[who] -= {node}
        self._touched[node] = None

    def _is_same(self, one: Answer, other: Answer) -> bool:
        first, second = ({self._resolve(number) for number in numbers_of(answer)} for answer in (one, other))
        return first == second

    def _resolve(self, number: int) -> int:
        while number in self._merged:
            number = self._merged[number]
        return number

    def _change_classes(self, kind: str, body: Mapping[str, Any]) -> None:
        self._classes_changed = True
        if kind == "rename" and body["class"] in self._names:
            self._aliases[self._names[body["class"]]] = body["class"]
            self._names[body["class"]] = body["name"]
        elif kind == "merge":
            number, into = self._resolve(body["class"]), self._resolve(body["into"])
            if number != into and {number, into} <= set(self._names):
                self._merged[number] = into
                self._merges_changed = True
        elif kind == "describe":
            if body["class"] is None:
                self._guideline = body["text"]
            else:
                self._descriptions[body["class"]] = body["text"]
        elif kind == "order":
            self._shown = tuple(body["classes"])

    def _count(self, classes: ClassList, node: int) -> Answer:
        if node in self._settled:
            return classes.resolve(self._settled[node][0])
        ballot, chief = self._ballots[node], self._overruled.get(node)
        if chief is not None and chief in ballot:
            return classes.resolve(ballot[chief].number)
        return majority({who: classes.resolve(vote.number) for who, vote in ballot.items()})
