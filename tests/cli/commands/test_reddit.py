"""``nodewise reddit build`` as a user runs it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nodewise.graph import read_graph

pytest.importorskip("duckdb")
pytest.importorskip("zstandard")

from tests.datasets.reddit.small_month import GLOVE, SUBMISSION_LINES, write_month

Run = Callable[..., subprocess.CompletedProcess[str]]
NUMBERS = ("--group-size", "8", "--ranks", "1-2", "--width", "3", "--memory-gb", "1")


def command(folder: Path, ending: str = "") -> list[str | Path]:
    submissions, comments, glove = write_month(folder / "in", ending)
    return [
        "reddit",
        "build",
        "--submissions",
        submissions,
        "--comments",
        comments,
        "--glove",
        glove,
        "--out",
        folder / "out",
        *NUMBERS,
    ]


@pytest.mark.slow
def test_builds_prints_every_step_and_can_be_used_by_name(nodewise: Run, tmp_path: Path) -> None:
    done = nodewise(*command(tmp_path, ".zst"))
    assert done.returncode == 0, done.stderr
    for line in (
        "lines of submissions",
        "1 anonymous posts deleted",
        "3 posts in subreddits of rank 1–2",
        "5 nodes in largest components",
        "cats",
        "dogs",
    ):
        assert line in done.stdout
    assert "\x1b" not in done.stdout
    assert f"1 graph in {tmp_path / 'out'}: reddit1" in done.stdout
    assert "warning: the posts fill" in done.stderr or "incomplete group" in done.stderr
    shown = nodewise("datasets", "reddit1", "--data-dir", tmp_path / "out")
    assert shown.returncode == 0
    assert "4" in shown.stdout


@pytest.mark.slow
def test_json_is_the_saved_report(nodewise: Run, tmp_path: Path) -> None:
    done = nodewise(*command(tmp_path), "--json", "--quiet")
    assert done.stderr == ""
    assert json.loads(done.stdout) == json.loads((tmp_path / "out" / "reddit-report.json").read_text())


@pytest.mark.slow
def test_every_option_reaches_the_build(nodewise: Run, tmp_path: Path) -> None:
    options = (
        "--groups",
        "all",
        "--shared-users",
        "1",
        "--exclude-user",
        "ann",
        "--exclude-bots",
        "--prefix",
        "jan",
        "--keep-work",
    )
    work = tmp_path / "work"
    done = nodewise(*command(tmp_path), *options, "--work", work, "--threads", "1", "--max-edges", "50")
    assert done.returncode == 0, done.stderr
    settings = json.loads((tmp_path / "out" / "jan-report.json").read_text())["settings"]
    assert settings == {
        "group_size": 8,
        "first_rank": 1,
        "last_rank": 2,
        "shared_users": 1,
        "groups": None,
        "width": 3,
        "exclude_bots": True,
        "exclude_users": ["ann"],
        "prefix": "jan",
        "max_edges": 50,
    }
    assert (work / "work.duckdb").exists()
    assert read_graph(tmp_path / "out" / "jan1.npz").num_nodes == 5


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--groups", "none"], "--groups got 'none': give a whole number above 0, or all"),
        (["--ranks", "20"], "--ranks got '20': give the first and the last rank joined by a dash, such as 11-20"),
        (["--ranks", "20-11"], "ranks 20 to 11 hold no subreddit"),
        (["--width", "300"], "glove.txt has vectors of 3 numbers"),
        (["--submissions", "nowhere.zst"], "no submissions at 'nowhere.zst'"),
    ],
)
def test_bad_input_is_one_line_and_2(nodewise: Run, tmp_path: Path, options: list[str], said: str) -> None:
    done = nodewise(*command(tmp_path), *options)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("nodewise reddit build: ")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_quoted_globs_folders_and_repetition(nodewise: Run, tmp_path: Path) -> None:
    command(tmp_path)
    folder = tmp_path / "in"
    (folder / "RS_more").write_bytes(SUBMISSION_LINES[0])
    done = nodewise(
        "reddit",
        "build",
        "--submissions",
        f"{folder}/RS_2*",
        "--submissions",
        folder / "RS_more",
        "--comments",
        folder,
        "--glove",
        folder,
        "--out",
        tmp_path / "out",
        *NUMBERS,
        "--json",
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["selected"]["repeated"] == 1


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to another process there")
def test_ctrl_c_keeps_what_was_read_and_the_next_run_goes_on(tmp_path: Path, clean_environment: dict[str, str]) -> None:
    lines = [
        b'{"id": "c%d", "link_id": "t3_p%d", "author": "u%d", "body": "%s"}' % (n, n % 9, n // 9 % 99, b"x" * 2000)
        for n in range(200_000)
    ]
    submissions, comments, glove = write_month(tmp_path / "in", "", None, lines, GLOVE)
    arguments = [
        "--submissions",
        submissions,
        "--comments",
        comments,
        "--glove",
        glove,
        "--out",
        tmp_path / "out",
        *NUMBERS,
    ]
    line = [sys.executable, "-m", "nodewise", "reddit", "build", *map(str, arguments)]
    running = subprocess.Popen(line, env=clean_environment, stderr=subprocess.PIPE, text=True)
    while not list((tmp_path / "out" / ".reddit-work").glob("lines/comments*")) and running.poll() is None:
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate()
    assert running.returncode == 130, said
    assert "interrupted" in said
    assert [path.name for path in (tmp_path / "out").iterdir()] == [".reddit-work"]
    again = subprocess.run(line, env=clean_environment, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["reddit-report.json", "reddit1.npz"]
    assert json.loads((tmp_path / "out" / "reddit-report.json").read_text())["comments"]["lines"] == 200_000
