import sys

import pytest

from nodewise.datasets import data_folder
from nodewise.datasets.folder import find_local, local_names
from nodewise.ground.errors import InputError


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch, tmp_path):
    monkeypatch.setenv("NODEWISE_DATA", str(tmp_path / "none"))


def test_data_folder_by_argument_environment_and_platform(monkeypatch, tmp_path):
    assert data_folder(tmp_path) == tmp_path
    assert data_folder() == tmp_path / "none"
    monkeypatch.setenv("NODEWISE_DATA", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setattr(sys, "platform", "linux")
    assert data_folder() == tmp_path / ".cache" / "nodewise"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert data_folder() == tmp_path / "cache" / "nodewise"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert data_folder() == tmp_path / "Library" / "Caches" / "nodewise"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "Local"))
    assert data_folder() == tmp_path / "Local" / "nodewise"


def test_data_folder_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="is not a folder: give another by --data-dir"):
        data_folder(tmp_path / "file")


def test_files_by_name(tmp_path):
    for name in ("b.npz", "a.npz", ".hidden.npz", "c.txt"):
        (tmp_path / name).touch()
    (tmp_path / "folder.npz").mkdir()
    assert local_names(tmp_path / "none") == []
    assert local_names(tmp_path) == ["a", "b"]
    assert find_local(tmp_path, ("x", "b", "a")) == tmp_path / "b.npz"
    assert find_local(tmp_path, ("folder", "c")) is None
