"""A build that is killed at any moment, started again, gives the same bytes as one that was not, and never shows half a
result.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nodewise.datasets.reddit import Limits, RedditSettings, build_reddit
from nodewise.ground.events import Event, Note, Progress
from tests.datasets.reddit.agreement import save
from tests.datasets.reddit.month import WIDTH, Shape, make_month

SETTINGS = RedditSettings(group_size=20, first_rank=1, last_rank=3, width=WIDTH)
LIMITS = Limits(memory_gb=1, threads=1, chunk_bytes=20_000)

# Dies, without any farewell, at the n-th statement given to DuckDB, the n-th file renamed, or the n-th event, whichever
# is asked for.
DYING = """
import os, sys
from pathlib import Path
from nodewise.datasets.reddit import build_reddit, work
from nodewise.datasets.reddit import Limits
from tests.datasets.reddit.test_resume import SETTINGS

folder, what, last = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
limits = Limits(memory_gb=1, threads=1, chunk_bytes=int(sys.argv[4]))
left = [last]

def tick(*_):
    left[0] -= 1
    if left[0] < 0:
        os._exit(9)

class Dying:
    def __init__(self, con):
        self.con = con
    def execute(self, *arguments):
        tick()
        return self.con.execute(*arguments)
    def close(self):
        self.con.close()

if what == "statement":
    connect = work._connect
    work._connect = lambda *arguments: Dying(connect(*arguments))
if what == "rename":
    rename = Path.replace
    Path.replace = lambda self, target: (tick(), rename(self, target))[1]
build_reddit(
    folder / "RS_2014-01", folder / "RC_2014-01", folder / "glove.txt", folder / "out", SETTINGS, limits=limits,
    reporter=tick if what == "event" else None,
)
"""


@pytest.fixture
def month(tmp_path: Path) -> Path:
    save(make_month(5, Shape(posts=70, comments=400, users=4)), tmp_path)
    return tmp_path


def build(folder: Path, out: str, heard: list[Event] | None = None) -> dict[str, bytes]:
    paths = folder / "RS_2014-01", folder / "RC_2014-01", folder / "glove.txt"
    build_reddit(*paths, folder / out, SETTINGS, limits=LIMITS, reporter=None if heard is None else heard.append)
    return {path.name: path.read_bytes() for path in (folder / out).iterdir()}


def die(folder: Path, environment: dict[str, str], what: str, moment: int, chunk: int = LIMITS.chunk_bytes) -> bool:
    """Runs the build until that moment; whether it came so far."""
    root = str(Path(__file__).parents[3])
    path = environment["PYTHONPATH"] + (";" if sys.platform == "win32" else ":") + root
    done = subprocess.run(
        [sys.executable, "-c", DYING, str(folder), what, str(moment), str(chunk)],
        env={**environment, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 9), done.stderr
    return done.returncode == 9


def check(folder: Path, expected: dict[str, bytes]) -> None:
    out = folder / "out"
    for path in out.glob("*.npz") if out.exists() else ():
        assert path.read_bytes() == expected[path.name]  # whole, or not there
    if (out / "reddit-report.json").exists():  # the last to come
        assert expected.keys() <= {path.name for path in out.iterdir()}
    assert build(folder, "out") == expected


@pytest.mark.long
@pytest.mark.parametrize("what", ["event", "rename"])
def test_killed_at_every_event_and_at_every_rename(month: Path, clean_environment: dict[str, str], what: str) -> None:
    expected = build(month, "expected")
    moment = 0
    while die(month, clean_environment, what, moment):
        check(month, expected)
        for path in (month / "out").iterdir():
            path.unlink()
        moment += 1
    assert moment >= (10 if what == "event" else 3)


@pytest.mark.long
def test_killed_at_statements_all_along(month: Path, clean_environment: dict[str, str]) -> None:
    expected = build(month, "expected")
    moment = 0
    while die(month, clean_environment, "statement", moment):
        check(month, expected)
        for path in (month / "out").iterdir():
            path.unlink()
        moment += 1 if moment < 12 else 4
    assert moment > 60


@pytest.mark.long
def test_killed_again_and_again_it_still_comes_to_an_end(month: Path, clean_environment: dict[str, str]) -> None:
    expected = build(month, "expected")
    kills = 0
    while die(month, clean_environment, "event", 16, 1500) and kills < 50:
        kills += 1
    assert 2 <= kills < 50  # each time it gets further
    assert {path.name: path.read_bytes() for path in (month / "out").iterdir()} == expected


def test_an_interrupted_build_goes_on_where_it_was(month: Path) -> None:
    expected = build(month, "expected")
    seen: list[int] = []

    def interrupt(event: Event, /) -> None:
        if isinstance(event, Progress) and event.task == "read comments (MB)":
            seen.append(int(event.values["lines"]))
            if len(seen) == 2:
                raise KeyboardInterrupt

    paths = month / "RS_2014-01", month / "RC_2014-01", month / "glove.txt"
    with pytest.raises(KeyboardInterrupt):
        build_reddit(*paths, month / "out", SETTINGS, limits=LIMITS, reporter=interrupt)
    assert [path.name for path in (month / "out").iterdir()] == [".reddit-work"]
    heard: list[Event] = []
    assert build(month, "out", heard) == expected
    assert Note(f"comments: going on after {seen[-1]:,} lines that were read before") in heard
    assert not any(isinstance(event, Progress) and event.task == "read submissions (MB)" for event in heard)


def test_other_input_is_read_from_the_start(month: Path) -> None:
    def interrupt(event: Event, /) -> None:
        if isinstance(event, Progress) and event.task == "read comments (MB)":
            raise KeyboardInterrupt

    paths = month / "RS_2014-01", month / "RC_2014-01", month / "glove.txt"
    with pytest.raises(KeyboardInterrupt):
        build_reddit(*paths, month / "out", SETTINGS, limits=LIMITS, reporter=interrupt)
    save(make_month(6, Shape(posts=70, comments=400, users=4)), month)
    assert build(month, "out") == build(month, "expected")
