"""A person's labelling job on one graph, kept in one file."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, overload

import numpy.typing as npt

from nodewise.graph import Graph
from nodewise.graph.nodes import Nodes, are_several
from nodewise.ground.errors import InputError, WrongTypeError
from nodewise.ground.events import Reporter, count, html_table
from nodewise.session.answers import ANNOTATOR, ClassList, Event, valid_person
from nodewise.session.files.creation import create_log, remove_session
from nodewise.session.files.erasing import Erased
from nodewise.session.files.export import ExportFormat, Prediction, find_writer, write_export
from nodewise.session.files.status import Status, make_status
from nodewise.session.job import Job
from nodewise.session.log.contents import EMBED_LIMIT
from nodewise.session.log.database import session_file
from nodewise.session.log.log import Log
from nodewise.session.meaning import changes, row_edits, team
from nodewise.session.meaning.changes import Answers
from nodewise.session.meaning.given import Given, answers_and_confidence, check_models, read_given
from nodewise.session.meaning.history import Note, Query
from nodewise.session.meaning.joining import draft_join, foresee_join
from nodewise.session.meaning.suggestions import Suggestions, check_heard, draft_suggestions, draft_withdrawal
from nodewise.session.settings import NewSettings, SettingsByName, takes_settings

if TYPE_CHECKING:
    from typing import Self, Unpack

    from nodewise.contracts import Classifier, Strategy
    from nodewise.session.files.people import Opinion, PersonReport
    from nodewise.session.learning.mistakes import LikelyMistake
    from nodewise.session.learning.stopping import StopReport
    from nodewise.session.learning.suggested import Disagreement, ModelReport

__all__ = ["ANNOTATOR", "Session"]


class Session(Job):
    """Ask, tell, and go on whenever you like: every label is on the disk when `tell` returns.

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

    @classmethod
    @takes_settings
    def create(
        cls,
        path: str | Path,
        graph: Graph | str | Path,
        *,
        candidates: Nodes | None = None,
        suggestions: Mapping[str, Any] | None = None,
        annotator: str = ANNOTATOR,
        source: str | Path | None = None,
        embed_limit: int = EMBED_LIMIT,
        reporter: Reporter | None = None,
        wait: float = 10.0,
        clock: Callable[[], float] = time.time,
        **settings: Unpack[SettingsByName],
    ) -> Self:
        """Start a labelling job.

        Args:
            path: the file to make; there must be none yet.
            graph: what to label, or its name or path.
            settings: each as `nodewise.session.settings` describes it.
            candidates: the nodes that may be asked, by indices, names or a mask; all by default.
            suggestions: what models say of the nodes from the beginning: name -> answers as `suggest` takes them, or a
                pair of these and the confidence.
            annotator: who brings these.
            source: the file that holds exactly this graph, referred to where it is too large to lie in the session.
            embed_limit: the largest graph, in bytes, that lies in the session's file.
            reporter: hears what was decided.
            wait, clock: as for `open`.

        Raises:
            InputError: something given is wrong; says what to do.
        """
        wanted = NewSettings.by_name(settings)
        said_by = {} if suggestions is None else check_models(suggestions)
        log, learns, asks = create_log(
            session_file(path, "the file of the session"),
            graph,
            wanted,
            candidates=candidates,
            source=source,
            embed_limit=embed_limit,
            reporter=reporter,
            wait=wait,
            clock=clock,
        )
        session = cls(log, clock, learns, made=None if asks is None else (learns, asks))
        try:
            for name, said in said_by.items():
                session.suggest(name, *answers_and_confidence(said, session.graph), annotator)
        except BaseException:  # a job without what it was to begin with is none
            session.close()
            remove_session(log, source)
            raise
        return session

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
    ) -> Self:
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
        log = Log.open(session_file(path, "the file of a session"), wait=wait, clock=clock)
        try:
            return cls(log, clock, classifier, strategy, reporter)
        except BaseException:
            log.close()
            raise

    def __repr__(self) -> str:
        """One line: file, graph, and how far it was when last looked at; nothing is read for it."""
        rules, classes = self.rules(), len(self._history.classes)
        labels = f"{len(rules.told(self._history))} of {count(rules.budget, 'label')}"
        return f"Session({self.path.name!r}: {self.graph.name!r}, {labels}, {count(classes, 'class', 'classes')})"

    def _repr_html_(self) -> str:
        """A small table for notebooks."""
        rules, names = self.rules(), [each.name for each in self._history.classes]
        facts = {"graph": self.graph.name, "labels": f"{len(rules.told(self._history))} of {rules.budget}"}
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
        queries = self._ask(who, wanted)
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

        Sequences of nodes and labels are taken together, all or none.

        Args:
            node: index or name; several, or a mask of True and False.
            label: the class's name, a text or a whole number, or one for each node. Where a node may have several
                classes, a list of them or ``"a;b"``, ``[]`` for none of them; a set is meant for all nodes.
            annotator: who says so.
            new_class: take the label as a new class, even if it looks like a misspelt one.
            overrule: let this label count, whatever others have said of the node.

        Returns:
            The number of the event in the log, for `undo`; a list of them for several nodes.

        Raises:
            InputError: there is no such node; or the label is probably misspelt, means unlabelled, or is none of a
                closed list of classes. Nothing was recorded.
            WrongTypeError: the label is True, False, bytes or something else that is no name. Nothing was recorded.
            AlreadyLabelledError: where one label a node is enough, somebody else has given another one; says who.
                Nothing was recorded.
        """
        many = not isinstance(node, (int, str)) and are_several(node)
        nodes = node if many else [node]
        answers = self._among_rows(
            lambda: Answers.check(self._contents, nodes, label, annotator, new_class, overrule, self._alone, many)
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
            nodes: indices, names or a mask.
            label: a class's name for all, or one for each.
            annotator: as for `tell`.
            new_class: as for `tell`.
            overrule: as for `tell`.

        Returns:
            The number of the event in the log.
        """
        answers = self._among_rows(
            lambda: Answers.check(self._contents, nodes, label, annotator, new_class, overrule, self._alone, True)
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
        check_heard(self.settings, self.path, self._learners.classifier, name)
        return self.suggest_given(name, read_given(self.graph, answers, confidence, self.rules().gone), annotator)

    def suggest_given(self, name: str, given: Given, annotator: str = ANNOTATOR) -> int:
        """Take what a model says, as `read_given` or `read_batch` gave it; else as `suggest`."""
        who = valid_person(annotator)
        check_heard(self.settings, self.path, self._learners.classifier, name)
        return self._change(partial(draft_suggestions, who, name, given))[0].id

    def withdraw(self, name: str, annotator: str = ANNOTATOR) -> list[int]:
        """Take back all that a model has said: its events are undone, and undoing these brings it back.

        Returns:
            The numbers of the events in the log.

        Raises:
            InputError: no model of that name has said anything.
        """
        who, start = valid_person(annotator), self._contents.first_classes
        written = self._change(lambda now: draft_withdrawal(who, name, self._log.events, start, now))
        return [event.id for event in written]

    def skip(self, node: int | str | Sequence[int | str] | npt.NDArray[Any], annotator: str = ANNOTATOR) -> int:
        """Say that a node cannot be labelled; the annotator is not asked again, and it spends no budget.

        Several nodes are skipped as one, and taken back as one. Returns the event's number.
        """
        who = valid_person(annotator)
        named = {index: self.name_of(index) for index in self._each_once(node)}
        return self._change(partial(changes.skip, who, named))[0].id

    def add_note(
        self, node: int | str | Sequence[int | str] | npt.NDArray[Any], text: str, annotator: str = ANNOTATOR
    ) -> int:
        """Write something to a node for everybody to read, or to several as one. Returns the event's number."""
        return self._change(partial(changes.note, valid_person(annotator), self._each_once(node), text))[0].id

    def settle(self, node: int | str, label: str | Sequence[str], annotator: str = ANNOTATOR) -> int:
        """Decide a disagreement: the label counts whatever the votes say, and nobody is asked about the node again.

        Where a node may have several classes, the label is a list of them, as for `tell`. Returns the event's number.

        Raises:
            InputError: nobody has labelled the node, or there is no such class.
        """
        who, index = valid_person(annotator), self.find(node)
        what = self.name_of(index), label
        return self._change(partial(changes.settle, who, index, *what, several=self.settings.several))[0].id

    def add_class(self, name: str, annotator: str = ANNOTATOR, *, new_class: bool = False) -> int:
        """Declare a class that nobody has used yet. The classifier takes it in with its first label.

        Returns the event's number.

        Args:
            name: what it is called.
            annotator: who says so.
            new_class: declare it even if it looks like a known class misspelt.
        """
        who, closed, several = valid_person(annotator), self.settings.closed_classes, self.settings.several
        return self._change(partial(changes.declare, who, name, new_class, closed, several=several))[0].id

    def rename_class(self, name: str, new_name: str, annotator: str = ANNOTATOR) -> int:
        """Call a class something else: its labels, its number and every prediction stay. Returns the event's number."""
        who, several = valid_person(annotator), self.settings.several
        return self._change(partial(changes.rename, who, name, new_name, several=several))[0].id

    def merge_classes(self, name: str, into: str, annotator: str = ANNOTATOR) -> int:
        """Let the labels of one class, those given already and later ones, count as another's.

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
        body = self._change_graph(annotator, partial(row_edits.add_rows, rows, encoder=encoder, folder=folder)).body
        return range(body["first"], body["first"] + body["count"])

    def change_rows(
        self,
        rows: Any,
        annotator: str = ANNOTATOR,
        *,
        encoder: Callable[[list[str]], Any] | None = None,
        folder: str | Path | None = None,
    ) -> int:
        """Put other texts, or other rows, in the place of some. Returns the event's number.

        A row keeps its number, name, labels and notes. Whom it is joined to is found anew; the edges among all others
        stay. `Status.outdated` counts the rows whose label was given to what stood there before. That stays in the log,
        and an undo brings it back.

        Args:
            rows: node -> its new text, its new row (column -> cell; columns that are left out stay) or its new numbers;
                or a table, as a file or a data frame, with a column that names the row.
            annotator: who changes them.
            encoder: as for `add_rows`.
            folder: as for `add_rows`.

        Raises:
            InputError: there is no such row, it was taken out, or nothing would change.
            GraphError: the graph does not say how its rows became features, or the rows do not fit it.
        """
        return self._change_graph(annotator, partial(row_edits.change_rows, rows, encoder=encoder, folder=folder)).id

    def remove_rows(self, rows: Sequence[int | str] | npt.NDArray[Any], annotator: str = ANNOTATOR) -> int:
        """Take rows out of the job: they are not asked, not trained on and not exported, and keep their numbers.

        They stay in the file, and in the graph as neighbours of others. Returns the event's number.

        Args:
            rows: indices, names or a mask.
            annotator: who says so.
        """
        who, nodes = valid_person(annotator), self._find_all(rows)
        return self._change(partial(changes.remove, who, nodes))[0].id

    def erase_rows(
        self, rows: Sequence[int | str] | npt.NDArray[Any], path: str | Path, annotator: str = ANNOTATOR
    ) -> Erased:
        """Write a new file of the job in which nothing is left of some rows but their numbers: for data that must go.

        Gone are texts, former ones too, features, names, edges, labels, notes, what models and reasons said of them.
        All else stays: the labels of others with who and when, the audit, numbers and classes. This file stays as it
        is, and so do backups, exports and the files that rows came from: delete them.

        Args:
            rows: indices, names or a mask; of rows whose addition was taken back, indices.
            path: the new file; there must be none yet.
            annotator: who says so; the new file's last event keeps it.

        Returns:
            What the new file lacks, and where a text or name of the rows still stands.

        Raises:
            InputError: there is no such row, or the path is taken.
        """
        who, target = valid_person(annotator), session_file(path, "the new file")
        return self._erase(rows, target, who)

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
        theirs = self._other_job(other, me)
        closed = self.settings.closed_classes
        audit = frozenset(self.rules().audit)
        joined = self._change(lambda now: draft_join(who, theirs, self._log.events, audit, closed, now))
        return len(joined[0].body["nodes"])

    def preview_join(self, other: str | Path, *, me: str | None = None) -> dict[str, Any]:
        """What `join` would bring, as JSON can hold it; nothing is written.

        The number of ``labels``, the ``people`` who gave them, classes that are ``new`` here, and ``conflicts``: the
        rows on which people then disagree, with what each of them says.

        Raises:
            InputError: as for `join`.
        """
        theirs = self._other_job(other, me)
        with self._lock:
            history, audit = self.refresh(), frozenset(self.rules().audit)
            draft = draft_join(ANNOTATOR, theirs, self._log.events, audit, self.settings.closed_classes, history)[0]
            return foresee_join(draft, self._log.events, history, self.name_of)

    def set_known(
        self, answers: Any, annotator: str = ANNOTATOR, *, percent: int | None = None, counts: bool = False
    ) -> int:
        """Say which rows' answers are known, to see how right people are: they are asked about these now and then.

        Such a question looks like any other. What people answer there trains nothing and spends no budget;
        `person_reports` tells how right each of them is. Nobody is asked about what they said here themselves. Whoever
        labels such a row without having been asked makes it an ordinary one, until that label is taken back.

        Args:
            answers: node -> label in a dictionary or a Series; one label a node in a list, None where it is not known;
                a column of the graph, which the studio then shows nobody; a CSV file with the node and its label. An
                empty dictionary: none beside those that there are.
            annotator: who knows.
            percent: how many of a hundred questions are about these from now on; None: as it was.
            counts: whether they are labels of the job as well; they train nothing in either case, since a prediction
                would give them away.

        Returns:
            The event's number.

        Raises:
            InputError: a row has a label already or is drawn for the audit, or a label is none of the classes.
        """
        who = valid_person(annotator)
        known = team.Known.read(self.moment(), answers, percent, counts)
        return self._change_now(partial(known.draft, who))[0].id

    def assign(
        self,
        nodes: Sequence[int | str] | npt.NDArray[Any],
        annotator: str,
        by: str = ANNOTATOR,
        *,
        most: int | None = None,
    ) -> list[int]:
        """Give rows to somebody: `ask` asks them about these first, also where the budget is spent.

        Others are not asked about them until the time for an answer has passed, or `release` frees them. Left out are
        rows that need no further opinion, that are with somebody else, or that this annotator has answered.

        Args:
            nodes: indices or names, or a mask, in the order in which they are to be asked.
            annotator: who gets them.
            by: who gives them.
            most: how many at most; None: all of them.

        Returns:
            The nodes that were given; where there are none, nothing is written.
        """
        who, giver = valid_person(annotator), valid_person(by)
        if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 1):
            raise InputError(f"the number of rows must be a whole number, at least 1, got {most!r}")
        asked = self._change_now(partial(team.assign, giver, who, self._find_all(nodes), most))
        return [event.body["node"] for event in asked]

    def release(
        self, annotator: str, by: str | None = None, nodes: Sequence[int | str] | npt.NDArray[Any] | None = None
    ) -> int:
        """Free the queries that an annotator has not answered, since they have left or go by another name now.

        Args:
            annotator: whose queries.
            by: who says so; the annotator by default.
            nodes: these alone, such as those that `assign` gave; None: all of them.

        Returns:
            How many were freed; where there were none, nothing is written.
        """
        who = valid_person(annotator)
        freed = team.Release(valid_person(by or who), who, None if nodes is None else self._find_all(nodes))
        self._change_now(freed.draft)
        return freed.count

    def undo(self, event: int | None = None, annotator: str | None = None) -> Event:
        """Take back the last thing labelled, skipped, written, declared or set.

        Or any one of them, or an undo, by its number.

        Args:
            event: its number in the log; the last by default.
            annotator: whose last one; anybody's by default.

        Returns:
            What was taken back.

        Raises:
            SessionError: there is nothing to take back, or two classes would have one name.
        """
        start = self._contents.first_classes
        written = self._change(lambda now: changes.undo(self._log.events, now, event, annotator, start))[0]
        return self._log.events[int(written.body["event"]) - 1]

    def predict(self, reporter: Reporter | None = None) -> Prediction:
        """Probabilities for all nodes, from a copy of the classifier that was trained the closing epochs.

        The session itself stays as it is. Before the first label each class is as likely as any other, and the class of
        every node is unknown; a classifier that is trained says nothing then.

        Args:
            reporter: hears of the progress. The work is then done on a classifier of its own, so that the reporter may
                ask and tell meanwhile; the numbers are the same.

        Raises:
            SessionError: nothing is labelled yet, and there is no class, or the classifier is one that is trained.
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def labels(self) -> dict[int, str]:
        """node -> label that counts: the majority's where somebody has labelled it, else the one given with the graph.

        Where a node may have several classes, ``;`` stands between them, alone for none of them; `label_sets` has them
        one by one.
        """
        with self._lock:
            return dict(self.moment().labels)

    @property
    def label_sets(self) -> dict[int, tuple[str, ...]]:
        """node -> the classes that count, by their names: one, or where a node may have several any number."""
        with self._lock:
            return self.moment().label_sets

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

    def person_reports(self) -> list[PersonReport]:
        """What can be said of each person's work: labels, time from question to answer, agreement with others."""
        from nodewise.session.files.people import report_people

        with self._lock:
            return report_people(self.moment(), self.events)

    def opinions(self) -> list[Opinion]:
        """Who says what of which node, when they said it, and what counts."""
        from nodewise.session.files.people import find_opinions

        with self._lock:
            return find_opinions(self.moment(), self.events)

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

    def likely_mistakes(self, most: int = 50) -> list[LikelyMistake]:
        """Labels that all others speak against, the least trusted first; nothing is changed by looking.

        Of a classifier that cannot leave a label out, none. What people have settled, overruled or said alike is none.
        """
        from nodewise.session.learning.mistakes import find_mistakes

        with self._lock:
            moment = self.moment()
            learner = self._learned(moment.history, "label-trust")
            given = self._trust.of(moment.history, self.graph.num_nodes)
            return [] if learner is None else find_mistakes(moment, learner, given, most)

    def unlike_labels(self) -> list[int]:
        """The nodes that stand out as unlike all labelled ones, the most unlike first; nothing is changed by looking.

        A class that nobody has named may hide among them. Of a classifier without views, and with fewer than 20 labels,
        none; nodes that were taken out are none, nor are those of the audit, which are to be judged one by one.
        """
        from nodewise.session.learning.unlike import unlike_to_look_at

        with self._lock:
            moment = self.moment()
            learner = self._learned(moment.history, "posterior")
            return [] if learner is None else unlike_to_look_at(moment, learner)

    @property
    def audit_labels(self) -> dict[int, str]:
        """The audit's labels so far: node -> label."""
        with self._lock:
            return self.moment().audit_labels
