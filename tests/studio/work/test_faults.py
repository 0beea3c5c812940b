"""What goes wrong in the background is logged, once."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nodewise.ground.errors import SessionError
from nodewise.session import Session
from nodewise.studio.work.errors import StoppedError
from nodewise.studio.work.faults import Faults
from tests.studio.jobs import job
from tests.studio.serving import running


def raising(error: BaseException | None) -> None:
    if error is not None:
        raise error


def test_a_fault_is_logged_once_until_the_work_has_succeeded(caplog: pytest.LogCaptureFixture) -> None:
    faults = Faults()
    for error in (SessionError("no\nfile"), SessionError("no file"), None, SessionError("no file"), KeyError("x")):
        with faults.logged("looking"):
            raising(error)
    assert [record.getMessage() for record in caplog.records] == [
        "looking failed: SessionError: no file",
        "looking failed: SessionError: no file",
        "looking failed: KeyError: 'x'",
    ]
    assert [record.name for record in caplog.records] == ["nodewise.studio"] * 3
    assert [bool(record.exc_info) for record in caplog.records] == [False, False, True], "where it was nobody's doing"


def test_the_end_is_no_fault_and_neither_is_it_kept_from_ending(caplog: pytest.LogCaptureFixture) -> None:
    faults = Faults()
    with faults.logged("looking"):
        raise StoppedError("the studio is being shut down")
    with pytest.raises(KeyboardInterrupt), faults.logged("looking"):
        raise KeyboardInterrupt
    assert not caplog.records


def test_a_session_that_cannot_be_looked_at_is_logged_and_the_others_are_looked_at(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    job(tmp_path, "other").close()
    with running(tmp_path, job(tmp_path)) as client:
        client.look("/status", session="other")
        (tmp_path / "job.nodewise").rename(tmp_path / "elsewhere")
        wait_for(lambda: bool(caplog.records))
        with Session.open(tmp_path / "other.nodewise") as session:  # its page hears of it all the same
            session.tell(5, "a")
        other = client.studio.sessions.get("other")
        wait_for(lambda: other._seen == 1)
        (tmp_path / "elsewhere").rename(tmp_path / "job.nodewise")
        client.say("/tell", session="job", labels=[{"node": 1, "label": "a"}])
        assert client.look("/status", session="job")["last"] == 1
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.startswith("looking at the session 'job' failed: ConflictError: the file 'job.nodewise' has been moved")


def test_predictions_that_fail_in_the_background_are_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with running(tmp_path, job(tmp_path, classifier="gcn")) as client:
        predictions = client.studio.sessions.get("job").page.predictions

        def fail(event: object, /) -> None:
            raise MemoryError("no memory for it")

        predictions._reporter = fail
        client.say("/tell", labels=[{"node": 1, "label": "a"}, {"node": 50, "label": "b"}])
        client.look("/nodes/3")  # somebody looks, so they are wanted
        wait_for(lambda: bool(caplog.records))
        assert client.look("/status")["last"] == 2, "everything else goes on"
    assert caplog.records[0].getMessage() == "predicting for the session 'job' failed: MemoryError: no memory for it"


def wait_for(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.02)
