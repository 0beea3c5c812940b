"""A journal that a killed writer left: played into its own file alone, and only where that file needs it."""

from __future__ import annotations

import random
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nodewise.ground.errors import SessionError, SessionFileError
from nodewise.session.answers import Draft
from nodewise.session.log.log import Log

WRITER = Path(__file__).with_name("writer.py")
PAGE = 4096
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SQLite decides alone where there are no POSIX locks")


def tell(node: int, label: str = "a") -> Draft:
    return Draft("tell", "me", {"node": node, "label": label})


def journal_of(path: Path) -> Path:
    return path.with_name(path.name + "-journal")


def nodes(path: Path) -> list[int]:
    with Log.open(path, wait=2) as log:
        return [event.body["node"] for event in log.events]


def page(content: bytes, number: int) -> bytes:
    return content[number * PAGE : (number + 1) * PAGE]


def journal(before: bytes, changed: list[int], pages: int | None = None, page_size: int = PAGE) -> bytes:
    """A journal in SQLite's form, which takes these pages back to what they were."""
    nonce = 77
    head = struct.pack(
        ">8sIIIII",
        bytes.fromhex("d9d505f920a163d7"),
        len(changed),
        nonce,
        len(before) // PAGE if pages is None else pages,
        512,
        page_size,
    )
    records = [
        struct.pack(">I", number + 1)
        + page(before, number)
        + struct.pack(">I", (nonce + sum(page(before, number)[PAGE - 200 : 0 : -200])) % 2**32)
        for number in changed
    ]
    return head.ljust(512, b"\0") + b"".join(records)


class Write:
    """One write of several events: the file before and after it, and its journal."""

    def __init__(self, path: Path, drafts: list[Draft]) -> None:
        self.before = path.read_bytes()
        with Log.open(path) as log:
            log.append(drafts)
        self.after = path.read_bytes()
        every = range(len(self.after) // PAGE)
        self.written = [number for number in every if page(self.before, number) != page(self.after, number)]
        self.changed = [number for number in self.written if number < len(self.before) // PAGE]
        self.journal = journal(self.before, self.changed)

    def torn(self, written: list[int]) -> bytes:
        """The file where these pages alone have come to the disk."""
        content = bytearray(self.before)
        for number in written:
            content.extend(bytes(max(0, (number + 1) * PAGE - len(content))))
            content[number * PAGE : (number + 1) * PAGE] = page(self.after, number)
        return bytes(content)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "job.nodewise"
    with Log.create(path, {"budget": 5}, {"graph": b"nodes and edges"}) as log:
        log.append([tell(node) for node in range(60)])
    return path


@pytest.fixture
def write(path: Path) -> Write:
    with Log.open(path) as log:
        log.append([tell(node) for node in range(60, 200)])
    write = Write(path, [tell(node) for node in range(200, 270)])
    assert len(write.changed) >= 3 and len(write.written) > len(write.changed)
    return write


def test_a_write_that_was_killed_is_taken_back_or_whole_after_each_page(path: Path, write: Write) -> None:
    taken_back = 0
    for count in range(len(write.written) + 1):
        path.write_bytes(write.torn(write.written[:count]))
        journal_of(path).write_bytes(write.journal)
        assert len(nodes(path)) == (200 if count < len(write.written) else 270)
        assert not journal_of(path).exists()
        taken_back += path.read_bytes() == write.before and count > 0
    assert taken_back  # SQLite did play it where it was needed


def test_pages_that_came_in_another_order_show_no_part_of_a_write(path: Path, write: Write) -> None:
    chance = random.Random(3)
    for _ in range(30):
        written = [number for number in write.written if chance.random() < 0.5]
        path.write_bytes(write.torn(written))
        journal_of(path).write_bytes(write.journal)
        assert len(nodes(path)) in (200, 270)


@pytest.mark.parametrize("by", ["backup", "copy", "other branch", "newer"])
@pytest.mark.parametrize("put", ["moved", "copied over"])
def test_a_backup_in_the_place_of_a_killed_session_stays_as_it_is(
    by: str, put: str, path: Path, tmp_path: Path
) -> None:
    backup = tmp_path / "backup"
    if by == "backup":
        with Log.open(path) as log:
            log.backup(backup)
    else:
        shutil.copy(path, backup)
    if by == "other branch":  # as many changes as the session has, others
        with Log.open(backup) as log:
            log.append([tell(999)])
    write = Write(path, [tell(60, "x" * 50)])
    if by == "newer":
        shutil.copy(path, backup)
        with Log.open(backup) as log:
            log.append([tell(61)])
    expected, content = nodes(backup), backup.read_bytes()
    path.write_bytes(write.torn(write.written[:1]))
    journal_of(path).write_bytes(write.journal)
    if put == "moved":
        backup.replace(path)
    else:
        shutil.copyfile(backup, path)
    assert nodes(path) == expected
    assert path.read_bytes() == content and not journal_of(path).exists()


@pytest.mark.parametrize("pages", [0, 1, 2**20])
def test_a_forged_journal_neither_cuts_nor_grows_a_session(pages: int, path: Path) -> None:
    content = path.read_bytes()
    journal_of(path).write_bytes(journal(content, [0], pages))
    assert len(nodes(path)) == 60
    assert path.read_bytes() == content


@pytest.mark.parametrize("how", ["no journal", "size", "page size", "other changes", "other session", "cut"])
def test_a_damaged_session_with_a_journal_that_does_not_mend_it_is_left_byte_for_byte(
    how: str, path: Path, write: Write, tmp_path: Path
) -> None:
    torn = write.torn(write.written[:2])
    other = tmp_path / "other"
    with Log.create(other, {"budget": 6}, {"graph": b"another"}) as log:
        log.append([tell(node) for node in range(90)])
    counted = bytearray(write.before)
    counted[24:28] = (int.from_bytes(counted[24:28], "big") + 7).to_bytes(4, "big")
    beside = {
        "no journal": b"a text of somebody",
        "size": journal(write.before, write.changed, 2**20),
        "page size": journal(write.before, write.changed, page_size=8192),
        "other changes": journal(bytes(counted), write.changed),
        "other session": journal(other.read_bytes(), [0, len(other.read_bytes()) // PAGE - 1]),
        "cut": write.journal[: 512 + 100],
    }[how]
    path.write_bytes(torn)
    journal_of(path).write_bytes(beside)
    with pytest.raises(SessionFileError, match=r"damaged.*both were left as they are; the first \d+ events"):
        Log.open(path)
    assert path.read_bytes() == torn and journal_of(path).read_bytes() == beside


def test_a_journal_left_while_the_session_is_open_is_not_played_into_a_copy_put_over_it(
    path: Path, write: Write
) -> None:
    with Log.open(path) as log:
        path.write_bytes(write.before)  # an older copy, of before the last events
        journal_of(path).write_bytes(journal(write.after, [0, 1, 2]))
        with pytest.raises(SessionFileError, match="was replaced"):
            log.refresh()
        assert path.read_bytes() == write.before
    assert len(nodes(path)) == 200


def test_the_journal_of_a_living_writer_stays(path: Path, clean_environment: dict[str, str]) -> None:
    code = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('PRAGMA cache_size=1');"
        "c.execute('BEGIN'); c.executemany(\"INSERT INTO events VALUES (?, 1.0, 'me', 'tell', 'x', x'00')\","
        " [(n,) for n in range(100, 900)]); print(flush=True); sys.stdin.read(); c.execute('ROLLBACK')"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=clean_environment
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdout.readline()
        held = journal_of(path).read_bytes()
        assert held[:1] == b"\xd9"
        with pytest.raises(SessionError, match="in use by another process"):
            Log.open(path, wait=0.2)
        assert journal_of(path).read_bytes() == held
        process.stdin.close()
        process.wait()
    assert len(nodes(path)) == 60


@pytest.mark.parametrize(
    ("moment", "told"), [("INSERT", "was replaced"), ("COMMIT", "was replaced.*what was just said is not in it")]
)
def test_a_label_told_to_a_file_that_lost_its_name_meanwhile_is_not_acknowledged(
    moment: str, told: str, path: Path, tmp_path: Path
) -> None:
    backup = tmp_path / "backup"
    with Log.open(path) as log:
        log.backup(backup)

        def put_backup(statement: str) -> None:
            if statement.startswith(moment) and backup.exists():
                backup.replace(path)

        log._connection.set_trace_callback(put_backup)
        with pytest.raises(SessionFileError, match=told):
            log.append([tell(70)])
        with pytest.raises(SessionFileError, match="was replaced"):
            log.append([tell(71)])
    assert 70 not in nodes(path)


@pytest.mark.slow
def test_twenty_kills_with_a_backup_put_in_place_open_as_the_backup(
    path: Path, tmp_path: Path, clean_environment: dict[str, str]
) -> None:
    chance = random.Random(5)
    for number in range(20):
        backup = tmp_path / f"backup{number}"
        with Log.open(path) as log:
            log.backup(backup)
        expected, content = nodes(backup), backup.read_bytes()
        with subprocess.Popen(
            [sys.executable, str(WRITER), str(path), "w"], stdout=subprocess.PIPE, env=clean_environment
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(chance.random() * 0.05)
            process.kill()
        if number % 2:
            backup.replace(path)
        else:
            shutil.copyfile(backup, path)
        assert nodes(path) == expected and path.read_bytes() == content
