"""``nodewise reproduce`` through the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nodewise.cli import main
from nodewise.datasets import synthetic_graph
from nodewise.graph import write_graph


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a small graph in the place of the case study's."""
    folder = tmp_path / "data"
    folder.mkdir()
    write_graph(
        synthetic_graph(nodes=85, classes=4, mean_degree=4, features=6, name="reddit-case-study"),
        folder / "reddit-case-study.npz",
    )
    return folder


@pytest.mark.slow
def test_an_experiment_writes_its_files_and_shows_its_tables(
    data: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out, policies = tmp_path / "out", tmp_path / "policies"
    command = [
        "reproduce",
        "case-study",
        "--runs",
        "2",
        "--out",
        str(out),
        "--policies",
        str(policies),
        "--data-dir",
        str(data),
    ]
    assert main([*command, "--device", "cpu"]) == 0
    shown, told = capfd.readouterr()
    assert "the node chosen most often at each step" in shown and "84.13" in shown
    assert str(out / "case-study.png") in shown
    assert (
        "warning: case-study: AGE, fixed weights is left out" in told
        and f"--only age-cora,age-citeseer --policies {policies}" in told
    )
    record = json.loads((out / "case-study.json").read_text())
    assert record["experiment"] == "case-study"
    assert main([*command, "--device", "cpu", "--json"]) == 0
    (printed,) = json.loads(capfd.readouterr().out)["experiments"]
    assert {**printed, "seconds": 0} == {**record, "seconds": 0}


@pytest.mark.long
def test_closing_epochs_reach_the_classifier_and_the_record(
    data: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    records = {}
    for closing in ("0", "converged"):
        out = tmp_path / closing
        command = [
            "reproduce",
            "case-study",
            "--runs",
            "1",
            "--out",
            str(out),
            "--data-dir",
            str(data),
            "--device",
            "cpu",
            "--quiet",
        ]
        assert main([*command, "--closing-epochs", closing]) == 0
        records[closing] = json.loads((out / "case-study.json").read_text())
    assert (
        records["0"]["classifier"]["closing_epochs"] == 0 and records["converged"]["classifier"]["convergence"] == 0.01
    )
    assert ", 0 closing epochs;" in (tmp_path / "0" / "case-study.md").read_text()
    assert (
        "trained until the loss falls by less than 1 % in ten epochs"
        in (tmp_path / "converged" / "case-study.md").read_text()
    )
    assert main([*command, "--set", "observed=training"]) == 0
    assert json.loads((out / "case-study.json").read_text())["classifier"]["observed"] == "training"
    assert ", cpu, observed training; scores" in (out / "case-study.md").read_text()
    assert main([*command, "--set", "observd=training"]) == 2 and "did you mean 'observed'" in capfd.readouterr().err
    assert (
        main(["reproduce", "trainings", "--set", "observed=training"]) == 2
        and "--set is for experiments" in capfd.readouterr().err
    )
    assert main([*command, "--closing-epochs", "many"]) == 2
    assert "--closing-epochs got 'many': give a number of epochs, or 'converged'" in capfd.readouterr().err


def test_what_cannot_be_played_at_all_ends_with_2(
    data: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    command = [
        "--runs",
        "2",
        "--out",
        str(tmp_path / "out"),
        "--policies",
        str(tmp_path),
        "--data-dir",
        str(data),
        "--quiet",
    ]
    assert main(["reproduce", "state-features", *command]) == 2
    out, err = capfd.readouterr()
    assert out == "" and err.count("\n") == 1 and "nothing of 'state-features' can be played" in err


def test_a_misspelt_name_ends_with_2(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "crossdomain"]) == 2
    assert "unknown experiment 'crossdomain': did you mean" in capfd.readouterr().err
    assert main(["reproduce", "trainings", "--only", "cora+citeser"]) == 2
    assert "unknown training 'cora+citeser': did you mean" in capfd.readouterr().err


def test_trainings_that_are_there_are_left_alone(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "reddit1.safetensors").write_bytes(b"")
    assert main(["reproduce", "trainings", "--only", "reddit1", "--policies", str(tmp_path)]) == 0
    assert capfd.readouterr().out == "nothing to train: every policy is there\n"
