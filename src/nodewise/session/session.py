"""A person's labelling job on one graph, kept in one file."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

import numpy as np
import numpy.typing as npt

from nodewise.contracts import can, refusal
from nodewise.graph import Graph
from nodewise.graph.knn.growth import added_rows
from nodewise.graph.nodes import Nodes
from nodewise.ground.errors import InputError, SessionError, UnknownNameError, WrongTypeError
from nodewise.ground.events import Reporter, count, html_table
from nodewise.ground.files import as_path
from nodewise.session.answers import ClassList, Draft, Event, check_event, valid_person
from nodewise.session.asking.query import draft_queries
from nodewise.session.files.creation import create_log
from nodewise.session.files.export import (
    ExportFormat,
    Prediction,
    find_writer,
    make_prediction,
    uniform_prediction,
    write_export,
)
from nodewise.session.files.status import Status, make_status
from nodewise.session.log.contents import EMBED_LIMIT, Contents, Growth, packed_graph
from nodewise.session.log.database import damaged
from nodewise.session.log.log import Log, MovedOnError
from nodewise.session.meaning import changes
from nodewise.session.meaning.changes import Answers
from nodewise.session.meaning.history import (
    History,
    Note,
    Query,
    TrainingLabels,
    extend_history,
    read_history,
    undone,
)
from nodewise.session.meaning.joining import OtherJob, draft_join
from nodewise.session.meaning.rules import Moment, Rules, plan_queries
from nodewise.session.meaning.suggestions import SuggestionReader, Suggestions, draft_suggestions, read_given
from nodewise.session.settings import NewSettings, SettingsByName, settings_of, takes_settings

if TYPE_CHECKING:
    from typing import Unpack

    from nodewise.contracts import Classifier, Strategy
    from nodewise.session.learning.learner import Learners, SessionLearner
    from nodewise.session.learning.stopping import StopReport
    from nodewise.session.learning.suggested import Disagreement, ModelReport

__all__ = ["ANNOTATOR", "Session"]

ANNOTATOR = "me"
"""Who is meant where nobody is named."""

_ATTEMPTS = 100
_Found = TypeVar("_Found")


class Session:
    """Ask, tell, and go on whenever you like: everything told is on the disk when `tell` returns.

    Example:
        >>> import nodewise as nw
        >>> with nw.Session.create("job.nodewise", "wine", budget=2, strategy="random", use_labels=False) as session:
        ...     while not session.done:
        ...         event = session.tell(session.ask().node, "class_0")
        ...     session.status().told
        2

    `create` makes a session, `open` goes on with one. The classifier is a pure function of graph, settings, seed and
    the labels that count; it is trained when something needs it, so telling, skipping and undoing do not wait for it.
    One object may be used by several threads, one file by several processes.

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
        self._log, self._clock, self._lock = log, clock, threading.RLock()
        self._contents = contents = Contents.read(log)
        self._growth = Growth(contents)
        self.path, self.settings, self.graph = log.path, contents.settings, contents.graph
        self._own, self._made = (classifier, strategy, reporter), made
        self._training: tuple[Mapping[int, int], ClassList, TrainingLabels] | None = None
        self._prediction: tuple[object, Prediction] | None = None
        self._models = SuggestionReader(log, contents.graph.num_nodes)
        self._history = read_history((), contents.first_classes)
        self._extend()

    @classmethod
    @takes_settings
    def create(
        cls,
        path: str | Path,
        graph: Graph | str | Path,
        *,
        candidates: Nodes | None = None,
        source: str | Path | None = None,
        embed_limit: int = EMBED_LIMIT,
        reporter: Reporter | None = None,
        wait: float = 10.0,
        clock: Callable[[], float] = time.time,
        **settings: Unpack[SettingsByName],
    ) -> Session:
        """Start a labelling job.

        Args:
            path: the file to make; there must be none yet.
            graph: what to label, or its name or path.
            settings: each as `nodewise.session.settings` describes it.
            candidates: the nodes that may be asked, by indices, names or a mask; all by default.
            source: the file that holds exactly this graph, referred to where it is too large to lie in the session.
            embed_limit: the largest graph, in bytes, that lies in the session's file.
            reporter: hears what was decided.
            wait: as for `open`.
            clock: as for `open`.

        Raises:
            InputError: something given is wrong; says what to do.
        """
        known = [one.name for one in settings_of(NewSettings)]
        if unknown := [name for name in settings if name not in known]:
            raise UnknownNameError("setting of Session.create", unknown[0], known)
        log, learns, asks = create_log(
            _file(path, "the file of the session"),
            graph,
            NewSettings(**settings),
            candidates=candidates,
            source=source,
            embed_limit=embed_limit,
            reporter=reporter,
            wait=wait,
            clock=clock,
        )
        return cls(log, clock, learns, made=None if asks is None else (learns, asks))

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        classifier: str | Classifier | None = None,
        strategy: str | Strategy | None = None,
        wait: float = 10.0,
        clock: Callable[[], float] = time.time,
        reporter: Reporter | None = None,
    ) -> Session:
        """Go on with a session.

        Args:
            path: its file.
            classifier: the one that it was begun with, where it is your own: opening a file imports no code. A name,
                such as ``package.module:Name``, is made with the settings that the session was begun with.
            strategy: the same for the strategy.
            wait: seconds to wait for another process that is writing to it.
            clock: gives the time.
            reporter: hears, when the classifier is first needed, where its code or the strategy's has changed since the
                session was begun; without one that is a Python warning.

        Raises:
            SessionFileError: it is missing, damaged, newer, or its graph has changed; it is left as it is.
        """
        log = Log.open(_file(path, "the file of a session"), wait=wait, clock=clock)
        try:
            return cls(log, clock, classifier, strategy, reporter)
        except BaseException:
            log.close()
            raise

    def __repr__(self) -> str:
        """One line: file, graph, and how far it was when last looked at; nothing is read for it."""
        rules, classes = self.rules(), len(self._history.classes)
        told = f"{len(rules.told(self._history))} of {count(rules.budget, 'label')} told"
        return f"Session({self.path.name!r}: {self.graph.name!r}, {told}, {count(classes, 'class', 'classes')})"

    def _repr_html_(self) -> str:
        """A small table for notebooks."""
        rules, names = self.rules(), [each.name for each in self._history.classes]
        facts = {"graph": self.graph.name, "told": f"{len(rules.told(self._history))} of {rules.budget}"}
        return html_table(self.path.name, {**facts, "classes": ", ".join(names) or "none yet", **self.settings.facts()})

    @overload
    def ask(self, k: None = None, annotator: str = ANNOTATOR) -> Query: ...

    @overload
    def ask(self, k: int, annotator: str = ANNOTATOR) -> list[Query]: ...

    def ask(self, k: int | None = None, annotator: str = ANNOTATOR) -> Query | list[Query]:
        """The next node to label, or with ``k`` a diverse batch of up to that many.

        A query that the annotator has not answered is given again. A new one is in the log before this returns.

        Raises:
            SessionError: there is nothing to ask this annotator: the budget is spent or out with others.
        """
        who = valid_person(annotator)
        wanted = 1 if k is None else k
        if isinstance(wanted, bool) or not isinstance(wanted, int):
            raise WrongTypeError(f"the number of queries must be a whole number, at least 1, got {k!r}")
        if wanted < 1:
            raise InputError(f"the number of queries must be a whole number, at least 1, got {k!r}")
        with self._lock:
            for attempt in range(_ATTEMPTS):
                moment = self.moment()
                history = moment.history
                plan = plan_queries(history, moment.rules, who, wanted, moment.now)
                drafts, lack = draft_queries(moment, plan, who, self.follow(history) if plan.fresh else None)
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
            history = self.refresh()
            queries = [
                Query.from_log(logged, self.name_of(logged.node), history.classes)
                for logged in history.asked
                if logged.event in events
            ]
            return queries[0] if k is None else queries

    def tell(
        self,
        node: int | str | Sequence[int | str] | npt.NDArray[Any],
        label: object,
        annotator: str = ANNOTATOR,
        *,
        new_class: bool = False,
        overrule: bool = False,
    ) -> int | list[int]:
        """Give a node its label, asked for or not; again, to change it.

        Sequences of nodes and labels are told together, all or none.

        Args:
            node: index or name, or several.
            label: the class's name, a text or a whole number, or one for each node.
            annotator: who says so.
            new_class: take the label as a new class, even if it looks like a misspelt one.
            overrule: let this label count, whatever others have said of the node.

        Returns:
            The number of the event in the log, for `undo`; a list of them for several nodes.

        Raises:
            InputError: there is no such node; or the label is probably misspelt, means unlabelled, or is none of a
                closed list of classes. Nothing was told.
            WrongTypeError: the label is True, False, bytes or something else that is no name. Nothing was told.
            AlreadyLabelledError: where one label a node is enough, somebody else has given another one; says who.
                Nothing was told.
        """
        many = not isinstance(node, str) and (isinstance(node, Sequence) or np.ndim(node) == 1)
        nodes: Any = node if many else [node]
        answers = self._among_rows(
            lambda: Answers.check(self._contents, nodes, label, annotator, new_class, overrule, self._alone)
        )
        numbers = [event.id for event in self._change(answers.as_tells)]
        return numbers if many else numbers[0]

    def tell_bulk(
        self,
        nodes: Sequence[int | str] | npt.NDArray[Any],
        label: object,
        annotator: str = ANNOTATOR,
        *,
        new_class: bool = False,
        overrule: bool = False,
    ) -> int:
        """Label many nodes in one go, such as a region of the map or a list of predictions that are right.

        They train the classifier, spend no budget, and are taken back as one. No accuracy is measured on them, since
        nobody has looked at each for itself: they count neither for the audit nor for cross-validation.

        Args:
            nodes: indices or names.
            label: a class's name for all, or one for each.
            annotator: as for `tell`.
            new_class: as for `tell`.
            overrule: as for `tell`.

        Returns:
            The number of the event in the log.
        """
        answers = self._among_rows(
            lambda: Answers.check(self._contents, list(nodes), label, annotator, new_class, overrule, self._alone)
        )
        return self._change(answers.as_bulk)[0].id

    def suggest(self, name: str, answers: Any, confidence: Any = None, annotator: str = ANNOTATOR) -> int:
        """Take what a model says of the nodes: a language model, rules, last year's classifier.

        Suggestions are no labels: they spend no budget and no vote counts them. The learner begins with them, and
        believes each model as far as people's labels bear it out. An answer that names no class of the job is left out
        and counted; where there are no classes yet, the model's become the job's. Said again, a node's latest answer
        counts; `undo` takes an event back.

        Args:
            name: what the model is called.
            answers: node -> label in a dictionary or a Series; one label a node in a list or an array, None where the
                model says nothing; a function that is given each node's columns; a column of the graph; a CSV file.
            confidence: how sure it is, from 0 to 1: a number, or in the form of `answers`.
            annotator: who has brought it.

        Returns:
            The number of the event in the log.

        Raises:
            InputError: something given is wrong, or the classifier cannot begin with what models say.
        """
        who = valid_person(annotator)
        if not can(self._learners.classifier, "own-centre"):
            raise refusal(self._learners.classifier, "own-centre", f"{name!r} has suggestions")
        given = read_given(self._contents, answers, confidence)
        return self._change(partial(draft_suggestions, who, name, given))[0].id

    def skip(self, node: int | str, annotator: str = ANNOTATOR) -> int:
        """Say that a node cannot be labelled; the annotator is not asked again, and it spends no budget.

        Returns the event's number.
        """
        who, index = valid_person(annotator), self.find(node)
        return self._change(partial(changes.skip, who, index, self.name_of(index)))[0].id

    def add_note(self, node: int | str, text: str, annotator: str = ANNOTATOR) -> int:
        """Write something to a node for everybody to read. Returns the event's number."""
        return self._change(partial(changes.note, valid_person(annotator), self.find(node), text))[0].id

    def settle(self, node: int | str, label: str, annotator: str = ANNOTATOR) -> int:
        """Decide a disagreement: the label counts whatever the votes say, and nobody is asked about the node again.

        Returns the event's number.

        Raises:
            InputError: nobody has labelled the node, or there is no such class.
        """
        who, index = valid_person(annotator), self.find(node)
        return self._change(partial(changes.settle, who, index, self.name_of(index), label))[0].id

    def add_class(self, name: str, annotator: str = ANNOTATOR, *, new_class: bool = False) -> int:
        """Declare a class that nobody has used yet. The classifier takes it in with its first label.

        Returns the event's number.

        Args:
            name: what it is called.
            annotator: who says so.
            new_class: declare it even if it looks like a known class misspelt.
        """
        closed = self.settings.closed_classes
        return self._change(partial(changes.declare, valid_person(annotator), name, new_class, closed))[0].id

    def rename_class(self, name: str, new_name: str, annotator: str = ANNOTATOR) -> int:
        """Call a class something else: its labels, its number and every prediction stay. Returns the event's number."""
        return self._change(partial(changes.rename, valid_person(annotator), name, new_name))[0].id

    def merge_classes(self, name: str, into: str, annotator: str = ANNOTATOR) -> int:
        """Let the labels of one class, those told already and later ones, count as another's.

        Returns the event's number.
        """
        return self._change(partial(changes.merge, valid_person(annotator), name, into))[0].id

    def describe_class(self, name: str, text: str, annotator: str = ANNOTATOR) -> int:
        """Say what belongs to a class: its guideline. Returns the event's number."""
        return self._change(partial(changes.describe, valid_person(annotator), name, text))[0].id

    def order_classes(self, names: Sequence[str], annotator: str = ANNOTATOR) -> int:
        """Put the classes in an order for the screen; those left out follow. Their numbers stay.

        Returns the event's number.
        """
        return self._change(partial(changes.order, valid_person(annotator), names))[0].id

    def set_guideline(self, text: str, annotator: str = ANNOTATOR) -> int:
        """Say what everybody should know of the job. Returns the event's number."""
        return self._change(partial(changes.describe, valid_person(annotator), None, text))[0].id

    def set_budget(self, budget: int, annotator: str = ANNOTATOR) -> int:
        """Raise or lower the budget. Returns the event's number."""
        who = valid_person(annotator)
        return self._change(partial(changes.change_budget, who, budget, self.graph.num_nodes))[0].id

    def set_redundancy(self, redundancy: int, annotator: str = ANNOTATOR) -> int:
        """Change how many are to label each node: raised, further opinions on what is labelled are asked for.

        Returns the event's number.
        """
        return self._change(partial(changes.change_redundancy, valid_person(annotator), redundancy))[0].id

    def add_rows(
        self,
        rows: Any,
        annotator: str = ANNOTATOR,
        *,
        encoder: Callable[[list[str]], Any] | None = None,
        folder: str | Path | None = None,
    ) -> range:
        """Add rows to the job; gives their numbers. Labels, open queries and the audit stay as they are.

        They get the next numbers and are joined to the nodes that they are nearest to; the edges among the old rows
        stay. Where the job has an audit, as large a share of them is drawn for it as of the first rows. One event,
        which an undo takes back: the rows are then taken out.

        Args:
            rows: as the graph was made: a list of texts; a table (a file, a data frame, column -> cells, a list of
                dicts); pictures' files; or numbers [row, feature].
            annotator: who adds them.
            encoder: the one that the graph was made with, where it was.
            folder: that paths of pictures are relative to.

        Raises:
            GraphError: the graph does not say how its rows became features, or the rows do not fit it.
        """
        who = valid_person(annotator)
        for _ in range(_ATTEMPTS):
            with self._lock:
                self.refresh()
                graph = self.graph
            packed = packed_graph(added_rows(graph, rows, encoder=encoder, folder=folder))

            def decide(history: History, graph: Graph = graph, packed: tuple[int, bytes] = packed) -> list[Draft]:
                if self.graph is not graph:
                    raise MovedOnError("rows were added meanwhile")
                count, content = packed
                body = {"first": graph.num_nodes, "count": count}
                audit = self._contents.draw_share(count, history.last + 1)
                return [Draft("rows", who, {**body, "audit": audit}, {"rows": content})]

            try:
                body = self._change(decide)[0].body
            except MovedOnError:
                continue
            return range(body["first"], body["first"] + body["count"])
        raise SessionError(f"rows are added to the session {str(self.path)!r} without a pause: try again")

    def remove_rows(self, rows: Sequence[int | str] | npt.NDArray[Any], annotator: str = ANNOTATOR) -> int:
        """Take rows out of the job: they are not asked, not trained on and not exported, and keep their numbers.

        They stay in the file, and in the graph as neighbours of others. Returns the event's number.

        Args:
            rows: indices or names.
            annotator: who says so.
        """
        who, nodes = valid_person(annotator), [self.find(row) for row in rows]
        return self._change(partial(changes.remove, who, nodes))[0].id

    def join(self, other: str | Path, annotator: str = ANNOTATOR, *, me: str | None = None) -> int:
        """Take over the labels of another job of the same rows, with who gave them and when; gives how many.

        Classes are those of the same name. Where people disagree, both answers stand, and the disagreement is there to
        settle. What is here already is not taken twice. One event, which an undo takes back.

        Args:
            other: its file, which is left as it is.
            annotator: who joins them.
            me: who is called ``me`` there, where that is somebody else than ``me`` here.

        Raises:
            InputError: the rows are others, or there is nothing new.
        """
        who = valid_person(annotator)
        theirs = _other_job(other, self, None if me is None else valid_person(me))
        closed = self.settings.closed_classes
        audit = frozenset(self.rules().audit)
        joined = self._change(lambda now: draft_join(who, theirs, self._log.events, audit, closed, now))
        return len(joined[0].body["nodes"])

    def release(self, annotator: str, by: str | None = None) -> int:
        """Free the queries that an annotator has not answered, since they have left or go by another name now.

        Args:
            annotator: whose queries.
            by: who says so; the annotator by default.

        Returns:
            How many were freed; where there were none, nothing is written.
        """
        who, freed = valid_person(annotator), 0

        def decide(history: History) -> list[Draft]:
            nonlocal freed
            waiting = history.open_queries(Rules.of(self._contents, history).redundancy)
            freed = sum(query.annotator == who for query in waiting)
            return [Draft("release", valid_person(by or who), {"annotator": who})] if freed else []

        self._change(decide)
        return freed

    def undo(self, event: int | None = None, annotator: str | None = None) -> Event:
        """Take back the last thing told, skipped, written, declared or set.

        Or any one of them, or an undo, by its number.

        Args:
            event: its number in the log; the last by default.
            annotator: whose last one; anybody's by default.

        Returns:
            What was taken back.

        Raises:
            SessionError: there is nothing to take back, or two classes would have one name.
        """
        target: Event | None = None

        def decide(history: History) -> list[Draft]:
            nonlocal target
            target = changes.undoable(self._log.events, history, event, annotator)
            draft = Draft("undo", annotator or target.annotator, {"event": target.id})
            changes.check_undo(self._log.events, draft, self._contents.first_classes)
            return [draft]

        self._change(decide)
        assert target is not None
        return target

    def predict(self, reporter: Reporter | None = None) -> Prediction:
        """Probabilities for all nodes, from a copy of the classifier that was trained the closing epochs.

        The session itself stays as it is. Before the first label each class is as likely as any other, and the class of
        every node is unknown; a classifier that is trained says nothing then.

        Args:
            reporter: hears of the progress. The work is then done on a classifier of its own, so that the reporter may
                ask and tell meanwhile; the numbers are the same.

        Raises:
            SessionError: nothing has been told yet, and there is no class, or the classifier is one that is trained.
        """
        with self._lock:
            return self._predict(self.refresh(), reporter)

    def status(self) -> Status:
        """How far the job is, read off the log alone."""
        with self._lock:
            return make_status(self.moment())

    def stop_report(self, reporter: Reporter | None = None) -> StopReport:
        """Whether more labels are worth it; see `StopReport`."""
        from nodewise.session.learning.stopping import make_report

        with self._lock:
            moment = self.moment()
            learner = self.separate_learner(moment.history, "report")
            return make_report(moment, self.training(moment.history), learner, reporter)

    def export(self, path: str | Path, *, keep_formulas: bool = False, format: ExportFormat | None = None) -> list[str]:
        """Write labels and predictions to a file: .csv, .json, .npz or .pt (plain tensors), by its ending.

        Returns what it wrote, in words.

        Args:
            path: where to; never over the session's own file or its graph.
            keep_formulas: in a CSV, leave cells that a spreadsheet would run (``=``, ``@``, ``+``, ``-`` …) as they
                are. By default such a cell gets an apostrophe in front.
            format: ``"full"`` makes a .csv of the whole job: the graph's own columns and texts, labels, predictions,
                every vote, the notes. ``"label-studio"`` makes a .json of tasks that Label Studio imports. None: the
                ending says the form.
        """
        writer = find_writer(Path(path), format, keep_formulas=keep_formulas)
        self.check_output(path)
        with self._lock:
            moment = self.moment()
            prediction = self._predict(moment.history) if self._predicts(moment.history) else None
            return write_export(moment, prediction, Path(path), writer)

    def check_output(self, path: str | Path) -> None:
        """Refuse a path that is the session's own file, what lies beside it, or its graph, by whatever name.

        Raises:
            InputError: says what it is.
        """
        self._log.check_output(Path(path))

    def backup(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Copy the session's file safely, also while others are writing to it."""
        with self._lock:
            self._log.backup(path, overwrite=overwrite)

    def close(self) -> None:
        """Let go of the file. Nothing is lost without it."""
        with self._lock:
            self._log.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def labels(self) -> dict[int, str]:
        """node -> label that counts: the majority's where somebody has told it, else the one given with the graph."""
        with self._lock:
            return dict(self.moment().labels)

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes so far, by their numbers."""
        return tuple(each.name for each in self.class_list)

    @property
    def class_list(self) -> ClassList:
        """The classes with their numbers, guidelines and order."""
        with self._lock:
            return self.refresh().classes

    @property
    def guideline(self) -> str:
        """What everybody should know of the job."""
        with self._lock:
            return self.refresh().guideline

    @property
    def notes(self) -> Mapping[int, tuple[Note, ...]]:
        """node -> what was written to it, the oldest first."""
        with self._lock:
            return self.refresh().notes

    @property
    def done(self) -> bool:
        """Whether there is nothing left to ask.

        The budget is spent, or every node is labelled or skipped by somebody, and the audit is complete. Whoever has
        not skipped a node that another has may still ask for it.
        """
        with self._lock:
            return self.moment().done

    @property
    def history(self) -> Sequence[tuple[int, str]]:
        """The labels that the classifier learns from, in order, without the given ones."""
        with self._lock:
            history = self.refresh()
            return [(label.node, history.labels[label.node]) for label in self.training(history).told]

    @property
    def events(self) -> Sequence[Event]:
        """Everything in the log, the oldest first."""
        with self._lock:
            self.refresh()
            return tuple(self._log.events)

    @property
    def suggestions(self) -> tuple[Suggestions, ...]:
        """What models say, each by itself; empty where none has said anything."""
        with self._lock:
            return self._models.all(self.refresh())

    def model_reports(self) -> list[ModelReport]:
        """How right each model is, by people's labels and, fairly, by the audit, with 95 % intervals."""
        from nodewise.session.learning.suggested import report_models

        with self._lock:
            moment = self.moment()
            return report_models(moment, self._models.all(moment.history))

    def model_disagreements(self, most: int = 50) -> list[Disagreement]:
        """Nodes without a label where a model says something else than the learner, the surest learner first."""
        from nodewise.session.learning.suggested import find_disagreements

        with self._lock:
            moment = self.moment()
            said = self._models.all(moment.history)
            if not said:
                return []
            prediction = self._predict(moment.history)
            return find_disagreements(moment, said, prediction.names, prediction.confidence.tolist(), most)

    @property
    def audit_labels(self) -> dict[int, str]:
        """The audit's labels so far: node -> label."""
        with self._lock:
            return self.moment().audit_labels

    @property
    def in_place(self) -> bool:
        """Whether the file that was opened still lies where it was."""
        return self._log.in_place

    def refresh(self) -> History:
        """The log's meaning now, with what other processes have written."""
        self._log.refresh()
        return self._extend()

    def moment(self) -> Moment:
        """What is known now, with what other processes have written: all that work on the session is given."""
        with self._lock:
            return Moment.at(self._contents, self.refresh(), self.now())

    def rules(self) -> Rules:
        """Budget, redundancy and audit as they are now."""
        return Rules.of(self._contents, self._history)

    def training(self, history: History) -> TrainingLabels:
        """What the classifier learns from.

        The labels told, in order, and those given with the graph as they stand now. Made once for each state of them,
        since much asks for it and a query changes nothing.
        """
        kept = self._training
        if kept is None or kept[0] is not history.numbers or kept[1] is not history.classes:
            labels = Moment.at(self._contents, history, self.now()).training_labels()
            kept = self._training = (history.numbers, history.classes, labels)
        return kept[2]

    def follow(self, history: History) -> SessionLearner:
        """The classifier brought to the labels that count."""
        told, given = self.training(history)
        learner = self._learners.get("ask", given)
        learner.hear(self._models.for_learner(history))
        learner.follow(told, given)
        return learner

    def separate_learner(self, history: History, purpose: Literal["predict", "report"]) -> SessionLearner:
        """Another classifier than the one that `follow` gives, as it was left when last used.

        For long work that gives its reporter the chance to use the session.
        """
        learner = self._learners.get(purpose, self.training(history).given)
        learner.hear(self._models.for_learner(history))
        return learner

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

    def name_of(self, node: int) -> str:
        """What the node is called."""
        return self._contents.name_of(node)

    def now(self) -> float:
        """The time, by the session's clock."""
        return self._clock()

    def _extend(self) -> History:
        """The meaning of what has been read of the log; refuses events that nodewise would not have written."""
        before = self._history
        if before.last != self._log.last:
            nodes = self.graph.num_nodes
            for event in self._log.events[before.last :]:
                if wrong := check_event(event, nodes):
                    raise damaged(self.path, f"event {event.id} is not one that nodewise writes: {wrong}")
                nodes += int(event.body["count"]) if event.kind == "rows" else 0
            self._growth.check_claim(self._log, nodes)
            history = extend_history(before, self._log.events, self._contents.first_classes)
            if history.added != before.added or history.gone != before.gone:
                self._follow_rows(history)
            self._history = history
        return self._history

    def _follow_rows(self, history: History) -> None:
        """Bring graph and candidates to the rows that were added and taken out; what learned of others is forgotten."""
        grown = self._growth.with_additions(self._log, history.added, undone(self._log.events))
        same, self.graph, self._contents = grown.graph is self.graph, grown.graph, grown.without(history.gone)
        self._training = self._prediction = None
        self._models = SuggestionReader(self._log, grown.graph.num_nodes)
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
        return check_event(event, self.graph.num_nodes)

    def _change(self, decide: Callable[[History], Sequence[Draft]]) -> Sequence[Event]:
        """Append what is decided on the log as it is then: nobody writes in between."""
        with self._lock:
            events = self._log.append(lambda: self._servable(decide(self._extend())), wrong=self._wrong)
            self._extend()
            return events

    def _servable(self, drafts: Sequence[Draft]) -> Sequence[Draft]:
        """The same events, if the caller's own classifier can go on with them.

        Raises:
            InputError: they bring a class, and the classifier knows those of the start alone.
        """
        classifier = self._own[0]
        if classifier is None or isinstance(classifier, str) or can(classifier, "grow-classes"):
            return drafts
        for draft in drafts:
            body = draft.body
            several = body.get("classes", [])
            named = {"tell": [body.get("class")], "class": [body.get("class")], "bulk": several, "suggest": several}
            named["join"] = several
            if not set(named.get(draft.kind, [])) <= set(self._history.classes.names):
                raise refusal(classifier, "grow-classes", "the job has begun with others")
        return drafts

    @property
    def _alone(self) -> bool:
        """Whether one label a node is enough."""
        return self.rules().redundancy == 1

    def _predicts(self, history: History) -> bool:
        """Whether there is anything to say of all nodes, if only that nothing is known."""
        return (
            any(self.training(history))
            or bool(history.suggested)
            or (bool(len(history.classes)) and not self._learners.classifier.trained)
        )

    def _predict(self, history: History, reporter: Reporter | None = None) -> Prediction:
        training, given = self.training(history)
        if not self._predicts(history):
            raise SessionError("nothing can be predicted before the first label: tell at least one")
        if not training and not given and not history.suggested:
            return uniform_prediction(history.classes, self.graph.num_nodes)
        key = (training, given, history.classes, tuple(event.id for event in history.suggested))
        if self._prediction is None or self._prediction[0] != key:
            learner = self.follow(history) if reporter is None else self.separate_learner(history, "predict")
            learner.follow(training, given, reporter)
            prediction = make_prediction(learner, history.classes, reporter, self._models.labels(history))
            self._prediction = (key, prediction)
            return prediction
        return self._prediction[1]


def _file(path: str | Path, what: str) -> Path:
    """The path of a session's file; SQLite's word for no file is none."""
    if str(path) == ":memory:":
        raise InputError(
            "a session lives in a file, and ':memory:' is none: give a path, in a temporary folder if it need not stay"
        )
    return as_path(path, what)


def _other_job(path: str | Path, session: Session, me: str | None) -> OtherJob:
    """The job in a file, to be joined to a session.

    Raises:
        InputError: its rows are others.
    """
    with Session.open(path) as job:
        history, events, graph = job.refresh(), job.events, job.graph
    if graph.fingerprint != session.graph.fingerprint or graph.node_names != session.graph.node_names:
        raise InputError(
            f"the rows of {str(path)!r} are not those of {str(session.path)!r}: two jobs that were begun with the same"
            " graph can be joined before rows are added to either"
        )
    return OtherJob(Path(path).name, history, events, {} if me is None else {ANNOTATOR: me})
