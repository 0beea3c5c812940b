"""One process makes, the others wait: counted by what real processes write, whatever happens to the maker."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from nodewise.ground import locks
from nodewise.ground.events import Event, Note
from nodewise.ground.locks import one_maker
from tests.workers import Workers, ended, until

# Makes the file "kept" unless it is there; tells by files that it waits, makes, and has ended; makes for as long as the
# test wants.
WORKER = """
import sys, time
from pathlib import Path
from nodewise.ground.locks import one_maker

folder, name, keeps = Path(sys.argv[1]), sys.argv[2], sys.argv[3:] != ["keeps nothing"]
def says(event):
    (folder / f"{name} waits").write_text(event.message)
with one_maker(folder / "things.lock", "things", says, 3600):
    if not (folder / "kept").exists():
        (folder / f"{name} makes").touch()
        while not (folder / f"{name} may end").exists():
            time.sleep(0.01)
        if keeps:
            (folder / "kept").touch()
"""

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


class Makers(Workers):
    """Processes that need the same thing."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, WORKER)

    def until_it(self, name: str, does: str) -> str:
        self.until(name, (self.folder / f"{name} {does}").exists)
        return (self.folder / f"{name} {does}").read_text()

    def let_end(self, name: str) -> None:
        (self.folder / f"{name} may end").touch()

    def makers(self) -> list[str]:
        return sorted(path.name.split()[0] for path in self.folder.glob("* makes"))


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Makers]:
    made = Makers(tmp_path)
    with ended(made):
        yield made


def test_one_makes_and_the_others_use_it(workers: Makers) -> None:
    first = workers.start("first")
    workers.until_it("first", "makes")
    others = [workers.start(name) for name in ("second", "third")]
    said = [workers.until_it(name, "waits") for name in ("second", "third")]
    assert all(text.startswith(f"process {first.pid} is making the things: waiting") for text in said)
    workers.let_end("first")
    assert [process.wait() for process in (first, *others)] == [0, 0, 0]
    assert workers.makers() == ["first"]
    assert not (workers.folder / "things.lock").exists()


def test_a_maker_that_is_killed_is_followed_by_one_other(workers: Makers) -> None:
    first = workers.start("first")
    workers.until_it("first", "makes")
    others = {name: workers.start(name) for name in ("second", "third")}
    for name in others:
        workers.until_it(name, "waits")
    first.kill()
    until(lambda: len(workers.makers()) == 2)
    (next_one,) = set(workers.makers()) - {"first"}
    workers.let_end(next_one)
    assert [process.wait() for process in others.values()] == [0, 0]
    assert workers.makers() == sorted(["first", next_one])
    assert not (workers.folder / "things.lock").exists()


def test_where_nothing_could_be_kept_all_go_on_at_once(workers: Makers) -> None:
    workers.start("first", "keeps nothing")
    workers.until_it("first", "makes")
    for name in ("second", "third"):
        workers.start(name, "keeps nothing")
        workers.until_it(name, "waits")
    workers.let_end("first")
    until(
        lambda: workers.makers() == ["first", "second", "third"]
    )  # neither has ended: they do not wait for each other
    for name in ("second", "third"):
        workers.let_end(name)
        assert workers.running[name].wait() == 0


def test_ctrl_c_ends_the_wait_and_hurts_nobody(workers: Makers) -> None:
    first = workers.start("first")
    workers.until_it("first", "makes")
    second = workers.start("second")
    workers.until_it("second", "waits")
    second.send_signal(signal.SIGINT)
    assert second.wait() and "KeyboardInterrupt" in (workers.folder / "second said").read_text()
    third = workers.start("third")
    workers.until_it("third", "waits")  # the first still has it
    workers.let_end("first")
    assert first.wait() == third.wait() == 0 and workers.makers() == ["first"]


def test_a_failure_gives_the_lock_back(tmp_path: Path) -> None:
    events: list[Event] = []
    with pytest.raises(ZeroDivisionError), one_maker(tmp_path / "lock", "things", events.append, 60):
        raise ZeroDivisionError
    with one_maker(tmp_path / "lock", "things", events.append, 60):
        assert (tmp_path / "lock").exists()
    assert not events and not list(tmp_path.iterdir())


def test_a_maker_that_never_ends_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    events: list[Event] = []
    with (
        one_maker(tmp_path / "lock", "things", events.append, 60),
        one_maker(tmp_path / "lock", "things", events.append, 0),
    ):
        assert [event.message for event in events if isinstance(event, Note)] == [
            "another thread of this process has not finished the things in 0 minutes: they are made here as well"
        ]
        assert (tmp_path / "lock").exists()  # it is the first one's


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ESTALE])
def test_a_file_system_without_locks_costs_nothing_but_time(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(locks.fcntl, "flock", fail)
    events: list[Event] = []
    with (
        one_maker(tmp_path / "lock", "things", events.append, 60),
        one_maker(tmp_path / "lock", "things", events.append, 60),
    ):
        assert not events


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    events: list[Event] = []
    path = tmp_path / "file" / "things.lock"
    with one_maker(path, "things", events.append, 60), one_maker(path, "things", events.append, 60):
        assert not events


def test_another_machine_s_maker_is_told_with_its_name(tmp_path: Path) -> None:
    with one_maker(tmp_path / "lock", "things", lambda event: None, 60):
        (tmp_path / "lock").write_text("42 elsewhere")
        events: list[Event] = []
        with one_maker(tmp_path / "lock", "things", events.append, 0):
            assert isinstance(events[0], Note) and events[0].message.startswith(
                "process 42 on elsewhere has not finished"
            )
