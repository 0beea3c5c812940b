"""Jobs in which a node may have several classes: a person's way, what is refused, and what comes out."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nodewise as nw
from nodewise.contracts import Capability
from nodewise.graph.knn.knn import knn_from_tasks
from nodewise.ground.errors import (
    AlreadyLabelledError,
    GraphError,
    InputError,
    SessionError,
    SessionFileError,
    UnknownNameError,
)
from nodewise.session import Session
from nodewise.session.answers import Event, check_event
from nodewise.session.learning.estimates import micro_f1
from nodewise.session.log.log import Log
from nodewise.strategies import make_strategy
from tests.session.jobs import small_job, unlabelled
from tests.small_graphs import block_graph


def job(tmp_path: Path, **options: Any) -> Session:
    return small_job(tmp_path / "job.nodewise", several=True, classes=["a", "b", "c"], **options)


@pytest.fixture(scope="module")
def overlapping() -> nw.Graph:
    return nw.datasets.overlapping_graph(nodes=120, classes=3, seed=1)


def sets_of(graph: nw.Graph) -> list[list[str]]:
    assert graph.y_sets is not None
    return [[graph.class_names[number] for number in np.flatnonzero(row)] for row in graph.y_sets]


def test_a_classs_number_in_a_set_makes_no_class(tmp_path: Path) -> None:
    with job(tmp_path) as session:
        for said in ([0], ["a", 1], {2}, np.array([0, 1])):
            with pytest.raises(UnknownNameError, match="not by its number"):
                session.tell(0, said)
        assert session.classes == ("a", "b", "c") and not session.label_sets
        session.tell(0, ["a", 2019])  # no number of a class
        session.tell(1, [0], new_class=True)
        assert session.label_sets == {0: ("a", "2019"), 1: ("0",)}


@pytest.mark.parametrize("said", ["a,b", "a | b", ["a, c"], "a/b/c"])
def test_known_classes_with_another_mark_between_them_make_no_class(tmp_path: Path, said: Any) -> None:
    with job(tmp_path) as session:
        with pytest.raises(UnknownNameError, match="Several are written 'a;"):
            session.tell(0, said)
        assert session.classes == ("a", "b", "c") and not session.label_sets
        session.tell(0, said, new_class=True)
        assert len(session.classes) == 4
        session.tell(1, "a,d")  # not all of them are known
        assert session.label_sets[1] == ("a,d",)


def test_sets_are_told_changed_undone_and_there_again_when_reopened(tmp_path: Path) -> None:
    with job(tmp_path) as session:
        session.tell(0, ["b", "a"])
        session.tell(1, [])
        session.tell(2, "b;c")
        session.tell([3, 4, 5], [["a"], "b; a", []])
        session.tell([6, 7], {"c"})
        session.tell_bulk([8, 9], "a;c")
        assert session.label_sets[0] == ("a", "b") and session.label_sets[1] == ()
        assert session.labels == {
            0: "a;b",
            1: ";",
            2: "b;c",
            3: "a",
            4: "a;b",
            5: ";",
            6: "c",
            7: "c",
            8: "a;c",
            9: "a;c",
        }
        session.tell(0, ["c"])
        assert session.labels[0] == "c"
        session.undo()
        assert session.labels[0] == "a;b" and session.status().told == 8
        session.undo()  # all that was told in bulk
        assert 8 not in session.labels
        assert not session.status().skipped and session.status().none == 2
    with Session.open(tmp_path / "job.nodewise") as session:
        assert session.settings.several and session.labels[2] == "b;c" and session.label_sets[5] == ()
        assert session.status().balance == {"a": 3, "b": 3, "c": 3}


def test_new_classes_closed_lists_names_and_merging(tmp_path: Path) -> None:
    with job(tmp_path) as session:
        session.tell(0, ["a", "quite new"])
        assert session.classes == ("a", "b", "c", "quite new")
        with pytest.raises(UnknownNameError, match="quite new"):
            session.tell(1, ["quite nev", "a"])
        assert 1 not in session.labels
        with pytest.raises(InputError, match="cannot be called 'x;y' where a node may have several"):
            session.add_class("x;y")
        with pytest.raises(InputError, match="';' stands between"):
            session.rename_class("a", "x;y")
        with pytest.raises(InputError, match="holds a list itself"):
            session.tell(1, [["a"]])
        session.tell([1], [["a", "b"]])  # of a list of one node as of any other
        session.tell_bulk([2], [[]])
        assert session.label_sets[1] == ("a", "b") and session.label_sets[2] == ()
        session.tell(1, ["a", "b"])
        session.merge_classes("b", "a")
        assert session.labels[1] == "a"
        session.tell(2, ["a", "b"])  # two names of one class
        assert session.label_sets[2] == ("a",)
        session.rename_class("a", "first")
        assert session.labels[0] == "first;quite new"
    with small_job(tmp_path / "closed.nodewise", several=True, closed_classes=True) as session:
        with pytest.raises(UnknownNameError, match="its list of classes is closed"):
            session.tell(0, ["a", "z"])
        session.tell(0, ["a", "b"])


def test_people_vote_class_by_class_and_a_disagreement_is_settled(tmp_path: Path) -> None:
    with job(tmp_path, redundancy=3) as session:
        session.tell(0, ["a", "b"], "ada")
        session.tell(0, ["b", "c"], "bob")
        session.tell(0, ["b"], "eve")
        assert session.label_sets[0] == ("b",)
        status = session.status()
        assert status.disagreements == {"0": {"ada": "a;b", "bob": "b;c", "eve": "b"}}
        # of nine decisions on a pair of votes, a and c differ for two pairs each
        assert status.agreement == pytest.approx(5 / 9) and status.kappa is not None
        assert status.kappa.classes["b"] is None
        session.settle(0, ["a", "c"], "eve")
        assert session.label_sets[0] == ("a", "c") and not session.status().disagreements
        with pytest.raises(InputError, match="has settled that node '0' is 'a;c'"):
            session.tell(0, [], "ada")
        session.settle(0, [], "eve")
        assert session.labels[0] == ";"
    with small_job(tmp_path / "alone.nodewise", several=True) as session:
        session.tell(0, ["a", "b"], "ada")
        session.tell(0, ["b", "a"], "bob")  # the same
        with pytest.raises(AlreadyLabelledError, match="'a;b' by 'ada'"):
            session.tell(0, [], "eve")
        session.tell(0, [], "eve", overrule=True)
        assert session.labels[0] == ";"


@pytest.mark.slow
def test_a_whole_job_is_asked_predicted_and_measured(tmp_path: Path, overlapping: nw.Graph) -> None:
    truth = sets_of(overlapping)
    given = {"budget": 18, "audit": 12, "use_labels": False, "seed": 2}
    with Session.create(tmp_path / "job.nodewise", overlapping, **given) as session:
        while not session.done:
            query = session.ask()
            if query.given is not None:
                assert set(query.given) <= set(query.predicted) and 0 <= (query.sure or 0) <= 1
                assert query.guess == (";".join(query.given) or ";") and not query.audit
            session.tell(query.node, truth[query.node])
        prediction, report = session.predict(), session.stop_report()
        assert prediction.given is not None and prediction.given.shape == prediction.probabilities.shape
        rest = [node for node in range(120) if node not in session.labels]
        hits = sum(len(set(prediction.sets[node]) & set(truth[node])) for node in rest)
        f1 = 2 * hits / sum(len(prediction.sets[node]) + len(truth[node]) for node in rest)
        assert f1 > 0.75, f1
        right = [set(prediction.sets[node]) == set(truth[node]) for node in session.audit_labels]
        assert report.audit is not None and report.audit.mean == np.mean(right) and report.audit.nodes == 12
        assert report.audit_f1 is not None and report.audit_f1.low <= report.audit_f1.mean <= report.audit_f1.high
        assert any("exactly the right classes" in words for words in report.words)
        assert any("Micro-F1" in words for words in report.words)
        assert prediction.names[0] == (";".join(prediction.sets[0]) or ";")
        before = prediction.probabilities
    with Session.open(tmp_path / "job.nodewise") as session:
        assert np.array_equal(session.predict().probabilities, before)
        session.undo()
        session.undo()  # an undo of an undo is one of the log's changes no more
        assert session.status().told + session.status().audit[0] == 28


@pytest.mark.parametrize("strategy", ["gain", "uncertainty", "random", "centrality"])
def test_predictions_do_not_depend_on_the_order_of_what_was_told(
    tmp_path: Path, overlapping: nw.Graph, strategy: str
) -> None:
    truth, tables = sets_of(overlapping), []
    assert "several-labels" in make_strategy(strategy).capabilities
    for name, order in (("one", range(10)), ("other", reversed(range(10)))):
        with Session.create(tmp_path / name, overlapping, budget=10, use_labels=False, strategy=strategy) as session:
            for node in order:
                session.tell(node, truth[node])
            tables.append(session.predict().probabilities)
            assert len(session.ask(1)) == 1 if not session.done else True
    assert np.allclose(*tables, atol=1e-5)


def test_nothing_but_none_of_them_is_an_answer_too(tmp_path: Path) -> None:
    graph = unlabelled(block_graph(60))
    with Session.create(tmp_path / "job.nodewise", graph, budget=5, several=True) as session:
        session.tell(session.ask().node, [])
        query = session.ask()
        assert query.predicted == {} and "no class has a label yet, so its place in the graph decides" in query.why
        with pytest.raises(SessionError, match="nothing can be predicted"):
            session.predict()
        session.tell(query.node, ["new"])
        assert session.predict().classes == ("new",) and session.ask().predicted


def test_labels_of_the_graph_count_as_sets(tmp_path: Path) -> None:
    with Session.create(
        tmp_path / "job.nodewise", block_graph(60), budget=5, several=True, use_labels=False
    ) as session:
        assert session.classes and not session.labels
    y = [["a", "b"], [], None, ["b"], *[None] * 20]
    graph = nw.Graph.build([list(range(23)), list(range(1, 24))], y=y)
    with Session.create(tmp_path / "given.nodewise", graph, budget=5) as session:
        session.tell(0, ["b"])  # a given label is changed
        assert session.label_sets == {0: ("b",), 1: (), 3: ("b",)}
        assert session.predict().labels == 3


def exported(tmp_path: Path) -> Session:
    session = job(tmp_path)
    for node, label in enumerate((["a", "b"], [], ["c"], ["a", "c"], ["b"], ["a", "b"], ["c"])):
        session.tell(node, label)
    return session


def test_exports_are_read_back(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    with exported(tmp_path) as session:
        for file in ("job.csv", "job.npz", "job.json", "job.pt"):
            assert session.export(tmp_path / file) == ["7 labels", "predictions for 60 nodes"]
        session.export(tmp_path / "full.csv", format="full")
        labels, predicted = session.label_sets, session.predict()
    table = pandas.read_csv(tmp_path / "job.csv", dtype=str, keep_default_na=False)
    assert table["label"][:4].tolist() == ["a;b", ";", "c", "a;c"] and table["label"][10] == ""
    assert table["predicted"].tolist() == predicted.names
    sets = nw.Graph.build([[0], [1]], y=table["label"].tolist(), separator=";", num_nodes=60)
    assert sets.y_sets is not None and sets.class_names == ("a", "b", "c")
    assert {
        node: tuple(np.array(sets.class_names)[sets.y_sets[node] > 0]) for node in np.flatnonzero(sets.labelled)
    } == labels
    graph = nw.load_graph(tmp_path / "job.npz")
    assert graph.several and np.array_equal(graph.y_sets, sets.y_sets)
    assert np.array_equal(graph.extra["predicted"], predicted.given)
    with (tmp_path / "full.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert rows[0]["vote of me"] == "a;b" and rows[1]["label"] == ";"
    record = json.loads((tmp_path / "job.json").read_text(encoding="utf-8"))
    assert record["labels"][0]["label"] == "a;b" and record["settings"]["several"] is True
    torch = pytest.importorskip("torch")
    tensors = torch.load(tmp_path / "job.pt", weights_only=True)
    assert tensors["y"].shape == (60, 3) and int(tensors["train_mask"].sum()) == 7
    assert np.array_equal(tensors["predicted"].numpy(), predicted.given)


def test_label_studio_gets_several_choices_and_gives_them_back(tmp_path: Path) -> None:
    with exported(tmp_path) as session:
        session.export(tmp_path / "tasks.json", format="label-studio")
    tasks = json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8"))
    assert tasks[0]["annotations"][0]["result"][0]["value"] == {"choices": ["a", "b"]}
    assert tasks[1]["annotations"][0]["result"] == [] and tasks[20]["annotations"] == []
    for number, task in enumerate(tasks):
        task["data"] = {"text": f"some text of number {number} with words {number % 3} and {number % 7}"}
    (tmp_path / "tasks.json").write_text(json.dumps(tasks), encoding="utf-8")
    graph = knn_from_tasks(tmp_path / "tasks.json", 3, separator=";")
    assert graph.several and sets_of(graph)[:3] == [["a", "b"], [], ["c"]] and int(graph.labelled.sum()) == 7
    with pytest.raises(GraphError, match="2 choices at once"):
        knn_from_tasks(tmp_path / "tasks.json", 3)


def test_what_does_not_go_together_is_refused(tmp_path: Path) -> None:
    with job(tmp_path) as session, small_job(tmp_path / "other.nodewise") as other:
        other.tell(0, "a")
        with pytest.raises(InputError, match="may have several classes, and suggestions name one class"):
            session.suggest("model", {0: "a"})
        for one, two in ((session, other), (other, session)):
            with pytest.raises(InputError, match="may have several classes, and only jobs of one"):
                one.join(two.path)
        with pytest.raises(InputError, match="1 node but 2 labels"):
            other.tell(1, ["a", "b"])
        assert len(session.events) == 0


@pytest.mark.parametrize(
    "body",
    [
        {"node": 0, "label": "a", "class": 1},
        {"node": 0, "label": ["a"]},
        {"node": 0, "label": ["a"], "class": [1, 2]},
        {"node": 0, "label": ["a", "b"], "class": [1, 1]},
        {"node": 0, "label": [["a"]], "class": [1]},
        {"node": 0, "label": [""], "class": [1]},
    ],
)
def test_events_that_nodewise_would_not_write_are_refused(tmp_path: Path, body: dict[str, Any]) -> None:
    assert check_event(Event(1, 0.0, "me", "tell", body), 10, several=True)
    assert not check_event(Event(1, 0.0, "me", "tell", {"node": 0, "label": [], "class": []}), 10, several=True)
    assert check_event(Event(1, 0.0, "me", "tell", {"node": 0, "label": ["a"], "class": [1]}), 10)
    bulk = {"nodes": [0], "labels": [["a"]], "classes": [[1, 2]]}
    assert check_event(Event(1, 0.0, "me", "bulk", bulk), 10, several=True)


def test_a_file_that_says_one_class_of_a_graph_of_sets_is_damaged(tmp_path: Path, overlapping: nw.Graph) -> None:
    from nodewise.session.log.contents import Contents

    with Session.create(tmp_path / "job.nodewise", overlapping, budget=5, use_labels=False):
        pass
    log = Log.open(tmp_path / "job.nodewise")
    log.settings["settings"]["several"] = False
    with pytest.raises(SessionFileError, match="sets of classes, and it asks for one class a node"):
        Contents.read(log)
    log.close()


def test_micro_f1_is_scikit_learns_and_lies_in_its_interval() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    generator = np.random.default_rng(0)
    truth, guess = (generator.random((40, 4)) < 0.4 for _ in range(2))
    said = [
        (tuple(np.flatnonzero(one).tolist()), tuple(np.flatnonzero(other).tolist()))
        for one, other in zip(guess, truth, strict=True)
    ]
    score = micro_f1(said, 0)
    assert score is not None and score.mean == pytest.approx(metrics.f1_score(truth, guess, average="micro"))
    assert score.low < score.mean < score.high and score.nodes == 40
    assert micro_f1([((), ())], 0) is None and micro_f1([((1,), (1,))], 0) is not None


def test_the_capability_is_known() -> None:
    wanted: Capability = "several-labels"
    assert wanted in nw.classifiers.Views().capabilities


def test_rows_are_added_to_a_job_whose_labels_are_sets(tmp_path: Path) -> None:
    texts = [f"paint brush canvas {n % 5}" if n % 2 else f"tank soldier front {n % 5}" for n in range(40)]
    given = [["art", "war"], ["art"], [], *[["art"] if n % 2 else ["war"] for n in range(3, 10)], *[None] * 30]
    graph = nw.Graph.from_texts(texts, k=4, labels=given)
    with Session.create(tmp_path / "job.nodewise", graph, budget=5) as session:
        before = session.label_sets
        assert list(session.add_rows(["paint canvas brush", "tank front soldier"])) == [40, 41]
        assert session.label_sets == before and session.predict().sets[40:] == [("art",), ("war",)]
        session.tell(41, ["war", "art"])
    with Session.open(tmp_path / "job.nodewise") as session:
        assert session.label_sets == {**before, 41: ("art", "war")} and session.graph.num_nodes == 42
        session.undo()
        session.undo()
        assert session.label_sets == before and 41 not in [session.ask().node]


def test_classes_with_numbers_beside_them_are_no_set(tmp_path: Path) -> None:
    with job(tmp_path) as session:
        with pytest.raises(InputError, match="a list of their names, received {'a': 1, 'b': 0}"):
            session.tell(0, {"a": 1, "b": 0})
        assert not session.labels
