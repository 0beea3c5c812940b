"""Rows given to people, and what is told of their work, over HTTP."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodewise.graph import Graph
from nodewise.ground.errors import InputError
from nodewise.session import Session
from nodewise.studio.api.people_responses import AssignResponse, PersonReportsResponse
from nodewise.studio.guard.people import People
from tests.session.jobs import answer_when_asked
from tests.session.test_growing import texts
from tests.studio.jobs import job, named_graph
from tests.studio.serving import API, running

pytestmark = pytest.mark.slow


def test_rows_are_given_by_a_filter_freed_by_the_owner_and_reported(tmp_path: Path) -> None:
    session = job(tmp_path)
    session.tell([0, 1, 58, 59], ["a", "a", "b", "b"], "bob")
    with running(tmp_path, session) as client:
        client.look("/map/colours")
        given = client.say(
            "/assign", AssignResponse, to="ada", filter="unlabelled", label="a", count=4, annotator="eve"
        )
        assert len(given["nodes"]) == 4 and given["found"] > 4
        predicted = {row["node"]: row["predicted"] for row in client.look("/table", limit=60)["rows"]}
        assert {predicted[node] for node in given["nodes"]} == {"a"}
        assert client.say("/ask", annotator="ada")["queries"][0]["node"] == given["nodes"][0]
        client.say("/tell", annotator="ada", labels=[{"node": given["nodes"][0], "label": "a"}])
        report = client.look("/people/report", PersonReportsResponse)["people"]
        assert {each["annotator"]: (each["labels"], each["open"]) for each in report} == {"bob": (4, 0), "ada": (1, 3)}
        assert client.say("/release", annotator="eve", released="ada")["count"] == 3
        text = client.get("/api/v1/export/votes").text
        rows = list(csv.DictReader(io.StringIO(text)))
        assert [row["annotator"] for row in rows].count("bob") == 4 and len(rows) == 5
        assert float(next(row["seconds"] for row in rows if row["annotator"] == "ada")) >= 0
        assert "at most 1000" not in client.refused(400, "POST", "/assign", json={"to": "ada", "count": 0})


def test_nobody_but_the_owner_can_tell_a_question_with_a_known_answer(tmp_path: Path) -> None:
    """Over HTTP, with links: neither card, table, map, history nor status gives one away before it is answered."""
    session = job(tmp_path, control=50, budget=40)
    links = {who: People(tmp_path).add(who, "annotator") for who in ("ada", "bo")}
    with running(tmp_path, session, token="the-owners-token") as client:

        def as_(token: str) -> dict[str, str]:
            return {"Authorization": f"Bearer {token}"}

        owner, ada, bo = as_("the-owners-token"), as_(links["ada"]), as_(links["bo"])

        def say(who: dict[str, str], path: str, **body: Any) -> Any:
            answer = client.post(API + path, json=body, headers=who)
            assert answer.status_code == 200, answer.text
            return answer.json()

        def look(who: dict[str, str], path: str, **query: Any) -> Any:
            answer = client.get(API + path, params=query, headers=who)
            assert answer.status_code == 200, answer.text
            return answer.json()

        known = [{"node": node, "label": "ab"[node >= 30]} for node in range(5, 60, 6)]
        say(owner, "/known", labels=known, annotator="olga")
        assert len(look(owner, "/known")["rows"]) == 10 and look(owner, "/known")["percent"] == 50
        for who in (ada, bo):
            assert client.get(f"{API}/known", headers=who).status_code == 403
            assert client.post(f"{API}/known", json={"percent": 0}, headers=who).status_code == 403
        rows = {each["node"] for each in known}
        answered = []
        for _ in range(12):  # ada answers some of them
            query = say(ada, "/ask")["queries"][0]
            answered += [query["node"]] if query["node"] in rows else []
            say(ada, "/tell", labels=[{"node": query["node"], "label": "a"}])
        assert len(answered) >= 3
        while (query := say(bo, "/ask")["queries"][0])["node"] not in answered:  # until bo is asked one of hers
            say(bo, "/tell", labels=[{"node": query["node"], "label": "b"}])
        node = query["node"]
        assert "control" not in str(query) and not query["audit"] and query["card"]["label"] is None
        assert query["card"]["votes"] == {} and not query["card"]["hidden"]
        assert look(bo, f"/nodes/{node}")["label"] is None
        table = {row["node"]: row for row in look(bo, "/table", limit=100)["rows"]}
        assert table[node]["label"] is None
        history = look(bo, "/events", limit=500, asks=True)["events"]
        assert all(each["kind"] != "known" for each in history), "that there are known answers is the owner's to see"
        assert {each["annotator"] for each in history if each["node"] == node} == {"bo"}
        assert any(each["kind"] == "known" for each in look(owner, "/events", limit=500)["events"])
        drawn = look(bo, "/map")["nodes"].index(node)
        assert look(bo, "/map/colours")["labelled"][drawn] == -1
        found = look(bo, f"/nodes/{node}/neighbourhood")["nodes"]
        assert next(each for each in found if each["node"] == node)["label"] is None
        say(ada, "/ask")
        others = look(bo, "/status")["open"]["ada"]
        assert not {int(name) for name in others} & rows
        say(bo, "/tell", labels=[{"node": node, "label": "b"}])  # differs from ada's, and is not refused
        people = {each["annotator"]: each["known"] for each in look(owner, "/people/report")["people"]}
        right = sum(each < 30 for each in answered)
        assert people["ada"]["nodes"] == len(answered) and people["ada"]["mean"] == pytest.approx(right / len(answered))
        assert client.get(f"{API}/people/report", headers=bo).status_code == 403


def test_a_question_with_a_known_answer_stays_one_like_others_whatever_people_try(tmp_path: Path) -> None:
    """A label in bulk, a label of one's own, a preview: nothing opens what others said."""
    graph = named_graph(said=["a" if node in (5, 11) else "" for node in range(60)])
    session = Session.create(
        tmp_path / "job.nodewise", graph, classes=["a", "b"], budget=40, control=50, strategy="random", use_labels=False
    )
    links = {who: People(tmp_path).add(who, "annotator") for who in ("ada", "bo")}
    links["rea"] = People(tmp_path).add("rea", "reviewer")
    session.set_known("said", annotator="olga")
    answer_when_asked(session, "ada", {5: "b", 11: "b"})  # known, 20 and 21 are like any other
    session.tell_bulk([20], ["b"], "ada")
    with running(tmp_path, session, token="the-owners-token") as client:

        def send(who: str, method: str, path: str, **more: Any) -> Any:
            headers = {"Authorization": f"Bearer {links.get(who, 'the-owners-token')}"}
            return client.request(method, API + path, headers=headers, **more)

        def look(who: str, path: str, **query: Any) -> Any:
            return send(who, "GET", path, params=query).raise_for_status().json()

        def say(who: str, path: str, **body: Any) -> Any:
            return send(who, "POST", path, json=body).raise_for_status().json()

        def table(who: str, **query: Any) -> dict[int, dict[str, Any]]:
            return {row["node"]: row for row in look(who, "/table", limit=100, **query)["rows"]}

        assert table("bo")[20]["bulk"] and not table("bo")[5]["bulk"]
        assert set(table("bo", filter="bulk")) == {20} and set(table("bo", by="ada")) == {20}
        wish = {"action": "label", "label": "a", "nodes": [5, 11, 20, 21]}
        plan = say("bo", "/table/act", **wish)
        assert plan["rows"] == 3 and plan["left_out"] == [{"why": "labelled otherwise by somebody else", "rows": 1}]
        say("bo", "/table/act", **wish, digest=plan["digest"])
        rows = table("bo")
        alike = ("label", "bulk", "by", "differs")
        for node in (5, 11):  # as one's own label of any other row
            assert {name: rows[node][name] for name in alike} == {name: rows[21][name] for name in alike}
            card = look("bo", f"/nodes/{node}")
            assert card["label"] == "a" and card["votes"] == {"bo": "a"} and card["from"] == "bulk"
            drawn = look("bo", "/map")["nodes"].index(node)
            colours = look("bo", "/map/colours")
            assert colours["classes"][colours["labelled"][drawn]] == "a"
            found = look("bo", f"/nodes/{node}/neighbourhood")["nodes"]
            assert next(each for each in found if each["node"] == node)["label"] == "a"
        assert set(table("bo", by="bo")) == set(table("bo", filter=["bulk"], by="bo")) == {5, 11, 21}
        assert {row["label"] for row in look("bo", "/nodes", q="Paper 11")["nodes"]} == {"a"}
        assert look("bo", "/status")["disagreements"] == {} and look("bo", "/disagreements")["nodes"] == []
        assert {each["node"] for each in look("rea", "/disagreements")["nodes"]} == set()
        assert look("owner", "/disagreements")["nodes"] == [], "they are ordinary rows since, and begin with bo's label"
        said = look("bo", "/events", limit=500)["events"]
        assert not [each for each in said if each["annotator"] == "ada" and each["node"] in (5, 11)]
        say("bo", "/undo", annotator="bo")
        assert table("bo")[11]["label"] is None and look("bo", "/nodes/11")["votes"] == {}

        for form in ("full", "xlsx", "label-studio", "npz"):
            refused = send("rea", "GET", f"/export/{form}")
            assert refused.status_code == 403 and "the owner makes it" in refused.text
        assert send("rea", "GET", "/export/csv").status_code == 200
        assert "said" in send("owner", "GET", "/export/full").text.splitlines()[0]


def test_neither_what_was_drawn_at_random_nor_what_was_changed_names_a_known_row(tmp_path: Path) -> None:
    links = {who: People(tmp_path).add(who, "annotator") for who in ("ada", "bo")}
    ada, bo = ({"Authorization": f"Bearer {links[who]}"} for who in ("ada", "bo"))
    session = job(tmp_path, control=50, budget=40, strategy="gain")
    known = set(range(0, 60, 2))
    session.set_known({node: "ab"[node >= 30] for node in known}, annotator="olga")
    nodes = np.random.default_rng(0).permutation(np.arange(1, 60, 2))[:8].tolist()
    session.tell(nodes, ["a", "b"] * 4, "eve")  # by chance: nothing can be learned from them
    session.ask(6, "ada")
    drawn = session.status().random["ada"]
    assert len(known & set(map(int, drawn))) == 5 and len(drawn) == 6
    rows, kinds = texts(60, 1)
    graph = Graph.from_texts(rows, k=5)
    with Session.create(tmp_path / "texts.nodewise", graph, classes=["cat", "car"], control=50) as other:
        other.set_known({0: kinds[0], 1: kinds[1]}, annotator="olga")
        for who in ("ada", "bo"):  # both are asked about both, and answer one of them
            assert {0, 1} <= {query.node for query in other.ask(6, who)}
        other.tell([0, 2], [kinds[0], kinds[2]], "ada")
        other.tell(1, kinds[1], "bo")
        other.change_rows(dict.fromkeys(range(3), "road wheel motor"))
    with running(tmp_path, session, token="the-owners-token") as client:
        own, others = (client.get(API + "/status", headers=who).json() for who in (ada, bo))
        assert own["random"]["ada"] == own["open"]["ada"] == drawn
        for asked in ("open", "random"):
            assert [int(name) in known for name in others[asked]["ada"]] == [False]
        outdated = {
            who["Authorization"]: client.get(API + "/status", params={"session": "texts"}, headers=who).json()[
                "outdated"
            ]
            for who in (ada, bo, {"Authorization": "Bearer the-owners-token"})
        }
        assert list(outdated.values()) == [["0", "2"], ["1", "2"], ["0", "1", "2"]]


def test_when_a_known_row_becomes_ordinary_nobody_sees_who_was_asked_about_it(tmp_path: Path) -> None:
    link = People(tmp_path).add("cy", "annotator")
    session = job(tmp_path, control=50, budget=40, redundancy=2)
    known = set(range(0, 60, 2))
    session.set_known({node: "ab"[node >= 30] for node in known}, annotator="olga")
    asked = known & {query.node for query in session.ask(30, "ada")}
    assert asked
    session.tell(min(asked), "a", "dan")  # nobody asked him: it is an ordinary row now, and waits for a second opinion
    with running(tmp_path, session, token="the-owners-token") as client:
        status = client.get(API + "/status", headers={"Authorization": f"Bearer {link}"}).json()
    assert status["open"]["ada"] and not known & set(map(int, status["open"]["ada"]))


def test_with_the_shared_token_nobody_takes_the_name_of_who_knows_the_answers(tmp_path: Path) -> None:
    """Every route that a name can be said to, as the application describes them: under that name they could be read."""
    session = job(tmp_path, control=50, budget=40)
    session.set_known({5: "a", 11: "a", 40: "b"}, annotator="olga", counts=True)
    session.tell([0, 59], ["a", "b"], "eve")
    label = [{"node": 5, "label": "a"}]
    bodies: dict[str, dict[str, Any]] = {
        "ask": {},
        "undo": {},
        "tell": {"labels": label},
        "bulk": {"labels": label},
        "skip": {"node": 5},
        "notes": {"node": 5, "text": "hm"},
        "release": {"released": "bo"},
        "table/act": {"action": "skip", "nodes": [5]},
    }
    with running(tmp_path, session, token="the-owners-token", annotator_token="the-annotators-token") as client:
        owner, shared = ({"Authorization": f"Bearer {who}"} for who in ("the-owners-token", "the-annotators-token"))
        described = client.get("/api/openapi.json", headers=owner).json()
        looks = {
            path
            for path, methods in described["paths"].items()
            if any(each["name"] == "annotator" for each in methods.get("get", {}).get("parameters", ()))
        }
        assert {f"{API}/{path}" for path in ("status", "table", "nodes", "events", "map/colours")} < looks
        before = client.studio.sessions.get().session.refresh().last
        for name in ("olga", " Olga "):
            for path in sorted(looks):
                answer = client.get(path.format(node=5), params={"annotator": name}, headers=shared)
                assert answer.status_code == 403 and "owner's name" in answer.json()["error"], (path, answer.text)
            for path, body in bodies.items():
                answer = client.post(f"{API}/{path}", json={"annotator": name, **body}, headers=shared)
                assert answer.status_code == 403 and "owner's name" in answer.json()["error"], (path, answer.text)
        assert client.studio.sessions.get().session.refresh().last == before
        for path in sorted(looks):
            assert client.get(path.format(node=5), params={"annotator": "bo"}, headers=shared).status_code == 200, path
        seen = client.get(f"{API}/nodes/5", params={"annotator": "bo"}, headers=shared).json()
        own = client.get(f"{API}/nodes/5", params={"annotator": "olga"}, headers=owner).json()
        assert seen["label"] is None and own["label"] == "a"
    with pytest.raises(InputError, match="'me' is what an owner is called"):
        People(tmp_path).add("Me", "annotator")
    assert People(tmp_path).add("me", "owner")


def test_where_two_opinions_are_wanted_a_known_row_waits_for_the_second_as_any_other(tmp_path: Path) -> None:
    """Card, table, map and drawing say the same of a row with a known answer and of one without, after an answer."""
    session = job(tmp_path, control=50, budget=40, redundancy=2)
    session.set_known({5: "a", 11: "a"}, annotator="olga")
    session.tell([0, 1, 58, 59], ["a", "a", "b", "b"], "bo")
    session.tell([0, 1, 58, 59], ["a", "a", "b", "b"], "cy")
    answer_when_asked(session, "bo", {5: "a"})
    answer_when_asked(session, "ada", {5: "a"})
    session.tell(6, "a", "ada")
    with running(tmp_path, session) as client:
        client.look("/map/colours")

        def seen(node: int) -> dict[str, Any]:
            card = client.look(f"/nodes/{node}", annotator="ada")
            row = next(row for row in client.look("/table", annotator="ada", limit=60)["rows"] if row["node"] == node)
            index = client.look("/map")["nodes"].index(node)
            colours = client.look("/map/colours", annotator="ada")
            drawing = client.look(f"/nodes/{node}/neighbourhood", annotator="ada")["nodes"]
            drawn = next(each for each in drawing if each["node"] == node)
            return {
                "card": [card[key] for key in ("label", "votes", "predicted", "hidden", "settled_by")],
                "row": {key: value for key, value in row.items() if key not in ("node", "name", "title", "degree")},
                "colours": [colours[key][index] for key in ("labelled", "predicted", "sure")],
                "drawing": [drawn[key] for key in ("label", "predicted", "sure")],
            }

        assert seen(5) == seen(6)
        assert seen(5)["card"][:4] == ["a", {"ada": "a"}, None, True] and seen(5)["drawing"] == ["a", None, None]


def test_a_question_with_a_known_answer_that_others_gave_hides_no_prediction_in_the_table(tmp_path: Path) -> None:
    """Where two opinions are wanted: a first opinion shows predictions everywhere, and this looks like one."""
    session = job(tmp_path, control=50, budget=40, redundancy=2)
    session.set_known({5: "a"}, annotator="olga")
    for who in ("bo", "cy"):
        session.tell([0, 1, 58, 59], ["a", "a", "b", "b"], who)
    answer_when_asked(session, "bo", {5: "a"})
    with running(tmp_path, session) as client:
        client.look("/map/colours")
        asked = client.say("/ask", annotator="ada", k=1)["queries"][0]
        for _ in range(20):
            if asked["node"] == 5:
                break
            client.say("/skip", annotator="ada", node=asked["node"])
            asked = client.say("/ask", annotator="ada", k=1)["queries"][0]
        assert asked["node"] == 5 and not asked["card"]["hidden"] and asked["card"]["predicted"]
        for path in ("/table", "/nodes/0/similar"):
            row = next(row for row in client.look(path, annotator="ada", limit=60)["rows"] if row["node"] == 6)
            assert row["predicted"] is not None, path
