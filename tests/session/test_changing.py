"""Rows of a job that become others: what stays, what is found anew, what is taken back, who is told."""

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
from nodewise.ground.errors import GraphError, InputError, SessionFileError, WrongTypeError
from nodewise.session import Session
from nodewise.session.answers import Draft
from nodewise.session.log.log import Log
from tests.session.test_growing import texts

NEW = "road wheel motor brake drive"


@pytest.fixture
def job(tmp_path: Path) -> Session:
    """A job of 60 texts with eight labels and an open query; the text of number 0 is about cats."""
    rows, kinds = texts(60, 1)
    session = Session.create(tmp_path / "job.nodewise", Graph.from_texts(rows, k=5), budget=20, classes=["cat", "car"])
    session.tell(list(range(8)), kinds[:8])
    session.ask()
    return session


def row_of(graph: Graph, node: int) -> Any:
    x: Any = graph.x
    return x[[node]].toarray()[0]


def edges_without(graph: Graph, node: int) -> set[tuple[int, int]]:
    return {(int(one), int(other)) for one, other in graph.edge_index.T if node not in (one, other)}


def test_a_changed_row_is_joined_anew_and_all_else_stays(job: Session) -> None:
    before, labels, query = job.graph, job.labels, job.ask()
    node = texts(60, 1)[1][20:].index("cat") + 20
    chances = job.predict().probabilities
    event = job.change_rows({node: NEW})
    graph = job.graph
    assert graph.attributes["text"][node] == NEW and job.predict().names[node] == "car"
    assert np.array_equal(row_of(graph, node), row_of(Graph.from_texts([*texts(60, 1)[0]], k=5), node)) is False
    assert edges_without(graph, node) == edges_without(before, node)
    own = {int(end) for edge in graph.edge_index.T if node in edge for end in edge} - {node}
    near = np.argsort(-(graph.x @ row_of(graph, node)), kind="stable")
    assert own == set(near[near != node][:5].tolist())
    assert job.labels == labels and job.ask() == query and job.status().outdated == ()
    with Session.open(job.path) as again:
        assert again.graph.equals(graph) and np.array_equal(again.predict().probabilities, job.predict().probabilities)
    assert job.undo().id == event and job.graph.equals(before)
    assert np.array_equal(job.predict().probabilities, chances)


def test_labels_stay_and_the_status_says_which_were_given_to_another_text(job: Session, tmp_path: Path) -> None:
    job.change_rows({0: NEW, 3: NEW + " the", 50: "purr"})
    assert job.status().outdated == ("0", "3") and job.status().as_dict()["outdated"] == ["0", "3"]
    assert job.labels[0] == texts(60, 1)[1][0]
    with job.__class__.create(tmp_path / "other", job._growth.first.graph, budget=9, classes=["cat", "car"]) as other:
        other.tell(3, "car", "bob")
        job.join(other.path)
    assert job.status().outdated == ("0", "3")  # whoever labels elsewhere has not seen the new text
    job.tell(3, "car", overrule=True)
    assert job.status().outdated == ("0",)
    job.tell_bulk([0], "car")
    assert job.status().outdated == ()
    job.undo()
    assert job.status().outdated == ("0",)
    job.remove_rows([0])
    assert job.status().outdated == ()


def test_another_session_of_the_file_sees_the_change_and_the_former_text_stays_in_the_log(job: Session) -> None:
    with Session.open(job.path) as other:
        other.predict()
        first = str(job.graph.attributes["text"][9])
        job.change_rows({9: NEW})
        job.change_rows({9: "purr meow"})
        other.refresh()
        assert other.graph.equals(job.graph) and other.graph.attributes["text"][9] == "purr meow"
        other.undo()
        assert job.refresh() and job.graph.attributes["text"][9] == NEW
        other.undo()
        assert job.refresh() and job.graph.attributes["text"][9] == first


def test_a_row_that_was_added_is_changed_and_both_are_taken_back_in_either_order(job: Session) -> None:
    before = job.graph
    added = job.add_rows(["purr meow paw", "motor road"])
    job.change_rows({60: NEW, 5: "fur tail"})
    assert job.graph.attributes["text"][60:].tolist() == [NEW, "motor road"]
    job.undo(event=next(event.id for event in job.events if event.kind == "rows"))
    assert job.graph.num_nodes == 60 and job.graph.attributes["text"][5] == "fur tail"
    assert job.add_rows(["brake"]) == range(added[-1] + 1, added[-1] + 2)
    assert job.graph.attributes["text"][60:].tolist() == ["", "", "brake"] and not job.graph.degree[60:62].any()
    with Session.open(job.path) as again:
        assert again.graph.equals(job.graph)
    job.undo()
    job.undo(event=next(event.id for event in job.events if event.kind == "change"))
    assert job.graph.equals(before)


def test_rows_of_a_table_are_changed_by_name_and_columns_that_are_left_out_stay(tmp_path: Path) -> None:
    rows = {
        "id": [f"n{number}" for number in range(40)],
        "text": texts(40, 1)[0],
        "price": [str(number % 7) for number in range(40)],
    }
    graph = Graph.from_dataframe(rows, text="text", id="id", k=4)
    with Session.create(tmp_path / "job", graph, budget=9, classes=["cat", "car"]) as job:
        job.change_rows({"n3": {"price": "40"}})
        assert job.graph.attributes["text"][3] == rows["text"][3] and job.graph.attributes["price"][3] == "40"
        assert np.array_equal(job.graph.edge_index, graph.edge_index)  # no feature is made of it
        job.change_rows({"n4": NEW})
        assert job.graph.attributes["text"][4] == NEW and job.graph.node_names == graph.node_names
        (tmp_path / "new.csv").write_text("id,text\nn5,purr purr\n6,meow\n", encoding="utf-8")
        job.change_rows(tmp_path / "new.csv")
        assert job.graph.attributes["text"][5:7].tolist() == ["purr purr", "meow"]
        for wrong, said in (
            ({"n77": NEW}, "n77"),
            ({"n3": NEW, 3: NEW}, "more than once"),
            ({}, "no rows to change"),
            ({"n1": {"text": NEW}, "n2": {"price": "3"}}, "same columns"),
            ({"text": [NEW], "price": ["1"]}, "text"),
        ):
            with pytest.raises(InputError, match=said):
                job.change_rows(wrong)
        (tmp_path / "new.csv").write_text("text,price\npurr,1\n", encoding="utf-8")
        with pytest.raises(InputError, match="do not say which rows"):
            job.change_rows(tmp_path / "new.csv")


def test_numbers_are_changed_and_a_dense_graph_stays_dense(tmp_path: Path) -> None:
    x = np.random.default_rng(1).normal(size=(30, 4)).astype(np.float32)
    graph = Graph.build(np.array([[0, 1], [1, 2]]), num_nodes=30, x=x, edge_weight=[1.0, 3.0])
    with Session.create(tmp_path / "job", graph, budget=10, classes=["a", "b"]) as session:
        session.change_rows({1: x[7]})
        changed = session.graph
        assert isinstance(changed.x, np.ndarray) and np.array_equal(changed.x[1], x[7])
        assert changed.num_edges == 5 and (1, 7) in edges_without(changed, 0) and changed.edge_weight is None
        with pytest.raises(GraphError, match="3 columns"):
            session.change_rows({1: [1.0, 2.0, 3.0]})


def test_what_cannot_be_changed_is_refused_and_nothing_is_written(job: Session) -> None:
    job.remove_rows([9])
    before = job.events
    for wrong, kind, said in (
        ({9: NEW}, InputError, "taken out"),
        ({3: str(job.graph.attributes["text"][3])}, InputError, "nothing was changed"),
        (["a text"], WrongTypeError, "node -> text"),
        ({3: "a", 4: [1.0]}, WrongTypeError, "all be texts"),
        ({3: 7}, WrongTypeError, "all be texts"),
    ):
        with pytest.raises(kind, match=said):
            job.change_rows(wrong)
    assert job.events == before


def test_a_forged_change_is_refused(job: Session) -> None:
    job.change_rows({9: NEW})
    packed = job._log.attachment(job.events[-1], "rows")
    job.close()
    kept = job.path.read_bytes()
    for nodes, content in (([1, 2], packed), ([61], packed), ([1, 1], packed), ([1], b"no rows")):
        with Log.open(job.path) as log:
            log.append([Draft("change", "me", {"nodes": nodes}, {"rows": content})])
        with pytest.raises(SessionFileError, match="damaged"):
            Session.open(job.path)
        job.path.write_bytes(kept)
    Session.open(job.path).close()


CHANGE = """
import sys
from nodewise.session import Session
with Session.open(sys.argv[1]) as session:
    for number in range(1000):
        session.change_rows({number % 60: f"purr meow {sys.argv[2]} {number}"})
        print(number, flush=True)
"""


@pytest.mark.parametrize("kills", [pytest.param(2, marks=pytest.mark.slow), pytest.param(20, marks=pytest.mark.long)])
def test_kills_while_rows_are_changed_lose_no_change_and_make_none_twice(
    job: Session, clean_environment: dict[str, str], kills: int
) -> None:
    labels, moments, known = job.labels, random.Random(3), 0
    job.close()
    for number in range(kills):
        said = killed(CHANGE, job.path, str(number), clean_environment, moments.random() * 0.3)
        told = len(said)
        with Session.open(job.path) as session:
            made = [event for event in session.events if event.kind == "change"]
            assert session.labels == labels and known + told <= len(made) <= known + told + 1
            for index, event in enumerate(made[known:]):
                assert event.body["nodes"] == [index % 60]
            texts_now = session.graph.attributes["text"]
            assert texts_now[(len(made) - known - 1) % 60] == f"purr meow {number} {len(made) - known - 1}"
            known = len(made)


ERASE = """
import sys
from nodewise.session import Session
with Session.open(sys.argv[1]) as session:
    for number in range(1000):
        session.erase_rows([number % 60], sys.argv[2] + f"-{number}")
        print(number, flush=True)
"""


@pytest.mark.parametrize("kills", [pytest.param(2, marks=pytest.mark.slow), pytest.param(20, marks=pytest.mark.long)])
def test_kills_while_rows_are_erased_leave_a_whole_new_file_or_none(
    job: Session, clean_environment: dict[str, str], tmp_path: Path, kills: int
) -> None:
    job.close()
    before, moments = job.path.read_bytes(), random.Random(5)
    for number in range(kills):
        target = tmp_path / f"new{number}"
        said = killed(ERASE, job.path, str(target), clean_environment, moments.random() * 0.3)
        made = sorted(tmp_path.glob(f"{target.name}-*"), key=lambda path: int(path.name.split("-")[1]))
        made = [path for path in made if not path.name.endswith((".part", "-journal"))]
        assert len(said) <= len(made) <= len(said) + 1 and job.path.read_bytes() == before
        for index, path in enumerate(made):
            with Session.open(path) as new:
                assert new.refresh().erased == {index} and new.graph.attributes["text"][index] == ""
            path.unlink()
    assert not list(tmp_path.glob("*.part*"))


def killed(script: str, path: Path, word: str, environment: dict[str, str], pause: float) -> list[str]:
    """The lines that a script has said when it is killed, some time after the first one."""
    command = [sys.executable, "-c", script, str(path), word]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "0\n"
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        said = "0\n" + process.stdout.read()
    return said[: said.rfind("\n") + 1].splitlines()
