"""Mistakes in labelling jobs: making them, asking, telling, classes, exports, models' answers, rows."""

from __future__ import annotations

import pytest

import nodewise as nw
from nodewise.session import Query
from tests.mistakes.telling import KARATE, Mistake, World, is_refused

QUERY = Query(3, "3", "me", 1, False, (), 1, 34, None, {}, {})


MISTAKES: list[Mistake] = [
    (
        "a session opened in the memory",
        lambda w: nw.Session.open(":memory:"),
        ValueError,
        "a session lives in a file, and ':memory:' is none: give a path, in a t",
    ),
    (
        "a session over another",
        lambda w: nw.Session.create(w.session.path, KARATE),
        ValueError,
        "already: a new session needs a new name; to go on with it, open it",
    ),
    (
        "graph and file the wrong way round",
        lambda w: nw.Session.create(KARATE, w.folder / "other.nodewise"),
        TypeError,
        "the file of the session was expected, received Graph: give it as a tex",
    ),
    (
        "a session that is not there",
        lambda w: nw.Session.open(w.folder / "none.nodewise"),
        ValueError,
        ": check the path, or make one with 'nodewise session new'",
    ),
    (
        "a session's file that is none",
        lambda w: nw.Session.open(w.folder / "x.nodewise"),
        ValueError,
        "is not a session, or its beginning is damaged: nothing was changed; us",
    ),
    (
        "a setting of sessions misspelt",
        lambda w: nw.Session.create(w.folder / "n", KARATE, buget=3),
        ValueError,
        "unknown setting of Session.create 'buget': did you mean 'budget'?",
    ),
    (
        "a session's budget of 0",
        lambda w: nw.Session.create(w.folder / "n", KARATE, budget=0),
        ValueError,
        "a session's budget must be a whole number, at least 1, got '0'",
    ),
    (
        "a session's budget as a text",
        lambda w: nw.Session.create(w.folder / "n", KARATE, budget="3"),
        TypeError,
        "a session's budget must be a whole number, at least 1, got '3'",
    ),
    (
        "a session's budget beyond the nodes",
        lambda w: nw.Session.create(w.folder / "n", KARATE, budget=50, use_labels=False),
        ValueError,
        "a budget of 50 is more than the 34 nodes that can be asked (0 have a l",
    ),
    (
        "classes as one text",
        lambda w: nw.Session.create(w.folder / "n", KARATE, budget=3, classes="ab", use_labels=False),
        TypeError,
        "classes must be a list of names, got the text 'ab': give ['ab'], or se",
    ),
    (
        "a class twice",
        lambda w: nw.Session.create(w.folder / "n", KARATE, budget=3, classes=["a", "a"], use_labels=False),
        ValueError,
        "classes must have names, each another one, got ['a', 'a']",
    ),
    (
        "classes that are truths",
        lambda w: nw.Session.create(w.folder / "n", KARATE, budget=3, classes=[True, False], use_labels=False),
        TypeError,
        "a class is named by a text or a whole number, got True: give 'True' if",
    ),
    (
        "a closed list without classes",
        lambda w: nw.Session.create(w.folder / "n", nw.Graph.build([[0], [1]], 2), budget=1, closed_classes=True),
        ValueError,
        "the list of classes is to be closed, but it is empty: name the classes",
    ),
    (
        "a closed list as a text",
        lambda w: nw.Session.create(w.folder / "n", KARATE, budget=3, closed_classes="yes"),
        TypeError,
        "a session's closed_classes must be yes or no, got 'yes'",
    ),
    (
        "a candidate that is not there",
        lambda w: nw.Session.create(w.folder / "n", KARATE, budget=3, candidates=[99], use_labels=False),
        ValueError,
        "candidates: there is no node 99, the graph 'karate' has nodes 0 to 33",
    ),
    (
        "zeros and ones as candidates",
        lambda w: nw.Session.create(w.folder / "n", KARATE, budget=3, candidates=[0, 1] * 17, use_labels=False),
        ValueError,
        "candidates are 34 zeros and ones, one for each node: as indices they w",
    ),
    (
        "a session's strategy misspelt",
        lambda w: nw.Session.create(w.folder / "n", KARATE, budget=3, strategy="gian", use_labels=False),
        ValueError,
        "unknown strategy 'gian': did you mean 'gain' or 'margin'? One of your",
    ),
    (
        "a policy beside a strategy",
        lambda w: nw.Session.create(
            w.folder / "n", KARATE, budget=3, strategy="age", policy="cora+citeseer", use_labels=False
        ),
        ValueError,
        "a policy was given, but the strategy is 'age': leave one of them out,",
    ),
    (
        "no queries",
        lambda w: w.session.ask(0),
        ValueError,
        "the number of queries must be a whole number, at least 1, got 0",
    ),
    (
        "a name in place of a number of queries",
        lambda w: w.session.ask("ada"),
        TypeError,
        "the number of queries must be a whole number, at least 1, got 'ada'",
    ),
    (
        "an annotator without a name",
        lambda w: w.session.ask(annotator=" "),
        ValueError,
        "an annotator needs a name of 1 to 200 printable characters, got ''",
    ),
    (
        "a node that is not there",
        lambda w: w.session.tell(99, "a"),
        ValueError,
        "there is no node 99: the graph 'karate' has nodes 0 to 33",
    ),
    (
        "a node's name that is not there",
        lambda w: w.session.tell("Nobody", "a"),
        ValueError,
        "node 'Nobody' is not an index: the graph's nodes have no names, give a",
    ),
    (
        "nothing as a label",
        lambda w: w.session.tell(0, None),
        ValueError,
        "None means unlabelled and is no class: give the class's name, or skip",
    ),
    (
        "NaN as a label",
        lambda w: w.session.tell(0, float("nan")),
        ValueError,
        "nan means unlabelled and is no class: give the class's name, or skip t",
    ),
    (
        "a word for nothing as a label",
        lambda w: w.session.tell(0, "n/a"),
        ValueError,
        "'n/a' means unlabelled and is no class here: skip the node, or if it i",
    ),
    (
        "True as a label",
        lambda w: w.session.tell(0, True),
        TypeError,
        "a class is named by a text or a whole number, got True: give 'True' if",
    ),
    (
        "bytes as a label",
        lambda w: w.session.tell(0, b"a"),
        TypeError,
        "a class is named by a text or a whole number, got the bytes b'a': deco",
    ),
    (
        "half a number as a label",
        lambda w: w.session.tell(0, 1.5),
        ValueError,
        "a class is named by a text or a whole number, got 1.5: give '1.5' if t",
    ),
    (
        "an empty label",
        lambda w: w.session.tell(0, "  "),
        ValueError,
        "a class needs a name of 1 to 200 printable characters, got ''",
    ),
    (
        "a label misspelt",
        lambda w: w.session.tell(0, "alhpa"),
        ValueError,
        "unknown class 'alhpa': did you mean 'alpha'? If it is a new class, say",
    ),
    (
        "more labels than nodes",
        lambda w: w.session.tell([0, 1], ["alpha"]),
        ValueError,
        "2 nodes but 1 label: give one for each",
    ),
    ("no node", lambda w: w.session.tell([], []), ValueError, "no node is named: give at least one"),
    (
        "a label outside a closed list",
        lambda w: w.closed.tell(0, "gamma", new_class=True),
        ValueError,
        "unknown class 'gamma': known: alpha, beta. This session takes no other",
    ),
    (
        "a class outside a closed list",
        lambda w: w.closed.add_class("alpa"),
        ValueError,
        "unknown class 'alpa': did you mean 'alpha'? This session takes no othe",
    ),
    (
        "a class that is there already",
        lambda w: w.session.add_class("alpha"),
        ValueError,
        "there is a class 'alpha' already: use it, or give another name",
    ),
    (
        "a class that is not there renamed",
        lambda w: w.session.rename_class("gamma", "delta"),
        ValueError,
        "unknown class 'gamma': known: alpha, beta.",
    ),
    (
        "a class merged with itself",
        lambda w: w.session.merge_classes("alpha", "alpha"),
        ValueError,
        "'alpha' and 'alpha' are one class already: give two different ones",
    ),
    (
        "an order that is a text",
        lambda w: w.session.order_classes("alpha"),
        TypeError,
        "the order must be a list of classes, got the text 'alpha': give ['alph",
    ),
    (
        "a node settled that nobody labelled",
        lambda w: w.session.settle(5, "alpha"),
        ValueError,
        "nobody has labelled node '5', or its answer is known, so there is nothing to",
    ),
    ("nothing to undo", lambda w: w.session.undo(), nw.NodewiseError, "there is nothing to undo"),
    (
        "an event that is not there undone",
        lambda w: w.session.undo(99),
        ValueError,
        "there is no event 99 to undo: the log is empty",
    ),
    (
        "a budget below 1",
        lambda w: w.session.set_budget(0),
        ValueError,
        "a budget must be a whole number from 1 to the graph's 34 nodes, got 0",
    ),
    (
        "a note that is a number",
        lambda w: w.session.add_note(0, 7),
        ValueError,
        "a note or a guideline must be a text of at most 20,000 characters, got",
    ),
    (
        "an export of no known form",
        lambda w: w.session.export(w.folder / "labels.doc"),
        ValueError,
        "cannot export to 'labels.doc': the ending must be one of .csv, .json,",
    ),
    (
        "an export over the session",
        lambda w: w.session.export(w.session.path),
        ValueError,
        "cannot export to 'open.nodewise': the ending must be one of .csv, .jso",
    ),
    (
        "an export where no folder is",
        lambda w: w.session.export(w.folder / "none" / "labels.csv"),
        ValueError,
        "for the export: make it first",
    ),
    (
        "a format misspelt",
        lambda w: w.session.export(w.folder / "labels.csv", format="ful"),
        ValueError,
        "unknown format 'ful': did you mean 'full'? Without one the ending of t",
    ),
    (
        "a closed session asked",
        lambda w: w.ended.ask(),
        nw.NodewiseError,
        "this session was closed: to go on, open it again with Session.open",
    ),
    (
        "a closed session told",
        lambda w: w.ended.tell(0, "alpha"),
        nw.NodewiseError,
        "this session was closed: to go on, open it again with Session.open",
    ),
    (
        "a closed session's status",
        lambda w: w.ended.status(),
        nw.NodewiseError,
        "this session was closed: to go on, open it again with Session.open",
    ),
    (
        "a query in place of its node",
        lambda w: w.session.tell(QUERY, "alpha"),
        ValueError,
        "a node is given by its index or its name, got a Query: give its .node",
    ),
    (
        "two classes where a row has one",
        lambda w: w.session.tell(0, ["alpha", "beta"]),
        ValueError,
        "1 node but 2 labels: give one for each; a row has one class here, sets are for jobs",
    ),
    (
        "nobody as an annotator",
        lambda w: w.session.ask(annotator=None),
        TypeError,
        "an annotator is named by a text, got None: give a name such as 'ada'",
    ),
    (
        "rows in place of a person",
        lambda w: w.session.release([3]),
        TypeError,
        "an annotator is named by a text, got [3]: give a name such as 'ada'",
    ),
    (
        "a model without a name",
        lambda w: w.session.suggest("", {0: "alpha"}),
        ValueError,
        "a model needs a name of 1 to 200 printable characters, got ''",
    ),
    (
        "answers of a model that name no class",
        lambda w: w.session.suggest("m", {0: "alhpa"}),
        ValueError,
        "no answer of 'm' names a class of the job (alpha, beta), it says alhpa: check the spe",
    ),
    (
        "answers of a model that are none",
        lambda w: w.session.suggest("m", None),
        TypeError,
        "a model's answers must be a dictionary, one label a node, a function,",
    ),
    (
        "a model that is surer than sure",
        lambda w: w.session.suggest("m", {0: "alpha"}, 1.5),
        ValueError,
        "a confidence must be a number from 0 to 1, got 1.5",
    ),
    (
        "too few answers of a model",
        lambda w: w.session.suggest("m", ["alpha"] * 3),
        ValueError,
        "3 answers for 34 nodes: give one for each node, None where the model s",
    ),
    (
        "rows for a graph that does not say how",
        lambda w: w.session.add_rows(["a text"]),
        ValueError,
        "the graph 'karate' does not say how its rows became features, so new r",
    ),
    (
        "rows taken out that are not there",
        lambda w: w.session.remove_rows([99]),
        ValueError,
        "there is no node 99: the graph 'karate' has nodes 0 to 33",
    ),
    (
        "no rows taken out",
        lambda w: w.session.remove_rows([]),
        ValueError,
        "there is no row to take out: give at least one that is still in the jo",
    ),
    (
        "no rows given away",
        lambda w: w.session.assign([0], "ada", most=0),
        ValueError,
        "the number of rows must be a whole number, at least 1, got 0",
    ),
    (
        "a graph in place of another job",
        lambda w: w.session.join(KARATE),
        TypeError,
        "the file of a session was expected, received Graph: give it as a text",
    ),
    (
        "another job that is not there",
        lambda w: w.session.join(w.folder / "none.nodewise"),
        nw.NodewiseError,
        "check the path, or make one with 'nodewise session new'",
    ),
    (
        "trust as a text",
        lambda w: nw.Session.create(w.folder / "n", KARATE, budget=3, trust="yes", use_labels=False),
        TypeError,
        "a session's trust must be yes or no, got 'yes'",
    ),
    (
        "several classes as a text",
        lambda w: nw.Session.create(w.folder / "n", KARATE, budget=3, several="yes", use_labels=False),
        TypeError,
        "a session's several must be yes or no, got 'yes'",
    ),
    (
        "zeros and ones in place of a mask of nodes told",
        lambda w: w.session.tell([0, 1] * 17, "alpha"),
        ValueError,
        "nodes are 34 zeros and ones, one for each node: as indices they w",
    ),
    (
        "a mask of other nodes told",
        lambda w: w.session.tell_bulk([True, False], "alpha"),
        ValueError,
        "nodes: a mask needs one True or False for each of the 34 nodes, received [2]",
    ),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake[0])
def test_a_mistake_in_python_is_told(mistake: Mistake, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    is_refused(mistake, world, monkeypatch)
