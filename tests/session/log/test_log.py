"""The log alone: what was acknowledged is there, whatever happens to the process or the disk."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from contextlib import closing
from pathlib import Path

import pytest

from nodewise.ground.errors import InputError, SessionError, SessionFileError
from nodewise.session.answers import Draft
from nodewise.session.log.database import fill_file
from nodewise.session.log.log import Log, MovedOnError

WRITER = Path(__file__).with_name("writer.py")


def tell(node: int, who: str = "me") -> Draft:
    return Draft("tell", who, {"node": node, "label": "a"})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "job.nodewise"
    Log.create(path, {"budget": 5}, {"graph": b"nodes and edges"}).close()
    return path


def attach(node: int, content: bytes) -> Draft:
    return Draft("tell", "me", {"node": node, "label": "a"}, {"rows": content})


def old_file(path: Path, form: int = 1, graph: bytes = b"nodes and edges") -> Path:
    """A file as nodewise wrote it before there was a third form."""
    fill_file(path, {"budget": 5}, {"graph": graph}, form)
    return path


def form(path: Path) -> int:
    return int.from_bytes(path.read_bytes()[60:64], "big")


def writer(path: Path, name: str, environment: dict[str, str], *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(WRITER), str(path), name, *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def acknowledged(output: str) -> list[tuple[int, int]]:
    """Event and node of every whole line that says so."""
    whole = output[: output.rfind("\n") + 1].splitlines()
    return [(int(line.split()[0]), int(line.split()[1])) for line in whole if line[0].isdigit()]


def test_what_was_written_is_read_again_in_order(path: Path) -> None:
    with Log.open(path, clock=lambda: 12.5) as log:
        assert log.settings == {"budget": 5} and log.part("graph") == b"nodes and edges" and log.part("policy") is None
        log.append([tell(1), tell(2)])
        log.append([Draft("skip", "ünï", {"node": 3, "text": "\ud800 and \0"})])
    with Log.open(path) as log:
        assert [(e.id, e.at, e.annotator, e.kind, e.body["node"]) for e in log.events] == [
            (1, 12.5, "me", "tell", 1),
            (2, 12.5, "me", "tell", 2),
            (3, 12.5, "ünï", "skip", 3),
        ]
        assert log.events[2].body["text"] == "\ud800 and \0"
    assert [file.name for file in path.parent.iterdir()] == [path.name]  # neither a journal nor a part is left


def test_the_form_is_what_the_documents_say(path: Path) -> None:
    with Log.open(path) as log:
        log.append([tell(1)])
        assert log._connection.execute("PRAGMA synchronous").fetchone()[0] == 3
        assert log._connection.execute("PRAGMA journal_mode").fetchone()[0] == "persist"
        for change in ("UPDATE events SET kind = 'x'", "DELETE FROM events"):
            with pytest.raises(sqlite3.DatabaseError, match="not authorized"):
                log._connection.execute(change)
            other = sqlite3.connect(path)
            with pytest.raises(sqlite3.IntegrityError, match="events are never"):
                other.execute(change)
            other.close()
    head = path.read_bytes()[:100]
    assert head[68:72] == b"nodw" and form(path) == 3


def test_a_file_of_the_first_form_rises_with_the_first_event_that_it_does_not_know(tmp_path: Path) -> None:
    path = old_file(tmp_path / "old.nodewise")
    with Log.open(path) as log:
        log.append([tell(1)])
        assert form(path) == 1
        log.append([Draft("note", "me", {"node": 1, "text": "odd"})])
        assert form(path) == 2
        log.append([tell(2)])
    with Log.open(path) as log:
        assert len(log.events) == 3 and form(path) == 2


def test_what_is_attached_to_an_event_is_read_again_once(path: Path) -> None:
    with Log.open(path) as log:
        first, second = log.append([attach(1, b"many rows"), attach(2, b"many rows")])
        with pytest.raises(SessionFileError, match="the edges of event 1 is not there"):
            log.attachment(first, "edges")
    with Log.open(path) as log:
        assert [log.attachment(event, "rows") for event in log.events] == [b"many rows"] * 2
        assert log.events == [first, second] and path.read_bytes().count(b"many rows") == 1


def test_what_is_attached_is_bounded_checked_and_never_changed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Log.open(path) as log:
        with monkeypatch.context() as small:
            small.setattr("nodewise.session.log.log.ATTACHMENT_LIMIT", 2**20)
            with pytest.raises(InputError, match="the rows take 3 MiB, and a session takes in at most 1 at once"):
                log.append([tell(1), attach(2, bytes(3 * 2**20))])
            (large,) = log.append([attach(2, b"x" * 2**20)])
            small.setattr("nodewise.session.log.log.ATTACHMENT_LIMIT", 2**19)
            with pytest.raises(SessionFileError, match="is not there"):
                log.attachment(large, "rows")
        (event,) = log.append([attach(1, b"many rows")])
        for change in ("UPDATE attachments SET kind = 'x'", "DELETE FROM attachments"):
            with pytest.raises(sqlite3.DatabaseError, match="not authorized"):
                log._connection.execute(change)
    path.write_bytes(path.read_bytes().replace(b"many rows", b"Many rows"))
    with Log.open(path) as log, pytest.raises(SessionFileError, match="the rows of event 2 does not have the hash"):
        log.attachment(event, "rows")


@pytest.mark.parametrize("change", ["DELETE FROM attachments", "INSERT INTO attachments VALUES ('0', 'rows', x'00')"])
def test_attachments_are_those_that_the_events_name(path: Path, change: str) -> None:
    with Log.open(path) as log:
        log.append([attach(1, b"many rows")])
    trigger = "CREATE TRIGGER attachments_remain BEFORE DELETE ON attachments BEGIN SELECT RAISE(ABORT, 'attachments"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.executescript(f"DROP TRIGGER attachments_remain; {change}; {trigger} are never deleted'); END;")
    with pytest.raises(SessionFileError, match="what is attached to its events is not what they name"):
        Log.open(path)


@pytest.mark.parametrize("first", [1, 2])
def test_an_old_file_comes_to_the_third_form_by_a_copy_and_everybody_goes_on_in_it(tmp_path: Path, first: int) -> None:
    path = old_file(tmp_path / "old.nodewise", first)
    path.chmod(0o640)
    with Log.open(path) as one, Log.open(path) as other, Log.open(path) as third:
        one.append([tell(1), tell(2)])
        inode, before = path.stat().st_ino, path.read_bytes()
        other.append([attach(3, b"many rows")], seen=2)
        assert form(path) == 3 and path.stat().st_ino != inode and path.stat().st_mode & 0o777 == 0o640
        assert before[60:64] == first.to_bytes(4, "big")
        assert one.append([tell(4)])[0].id == 4 and [e.body["node"] for e in third.refresh()] == [1, 2, 3, 4]
        assert third.attachment(third.events[2], "rows") == b"many rows" and third.part("graph") == b"nodes and edges"
    with Log.open(path) as log:
        assert [e.body["node"] for e in log.events] == [1, 2, 3, 4] and log.settings == {"budget": 5}
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_another_file_of_the_third_form_is_not_taken_for_the_copy(path: Path, tmp_path: Path) -> None:
    old = old_file(tmp_path / "old.nodewise")
    Log.create(tmp_path / "another.nodewise", {"budget": 6}).close()
    with Log.open(old) as log:
        log.append([tell(1)])
        (tmp_path / "another.nodewise").replace(old)
        with pytest.raises(SessionFileError, match="was replaced while it was open"):
            log.append([tell(2)])
    with Log.open(old) as log:
        assert log.events == []


def test_what_was_written_just_before_the_copy_is_not_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = old_file(tmp_path / "old.nodewise")
    check, left = Log._check_name, [attach(2, b"many rows")]

    def copy_first(log: Log, *how: str) -> None:
        """Let the other one bring the file to its third form between a commit and the look at the name."""
        if log is one and how and left:
            other.append([left.pop()])
        check(log, *how)

    with Log.open(path) as one, Log.open(path) as other:
        monkeypatch.setattr(Log, "_check_name", copy_first)
        assert [event.id for event in one.append([tell(1)])] == [1] and form(path) == 3
        assert [event.id for event in one.append([tell(3)])] == [3]
    with Log.open(path) as log:
        assert [event.body["node"] for event in log.events] == [1, 2, 3]


def test_whoever_has_not_looked_since_the_copy_backs_it_up_and_leaves_its_journal(tmp_path: Path) -> None:
    path = old_file(tmp_path / "old.nodewise")
    journal = path.with_name(path.name + "-journal")
    one, late = Log.open(path), Log.open(path)
    one.append([tell(1)])
    late.append([tell(2)])
    with Log.open(path) as other:
        other.append([attach(3, b"many rows")])
        other.append([tell(4)])
        late.backup(tmp_path / "copy.nodewise")
        late.close()
        assert journal.exists()
        one.close()
        assert journal.exists()
    with Log.open(tmp_path / "copy.nodewise") as copy:
        assert [event.body["node"] for event in copy.events] == [1, 2, 3, 4]
    assert not journal.exists()


def test_an_old_file_of_two_names_is_not_copied(tmp_path: Path) -> None:
    path = old_file(tmp_path / "old.nodewise")
    os.link(path, tmp_path / "again.nodewise")
    with Log.open(path) as log:
        with pytest.raises(SessionError, match="has a second name"):
            log.append([attach(3, b"many rows")])
        log.append([tell(1)])
    with Log.open(tmp_path / "again.nodewise") as log:
        assert [e.body["node"] for e in log.events] == [1]


@pytest.mark.slow
def test_kills_while_parts_are_attached_lose_nothing(path: Path, clean_environment: dict[str, str]) -> None:
    kill_at_random(path, clean_environment, 6, seed=3, attach=300_000)
    with Log.open(path) as log:
        for event in log.events:
            content = log.attachment(event, "rows")
            assert content.rstrip(b".").decode() == event.body["label"] and len(content) == 300_000


@pytest.mark.slow
def test_kills_while_old_files_are_copied_leave_one_that_is_whole(
    tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    moments = random.Random(4)
    forms: set[int] = set()
    longest = 0.25  # seconds: until kills have come both before and after the copy, however fast the machine is
    for number in range(24):
        if number >= 8 and forms == {1, 3}:
            break
        longest *= {frozenset({1}): 1.5, frozenset({3}): 0.6}.get(frozenset(forms), 1.0)
        path = old_file(tmp_path / f"old{number}.nodewise", graph=b"." * 20_000_000)
        with Log.open(path) as log:
            log.append([tell(n) for n in range(5)])
        with writer(path, "ada", clean_environment, "2", "100000") as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            time.sleep(moments.random() * longest)
            process.send_signal(signal.SIGKILL)
            told = acknowledged(process.stdout.read())
        with Log.open(path) as log:
            forms.add(form(path))
            assert len(log.events) in (5 + len(told), 6 + len(told)) and len(log.part("graph") or b"") == 20_000_000
            assert [len(log.attachment(event, "rows")) for event in log.events[5:]] == [100_000] * (log.last - 5)
        assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []
        path.unlink()
    assert forms == {1, 3}, "the moments of the kills should lie before and after the copy"


def test_events_that_others_wrote_are_read_on_and_a_decision_on_old_ones_is_refused(path: Path) -> None:
    with Log.open(path) as one, Log.open(path) as other:
        one.append([tell(1)], seen=0)
        with pytest.raises(MovedOnError, match="from event 0 to 1"):
            other.append([tell(2)], seen=0)
        other.append([tell(2)], seen=1)
        assert [e.body["node"] for e in one.refresh()] == [2] and one.events == other.events


def test_a_failed_group_leaves_nothing(path: Path) -> None:
    with Log.open(path) as log:
        with pytest.raises(TypeError):
            log.append([tell(1), Draft("tell", "me", {"node": object()})])
        assert log.events == [] and log.append([tell(2)])[0].id == 1


def test_nothing_is_made_over_a_file_or_in_no_folder(path: Path, tmp_path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(InputError, match="already"):
        Log.create(path, {})
    with pytest.raises(InputError, match="no folder"):
        Log.create(tmp_path / "none" / "job", {})
    with Log.open(path) as log, pytest.raises(InputError, match="already"):
        log.backup(path, overwrite=True)
    assert path.read_bytes() == before


def damage_events(path: Path) -> None:
    content = path.read_bytes()
    assert content.count(b'"label": "a"') == 3
    path.write_bytes(content.replace(b'"label": "a"', b'"label": "b"', 1))


def damage_graph(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"nodes and edges", b"modes and edges"))


def newer(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[60:64] = (4).to_bytes(4, "big")
    path.write_bytes(content)


def other_program(path: Path) -> None:
    path.unlink()
    sqlite3.connect(path).executescript("CREATE TABLE events (id); PRAGMA user_version = 1;")


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (damage_events, "event 3 is not the one that was written"),
        (newer, "newer nodewise .form 4"),
        (other_program, "another program"),
        (lambda path: path.write_bytes(path.read_bytes()[:-4096]), "damaged"),
        (lambda path: path.write_bytes(path.read_bytes()[:50]), "not a session"),
        (lambda path: path.write_bytes(b""), "not a session"),
        (lambda path: path.write_bytes(b"x" * 5000), "not a session"),
        (lambda path: path.write_bytes(path.read_bytes()[:4096] + b"\x55" * (path.stat().st_size - 4096)), "damaged"),
        (lambda path: path.unlink(), "there is no session"),
        (lambda path: (path.unlink(), path.mkdir()), "not a file"),
    ],
)
def test_a_damaged_or_newer_file_is_refused_untouched(path: Path, spoil, told: str) -> None:  # type: ignore[no-untyped-def]
    with Log.open(path) as log:
        log.append([tell(1), tell(2), tell(3)])
    spoil(path)
    before = {file.name: file.read_bytes() for file in path.parent.iterdir() if file.is_file()}
    with pytest.raises(SessionFileError, match=told):
        Log.open(path)
    assert {file.name: file.read_bytes() for file in path.parent.iterdir() if file.is_file()} == before


def test_a_damaged_part_is_refused_when_it_is_read(path: Path) -> None:
    damage_graph(path)
    with Log.open(path) as log, pytest.raises(SessionFileError, match="the stored graph does not have the hash"):
        log.part("graph")


def test_a_second_writer_waits_and_is_refused_in_words(path: Path) -> None:
    with Log.open(path, wait=0.2) as log, Log.open(path, wait=30) as patient:
        holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(SessionError, match="in use by another process, 0.2 s were waited"):
            log.append([tell(1)])
        later = threading.Timer(0.5, holder.execute, ["ROLLBACK"])
        later.start()
        assert patient.append([tell(2)])[0].id == 1
        later.join()
        holder.close()
        assert log.append([tell(3)])[0].id == 2


def test_two_processes_writing_at_once_lose_nothing(path: Path, clean_environment: dict[str, str]) -> None:
    processes = {name: writer(path, name, clean_environment, "40") for name in ("ada", "bob")}
    said = {name: process.communicate()[0] for name, process in processes.items()}
    with Log.open(path) as log:
        assert len(log.events) == 80
        for name, output in said.items():
            assert acknowledged(output) == [(e.id, e.body["node"]) for e in log.events if e.annotator == name]


def kill_at_random(path: Path, environment: dict[str, str], times: int, seed: int, attach: int = 0) -> None:
    """Kill a writer `times` times, each at another moment, and look each time for every event that it acknowledged."""
    moments = random.Random(seed)
    known: list[tuple[int, str, int]] = []
    for number in range(times):
        with writer(path, f"w{number}", environment, "1000000", str(attach)) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n", process.stderr.read() if process.stderr else ""
            # every other one has written something, however slow the machine is
            said = "".join(process.stdout.readline() for _ in range(3 * (number % 2)))
            time.sleep(moments.random() * 0.1)
            process.send_signal(signal.SIGKILL)
            said += process.stdout.read()  # not communicate(), which would miss what readline has read ahead
        with Log.open(path) as log:  # reads and checks the whole chain
            found = [(e.id, e.annotator, e.body["node"]) for e in log.events]
        fresh = [(event, f"w{number}", node) for event, node in acknowledged(said)]
        assert found[: len(known) + len(fresh)] == known + fresh
        assert len(found) <= len(known) + len(fresh) + 1  # at most one was on the disk before it could be said
        known = found
    assert len(known) > times


@pytest.mark.slow
def test_thirty_kills_lose_no_acknowledged_event(path: Path, clean_environment: dict[str, str]) -> None:
    kill_at_random(path, clean_environment, 30, seed=1)


@pytest.mark.long
def test_three_hundred_kills_lose_no_acknowledged_event(path: Path, clean_environment: dict[str, str]) -> None:
    kill_at_random(path, clean_environment, 300, seed=2)


@pytest.mark.slow
def test_a_backup_during_writes_holds_every_event_acknowledged_before_it(
    path: Path, clean_environment: dict[str, str], tmp_path: Path
) -> None:
    process = writer(path, "ada", clean_environment)
    assert process.stdout is not None
    process.stdout.readline()
    try:
        for number in range(5):
            last = [int(process.stdout.readline().split()[0]) for _ in range(7)][-1]
            with Log.open(path, wait=60) as log:
                log.backup(tmp_path / f"copy{number}")
            with Log.open(tmp_path / f"copy{number}") as copy:
                assert copy.last >= last and copy.settings == {"budget": 5} and copy.part("graph") == b"nodes and edges"
                assert copy.append([tell(1)])  # and goes on by itself
    finally:
        process.kill()
        process.communicate()


def test_copying_the_file_is_a_backup_when_nobody_holds_it(path: Path, tmp_path: Path) -> None:
    with Log.open(path) as log:
        log.append([tell(1)])
        events = log.events
    shutil.copy(path, tmp_path / "copy")
    with Log.open(tmp_path / "copy") as copy:
        assert copy.events == events


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system with users")
def test_a_read_only_folder_is_told_and_nothing_lost() -> None:
    folder = Path(tempfile.mkdtemp())  # not below pytest's own, which only its owner may enter
    try:
        folder.chmod(0o777)
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # threads of other tests are no concern of a child that only writes a file
            child = os.fork()
        if child == 0:  # permissions say nothing to the superuser, so somebody else tries
            code = 1
            try:
                if os.geteuid() == 0:
                    os.setuid(65534)
                (folder / "jobs").mkdir()
                Log.create(folder / "jobs" / "job", {}).close()
                check_read_only(folder / "jobs" / "job")
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
    finally:
        shutil.rmtree(folder)


def check_read_only(path: Path) -> None:
    with Log.open(path) as log:
        log.append([tell(1)])
    path.parent.chmod(0o555)
    try:
        with Log.open(path) as log:
            with pytest.raises(SessionError, match="read-only"):
                log.append([tell(2)])
            assert [e.body["node"] for e in log.events] == [1]
        with pytest.raises(SessionError, match="cannot be made"):
            Log.create(path.parent / "other", {})
    finally:
        path.parent.chmod(0o755)
    with Log.open(path) as log:
        assert log.append([tell(3)])[0].id == 2


def test_a_full_disk_is_told_and_nothing_lost(path: Path) -> None:
    """The process may not make files any longer than they are: what a full disk says, without filling one."""
    with Log.open(path) as log:
        log.append([tell(n) for n in range(40)])
        size = path.stat().st_size
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
        try:
            with pytest.raises(SessionError, match="disk is full|disk I/O error"):
                log.append([tell(7) for _ in range(1000)])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            signal.signal(signal.SIGXFSZ, handler)
        kept = list(log.events)
        assert len(kept) >= 40
        log.append([tell(8)])
    with Log.open(path) as log:
        assert log.events[: len(kept)] == kept and log.events[-1].body["node"] == 8
