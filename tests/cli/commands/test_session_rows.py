"""``nodewise session add`` and ``remove``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nodewise.cli import main


def run(capfd: pytest.CaptureFixture[str], *arguments: str | Path, code: int = 0) -> tuple[str, str]:
    assert main(["session", *map(str, arguments)]) == code, capfd.readouterr().err
    return capfd.readouterr()  # type: ignore[return-value]


def test_rows_are_added_and_taken_out(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    texts = [f"purr meow {number % 7}" if number % 2 else f"road wheel {number % 7}" for number in range(40)]
    (tmp_path / "first.txt").write_text("\n".join(texts))
    (tmp_path / "later.csv").write_text("text\npurr purr\nwheel\nmeow road\n")
    assert main(["convert", str(tmp_path / "first.txt"), str(tmp_path / "first.npz"), "--knn", "5"]) == 0
    path = tmp_path / "job.nodewise"
    run(capfd, "new", path, tmp_path / "first.npz", "--budget", "6", "--classes", "cat,car", "--audit", "20")
    run(capfd, "tell", path, "1", "cat")
    out, _ = run(capfd, "add", path, tmp_path / "later.csv")
    assert out.startswith("3 rows added, 40 to 42, 2 of them drawn for the audit: 43 rows, ")
    out, _ = run(capfd, "remove", path, "41", "1")
    assert out.startswith("2 rows taken out (event 3)")
    status = json.loads(run(capfd, "status", path, "--json")[0])
    assert status["nodes"] == 43 and status["balance"] == {"cat": 0, "car": 0}
    run(capfd, "undo", path)
    assert json.loads(run(capfd, "status", path, "--json")[0])["balance"] == {"cat": 1, "car": 0}
    _, error = run(capfd, "add", path, tmp_path / "none.csv", code=2)
    assert "none.csv" in error and len(error.splitlines()) == 1
