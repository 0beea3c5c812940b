"""Chunks are read as they were kept; damaged and edited ones are not believed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from nodewise.classifiers import Gcn
from nodewise.evaluation.store import ChunkStore
from nodewise.evaluation.task import Chunk, GraphReference, Task
from nodewise.strategies import Random

TASK = Task(GraphReference("g", "f"), Gcn(), Random(), (2,), seed=0, first=0, runs=2)


def kept(folder: Path) -> Path:
    chunk = Chunk(np.array([50.0, 60.0]), np.array([40.0, 50.0]), np.array([[3, 1], [0, 2]]), 0.1)
    ChunkStore(folder).save(TASK, 2, chunk)
    return folder / TASK.path(2)


def test_a_chunk_is_read_as_it_was_kept(tmp_path: Path) -> None:
    kept(tmp_path)
    chunk = ChunkStore(tmp_path).load(TASK, 2)
    assert chunk is not None and chunk.micro_f1.tolist() == [50, 60] and chunk.queries.tolist() == [[3, 1], [0, 2]]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("micro_f1", [1e9, 60.0]),
        ("micro_f1", [float("nan"), 60.0]),
        ("macro_f1", [-1.0, 60.0]),
        ("micro_f1", [50.0]),
        ("queries", [[3, 3], [0, 2]]),
        ("queries", [[3], [0]]),
        ("queries", [[-1, 1], [0, 2]]),
        ("seconds", -1),
    ],
)
def test_an_edited_chunk_is_played_again(tmp_path: Path, name: str, value: object) -> None:
    path = kept(tmp_path)
    path.write_text(json.dumps({**json.loads(path.read_text()), name: value}))
    assert ChunkStore(tmp_path).load(TASK, 2) is None
