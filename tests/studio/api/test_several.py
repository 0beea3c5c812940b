"""Jobs in which a node may have several classes, over HTTP: every route once, held to its documented form."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nodewise.graph import Graph, read_graph
from nodewise.graph.knn.knn import knn_from_tasks
from nodewise.session import Session
from nodewise.studio.api.desk_responses import TableResponse
from nodewise.studio.api.people_responses import AssignResponse, PersonReportsResponse
from nodewise.studio.api.responses import (
    AskResponse,
    CardResponse,
    ColoursResponse,
    DisagreementsResponse,
    EventNumberResponse,
    EventsResponse,
    JoinPreviewResponse,
    NeighbourhoodResponse,
    ReportResponse,
    SearchResponse,
    StatusResponse,
    TellResponse,
    UndoResponse,
)
from nodewise.studio.api.studio_responses import JobsResponse, PreviewResponse, SettingsResponse
from nodewise.studio.api.suggestion_responses import SuggestionsResponse
from tests.studio.jobs import job
from tests.studio.serving import API, Client, checked, running


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with running(tmp_path, job(tmp_path, several=True, classes=["a", "b", "c"])) as client:
        yield client


def tell(client: Client, *labels: tuple[int, Any], annotator: str = "me", **more: Any) -> Any:
    told = [{"node": node, "label": label} for node, label in labels]
    return client.say("/tell", TellResponse, annotator=annotator, labels=told, **more)


def begun(client: Client) -> None:
    tell(client, (0, ["b", "a"]), (1, []), (2, "c"), (58, "b;c"), (59, ["b"]))


def test_sets_are_told_changed_and_taken_back(client: Client, tmp_path: Path) -> None:
    assert client.look("/status", StatusResponse)["several"] is True
    begun(client)
    now = client.look("/status", StatusResponse)
    assert (now["told"], now["none"], now["balance"]) == (5, 1, {"a": 1, "b": 3, "c": 2})
    tell(client, (0, ["c"]))
    assert client.look("/nodes/0", CardResponse)["label"] == "c"
    undone = client.say("/undo", UndoResponse, annotator="me")["undone"]
    assert (undone["kind"], undone["label"], undone["node"]) == ("tell", "c", 0)
    assert client.look("/nodes/0", CardResponse)["label"] == "a;b"
    assert client.look("/nodes/1", CardResponse)["label"] == ";"
    with Session.open(tmp_path / "job.nodewise") as session:
        assert session.label_sets == {0: ("a", "b"), 1: (), 2: ("c",), 58: ("b", "c"), 59: ("b",)}


def test_a_set_is_predicted_with_the_probability_of_each_class(client: Client) -> None:
    (first,) = client.say("/ask", AskResponse)["queries"]
    assert first["given"] is None and first["card"]["given"] is None and first["guess"] is None
    begun(client)
    (query,) = client.say("/ask", AskResponse, annotator="ada")["queries"]
    assert set(query["given"]) <= {"a", "b", "c"} and query["guess"] == (";".join(query["given"]) or ";")
    card = client.look("/nodes/30", CardResponse)
    chances = dict(card["predicted"])
    assert set(chances) == {"a", "b", "c"} and set(card["given"]) <= set(chances)
    rows = {row["node"]: row for row in client.look("/table", TableResponse, limit=60)["rows"]}
    assert rows[30]["predicted"] == (";".join(card["given"]) or ";")
    decided = [chance if name in card["given"] else 1 - chance for name, chance in chances.items()]
    assert rows[30]["sure"] == pytest.approx(min(decided), abs=1e-3)
    assert (rows[0]["label"], rows[1]["label"], rows[2]["label"]) == ("a;b", ";", "c") and rows[0]["by"] == "me"


def test_table_map_search_and_neighbourhood_show_sets(client: Client) -> None:
    begun(client)
    labelled = client.look("/table", TableResponse, filter="labelled")
    assert [row["node"] for row in labelled["rows"]] == [0, 1, 2, 58, 59]
    with_b = client.look("/table", TableResponse, filter="labelled", label="b")
    assert [row["node"] for row in with_b["rows"]] == [0, 58, 59]
    without = client.look("/table", TableResponse, filter="labelled", label=";")
    assert [row["node"] for row in without["rows"]] == [1]
    assert client.look("/table", TableResponse, filter="labelled", label="b;c")["total"] == 1
    by_label = client.look("/table", TableResponse, filter="labelled", sort="label")["rows"]
    assert [row["label"] for row in by_label] == [";", "a;b", "b", "b;c", "c"]
    for name in ("all", "unlabelled", "unsure", "confident", "disagreement", "skipped", "model"):
        client.look("/table", TableResponse, filter=name)
    assert client.look("/table", TableResponse, filter="mistake", sort="trust")["total"] == 0
    drawn = client.look("/map")["nodes"]
    colours = client.look("/map/colours", ColoursResponse)
    shown = {
        node: colours["classes"][index] for node, index in zip(drawn, colours["labelled"], strict=True) if index >= 0
    }
    assert shown == {0: "a;b", 1: ";", 2: "c", 58: "b;c", 59: "b"}
    rows = {row["node"]: row["predicted"] for row in client.look("/table", limit=60)["rows"]}
    guessed = {node: colours["classes"][index] for node, index in zip(drawn, colours["predicted"], strict=True)}
    assert guessed == rows
    found = client.look("/nodes", SearchResponse, q="", limit=3)["nodes"]
    assert [node["label"] for node in found] == ["a;b", ";", "c"]
    near = client.look("/nodes/0/neighbourhood", NeighbourhoodResponse)["nodes"]
    assert near[0]["label"] == "a;b" and all(node["predicted"] == rows[node["node"]] for node in near)


def test_history_notes_classes_and_bulk(client: Client) -> None:
    begun(client)
    client.say("/notes", EventNumberResponse, node=0, text="both")
    client.say("/classes", EventNumberResponse, name="d")
    client.say("/bulk", EventNumberResponse, labels=[{"node": node, "label": ["a", "d"]} for node in (10, 11)])
    client.say("/bulk", EventNumberResponse, labels=[{"node": 12, "label": []}, {"node": 13, "label": ["a"]}])
    client.say("/bulk", EventNumberResponse, labels=[{"node": 14, "label": []}])
    events = client.look("/events", EventsResponse, asks=True)["events"]
    told = {(event["kind"], event["node"]): event["label"] for event in events}
    assert told[("tell", 0)] == "a;b" and told[("tell", 1)] == ";" and told[("tell", 58)] == "b;c"
    assert [event["label"] for event in events if event["kind"] == "bulk"] == [";", None, "a;d"]
    client.say("/classes/rename", EventNumberResponse, name="a", new_name="art")
    client.say("/classes/merge", EventNumberResponse, name="c", into="b")
    client.say("/classes/describe", EventNumberResponse, name="art", text="what is made")
    client.say("/classes/order", EventNumberResponse, names=["b", "d", "art"])
    assert client.look("/nodes/0", CardResponse)["label"] == "art;b" and client.look("/nodes/58")["label"] == "b"
    events = client.look("/events", EventsResponse)["events"]
    assert [event["label"] for event in events if event["kind"] == "bulk"] == [";", None, "art;d"]
    assert "stands between the names" in client.refused(400, "POST", "/classes", json={"name": "x;y"})
    assert "cannot be called" in client.refused(400, "POST", "/classes/rename", json={"name": "b", "new_name": "x;y"})
    client.say("/skip", EventNumberResponse, node=20)
    client.say("/redundancy", EventNumberResponse, redundancy=2)
    client.say("/budget", EventNumberResponse, budget=30)
    given = client.say("/assign", AssignResponse, to="ada", filter="unlabelled", count=2)
    assert len(given["nodes"]) == 2
    assert client.look("/settings", SettingsResponse)["several"] is True
    assert client.look("/jobs", JobsResponse)["jobs"][0]["labels"] == 5
    said = client.look("/suggestions", SuggestionsResponse)
    assert said["models"] == [] and said["differing"] == []


def test_people_disagree_class_by_class_and_the_owner_settles(tmp_path: Path) -> None:
    with running(tmp_path, job(tmp_path, several=True, classes=["a", "b", "c"], redundancy=2)) as client:
        tell(client, (0, ["a", "b"]), (1, []), (2, ["c"]), annotator="ada")
        hidden = client.look("/nodes/0", CardResponse, annotator="bob")
        assert hidden["votes"] == {} and hidden["label"] is None and hidden["given"] is None
        assert [event["label"] for event in client.look("/events", annotator="bob")["events"]] == [None] * 3
        tell(client, (0, ["a", "c"]), (1, []), (2, ["c"]), annotator="bob")
        (found,) = client.look("/disagreements", DisagreementsResponse)["nodes"]
        assert found["votes"] == {"ada": "a;b", "bob": "a;c"} and found["label"] == "a;b"
        now = client.look("/status", StatusResponse)
        assert now["agreement"] == pytest.approx(7 / 9)  # three classes on three nodes, two decisions differ
        assert set(now["kappa"]["classes"]) == {"a", "b", "c"}
        people = client.look("/people/report", PersonReportsResponse)["people"]
        assert [each["agreement"] for each in people] == [pytest.approx(2 / 3)] * 2
        client.say("/settle", EventNumberResponse, node=0, label=["a", "b", "c"])
        (settled,) = client.look("/disagreements", DisagreementsResponse)["nodes"]
        assert settled["label"] == "a;b;c" and settled["settled_by"] == "me"
        client.say("/settle", EventNumberResponse, node=0, label=[])
        assert client.look("/nodes/0")["label"] == ";"
        assert client.look("/events", EventsResponse)["events"][0]["label"] == ";"
        votes = list(csv.DictReader(io.StringIO(client.get(f"{API}/export/votes").text)))
        assert [(row["annotator"], row["label"], row["counts as"]) for row in votes[:2]] == [
            ("ada", "a;b", ";"),
            ("bob", "a;c", ";"),
        ]


def test_a_label_that_stands_is_overruled_by_the_owner_alone(client: Client) -> None:
    tell(client, (0, ["a", "b"]), annotator="ada")
    answer = client.post(f"{API}/tell", json={"annotator": "bob", "labels": [{"node": 0, "label": ["a"]}]})
    assert answer.status_code == 409
    assert (answer.json()["labelled_by"], answer.json()["suggestion"]) == ("ada", "a;b")
    tell(client, (0, ["a"]), annotator="bob", overrule=True)
    assert client.look("/nodes/0")["label"] == "a"


def test_annotators_name_the_classes_that_there_are(tmp_path: Path) -> None:
    session = job(tmp_path, several=True, classes=["art", "war", "sport"])
    tokens = {"token": "owner-owner-owner", "annotator_token": "annotator-annotator"}
    with running(tmp_path, session, **tokens) as client:
        client.headers["Authorization"] = "Bearer annotator-annotator"
        body = {"annotator": "ada", "labels": [{"node": 0, "label": ["art", "war"]}]}
        assert client.post(f"{API}/tell", json=body).status_code == 200
        body["labels"] = [{"node": 0, "label": ["art", "tennis"]}]
        assert "'tennis' is no class" in client.refused(403, "POST", "/tell", json=body)
        body["labels"] = [{"node": 0, "label": ["art", "sports"]}]
        assert "sport" in client.refused(409, "POST", "/tell", json=body)
        body["labels"] = [{"node": 0, "label": []}]
        assert client.post(f"{API}/tell", json=body).status_code == 200
        assert client.look("/nodes/0", annotator="ada")["label"] == ";"


@pytest.mark.parametrize(
    ("label", "word"),
    [
        (["a", "b;c"], "stands between the names"),
        ([["a"]], "label"),
        (["a", 3], "label"),
        ([""], "label"),
        (["a", "nan"], "means unlabelled"),
        (None, "label"),
    ],
)
def test_what_is_no_set_is_refused_and_nothing_told(client: Client, label: Any, word: str) -> None:
    said = client.refused(
        400, "POST", "/tell", json={"labels": [{"node": 3, "label": ["a"]}, {"node": 4, "label": label}]}
    )
    assert word in said and client.look("/status")["last"] == 0


def test_a_list_is_refused_where_a_node_has_one_class(tmp_path: Path) -> None:
    with running(tmp_path, job(tmp_path)) as client:
        for path, body in (
            ("/tell", {"labels": [{"node": 0, "label": ["a"]}]}),
            ("/bulk", {"labels": [{"node": 0, "label": []}]}),
            ("/settle", {"node": 0, "label": ["a", "b"]}),
        ):
            said = client.refused(400, "POST", path, json=body)
            assert "has one class, and a list was given" in said
        now = client.look("/status", StatusResponse)
        assert now["last"] == 0 and now["several"] is False and now["none"] == 0
        assert client.look("/nodes/0", CardResponse)["given"] is None


def test_the_report_tells_exact_sets_and_f1(tmp_path: Path) -> None:
    texts = [f"paint brush canvas {n % 5}" if n % 2 else f"tank soldier front {n % 5}" for n in range(60)]
    labels = ["art" if n % 2 else "war" for n in range(60)]
    labels[0], labels[1] = "art;war", ";"
    lines = "\n".join(["text,label", *(f"{text},{label}" for text, label in zip(texts, labels, strict=True))])
    with running(tmp_path) as client:
        made = client.post(
            f"{API}/session",
            files={"nodes": ("topics.csv", lines.encode())},
            data={"name": "topics", "text": "text", "label": "label", "several": "true", "budget": 12, "knn": 4},
        )
        assert made.status_code == 201, made.text
        now = client.look("/status", StatusResponse)
        assert now["several"] is True and now["given"] == 0 and now["classes"] == ["art", "war"]
        for node in range(8):
            tell(client, (node, labels[node].split(";") if labels[node] != ";" else []))
        report = client.look("/report", ReportResponse)
        assert report["key"]["of"] == 52 and report["key"]["right"] >= 40 and report["key"]["micro_f1"] > 0.8
        assert report["left_out_f1"]["nodes"] == 8 and report["audit_f1"] is None
        assert client.look("/nodes/0", CardResponse)["label"] == "art;war"


@pytest.mark.parametrize(
    ("mark", "asked", "classes"),
    [(";", {}, ["art", "war"]), ("|", {"separator": "|"}, ["art", "war"]), (", ", {"separator": ","}, ["art", "war"])],
)
def test_a_table_says_what_parts_its_classes(
    tmp_path: Path, mark: str, asked: dict[str, str], classes: list[str]
) -> None:
    cells = [mark.join(["art", "war"]), "art", mark, "", "war"] + [""] * 15
    rows = [[f"word {number} of {number % 3}", cell] for number, cell in enumerate(cells)]
    file = io.StringIO()
    csv.writer(file).writerows([["text", "topics"], *rows])
    upload = {"nodes": ("t.csv", file.getvalue().encode())}
    with running(tmp_path) as client:
        seen = checked(client.post(f"{API}/preview", files=upload).json(), PreviewResponse)
        assert [column["separator"] for column in seen["columns"]] == [None, None]  # so few cells tell nothing
        data = {"name": "t", "text": "text", "label": "topics", "several": "true", "budget": 5, "knn": 3, **asked}
        assert client.post(f"{API}/session", files=upload, data=data).status_code == 201
        now = client.look("/status", StatusResponse)
        assert (now["classes"], now["given"], now["none"]) == (classes, 4, 1)
        assert [client.look(f"/nodes/{node}", CardResponse)["label"] for node in range(5)] == [
            "art;war",
            "art",
            ";",
            None,
            "war",
        ]
        client.say("/classes/rename", name="art", new_name="arts")
        assert client.look("/nodes/0", CardResponse)["label"] == "arts;war", "given labels are called as classes are"


def test_exports_are_read_back(client: Client, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    begun(client)
    wanted = {0: "a;b", 1: ";", 2: "c", 58: "b;c", 59: "b"}

    def file(form: str) -> bytes:
        answer = client.get(f"{API}/export/{form}")
        assert answer.status_code == 200, answer.text
        return answer.content

    for form in ("csv", "full"):
        rows = list(csv.DictReader(io.StringIO(file(form).decode())))
        assert {number: row["label"] for number, row in enumerate(rows) if row["label"]} == wanted
    sheet = openpyxl.load_workbook(io.BytesIO(file("xlsx"))).active
    head, *cells = sheet.iter_rows(values_only=True)
    column = head.index("label")
    assert {number: row[column] for number, row in enumerate(cells) if row[column]} == wanted
    assert json.loads(file("json"))["settings"]["several"] is True
    tasks = json.loads(file("label-studio"))
    assert tasks[0]["annotations"][0]["result"][0]["value"] == {"choices": ["a", "b"]}
    assert tasks[1]["annotations"][0]["result"] == []
    for number, task in enumerate(tasks):
        task["data"] = {"text": f"some text number {number} of {number % 7}"}
    (tmp_path / "tasks.json").write_text(json.dumps(tasks), encoding="utf-8")
    graph = knn_from_tasks(tmp_path / "tasks.json", 3, separator=";")
    assert graph.y_sets is not None and graph.y_sets[:3].tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 1]]
    (tmp_path / "graph.npz").write_bytes(file("npz"))
    assert read_graph(tmp_path / "graph.npz").several
    assert file("pt")[:2] == b"PK"


def test_what_knows_one_class_alone_is_refused_and_nothing_changed(tmp_path: Path) -> None:
    texts = [f"paint brush canvas {n % 5}" if n % 2 else f"tank soldier front {n % 5}" for n in range(40)]
    graph = Graph.from_texts(texts, k=4)
    session = Session.create(tmp_path / "job.nodewise", graph, budget=12, several=True, classes=["art", "war"])
    other = Session.create(tmp_path / "other.nodewise", graph, budget=12, classes=["art", "war"])
    other.tell([0, 1], ["war", "art"])
    other.close()
    session.tell([0, 1, 2, 3], [["war"], ["art"], [], ["art", "war"]])
    with running(tmp_path, session) as client:
        before = client.look("/status", StatusResponse)
        said = [
            client.refused(400, "POST", "/suggestions", json={"name": "m", "labels": [{"node": 5, "label": "art"}]}),
            client.refused(
                400, "POST", "/join", files={"job": ("o.nodewise", (tmp_path / "other.nodewise").read_bytes())}
            ),
        ]
        assert all("several classes" in each for each in said), said
        seen = client.post(
            f"{API}/join/preview", files={"job": ("o.nodewise", (tmp_path / "other.nodewise").read_bytes())}
        )
        assert "several classes" in checked(seen.json(), JoinPreviewResponse)["refused"]
        assert client.look("/status", StatusResponse) == before
        rows = client.post(f"{API}/rows/predict", files={"rows": ("r.csv", b"text\npaint\ntank\n")})
        assert rows.status_code == 200 and rows.text.startswith("row,predicted,probability,art,war"), rows.text
        made = {"name": "n", "text": "text", "several": "true", "budget": 2, "knn": 2}
        for more, word in (
            ({"trust": "true"}, "trust"),
            ({"classifier": "gcn"}, "several"),
            ({"strategy": "age"}, "several"),
            ({"classes": "a;b", "separator": " "}, ""),
        ):
            answer = client.post(
                f"{API}/session",
                files={"nodes": ("n.csv", ("text\n" + "\n".join(texts)).encode())},
                data={**made, **more},
            )
            if word:
                assert answer.status_code == 400 and word in answer.json()["error"], answer.text
                assert not (tmp_path / "n.nodewise").exists()
