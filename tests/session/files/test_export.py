"""Every form of the export, read back; nothing is written over what the session reads; cells that a spreadsheet would
run.
"""

from __future__ import annotations

import csv
import json
import os
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from nodewise.graph import read_graph, write_graph
from nodewise.ground.errors import InputError, SessionError, SessionFileError
from nodewise.session import Session
from tests.session.jobs import small_job, unlabelled
from tests.session.log.test_database import rewritten
from tests.small_graphs import block_graph


@pytest.fixture
def session(tmp_path: Path) -> Session:
    graph = replace(
        unlabelled(block_graph(60)), node_names=tuple(f'n"{i},\n=1+1' if i == 4 else f"n{i}" for i in range(60))
    )
    session = small_job(tmp_path / "job", graph=graph, audit=2)
    session.tell([4, 5, 6], ["a", "b", "neu, ü"])
    session.tell(5, "b", "ada")
    session.tell(session.rules().audit[0], "a")
    return session


def test_csv(session: Session, tmp_path: Path) -> None:
    session.export(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    prediction = session.predict()
    assert len(rows) == 60 and rows[4]["name"] == 'n"4,\n=1+1' and rows[4]["label"] == "a" and rows[4]["from"] == "told"
    assert rows[6]["label"] == "neu, ü" and rows[session.rules().audit[0]]["from"] == "audit"
    assert [row["predicted"] for row in rows] == prediction.names
    assert np.allclose([float(row["p_neu, ü"]) for row in rows], prediction.probabilities[:, 2], atol=1e-5)


def test_json(session: Session, tmp_path: Path) -> None:
    session.export(tmp_path / "out.json")
    record = json.loads((tmp_path / "out.json").read_text())
    assert record["schema"] == 1 and record["classes"] == ["a", "b", "neu, ü"] and len(record["predictions"]) == 60
    first = next(entry for entry in record["labels"] if entry["node"] == 5)
    assert (
        first["votes"] == {"me": "b", "ada": "b"}
        and first["label"] == "b"
        and not first["audit"]
        and first["from"] == "told"
    )


def test_npz_is_a_graph(session: Session, tmp_path: Path) -> None:
    session.export(tmp_path / "out.npz")
    graph = read_graph(tmp_path / "out.npz")
    assert graph.class_names == ("a", "b", "neu, ü") and graph.y is not None
    assert {int(n): graph.class_names[graph.y[n]] for n in np.flatnonzero(graph.y >= 0)} == session.labels
    assert (
        np.array_equal(graph.extra["predicted"], session.predict().best) and graph.num_edges == session.graph.num_edges
    )


@pytest.mark.parametrize("ending", ["csv", "npz", "pt"])
def test_what_somebody_tells_while_predictions_are_made_is_not_in_the_export(
    session: Session, tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = import_module("nodewise.session.job")
    make = job.make_prediction

    def interrupted(*arguments: Any) -> Any:
        with Session.open(session.path) as other:
            other.tell(7, "brand new", new_class=True)
        return make(*arguments)

    monkeypatch.setattr(job, "make_prediction", interrupted)
    path = tmp_path / f"out.{ending}"
    session.export(path)
    assert session.labels[7] == "brand new"
    if ending == "csv":
        assert "brand new" not in path.read_text(encoding="utf-8")
    elif ending == "npz":
        graph = read_graph(path)
        assert graph.y is not None and graph.y[7] == -1 and graph.y[4] >= 0 and "brand new" not in graph.class_names
    else:
        tensors = torch.load(path, weights_only=True)
        assert tensors["y"][7] == -1 and tensors["y"][4] >= 0 and "brand new" not in tensors["class_names"]


def test_the_full_export_holds_the_whole_job(tmp_path: Path) -> None:
    drawn = unlabelled(block_graph(60))
    texts = {"text": [f"=text {node}" for node in range(drawn.num_nodes)], "label": ["old"] * drawn.num_nodes}
    with small_job(tmp_path / "job", graph=replace(drawn, attributes=texts), strategy="random", redundancy=2) as job:
        job.export(tmp_path / "empty.csv", format="full")
        job.tell(3, "a", "ada")
        job.tell(3, "b", "bob")
        job.add_note(3, "hard to say", "ada")
        said = job.export(tmp_path / "full.csv", format="full")
        assert said == ["1 label", f"predictions for {drawn.num_nodes} nodes"]
        with (tmp_path / "full.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == drawn.num_nodes and rows[3]["label"] == "a" and rows[3]["from"] == "told"
        assert rows[3]["predicted"] == job.predict().names[3] and float(rows[3]["p_a"]) > 0
        assert rows[3]["text"] == "'=text 3" and rows[3]["original label"] == "old"
        assert (rows[3]["vote of ada"], rows[3]["vote of bob"], rows[3]["notes"]) == ("a", "b", "ada: hard to say")
        assert rows[4]["vote of ada"] == rows[4]["notes"] == ""
        job.export(tmp_path / "raw.csv", format="full", keep_formulas=True)
        assert "'=text" not in (tmp_path / "raw.csv").read_text(encoding="utf-8")
        with pytest.raises(InputError, match=r"cannot export full to 'out.json': it is written as .csv"):
            job.export(tmp_path / "out.json", format="full")
    empty = (tmp_path / "empty.csv").read_text(encoding="utf-8").splitlines()
    assert empty[0] == "node,name,label,from,predicted,probability,p_a,p_b,text,original label,notes"
    assert len(empty) == drawn.num_nodes + 1


def test_pt_is_plain_tensors_that_pytorch_geometric_takes(session: Session, tmp_path: Path) -> None:
    from torch_geometric.data import Data

    session.export(tmp_path / "out.pt")
    data = Data.from_dict(torch.load(tmp_path / "out.pt", weights_only=True))
    assert (
        data.num_nodes == 60
        and data.edge_index.shape[1] == 2 * session.graph.num_edges
        and not data.has_self_loops()
        and data.is_undirected()
    )
    assert data.train_mask.nonzero()[:, 0].tolist() == [4, 5, 6] and data.test_mask.nonzero()[:, 0].tolist() == [
        session.rules().audit[0]
    ]
    assert data.y[5] == 1 and data.y[7] == -1 and torch.equal(data.predicted, torch.from_numpy(session.predict().best))


def test_pt_keeps_sparse_features_sparse_for_a_layer_that_takes_them(tmp_path: Path) -> None:
    from torch_geometric.data import Data
    from torch_geometric.nn import GCNConv

    x = sp.random(60, 500, 0.02, format="csr", dtype=np.float32, random_state=0)
    session = small_job(tmp_path / "job", graph=replace(unlabelled(block_graph(60)), x=x))
    session.tell([1, 2, 3], ["a", "b", "a"])
    session.export(tmp_path / "out.pt")
    data = Data.from_dict(torch.load(tmp_path / "out.pt", weights_only=True))
    assert (
        data.x.is_sparse and data.num_node_features == 500 and (tmp_path / "out.pt").stat().st_size < 60 * 500 * 4 / 2
    )
    assert np.array_equal(data.x.to_dense().numpy(), session.graph.dense_features())
    assert GCNConv(500, 4)(data.x, data.edge_index).shape == (60, 4)


def test_before_the_first_label_each_class_is_as_likely_and_nobody_s_is_known(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", classes=["a", "b"])
    session.add_class("c")
    prediction = session.predict()
    assert prediction.unknown and prediction.classes == ("a", "b", "c") and prediction.labels == 0
    assert (
        np.allclose(prediction.probabilities, 1 / 3) and set(prediction.names) == {""} and set(prediction.best) == {-1}
    )
    for ending in ("csv", "json", "npz", "pt"):
        assert session.export(tmp_path / f"out.{ending}") == ["0 labels", "the class of 60 nodes unknown"]
    with (tmp_path / "out.csv").open(newline="") as file:
        row = next(csv.DictReader(file))
    assert (row["predicted"], row["probability"], row["p_c"]) == ("", "0.333333", "0.333333")
    record = json.loads((tmp_path / "out.json").read_text())["predictions"][0]
    assert record["predicted"] == "" and record["probabilities"] == [0.333333] * 3
    assert (read_graph(tmp_path / "out.npz").extra["predicted"] == -1).all()
    assert (torch.load(tmp_path / "out.pt", weights_only=True)["predicted"] == -1).all()
    session.export(tmp_path / "tasks.json", format="label-studio")
    assert all("predictions" not in each for each in json.loads((tmp_path / "tasks.json").read_text()))
    session.tell(3, "a")
    assert not session.predict().unknown
    session.undo()
    assert session.predict().unknown


@pytest.mark.parametrize("options", [{"classifier": "gcn"}, {"classes": None}], ids=["trained", "no class"])
def test_before_the_first_label_there_may_be_no_predictions(options: dict[str, Any], tmp_path: Path) -> None:
    session = small_job(tmp_path / "job", **options)
    with pytest.raises(SessionError, match="before the first label"):
        session.predict()
    assert session.export(tmp_path / "out.csv") == ["0 labels", "no predictions, since nothing trains them yet"]


def test_what_cannot_be_exported_is_refused(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job")
    for wrong in ("out.xls", "none/out.csv"):
        with pytest.raises(InputError):
            session.export(tmp_path / wrong)
    named = small_job(tmp_path / "job.csv")
    with pytest.raises(InputError, match="the session itself"):
        named.export(tmp_path / "job.csv")


@pytest.mark.parametrize("lead", ["same", "hard link", "symbolic link", "dots", "relative"])
def test_no_output_overwrites_the_sessions_graph_by_whatever_path(
    lead: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = tmp_path / "mine.npz"
    write_graph(unlabelled(block_graph(60)), graph)
    session = small_job(
        tmp_path / "job", graph=unlabelled(block_graph(60)), source=graph, embed_limit=100, features="raw"
    )
    session.tell(1, "a")
    out = {"same": graph, "dots": tmp_path / "x" / ".." / "mine.npz", "relative": Path("mine.npz")}.get(
        lead, tmp_path / "other.npz"
    )
    (tmp_path / "x").mkdir()
    monkeypatch.chdir(tmp_path)
    if lead == "hard link":
        os.link(graph, out)
    elif lead == "symbolic link":
        out.symlink_to(graph)
    before = graph.read_bytes()
    for write in (session.export, lambda path: session.backup(path, overwrite=True)):
        with pytest.raises(InputError, match="is the session's graph"):
            write(out)
    assert graph.read_bytes() == before and Session.open(tmp_path / "job").labels == {1: "a"}


def test_no_output_overwrites_the_session_its_journal_or_a_folder_of_tables(tmp_path: Path) -> None:
    write_graph(unlabelled(block_graph(60)), tmp_path / "tables")
    session = small_job(
        tmp_path / "job.csv",
        graph=unlabelled(block_graph(60)),
        source=tmp_path / "tables",
        embed_limit=100,
        features="raw",
    )
    os.link(tmp_path / "job.csv", tmp_path / "link.csv")
    for path, told in [
        ("job.csv", "itself"),
        ("link.csv", "itself"),
        ("tables/nodes.csv", "graph"),
        ("job.csv-journal", "journal"),
        ("JOB.CSV-wal", "journal"),
    ]:
        with pytest.raises(InputError, match=told):
            session.check_output(tmp_path / path)
    session.check_output(tmp_path / "fine.csv")
    Session.open(tmp_path / "job.csv").close()
    with (tmp_path / "tables" / "edges.csv").open("a") as file:
        file.write("0,5\n")
    with pytest.raises(SessionFileError, match="has changed since"):
        Session.open(tmp_path / "job.csv")


def stored_elsewhere(path: Path, graph: Path, sha256: str = "0" * 64) -> None:
    small_job(path).close()
    import sqlite3

    connection = sqlite3.connect(path)
    record = json.loads(connection.execute("SELECT settings FROM session").fetchone()[0])
    connection.close()
    record["graph"] = {"where": "file", "path": str(graph), "sha256": sha256}
    rewritten(path, "UPDATE session SET settings = ?", (json.dumps(record),))


def test_a_graph_that_is_a_folder_a_pair_of_tables_or_a_pipe_is_checked_as_well(tmp_path: Path) -> None:
    write_graph(unlabelled(block_graph(60)), tmp_path / "tables")
    os.mkfifo(tmp_path / "pipe.npz")
    (tmp_path / "empty").mkdir()
    for number, (graph, told) in enumerate(
        [
            ("tables", "has changed"),
            ("tables/nodes.csv", "has changed"),
            ("pipe.npz", "not an ordinary file"),
            ("empty", "has changed"),
            ("a\0b", "is not at"),
        ]
    ):
        stored_elsewhere(tmp_path / f"job{number}", tmp_path / graph)
        with pytest.raises(SessionFileError, match=told):
            Session.open(tmp_path / f"job{number}")


@pytest.mark.parametrize(
    "change",
    [
        {"settings": []},
        {"settings": {"budget": [1]}},
        {"settings": {"budget": 5, "strategy": ["age"]}},
        {"settings": {"budget": 5, "classes": "ab"}},
        {"settings": {"budget": 5, "release_after": "long"}},
        {"settings": {"budget": 5, "use_labels": "yes"}},
        {"settings": {"budget": 5, "policy": 3}},
        {"settings": {"budget": 5, "frob": 3}},
        {"graph": []},
        {"graph": "inside"},
        {"graph": {"where": "file"}},
        {"graph": {"where": "file", "path": 5}},
    ],
)
def test_settings_of_other_types_are_refused_in_words(change: dict[str, object], tmp_path: Path) -> None:
    stored_elsewhere(tmp_path / "job", tmp_path / "none.npz")
    import sqlite3

    connection = sqlite3.connect(tmp_path / "job")
    record = json.loads(connection.execute("SELECT settings FROM session").fetchone()[0])
    connection.close()
    rewritten(tmp_path / "job", "UPDATE session SET settings = ?", (json.dumps({**record, **change}),))
    with pytest.raises(SessionFileError):
        Session.open(tmp_path / "job")


def test_names_labels_and_headings_of_an_export_run_nothing_unless_it_is_wanted(tmp_path: Path) -> None:
    graph = replace(
        unlabelled(block_graph(60)), node_names=tuple("=HYPERLINK(1)" if i == 4 else f"n{i}" for i in range(60))
    )
    session = small_job(tmp_path / "job", graph=graph, classes=["@a", "b"])
    session.tell([4, 5], ["@a", "b"])
    cells = []
    for keep in (False, True):
        session.export(tmp_path / "out.csv", keep_formulas=keep)
        with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
            cells.append(list(csv.reader(file)))
    safe, raw = cells
    assert not [cell for row in safe for cell in row if cell.startswith(("=", "@", "+"))]
    assert safe[5][1:3] == ["'=HYPERLINK(1)", "'@a"] and raw[5][1:3] == ["=HYPERLINK(1)", "@a"] and raw[0][6] == "p_@a"


def test_a_given_label_that_was_changed_is_exported_as_told(tmp_path: Path) -> None:
    whole = block_graph(60)
    assert whole.y is not None
    y = whole.y.copy()
    y[12:] = -1
    session = Session.create(tmp_path / "job", replace(whole, y=y), budget=5, strategy="uncertainty")
    session.tell(3, whole.class_names[(whole.y[3] + 1) % 3])
    session.export(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert rows[3]["from"] == "told" and rows[4]["from"] == "given" and rows[20]["from"] == ""
