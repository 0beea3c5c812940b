"""Rows similar to one, labelled together: which are told, to whom, and that the audit and blind questions stay so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nodewise.studio.api.desk_responses import ActionResponse, SimilarResponse
from tests.studio.jobs import job
from tests.studio.serving import API, running

pytestmark = pytest.mark.slow


def test_similar_rows_are_labelled_as_one_event_and_taken_back_as_one(tmp_path: Path) -> None:
    session = job(tmp_path)
    session.tell([0, 1, 58, 59], ["a", "a", "b", "b"])
    with running(tmp_path, session) as client:
        client.look("/map/colours")
        found = client.look("/nodes/0/similar", SimilarResponse, limit=8)
        nodes = [row["node"] for row in found["rows"]]
        assert found["node"] == 0 and len(nodes) == 8 and not {0, 1, 58, 59} & set(nodes)
        likeness = [row["likeness"] for row in found["rows"]]
        assert likeness == sorted(likeness, reverse=True) and 0 < likeness[-1] <= likeness[0] <= 1
        assert all(row["label"] is None and row["predicted"] is not None for row in found["rows"])
        with_labels = client.look("/nodes/0/similar", SimilarResponse, limit=59, labelled=True)
        assert {1: "a", 59: "b"}.items() <= {row["node"]: row["label"] for row in with_labels["rows"]}.items()
        before = client.look("/status")["last"]
        wish: dict[str, Any] = {"action": "label", "label": "a", "nodes": nodes}
        shown = client.say("/table/act", ActionResponse, **wish)
        assert shown["rows"] == 8
        done = client.say("/table/act", ActionResponse, digest=shown["digest"], **wish)
        assert done["status"]["last"] == before + 1 and done["status"]["bulk"] == 8
        again = [row["node"] for row in client.look("/nodes/0/similar", limit=8)["rows"]]
        assert not set(again) & set(nodes), "what is labelled is no longer offered"
        client.say("/undo", event=done["done"]["event"])
        assert [row["node"] for row in client.look("/nodes/0/similar", limit=8)["rows"]] == nodes
        assert "there is no node 60" in client.refused(404, "GET", "/nodes/60/similar")


def test_rows_of_the_audit_and_of_second_opinions_are_neither_told_nor_asked_from(tmp_path: Path) -> None:
    session = job(tmp_path, audit=6, redundancy=2)
    audit = set(session.moment().contents.audit)
    asked = next(node for node in range(60) if node not in audit)
    session.tell([asked], ["a"], "ada")
    with running(tmp_path, session) as client:
        other = next(node for node in range(60) if node not in audit and node != asked)
        told = {
            row["node"]
            for row in client.look(f"/nodes/{other}/similar", limit=100, labelled=True, annotator="bo")["rows"]
        }
        assert told and not told & (audit | {asked})
        said = client.refused(409, "GET", f"/nodes/{min(audit)}/similar")
        assert "belongs to the audit" in said and "too high" in said


def test_a_blind_question_hides_the_predictions_of_similar_rows(tmp_path: Path) -> None:
    session = job(tmp_path, redundancy=2)
    session.tell([0, 1, 58, 59], ["a", "a", "b", "b"], "ada")
    session.tell([0, 1, 58, 59], ["a", "a", "b", "b"], "eve")
    session.tell([30], ["a"], "ada")
    with running(tmp_path, session) as client:
        client.look("/map/colours")
        seen = client.look("/nodes/0/similar", annotator="eve")["rows"]
        assert any(row["predicted"] for row in seen)
        query = client.say("/ask", annotator="bo", k=1)["queries"][0]
        assert query["node"] == 30 and query["card"]["hidden"]
        rows = client.look("/nodes/0/similar", annotator="bo")["rows"]
        assert rows and not any(row["predicted"] or row["suggested"] for row in rows)


def test_everybody_may_look_and_only_those_who_label_may_label(tmp_path: Path) -> None:
    session = job(tmp_path)
    session.tell([0, 59], ["a", "b"])
    with running(tmp_path, session, token="the-owners-token") as client:
        client.headers["Authorization"] = "Bearer the-owners-token"
        for role, status in (("annotator", 200), ("reviewer", 403), ("onlooker", 403)):
            token = client.say("/people", name=role, role=role)["token"]
            who = {"Authorization": f"Bearer {token}"}
            found = client.get(f"{API}/nodes/0/similar", headers=who, params={"limit": 3})
            assert found.status_code == 200
            nodes = [row["node"] for row in found.json()["rows"]]
            body = {"action": "label", "label": "a", "nodes": nodes}
            assert client.post(f"{API}/table/act", json=body, headers=who).status_code == status


def test_rows_of_several_classes_are_labelled_together(tmp_path: Path) -> None:
    session = job(tmp_path, several=True, classes=["a", "b", "c"])
    session.tell([0, 1, 59], [["a", "b"], [], ["c"]])
    with running(tmp_path, session) as client:
        nodes = [row["node"] for row in client.look("/nodes/0/similar", SimilarResponse, limit=4)["rows"]]
        wish: dict[str, Any] = {"action": "label", "label": "a;b", "nodes": nodes}
        client.say("/table/act", digest=client.say("/table/act", **wish)["digest"], **wish)
        assert {client.look(f"/nodes/{node}")["label"] for node in nodes} == {"a;b"}
