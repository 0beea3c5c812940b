"""What a session's file holds beside the events: the graph, inside or beside it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodewise.graph import Graph, read_graph, write_graph
from nodewise.graph.nodes import listed_nodes, node_index
from nodewise.ground.errors import InputError, SessionFileError
from nodewise.session import Session
from nodewise.session.log.contents import Contents
from tests.session.jobs import small_job, unlabelled
from tests.small_graphs import block_graph


def test_a_large_graph_lies_beside_and_a_changed_one_is_refused(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", embed_limit=100)
    beside = tmp_path / "job.graph.npz"
    assert beside.is_file() and session._log.part("graph") is None
    session.tell(1, "a")
    session.close()
    content = beside.read_bytes()
    write_graph(unlabelled(block_graph(60, seed=9)), beside)
    with pytest.raises(SessionFileError, match="has changed since"):
        Session.open(tmp_path / "job")
    beside.unlink()
    with pytest.raises(SessionFileError, match="put it back"):
        Session.open(tmp_path / "job")
    beside.write_bytes(content)
    (tmp_path / "moved").mkdir()
    for name in ("job", "job.graph.npz"):
        (tmp_path / name).rename(tmp_path / "moved" / name)
    assert Session.open(tmp_path / "moved" / "job").labels == {1: "a"}
    write_graph(unlabelled(block_graph(60)), tmp_path / "mine.npz")
    other = small_job(
        tmp_path / "other",
        graph=unlabelled(block_graph(60)),
        source=tmp_path / "mine.npz",
        embed_limit=100,
        features="raw",
    )
    assert not (tmp_path / "other.graph.npz").exists() and other.graph.num_nodes == 60


@pytest.mark.parametrize("named", [True, False], ids=["our own npz", "another program's npz"])
def test_a_graph_from_an_npz_keeps_its_name_and_is_kept_as_it_is(named: bool, tmp_path: Path) -> None:
    graph, file = block_graph(20), tmp_path / "mine.npz"
    if named:
        write_graph(graph, file)
    else:
        np.savez(file, edge_index=graph.edge_index, num_nodes=20, x=np.asarray(graph.dense_features()))
    read = read_graph(file)
    with Session.create(tmp_path / "job", read, source=file, budget=3, classes=["a", "b"], use_labels=False) as session:
        assert session.graph.equals(read) and session.graph.name == read.name


@pytest.mark.parametrize(
    "nodes",
    [
        [3],
        [0, 3, 3],
        [],
        [4],
        [-1],
        [3, 4],
        [True],
        [False, 1],
        [0, 1, 1, 0],
        [0, 1, 2, 3],
        [3, "1"],
        [np.int64(3)],
        [2.0],
        [None],
        np.array([1, 2]),
        (2, 1),
        [True, False, True, False],
    ],
    ids=repr,
)
@pytest.mark.parametrize("size", [1, 4])
def test_numbers_of_rows_that_are_not_looked_up_are_what_a_lookup_finds(nodes: Any, size: int, tmp_path: Path) -> None:
    graph = Graph.build([[], []] if size == 1 else [[0, 1, 2], [1, 2, 3]], size)
    with Session.create(tmp_path / "job", graph, budget=1, classes=["a", "b"]) as session:
        contents = Contents.read(session._log)

    def looked_up() -> list[int]:
        return [node_index(node, graph) for node in listed_nodes(nodes, graph)]

    try:
        expected = looked_up()
    except InputError as error:
        with pytest.raises(InputError, match=f"^{re.escape(str(error))}$"):
            contents.find_all(nodes)
    else:
        assert contents.find_all(nodes) == expected
        assert [contents.find(node) for node in expected] == expected
