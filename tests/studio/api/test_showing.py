"""What the page shows, over HTTP: nodes, neighbourhoods, the map, the report, what has happened."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from nodewise.graph import Graph
from nodewise.session import Session
from nodewise.studio.api.desk_responses import TableResponse
from nodewise.studio.api.responses import (
    CardResponse,
    ColoursResponse,
    EventsResponse,
    MapResponse,
    NeighbourhoodResponse,
    ReportResponse,
    SearchResponse,
)
from nodewise.studio.work.worker import Priority
from tests.small_graphs import block_graph
from tests.studio.jobs import EVIL, job, named_graph
from tests.studio.serving import Client, running

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
LABELS = [{"node": node, "label": "ab"[node % 2]} for node in range(12)]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with running(tmp_path, job(tmp_path, graph=named_graph())) as client:
        yield client


def test_a_card_shows_what_the_graph_has(tmp_path: Path) -> None:
    columns = {
        "Title": [EVIL, *["title"] * 59],
        "abstract": ["x" * 20_001, *["short"] * 59],
        "url": ["javascript:alert(1)", "https://example.org/a?b=c", *[""] * 58],
        "venue": ["y" * 2_001, "somewhere", *[" "] * 58],
    }
    with running(tmp_path, job(tmp_path, graph=named_graph(60, **columns))) as client:
        first, second, third = (client.look(f"/nodes/{node}", CardResponse) for node in (0, 1, 2))
        assert first["title"] == EVIL and len(first["text"]) == 20_000 and first["cut"]
        assert (
            first["link"] is None
            and first["attributes"]["url"] == "javascript:alert(1)"
            and len(first["attributes"]["venue"]) == 2000
        )
        assert (
            second["link"] == "https://example.org/a?b=c"
            and second["attributes"] == {"venue": "somewhere"}
            and not second["cut"]
        )
        assert third["link"] is None and third["attributes"] == {} and third["text"] == "short"
        assert (second["label"], second["from"], second["votes"], second["predicted"]) == (None, None, {}, None)
        assert second["degree"] == int(np.sum(block_graph(60).edge_index == 1))


def test_a_card_tells_label_votes_and_predictions(client: Client) -> None:
    client.say("/tell", annotator="ada", labels=LABELS)
    client.look("/map/colours")
    card = client.look("/nodes/1", CardResponse)
    assert (card["label"], card["from"], card["votes"]) == ("b", "told", {"ada": "b"})
    shares = [share for _, share in card["predicted"]]
    assert shares == sorted(shares, reverse=True) and sum(shares) == pytest.approx(1, abs=1e-4)


def test_a_given_label_is_told_as_given_until_somebody_changes_it(tmp_path: Path) -> None:
    graph = block_graph(60)
    assert graph.y is not None
    y = graph.y.copy()
    y[20:] = -1
    with running(tmp_path, job(tmp_path, graph=replace(graph, y=y), classes=None)) as client:
        card = client.look("/nodes/3", CardResponse)
        assert card["from"] == "given" and card["label"] == graph.class_names[y[3]]
        other = next(name for name in graph.class_names if name != card["label"])
        client.say("/tell", labels=[{"node": 3, "label": other}])
        card = client.look("/nodes/3", CardResponse)
        assert card["from"] == "told" and card["label"] == other
        colours = client.look("/map/colours", ColoursResponse)
        assert colours["labelled"][:20].count(-1) == 0 and set(colours["labelled"][20:]) == {-1}
        assert colours["predictions_from"] == 20


def test_nodes_are_found_by_name_the_exact_first_then_beginnings_then_the_rest(client: Client) -> None:
    client.say("/tell", labels=[{"node": 5, "label": "a"}])
    found = client.look("/nodes", SearchResponse, q="PAPER 5")["nodes"]
    assert (
        [each["node"] for each in found] == [5, *range(50, 60)]
        and found[0]["label"] == "a"
        and found[1]["label"] is None
    )
    assert [each["node"] for each in client.look("/nodes", q="aper 1", limit=3)["nodes"]] == [1, 10, 11]
    assert client.look("/nodes", q="nothing like it")["nodes"] == []
    assert len(client.look("/nodes")["nodes"]) == 20
    for query in ({"limit": 0}, {"limit": 101}, {"q": "x" * 201}, {"limit": "many"}):
        client.refused(400, "GET", "/nodes", params=query)


@pytest.mark.parametrize("path", ["", "/neighbourhood", "/picture"])
def test_a_node_that_is_not_there_is_told(client: Client, path: str) -> None:
    assert "there is no node 60: the graph 'papers' has nodes 0 to 59" in client.refused(404, "GET", f"/nodes/60{path}")
    for node in ("-1", "x", "1.5", str(2**60)):
        assert "'node'" in client.refused(400, "GET", f"/nodes/{node}{path}")


def test_a_neighbourhood_has_the_neighbours_with_labels_and_predictions(client: Client) -> None:
    client.say("/tell", labels=LABELS)
    client.look("/map/colours")
    graph = block_graph(60)
    around = {
        *graph.edge_index[1][graph.edge_index[0] == 4].tolist(),
        *graph.edge_index[0][graph.edge_index[1] == 4].tolist(),
    }
    found = client.look("/nodes/4/neighbourhood", NeighbourhoodResponse)
    assert (
        found["centre"] == 4
        and found["nodes"][0]["node"] == 4
        and found["hidden"] == 0
        and found["total"] == len(found["nodes"])
    )
    assert {each["node"] for each in found["nodes"][1:]} == around
    for each in found["nodes"]:
        assert each["label"] == ("ab"[each["node"] % 2] if each["node"] < 12 else None)
        assert each["predicted"] in ("a", "b") and 0.5 <= each["sure"] <= 1
        assert -1 <= each["x"] <= 1 and -1 <= each["y"] <= 1 and each["name"] == f"Paper {each['node']}"
    joined = {frozenset((found["nodes"][i]["node"], found["nodes"][j]["node"])) for i, j in found["edges"]}
    assert joined <= {frozenset(edge) for edge in graph.edge_index.T.tolist()} and len(joined) >= len(around)
    wider = client.look("/nodes/4/neighbourhood", NeighbourhoodResponse, hops=2, limit=10)
    assert len(wider["nodes"]) == 10 and wider["hidden"] == wider["total"] - 10 > 0
    for query in ({"hops": 3}, {"hops": 0}, {"limit": 9}, {"limit": 401}):
        client.refused(400, "GET", "/nodes/4/neighbourhood", params=query)


def test_the_map_has_every_node_and_its_colours_come_in_the_same_order(client: Client) -> None:
    drawn = client.look("/map", MapResponse)
    assert sorted(drawn["nodes"]) == list(range(60)) and len(drawn["x"]) == len(drawn["y"]) == 60
    assert drawn["total"] == 60 and not drawn["sampled"] and client.look("/map") == drawn
    plain = client.look("/map/colours", ColoursResponse)
    assert plain["predictions_from"] is None and set(plain["predicted"]) == {-1} == set(plain["labelled"])
    client.say("/tell", labels=LABELS)
    colours = client.look("/map/colours", ColoursResponse)
    assert colours["classes"] == ["a", "b"] and colours["predictions_from"] == 12
    for item, node in enumerate(drawn["nodes"]):
        assert colours["labelled"][item] == (node % 2 if node < 12 else -1)
        assert colours["predicted"][item] in (0, 1) and 0.5 <= colours["sure"][item] <= 1


def test_predictions_are_those_that_the_session_itself_makes(client: Client, tmp_path: Path) -> None:
    client.say("/tell", labels=LABELS)
    colours, drawn = client.look("/map/colours"), client.look("/map")
    with Session.open(tmp_path / "job.nodewise") as session:
        expected = session.predict()
    assert [colours["classes"][number] for number in colours["predicted"]] == [
        expected.names[node] for node in drawn["nodes"]
    ]


def test_one_prediction_everywhere_fresh_after_every_label_change_and_undo(client: Client, tmp_path: Path) -> None:
    client.say("/tell", labels=LABELS)
    client.look("/nodes/30")
    changes = (
        ("/tell", {"labels": [{"node": 20, "label": "a"}]}, 13),
        ("/tell", {"labels": [{"node": 20, "label": "b"}]}, 13),
        ("/bulk", {"labels": [{"node": 40, "label": "a"}, {"node": 41, "label": "b"}]}, 15),
        ("/undo", {}, 13),
        ("/classes/rename", {"name": "a", "new_name": "first"}, 13),
    )
    for path, body, labels in changes:
        assert client.say(path, **body)["status"]["updating"] is False
        assert client.look("/status")["predictions_from"] == labels
        with Session.open(tmp_path / "job.nodewise") as session:
            expected = session.predict()
        colours, drawn = client.look("/map/colours", ColoursResponse), client.look("/map")
        assert [colours["classes"][number] for number in colours["predicted"]] == [
            expected.names[node] for node in drawn["nodes"]
        ]
        rows = client.look("/table", TableResponse, limit=60)
        assert [row["predicted"] for row in rows["rows"]] == list(expected.names) and not rows["updating"]
        around = client.look("/nodes/30/neighbourhood", NeighbourhoodResponse)
        assert all(each["predicted"] == expected.names[each["node"]] for each in around["nodes"])
        assert client.look("/nodes/30", CardResponse)["predicted"][0][0] == expected.names[30]


@pytest.mark.slow
def test_a_trained_classifier_is_updating_until_its_closing_epochs_are_over(tmp_path: Path) -> None:
    with running(tmp_path, job(tmp_path, classifier="gcn")) as client:
        client.say("/tell", labels=LABELS)
        assert client.look("/map/colours")["predictions_from"] == 12
        now = client.say("/tell", labels=[{"node": 20, "label": "a"}])["status"]
        assert now["updating"] and now["predictions_from"] == 12
        while (now := client.look("/status"))["updating"]:  # somebody looks at them, so they follow by themselves
            threading.Event().wait(0.02)
        card = client.look("/nodes/30", CardResponse)
        assert (
            now["predictions_from"] == 13
            and not card["updating"]
            and card["predictions_version"] == now["predictions_version"]
        )
        with Session.open(tmp_path / "job.nodewise") as session:
            assert dict(card["predicted"]) == pytest.approx(
                dict(zip("ab", session.predict().probabilities[30].tolist(), strict=True)), abs=1e-5
            )


def test_the_report_comes_with_the_first_label_and_says_when_it_was_made(client: Client) -> None:
    assert "before the first label" in client.refused(409, "GET", "/report")
    client.say("/tell", labels=LABELS)
    report = client.look("/report", ReportResponse)
    assert report["labels"] == 12 and report["from"] == 12 and report["words"] and report["curve"][-1]["labels"] == 12
    client.say("/ask")
    assert client.look("/report") == report  # a query changes nothing about it


def test_labelling_goes_on_while_a_report_is_made(client: Client) -> None:
    client.say("/tell", labels=LABELS)
    client.say("/ask")
    reports: list[dict[str, int]] = []
    making = threading.Thread(target=lambda: reports.append(client.look("/report")))
    making.start()
    told = 12
    while making.is_alive() and told < 50:
        client.say("/tell", labels=[{"node": told, "label": "a"}])
        told += 1
    making.join()
    (report,) = reports
    assert client.look("/status")["last"] - report["from"] >= 1  # some were told before it was ready
    assert report["labels"] == report["from"] - 1  # one event is the query


def test_the_event_loop_answers_while_the_worker_is_busy(client: Client) -> None:
    go = threading.Event()
    busy = client.studio.worker.submit(Priority.ANSWER, go.wait)
    assert client.get("/api/docs").status_code == 200
    assert client.get("/page/icon.svg").status_code == 200
    assert not busy.done()
    go.set()


def test_events_are_told_newest_first_with_what_was_undone(client: Client) -> None:
    client.say("/tell", annotator="ada", labels=LABELS[:2])
    client.say("/ask", annotator="bob")
    client.say("/skip", annotator="bob", node=9)
    client.say("/classes", name="c")
    client.say("/budget", budget=30)
    client.say("/undo", annotator="ada")
    events = client.look("/events", EventsResponse)["events"]
    assert [each["kind"] for each in events] == ["undo", "budget", "class", "skip", "tell", "tell"]
    undo, budget, declared, skipped, second, first = events
    assert (
        undo["undoes"] == second["event"] == 2
        and undo["label"] == "b"
        and undo["name"] == "Paper 1"
        and second["undone"]
    )
    assert not first["undone"] and (first["node"], first["name"], first["label"], first["annotator"]) == (
        0,
        "Paper 0",
        "a",
        "ada",
    )
    assert budget["budget"] == 30 and declared["label"] == "c" and skipped["node"] == 9 and skipped["label"] is None
    assert first["time"] <= undo["time"]
    assert [each["event"] for each in client.look("/events", limit=2, before=4)["events"]] == [2, 1]
    assert len(client.look("/events", asks=True)["events"]) == 7
    for query in ({"limit": 0}, {"limit": 501}, {"before": 0}, {"asks": "perhaps"}):
        client.refused(400, "GET", "/events", params=query)


def test_a_picture_comes_from_the_one_folder_or_from_the_graph_itself(tmp_path: Path) -> None:
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    (pictures / "a.png").write_bytes(PNG)
    (tmp_path / "secret.png").write_bytes(PNG)
    inside = "data:image/png;base64," + base64.b64encode(PNG).decode()
    graph = named_graph(60, picture=["a.png", "../secret.png", inside, *[""] * 57])
    with running(tmp_path, job(tmp_path, graph=graph), pictures=pictures) as client:
        for node in (0, 2):
            assert client.look(f"/nodes/{node}", CardResponse)["picture"] == f"/api/v1/nodes/{node}/picture"
            answer = client.get(f"/api/v1/nodes/{node}/picture")
            assert answer.content == PNG and answer.headers["content-type"] == "image/png"
            assert answer.headers["x-content-type-options"] == "nosniff"
        for node in (1, 3):
            assert client.look(f"/nodes/{node}")["picture"] is None
            assert "no picture that may be shown" in client.refused(404, "GET", f"/nodes/{node}/picture")


def test_a_graph_without_names_is_searched_by_numbers(tmp_path: Path) -> None:
    graph = Graph.build(np.array([[0, 1], [1, 2]]), 60, x=np.eye(60, dtype=np.float32), name="numbers")
    with running(tmp_path, job(tmp_path, graph=graph)) as client:
        assert [each["name"] for each in client.look("/nodes", q="5", limit=4)["nodes"]] == ["4", "49", "50", "51"]
        assert client.look("/nodes", q="61")["nodes"] == [] == client.look("/nodes", q="x")["nodes"]
