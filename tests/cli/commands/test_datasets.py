"""``nodewise datasets``: the list and the details, for people and machines."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from nodewise.cli import main
from nodewise.datasets import list_datasets
from nodewise.graph import Graph, write_graph

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with one known data set, one under its authors' file name, and one of the user's own."""
    path = tmp_path / "data"
    path.mkdir()
    graph = Graph.build([[0, 1], [1, 2]], y=[0, 1, 0])
    for name in ("cora", "reddit1401-graph1", "mine"):
        write_graph(graph, path / f"{name}.npz")
    return path


def test_the_list_has_a_row_for_every_name_and_says_where_it_is(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["datasets", "--data-dir", str(folder)]) == 0
    out, err = capfd.readouterr()
    rows = {line.split()[0]: line.split() for line in out.splitlines()[1:]}
    assert list(rows) == list_datasets(folder)
    assert rows["cora"] == ["cora", "3", "2", "0", "2", "data", "folder"]  # what the file holds, not what was published
    assert rows["citeseer"][1:5] == ["3327", "4552", "3703", "6"]
    assert rows["reddit1"][-2:] == ["data", "folder"]
    assert rows["mine"] == ["mine", "–", "–", "–", "–", "data", "folder"]
    assert rows["reddit2"][-1] == "download"
    assert rows["acmv9"][-2:] == ["not", "here"]
    assert rows["citeseer"][-1] == "download"
    assert rows["digits"][-1] == "included"
    assert str(folder) in err
    assert main(["datasets", "--data-dir", str(folder), "--quiet"]) == 0
    assert capfd.readouterr() == (out, "")


def test_the_environment_names_the_data_folder(folder: Path, nodewise: Run) -> None:
    known = json.loads(nodewise("datasets", "--json", NODEWISE_DATA=str(folder)).stdout)
    assert known["data_dir"] == str(folder)
    assert {"name": "mine", "ready": True} in known["datasets"]


def test_the_list_for_a_machine(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["datasets", "--data-dir", str(folder), "--json"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    told = json.loads(out)
    assert told["schema"] == 1
    by_name = {entry["name"]: entry for entry in told["datasets"]}
    assert list(by_name) == list_datasets(folder)
    assert {name for name in ("cora", "digits", "sbm", "citeseer", "reddit2", "mine") if by_name[name]["ready"]} == {
        *("cora", "digits", "sbm", "mine"),
    }


def test_details_of_one(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["datasets", "coauthor-cs", "--data-dir", str(folder)]) == 0
    shown = capfd.readouterr().out
    for part in ("18333", "81894", "6805", "15", "75", "paper", "Shchur"):
        assert part in shown
    assert main(["datasets", "CS", "--data-dir", str(folder), "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert (told["schema"], told["name"], told["nodes"], told["paper_budget"]) == (1, "coauthor-cs", 18333, 75)
    assert told["default_features"] == "paper"


def test_details_of_the_users_own_are_read_from_its_file(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["datasets", "mine", "--data-dir", str(folder), "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert (told["nodes"], told["edges"], told["classes"], told["where"]) == (3, 2, 2, "data folder")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["datasets", "coar"], ["unknown data set 'coar'", "did you mean 'cora'"]),
        (["datasets", "--data-dir", "a-file"], ["a-file", "not a folder", "--data-dir"]),
    ],
)
def test_bad_input(
    arguments: list[str],
    expected: list[str],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a-file").touch()
    assert main(arguments) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    for part in expected:
        assert part in err
