"""Exports and backups over HTTP: whole, named, and nothing left behind."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from nodewise.graph import read_graph
from nodewise.graph.tables.excel import excel_rows
from nodewise.session import Session
from tests.studio.jobs import EVIL, job, named_graph
from tests.studio.serving import API, Client, running


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with running(tmp_path, job(tmp_path, 'a "b" ü', graph=named_graph())) as client:
        client.say("/tell", annotator=EVIL, labels=[{"node": node, "label": "ab"[node % 2]} for node in range(10)])
        yield client
        while client.scratch_files:  # removed once it has been sent
            time.sleep(0.01)


def test_a_table_has_a_row_for_each_node(client: Client) -> None:
    answer = client.get(f"{API}/export/csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"] == "attachment; filename*=utf-8''a%20%22b%22%20%C3%BC-predictions.csv"
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(rows) == 60 and rows[1]["name"] == "Paper 1" and rows[1]["label"] == "b" and rows[20]["label"] == ""
    assert {row["predicted"] for row in rows} == {"a", "b"}


def test_json_has_votes_and_settings(client: Client) -> None:
    found = client.get(f"{API}/export/json").json()
    first = {
        "node": 0,
        "name": "Paper 0",
        "label": "a",
        "from": "told",
        "audit": False,
        "votes": {EVIL: "a"},
        "notes": [],
    }
    assert found["labels"][0] == first
    assert found["settings"]["budget"] == 20 and len(found["predictions"]) == 60


def test_the_graph_comes_with_its_labels(client: Client, tmp_path: Path) -> None:
    (tmp_path / "out.npz").write_bytes(client.get(f"{API}/export/npz").content)
    graph = read_graph(tmp_path / "out.npz")
    assert graph.y is not None and graph.y[:10].tolist() == [0, 1] * 5 and (graph.y[10:] == -1).all()


def test_tensors_can_be_read_without_pickled_code(client: Client) -> None:
    found = torch.load(io.BytesIO(client.get(f"{API}/export/pt").content), weights_only=True)
    assert found["class_names"] == ["a", "b"] and int(found["train_mask"].sum()) == 10
    assert np.allclose(found["probabilities"].sum(1), 1, atol=1e-5)


def test_an_export_before_the_first_label_predicts_no_class(tmp_path: Path) -> None:
    with running(tmp_path, job(tmp_path)) as client:
        rows = list(csv.DictReader(io.StringIO(client.get(f"{API}/export/csv").text)))
        assert len(rows) == 60 and {row["predicted"] for row in rows} == {""}


def test_a_form_that_there_is_not_is_refused(client: Client) -> None:
    for form in ("xls", "CSV", "..%2Fcsv"):
        answer = client.get(f"{API}/export/{form}")
        assert answer.status_code in (400, 404) and answer.json()["error"]


def test_a_backup_is_the_session(client: Client, tmp_path: Path) -> None:
    answer = client.get(f"{API}/backup")
    assert "nodewise" in answer.headers["content-disposition"]
    copy = tmp_path / "copy.nodewise"
    copy.write_bytes(answer.content)
    with Session.open(copy) as session:
        assert session.labels == {node: "ab"[node % 2] for node in range(10)}
        assert session.ask().node == client.say("/ask")["queries"][0]["node"]
    assert json.loads(client.get(f"{API}/status").text)["told"] == 10


def test_exports_have_names_that_differ_and_one_is_for_excel(client: Client, tmp_path: Path) -> None:
    names = [
        client.get(f"{API}/export/{form}").headers["content-disposition"]
        for form in ("csv", "full", "xlsx", "json", "npz", "pt")
    ]
    assert len(set(names)) == 6
    (tmp_path / "out.xlsx").write_bytes(client.get(f"{API}/export/xlsx").content)
    rows = [cells for _, cells in excel_rows(tmp_path / "out.xlsx")]
    assert rows[0][:4] == ["node", "name", "label", "from"] and len(rows) == 61
    assert rows[1][1:4] == ["Paper 0", "a", "told"]
