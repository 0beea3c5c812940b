"""A graph of several node types: its plain form, and the way back."""

from __future__ import annotations

import pickle
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import nodewise as nw
from nodewise.graph import NodeType, Relation, RelationalGraph, read_graph, relational, write_graph
from nodewise.graph.differences import differences
from nodewise.graph.relational import plain_edges
from nodewise.graph.relations import DIRECTED_NOTE
from nodewise.ground.errors import GraphError


def small(**parts: object) -> RelationalGraph:
    """Six papers by two circles of authors, at three venues."""
    papers = NodeType("paper", 6, np.eye(6, 2, dtype=np.float32), tuple("abcdef"), {"title": np.array(list("ABCDEF"))})
    authors = NodeType(
        "author", 4, np.eye(4, dtype=np.float32), ("Ann", "Bo", "Cy", "Di"), {"town": np.array(list("wxyz"))}
    )
    venues = NodeType("venue", 3)
    written = Relation("written by", "paper", "author", np.array([[0, 0, 1, 2, 3, 4, 5], [0, 1, 0, 1, 2, 3, 2]]))
    held = Relation("held", "venue", "author", np.array([[0, 1, 2, 2], [0, 1, 2, 3]]), np.array([1, 2, 3, 4]))
    given = {"y": ["x", "x", None, "y", None, "y"], "name": "small", "extra": {"split": np.arange(3)}} | parts
    return RelationalGraph((authors, papers, venues), (written, held), "paper", **given)  # type: ignore[arg-type]


def test_its_plain_graph_is_that_of_the_labelled_type() -> None:
    graph = small().to_graph()
    assert graph.num_nodes == 6
    assert graph.node_names == tuple("abcdef")
    assert graph.class_names == ("x", "y")
    joined = set(zip(*graph.edge_index.tolist(), strict=True))
    assert (0, 1) in joined  # both by Ann
    assert (3, 5) in joined  # both by Cy
    assert not any(one < 3 <= other for one, other in joined)  # the two circles have nobody in common
    assert graph.edge_weight is not None
    assert graph.relations is not None
    assert graph.notes[-1] == plain_edges(graph.relations)
    assert "written by" in graph.notes[-1]


def test_there_and_back_is_the_same() -> None:
    whole = small()
    again = RelationalGraph.of(whole.to_graph())
    assert again.equals(whole)
    assert [kind.name for kind in again.types] == ["author", "paper", "venue"]
    assert again.notes == whole.notes
    assert repr(whole) == (
        "RelationalGraph('small': 4 authors, 6 papers (labelled: 2 classes), 3 venues; written by: 7 edges, held: 4"
        " edges)"
    )


def test_a_plain_graph_has_no_relations_to_give() -> None:
    with pytest.raises(GraphError, match="has one type of nodes"):
        RelationalGraph.of(nw.Graph.build([[0], [1]]))


def test_npz_keeps_everything_to_the_bit(tmp_path) -> None:  # type: ignore[no-untyped-def]
    graph = small().to_graph()
    for target in (tmp_path / "one.npz", tmp_path / "two.npz"):
        write_graph(graph, target)
        graph = read_graph(target)
    assert graph.equals(small().to_graph())
    assert graph.notes == small().to_graph().notes
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    with np.load(tmp_path / "one.npz") as held:
        assert held["node_types"].tolist() == ["author", "paper", "venue"]
        assert held["labelled_type"].tolist() == ["paper"]
        assert held["names_author"].tolist() == ["Ann", "Bo", "Cy", "Di"]


def test_npz_without_the_plain_edges_gets_them(tmp_path) -> None:  # type: ignore[no-untyped-def]
    write_graph(small().to_graph(), tmp_path / "whole.npz")
    with np.load(tmp_path / "whole.npz") as held:
        fields = {key: held[key] for key in held.files if key not in ("edge_index", "edge_weight")}
    np.savez(tmp_path / "bare.npz", **fields)
    assert read_graph(tmp_path / "bare.npz").equals(small().to_graph())


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("relation_types", np.array([["paper", "editor"], ["venue", "author"]]), "names the type 'editor'"),
        ("relation_0", np.array([[0], [9]]), "leads to node 9 of the type 'author', which has 4"),
        ("node_types", np.array(["author", "paper", "paper"]), "two node types are called 'paper'"),
        ("labelled_type", np.array(["reader"]), "no node type carries the labels"),
        ("counts", np.array([4, 6]), "one number in counts for each of the 3 node types"),
    ],
)
def test_bad_npz_is_refused_with_a_sentence(tmp_path, field, value, said) -> None:  # type: ignore[no-untyped-def]
    write_graph(small().to_graph(), tmp_path / "whole.npz")
    with np.load(tmp_path / "whole.npz") as held:
        np.savez(tmp_path / "bad.npz", **({key: held[key] for key in held.files} | {field: value}))
    with pytest.raises(GraphError) as refused:
        read_graph(tmp_path / "bad.npz")
    assert said in str(refused.value)


def test_large_circles_are_drawn_into_small_ones() -> None:
    papers, subjects = NodeType("paper", 500), NodeType("subject", 1)
    about = Relation("is about", "paper", "subject", np.stack([np.arange(500), np.zeros(500, int)]))
    graph = RelationalGraph((papers, subjects), (about,), "paper").to_graph()
    assert graph.degree.min() >= 16
    assert graph.num_edges <= 500 * 16


def test_a_path_that_joins_almost_all_is_left_out_and_not_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relational, "_PAIRS", 100)
    papers, authors, towns = NodeType("paper", 60), NodeType("author", 20), NodeType("town", 1)
    written = Relation("written by", "paper", "author", np.stack([np.arange(60), np.arange(60) // 3]))
    lives = Relation("lives in", "author", "town", np.stack([np.arange(20), np.zeros(20, int)]))
    printed = Relation("printed in", "paper", "town", np.stack([np.arange(60), np.zeros(60, int)]))
    graph = RelationalGraph((papers, authors, towns), (written, lives, printed), "paper").to_graph()
    # from each of 60 papers through the town to all 20 authors: 1,200 pairs
    assert "by 'written by', 'printed in', 'written by, lives in', weighted" in graph.notes[-1]
    assert graph.relations is not None
    assert [one.name for one in graph.relations.incidences][3] == "printed in, lives in"


def test_a_folder_keeps_everything_but_further_fields(tmp_path) -> None:  # type: ignore[no-untyped-def]
    graph = small().to_graph()
    assert "only npz keeps them" in write_graph(graph, tmp_path / "folder")[0]
    assert read_graph(tmp_path / "folder").equals(small(extra={}).to_graph())
    assert {file.name for file in (tmp_path / "folder").iterdir()} == {
        *(f"nodes-{name}.csv" for name in ("author", "paper", "venue")),
        "edges-written by.csv",
        "edges-held.csv",
        "features-author.csv",
        "features-paper.csv",
        "graph.json",
    }


def people(folder: Path, told: str) -> Path:
    """A folder as a person writes it."""
    folder.mkdir()
    (folder / "nodes-paper.csv").write_text("id,title,label\np1,Cats,pets\np2,Dogs,\np3,Bonds,money\n")
    (folder / "nodes-author.csv").write_text("id,name\na1,Ann\na2,Bo\n")
    (folder / "edges-written by.csv").write_text("paper,author\np1,a1\np2,a1\np3,a2\n")
    (folder / "graph.json").write_text(told)
    return folder


def test_a_folder_written_by_a_person(tmp_path) -> None:  # type: ignore[no-untyped-def]
    graph = read_graph(people(tmp_path / "mine", '{"relations": {"written by": ["paper", "author"]}}'))
    assert (graph.num_nodes, graph.class_names) == (3, ("money", "pets"))
    assert graph.edge_index.tolist() == [[0], [1]]
    assert graph.relations is not None
    assert graph.relations.labelled == "paper"
    other = read_graph(tmp_path / "mine", labelled="author")
    assert (other.num_nodes, other.y) == (2, None)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ('{"relations": {"written by": ["paper", "editor"]}}', "names the type 'editor', which is missing"),
        (
            '{"relations": {"written by": ["paper", "author"], "cites": ["paper", "paper"]}}',
            "edges-cites.csv is missing",
        ),
        ('{"relations": {}}', "does not say which types 'written by' joins"),
        ('{"relations": {"written by": ["author", "paper"]}}', "line 2: 'p1' is no id of the type 'author'"),
        ("{", "cannot be understood"),
        ('{"relations": {"written by": ["paper", "author"]}, "labelled": "reader"}', "has no type 'reader'"),
    ],
)
def test_a_bad_folder_is_refused_with_a_sentence(tmp_path, told: str, said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(GraphError) as refused:
        read_graph(people(tmp_path / "mine", told))
    assert said in str(refused.value)


def test_tables_that_are_called_so_and_not_read_are_named(tmp_path: Path) -> None:
    folder = people(tmp_path / "mine", '{"relations": {"written by": ["paper", "author"]}}')
    quiet = read_graph(folder).notes
    (folder / "nodes-paper.tsv").write_text("id\nother\n")
    (folder / "edges-in.tsv").write_text("paper\tvenue\np1\tv1\n")
    (folder / "features-venue.csv").write_text("node,column,value\n")
    (said,) = set(read_graph(folder).notes) - set(quiet)
    assert said.startswith("'edges-in.tsv', 'features-venue.csv', 'nodes-paper.tsv' left out")


@pytest.mark.parametrize("names", [("paper", "Paper", "by"), ("paper", "author", "BY")])
def test_names_whose_files_would_be_one_on_some_machines_are_not_written_as_a_folder(
    tmp_path: Path, names: tuple[str, str, str]
) -> None:
    one, other, beside = names
    relations = [Relation(name, one, other, [[0, 1], [0, 0]]) for name in dict.fromkeys(("by", beside))]
    whole = RelationalGraph((NodeType(one, 2), NodeType(other, 1)), tuple(relations), one, y=["x", "y"])
    with pytest.raises(GraphError, match="differ in capitals alone"):
        write_graph(whole.to_graph(), tmp_path / "folder")
    assert not (tmp_path / "folder").exists()
    write_graph(whole.to_graph(), tmp_path / "whole.npz")
    assert read_graph(tmp_path / "whole.npz").equals(whole.to_graph())


def test_a_folder_may_say_the_labelled_type_alone(tmp_path: Path) -> None:
    for name, text in {
        "nodes-paper.csv": "id\np1\np2\n",
        "nodes-author.csv": "id\na1\n",
        "edges-written by.csv": "paper,author\np1,a1\np2,a1\n",
        "graph.json": '{"labelled": "paper"}',
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    relations = read_graph(tmp_path).relations
    assert relations is not None
    assert (relations.labelled, relations.relations[0].target) == ("paper", "author")
    (tmp_path / "edges-written by.csv").write_text("one,two\np1,a1\n", encoding="utf-8")
    with pytest.raises(GraphError, match=r"graph.json names no relations, and the first two columns"):
        read_graph(tmp_path)


@pytest.mark.parametrize("told", ["[]", '{"relations": []}', '{"relations": {"written by": ["paper"]}}', "{"])
def test_what_is_wrong_with_graph_json_is_said_in_words(tmp_path: Path, told: str) -> None:
    with pytest.raises(GraphError, match="cannot be understood") as refused:
        read_graph(people(tmp_path / "mine", told))
    assert not any(word in str(refused.value) for word in ("Error", "unpack", "attribute", "indices"))


def directed() -> nw.Graph:
    return nw.Graph.build([[1, 1, 2], [0, 2, 3]], 4, y=["a", "b", None, "a"], name="one way", directed=True)


@pytest.mark.parametrize("form", ["g.npz", "g.graphml", "folder"])
def test_every_form_keeps_the_direction(form: str, tmp_path: Path) -> None:
    write_graph(directed(), tmp_path / form)
    graph = read_graph(tmp_path / form)
    assert graph.equals(directed())
    assert graph.relations is not None
    assert graph.relations.relations[0].edge_index.tolist() == [[1, 1, 2], [0, 2, 3]]
    assert graph.edge_index.tolist() == [[0, 1, 2], [1, 2, 3]]
    assert DIRECTED_NOTE in graph.notes


def test_one_type_with_a_relation_keeps_their_names(tmp_path: Path) -> None:
    both_ways = [[0, 1, 1], [1, 0, 2]]
    for edges in (both_ways, [[0, 1], [1, 0]], [[0, 1], [0, 2]]):
        whole = RelationalGraph((NodeType("paper", 3),), (Relation("cites", "paper", "paper", edges),), "paper")
        for form in ("g.npz", f"folder{len(edges[0])}{edges[1][1]}"):
            write_graph(whole.to_graph(), tmp_path / form)
            assert RelationalGraph.of(read_graph(tmp_path / form)).equals(whole)
        assert "node types and relations" in write_graph(whole.to_graph(), tmp_path / "g.graphml")[-1]
    assert RelationalGraph.of(directed()).to_graph().equals(directed())


def test_tables_and_lists_are_directed_when_asked(tmp_path: Path) -> None:
    (tmp_path / "g.edges").write_text("1 0\n1 2\n2 3\n")
    assert read_graph(tmp_path / "g.edges").relations is None
    asked = read_graph(tmp_path / "g.edges", directed=True).relations
    assert asked is not None
    assert asked.relations[0].edge_index.tolist() == [[1, 1, 2], [0, 2, 3]]


def test_networkx_keeps_the_direction_of_a_digraph() -> None:
    graph = nw.Graph.from_networkx(nx.DiGraph([(1, 0), (0, 2)]))
    assert graph.relations is not None
    assert graph.relations.directed
    assert nw.Graph.from_networkx(nx.Graph([(1, 0), (0, 2)])).relations is None


def test_a_session_asks_the_labelled_type_and_names_what_is_shared(tmp_path: Path) -> None:
    with nw.Session.create(tmp_path / "job.nodewise", small(y=None), budget=4, classes=["x", "y"]) as session:
        said = []
        for _ in range(4):
            query = session.ask()
            said += query.why
            session.tell(query.node, "x" if query.node < 3 else "y")
        assert session.graph.num_nodes == 6
        assert session.predict().probabilities.shape == (6, 2)
    with nw.Session.open(tmp_path / "job.nodewise") as session:
        assert session.graph.relations is not None
        assert session.graph.relations.equals(small().record)
    assert any(text.startswith("it shares 1 author with ") and "labelled: " in text for text in said)


def several() -> RelationalGraph:
    papers, authors = NodeType("paper", 4), NodeType("author", 2)
    written = Relation("written by", "paper", "author", [[0, 1, 2, 3], [0, 0, 1, 1]])
    return RelationalGraph((papers, authors), (written,), "paper", y=[["a"], ["b", "a"], [], None], name="several")


def test_sets_of_classes_stay_with_the_relations(tmp_path: Path) -> None:
    whole = several()
    graph = whole.to_graph()
    assert whole.y is None and graph.y_sets is not None
    assert graph.y_sets.tolist() == [[1, 0], [1, 1], [0, 0], [-1, -1]]
    assert RelationalGraph.of(graph).equals(whole) and pickle.loads(pickle.dumps(whole)).equals(whole)
    assert RelationalGraph.from_networkx(whole.to_networkx()).equals(whole)
    assert RelationalGraph.from_pyg(whole.to_pyg()).equals(whole)
    for form in ("several.npz", "several"):
        assert write_graph(graph, tmp_path / form) == []
        assert differences(graph, read_graph(tmp_path / form)) == []
    with pytest.raises(GraphError, match="both y and y_sets are given"):
        RelationalGraph(whole.types, whole.relations, "paper", [0, 1, 0, 1], y_sets=whole.y_sets)


def test_forms_without_relations_say_that_they_are_dropped(tmp_path: Path) -> None:
    graph = several().to_graph()
    assert "node types and relations" in write_graph(graph, tmp_path / "a.graphml")[-1]
    assert "node types and relations" in write_graph(graph, tmp_path / "a.edges")[-1]
    assert "direction" in write_graph(directed(), tmp_path / "b.edges")[-1]


def test_networkx_keeps_the_direction() -> None:
    graph = nw.Graph.build([[1, 1, 2, 0], [0, 2, 3, 1]], 4, edge_weight=[1.0, 2.0, 3.0, 0.5], directed=True)
    other = graph.to_networkx()
    assert other.is_directed() and other.number_of_edges() == 4
    assert differences(graph, nw.Graph.from_networkx(other)) == []


@pytest.mark.parametrize(("own", "other"), [("paper", "paper_data"), ("b", "shape"), ("data", "b")])
def test_types_whose_fields_would_be_mixed_up_in_a_file_are_refused(own: str, other: str, tmp_path: Path) -> None:
    x = np.eye(3, dtype=np.float32)
    types = (NodeType(own, 3, sp.csr_matrix(x)), NodeType(other, 3, x))
    graph = RelationalGraph(types, (Relation("w", own, other, [[0, 1], [0, 1]]),), own).to_graph()
    with pytest.raises(GraphError, match="would have the name of another field of an npz file: rename"):
        write_graph(graph, tmp_path / "mixed.npz")
    assert not (tmp_path / "mixed.npz").exists()
    write_graph(graph, tmp_path / "apart")
    assert differences(graph, read_graph(tmp_path / "apart")) == []


def test_no_edge_is_lost_however_light_it_is() -> None:
    light = Relation("w", "a", "a", [[0, 1, 2], [1, 2, 3]], [1e-38, 1e38, 1e38])
    graph = RelationalGraph((NodeType("a", 4),), (light, Relation("v", "a", "a", [[0], [2]])), "a").to_graph()
    assert graph.edge_index.T.tolist() == [[0, 1], [0, 2], [1, 2], [2, 3]]
