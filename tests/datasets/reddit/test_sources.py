from __future__ import annotations

import os
from pathlib import Path

import pytest

from nodewise.datasets.reddit.sources import fingerprint, resolve_glove, resolve_sources
from nodewise.ground.errors import InputError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (
        "RS_2014-02.zst",
        "RS_2014-01.bz2",
        "RC_2014-01",
        "RC_2014-02.xz",
        "notes.txt",
        ".RS_hidden",
        "RS_2014-01.sha256",
    ):
        (tmp_path / name).write_bytes(b"x")
    return tmp_path


def names(paths: list[Path]) -> list[str]:
    return [path.name for path in paths]


def test_a_folder_gives_the_files_of_the_kind_by_name(folder: Path) -> None:
    assert names(resolve_sources("submissions", folder)) == ["RS_2014-01.bz2", "RS_2014-02.zst"]
    assert names(resolve_sources("comments", str(folder))) == ["RC_2014-01", "RC_2014-02.xz"]


def test_a_folder_without_the_archives_names_gives_all_dumps(tmp_path: Path) -> None:
    for name in ("b.json", "a.ndjson", "readme.md"):
        (tmp_path / name).write_bytes(b"x")
    assert names(resolve_sources("comments", tmp_path)) == ["a.ndjson", "b.json"]


def test_globs_files_and_repetitions(folder: Path) -> None:
    given = [f"{folder}/RS_*.bz2", folder / "RS_2014-02.zst", f"{folder}/RS_*1.bz2"]
    assert names(resolve_sources("submissions", given)) == ["RS_2014-01.bz2", "RS_2014-02.zst"]


@pytest.mark.parametrize("given", ["nowhere", "*.nothing", []])
def test_nothing_found_is_told(tmp_path: Path, given: str | list[str]) -> None:
    with pytest.raises(InputError, match="no submissions"):
        resolve_sources("submissions", [tmp_path / item for item in [given]] if isinstance(given, str) else given)


def test_a_folder_of_the_other_kind_only_is_told(tmp_path: Path) -> None:
    (tmp_path / "RC_2014-01").write_bytes(b"x")
    with pytest.raises(InputError, match="expected files called RS_"):
        resolve_sources("submissions", tmp_path)


def test_a_folder_of_vectors_gives_those_of_the_width(tmp_path: Path) -> None:
    for name in ("glove.6B.50d.txt", "glove.6B.300d.txt", "glove.6B.json"):
        (tmp_path / name).write_bytes(b"x")
    assert names(resolve_glove(tmp_path, 300)) == ["glove.6B.300d.txt"]
    assert names(resolve_glove(tmp_path, 7)) == ["glove.6B.300d.txt", "glove.6B.50d.txt"]
    with pytest.raises(InputError, match="no GloVe file"):
        resolve_glove(tmp_path / "none", 300)


def test_the_fingerprint_sees_every_change(folder: Path) -> None:
    one, two = folder / "RC_2014-01", folder / "RC_2014-02.xz"
    keys = {
        fingerprint([one, two]),
        fingerprint([two, one]),
        fingerprint([one]),
        fingerprint([one, two], 1),
        fingerprint([one, two], 2),
    }
    before = fingerprint([one, two])
    os.utime(one, ns=(1, 1))
    keys.add(fingerprint([one, two]))
    one.write_bytes(b"xx")
    os.utime(one, ns=(1, 1))
    keys.add(fingerprint([one, two]))
    assert before in keys
    assert len(keys) == 7
