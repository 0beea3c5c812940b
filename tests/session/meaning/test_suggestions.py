"""What models say: from every form, in the log, in the learner, in reports and in exports."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodewise.graph import Graph
from nodewise.graph.io.npz import write_npz
from nodewise.ground.errors import InputError, SessionFileError, WrongTypeError
from nodewise.session import Session
from nodewise.testing.promises import small_graph

GRAPH = small_graph(nodes=60)
NAMES = ("red", "green", "blue")
assert GRAPH.y is not None
TRUTH = [NAMES[number] for number in GRAPH.y]


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with make(tmp_path) as made:
        yield made


def make(folder: Path, name: str = "job.nodewise", **settings: Any) -> Session:
    settings = {"budget": 12, "classes": list(NAMES), **settings}
    return Session.create(folder / name, GRAPH, use_labels=False, **settings)


def said(session: Session, number: int = 0) -> list[str]:
    return session.suggestions[number].labels(session.class_list)


def test_answers_come_in_every_form(session: Session, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    rows = tmp_path / "rows.csv"
    rows.write_text("node,label,confidence\n" + "".join(f"{n},{c},0.5\n" for n, c in enumerate(TRUTH)))
    forms: list[Any] = [
        dict(enumerate(TRUTH)),
        TRUTH,
        np.array(TRUTH),
        pandas.Series(TRUTH),
        lambda row: TRUTH[int(row["node"])],
        rows,
        str(rows),
    ]
    for number, form in enumerate(forms):
        session.suggest(f"form {number}", form)
    for number in range(len(forms)):
        assert said(session, number) == TRUTH
    assert set(session.suggestions[-1].confidence.tolist()) == {0.5}


def test_a_job_may_begin_with_suggestions_and_is_not_made_where_they_are_wrong(tmp_path: Path) -> None:
    column = replace(GRAPH, attributes={"answer": np.array(TRUTH), "sure": np.full(60, "0.5")})
    beginnings = {"own": {0: "red"}, "column": ("answer", "sure")}
    settings = {"budget": 12, "classes": list(NAMES), "use_labels": False}
    with Session.create(tmp_path / "job.nodewise", column, suggestions=beginnings, **settings) as session:
        assert [each.name for each in session.suggestions] == ["own", "column"]
        assert said(session, 1) == TRUTH and set(session.suggestions[1].confidence.tolist()) == {0.5}
        assert session.predict().names[5] == TRUTH[5] and session.status().told == 0
    with Session.open(tmp_path / "job.nodewise") as session:
        assert said(session, 1) == TRUTH
    for wrong in ({"x": {999: "red"}}, {"x": {0: "pink"}}, {"own": {0: "red"}, "x": ({0: "red"}, 7)}):
        with pytest.raises(InputError):
            Session.create(tmp_path / "other.nodewise", GRAPH, suggestions=wrong, embed_limit=10, **settings)
    for wrong_form in (["red"], "answer"):
        with pytest.raises(WrongTypeError, match="suggestions are a dictionary"):
            Session.create(tmp_path / "other.nodewise", column, suggestions=wrong_form, **settings)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="gcn"):
        Session.create(tmp_path / "other.nodewise", GRAPH, suggestions={"x": {0: "red"}}, classifier="gcn", **settings)
    assert [path.name for path in tmp_path.iterdir()] == ["job.nodewise"]


def test_a_graph_of_ones_own_stays_where_suggestions_are_wrong(tmp_path: Path) -> None:
    """Also where it is called as the copy that would be written beside the job."""
    own = tmp_path / "job.nodewise.graph.npz"
    write_npz(GRAPH, own)
    with pytest.raises(InputError):
        Session.create(
            tmp_path / "job.nodewise",
            GRAPH,
            suggestions={"x": {0: "pink"}},
            source=own,
            embed_limit=10,
            budget=12,
            classes=list(NAMES),
            use_labels=False,
        )
    assert [path.name for path in tmp_path.iterdir()] == [own.name]


def test_a_model_that_answers_in_sentences_makes_no_classes(tmp_path: Path) -> None:
    texts = [f"This row is number {number}." for number in range(1001)]
    graph = Graph.build([range(1000), range(1, 1001)])
    with Session.create(tmp_path / "job.nodewise", graph, budget=2) as session:
        with pytest.raises(InputError, match="name 1,001 different classes, and the job has none yet"):
            session.suggest("talker", texts)
        assert not session.classes and not session.suggestions
        session.suggest("talker", [*texts[:1000], None])
        assert len(session.classes) == 1000


def test_a_function_is_given_each_row_that_is_left_and_says_what_it_likes(tmp_path: Path) -> None:
    graph = replace(GRAPH, attributes={"text": np.array([f"text {node}" for node in range(60)])})
    seen: list[dict[str, str]] = []

    def rules(row: dict[str, str]) -> Any:
        seen.append(dict(row))
        return {"1": ("red", 0.25), "2": "blue", "3": "violet", "4": ("red", 1)}.get(row["node"])

    with Session.create(tmp_path / "job.nodewise", graph, budget=9, classes=list(NAMES), use_labels=False) as session:
        session.remove_rows([0, 4])
        session.suggest("rules", rules)
        assert [row["node"] for row in seen] == [str(node) for node in range(60) if node not in (0, 4)]
        assert seen[0] == {"node": "1", "text": "text 1"}
        (model,) = session.suggestions
        assert said(session)[:5] == ["", "red", "blue", "", ""]
        assert (model.confidence[1], model.unnamed) == (0.25, 1)


def test_a_function_that_fails_leaves_nothing(session: Session) -> None:
    def fails(row: dict[str, str]) -> str:
        if row["node"] == "7":
            raise RuntimeError("out of credit")
        return "red"

    with pytest.raises(RuntimeError, match="out of credit"):
        session.suggest("rules", fails)
    with pytest.raises(InputError, match="gave 'very' as its confidence about node '0': it must be a number from 0 to"):
        session.suggest("rules", lambda row: ("red", "very"))
    assert not session.suggestions and not session.events


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        ("node,label\n99,red\n", "99"),
        ("row,answer\n0,red\n", "has the columns row, answer: suggestions need one that names the node"),
        ("node,label,confidence\n0,red,high\n", "must hold numbers from 0 to 1"),
        ("node,label,confidence\n0,red,1.5\n", "a confidence must be a number from 0 to 1, got 1.5"),
    ],
)
def test_a_batch_file_that_does_not_fit_is_told_and_leaves_nothing(
    session: Session, tmp_path: Path, content: str, wrong: str
) -> None:
    (tmp_path / "batch.csv").write_text(content)
    with pytest.raises(InputError, match=wrong):
        session.suggest("batch", tmp_path / "batch.csv")
    assert not session.suggestions and not session.events


def test_a_job_predicts_before_any_label_and_exports_who_stands_behind(session: Session, tmp_path: Path) -> None:
    assert session.predict().unknown
    session.suggest("assistant", TRUTH)
    prediction = session.predict()
    assert not prediction.unknown and np.mean(np.array(prediction.names) == TRUTH) > 0.8
    query = session.ask()
    assert query.predicted
    session.tell(query.node, TRUTH[query.node])
    session.export(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows[query.node]["stands behind"] == "person"
    behind = {row["stands behind"] for row in rows}
    assert behind <= {"person", "learner and model assistant", "learner"} and len(behind) > 1
    assert [row["assistant says"] for row in rows] == TRUTH


def test_suggestions_are_no_labels(session: Session) -> None:
    session.suggest("assistant", TRUTH)
    status = session.status()
    assert (status.told, status.annotators, session.labels) == (0, {}, {})


def test_they_stay_when_the_file_is_opened_again_and_go_with_an_undo(tmp_path: Path) -> None:
    with make(tmp_path) as session:
        event = session.suggest("assistant", TRUTH)
        first = session.predict().probabilities
    with Session.open(tmp_path / "job.nodewise") as session:
        np.testing.assert_array_equal(session.predict().probabilities, first)
        session.tell(3, TRUTH[3])
        with_both = session.predict().probabilities
        session.undo(event)
        assert not session.suggestions
        without = session.predict().probabilities
    with make(tmp_path, "other.nodewise") as plain:
        plain.tell(3, TRUTH[3])
        np.testing.assert_array_equal(plain.predict().probabilities, without)
        plain.suggest("assistant", TRUTH)
        np.testing.assert_allclose(plain.predict().probabilities, with_both, atol=1e-6)


def test_of_two_events_of_one_model_the_later_answer_counts(session: Session) -> None:
    session.suggest("assistant", {0: "red", 1: "red"})
    session.suggest("assistant", {1: "blue"})
    assert said(session)[:3] == ["red", "blue", ""]


def test_of_a_node_that_a_file_lists_twice_the_later_answer_counts(session: Session, tmp_path: Path) -> None:
    rows = [f"{node},red" for node in range(60)] + ["0,blue", "1,violet"]
    (tmp_path / "batch.csv").write_text("node,label\n" + "\n".join(rows) + "\n")
    session.suggest("batch", tmp_path / "batch.csv")
    assert said(session)[:3] == ["blue", "red", "red"] and session.suggestions[0].unnamed == 1


def test_answers_that_name_no_class_are_counted_and_not_guessed(session: Session) -> None:
    session.suggest("assistant", {0: "red", 1: "I cannot say", 2: None, 3: "gren"})
    assert said(session)[:4] == ["red", "", "", ""]
    assert session.suggestions[0].unnamed == 2
    assert session.classes == NAMES
    with pytest.raises(InputError, match="no answer of 'other' names a class of the job"):
        session.suggest("other", {0: "violet"})


def test_where_there_are_no_classes_yet_the_model_s_become_the_job_s(tmp_path: Path) -> None:
    with make(tmp_path, classes=[]) as session:
        session.suggest("assistant", TRUTH)
        assert set(session.classes) == set(NAMES)
        assert np.mean(np.array(session.predict().names) == TRUTH) > 0.8


@pytest.mark.parametrize(
    ("answers", "confidence", "wrong"),
    [
        (["red"], None, "1 answer for 60 nodes"),
        ({0: "red"}, 1.5, "a confidence must be a number from 0 to 1, got 1.5"),
        ({0: "red"}, float("nan"), "from 0 to 1, got nan"),
        ({99: "red"}, None, "99"),
        (7, None, "must be a dictionary, one label a node"),
    ],
)
def test_what_is_wrong_is_told(session: Session, answers: Any, confidence: Any, wrong: str) -> None:
    with pytest.raises((InputError, TypeError), match=wrong):
        session.suggest("assistant", answers, confidence)
    assert not session.suggestions


def test_a_classifier_that_cannot_begin_with_them_refuses(tmp_path: Path) -> None:
    with (
        make(tmp_path, classifier="gcn", strategy="random") as session,
        pytest.raises(InputError, match="cannot begin with what models say of each node"),
    ):
        session.suggest("assistant", TRUTH)


def test_how_right_a_model_is_and_where_it_differs(tmp_path: Path) -> None:
    wrong = ["green" if label == "red" else label for label in TRUTH]
    with make(tmp_path, audit=6, budget=9) as session:
        session.suggest("assistant", wrong)
        while not session.done:
            query = session.ask()
            session.tell(query.node, TRUTH[query.node])
        (report,) = session.model_reports()
        assert report.answers == 60 and report.by_labels is not None and report.by_audit is not None
        assert (report.by_labels.nodes, report.by_audit.nodes) == (9, 6)
        assert report.by_audit.low <= report.by_audit.mean <= report.by_audit.high
        assert report.classes["red"].mean == 0 and report.classes["blue"].mean == 1
        listed = session.model_disagreements()
        assert listed and all(one.says != one.predicted and one.node not in session.labels for one in listed)
        assert [one.probability for one in listed] == sorted((one.probability for one in listed), reverse=True)
        session.remove_rows([one.node for one in listed[:-1]])
        assert {one.node for one in session.model_disagreements()} <= {listed[-1].node}


def test_a_class_that_was_taken_back_comes_back_under_its_number(tmp_path: Path) -> None:
    with make(tmp_path, classes=[]) as session:
        session.tell(0, "green")
        session.undo()
        session.suggest("assistant", {1: "red", 2: "green"})
        session.undo(2)
        assert session.classes == ("green", "red") and session.labels == {0: "green"}


def test_what_is_attached_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from nodewise.session.meaning import suggestions as module

    with make(tmp_path) as session:
        session.suggest("assistant", TRUTH)
    with Session.open(tmp_path / "job.nodewise") as session:
        for content in (b"no archive", b"PK\3\4 nor this", b"\x93NUMPY\1\0", far_too_many()):
            monkeypatch.setattr(type(session._log), "attachment", lambda log, event, kind, held=content: held)
            with pytest.raises(SessionFileError, match="the suggestions of event 1 cannot be read"):
                module.read_suggestions(session._log, session.refresh(), 60)


def test_only_so_many_models_are_heard(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    from nodewise.session.meaning import suggestions as module

    monkeypatch.setattr(module, "_MOST_MODELS", 2)
    for name in ("one", "two", "one"):
        session.suggest(name, {1: "red"})
    with pytest.raises(InputError, match="2 models have said something already"):
        session.suggest("three", {1: "red"})
    monkeypatch.setattr(module, "_MOST_MODELS", 1)
    with pytest.raises(SessionFileError, match="2 models have suggestions in it, at most 1"):
        module.read_suggestions(session._log, session.refresh(), 60)


def far_too_many() -> bytes:
    """Zeros that take little place until they are unpacked."""
    packed = io.BytesIO()
    zeros = np.zeros(2**20, np.int32)
    np.savez_compressed(packed, nodes=zeros, answers=zeros, confidence=zeros.astype(np.float32))
    return packed.getvalue()
