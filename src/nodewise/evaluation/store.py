"""Finished chunks, kept under all that their numbers follow from, so that nothing is played twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from nodewise.evaluation.task import Chunk, Task
from nodewise.ground.files import write_json

__all__ = ["ChunkStore", "chunk_digest"]


class ChunkStore:
    """Finished chunks: in a folder, one file each, or in memory.

    A file appears whole or not at all, so that what was finished before a kill is there afterwards and is not done
    again.

    Attributes:
        folder: where the files go; None: in memory.
    """

    @classmethod
    def of(cls, given: ChunkStore | str | Path | None) -> ChunkStore:
        """What a caller means: a store, a folder for one, or None for one in memory."""
        return given if isinstance(given, ChunkStore) else cls(given)

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = None if folder is None else Path(folder)
        self._memory: dict[Path, Chunk] = {}

    def load(self, task: Task, budget: int) -> Chunk | None:
        """The chunk, or None if it is not there, not readable, or of other settings."""
        path = task.path(budget)
        if path in self._memory or self.folder is None or not task.storable:
            return self._memory.get(path)
        try:
            record = json.loads((self.folder / path).read_text(encoding="utf-8"))
            if record["key"] != task.key(budget) or record["digest"] != chunk_digest(record):
                return None  # of other settings, damaged, or edited
            micro, macro = (np.asarray(record[name], dtype=np.float64) for name in ("micro_f1", "macro_f1"))
            chunk = Chunk(micro, macro, np.asarray(record["queries"], dtype=np.int64), float(record["seconds"]))
            if not chunk.fits(task.runs, budget):
                return None  # edited, with a right digest
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return None
        self._memory[path] = chunk
        return chunk

    def save(self, task: Task, budget: int, chunk: Chunk) -> None:
        """Keep a finished chunk."""
        path = task.path(budget)
        self._memory[path] = chunk
        if self.folder is not None and task.storable:
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            scores = {name: getattr(chunk, name).tolist() for name in ("micro_f1", "macro_f1", "queries")}
            record = {"schema": 1, "key": task.key(budget), "seconds": chunk.seconds, **scores}
            write_json(file, {**record, "digest": chunk_digest(record)})


def chunk_digest(record: Mapping[str, Any]) -> str:
    """Tells a chunk that was damaged on the disk, or edited, from the one that was written."""
    content = {name: value for name, value in record.items() if name != "digest"}
    return hashlib.blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=8).hexdigest()
