"""Rows of a file, some at a time, and the commands."""

import csv
import io

import numpy as np
import pytest

import nodewise as nw
from nodewise.cli import main
from nodewise.fitted import predicted_rows, streaming
from nodewise.ground.errors import GraphError, InputError

TEXTS = ["cat dog", "dog fur", "cat fur", "stock bond", "bond price", "stock price", "cat paw", "stock fund"]


@pytest.fixture
def fitted():
    table = {"id": [f"t{i}" for i in range(8)], "title": TEXTS}
    return nw.fit(nw.Graph.from_dataframe(table, text="title", k=3), {"t0": "pet", "t3": "money"})


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def read(path):
    with path.open(newline="") as handle:
        return list(csv.DictReader(handle))


def test_a_table_is_predicted_some_rows_at_a_time(fitted, tmp_path, monkeypatch):
    file = tmp_path / "new.csv"
    file.write_text("title,id,more\n" + "\n".join(f'"{text}, and",x{i},1' for i, text in enumerate(TEXTS * 3)) + "\n")
    whole = list(predicted_rows(fitted, file))
    monkeypatch.setattr(streaming, "_ROWS", 5)
    assert list(predicted_rows(fitted, file)) == whole
    assert whole[0] == ["row", "predicted", "probability", "money", "pet", "note"]
    assert [row[0] for row in whole[1:]] == [f"x{i}" for i in range(24)]
    assert [row[1] for row in whole[1:9]] == list(fitted.predict(TEXTS).labels)


def test_lines_and_vectors_are_predicted(fitted, tmp_path):
    (tmp_path / "new.txt").write_text("cat\nprice\n")
    assert [row[1] for row in predicted_rows(fitted, tmp_path / "new.txt")][1:] == ["pet", "money"]
    x = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    np.save(tmp_path / "new.npy", x)
    for content in (b"PK\3\4 no archive", npy(np.array(1.0)), npy(np.ones(3))):
        (tmp_path / "odd.npy").write_bytes(content)
        with pytest.raises(GraphError, match="is no array of numbers in npy form"):
            list(predicted_rows(fitted, tmp_path / "odd.npy"))
    vectors = nw.fit(nw.knn_graph(x, 3), {0: "a", 1: "b"})
    assert [row[1] for row in predicted_rows(vectors, tmp_path / "new.npy")][1:] == list(vectors.predict(x).labels)


def test_files_that_cannot_be_read_are_refused(fitted, tmp_path):
    (tmp_path / "wrong.csv").write_text("name\ncat\n")
    with pytest.raises(GraphError, match=r"wrong\.csv, from row 1 on: the rows have no column 'title'"):
        list(predicted_rows(fitted, tmp_path / "wrong.csv"))
    (tmp_path / "cut.csv").write_text("title,id\ncat,1\ndog\n")
    with pytest.raises(GraphError, match="line 3: 1 cells where the first row has 2"):
        list(predicted_rows(fitted, tmp_path / "cut.csv"))
    (tmp_path / "rows.xyz").write_text("cat")
    with pytest.raises(InputError, match="cannot be read as rows"):
        list(predicted_rows(fitted, tmp_path / "rows.xyz"))


def test_from_a_session_to_predictions_on_the_command_line(tmp_path, capfd):
    graph = nw.Graph.from_texts(TEXTS, k=3)
    job, learned, out = tmp_path / "job.nodewise", tmp_path / "job.fitted", tmp_path / "out.csv"
    with nw.Session.create(job, graph, budget=4, classes=["pet", "money"]) as session:
        session.tell(0, "pet")
        session.tell(3, "money")
        nodes = session.predict().probabilities
    assert main(["session", "export-fitted", str(job), str(learned)]) == 0
    np.testing.assert_allclose(nw.load_fitted(learned).probabilities, nodes, atol=1e-6)
    (tmp_path / "new.txt").write_text("a cat and a dog\nstock, bond\n")
    assert main(["predict", str(learned), str(tmp_path / "new.txt"), "--out", str(out)]) == 0
    assert [row["predicted"] for row in read(out)] == ["pet", "money"]
    capfd.readouterr()
    assert main(["predict", str(learned), str(tmp_path / "new.txt")]) == 0
    assert capfd.readouterr().out.splitlines()[1].startswith("0,pet,")
    assert main(["predict", str(tmp_path / "new.txt"), str(tmp_path / "new.txt")]) == 2
    assert "no fitted learner" in capfd.readouterr().err
