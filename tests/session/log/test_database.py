"""Files from strangers, and files that change under an open session: nothing is done that they ask for, nothing is
acknowledged and lost.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from nodewise.ground.errors import InputError, SessionError, SessionFileError
from nodewise.session import Session
from nodewise.session.answers import Draft
from nodewise.session.log import database
from nodewise.session.log.log import Log
from tests.small_graphs import random_graph

MAGIC = bytes.fromhex("d9d505f920a163d7")


def tell(node: int) -> Draft:
    return Draft("tell", "me", {"node": node, "label": "a"})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "job"
    folder.mkdir()
    with Log.create(folder / "x.nodewise", {"budget": 5}, {"graph": b"nodes and edges"}) as log:
        log.append([tell(node) for node in range(29)])
    return folder / "x.nodewise"


def content(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def hot_journal(path: Path, names: bytes) -> bytes:
    """A journal that SQLite would roll back, which names a super-journal."""
    head = MAGIC + struct.pack(">5I", 0, 1, path.stat().st_size // 4096, 512, 4096)
    name = struct.pack(">I", 4096 * 262144 // 4096 + 1) + names
    record = name + struct.pack(">2I", len(names), sum(struct.unpack(f"{len(names)}b", names)) & 0xFFFFFFFF) + MAGIC
    return head.ljust(512, b"\0") + record


def test_a_journal_that_names_another_file_is_refused_and_that_file_stays(path: Path, tmp_path: Path) -> None:
    victim = tmp_path / "letters.txt"
    victim.write_bytes(b"dear ada")
    path.with_name(path.name + "-journal").write_bytes(hot_journal(path, os.fsencode(victim)))
    before = content(tmp_path)
    with pytest.raises(SessionFileError, match="names other files"):
        Log.open(path)
    assert content(tmp_path) == before
    sqlite3.connect(path).execute("SELECT * FROM events").fetchall()  # what SQLite alone does
    assert not victim.exists()


def linked(journal: Path, victim: Path) -> None:
    journal.symlink_to(victim)


@pytest.mark.parametrize("ending", ["-journal", "-wal", "-shm"])
@pytest.mark.parametrize(
    "lay",
    [
        linked,
        lambda beside, victim: os.link(victim, beside),
        lambda beside, victim: os.mkfifo(beside),
        lambda beside, victim: beside.mkdir(),
    ],
)
def test_what_lies_beside_is_refused_unless_it_is_an_ordinary_journal(
    ending: str, lay: Callable[[Path, Path], None], path: Path, tmp_path: Path
) -> None:
    victim = tmp_path / "letters.txt"
    victim.write_bytes(b"dear ada")
    lay(path.with_name(path.name + ending), victim)
    before = path.read_bytes()
    with pytest.raises(SessionFileError, match=f"x.nodewise{ending}"):
        Log.open(path)
    link = tmp_path / "link.nodewise"
    link.symlink_to(path)  # the journal lies beside what the link leads to
    with pytest.raises(SessionFileError, match=f"x.nodewise{ending}"):
        Log.open(link)
    assert path.read_bytes() == before and victim.read_bytes() == b"dear ada"


def test_a_header_that_asks_for_a_write_ahead_log_is_refused(path: Path) -> None:
    changed = bytearray(path.read_bytes())
    changed[18:20] = b"\2\2"
    path.write_bytes(changed)
    with pytest.raises(SessionFileError, match="write-ahead log"):
        Log.open(path)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


STRANGE = [
    "CREATE TRIGGER swallow BEFORE INSERT ON events BEGIN SELECT RAISE(IGNORE); END",
    "CREATE TRIGGER swallow AFTER INSERT ON events BEGIN INSERT INTO parts SELECT 'x', 'x', 'x'; END",
    "CREATE TABLE further (x)",
    "CREATE INDEX further ON events (kind)",
    "DROP TRIGGER events_stay",
    "ALTER TABLE events RENAME TO others",
    "ALTER TABLE parts ADD COLUMN more DEFAULT 1",
    "CREATE VIEW further AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
    "DROP TABLE parts",
]


@pytest.mark.parametrize("statement", STRANGE)
def test_a_schema_that_is_not_that_of_a_session_is_refused(statement: str, path: Path) -> None:
    stranger = sqlite3.connect(path)
    stranger.execute(statement)
    stranger.commit()
    stranger.close()
    before = path.read_bytes()
    with pytest.raises(SessionFileError, match="its schema is not that of a session"):
        Log.open(path)
    assert path.read_bytes() == before


def test_a_view_in_place_of_a_table_computes_nothing(path: Path) -> None:
    stranger = sqlite3.connect(path)
    stranger.executescript("""
        DROP TABLE session;
        CREATE VIEW session AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
            SELECT max(i) AS settings FROM n;
    """)
    stranger.close()
    with pytest.raises(SessionFileError, match="its schema is not that of a session"):
        Log.open(path)


@pytest.mark.slow
def test_no_flipped_bit_of_the_schema_loses_a_label(path: Path) -> None:
    whole = path.read_bytes()
    used = [place for place in range(100, 4096) if whole[place]]
    read, refused = 0, 0
    for place in used[::3]:
        for bit in (0, 3, 5, 6):
            changed = bytearray(whole)
            changed[place] ^= 1 << bit
            path.write_bytes(changed)
            try:
                with Log.open(path) as log:
                    assert len(log.events) == 29 and log.part("graph") == b"nodes and edges"
                read += 1
            except SessionError:
                refused += 1
    assert refused > 10 * max(1, read)


def test_a_trigger_that_comes_while_it_is_open_is_noticed_before_anything_is_acknowledged(path: Path) -> None:
    with Log.open(path) as log:
        stranger = sqlite3.connect(path)
        stranger.execute(STRANGE[0])
        stranger.commit()
        stranger.close()
        for _ in range(2):
            with pytest.raises(SessionFileError, match="its schema has changed"):
                log.append([tell(50)])


def restore(copy: Path, path: Path) -> None:
    """Over the same file, as ``cp`` does."""
    with copy.open("rb") as source, path.open("r+b") as target:
        shutil.copyfileobj(source, target)
        target.truncate()


def test_a_backup_copied_back_under_an_open_session_is_told_and_nothing_more_is_written(
    path: Path, tmp_path: Path
) -> None:
    with Log.open(path) as log:
        log.backup(tmp_path / "older")
        log.append([tell(50)])
        restore(tmp_path / "older", path)
        for _ in range(2):
            with pytest.raises(SessionFileError, match="was replaced while it was open .its event 30"):
                log.append([tell(51)])
        with pytest.raises(SessionFileError, match="was replaced"):
            log.refresh()
    with Log.open(path) as log:
        assert len(log.events) == 29 and log.append([tell(52)])[0].id == 30


def test_a_copy_with_as_many_changes_is_told_from_the_session_itself(path: Path, tmp_path: Path) -> None:
    shutil.copy(path, tmp_path / "copy")
    with Log.open(tmp_path / "copy") as copy, Log.open(path) as log:
        for node in range(3):  # the same number of changes, so that SQLite takes the pages that it knows for right
            log.append([tell(50 + node)])
            copy.append([tell(60 + node)])
        copy.close()
        restore(tmp_path / "copy", path)
        with pytest.raises(SessionFileError, match="was replaced"):
            log.append([tell(70)])
    with Log.open(path) as log:
        assert [event.body["node"] for event in log.events[-3:]] == [60, 61, 62]


def test_another_empty_session_in_the_same_place_is_told_as_well(tmp_path: Path) -> None:
    Log.create(tmp_path / "one", {"budget": 1}).close()
    Log.create(tmp_path / "two", {"budget": 2}).close()
    with Log.open(tmp_path / "one") as log:
        restore(tmp_path / "two", tmp_path / "one")
        with pytest.raises(SessionFileError, match="it is another session now"):
            log.append([tell(1)])


def test_a_newer_copy_of_the_same_session_is_read_on(path: Path, tmp_path: Path) -> None:
    shutil.copy(path, tmp_path / "copy")
    with Log.open(tmp_path / "copy") as copy:
        copy.append([tell(60)])
    with Log.open(path) as log:
        restore(tmp_path / "copy", path)
        assert log.append([tell(61)])[0].id == 31 and log.events[29].body["node"] == 60


@pytest.mark.parametrize("put", [True, False])
def test_a_file_that_was_moved_away_takes_no_more_labels(put: bool, path: Path, tmp_path: Path) -> None:
    shutil.copy(path, tmp_path / "copy")
    with Log.open(path) as log:
        log.append([tell(50)])
        path.rename(tmp_path / "away")
        if put:
            (tmp_path / "copy").rename(path)
        with pytest.raises(SessionFileError, match="another file of that name now, or none"):
            log.append([tell(51)])


def test_opening_a_session_again_takes_no_lock_from_a_write_of_the_same_process(path: Path) -> None:
    writing = (
        "import sqlite3, sys; sqlite3.connect(sys.argv[1], timeout=0.1, isolation_level=None).execute('BEGIN"
        " IMMEDIATE')"
    )
    with Log.open(path) as log:

        def decide() -> list[Draft]:
            Log.open(path).close()  # as another thread may
            done = subprocess.run(
                [sys.executable, "-c", writing, str(path)], capture_output=True, text=True, check=False
            )
            assert "database is locked" in done.stderr
            return [tell(50)]

        assert log.append(decide)[0].id == 30


@pytest.mark.parametrize("ending", ["-journal", "-wal", "-shm"])
def test_nothing_is_made_beside_the_journal_of_an_earlier_file(ending: str, path: Path, tmp_path: Path) -> None:
    for name in ("new", "copy"):
        (tmp_path / f"{name}{ending}").write_bytes(hot_journal(path, b"x"))
    (tmp_path / "copy").write_bytes(b"an earlier file")
    with pytest.raises(InputError, match=f"new{ending}' of an earlier file"):
        Log.create(tmp_path / "new", {})
    with Log.open(path) as log, pytest.raises(InputError, match=f"copy{ending}' of an earlier file"):
        log.backup(tmp_path / "copy", overwrite=True)
    assert not (tmp_path / "new").exists() and (tmp_path / "copy").read_bytes() == b"an earlier file"


def test_text_that_cannot_be_decoded_is_damage_and_not_the_disk(path: Path) -> None:
    whole = path.read_bytes()
    assert whole.count(b'{"budget": 5}') == 1
    path.write_bytes(whole.replace(b'{"budget": 5}', b'{"budg\xff\xfe\xfd: 5}'))
    with pytest.raises(SessionFileError, match="damaged .a text in it cannot be decoded"):
        Log.open(path)


def rewritten(path: Path, statement: str, values: tuple[object, ...]) -> None:
    """A row as a stranger writes it, the triggers dropped for the moment."""
    stranger = sqlite3.connect(path)
    triggers = stranger.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        stranger.execute(f"DROP TRIGGER {name}")
    stranger.execute(statement, values)
    for _, sql in triggers:
        stranger.execute(sql)
    stranger.commit()
    stranger.close()


@pytest.mark.parametrize(
    "settings", ["[1, 2]", "7", "null", '"text"', "[" * 100_000, "{" + '"a":{' * 50_000, "9" * 5000, b"\0\1"]
)
def test_settings_that_are_no_record_are_refused_in_words(settings: str | bytes, path: Path) -> None:
    rewritten(path, "UPDATE session SET settings = ?", (settings,))
    with pytest.raises(SessionFileError, match="damaged"):
        Log.open(path)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("at", "noon"),
        ("annotator", b"\1"),
        ("kind", b"\1"),
        ("body", b"\1"),
        ("body", "[" * 100_000),
        ("id", -3),
        ("chain", "x"),
    ],
)
def test_rows_of_other_types_are_refused_in_words(column: str, value: object, path: Path) -> None:
    rewritten(path, f"UPDATE events SET {column} = ? WHERE id = 7", (value,))
    with pytest.raises(SessionFileError, match="damaged"):
        Log.open(path)


def test_what_a_file_can_make_us_compute_is_limited(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    connection = database.connect(path, 1)
    with pytest.raises(sqlite3.DatabaseError, match="not authorized"):
        connection.execute(endless)
    connection.set_authorizer(lambda *_: sqlite3.SQLITE_OK)
    with pytest.raises(sqlite3.OperationalError, match="interrupted") as caught:
        connection.execute(endless).fetchone()
    assert "more steps than a file of its size" in str(database.failure(path, "read", 1, caught.value))
    connection.close()
    monkeypatch.setattr(database, "_STEPS", 100_000)
    with Log.open(path) as log:  # the limit is one for each operation, not for a session's whole life
        for node in range(40):
            log.append([tell(node) for _ in range(50)])
            assert len(log.refresh()) == 0


def test_parts_of_killed_processes_are_removed_at_the_next_start_and_those_of_living_ones_stay(path: Path) -> None:
    from nodewise.ground.files import part_path

    mine = part_path(path)
    dead = mine.with_name(mine.name.replace(f"-{os.getpid()}-", "-4194000-"))
    others = path.with_name(".x.nodewise.part")
    for file in (mine, dead, dead.with_name(dead.name + "-journal"), others):
        file.write_bytes(b"half")
    Log.open(path).close()
    assert {file.name for file in path.parent.iterdir()} == {path.name, mine.name, others.name}


def test_the_page_of_another_table_in_the_place_of_the_events_is_no_empty_job(tmp_path: Path) -> None:
    """A failing disk writes a page where another belongs; an empty table's would read as a job without an answer."""
    path = tmp_path / "job.nodewise"
    with Session.create(path, random_graph(), budget=5, classes=["alpha", "beta"]) as session:
        session.tell([0, 1], ["alpha", "beta"])
    with closing(sqlite3.connect(path)) as connection:
        root = dict(connection.execute("SELECT name, rootpage FROM sqlite_schema WHERE type = 'table'").fetchall())
        size = connection.execute("PRAGMA page_size").fetchone()[0]
    content = path.read_bytes()
    for other in set(root) - {"events"}:
        first, page = size * (root["events"] - 1), size * (root[other] - 1)
        path.write_bytes(content[:first] + content[page : page + size] + content[first + size :])
        with pytest.raises(SessionError):
            Session.open(path, wait=0.1)
