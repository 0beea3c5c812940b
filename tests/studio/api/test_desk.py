"""What is done at once with the rows that a filter finds: shown first, done as one change, by those who may."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nodewise.studio.api.desk_responses import ActionResponse, TableResponse
from nodewise.studio.api.responses import ReportResponse
from tests.session.learning.test_unlike import labelled_job
from tests.studio.jobs import job
from tests.studio.serving import API, Client, running

pytestmark = pytest.mark.slow


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    session = job(tmp_path)
    session.tell([0, 1, 58, 59], ["a", "a", "b", "b"], "bob")
    with running(tmp_path, session) as client:
        client.look("/map/colours")
        yield client


def do(client: Client, action: str, **body: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is shown before, and what is answered once it is done."""
    shown = client.say("/table/act", ActionResponse, action=action, **body)
    assert shown["done"] is None
    return shown, client.say("/table/act", ActionResponse, action=action, digest=shown["digest"], **body)


def total(client: Client, *filters: str, **query: Any) -> int:
    return int(client.look("/table", TableResponse, filter=list(filters), **query)["total"])


def test_predictions_are_confirmed_as_they_were_shown_and_taken_back_as_one(client: Client) -> None:
    where = {"filter": ["unlabelled"], "label": "a"}
    before = client.look("/status")["last"]
    shown, done = do(client, "confirm", where=where, annotator="eve", count=7)
    assert shown["rows"] == 7 and shown["classes"] == {"a": 7} and shown["found"] > 7
    assert [each["why"] for each in shown["left_out"]] == ["beyond the 7 rows of one action"]
    assert {each["after"] for each in shown["examples"]} == {"a"} and shown["examples"][0]["before"] is None
    assert done["status"]["bulk"] == 7 and done["status"]["last"] == before + 1, "one event"
    assert total(client, "bulk", by="eve") == 7
    client.say("/undo", annotator="eve")
    assert total(client, "bulk") == 0


def test_nothing_is_done_where_it_is_no_longer_what_was_shown(client: Client) -> None:
    shown = client.say("/table/act", action="label", label="b", where={"filter": ["unlabelled"]})
    client.say("/tell", labels=[{"node": 5, "label": "a"}], annotator="bob")
    said = client.refused(
        409,
        "POST",
        "/table/act",
        json={"action": "label", "label": "b", "where": {"filter": ["unlabelled"]}, "digest": shown["digest"]},
    )
    assert "have changed since this was shown" in said and client.look("/status")["bulk"] == 0


def test_labels_of_others_are_left_alone_and_ones_own_are_replaced(client: Client) -> None:
    client.say("/tell", labels=[{"node": 5, "label": "a"}, {"node": 6, "label": "b"}], annotator="eve")
    shown, _ = do(client, "label", label="b", nodes=[0, 5, 6, 7, 58], annotator="eve")
    assert shown["rows"] == 3 and shown["replaced"] == 1, "rows 5 and 7; of 58 it is a second voice for the same"
    assert {each["why"]: each["rows"] for each in shown["left_out"]} == {
        "labelled otherwise by somebody else": 1,
        "labelled so already": 1,
    }
    assert client.look("/nodes/0")["label"] == "a" and client.look("/nodes/5")["label"] == "b"


def test_what_was_settled_otherwise_is_left_alone(client: Client) -> None:
    client.say("/redundancy", redundancy=2, annotator="olga")
    client.say("/tell", labels=[{"node": 0, "label": "b"}], annotator="ada")
    client.say("/settle", node=0, label="a", annotator="olga")
    shown, _ = do(client, "label", label="b", nodes=[0, 7], annotator="eve")
    assert shown["rows"] == 1 and {each["why"]: each["rows"] for each in shown["left_out"]} == {"settled otherwise": 1}
    assert client.look("/nodes/0")["label"] == "a" and client.look("/nodes/0")["settled_by"] == "olga"


def test_skips_notes_and_removals_are_one_event_each(client: Client) -> None:
    for action, body, filters in (
        ("skip", {}, ["skipped"]),
        ("note", {"text": "look again"}, ["noted"]),
    ):
        _, done = do(client, action, nodes=[20, 21, 22], annotator="eve", **body)
        assert total(client, *filters) == 3
        client.say("/undo", annotator="eve", event=done["done"]["event"])
        assert total(client, *filters) == 0
    _, done = do(client, "remove", nodes=[20, 21])
    assert total(client) == 58
    client.say("/undo", event=done["done"]["event"])
    assert total(client) == 60
    assert "the note is empty" in client.refused(
        400, "POST", "/table/act", json={"action": "note", "text": " ", "nodes": [1]}
    )
    assert "no row that this would change" in client.refused(
        409,
        "POST",
        "/table/act",
        json={
            "action": "confirm",
            "nodes": [0],
            "digest": client.say("/table/act", action="confirm", nodes=[0])["digest"],
        },
    )


def test_rows_are_given_by_a_filter_and_just_these_are_freed_again(client: Client) -> None:
    client.say("/ask", annotator="ada")
    _, done = do(client, "assign", to="ada", where={"filter": ["unlabelled"], "label": "b"}, count=3)
    given = done["done"]["nodes"]
    assert len(given) == 3 and len(client.look("/status")["open"]["ada"]) == 4
    assert client.say("/release", released="ada", nodes=given)["count"] == 3
    assert len(client.look("/status")["open"]["ada"]) == 1, "what she was asked before stays hers"


def test_rows_of_the_audit_are_never_labelled_in_bulk(tmp_path: Path) -> None:
    session = job(tmp_path, audit=5)
    session.tell([0, 1, 58, 59], ["a", "a", "b", "b"])
    waiting = set(session.moment().contents.audit) - {0, 1, 58, 59}
    with running(tmp_path, session) as client:
        shown = client.say("/table/act", action="label", label="a", where={"filter": ["unlabelled"]})
        assert waiting and shown["rows"] == shown["found"] - len(waiting)
        why = "to be judged one by one: audit, or a second opinion"
        assert {"why": why, "rows": len(waiting)} in shown["left_out"]
        for node in waiting:
            assert client.say("/table/act", action="label", label="a", nodes=[node])["rows"] == 0


def test_each_action_is_for_those_who_may_do_it_to_one_row(tmp_path: Path) -> None:
    session = job(tmp_path)
    session.tell([0, 59], ["a", "b"])
    tokens = dict.fromkeys(("annotator", "reviewer", "onlooker"), "")
    with running(tmp_path, session, token="the-owners-token") as client:
        client.headers["Authorization"] = "Bearer the-owners-token"
        for role in tokens:
            tokens[role] = client.say("/people", name=role, role=role)["token"]
        bodies: dict[str, dict[str, Any]] = {
            "label": {"label": "a"},
            "confirm": {},
            "skip": {},
            "note": {"text": "x"},
            "assign": {"to": "annotator"},
            "remove": {},
        }
        may = {"annotator": {"label", "confirm", "skip", "note"}, "reviewer": {"note"}, "onlooker": set()}
        for role, token in tokens.items():
            for action, body in bodies.items():
                for extra in ({}, {"digest": "0" * 32}):
                    answer = client.post(
                        f"{API}/table/act",
                        json={"action": action, "nodes": [7], **body, **extra},
                        headers={"Authorization": f"Bearer {token}"},
                    )
                    assert (answer.status_code == 403) == (action not in may[role]), (role, action, answer.text)
        answer = client.post(
            f"{API}/table/act",
            json={"action": "label", "label": "a new one", "nodes": [7]},
            headers={"Authorization": f"Bearer {tokens['annotator']}"},
        )
        assert answer.status_code == 403 and "annotators add none" in answer.json()["error"]
        assert client.look("/status")["bulk"] == 0


def test_rows_unlike_all_labelled_ones_are_a_filter_that_the_report_counts(tmp_path: Path) -> None:
    session, kinds = labelled_job(tmp_path, audit=8)
    hidden = set(session.moment().rules.audit)
    with running(tmp_path, session) as client:
        client.look("/map/colours")
        found = client.look("/table", TableResponse, filter=["unlike"], sort="unlike", limit=100)
        nodes = [row["node"] for row in found["rows"]]
        assert nodes and kinds[nodes[0]] == 2 and not hidden & set(nodes)
        assert client.look("/report", ReportResponse)["unlike"] == found["total"]
        asked = {"audit": False}
        while not asked["audit"]:
            asked = client.say("/ask", annotator="ada", k=1)["queries"][0]
            if not asked["audit"]:
                client.say("/skip", annotator="ada", node=asked["node"])
        assert client.look("/table", filter=["unlike"], annotator="ada")["total"] == 0, "blind is blind"
