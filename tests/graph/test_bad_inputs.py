"""The page of bad inputs: each is refused with one sentence that names the file and says what to do."""

from __future__ import annotations

import contextlib
import os
import pickle
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodewise.graph import Graph, read_graph, write_graph
from nodewise.ground.errors import GraphError

EDGES = np.array([[0], [1]])


def pickled(path: Path) -> None:
    np.savez(path, edge_index=EDGES, y=np.array([{"a": 1}, None], dtype=object))


def lone(path: Path) -> None:
    with path.open("wb") as handle:
        np.save(handle, EDGES)


def fields(**parts: object) -> Callable[[Path], None]:
    return lambda path: np.savez(path, **{"edge_index": EDGES, **parts})  # type: ignore[arg-type]


def content(data: bytes | str) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(data if isinstance(data, bytes) else data.encode())  # type: ignore[return-value]


def cut(path: Path) -> None:
    """The first half of a good file."""
    write_graph(
        Graph.build(np.random.default_rng(0).integers(0, 500, (2, 2000)), x=np.random.default_rng(0).random((500, 20))),
        path,
    )
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


def flipped(path: Path) -> None:
    """A good file with rubbish in its middle."""
    write_graph(Graph.build(np.random.default_rng(0).integers(0, 500, (2, 2000))), path)
    whole = bytearray(path.read_bytes())
    whole[len(whole) // 2 : len(whole) // 2 + 40] = os.urandom(40)
    path.write_bytes(bytes(whole))


def folder(**files: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        path.mkdir()
        for name, text in files.items():
            (path / f"{name}.csv").write_text(text)

    return make


def nothing(path: Path) -> None:
    """Leaves the path free."""


PAGE = {
    "missing file": ("a.npz", nothing, r"there is no file .*a\.npz: check the path"),
    "missing graphml": ("a.graphml", nothing, r"there is no file .*a\.graphml: check the path"),
    "missing edge list": ("a.edges", nothing, r"there is no file .*a\.edges: check the path"),
    "missing, no ending": ("a", nothing, r"there is no file .*a: check the path"),
    "not an npz": ("a.npz", content("hello"), "is not an npz file: give a file written by np.savez"),
    "a pickle called npz": ("a.npz", content(pickle.dumps({"edge_index": EDGES})), "is not an npz file"),
    "an array called npz": ("a.npz", lone, "single array, not a graph: .*--knn"),
    "a zip of something else": ("a.npz", content(b"PK\x05\x06" + bytes(18)), "no field 'edge_index', only nothing"),
    "pickled objects": (
        "a.npz",
        pickled,
        "holds pickled Python objects, which can run code and are never loaded: save its arrays as numbers",
    ),
    "wrong shape of edges": (
        "a.npz",
        fields(edge_index=np.zeros((3, 2), dtype=int)),
        r"\[2, edges\], received \[3, 2\].*pass edge_index\.T",
    ),
    "wrong shape of features": (
        "a.npz",
        fields(x=np.zeros((5, 2)), y=[0, 1]),
        "label for each of the 5 nodes|features have 5 rows",
    ),
    "features of one dimension": (
        "a.npz",
        fields(x=np.zeros(2)),
        r"shape \[nodes, features\], received \[2\]: reshape",
    ),
    "edge to no node": (
        "a.npz",
        fields(edge_index=[[0], [9]], y=[0, 1]),
        r"edge 0 \(0, 9\) leads to a node that does not exist: there are 2 nodes",
    ),
    "negative node": ("a.npz", fields(edge_index=[[0], [-1]]), "negative end: nodes are numbered from 0"),
    "NaN features": (
        "a.npz",
        fields(x=[[1.0], [np.nan]]),
        "must be finite, received nan at node 1, column 0: replace it",
    ),
    "labels longer than nodes": (
        "a.npz",
        fields(x=np.zeros((2, 1)), y=[0, 1, 1]),
        r"one label for each of the 2 nodes, received the shape \[3\]",
    ),
    "text as edges": ("a.npz", fields(edge_index=[["a"], ["b"]]), "must hold integers, received <U1"),
    "entity bomb": (
        "a.graphml",
        content('<!DOCTYPE x [<!ENTITY a "a"><!ENTITY b "&a;&a;">]><graphml/>'),
        "not read: it has a DOCTYPE",
    ),
    "not XML": ("a.graphml", content(b"\x89PNG\r\n"), "no GraphML file"),
    "CSV with a missing column": ("a", folder(nodes="id\na\n", edges="source\na\n"), r"edges\.csv needs two columns"),
    "CSV edge to no node": (
        "a",
        folder(nodes="id\na\n", edges="source,target\na,b\n"),
        "leads to 'b', which is no node's id",
    ),
    "CSV without nodes": (
        "a",
        folder(nodes="id\n", edges="source,target\n"),
        "holds no nodes: a graph needs at least one",
    ),
    "truncated npz": ("a.npz", cut, "truncated or damaged, or not an npz file .*: make or download it again"),
    "truncated graphml": ("a.graphml", cut, "cannot be read as XML .*cut off"),
    "truncated edge list": ("a.edges", cut, "the file was cut off or changed|are not the ids of two"),
    "damaged npz": ("a.npz", flipped, "damaged.*make or download it again"),
    "0 bytes, npz": ("a.npz", content(""), r"is empty \(0 bytes\): .* make or download it again"),
    "0 bytes, graphml": ("a.graphml", content(""), r"is empty \(0 bytes\)"),
    "0 bytes, edges": ("a.edges", content(""), r"is empty \(0 bytes\)"),
    "0 bytes, nodes": ("a", folder(nodes="", edges="source,target\n"), r"nodes\.csv is empty \(0 bytes\)"),
    "a directory": (
        "a",
        lambda path: path.mkdir(),
        r"is a folder without nodes\.csv: a graph as a folder holds nodes\.csv and edges\.csv",
    ),
    "a directory called npz": ("a.npz", lambda path: path.mkdir(), r"is a folder without nodes\.csv"),
    "unknown ending": ("a.xlsx", content("x"), r"the ending '\.xlsx' is not known\. Known forms: \.npz"),
    "no nodes": (
        "a.npz",
        fields(edge_index=np.zeros((2, 0), dtype=int)),
        "at least one node.*check that the source is not empty",
    ),
}


@pytest.mark.parametrize("case", PAGE)
def test_bad_input_is_refused_with_a_message_that_helps(tmp_path: Path, case: str) -> None:
    name, make, message = PAGE[case]
    make(tmp_path / name)
    with pytest.raises(GraphError, match=message) as refused:
        read_graph(tmp_path / name)
    assert str(tmp_path / name) in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["a.npz", "a.graphml", "a.edges", "a"])
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused_but_never_breaks(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("damaged") / name
    write_graph(
        Graph.build([[0, 1], [1, 2]], 4, x=[[0.5], [1], [0], [0]], y=["a", "b", "", "a"], node_names=list("wxyz")), path
    )
    file = path if path.is_file() else data.draw(st.sampled_from(sorted(path.iterdir())))
    whole = file.read_bytes()
    start = data.draw(st.integers(0, len(whole)))
    stop = data.draw(st.integers(start, min(len(whole), start + 20)))
    file.write_bytes(whole[:start] + data.draw(st.binary(max_size=20)) + whole[stop:])
    with contextlib.suppress(GraphError):
        assert read_graph(path).num_nodes > 0


@pytest.fixture
def bound_user() -> Iterator[Callable[[], None]]:
    """Gives a function after which permissions bind this process: those of root do not."""
    if os.name == "nt":
        pytest.skip("permissions are of another kind there")
    user = os.geteuid()
    yield lambda: os.seteuid(65534) if user == 0 else None
    os.seteuid(user)


@pytest.mark.parametrize("name", ["a.npz", "a.graphml", "a.edges", "a"])
def test_missing_permissions_are_told(name: str, bound_user: Callable[[], None]) -> None:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / name
        write_graph(Graph.build(EDGES), path)
        assert read_graph(path).num_edges == 1
        path.chmod(0)
        Path(place).chmod(0o555)
        bound_user()
        try:
            with pytest.raises(GraphError, match=r"cannot be read: Permission denied; check .*permissions"):
                read_graph(path)
            with pytest.raises(GraphError, match="cannot be written: Permission denied; check"):
                write_graph(Graph.build(EDGES), path)
        finally:
            if os.getuid() == 0:
                os.seteuid(0)
            Path(place).chmod(0o755)
            path.chmod(0o755)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name")
@pytest.mark.parametrize(
    "name", ["a.npz", "a.graphml", "a.edges", "a.csv", "g/nodes.csv", "g/edges.csv", "g/features.csv", "g/graph.json"]
)
def test_a_pipe_is_refused_and_nobody_waits_for_it(tmp_path: Path, name: str) -> None:
    write_graph(Graph.build(EDGES, x=[[1.0], [2.0]]), tmp_path / "g")
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    with pytest.raises(
        GraphError, match=r"is a pipe, a socket or a device, not a file: save what it gives to a file first"
    ):
        read_graph(tmp_path / name.partition("/")[0])


@pytest.mark.parametrize("name", ["a.npz", "a.graphml", "a.edges", "a.csv"])
def test_texts_that_cannot_be_decoded_are_told(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"<graphml>\xff\xfe\n" if name.endswith("graphml") else b"caf\xe9,b\xff\n1,2\n")
    with pytest.raises(
        GraphError, match=r"is not an npz file|cannot be read as XML|cannot be read as text .*save it as UTF-8"
    ):
        read_graph(tmp_path / name)


@pytest.mark.slow
def test_large_sizes_that_are_true_are_believed(tmp_path: Path) -> None:
    rows = 2**19
    mostly_zeros = np.zeros((rows, 48), dtype=np.float32)
    mostly_zeros[:, 0] = 1
    graph = Graph.build(
        EDGES, rows, x=mostly_zeros, node_names=[f"n{i}" for i in range(rows)], attributes={"empty": [""] * rows}
    )
    write_graph(graph, tmp_path / "a.npz")
    assert read_graph(tmp_path / "a.npz").equals(graph)
    lonely = Graph.build(EDGES, 2**20)
    for name in ("b.npz", "b.edges"):
        write_graph(lonely, tmp_path / name)
        assert read_graph(tmp_path / name).num_nodes == 2**20
