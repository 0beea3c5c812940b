"""A job that grows: rows added and taken out, what stays, what is taken back, and what the audit then says."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodewise.graph import Graph
from nodewise.ground.errors import GraphError, InputError, SessionFileError
from nodewise.session import Session
from nodewise.session.answers import Draft
from nodewise.session.log.contents import Growth
from nodewise.session.log.log import Log

WORDS = {"cat": ["purr", "paw", "tail", "meow", "fur"], "car": ["road", "drive", "wheel", "motor", "brake"]}


def texts(count: int, seed: int) -> tuple[list[str], list[str]]:
    """Texts of two classes, and the classes."""
    draw = random.Random(seed)
    kinds = [draw.choice(["cat", "car"]) for _ in range(count)]
    return [" ".join(draw.choice([*WORDS[kind], "the", "and"]) for _ in range(8)) for kind in kinds], kinds


@pytest.fixture
def job(tmp_path: Path) -> Session:
    """A job of 60 texts with eight labels and an open query."""
    rows, kinds = texts(60, 1)
    session = Session.create(tmp_path / "job.nodewise", Graph.from_texts(rows, k=5), budget=20, classes=["cat", "car"])
    session.tell(list(range(8)), kinds[:8])
    session.ask()
    return session


def test_rows_get_the_next_numbers_and_are_predicted_and_all_else_stays(job: Session) -> None:
    rows, kinds = texts(30, 2)
    query, labels, edges = job.ask(), job.labels, job.graph.edge_index
    assert job.add_rows(rows) == range(60, 90)
    assert job.ask() == query and job.labels == labels and job.status().nodes == 90
    among_old = job.graph.edge_index[:, (job.graph.edge_index < 60).all(0)]
    assert np.array_equal(among_old, edges)
    assert job.graph.attributes["text"][60:].tolist() == rows
    predicted = job.predict()
    assert sum(one == other for one, other in zip(predicted.names[60:], kinds, strict=True)) >= 27
    job.tell(75, kinds[15])
    with Session.open(job.path) as again:
        assert again.graph.equals(job.graph) and again.labels == job.labels
        assert np.array_equal(again.predict().probabilities, job.predict().probabilities)


def test_another_session_of_the_file_sees_the_rows(job: Session) -> None:
    with Session.open(job.path) as other:
        other.predict()
        job.add_rows(texts(5, 2)[0])
        assert other.add_rows(texts(3, 3)[0]) == range(65, 68)
        job.tell(67, "cat")
        assert other.labels[67] == "cat" and other.graph.equals(job.graph)


def test_an_addition_is_taken_back_as_one_and_numbers_are_never_given_twice(job: Session) -> None:
    before, graph, asked = job.predict().probabilities, job.graph, job.ask()
    job.add_rows(texts(10, 2)[0])
    job.tell(65, "cat")
    undo = job.undo(event=next(event.id for event in job.events if event.kind == "rows"))
    assert undo.kind == "rows" and 65 not in job.labels and job.status().nodes == 60
    assert job.graph.equals(graph) and np.array_equal(job.predict().probabilities, before) and job.ask() == asked
    with pytest.raises(InputError, match="no node '?65"):
        job.tell(65, "car")
    assert job.add_rows(texts(4, 3)[0]) == range(70, 74)
    assert not job.graph.degree[60:70].any() and job.graph.degree[70:].all()
    job.undo(event=next(event.id for event in job.events if event.kind == "undo"))
    assert job.labels[65] == "cat" and job.graph.degree[60:].all()
    with Session.open(job.path) as again:
        assert again.graph.equals(job.graph) and again.refresh().gone == frozenset()


def test_rows_that_come_after_an_addition_that_was_taken_back_are_joined_to_none_of_it(tmp_path: Path) -> None:
    names = [f"text {number}" for number in range(60)]
    rows = {"id": names, "text": texts(60, 1)[0]}
    graph = Graph.from_dataframe(rows, text="text", id="id", k=5)
    more = {"id": ["new 1", "new 2"], "text": ["purr meow paw fur", "road wheel motor"]}
    with Session.create(tmp_path / "job", graph, budget=9, classes=["cat", "car"]) as job:
        job.add_rows(more)
        job.undo()
        assert job.add_rows(more) == range(62, 64)  # the same names, which nobody has by now
        assert job.find("new 1") == 62 and not job.graph.degree[60:62].any() and job.graph.degree[62:].all()
        assert job.graph.attributes["text"][60:62].tolist() == ["", ""] and not job.graph.x[60:62].sum()
        job.undo(event=job.events[1].id)
        assert job.graph.node_names is not None and job.graph.node_names[60:] == (
            *more["id"],
            "new 1 (again)",
            "new 2 (again)",
        )
        with Session.open(job.path) as again:
            assert again.graph.equals(job.graph)


def test_rows_taken_out_are_not_asked_trained_on_or_exported(job: Session, tmp_path: Path) -> None:
    asked = job.ask().node
    job.remove_rows([0, 1, asked])
    assert job.ask().node != asked and {0, 1}.isdisjoint(job.labels)
    assert {0, 1}.isdisjoint(node for node, _ in job.history)
    job.export(tmp_path / "out.csv")
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 1 + 57
    asked_then = {query.node for query in job.ask(12)}
    assert asked_then.isdisjoint({0, 1, asked})
    job.undo(event=next(event.id for event in job.events if event.kind == "remove"))
    assert {0, 1} <= set(job.labels)
    with pytest.raises(InputError, match="no row to take out"):
        job.remove_rows([])


def test_each_addition_draws_its_own_share_of_the_audit_and_the_report_has_both(tmp_path: Path) -> None:
    rows, kinds = texts(60, 1)
    more, more_kinds = texts(30, 2)
    graph = Graph.from_texts(rows, k=5)
    with Session.create(tmp_path / "job", graph, budget=10, classes=["cat", "car"], audit=12) as session:
        first = session.rules().audit
        session.add_rows(more)
        audit = session.rules().audit
        assert audit[:12] == first and len(audit) == 18 and all(60 <= node < 90 for node in audit[12:])
        every = kinds + more_kinds
        free = [node for node in range(60) if node not in first][:10]
        session.tell(free, [every[node] for node in free])
        session.tell(list(audit), [every[node] for node in audit])
        report = session.stop_report()
        assert [(rows, part.nodes) for rows, part in report.audit_parts] == [(60, 12), (30, 6)]
        assert report.audit is not None and report.audit.nodes == 18
        means = [part.mean for _, part in report.audit_parts]
        assert report.audit.mean == pytest.approx((2 * means[0] + means[1]) / 3)
        assert "in the audit of the 30 rows of addition 1" in report.words[0]
        session.remove_rows([node for node in range(60) if node not in (*first, *free)][:30])
        assert [rows for rows, _ in session.stop_report().audit_parts] == [30, 30]
        session.remove_rows(audit[12:])
        session.add_rows(texts(20, 3)[0])
        session.tell(session.rules().audit[-1], "cat")
        last = session.stop_report()
        assert [rows for rows, _ in last.audit_parts] == [30, 20]
        assert "in the audit of the 20 rows of addition 2" in last.words[0]


def test_what_was_said_of_rows_that_were_taken_out_is_not_counted(tmp_path: Path) -> None:
    graph = Graph.from_texts(texts(60, 1)[0], k=5)
    with Session.create(tmp_path / "job", graph, budget=10, classes=["cat", "car"], redundancy=2) as session:
        session.tell(1, "cat", "ada")
        session.tell(1, "car", "bob")
        session.tell_bulk([2, 3], "cat", "eve")
        session.skip(4, "ada")
        session.add_note(1, "odd")
        before = session.status()
        assert before.annotators == {"ada": 1, "bob": 1, "eve": 2} and before.agreement == 0
        session.remove_rows([1, 2, 4])
        now = session.status()
        assert now.annotators == {"eve": 1} and now.agreement is None and now.disagreements == {}
        assert (now.bulk, now.skipped, now.notes) == (1, 0, 0)


def test_numbers_are_added_to_a_graph_that_does_not_say_how_its_rows_became_features(tmp_path: Path) -> None:
    x = np.random.default_rng(1).normal(size=(30, 4)).astype(np.float32)
    graph = Graph.build(np.array([[0, 1], [1, 2]]), num_nodes=30, x=x)
    with Session.create(tmp_path / "job", graph, budget=10, classes=["a", "b"]) as session:
        assert session.add_rows(x[:3]) == range(30, 33)
        assert all(session.graph.degree[30:] >= 1)
        with pytest.raises(GraphError, match="5 columns"):
            session.add_rows(np.ones((2, 5)))
        with pytest.raises(GraphError, match="rows must be a list, a table or numbers"):
            session.add_rows(np.array(3.0))
        with pytest.raises(GraphError, match="does not say how its rows became features"):
            session.add_rows(["a text"])


def test_rows_that_do_not_fit_are_refused_and_nothing_is_written(job: Session) -> None:
    before = job.events
    with pytest.raises(GraphError, match="no rows to add"):
        job.add_rows([])
    with pytest.raises(GraphError, match="give a list of texts"):
        job.add_rows([1, 2])
    assert job.events == before


def test_an_old_file_takes_rows_in_by_a_copy(tmp_path: Path) -> None:
    from nodewise.session.log.database import fill_file

    rows, _ = texts(40, 1)
    Session.create(tmp_path / "new", Graph.from_texts(rows, k=5), budget=5, classes=["cat", "car"]).close()
    with Log.open(tmp_path / "new") as log:
        fill_file(tmp_path / "old", log.settings, {"graph": log.part("graph") or b""}, 1)
    with Session.open(tmp_path / "old") as session, Session.open(tmp_path / "old") as other:
        session.tell(3, "cat")
        assert session.add_rows(texts(5, 2)[0]) == range(40, 45) and other.labels == {3: "cat"}
        assert other.graph.num_nodes == 45


def test_damaged_rows_are_refused(job: Session) -> None:
    job.add_rows(["purr meow unmistakable"])
    job.close()
    content = job.path.read_bytes()
    at = content.rindex(b"unmistakable") if b"unmistakable" in content else content.rindex(b"joined_to")
    job.path.write_bytes(content[:at] + b"X" + content[at + 1 :])
    with pytest.raises(SessionFileError, match="damaged"):
        Session.open(job.path)


def test_rows_that_could_not_be_read_for_a_moment_are_read_the_next_time(
    job: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left")

    with Session.open(job.path) as other:
        other.add_rows(["purr meow", "road wheel"])
    with monkeypatch.context() as once:
        once.setattr(Growth, "with_edits", full)
        with pytest.raises(OSError, match="no space left"):
            job.refresh()
    job.tell(61, "car")
    assert job.graph.num_nodes == 62 and job.labels[61] == "car"


def test_rows_that_no_file_of_that_size_holds_are_refused_before_room_is_made_for_them(job: Session) -> None:
    job.close()
    with Log.open(job.path) as log:
        log.append([Draft("rows", "me", {"first": 60, "count": 2**21, "audit": []}, {"rows": b"few bytes"})])
    with pytest.raises(SessionFileError, match="adds 2,097,152 rows, more than a file of its size can hold"):
        Session.open(job.path)


ADD = """
import sys
from nodewise.session import Session
with Session.open(sys.argv[1]) as session:
    for number in range(100):
        session.add_rows([f"purr meow {sys.argv[2]} {number}", f"road wheel {sys.argv[2]} {number}"])
        print(number, flush=True)
"""


@pytest.mark.parametrize("kills", [pytest.param(2, marks=pytest.mark.slow), pytest.param(50, marks=pytest.mark.long)])
def test_kills_while_rows_are_added_lose_nothing_and_add_nothing_twice(
    job: Session, clean_environment: dict[str, str], kills: int
) -> None:
    labels = job.labels
    job.close()
    moments, known = random.Random(7), 0
    for number in range(kills):
        with subprocess.Popen(
            [sys.executable, "-c", ADD, str(job.path), str(number)],
            env=clean_environment,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None and process.stdout.readline() == "0\n"  # all is loaded by then
            time.sleep(moments.random() * 0.3)
            process.send_signal(signal.SIGKILL)
            said = process.stdout.read()
        told = 1 + len(said[: said.rfind("\n") + 1].splitlines())
        with Session.open(job.path) as session:
            added = session.graph.attributes["text"][60:].tolist()
            assert session.labels == labels and len(added) == len(set(added)) and len(added) % 2 == 0
            assert known + told <= len(added) // 2 <= known + told + 1
            known = len(added) // 2
    assert known >= kills


def two_jobs(folder: Path, **options: Any) -> tuple[Session, Session]:
    graph = Graph.from_texts(texts(40, 1)[0], k=5)
    one, other = (
        Session.create(folder / name, graph, budget=20, classes=["cat", "car"], **options) for name in ("one", "other")
    )
    return one, other


def test_two_jobs_of_the_same_rows_are_joined_with_who_and_when(tmp_path: Path) -> None:
    one, other = two_jobs(tmp_path)
    one.tell([0, 1, 2], ["cat", "car", "cat"], "ada")
    other.tell([1, 2, 3], ["car", "car", "cat"], "bob")
    other.tell(4, "lorry", "bob")
    other.rename_class("car", "vehicle")
    other.tell(5, "vehicle", "me")
    before = other.path.read_bytes()
    assert one.join(other.path, "ada", me="eve") == 5 and other.path.read_bytes() == before
    history = one.refresh()
    assert history.votes[2] == {"ada": "cat", "bob": "vehicle"} and history.votes[5] == {"eve": "vehicle"}
    assert one.classes == ("cat", "car", "vehicle", "lorry") and set(history.disagreements) == {1, 2}
    assert one.events[-1].body["times"][0] == other.events[0].at
    with pytest.raises(InputError, match="no label that is not here already"):
        one.join(other.path, "ada", me="eve")
    with Session.open(one.path) as again:
        assert again.labels == one.labels
    one.undo()
    assert one.labels == {0: "cat", 1: "car", 2: "cat"} and one.classes == ("cat", "car")


def test_the_later_answer_of_one_person_counts_and_other_rows_are_refused(tmp_path: Path, job: Session) -> None:
    one, other = two_jobs(tmp_path)
    other.tell(0, "car")
    one.tell([0, 1], ["cat", "cat"])
    other.tell(1, "car")
    assert one.join(other.path) == 1 and one.labels == {0: "cat", 1: "car"}
    with pytest.raises(InputError, match="are not those of"):
        one.join(job.path)


def test_a_job_is_joined_after_rows_were_added_here_and_not_if_they_were_added_there(tmp_path: Path) -> None:
    one, other = two_jobs(tmp_path)
    other.tell([0, 1], ["cat", "car"], "bob")
    rows = texts(5, 2)[0]
    one.add_rows(rows)
    assert one.preview_join(other.path)["labels"] == 2 and one.join(other.path) == 2
    other.add_rows(rows)
    other.tell(42, "cat", "bob")
    assert one.join(other.path) == 1 and one.labels[42] == "cat"
    other.add_rows(rows[:1])
    with pytest.raises(InputError, match="rows were added to .* that are not here"):
        one.preview_join(other.path)


def test_what_another_job_says_is_no_answer_of_the_audit(tmp_path: Path) -> None:
    one, other = two_jobs(tmp_path, audit=10)
    node = one.rules().audit[0]
    other.tell(node, "cat", "bob")
    one.join(other.path)
    assert one.labels[node] == "cat" and one.audit_labels == {} and one.history == []


JOIN = """
import sys
from nodewise.session import Session
with Session.open(sys.argv[1]) as session:
    print("ready", flush=True)
    print(session.join(sys.argv[2], sys.argv[3]), flush=True)
"""


@pytest.mark.parametrize("kills", [pytest.param(2, marks=pytest.mark.slow), pytest.param(50, marks=pytest.mark.long)])
def test_kills_while_jobs_are_joined_leave_all_of_it_or_nothing(
    tmp_path: Path, clean_environment: dict[str, str], kills: int
) -> None:
    one, other = two_jobs(tmp_path)
    one.tell([0, 1], ["cat", "car"], "ada")
    other.tell(list(range(30)), ["cat"] * 30, "bob")
    one.close(), other.close()
    moments, joined = random.Random(3), 0
    for number in range(kills):
        with subprocess.Popen(
            [sys.executable, "-c", JOIN, str(one.path), str(other.path), f"w{number}"],
            env=clean_environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            assert process.stdout is not None and process.stdout.readline() == "ready\n"
            time.sleep(moments.random() * 0.08)
            process.send_signal(signal.SIGKILL)
            said = process.stdout.read()
        with Session.open(one.path) as session:
            votes = session.refresh().votes
            whole = sum("bob" in by for by in votes.values())
            assert whole in ((30,) if said.strip() else (0, 30))
            assert votes[0]["ada"] == "cat" and votes[1]["ada"] == "car"
            if whole:  # taken back, so that the next one has something to do
                joined += 1
                assert session.undo().kind == "join" and len(session.labels) == 2
    with Session.open(one.path) as session:
        assert sum(event.kind == "join" for event in session.events) == joined
