"""What a reader drops stands in the notes, in the same words whatever the reader; weights stay, and so do rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from torch_geometric.data import Data, HeteroData

from nodewise.graph import Graph, RelationalGraph, read_graph, write_graph
from nodewise.graph.relations import DIRECTED_NOTE
from nodewise.graph.tables.excel import write_excel
from nodewise.ground.errors import NodewiseError
from nodewise.studio.work.table_files import normalise_table

ADDED = "1 repeated edge added to the weight of the first (an edge and its reverse are one)"
COUNTED = "1 edge without a weight counted as 1"
DIRECTION = "the direction of the edges was dropped: an edge leads both ways"
REPEATED = "1 repeated edge dropped (an edge and its reverse are one)"
LOOP = "1 self loop dropped"


def kind(names: str) -> str:
    return f"what else the edges hold was dropped: {names}"


def directed() -> nx.MultiDiGraph:
    graph = nx.MultiDiGraph()
    graph.add_edge(0, 1, weight=2.0, kind="a")
    graph.add_edge(1, 2, weight=0.5)
    graph.add_edge(1, 2, weight=0.5)
    graph.add_edge(2, 2)
    return graph


def csv(folder: Path) -> Graph:
    (folder / "nodes.csv").write_text("id\na\nb\nc\n")
    (folder / "edges.csv").write_text("source,target,Weight,kind\na,b,3,x\nb,c,1,\nc,b,1,\nc,c,1,\n")
    return Graph.from_csv(folder / "nodes.csv", folder / "edges.csv")


def csv_folder(folder: Path) -> Graph:
    csv(folder)
    return read_graph(folder)


def csv_without_heading(folder: Path) -> Graph:
    (folder / "nodes.csv").write_text("id\na\nb\nc\n")
    (folder / "edges.csv").write_text("a,b,3\nb,c,1\nc,b,1\nc,c,1\n")
    return Graph.from_csv(folder / "nodes.csv", folder / "edges.csv")


def edge_list(folder: Path) -> Graph:
    (folder / "a.edges").write_text("0 1 3\n1 2 1\n2 1 1\n2 2 1\n")
    return read_graph(folder / "a.edges")


def graphml(folder: Path) -> Graph:
    nx.write_graphml(directed(), folder / "a.graphml")
    return read_graph(folder / "a.graphml")


def networkx(folder: Path) -> Graph:
    return Graph.from_networkx(directed())


def scipy(folder: Path) -> Graph:
    return Graph.from_scipy(sp.csr_matrix([[0, 3.0, 0], [0, 0, 1.0], [0, 1.0, 1.0]]))


def pyg(folder: Path) -> Graph:
    edges = torch.tensor([[0, 1, 2, 2], [1, 2, 1, 2]])
    return Graph.from_pyg(Data(edge_index=edges, edge_weight=torch.rand(4), edge_attr=torch.ones(4, 2), num_nodes=3))


def pyg_matrix(folder: Path) -> Graph:
    matrix = torch.tensor([[0, 3.0, 0], [0, 0, 1.0], [0, 1.0, 1.0]])
    return Graph.from_pyg(Data(adj_t=matrix.to_sparse_csr(), num_nodes=3))


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
@pytest.mark.parametrize(
    ("reader", "dropped"),
    [
        (csv, {ADDED, kind("'kind'")}),
        (csv_folder, {ADDED, kind("'kind'")}),
        (csv_without_heading, {REPEATED, kind("'column 3'")}),
        (edge_list, {ADDED}),
        (graphml, {ADDED, COUNTED, DIRECTED_NOTE, kind("'kind'")}),
        (networkx, {ADDED, COUNTED, DIRECTED_NOTE, kind("'kind'")}),
        (scipy, {ADDED, DIRECTION}),
        (pyg, {ADDED, DIRECTION, kind("'edge_attr'")}),
        (pyg_matrix, {ADDED, DIRECTION}),
    ],
)
def test_every_reader_says_what_it_drops(reader: Callable[[Path], Graph], dropped: set[str], tmp_path: Path) -> None:
    graph = reader(tmp_path)
    assert graph.edge_index.tolist() == [[0, 1], [1, 2]]
    about_edges = {note for note in graph.notes if "edge" in note or "loop" in note}
    assert about_edges == {*dropped, LOOP}
    assert (graph.edge_weight is None) == (ADDED not in dropped)


def test_nothing_is_said_where_nothing_is_dropped(tmp_path: Path) -> None:
    both = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    undirected = sp.csr_matrix(np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    graphs = [
        Graph.from_networkx(nx.path_graph(3)),
        Graph.from_pyg(Data(edge_index=both, num_nodes=3)),
        Graph.from_scipy(undirected),
    ]
    nx.write_graphml(nx.path_graph(3), tmp_path / "a.graphml")
    graphs.append(read_graph(tmp_path / "a.graphml"))
    for graph in graphs:
        assert {note for note in graph.notes if "dropped" in note} <= {
            "2 repeated edges dropped (an edge and its reverse are one)"
        }


def typed_networkx(folder: Path) -> RelationalGraph:
    graph = nx.MultiDiGraph()
    graph.add_nodes_from("ab", type="paper", label="x")
    graph.add_node("c", type="author")
    for one in "aab":
        graph.add_edge(one, "c", relation="by", kind="q")
    return RelationalGraph.from_networkx(graph, labelled="paper")


def typed_folder(folder: Path) -> Graph:
    (folder / "nodes-paper.csv").write_text("id,label\na,x\nb,x\n")
    (folder / "nodes-author.csv").write_text("id\nc\n")
    (folder / "edges-by.csv").write_text("paper,author,kind\na,c,q\na,c,q\nb,c,q\n")
    return read_graph(folder)


def hetero(folder: Path) -> RelationalGraph:
    data = HeteroData()
    data["paper"].x, data["paper"].y, data["author"].num_nodes = torch.ones(2, 1), torch.tensor([0, 0]), 1
    data["paper", "by", "author"].edge_index = torch.tensor([[0, 0, 1], [0, 0, 0]])
    data["paper", "by", "author"].kind = torch.ones(3)
    return RelationalGraph.from_pyg(data)


@pytest.mark.parametrize("reader", [typed_networkx, typed_folder, hetero])
def test_readers_of_several_node_types_say_it_in_the_same_words(
    reader: Callable[[Path], RelationalGraph | Graph], tmp_path: Path
) -> None:
    notes = [note.removesuffix(" (relation 'by')") for note in reader(tmp_path).notes]
    assert kind("'kind'") in notes and "1 repeated edge dropped" in notes
    assert not [note for note in notes if "no file of edges" in note or "there are no edges" in note]


NODES = {
    "a row without a label": ["a,x,one", "b,,two", "c,y,three"],
    "a row without a text": ["a,x,one", "b,y,", "c,y,three"],
    "a row of nothing but its name": ["a,x,one", "b,,", "c,y,three"],
    "a row of nothing": ["a,x,one", ",,", "c,y,three"],
    "a row without a name": ["a,x,one", ",y,two", "c,y,three"],
    "a name twice": ["a,x,one", "a,x,one", "c,y,three"],
    "two rows alike but for their names": ["a,x,one", "b,x,one", "c,y,three"],
    "a row that is too short": ["a,x,one", "b", "c,y,three"],
    "a row that is too long": ["a,x,one", "b,x,two,2,2", "c,y,three"],
    "a row that only looks empty": ["a,x,one", '" "," "," "', "c,y,three"],
    "a word for nothing as a name": ["a,x,one", "nan,y,two", "c,y,three"],
}
"""Rows that one may be tempted to leave out, as lines of a table with the columns id, label and text."""
EDGES = {
    "an edge of a row that is not there": ["a,c", "c,d"],
    "an edge with an empty end": ["a,c", "c,"],
    "an edge that is too short": ["a,c", "c"],
    "an edge of nothing": ["a,c", ","],
}


def lines(text: Sequence[str], heading: str) -> str:
    return "\n".join([heading, *text]) + "\n"


def from_csv(folder: Path, nodes: Sequence[str], edges: Sequence[str]) -> Graph:
    (folder / "rows.csv").write_text(lines(nodes, "id,label,text"))
    (folder / "links.csv").write_text(lines(edges, "source,target"))
    return Graph.from_csv(folder / "rows.csv", folder / "links.csv")


def from_folder(folder: Path, nodes: Sequence[str], edges: Sequence[str]) -> Graph:
    (folder / "nodes.csv").write_text(lines(nodes, "id,label,text"))
    (folder / "edges.csv").write_text(lines(edges, "source,target"))
    return read_graph(folder)


def from_types(folder: Path, nodes: Sequence[str], edges: Sequence[str]) -> Graph:
    (folder / "nodes-paper.csv").write_text(lines(nodes, "id,label,text"))
    (folder / "nodes-author.csv").write_text("id\nd\ne\n")
    (folder / "edges-by.csv").write_text(lines([edge.replace(",c", ",d") for edge in edges], "paper,author"))
    (folder / "edges-cites.csv").write_text(lines(edges, "paper,paper"))
    return read_graph(folder)


def cells(nodes: Sequence[str]) -> list[list[str]]:
    """The cells of each row, three of them."""
    return [[*line.replace('"', "").split(","), "", ""][:3] for line in nodes]


def from_frame(folder: Path, nodes: Sequence[str], edges: Sequence[str]) -> Graph:
    return Graph.from_dataframe(pd.DataFrame(cells(nodes), columns=["id", "label", "text"]), text="text", k=1)


def from_uploaded(ending: str) -> Callable[[Path, Sequence[str], Sequence[str]], Graph]:
    """As the studio reads a table: made a CSV first."""

    def read(folder: Path, nodes: Sequence[str], edges: Sequence[str]) -> Graph:
        source, names = folder / f"rows{ending}", ["id", "label", "text"]
        if ending == ".csv":
            source.write_text(lines(nodes, "id,label,text"))
        elif ending == ".xlsx":
            write_excel(source, names, cells(nodes))
        else:
            records = [dict(zip(names, row, strict=True)) for row in cells(nodes)]
            (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in records))
        if ending == ".parquet":
            duckdb = pytest.importorskip("duckdb")
            with duckdb.connect() as base:
                base.execute(
                    f"COPY (SELECT * FROM read_json('{folder / 'rows.jsonl'}')) TO '{source}' (FORMAT parquet)"
                )
        (folder / "links.csv").write_text(lines(edges, "source,target"))
        made = normalise_table(source, source.name, folder / "table.csv")
        return Graph.from_csv(made.path, folder / "links.csv")

    return read


def from_graphml(folder: Path, nodes: Sequence[str], edges: Sequence[str]) -> Graph:
    made = [
        f'<node id="{name}"><data key="l">{label}</data><data key="t">{text}</data></node>'
        for name, label, text in cells(nodes)
    ]
    ends = [[*line.split(","), ""] for line in edges]
    made += [f'<edge source="{end[0]}" target="{end[1]}"/>' for end in ends]
    keys = '<key id="l" for="node" attr.name="label"/><key id="t" for="node" attr.name="text"/>'
    (folder / "a.graphml").write_text(
        f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{keys}<graph>{"".join(made)}</graph></graphml>'
    )
    return read_graph(folder / "a.graphml")


def from_edge_list(folder: Path, nodes: Sequence[str], edges: Sequence[str]) -> Graph:
    (folder / "a.csv").write_text("\n".join(edges) + "\n")
    return read_graph(folder / "a.csv")


TABLES = {
    "csv": from_csv,
    "folder": from_folder,
    "types": from_types,
    "frame": from_frame,
    "excel": from_uploaded(".xlsx"),
    "uploaded csv": from_uploaded(".csv"),
    "json lines": from_uploaded(".jsonl"),
    "parquet": from_uploaded(".parquet"),
    "graphml": from_graphml,
}


@pytest.mark.parametrize("trouble", NODES)
@pytest.mark.parametrize("reader", TABLES)
def test_no_reader_drops_a_row_silently(reader: str, trouble: str, tmp_path: Path) -> None:
    """Each row is in the graph, or the notes say that it was dropped, or nothing is read."""
    if (reader, trouble) == ("excel", "a row of nothing"):
        pytest.skip("an empty row of a sheet is what an empty line of a CSV is: no row")
    try:
        graph = TABLES[reader](tmp_path, NODES[trouble], ["a,c"])
    except NodewiseError:
        return
    own = RelationalGraph.of(graph).types[0].num_nodes if graph.relations is not None else graph.num_nodes
    assert own == 3 or any("dropped" in note and "row" in note for note in graph.notes), (own, graph.notes)


@pytest.mark.parametrize("trouble", EDGES)
@pytest.mark.parametrize("reader", [*(name for name in TABLES if name != "frame"), "edge list"])
def test_no_reader_drops_a_line_of_edges_silently(reader: str, trouble: str, tmp_path: Path) -> None:
    if reader == "edge list" and trouble == "an edge that is too short":
        pytest.skip("there a line with one id is a row without an edge")
    read = {**TABLES, "edge list": from_edge_list}[reader]
    try:
        graph = read(tmp_path, ["a,x,one", "b,y,two", "c,y,three"], EDGES[trouble])
    except NodewiseError:
        return
    assert graph.num_edges >= 2 or any("dropped" in note and "edge" in note for note in graph.notes), graph.notes


def test_a_row_without_an_edge_stays(tmp_path: Path) -> None:
    """In whatever holds nodes beside edges."""
    alone = nx.path_graph(3)
    alone.add_node(3)
    edges = torch.tensor([[0, 1], [1, 2]])
    matrix = sp.csr_matrix(([1.0, 1.0], ([0, 1], [1, 2])), (4, 4))
    nx.write_graphml(alone, tmp_path / "a.graphml")
    graphs = [Graph.from_networkx(alone), Graph.from_scipy(matrix), read_graph(tmp_path / "a.graphml")]
    graphs += [Graph.from_pyg(Data(edge_index=edges, num_nodes=4)), Graph.build(edges.tolist(), 4)]
    for ending in (".npz", ".graphml", ""):
        write_graph(graphs[0], tmp_path / f"again{ending}")
        graphs.append(read_graph(tmp_path / f"again{ending}"))
    assert [graph.num_nodes for graph in graphs] == [4] * len(graphs)
    told = write_graph(graphs[0], tmp_path / "again.edges")
    assert read_graph(tmp_path / "again.edges").num_nodes == 4 or any("node" in note for note in told)
