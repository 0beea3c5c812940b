"""Work that is cancelled by its ticket, at any time."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from nodewise.studio.work.errors import CancelledWorkError
from nodewise.studio.work.tickets import Tickets
from tests.studio.jobs import job
from tests.studio.serving import running


def test_a_ticket_may_be_cancelled_before_its_work_begins_and_old_ones_are_forgotten() -> None:
    tickets = Tickets()
    tickets.cancel("one ticket")
    tickets.check(None, "work")
    tickets.check("another ticket", "work")
    with pytest.raises(CancelledWorkError, match="work was cancelled: nothing is left of it"):
        tickets.check("one ticket", "work")
    for number in range(1000):
        tickets.cancel(f"ticket {number}")
    tickets.check("one ticket", "work")


def test_map_report_export_and_a_new_session_can_be_cancelled(tmp_path: Path) -> None:
    session = job(tmp_path, classifier="gcn")
    session.tell([0, 1, 2, 59, 58], ["a", "a", "a", "b", "b"])
    with running(tmp_path, session) as client:
        client.say("/cancel", ticket="no longer wanted")
        for path, what in (("/map", "drawing the map"), ("/report", "the report"), ("/export/csv", "the export")):
            assert client.refused(409, "GET", path, params={"ticket": "no longer wanted"}).startswith(
                f"{what} was cancelled"
            )
            assert client.get(f"/api/v1{path}", params={"ticket": "still wanted"}).status_code == 200
        table = {"nodes": ("t.csv", b"text\n" + b"\n".join(b"a line %d of words" % line for line in range(30)))}
        form = {"name": "new", "text": "text", "classes": "a, b", "knn": 3}
        said = client.refused(409, "POST", "/session", data={**form, "ticket": "no longer wanted"}, files=table)
        assert said.startswith("making the session 'new' was cancelled") and not list(tmp_path.glob("new*"))
        assert client.post("/api/v1/session", data=form, files=table).status_code == 201


def test_a_report_that_runs_ends_when_it_is_cancelled(tmp_path: Path) -> None:
    session = job(tmp_path, classifier="gcn")
    session.tell(list(range(50)), ["ab"[node % 2] for node in range(50)])
    with running(tmp_path, session) as client:
        page = client.studio.sessions.get("job").page
        begun, go_on = threading.Event(), threading.Event()

        def wait(event: object, /) -> None:
            begun.set()
            go_on.wait(60)

        page.reports._reporter = wait
        answers: list[int] = []
        asking = threading.Thread(
            target=lambda: answers.append(client.get("/api/v1/report", params={"ticket": "a report"}).status_code)
        )
        asking.start()
        assert begun.wait(60)
        client.say("/cancel", ticket="a report")
        go_on.set()
        asking.join()
        assert answers == [409]
