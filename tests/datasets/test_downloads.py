import os
import socket
import sys
from dataclasses import replace

import numpy as np
import pytest

from nodewise.datasets import load_graph
from nodewise.ground.errors import DownloadError
from nodewise.ground.events import Warned
from tests.datasets import published
from tests.datasets.published import as_published, files_below, pyg


def test_what_is_not_as_published_is_told_and_not_kept(small, source, monkeypatch, tmp_path):
    monkeypatch.setattr(pyg.HeterophilousGraphDataset, "url", source.address)
    as_published("questions", small, monkeypatch)
    source.files = {
        "questions.npz": published.heterophilous(replace(small, edge_index=small.edge_index[:, :-5].copy()))
    }
    events = []
    assert load_graph("questions", data_dir=tmp_path, reporter=events.append).num_edges == small.num_edges - 5
    assert isinstance(events[-1], Warned)
    assert f"{small.num_edges - 5} edges instead of {small.num_edges}. It is used but not kept" in events[-1].message
    assert files_below(tmp_path) == []


@pytest.mark.parametrize("broken", ["gone", "cut", "page", "pickle"])
def test_failed_download_says_what_to_do_and_leaves_nothing(broken, small, source, monkeypatch, tmp_path, capfd):
    monkeypatch.setattr(pyg.HeterophilousGraphDataset, "url", source.address)
    content = published.heterophilous(small)
    if broken == "pickle":
        content = published.archive(
            node_features=np.array([{}], dtype=object), node_labels=small.y, edges=small.edge_index.T
        )
    source.files = (
        {} if broken == "gone" else {"questions.npz": b"<html>sign in first</html>" if broken == "page" else content}
    )
    source.cut = {"questions.npz"} if broken == "cut" else set()
    patience, stdin, folder = socket.getdefaulttimeout(), sys.stdin, tmp_path / "some" / "data"
    with pytest.raises(
        DownloadError,
        match=r"questions could not be downloaded from .* put questions\.npz .* into the data folder .*data",
    ):
        load_graph("questions", data_dir=folder)
    assert files_below(tmp_path) == []
    assert (socket.getdefaulttimeout(), sys.stdin) == (patience, stdin)
    assert capfd.readouterr() == ("", "")


def test_failure_leaves_what_was_in_the_folder(small, source, monkeypatch, tmp_path):
    monkeypatch.setattr(pyg.HeterophilousGraphDataset, "url", source.address)
    (tmp_path / "mine.npz").write_bytes(b"x")
    with pytest.raises(DownloadError):
        load_graph("questions", data_dir=tmp_path)
    assert files_below(tmp_path) == ["mine.npz"]


@pytest.mark.parametrize("name", ["cora", "coauthor-physics", "tolokers"])
def test_without_a_network(name, monkeypatch, tmp_path):
    # The real addresses, with name look-up and connections going nowhere: as on a machine without a network, also where
    # there is one.
    def refuse(*args, **kwargs):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setenv("no_proxy", "*")
    with pytest.raises(DownloadError, match=rf"{name} could not be downloaded .*check the network.*put {name}\.npz"):
        load_graph(name, data_dir=tmp_path / "data")
    assert files_below(tmp_path) == []


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a user who cannot write everywhere")
def test_folder_that_cannot_be_written_still_gives_the_graph(small, source, monkeypatch, tmp_path):
    monkeypatch.setattr(pyg.HeterophilousGraphDataset, "url", source.address)
    as_published("questions", small, monkeypatch)
    source.files = {"questions.npz": published.heterophilous(small)}
    tmp_path.chmod(0o500)
    events = []
    try:
        graph = load_graph("questions", data_dir=tmp_path, reporter=events.append)
    finally:
        tmp_path.chmod(0o700)
    assert graph.num_edges == small.num_edges
    assert "could not be kept" in events[-1].message


def test_data_folder_that_a_file_blocks_still_gives_the_graph(small, source, monkeypatch, tmp_path):
    monkeypatch.setattr(pyg.HeterophilousGraphDataset, "url", source.address)
    as_published("questions", small, monkeypatch)
    source.files = {"questions.npz": published.heterophilous(small)}
    (tmp_path / "file").touch()
    events = []
    graph = load_graph("questions", data_dir=tmp_path / "file" / "data", reporter=events.append)
    assert graph.num_edges == small.num_edges
    assert "could not be kept" in events[-1].message
