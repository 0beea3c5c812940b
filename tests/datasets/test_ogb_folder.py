"""A data set that the Open Graph Benchmark's package has unpacked before is found and read, without that package and
without a network.
"""

import gzip
import io
import sys
import zipfile

import numpy as np
import pytest

from nodewise.datasets import load_graph, synthetic_graph
from nodewise.ground.errors import GraphError
from nodewise.ground.events import Note, Warned
from tests.datasets import published
from tests.datasets.published import as_published, files_below


@pytest.fixture
def small(monkeypatch):
    """What the archive holds, of the size that is expected; and no package that could read or fetch it."""
    monkeypatch.setitem(sys.modules, "ogb", None)
    graph = synthetic_graph(nodes=30, mean_degree=4, features=6, classes=3)
    as_published("ogbn-arxiv", graph, monkeypatch)
    return graph


@pytest.fixture
def root(small, tmp_path):
    """The folder that ogb was given as its root: the archive's folder under the name that ogb gives it."""
    with zipfile.ZipFile(io.BytesIO(published.ogb(small, "arxiv"))) as archive:
        archive.extractall(tmp_path / "root")
    (tmp_path / "root" / "arxiv").rename(tmp_path / "root" / "ogbn_arxiv")
    return tmp_path / "root"


def same(graph, small):
    np.testing.assert_array_equal(graph.edge_index, small.edge_index)
    np.testing.assert_array_equal(graph.y, small.y)
    np.testing.assert_array_equal(graph.dense_features(), small.dense_features())
    return graph.name == "ogbn-arxiv"


def test_by_name_where_the_data_folder_is_its_root(small, root):
    events = []
    assert same(load_graph("ogbn-arxiv", data_dir=root, reporter=events.append), small)
    assert [type(event) for event in events] == [Note] and str(root / "ogbn_arxiv") in events[0].message
    assert (root / "ogbn-arxiv.npz").is_file()
    assert same(load_graph("ogbn-arxiv", data_dir=root, reporter=events.append), small)
    assert len(events) == 1  # the second time it is read from the file that was kept


def test_by_the_folder_s_path(small, root):
    before = files_below(root)
    assert same(load_graph(root / "ogbn_arxiv"), small)
    assert same(load_graph(f"{root}/ogbn_arxiv"), small)
    assert files_below(root) == before


def test_a_link_in_the_data_folder_and_the_name_that_old_packages_gave(small, root, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "ogbn_arxiv_pyg").symlink_to(root / "ogbn_arxiv")
    assert same(load_graph("ogbn-arxiv", data_dir=tmp_path / "data"), small)


def test_labels_that_are_missing_and_no_features(small, root):
    raw = root / "ogbn_arxiv" / "raw"
    (raw / "node-feat.csv.gz").unlink()
    labels = ["nan", *map(str, small.y[1:])]
    (raw / "node-label.csv.gz").write_bytes(gzip.compress("\n".join(labels).encode()))
    graph = load_graph(root / "ogbn_arxiv")
    assert graph.x is None and graph.y[0] == -1 and (graph.y[1:] == small.y[1:]).all()


def test_one_that_was_cut_off_is_told_and_not_kept(small, root):
    raw = root / "ogbn_arxiv" / "raw"
    (raw / "edge.csv.gz").write_bytes(gzip.compress(b"0,1\n1,2\n"))
    events = []
    assert load_graph("ogbn-arxiv", data_dir=root, reporter=events.append).num_edges == 2
    assert any(isinstance(event, Warned) and "2 edges instead of" in event.message for event in events)
    assert not (root / "ogbn-arxiv.npz").exists()


HARMS = {
    "half of a file": ("edge.csv.gz", lambda content: content[: len(content) // 2]),
    "no archive": ("edge.csv.gz", lambda content: b"<html>not found</html>"),
    "words": ("node-feat.csv.gz", lambda content: gzip.compress(b"a,b\n")),
    "not text": ("node-label.csv.gz", lambda content: gzip.compress(b"\xff\xfe\n")),
    "fewer rows": ("node-feat.csv.gz", lambda content: gzip.compress(b"1,2\n")),
    "several labels": ("node-label.csv.gz", lambda content: gzip.compress(b"0,1\n" * 30)),
    "node out of range": ("edge.csv.gz", lambda content: gzip.compress(b"0,999\n")),
    "far too much": ("node-feat.csv.gz", lambda content: gzip.compress(b"0,0,0,0\n" * 2**20)),
    "an endless line": ("edge.csv.gz", lambda content: gzip.compress(b"1" * 2**17)),
}


@pytest.mark.slow
@pytest.mark.parametrize("harm", HARMS)
def test_damaged_files_are_refused(harm, root):
    name, damage = HARMS[harm]
    path = root / "ogbn_arxiv" / "raw" / name
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(GraphError):
        load_graph(root / "ogbn_arxiv")


def test_a_damaged_file_is_named_with_what_to_do(root):
    path = root / "ogbn_arxiv" / "raw" / "edge.csv.gz"
    path.write_bytes(path.read_bytes()[:30])
    with pytest.raises(GraphError, match=r"edge\.csv\.gz cannot be read .*remove .*ogbn_arxiv and download it again"):
        load_graph("ogbn-arxiv", data_dir=root)
