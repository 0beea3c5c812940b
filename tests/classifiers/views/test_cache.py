"""Views in the user's cache: a hit is a miss, and nothing about the disk can hurt."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import torch

from nodewise.classifiers.views import cache
from nodewise.classifiers.views.cache import cached_views
from nodewise.graph.tensors import GraphTensors
from tests.small_graphs import random_graph

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the folder is named by XDG_CACHE_HOME")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache's folder, of a cache that keeps the views of small graphs as well."""
    monkeypatch.setattr(cache, "user_cache", lambda: tmp_path / "nodewise")
    monkeypatch.setattr(cache, "_LEAST_NODES", 10)
    return tmp_path / "nodewise" / "views"


def tensors(seed: int = 0) -> GraphTensors:
    return GraphTensors(random_graph(seed=seed))


def refuse(*_: object) -> None:
    raise AssertionError("the views were made again")


def test_a_hit_is_a_miss(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = cached_views(tensors())
    assert len(list(folder.iterdir())) == 1
    monkeypatch.setattr(cache, "make_views", refuse)
    read = cached_views(tensors())
    assert read.names == made.names and torch.equal(read.columns, made.columns)


def test_other_graphs_have_other_views(folder: Path) -> None:
    assert not torch.equal(cached_views(tensors(0)).columns, cached_views(tensors(1)).columns)
    assert len(list(folder.glob("*.npz"))) == 2


def test_views_of_small_graphs_are_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "user_cache", lambda: tmp_path / "nodewise")
    cached_views(tensors())
    assert not list(tmp_path.iterdir())


def damaged(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:200])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def foreign(path: Path) -> None:
    path.write_text("not ours")


def other_shape(path: Path) -> None:
    np.savez(path, columns=np.zeros((3, 1, 2), np.float32), names=np.array(["own"]))


def not_numbers(path: Path) -> None:
    np.savez(path, columns=np.full((40, 1, 2), np.nan, np.float32), names=np.array(["own"]))


def without_names(path: Path) -> None:
    np.savez(path, columns=np.zeros((40, 1, 2), np.float32))


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(data)


@pytest.mark.parametrize("harm", [damaged, empty, foreign, other_shape, not_numbers, without_names, flipped])
def test_a_damaged_or_foreign_file_is_made_again(harm: object, folder: Path) -> None:
    made = cached_views(tensors())
    (path,) = folder.glob("*.npz")
    harm(path)  # type: ignore[operator]
    assert torch.equal(cached_views(tensors()).columns, made.columns)
    assert torch.equal(cached_views(tensors()).columns, made.columns)


def test_the_cache_is_bounded_and_the_oldest_go_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cached_views(tensors(0))
    (first,) = folder.glob("*.npz")
    os.utime(first, (1, 1))
    monkeypatch.setattr(cache, "_MOST_BYTES", int(2.5 * first.stat().st_size))
    cached_views(tensors(1))
    assert len(list(folder.glob("*.npz"))) == 2
    cached_views(tensors(2))
    assert len(list(folder.glob("*.npz"))) == 2 and not first.exists()


def test_a_folder_that_cannot_be_written_costs_nothing_but_time(folder: Path) -> None:
    folder.parent.mkdir(parents=True)
    folder.write_text("a file where the folder should be")
    assert torch.isfinite(cached_views(tensors()).columns).all()
    assert folder.read_text() == "a file where the folder should be"
