from __future__ import annotations

import json
import subprocess
from pathlib import Path

from benchmarks.machine import lost_commits, named_commits, views_since


def git(folder: Path, *command: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", *who, *command], cwd=folder, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_commits_are_found_at_any_depth() -> None:
    record = {"machine": {"commit": "one"}, "rows": [{"commit": "two"}, {"at": [{"commit": None}, "commit"]}]}
    assert list(named_commits(record)) == ["one", "two"]


def test_a_result_of_a_branch_that_was_left_is_named_and_one_of_the_history_is_not(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "kept")
    kept = git(tmp_path, "rev-parse", "--short", "HEAD")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "left")
    left = git(tmp_path, "rev-parse", "--short", "HEAD")
    git(tmp_path, "reset", "-q", "--hard", kept)
    results = tmp_path / "results"
    results.mkdir()
    for name, commits in {"good": [kept], "bad": [kept, left], "worse": ["0123456"], "silent": []}.items():
        (results / f"{name}.json").write_text(json.dumps({"rows": [{"commit": each} for each in commits]}))
    assert lost_commits(results, tmp_path) == {"bad.json": [left], "worse.json": ["0123456"]}


def test_times_from_before_there_were_kin_views_say_so() -> None:
    assert "no views `kin`, `kin near` and `kin together` yet" in views_since("21d4851")
    assert "was no view `kin together` yet" in views_since("3478e18e") and views_since("9a1195ba") == ""
