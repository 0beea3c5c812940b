"""The work folder: a DuckDB file that knows which stages are finished, so that a build that was killed goes on where it
was.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from nodewise.datasets.reddit.settings import Limits
from nodewise.ground.errors import InputError, MissingExtraError
from nodewise.ground.files import remove_dead_parts

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

__all__ = ["Work"]


class Work:
    """One build's scratch space.

    A stage's tables and the note that it is finished are committed together: after a kill, either both are there or
    neither.

    Args:
        folder: made when it is not there.
        limits: memory and threads for DuckDB.

    Raises:
        InputError: if another build is using the folder, or what is in it cannot be read.
    """

    def __init__(self, folder: Path, limits: Limits) -> None:
        self.folder = folder
        self.con = _connect(folder / "work.duckdb", folder / "spill", limits)
        shutil.rmtree(self.lines_folder, ignore_errors=True)  # what a killed build has left
        remove_dead_parts(self.folder)
        self.lines_folder.mkdir()
        self.con.execute("CREATE TABLE IF NOT EXISTS stage (name VARCHAR, key VARCHAR, result BIGINT)")
        self.con.execute(
            "CREATE TABLE IF NOT EXISTS chunk (stage VARCHAR, file VARCHAR, number BIGINT, lines BIGINT, rejected"
            " VARCHAR, examples VARCHAR)"
        )
        self.con.execute("CREATE TABLE IF NOT EXISTS file (stage VARCHAR, file VARCHAR)")

    @property
    def lines_folder(self) -> Path:
        """For lines on their way from a decompressor to DuckDB."""
        return self.folder / "lines"

    def key_of(self, stage: str) -> str | None:
        """The key under which the stage was begun last, or None."""
        row = self.con.execute("SELECT key FROM stage WHERE name = ?", [stage]).fetchone()
        return None if row is None else str(row[0])

    def finished(self, stage: str, key: str) -> bool:
        """Whether the stage is finished under this key."""
        return (
            self.con.execute(
                "SELECT 1 FROM stage WHERE name = ? AND key = ? AND result IS NOT NULL", [stage, key]
            ).fetchone()
            is not None
        )

    def begin(self, stage: str, key: str) -> None:
        """Notes that the stage has begun under this key; what was recorded of it before is forgotten.

        Call it inside a transaction.
        """
        self.forget(stage)
        self.con.execute("INSERT INTO stage VALUES (?, ?, NULL)", [stage, key])

    def forget(self, stage: str) -> None:
        """Forgets that the stage was begun or finished."""
        for table, column in (("stage", "name"), ("chunk", "stage"), ("file", "stage")):
            self.con.execute(f"DELETE FROM {table} WHERE {column} = ?", [stage])

    def holds_results(self) -> bool:
        """Whether a stage is finished and has found something."""
        return self.con.execute("SELECT 1 FROM stage WHERE result > 0").fetchone() is not None

    def finish(self, stage: str, rows: int) -> None:
        """Notes that the stage is finished, and how many rows it has found."""
        self.con.execute("UPDATE stage SET result = ? WHERE name = ?", [rows, stage])

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of it or nothing."""
        self.con.execute("BEGIN")
        try:
            yield
        except BaseException:
            with suppress(Exception):  # an interrupted transaction is rolled back already
                self.con.execute("ROLLBACK")
            raise
        self.con.execute("COMMIT")

    def close(self) -> None:
        """Lets go of the folder; what was committed stays."""
        self.con.close()

    def delete(self) -> None:
        """Removes what the build has put into the folder, and the folder itself unless it holds something else."""
        self.close()
        for name in ("lines", "spill"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        for pattern in ("work.duckdb*", "vectors-*"):
            for path in self.folder.glob(pattern):
                path.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()


def _connect(database: Path, spill: Path, limits: Limits) -> DuckDBPyConnection:
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("duckdb", "reddit") from None
    options: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": f"{int(limits.memory_gb * 500)}MB",
        "threads": limits.threads or os.cpu_count() or 1,
        "temp_directory": str(spill),
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
    }
    database.parent.mkdir(parents=True, exist_ok=True)
    try:
        return duckdb.connect(str(database), config=options)
    except duckdb.IOException as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError(
            f"the work folder {str(database.parent)!r} cannot be used: {reason}. If no other build is running on it,"
            " delete the folder and build again"
        ) from None
