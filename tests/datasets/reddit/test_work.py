from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nodewise.datasets.reddit import Limits
from nodewise.datasets.reddit.work import Work
from nodewise.ground.errors import InputError, MissingExtraError

LIMITS = Limits(memory_gb=2, threads=1)


def test_a_transaction_is_all_or_nothing(tmp_path: Path) -> None:
    work = Work(tmp_path / "w", LIMITS)

    def fail() -> None:
        with work.transaction():
            work.begin("posts", "k")
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        fail()
    assert work.key_of("posts") is None
    with work.transaction():
        work.begin("posts", "k")
    work.close()
    again = Work(tmp_path / "w", LIMITS)
    assert again.key_of("posts") == "k"
    assert not again.finished("posts", "k")
    assert not again.holds_results()
    again.finish("posts", 0)
    assert again.finished("posts", "k")
    assert not again.finished("posts", "other")
    assert not again.holds_results()
    again.finish("posts", 5)
    assert again.holds_results()
    again.forget("posts")
    assert again.key_of("posts") is None
    again.close()


def test_memory_and_threads_are_those_asked_for(tmp_path: Path) -> None:
    work = Work(tmp_path / "w", LIMITS)
    memory, threads, spill = work.con.execute(
        "SELECT current_setting('memory_limit'), current_setting('threads'), current_setting('temp_directory')"
    ).fetchone() or ("", 0, "")
    assert memory.startswith(("953", "1000", "1.0"))  # half of 2 GB, in whatever unit
    assert int(threads) == 1
    assert Path(spill) == tmp_path / "w" / "spill"
    work.close()


def test_deleting_leaves_what_others_have_put_there(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("keep")
    work = Work(tmp_path, LIMITS)
    (tmp_path / "vectors-1.npz").write_bytes(b"x")
    work.delete()
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_folder_in_use_is_refused(tmp_path: Path) -> None:
    code = "import duckdb, sys; con = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    (tmp_path / "w").mkdir()
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "w" / "work.duckdb")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        with pytest.raises(InputError, match="cannot be used: .* If no other build is running"):
            Work(tmp_path / "w", LIMITS)
    finally:
        other.communicate("")


def test_rubbish_in_place_of_the_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "work.duckdb").write_bytes(b"rubbish" * 5000)
    with pytest.raises(InputError, match="delete the folder and build again"):
        Work(tmp_path, LIMITS)


def test_without_duckdb_the_way_to_install_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtraError, match=r"this needs duckdb, .* pip install '.*\[reddit\]'"):
        Work(tmp_path / "w", LIMITS)
    assert not (tmp_path / "w").exists()
