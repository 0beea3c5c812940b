"""``nodewise convert``, in this process and through real files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from nodewise.cli import main
from nodewise.graph import Graph, read_graph, write_graph


@pytest.fixture
def graph() -> Graph:
    return Graph.build(
        [[0, 1, 2, 0], [1, 2, 0, 3]],
        num_nodes=5,
        x=np.array([[1, 0.5], [0, 0], [2, -1], [0, 3], [4, 0]], dtype=np.float32),
        y=[0, 1, 1, -1, 0],
        class_names=["red", "blue"],
        node_names=["a", "b", "c", "d", "e"],
        attributes={"title": ["one", "two", "three", "four", "fünf"]},
        name="little",
    )


@pytest.fixture
def source(graph: Graph, tmp_path: Path) -> Path:
    path = tmp_path / "little.npz"
    write_graph(graph, path)
    return path


@pytest.mark.parametrize("form", ["out.npz", "out.graphml", "folder"])
def test_a_form_that_holds_everything_keeps_everything(
    form: str, graph: Graph, source: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / form
    assert main(["convert", str(source), str(out)]) == 0
    told, aside = capfd.readouterr()
    assert told == f"{out}: {graph!r}\n"
    assert aside == ""
    assert main(["convert", str(out), str(tmp_path / "back.npz")]) == 0
    assert read_graph(tmp_path / "back.npz").equals(graph)


def test_what_an_edge_list_drops_is_told_beside_the_result(
    source: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert", str(source), str(tmp_path / "out.edges")]) == 0
    aside = capfd.readouterr().err
    assert "dropped: " in aside
    assert "features" in aside
    assert main(["convert", str(source), str(tmp_path / "out.edges"), "--quiet"]) == 0
    assert capfd.readouterr().err == ""


def test_notes_of_the_source_are_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "loops.edges").write_text("0 0\n0 1\n1 0\n1 2\n", encoding="utf-8")
    assert main(["convert", str(tmp_path / "loops.edges"), str(tmp_path / "out.npz")]) == 0
    aside = capfd.readouterr().err
    assert "self loop" in aside
    assert read_graph(tmp_path / "out.npz").num_edges == 2


def test_json_tells_figures_notes_and_what_was_dropped(
    graph: Graph, source: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.edges"
    assert main(["convert", str(source), str(out), "--features", "row,unit", "--json"]) == 0
    told, aside = capfd.readouterr()
    assert aside == ""
    result = json.loads(told)
    assert result.pop("dropped")
    assert result.pop("homophily") == pytest.approx(graph.homophily)
    assert result == {
        "schema": 1,
        "out": str(out),
        "features": "row+unit",
        "graph": "little",
        "nodes": 5,
        "edges": 4,
        "isolated": 1,
        "feature_columns": 2,
        "classes": ["red", "blue"],
        "labelled": 4,
        "notes": [],
    }


def test_features_are_preprocessed_when_asked_for(source: Path, tmp_path: Path) -> None:
    assert main(["convert", str(source), str(tmp_path / "unit.npz"), "--features", "unit", "-q"]) == 0
    lengths = np.linalg.norm(read_graph(tmp_path / "unit.npz").dense_features(), axis=1)
    np.testing.assert_allclose(lengths, [1, 0, 1, 1, 1], rtol=1e-6)


def test_a_data_set_by_name(tmp_path: Path) -> None:
    assert main(["convert", "karate", str(tmp_path / "karate.npz"), "-q"]) == 0
    karate = read_graph(tmp_path / "karate.npz")
    assert (karate.num_nodes, karate.num_edges) == (34, 78)


def test_a_data_set_found_in_the_data_folder(source: Path, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    source.rename(tmp_path / "data" / "cora.npz")
    assert main(["convert", "cora", str(tmp_path / "out.npz"), "--data-dir", str(tmp_path / "data"), "-q"]) == 0
    assert read_graph(tmp_path / "out.npz").num_nodes == 5


TEXTS = """id,topic,body
1,sea,the ship sails over the wide sea
2,sea,a ship and a sailor on the sea
3,,sailors sail their ship
4,land,the farmer ploughs the field
5,land,a field of wheat and a farmer
"""


def test_texts_become_a_nearest_neighbour_graph(tmp_path: Path) -> None:
    (tmp_path / "texts.csv").write_text(TEXTS, encoding="utf-8")
    options = ["--knn", "1", "--text", "body", "--label", "topic", "-q"]
    assert main(["convert", str(tmp_path / "texts.csv"), str(tmp_path / "texts.npz"), *options]) == 0
    graph = read_graph(tmp_path / "texts.npz")
    assert graph.class_names == ("land", "sea")
    assert graph.y is not None
    assert graph.y.tolist() == [1, 1, -1, 0, 0]
    assert [3, 4] in graph.edge_index.T.tolist()
    assert graph.attributes["text"][0].startswith("the ship")


def test_texts_of_nodes_with_edges_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "nodes.csv").write_text(TEXTS, encoding="utf-8")
    (tmp_path / "edges.csv").write_text("source,target\n1,2\n5,1\n", encoding="utf-8")
    columns = ["--text", "body", "--label", "topic", "-q"]
    given = [str(tmp_path / "nodes.csv"), str(tmp_path / "given.npz"), "--edges", str(tmp_path / "edges.csv"), *columns]
    assert main(["convert", *given]) == 0
    assert main(["convert", str(tmp_path), str(tmp_path / "folder.npz"), *columns]) == 0
    for name in ("given.npz", "folder.npz"):
        graph = read_graph(tmp_path / name)
        assert graph.edge_index.T.tolist() == [[0, 1], [0, 4]]
        assert graph.num_features > 3
        assert graph.class_names == ("land", "sea")


@pytest.mark.parametrize(("metric", "joined"), [("cosine", [0, 1]), ("euclidean", [0, 2])])
def test_embeddings_by_either_metric(metric: str, joined: list[int], tmp_path: Path) -> None:
    np.save(tmp_path / "e.npy", np.array([[1, 0], [10, 0.1], [0.5, 0.8], [0, 20]], dtype=np.float32))
    assert (
        main(["convert", str(tmp_path / "e.npy"), str(tmp_path / "e.npz"), "--knn", "1", "--metric", metric, "-q"]) == 0
    )
    assert joined in read_graph(tmp_path / "e.npz").edge_index.T.tolist()


def test_edges_that_all_lead_both_ways_may_be_called_directed(tmp_path: Path) -> None:
    (tmp_path / "both.edges").write_text("0 1\n1 0\n", encoding="utf-8")
    assert main(["convert", str(tmp_path / "both.edges"), str(tmp_path / "both.npz"), "--directed", "-q"]) == 0
    assert read_graph(tmp_path / "both.npz").relations is None


def test_edges_that_weigh_as_much_as_their_ends_are_alike(tmp_path: Path) -> None:
    np.save(tmp_path / "e.npy", np.array([[1, 0], [1, 1], [0, 1], [0, 3]], dtype=np.float32))
    options = ["--knn", "2", "--weighted", "-q"]
    assert main(["convert", str(tmp_path / "e.npy"), str(tmp_path / "e.npz"), *options]) == 0
    graph = read_graph(tmp_path / "e.npz")
    assert graph.edge_weight is not None
    weights = dict(zip(map(tuple, graph.edge_index.T.tolist()), graph.edge_weight.tolist(), strict=True))
    assert weights == pytest.approx({(0, 1): 0.5**0.5, (1, 2): 0.5**0.5, (1, 3): 0.5**0.5, (2, 3): 1.0})


def test_pictures_named_in_a_column(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    for name, colour in (("a", 10), ("b", 20), ("c", 240), ("d", 250)):
        image.new("L", (8, 8), colour).save(tmp_path / f"{name}.png")
    (tmp_path / "photos.csv").write_text(
        "file,kind\na.png,dark\nb.png,dark\nc.png,light\nd.png,light\n", encoding="utf-8"
    )
    options = ["--knn", "1", "--images", "file", "--label", "kind", "--metric", "euclidean", "-q"]
    assert main(["convert", str(tmp_path / "photos.csv"), str(tmp_path / "photos.npz"), *options]) == 0
    graph = read_graph(tmp_path / "photos.npz")
    assert graph.edge_index.T.tolist() == [[0, 1], [2, 3]]
    assert graph.homophily == 1.0


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["missing.npz", "out.npz"], ["missing.npz"]),
        (["little.npz", "out.xlsx"], ["'out.xlsx'", ".graphml", "folder of CSV"]),
        (["little.npz", "out.npz", "--metric", "cosine"], ["--metric got 'cosine'", "--knn"]),
        (["little.npz", "out.npz", "--directed"], ["--directed", "edge lists"]),
        (["little.npz", "out.npz", "--weighted"], ["--weighted", "--knn"]),
        (["texts.csv", "out.npz", "--knn", "2", "--directed"], ["--directed", "--knn"]),
        (["texts.csv", "out.npz", "--knn", "2", "--labelled", "paper"], ["--labelled", "--knn"]),
        (["texts.csv", "out.npz", "--knn", "2", "--several"], ["--several", "--knn"]),
        (["little.npz", "out.npz", "--images", "file"], ["--images got 'file'", "--knn"]),
        (["texts.csv", "out.npz", "--text", "body"], ["--text got 'body'", "--knn", "--edges"]),
        (["texts.csv", "out.npz", "--label", "topic"], ["--label got 'topic'", "--edges"]),
        (
            ["texts.csv", "out.npz", "--knn", "2", "--edges", "e.csv"],
            ["--edges got 'e.csv'", "--knn got 2", "one of them"],
        ),
        (["texts.csv", "out.npz", "--knn", "2", "--text", "boddy"], ["'boddy'", "body"]),
        (["texts.csv", "out.npz", "--knn", "5", "--text", "body"], ["received 5", "from 1 to 4"]),
        (["little.npz", "out.npz", "--features", "uint"], ["'uint'", "did you mean 'unit'"]),
        (["karatte", "out.npz"], ["'karatte'", "'karate'"]),
    ],
)
def test_bad_input_gets_one_line_and_2_and_writes_nothing(
    arguments: list[str],
    expected: list[str],
    source: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("texts.csv").write_text(TEXTS, encoding="utf-8")
    assert main(["convert", *arguments]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("nodewise convert: ")
    for part in expected:
        assert part in err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["little.npz", "texts.csv"]


def test_a_folder_that_does_not_exist_is_no_place_to_write(
    source: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert", str(source), str(tmp_path / "no" / "such" / "out.npz")]) == 2
    assert "cannot be written" in capfd.readouterr().err


def test_features_are_preprocessed_once(source: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    once, again = tmp_path / "once.npz", tmp_path / "again.npz"
    assert main(["convert", str(source), str(once), "--features", "unit", "-q"]) == 0
    assert main(["convert", str(once), str(again), "--features", "unit", "-q"]) == 0
    assert read_graph(again).equals(read_graph(once))
    assert main(["convert", str(once), str(tmp_path / "c.npz"), "--features", "row", "-q"]) == 2
    assert "preprocessed already (unit), so row can no longer be done" in " ".join(capfd.readouterr().err.split())


def test_sets_of_classes_come_from_a_table_and_from_a_file_that_has_both(tmp_path: Path) -> None:
    table, out = tmp_path / "rows.csv", tmp_path / "out.npz"
    table.write_text("size,label\n1,a;b\n2,;\n8,\n9,b\n", encoding="utf-8")
    assert main(["convert", str(table), str(out), "--knn", "1", "--separator", ";"]) == 0
    made = read_graph(out)
    assert made.y_sets is not None and made.y_sets.tolist() == [[1, 1], [0, 0], [-1, -1], [0, 1]]
    both = tmp_path / "both.npz"
    np.savez(both, edge_index=[[0, 1], [1, 2]], y=[0, 1, 0], y_multi=np.array([[1, 1], [0, 1], [1, 0]], dtype=np.uint8))
    assert main(["convert", str(both), str(out), "--several"]) == 0
    assert read_graph(out).several
    assert main(["convert", str(both), str(out)]) == 0
    assert not read_graph(out).several


def test_a_separator_without_a_table_is_refused(
    source: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["convert", str(source), str(tmp_path / "out.npz"), "--separator", ";"]) == 2
    assert "--separator got ';', which is said of a table" in capfd.readouterr().err


def test_labels_of_several_node_types_are_parted_and_noted_otherwise(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder, out = tmp_path / "mine", tmp_path / "out.npz"
    folder.mkdir()
    (folder / "nodes-paper.csv").write_text("id,label\n1,a;b\n2,;\n3,\n4,b\n5,a;b\n6,a\n", encoding="utf-8")
    (folder / "nodes-author.csv").write_text("id\nAnn\nBo\n", encoding="utf-8")
    (folder / "edges-by.csv").write_text("paper,author\n1,Ann\n2,Bo\n5,Ann\n", encoding="utf-8")
    assert main(["convert", str(folder), str(out)]) == 0
    assert "look like several classes with ';' between them" in " ".join(capfd.readouterr().err.split())
    assert read_graph(out).class_names == (";", "a", "a;b", "b")
    assert main(["session", "new", str(tmp_path / "job.nodewise"), str(folder), "--budget", "1"]) == 0
    assert "look like several classes with ';' between them" in " ".join(capfd.readouterr().err.split())
    assert main(["convert", str(folder), str(out), "--separator", ";"]) == 0
    assert "look like" not in capfd.readouterr().err
    made = read_graph(out)
    assert made.relations is not None and made.y_sets is not None
    assert made.y_sets.tolist() == [[1, 1], [0, 0], [-1, -1], [0, 1], [1, 1], [1, 0]]
    assert main(["convert", str(folder), str(out), "--separator", ";", "--text", "label"]) == 2
    assert "--text is said of one table" in capfd.readouterr().err


@pytest.mark.parametrize("form", ["folder", "out.edges", "out.csv", "out.npz"])
def test_names_that_a_spreadsheet_would_run_come_back(form: str, tmp_path: Path) -> None:
    names = ["=1+1", "b", "-5"]
    graph = Graph.build([[0, 1], [1, 2]], node_names=names, attributes={"text": ["one", "@two", "three"]})
    write_graph(graph, tmp_path / "in.npz")
    assert main(["convert", str(tmp_path / "in.npz"), str(tmp_path / form)]) == 0
    assert sorted(read_graph(tmp_path / form).node_names or ()) == sorted(names)
