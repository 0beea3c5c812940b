"""Sessions, settings and texts that are made to get stuck or to use up the machine: refused in words, or taken."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodewise.classifiers import Gcn
from nodewise.graph import Graph
from nodewise.ground.errors import InputError, SessionError, SessionFileError
from nodewise.session import Session
from nodewise.session.log.database import failure
from nodewise.session.log.log import Log


def named_graph(length: int) -> Graph:
    generator = np.random.default_rng(0)
    edges = np.unique(np.sort(generator.integers(0, 60, (2, 150)), axis=0), axis=1)
    names = [f"{node} " + "n" * length for node in range(60)]
    return Graph.build(
        edges[:, edges[0] != edges[1]], 60, x=generator.random((60, 8), dtype=np.float32), node_names=names
    )


def inside(path: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """What a session's file says of itself, to be changed, and its graph."""
    with Log.open(path) as log:
        return json.loads(json.dumps(log.settings)), {"graph": log.part("graph") or b""}


@pytest.mark.parametrize("strategy", ["uncertainty", "gain"])
def test_names_as_long_as_a_text_do_not_stop_the_questions(strategy: str, tmp_path: Path) -> None:
    graph = named_graph(12_000)
    with Session.create(tmp_path / "job", graph, budget=12, classes=["a", "b"], strategy=strategy) as session:
        for number in range(12):
            query = session.ask()
            assert all(len(reason) < 2000 for reason in query.why)
            session.tell(query.node, "ab"[number % 2])


@pytest.mark.parametrize("key", ["budget", "audit"])
def test_a_session_that_asks_for_more_than_its_nodes_is_refused(key: str, tmp_path: Path) -> None:
    with Session.create(tmp_path / "job", named_graph(1), budget=5, classes=["a", "b"]):
        pass
    settings, parts = inside(tmp_path / "job")
    settings["settings"][key] = 1_000_000
    Log.create(tmp_path / "gift", settings, parts).close()
    with pytest.raises(SessionFileError, match="1,000,000.*of 60 nodes"):
        Session.open(tmp_path / "gift")


@pytest.mark.parametrize("setting", [{"hidden": 10**8}, {"closing_epochs": 10**12}])
def test_a_classifier_that_would_never_end_is_refused(setting: dict[str, int]) -> None:
    with pytest.raises(InputError, match="give fewer"):
        Gcn(**setting)  # type: ignore[arg-type]


@pytest.mark.parametrize("setting", [{"hidden": 10**8}, {"closing_epochs": 10**12}])
def test_a_gift_whose_classifier_would_never_end_is_refused_before_it_learns(
    setting: dict[str, int], tmp_path: Path
) -> None:
    with Session.create(tmp_path / "job", named_graph(1), budget=5, classes=["a", "b"], classifier="gcn"):
        pass
    settings, parts = inside(tmp_path / "job")
    settings["settings"]["classifier_settings"] |= setting
    Log.create(tmp_path / "gift", settings, parts).close()
    with Session.open(tmp_path / "gift") as gift:
        gift.tell(0, "a")
        for learn in (gift.ask, gift.predict):
            with pytest.raises(SessionError, match=r"give fewer\. Session\.open"):
                learn()


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there are no device files")
def test_a_gift_whose_graph_is_a_device_or_a_pipe_is_refused_and_nobody_waits(tmp_path: Path) -> None:
    with Session.create(tmp_path / "job", named_graph(1), budget=5, classes=["a", "b"]):
        pass
    settings, _ = inside(tmp_path / "job")
    os.mkfifo(tmp_path / "pipe")
    for number, path in enumerate(("/dev/zero", str(tmp_path / "pipe"))):
        settings["graph"] = {"where": "file", "path": path, "sha256": "0" * 64}
        Log.create(tmp_path / f"gift{number}", settings, {}).close()
        with pytest.raises(SessionFileError, match="is not an ordinary file"):
            Session.open(tmp_path / f"gift{number}")
    for path in ("/dev/zero", str(tmp_path / "pipe")):
        with pytest.raises(SessionFileError, match="is not a file"):
            Session.open(path)


def test_a_note_of_another_encoding_is_refused_before_it_is_written(tmp_path: Path) -> None:
    with Session.create(tmp_path / "job", named_graph(1), budget=5, classes=["a", "b"]) as session:
        with pytest.raises(InputError, match="UTF-8"):
            session.add_note(0, b"caf\xe9".decode("utf-8", "surrogateescape"))
        assert not session.notes


@pytest.mark.parametrize("locks", [True, False])
def test_a_file_system_without_locks_is_not_called_a_session_in_use(
    locks: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    if not locks:
        monkeypatch.setattr(fcntl, "lockf", no_locks)
    told = str(failure(tmp_path / "job", "read", 1.0, sqlite3.OperationalError("database is locked")))
    assert ("has no locks" in told) == (not locks) and ("in use" in told) == locks
