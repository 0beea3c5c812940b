"""``nodewise session`` where a row may have several classes, through the real command."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from nodewise.cli import main
from nodewise.fitted import load_fitted


def run(capfd: pytest.CaptureFixture[str], *arguments: str | Path, code: int = 0) -> str:
    assert main(["session", *map(str, arguments)]) == code
    said = capfd.readouterr()
    return said.out if code == 0 else said.err


def test_a_job_of_several_labels(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    job = tmp_path / "job.nodewise"
    how = ("--several", "--budget", "5", "--classes", "a,b,c", "--hide-labels")
    assert "any number of them a node" in run(capfd, "new", job, "karate", *how)
    run(capfd, "tell", job, "30", "a")
    (query,) = json.loads(run(capfd, "ask", job, "--json"))["queries"]
    assert query["given"] == ["a"] and [name for name, _ in query["predicted"]] == ["a", "b", "c"]
    assert "would be given: a" in run(capfd, "ask", job)
    run(capfd, "undo", job)
    assert run(capfd, "tell", job, "0", "b", "a") == "0: a;b (1 of 5 labels)\n"
    assert run(capfd, "tell", job, "1", "c;b") == "1: b;c (2 of 5 labels)\n"
    assert run(capfd, "tell", job, "2", "--none") == "2: none of them (3 of 5 labels)\n"
    assert run(capfd, "bulk", job, "a;c", "3", "4").startswith("2 nodes: a;c (in bulk")
    assert run(capfd, "undo", job).startswith("undone: bulk")
    assert run(capfd, "undo", job) == "undone: tell none of them of node 2 by me\n"
    run(capfd, "tell", job, "5", "a", "c")
    assert run(capfd, "settle", job, "5", "c") == "5: settled as c\n"
    status = json.loads(run(capfd, "status", job, "--json"))
    assert status["several"] and status["balance"] == {"a": 1, "b": 2, "c": 2}
    run(capfd, "export", job, tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(encoding="utf-8") as file:
        assert [row["label"] for row in csv.DictReader(file)][:2] == ["a;b", "b;c"]
    assert "3 labels of 34 nodes, 3 classes" in run(capfd, "export-fitted", job, tmp_path / "x.fitted")
    assert load_fitted(tmp_path / "x.fitted").labels == {0: (0, 1), 1: (1, 2), 5: (2,)}


def test_labels_that_are_missing_or_too_many_are_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    several, one = tmp_path / "several.nodewise", tmp_path / "one.nodewise"
    run(capfd, "new", several, "karate", "--several", "--budget", "5", "--classes", "a,b", "--hide-labels")
    run(capfd, "new", one, "karate", "--budget", "5", "--classes", "a,b", "--hide-labels")
    assert "give the class's name, or --none" in run(capfd, "tell", several, "0", code=2)
    assert "--none was given, but ['a'] as well" in run(capfd, "tell", several, "0", "a", "--none", code=2)
    assert "where a node has one class" in run(capfd, "tell", one, "0", "--none", code=2)
    assert "no label was given: give the class's name; to pass over" in run(capfd, "tell", one, "0", code=2)
    assert "1 node but 2 labels" in run(capfd, "tell", one, "0", "a", "b", code=2)
    refused = run(capfd, "new", tmp_path / "gcn", "karate", "--several", "--classifier", "gcn", code=2)
    assert "cannot deal with several labels" in refused and not (tmp_path / "gcn").exists()
