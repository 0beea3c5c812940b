"""``nodewise session add``, ``change``, ``remove`` and ``erase``."""

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
    (tmp_path / "corrected.csv").write_text("id,text\n1,wheel road\n3,meow\n")
    out, _ = run(capfd, "change", path, tmp_path / "corrected.csv")
    assert out == "2 rows changed (event 5), 1 of them labelled before: look at these again\n"
    assert "changed since they were labelled" in run(capfd, "status", path)[0]
    assert json.loads(run(capfd, "status", path, "--json")[0])["outdated"] == ["1"]
    run(capfd, "tell", path, "1", "car")
    assert json.loads(run(capfd, "status", path, "--json")[0])["outdated"] == []
    (tmp_path / "corrected.csv").write_text("id,text\n3,meow road\n")
    assert run(capfd, "change", path, tmp_path / "corrected.csv")[0].endswith("none of them labelled\n")
    run(capfd, "note", path, "5", "as in row 1: wheel road")
    out, _ = run(capfd, "erase", path, tmp_path / "new.nodewise", "1")
    assert out.startswith("1 row erased in new.nodewise: ") and "the log lost 2 answers: 2 events say no more" in out
    assert "still holds them" in out and b"wheel road" not in (tmp_path / "new.nodewise").read_bytes().replace(
        b"as in row 1: wheel road", b""
    )
    assert json.loads(run(capfd, "status", tmp_path / "new.nodewise", "--json")[0])["balance"] == {"cat": 0, "car": 0}
    _, error = run(capfd, "erase", path, path, "1", code=2)
    assert "session itself" in error and len(error.splitlines()) == 1
    _, error = run(capfd, "change", path, tmp_path / "first.txt", code=2)
    assert "a column that names the row" in error and len(error.splitlines()) == 1
    _, error = run(capfd, "add", path, tmp_path / "none.csv", code=2)
    assert "none.csv" in error and len(error.splitlines()) == 1
