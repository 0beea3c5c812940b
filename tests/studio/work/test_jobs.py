"""The list of jobs, copies and the archive, over HTTP."""

from __future__ import annotations

from pathlib import Path

from nodewise.session import Session
from nodewise.session.answers import Draft
from nodewise.session.log.log import Log
from nodewise.studio.api.responses import DisagreementsResponse
from nodewise.studio.api.studio_responses import JobsResponse, SettingsResponse
from nodewise.studio.work.jobs import JobList
from tests.studio.jobs import job
from tests.studio.serving import running


def test_jobs_are_listed_with_rows_progress_date_strategy_and_size(tmp_path: Path) -> None:
    session = job(tmp_path, "one", audit=3)
    node = session.ask().node
    session.tell(node, "a")
    session.tell_bulk([30, 31], "b")
    session.close()
    (tmp_path / "broken.nodewise").write_bytes(b"no session")
    with running(tmp_path, job(tmp_path, "two")) as client:
        broken, one, two = client.look("/jobs", JobsResponse)["jobs"]
        assert (one["name"], one["rows"], one["labels"], one["budget"], one["classes"]) == ("one", 60, 1, 20, 2)
        assert (one["strategy"], one["classifier"]) == ("uncertainty", "views") and one["bytes"] == (
            tmp_path / "one.nodewise"
        ).stat().st_size
        assert two["labels"] == 0 and one["changed"] > 1e9 and broken["problem"] and broken["rows"] is None
        client.say("/tell", session="two", labels=[{"node": 1, "label": "a"}])
        assert client.look("/jobs")["jobs"][2]["labels"] == 1


def test_rows_are_counted_as_they_came_and_went_and_a_file_that_claims_too_many_is_no_danger(tmp_path: Path) -> None:
    session = job(tmp_path, "one")
    session.tell([1, 2], ["a", "b"])
    session.remove_rows([2])
    session.close()
    job(tmp_path, "two").close()
    body = {"first": 60, "count": 2**21, "audit": []}
    with Log.open(tmp_path / "two.nodewise") as log:
        log.append([Draft("rows", "me", body, {"rows": b"few bytes"})])
    job(tmp_path, "worse").close()
    with Log.open(tmp_path / "worse.nodewise") as log:
        log.append([Draft("rows", "me", {**body, "count": "many"}, {"rows": b"few bytes"})])
    one, two, worse = JobList(tmp_path).describe(["one", "two", "worse"])
    assert (one["rows"], one["labels"], one["problem"]) == (59, 1, None)
    assert "more than a file of its size can hold" in two["problem"] and "its count is 'many'" in worse["problem"]


def test_a_copy_has_all_labels_and_goes_its_own_way(tmp_path: Path) -> None:
    session = job(tmp_path)
    session.tell([1, 2], ["a", "b"])
    with running(tmp_path, session) as client:
        client.say("/jobs/duplicate", name="job", new_name="job (2)")
        client.say("/tell", session="job (2)", labels=[{"node": 3, "label": "a"}])
        assert [client.look("/status", session=name)["told"] for name in ("job", "job (2)")] == [2, 3]
        assert "already" in client.refused(409, "POST", "/jobs/duplicate", json={"name": "job", "new_name": "job (2)"})
        assert "a session's name" in client.refused(
            400, "POST", "/jobs/duplicate", json={"name": "job", "new_name": "../job"}
        )
        client.refused(404, "POST", "/jobs/duplicate", json={"name": "none", "new_name": "other"})


def test_an_archived_session_is_moved_and_comes_back_with_everything(tmp_path: Path) -> None:
    session = job(tmp_path)
    session.tell([1, 2], ["a", "b"])
    with running(tmp_path, session) as client:
        before = (tmp_path / "job.nodewise").read_bytes()
        client.say("/jobs/archive", name="job")
        assert (
            not (tmp_path / "job.nodewise").exists() and (tmp_path / "archive" / "job.nodewise").read_bytes() == before
        )
        listed = client.look("/jobs", JobsResponse)
        assert (
            listed["jobs"] == []
            and [each["name"] for each in listed["archived"]] == ["job"]
            and client.look("/studio")["session"] is None
        )
        client.refused(404, "GET", "/status", params={"session": "job"})
        job(tmp_path).close()
        assert "already" in client.refused(409, "POST", "/jobs/archive", json={"name": "job"}), (
            "nothing is written over"
        )
        assert "already" in client.refused(409, "POST", "/jobs/restore", json={"name": "job"})
        (tmp_path / "job.nodewise").rename(tmp_path / "else.nodewise")
        client.say("/jobs/restore", name="job")
        assert client.look("/status", session="job")["told"] == 2
        client.refused(404, "POST", "/jobs/restore", json={"name": "../job"})


def test_settings_are_read_and_the_safe_ones_changed_as_events(tmp_path: Path) -> None:
    with running(tmp_path, job(tmp_path)) as client:
        made = client.look("/settings", SettingsResponse)
        assert (made["budget"], made["redundancy"], made["classifier"], made["nodes"]) == (20, 1, "views", 60)
        assert made["facts"]["classifier"] == "views" and made["facts"]["release after"] == "60 min"
        assert made["facts"]["why this strategy"] == made["reason"] and "budget" not in made["facts"]
        client.say("/redundancy", redundancy=2)
        client.say("/budget", budget=25)
        client.say("/classes/describe", text="in doubt, skip")
        now = client.look("/settings", SettingsResponse)
        assert (now["budget"], now["redundancy"], now["guideline"]) == (25, 2, "in doubt, skip")
        client.say("/undo")
        client.say("/undo")
        client.say("/undo")
        assert {**client.look("/settings"), "bytes": 0} == {**made, "bytes": 0}


def test_disagreements_are_listed_settled_and_kept_from_whose_opinion_is_wanted(tmp_path: Path) -> None:
    with running(tmp_path, job(tmp_path, redundancy=3)) as client:
        for who, label in (("ada", "a"), ("bob", "b")):
            client.say("/tell", annotator=who, labels=[{"node": 7, "label": label}])
        (node,) = client.look("/disagreements", DisagreementsResponse)["nodes"]
        assert (node["node"], node["votes"], node["label"], node["settled_by"]) == (
            7,
            {"ada": "a", "bob": "b"},
            "a",
            None,
        )
        assert client.look("/disagreements", annotator="cyd")["nodes"] == []
        with Session.open(tmp_path / "job.nodewise") as session:
            session.remove_rows([7])
            assert client.look("/disagreements")["nodes"] == []
            session.undo()
        event = client.say("/settle", annotator="eve", node=7, label="b")["event"]
        (node,) = client.look("/disagreements", annotator="cyd")["nodes"]
        assert (node["label"], node["settled_by"]) == ("b", "eve")
        assert client.look("/events")["events"][0] | {"time": 0} == {
            "event": event,
            "kind": "settle",
            "annotator": "eve",
            "node": 7,
            "name": "7",
            "label": "b",
            "nodes": None,
            "into": None,
            "text": None,
            "budget": None,
            "redundancy": None,
            "undoes": None,
            "undone": False,
            "time": 0,
        }
    with Session.open(tmp_path / "job.nodewise") as session:
        assert session.labels[7] == "b"
