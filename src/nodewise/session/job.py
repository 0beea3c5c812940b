"""A labelling job as its file tells it: the log followed, what it means now, and what learns from it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from nodewise.contracts import can
from nodewise.graph.nodes import are_several, listed_nodes
from nodewise.ground.errors import InputError, SessionError, WrongTypeError
from nodewise.ground.events import Reporter
from nodewise.session.answers import ANNOTATOR, Answer, ClassList, Draft, Event, check_event, undone, valid_person
from nodewise.session.asking.query import draft_queries
from nodewise.session.files.erasing import Erased, erase_rows
from nodewise.session.files.export import Prediction, make_prediction, uniform_prediction
from nodewise.session.log.contents import Contents, Growth, packed_graph
from nodewise.session.log.database import damaged, session_file
from nodewise.session.log.log import Log, MovedOnError
from nodewise.session.meaning.changes import refuse_several, servable
from nodewise.session.meaning.history import History, Query, extend_history, read_history
from nodewise.session.meaning.joining import OtherJob, additions, check_same_rows
from nodewise.session.meaning.row_edits import RowEdit
from nodewise.session.meaning.rules import Moment, Rules, TrainingLabels, plan_queries, standing_classes
from nodewise.session.meaning.suggestions import SuggestionReader
from nodewise.session.meaning.trust import LabelTrust, TrustReader

if TYPE_CHECKING:
    from nodewise.contracts import Capability, Classifier, Strategy
    from nodewise.session.learning.learner import Learners, Purpose, SessionLearner

__all__ = ["Job"]

_ATTEMPTS = 100
"""How often something is decided anew where others have written meanwhile."""

_ONE_CLASS = "only jobs of one class a node can be joined"

_Found = TypeVar("_Found")


class Job:
    """The job in a session's file, followed: `nodewise.session.Session` is what people use of it.

    Attributes:
        path: the session's file.
        settings: what it was made with.
        graph: the graph.
    """

    def __init__(
        self,
        log: Log,
        clock: Callable[[], float] = time.time,
        classifier: str | Classifier | None = None,
        strategy: str | Strategy | None = None,
        reporter: Reporter | None = None,
        made: tuple[Classifier, Strategy] | None = None,
    ) -> None:
        if isinstance(cast(Any, log), (str, Path)):
            raise WrongTypeError(f"a session is opened with Session.open({str(log)!r}), made with Session.create(…)")
        if not isinstance(cast(Any, log), Log):
            raise WrongTypeError(
                f"Session() takes an open log, received {type(log).__name__}: a session is made with"
                " Session.create(path, graph, …) and opened with Session.open(path)"
            )
        self._log, self._clock, self._lock = log, clock, threading.RLock()
        self._contents = contents = Contents.read(log)
        self._growth = Growth(contents)
        self.path, self.settings, self.graph = log.path, contents.settings, contents.graph
        self._own, self._made = (classifier, strategy, reporter), made
        self._training: tuple[Mapping[int, Answer], ClassList, TrainingLabels] | None = None
        self._prediction: tuple[object, Prediction] | None = None
        self._held = False
        self._history = read_history((), contents.first_classes)
        self._extend()

    @property
    def in_place(self) -> bool:
        """Whether the file that was opened still lies where it was."""
        return self._log.in_place

    def refresh(self) -> History:
        """The log's meaning now, with what other processes have written."""
        if not self._held:
            self._log.refresh()
        return self._extend()

    @contextmanager
    def at_one_moment(self) -> Iterator[None]:
        """A block in which the job stands still.

        What other processes write is read after it, and other threads wait: what is computed of graph and labels in it
        fits together.
        """
        with self._lock:
            before, self._held = self._held, True
            try:
                yield
            finally:
                self._held = before

    def moment(self) -> Moment:
        """What is known now, with what other processes have written: all that work on the session is given."""
        with self._lock:
            return Moment.at(self._contents, self.refresh(), self.now())

    def rules(self) -> Rules:
        """Budget, redundancy and audit as they are now."""
        return Rules.of(self._contents, self._history)

    def training(self, history: History) -> TrainingLabels:
        """What the classifier learns from.

        People's labels, in order, and those given with the graph as they stand now. Made once for each state of them,
        since much asks for it and a query changes nothing.
        """
        kept = self._training
        if kept is None or kept[0] is not history.numbers or kept[1] is not history.classes:
            labels = Moment.at(self._contents, history, self.now()).training_labels()
            kept = self._training = (history.numbers, history.classes, labels)
        return kept[2]

    def follow(self, history: History) -> SessionLearner:
        """The classifier brought to the labels that count."""
        learned, given = self.training(history)
        learner = self._learner_for("ask", history)
        learner.follow(learned, given)
        return learner

    def _learned(self, history: History, needed: Capability) -> SessionLearner | None:
        """The same, where there is a label and the classifier can do something beyond its contract; else None."""
        if not any(self.training(history)) or not can(self._learners.classifier, needed):
            return None
        return self.follow(history)

    def separate_learner(self, history: History, purpose: Literal["predict", "report"]) -> SessionLearner:
        """Another classifier than the one that `follow` gives, as it was left when last used.

        For long work that gives its reporter the chance to use the session.
        """
        return self._learner_for(purpose, history)

    def _learner_for(self, purpose: Purpose, history: History) -> SessionLearner:
        """A classifier that knows classes, models and trust as they are now, and has the labels that it had."""
        learner = self._learners.get(purpose, self.training(history).given)
        learner.begin_with(standing_classes(self.settings.classes, history.classes))
        learner.hear(self._models.for_learner(history) if history.suggested else None, self._trusted(history))
        return learner

    @cached_property
    def _models(self) -> SuggestionReader:
        """What reads suggestions, made when a model has said something."""
        return SuggestionReader(self._log, self.graph.num_nodes, self._rows_ever)

    @cached_property
    def _trust(self) -> TrustReader:
        """What reads how far labels are trusted, made when that is asked."""
        return TrustReader()

    def _trusted(self, history: History) -> LabelTrust | None:
        """How far labels are trusted by who gave them, where the job was made with trust."""
        return self._trust.of(history, self.graph.num_nodes) if self.settings.trust else None

    @cached_property
    def _learners(self) -> Learners:
        """What learns, made when it is first needed: only then is torch loaded."""
        from nodewise.session.learning.learner import Learners

        made = self._made
        if made is not None:
            return Learners(self._contents, lambda: made)
        from nodewise.session.learning.rebuilding import Rebuilding

        return Learners(self._contents, Rebuilding(self._contents, *self._own))

    def find(self, node: int | str) -> int:
        """The node of that index or name."""
        return self._among_rows(lambda: self._contents.find(node))

    def _find_all(self, nodes: Any) -> list[int]:
        """Several nodes one for one, by indices, names or a mask of True and False."""
        return self._among_rows(lambda: self._contents.find_all(nodes))

    def _each_once(self, node: Any) -> list[int]:
        """The indices of a node or of several, each once."""
        return list(dict.fromkeys(self._find_all(node if are_several(node) else [node])))

    def _find_ever(self, row: int | str) -> int:
        """The row of that index or name; by its index also one whose addition was taken back."""
        number = int(row) if isinstance(row, str) and row.isdecimal() and self.graph.node_names is None else row
        if isinstance(number, int) and self.graph.num_nodes <= number < self._rows_ever:
            return number
        return self.find(row)

    def name_of(self, node: int) -> str:
        """What the node is called."""
        return self._contents.name_of(node)

    def now(self) -> float:
        """The time, by the session's clock."""
        return self._clock()

    def _extend(self, written: Sequence[Event] = ()) -> History:
        """The meaning of what has been read of the log; refuses events that nodewise would not have written.

        Args:
            written: events that were checked when they were written, just now.
        """
        before = self._history
        if before.last != self._log.last:
            nodes, checked = self._rows_ever, {event.id for event in written}
            for event in self._log.events[before.last :]:
                wrong = "" if event.id in checked else check_event(event, nodes, self.settings.several)
                if wrong:
                    raise damaged(self.path, f"event {event.id} is not one that nodewise writes: {wrong}")
                nodes += int(event.body["count"]) if event.kind == "rows" else 0
            self._growth.check_claim(self._log, nodes)
            history = extend_history(before, self._log.events, self._contents.first_classes)
            edits = (history.added, history.gone, history.changed)
            if edits != (before.added, before.gone, before.changed):
                self._follow_rows(history)
            self._history = history
        return self._history

    def _follow_rows(self, history: History) -> None:
        """Bring graph and candidates to the rows that were added, changed and taken out; what learned of others is
        forgotten.
        """
        grown = self._growth.with_edits(self._log, history.added, history.changed, undone(self._log.events))
        same, self.graph, self._contents = grown.graph is self.graph, grown.graph, grown.without(history.gone)
        self._training = self._prediction = None
        self.__dict__.pop("_models", None)
        learners: Learners | None = self.__dict__.pop("_learners", None)
        if learners is not None:
            self._learners = learners.on(self._contents, keep_tensors=same)

    def _among_rows(self, look: Callable[[], _Found]) -> _Found:
        """What is found among the rows; where it is not, others may have added some meanwhile."""
        try:
            return look()
        except InputError:
            with self._lock:
                graph = self.graph
                self.refresh()
                if self.graph is graph:
                    raise
            return look()

    def _wrong(self, event: Event) -> str:
        """What is wrong with an event that nodewise would not write; empty where nothing is."""
        return check_event(event, self._rows_ever, self.settings.several)

    @property
    def _rows_ever(self) -> int:
        """Rows that have a number, those whose addition was taken back among them."""
        return self._growth.first.graph.num_nodes + sum(count for _, count in self._history.added.values())

    def _change(self, decide: Callable[[History], Sequence[Draft]]) -> Sequence[Event]:
        """Append what is decided on the log as it is then: nobody writes in between."""
        with self._lock:
            events = self._log.append(
                lambda: servable(self._own[0], decide(self._extend()), self._history), wrong=self._wrong
            )
            self._extend(events)
            return events

    def _change_now(self, decide: Callable[[Moment], Sequence[Draft]]) -> Sequence[Event]:
        """The same, decided on what is known then, with the rules and the time."""
        return self._change(lambda history: decide(Moment.at(self._contents, history, self.now())))

    def _ask(self, who: str, wanted: int) -> list[Query]:
        """An annotator's queries: those that they have, and new ones up to as many as are wanted, logged."""
        with self._lock:
            for attempt in range(_ATTEMPTS):
                moment = self.moment()
                history = moment.history
                plan = plan_queries(history, moment.rules, who, wanted, moment.now)
                learner = self.follow(history) if plan.fresh or plan.control else None
                drafts, lack = draft_queries(moment, plan, who, learner)
                if not plan.open and not drafts:
                    raise SessionError(f"there is nothing to ask {who!r}: {lack}")
                try:
                    written = self._log.append(drafts, seen=history.last, wrong=self._wrong) if drafts else []
                    break
                except MovedOnError:
                    if attempt == _ATTEMPTS - 1:
                        raise SessionError(
                            f"the session {str(self.path)!r} is being written to without a pause: try again"
                        ) from None
            events = {query.event for query in plan.open} | {event.id for event in written}
            history = self._extend(written)
            return [
                Query.from_log(logged, self.name_of(logged.node), history.classes)
                for logged in history.asked
                if logged.event in events
            ]

    def _change_graph(self, annotator: str, edit: Callable[[Moment, Contents], RowEdit]) -> Event:
        """Append an event that has rows attached.

        They are made while others may write, and made again where the rows of the job have changed meanwhile.
        """
        who = valid_person(annotator)
        for _ in range(_ATTEMPTS):
            with self._lock:
                moment, now = self.moment(), self._contents
                added, changed = moment.history.added, moment.history.changed
                every = self._growth.with_edits(self._log, added, changed, undone(self._log.events), padded=True)
            made = edit(moment, every)
            packed = packed_graph(made.rows)

            def decide(
                history: History, now: Contents = now, made: RowEdit = made, packed: bytes = packed
            ) -> list[Draft]:
                if self._contents is not now:
                    raise MovedOnError("rows have changed meanwhile")
                return [made.draft(who, history.last + 1, packed)]

            try:
                return self._change(decide)[0]
            except MovedOnError:
                continue
        raise SessionError(f"the rows of the session {str(self.path)!r} are changed without a pause: try again")

    def _erase(self, rows: Any, target: Path, who: str) -> Erased:
        """Write a new file of the job without some rows, and see that it can be opened; this one stays."""
        with self._lock:
            history = self.refresh()
            nodes = {self._find_ever(row) for row in listed_nodes(rows, self.graph, "rows")}
            if not nodes:
                raise InputError("there is no row to erase: give at least one")
            self._log.check_output(target)
            last = Event(history.last + 1, self.now(), who, "erase", {"nodes": sorted(nodes)})
            found = erase_rows(self._log, self._growth.first, history, nodes, target, last)
        try:
            with _opened(target):
                return found
        except BaseException:
            target.unlink(missing_ok=True)
            raise

    def _other_job(self, path: str | Path, me: str | None) -> OtherJob:
        """The job in a file, to be joined to this one; whoever is called ``me`` there is somebody here.

        Raises:
            InputError: its rows are others.
        """
        people = {} if me is None else {ANNOTATOR: valid_person(me)}
        refuse_several(self.settings, self.path, _ONE_CLASS)
        with _opened(session_file(path, "the file of a session")) as other:
            history, events, first = other.refresh(), tuple(other._log.events), other._growth.first.graph
        refuse_several(other.settings, other.path, _ONE_CLASS)
        with self._lock:
            self.refresh()
            here, added = self._growth.first.graph, additions(self._log.events)
        check_same_rows(Path(path), here, first, added, additions(events))
        return OtherJob(Path(path).name, history, events, people)

    @property
    def _alone(self) -> bool:
        """Whether one label a node is enough."""
        return self.rules().redundancy == 1

    def _predicts(self, history: History) -> bool:
        """Whether there is anything to say of all nodes, if only that nothing is known."""
        return bool(len(history.classes)) and (
            any(self.training(history)) or bool(history.suggested) or not self._learners.classifier.trained
        )

    def _predict(self, history: History, reporter: Reporter | None = None) -> Prediction:
        training, given = self.training(history)
        if not self._predicts(history):
            raise SessionError("nothing can be predicted before the first label: tell at least one")
        if not training and not given and not history.suggested:
            return uniform_prediction(history.classes, self.graph.num_nodes, self.settings.several)
        suggested = tuple(event.id for event in history.suggested)
        key = (
            self.graph,  # rows may be added while it is made
            training,
            given,
            history.classes,
            suggested,
            None if self._trusted(history) is None else self._trust.turn,
        )
        if self._prediction is None or self._prediction[0] != key:
            learner = self.follow(history) if reporter is None else self.separate_learner(history, "predict")
            learner.follow(training, given, reporter)
            said = self._models.labels(history) if history.suggested else {}
            prediction = make_prediction(learner, history.classes, reporter, said)
            self._prediction = (key, prediction)
            return prediction
        return self._prediction[1]


@contextmanager
def _opened(path: Path) -> Iterator[Job]:
    """The job in a file, while it is looked at.

    Raises:
        SessionFileError: it is missing, damaged, newer, or its graph has changed.
    """
    log = Log.open(path, wait=10.0, clock=time.time)
    try:
        yield Job(log)
    finally:
        log.close()
