"""Asking, telling, skipping and undoing over HTTP, against a real server and a real session."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from nodewise.session import Session
from nodewise.studio.api.responses import (
    AskResponse,
    EventNumberResponse,
    EventsResponse,
    StatusResponse,
    TellResponse,
    UndoResponse,
)
from tests.studio.jobs import EVIL, job, named_graph
from tests.studio.serving import Client, running


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with running(tmp_path, job(tmp_path, graph=named_graph(title=[f"title {n}" for n in range(60)]))) as client:
        yield client


def written(path: Path) -> list[tuple[str, str]]:
    """Kind and body of every event in the file, read by SQLite itself."""
    with sqlite3.connect(path) as connection:
        return connection.execute("SELECT kind, body FROM events ORDER BY id").fetchall()


def test_a_status_tells_how_far_the_job_is(client: Client) -> None:
    now = client.look("/status", StatusResponse)
    assert (now["name"], now["graph"], now["nodes"], now["budget"], now["told"], now["last"]) == (
        "job",
        "papers",
        60,
        20,
        0,
        0,
    )
    assert now["classes"] == ["a", "b"] and now["predictions_from"] is None and now["left"] == 20


def test_a_query_comes_with_its_card_and_again_until_it_is_answered(client: Client, tmp_path: Path) -> None:
    (query,) = client.say("/ask", AskResponse, annotator="ada")["queries"]
    assert query["annotator"] == "ada" and query["why"] and query["card"]["node"] == query["node"]
    assert (
        query["card"]["title"] == f"title {query['node']}"
        and query["card"]["name"] == f"Paper {query['node']}" == query["name"]
    )
    assert client.say("/ask", annotator="ada")["queries"] == [query]
    assert [kind for kind, _ in written(tmp_path / "job.nodewise")] == ["ask"]
    told = client.say("/tell", TellResponse, annotator="ada", labels=[{"node": query["node"], "label": "a"}])
    assert told["status"]["told"] == 1 and told["status"]["annotators"] == {"ada": 1}
    assert client.say("/ask", annotator="ada")["queries"][0]["node"] != query["node"]


def test_a_batch_is_as_large_as_asked_for_and_differs_between_annotators(client: Client) -> None:
    mine = {query["node"] for query in client.say("/ask", AskResponse, annotator="ada", k=5)["queries"]}
    yours = {query["node"] for query in client.say("/ask", AskResponse, annotator="bob", k=5)["queries"]}
    assert len(mine) == len(yours) == 5 and not mine & yours
    assert set(client.look("/status")["open"]) == {"ada", "bob"}


def test_a_label_is_in_the_file_when_the_answer_arrives(client: Client, tmp_path: Path) -> None:
    for count in range(1, 6):
        client.say("/tell", labels=[{"node": count, "label": "ab"[count % 2]}])
        assert len(written(tmp_path / "job.nodewise")) == count
    told = client.say("/tell", TellResponse, labels=[{"node": 10, "label": "a"}, {"node": 11, "label": "b"}])
    assert told["events"] == [6, 7] and told["status"]["balance"] == {"a": 3, "b": 4}
    with Session.open(tmp_path / "job.nodewise") as session:
        assert session.labels == {1: "b", 2: "a", 3: "b", 4: "a", 5: "b", 10: "a", 11: "b"}


def test_labels_are_told_all_or_none(client: Client) -> None:
    assert "no node 60" in client.refused(
        404, "POST", "/tell", json={"labels": [{"node": 1, "label": "a"}, {"node": 60, "label": "a"}]}
    )
    assert client.look("/status")["told"] == 0


def test_a_closed_list_of_classes_takes_no_other_and_words_for_nothing_are_no_class(tmp_path: Path) -> None:
    with running(tmp_path, job(tmp_path, classes=["Physics", "Biology"], closed_classes=True)) as client:
        for label, new_class in (("physcis", False), ("physcis", True), ("chemistry", True)):
            labels = [{"node": 1, "label": label}]
            answer = client.post("/api/v1/tell", json={"labels": labels, "new_class": new_class})
            assert answer.status_code == 400 and "its list of classes is closed" in answer.json()["error"]
            assert ("did you mean 'Physics'" in answer.json()["error"]) == (label == "physcis")
        assert client.post("/api/v1/tell", json={"labels": [{"node": 1, "label": "Physics"}]}).status_code == 200
        assert client.look("/settings")["closed_classes"] is True
    with running(tmp_path, job(tmp_path, "open")) as client:
        for nothing in ("NaN", "None", None, True, 1.5, "b'a'" * 60):
            answer = client.post("/api/v1/tell", json={"labels": [{"node": 1, "label": nothing}]})
            assert answer.status_code == 400, nothing
        assert client.look("/status")["told"] == 0


def test_a_misspelt_label_is_refused_with_what_was_meant_unless_it_is_said_to_be_new(tmp_path: Path) -> None:
    with running(tmp_path, job(tmp_path, classes=["Physics", "Biology"])) as client:
        answer = client.post("/api/v1/tell", json={"labels": [{"node": 1, "label": "physcis"}]})
        assert answer.status_code == 409 and answer.json()["suggestion"] == "Physics"
        assert "'physcis' looks like the class 'Physics' misspelt" in answer.json()["error"]
        assert client.look("/status")["last"] == 0
        told = client.say("/tell", labels=[{"node": 1, "label": "physcis"}], new_class=True)
        assert told["status"]["classes"] == ["Physics", "Biology", "physcis"]
        client.say("/classes", name="ß")
        answer = client.post("/api/v1/tell", json={"labels": [{"node": 1, "label": "SS"}]})  # the same but for its case
        assert answer.status_code == 409 and answer.json()["suggestion"] == "ß"


def test_whatever_a_label_holds_comes_back_as_it_was_told(client: Client) -> None:
    client.say("/tell", annotator=EVIL, labels=[{"node": 1, "label": EVIL}, {"node": 2, "label": "日本語 ☃"}])
    assert client.look("/nodes/1")["label"] == EVIL and client.look("/nodes/2")["label"] == "日本語 ☃"
    assert client.look("/status")["annotators"] == {EVIL: 2}


def test_a_skipped_node_is_not_asked_again_of_who_skipped_it_and_spends_nothing(client: Client) -> None:
    node = client.say("/ask")["queries"][0]["node"]
    skipped = client.say("/skip", EventNumberResponse, node=node)
    assert skipped["event"] == 2 and skipped["status"]["skipped"] == 1 and skipped["status"]["left"] == 20
    assert client.look(f"/nodes/{node}")["skipped_by"] == ["me"]
    assert client.say("/ask")["queries"][0]["node"] != node
    client.say("/tell", labels=[{"node": 3, "label": "a"}])
    assert "has labelled node 'Paper 3', so it cannot be skipped" in client.refused(
        400, "POST", "/skip", json={"node": 3}
    )
    assert "no node 60" in client.refused(404, "POST", "/skip", json={"node": 60})


def test_undo_takes_back_the_last_change_or_any_other_and_tells_which(client: Client) -> None:
    assert "nothing to undo" in client.refused(409, "POST", "/undo", json={})
    client.say("/tell", annotator="ada", labels=[{"node": 1, "label": "a"}, {"node": 2, "label": "b"}])
    client.say("/skip", annotator="bob", node=5)
    back = client.say("/undo", UndoResponse, annotator="ada")["undone"]
    assert (back["event"], back["kind"], back["node"], back["name"], back["label"]) == (2, "tell", 2, "Paper 2", "b")
    back = client.say("/undo", UndoResponse, event=1)
    assert back["undone"]["label"] == "a" and back["status"]["told"] == 0
    assert client.say("/undo", UndoResponse)["undone"]["kind"] == "skip"
    assert "nothing to undo of 'ada'" in client.refused(409, "POST", "/undo", json={"annotator": "ada"})
    assert "undone already" in client.refused(400, "POST", "/undo", json={"event": 1})
    assert "no event 99" in client.refused(400, "POST", "/undo", json={"event": 99})
    redone = client.say("/undo", UndoResponse, event=4)  # the first undo
    assert redone["undone"]["kind"] == "undo" and redone["undone"]["undoes"] == 2 and redone["status"]["told"] == 1


def test_a_class_can_be_declared_once(client: Client) -> None:
    declared = client.say("/classes", EventNumberResponse, name="  c  ")
    assert declared["status"]["classes"] == ["a", "b", "c"] and declared["status"]["balance"]["c"] == 0
    assert "a class 'c' already" in client.refused(400, "POST", "/classes", json={"name": "c"})
    assert "1 to 200 printable characters" in client.refused(400, "POST", "/classes", json={"name": "\n\t"})
    undone = client.say("/undo", UndoResponse)["undone"]
    assert (undone["kind"], undone["label"], undone["node"]) == ("class", "c", None)


def test_the_budget_ends_asking_and_can_be_raised(client: Client) -> None:
    assert client.say("/budget", EventNumberResponse, budget=2)["status"]["budget"] == 2
    client.say("/tell", labels=[{"node": 1, "label": "a"}, {"node": 2, "label": "b"}])
    assert "the budget of 2 labels is spent" in client.refused(409, "POST", "/ask", json={})
    assert client.look("/status")["done"]
    client.say("/budget", budget=3)
    assert len(client.say("/ask", k=5)["queries"]) == 1
    assert "from 1 to the graph's 60 nodes" in client.refused(400, "POST", "/budget", json={"budget": 61})


def test_an_audit_is_asked_without_a_prediction(tmp_path: Path) -> None:
    with running(tmp_path, job(tmp_path, audit=10)) as client:
        client.say("/tell", labels=[{"node": node, "label": "ab"[node % 2]} for node in range(6)])
        queries = client.say("/ask", AskResponse, k=12)["queries"]
        client.look("/map/colours")
        colours = client.look("/map/colours", annotator="rita")  # she is asked nothing
        audit = [query for query in queries if query["audit"]]
        others = [query for query in queries if not query["audit"]]
        assert audit and others
        assert colours["predictions_from"]
        for query in audit:
            assert query["predicted"] == [] and query["guess"] is None
            assert client.look(f"/nodes/{query['node']}")["predicted"] is None
            assert colours["predicted"][query["node"]] == -1
            centre = client.look(f"/nodes/{query['node']}/neighbourhood")["nodes"][0]
            assert centre["predicted"] is None and centre["sure"] is None
        for query in others:
            assert client.look(f"/nodes/{query['node']}")["predicted"] is None, "who gives no name may be asked"
            shown = client.look(f"/nodes/{query['node']}", annotator="rita")["predicted"]
            assert {name for name, _ in shown} == {"a", "b"} and sum(share for _, share in shown) == pytest.approx(
                1, abs=1e-4
            )
            assert colours["predicted"][query["node"]] in (0, 1)
        node = audit[0]["node"]
        client.say("/tell", labels=[{"node": node, "label": "a"}])
        card = client.look(f"/nodes/{node}", annotator="rita")
        assert card["from"] == "audit" and card["predicted"] is not None
        assert client.look("/status")["audit"]["labelled"] >= 1


def test_a_second_opinion_is_asked_without_showing_the_first(tmp_path: Path) -> None:
    with running(tmp_path, job(tmp_path, redundancy=2)) as client:
        client.say("/tell", annotator="ada", labels=[{"node": 7, "label": "a"}, {"node": 8, "label": "b"}])
        client.look("/map/colours")
        (query,) = client.say("/ask", AskResponse, annotator="bob")["queries"]
        assert query["node"] == 7 and "another opinion" in query["why"][0]
        assert query["card"]["label"] is None and query["card"]["votes"] == {} and query["card"]["predicted"] is None
        assert client.look("/nodes/7", annotator="bob")["label"] is None
        assert client.look("/nodes/7", annotator="ada")["votes"] == {"ada": "a"}
        around = client.look("/nodes/7/neighbourhood", annotator="bob")["nodes"][0]
        assert around["label"] is None and around["predicted"] is None
        told = client.say("/tell", annotator="bob", labels=[{"node": 7, "label": "b"}])["status"]
        assert told["disagreements"] == {"7": {"ada": "a", "bob": "b"}} and told["agreement"] == 0.0
        assert client.look("/nodes/7", annotator="cay")["votes"] == {"ada": "a", "bob": "b"}


def test_what_others_said_cannot_be_read_off_anything_while_an_opinion_is_wanted(tmp_path: Path) -> None:
    with running(tmp_path, job(tmp_path, graph=named_graph(), redundancy=3)) as client:
        client.say("/tell", annotator="ada", labels=[{"node": 7, "label": "a"}])
        told = client.say("/tell", annotator="bob", labels=[{"node": 7, "label": "b"}])["status"]
        client.say("/tell", annotator="cay", labels=[{"node": 8, "label": "b"}])
        both = {"Paper 7": {"ada": "a", "bob": "b"}}
        assert told["disagreements"] == both == client.look("/status", StatusResponse, annotator="ada")["disagreements"]
        assert client.look("/status", StatusResponse, annotator="cay")["disagreements"] == {}
        assert client.say("/classes", annotator="cay", name="c")["status"]["disagreements"] == {}
        for who, seen in (("cay", None), ("ada", "a"), (None, "a")):
            query = {} if who is None else {"annotator": who}
            assert client.look("/nodes", q="Paper 7", **query)["nodes"][0]["label"] == seen
            assert client.look("/map/colours", **query)["labelled"][7] == (-1 if seen is None else 0)
            labels = [
                each["label"] for each in client.look("/events", EventsResponse, **query)["events"] if each["node"] == 7
            ]
            assert labels == ([None, None] if seen is None else ["b", "a"])
        assert client.look("/events", annotator="cay")["events"][1]["label"] == "b"  # their own
        client.say("/tell", annotator="cay", labels=[{"node": 7, "label": "b"}])
        assert client.look("/map/colours", annotator="cay")["labelled"][7] == 1
        assert client.look("/status", annotator="cay")["disagreements"] == {
            "Paper 7": {"ada": "a", "bob": "b", "cay": "b"}
        }


def test_a_change_goes_to_the_session_that_is_named(client: Client, tmp_path: Path) -> None:
    bodies = {
        "/ask": {},
        "/tell": {"labels": [{"node": 1, "label": "a"}]},
        "/skip": {"node": 2},
        "/classes": {"name": "c"},
        "/budget": {"budget": 9},
    }
    for path, body in {**bodies, "/undo": {}}.items():
        assert "there is no session 'another'" in client.refused(404, "POST", path, json={**body, "session": "another"})
    assert written(tmp_path / "job.nodewise") == []
    for path, body in bodies.items():
        client.say(path, **body, session="job")
    assert len(written(tmp_path / "job.nodewise")) == len(bodies)


def test_a_class_keeps_its_number_whatever_is_told_undone_or_told_again(client: Client) -> None:
    client.say("/classes", name="delta")
    client.say("/classes", name="eps", annotator="bob")
    assert client.look("/status")["numbers"] == {"a": 0, "b": 1, "delta": 2, "eps": 3}
    client.say("/tell", labels=[{"node": 3, "label": "eps"}])
    now = client.look("/status")
    assert now["classes"] == ["a", "b", "delta", "eps"] and now["numbers"]["eps"] == 3
    client.say("/undo", event=1)
    assert client.look("/status")["numbers"] == {"a": 0, "b": 1, "eps": 3}, "no number is used again"
    client.say("/tell", labels=[{"node": 4, "label": "zeta"}], new_class=True)
    client.say("/classes", name="delta")
    assert client.look("/status")["numbers"] == {"a": 0, "b": 1, "delta": 2, "eps": 3, "zeta": 4}


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("/ask", {"annotator": ""}, "'annotator'"),
        ("/ask", {"annotator": "x" * 201}, "at most 200 characters"),
        ("/ask", {"annotator": "a\nb"}, "printable"),
        ("/ask", {"k": 0}, "greater than or equal to 1, received '0'"),
        ("/ask", {"k": 51}, "'k'"),
        ("/ask", {"k": "1"}, "'k'"),
        ("/ask", {"k": 1, "more": 2}, "'more'"),
        ("/tell", {"labels": []}, "'labels'"),
        ("/tell", {"labels": [{"node": 1, "label": "a"}] * 1001}, "at most 1000"),
        ("/tell", {"labels": [{"node": -1, "label": "a"}]}, "'labels.0.node'"),
        ("/tell", {"labels": [{"node": 2**60, "label": "a"}]}, "'labels.0.node'"),
        ("/tell", {"labels": [{"node": 1, "label": ""}]}, "'labels.0.label'"),
        ("/tell", {"labels": [{"node": 1, "label": " \t "}]}, "1 to 200 printable characters"),
        ("/tell", {"labels": [{"node": 1, "label": "\x00"}]}, "printable"),
        ("/tell", {}, "'labels'"),
        ("/skip", {}, "'node'"),
        ("/undo", {"event": 0}, "'event'"),
        ("/budget", {"budget": 0}, "'budget'"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(client: Client, path: str, body: object, said: str) -> None:
    assert said in client.refused(400, "POST", path, json=body)
    assert client.look("/status")["last"] == 0


def test_no_json_is_refused_in_a_sentence(client: Client) -> None:
    headers = {"content-type": "application/json"}
    assert "no JSON" in client.refused(400, "POST", "/ask", content=b"{", headers=headers)
    client.refused(400, "POST", "/ask", content=b"\xff\xfe\x00", headers=headers)
    half = rb'{"labels": [{"node": 1, "label": "\ud800"}]}'  # half a character
    client.refused(400, "POST", "/tell", content=half, headers=headers)
    client.refused(400, "POST", "/ask", content=b"[" * 100_000, headers=headers)
    client.refused(415, "POST", "/ask", content=b"{}", headers={"content-type": "text/plain"})
    client.refused(413, "POST", "/ask", content=b" " * (2**20 + 1), headers=headers)


def test_without_a_session_everything_says_so(tmp_path: Path) -> None:
    with running(tmp_path) as client:
        for path in ("/ask", "/undo"):
            assert "no session is open" in client.refused(409, "POST", path, json={})
        for path in (
            "/status",
            "/nodes",
            "/nodes/1",
            "/nodes/1/neighbourhood",
            "/nodes/1/picture",
            "/map",
            "/map/colours",
            "/report",
            "/events",
        ):
            assert "no session is open" in client.refused(409, "GET", path)
        for path in ("/export/csv", "/backup"):
            assert "no session is open" in client.refused(409, "GET", path)


def test_many_annotators_at_once_get_different_nodes_and_lose_nothing(tmp_path: Path) -> None:
    with running(tmp_path, job(tmp_path, budget=50)) as client:
        told: dict[str, list[int]] = {f"annotator {number}": [] for number in range(6)}
        failures: list[BaseException] = []

        def work(who: str) -> None:
            try:
                for _ in range(6):
                    node = client.say("/ask", annotator=who)["queries"][0]["node"]
                    client.say("/tell", annotator=who, labels=[{"node": node, "label": "ab"[node % 2]}])
                    told[who].append(node)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(who,)) for who in told]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        nodes = [node for each in told.values() for node in each]
        assert len(set(nodes)) == len(nodes) == 36
    with Session.open(tmp_path / "job.nodewise") as session:
        assert set(session.labels) == set(nodes)


def test_a_file_that_is_not_where_it_was_is_told_and_works_again_when_it_is_put_back(
    client: Client, tmp_path: Path
) -> None:
    client.say("/tell", labels=[{"node": 1, "label": "a"}])
    (tmp_path / "job.nodewise").rename(tmp_path / "elsewhere")
    for method, path, body in (
        ("POST", "/tell", {"labels": [{"node": 2, "label": "a"}]}),
        ("POST", "/ask", {}),
        ("GET", "/status", None),
    ):
        assert "'job.nodewise' has been moved, removed or replaced" in client.refused(409, method, path, json=body)
    assert client.look("/studio")["session"]["name"] == "job"
    (tmp_path / "elsewhere").rename(tmp_path / "job.nodewise")
    assert client.say("/tell", labels=[{"node": 2, "label": "a"}])["status"]["told"] == 2


def test_a_file_that_another_process_holds_is_waited_for_and_then_refused_as_busy(tmp_path: Path) -> None:
    session = Session.open(job(tmp_path).path, wait=0.2)
    with running(tmp_path, session) as client:
        other = sqlite3.connect(tmp_path / "job.nodewise", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        answer = client.post("/api/v1/tell", json={"labels": [{"node": 1, "label": "a"}]})
        assert (
            answer.status_code == 503
            and "in use by another process" in answer.json()["error"]
            and answer.headers["retry-after"] == "1"
        )
        other.execute("ROLLBACK")
        other.close()
        assert client.say("/tell", labels=[{"node": 1, "label": "a"}])["events"] == [1]
