"""Trainings: what is missing is trained, checkpointed; what is there is left alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from nodewise.experiments.gpa import trainings as trainings_module
from nodewise.experiments.gpa.training_runs import all_names, is_there, train_missing
from nodewise.experiments.gpa.trainings import TRAININGS, Training, age_settings, find_trained
from nodewise.ground.errors import UnknownNameError

TINY = Training("tiny", ("reddit1", "reddit3"), budget=3, episodes=12, batch=2)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Training:
    monkeypatch.setitem(TRAININGS, "tiny", TINY)
    return TINY


def test_a_training_leaves_a_policy_and_its_log(tiny: Training, tmp_path: Path, small_data: Path) -> None:
    (outcome,) = train_missing(["tiny"], tmp_path, device="cpu", data_dir=small_data)
    assert outcome.finished and outcome.name == "tiny" and outcome.seconds > 0 and "mean reward" in outcome.detail
    assert {path.name for path in tmp_path.iterdir()} == {"tiny.safetensors", "tiny.json"}
    policy = find_trained("tiny", tmp_path)
    assert policy is not None
    assert [source["name"] for source in policy.origin["source_graphs"]] == ["reddit1", "reddit3"]
    assert policy.origin["training"]["budgets"] == [3, 3] and policy.origin["training"]["features"] == ["raw", "raw"]
    log = json.loads((tmp_path / "tiny.json").read_text())
    assert [len(values) for values in log["rewards"].values()] == [12, 12] and list(log["rewards"]) == [
        "reddit1",
        "reddit3",
    ]
    before = (tmp_path / "tiny.safetensors").stat().st_mtime_ns
    assert train_missing(["tiny"], tmp_path, device="cpu", data_dir=small_data) == []
    assert (tmp_path / "tiny.safetensors").stat().st_mtime_ns == before


@pytest.mark.slow
def test_when_the_time_is_up_the_next_call_goes_on_to_the_same_end(
    tiny: Training, tmp_path: Path, small_data: Path
) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    train_missing(["tiny"], whole, device="cpu", data_dir=small_data)
    calls = 0
    while not is_there("tiny", parts):
        # an episode is always played to its end, so that even no time at all gets on
        found = train_missing(["tiny"], parts, device="cpu", data_dir=small_data, minutes=0.001)
        calls += 1
        assert len(found) == 1 and found[0].finished == is_there("tiny", parts)
        assert calls < 20
    assert calls > 1
    logs = [json.loads((folder / "tiny.json").read_text()) for folder in (whole, parts)]
    assert logs[0]["rewards"] == logs[1]["rewards"]
    one, other = (find_trained("tiny", folder) for folder in (whole, parts))
    assert one is not None and other is not None and one.origin == other.origin
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))
    assert not (parts / "unfinished").exists()


@pytest.mark.long
def test_ages_weights_are_searched_in_pieces(tmp_path: Path, small_data: Path) -> None:
    calls = 0
    while not is_there("age-reddit1", tmp_path):
        train_missing(["age-reddit1"], tmp_path, device="cpu", data_dir=small_data, minutes=0.1)
        calls += 1
    assert calls > 1 and not (tmp_path / "unfinished").exists()
    record = json.loads((tmp_path / "age-reddit1.json").read_text())
    assert record["graph"] == "reddit1" and list(record["budgets"]) == ["10", "20", "30", "50", "100"]
    for budget, found in record["budgets"].items():
        assert sum(found["weights"]) == pytest.approx(1) and 0 < found["weights_score"] <= 100
        assert (
            found["basef_scores"][str(found["basef"])] == max(found["basef_scores"].values())
            and len(found["basef_scores"]) == 5
        )
        fixed, changing = (age_settings(("reddit1",), kind, int(budget), tmp_path) for kind in (True, False))
        assert fixed is not None and fixed.searched and fixed.settings == {"weights": tuple(found["weights"])}
        assert changing is not None and changing.searched and changing.settings == {"basef": found["basef"]}


@pytest.mark.slow
def test_several_at_once_and_no_time_begin_nothing(tmp_path: Path, small_data: Path) -> None:
    found = train_missing(["reddit1", "reddit1+2"], tmp_path, device="cpu", data_dir=small_data, jobs=2, minutes=0)
    assert {(one.name, one.finished, one.detail) for one in found} == {
        ("reddit1", False, "not begun"),
        ("reddit1+2", False, "not begun"),
    }


def test_without_a_folder_nothing_is_written_into_the_package(
    tiny: Training, tmp_path: Path, small_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    package = Path(trainings_module.__file__).parent
    before = {path: path.stat().st_mtime_ns for path in package.rglob("*") if "__pycache__" not in path.parts}
    train_missing(["tiny"], device="cpu", data_dir=small_data)
    assert {path.name for path in (tmp_path / "policies").iterdir()} == {"tiny.safetensors", "tiny.json"}
    assert {path: path.stat().st_mtime_ns for path in package.rglob("*") if "__pycache__" not in path.parts} == before
    assert find_trained("tiny") is not None
    shipped = find_trained("reddit1")  # not in the folder: as it comes with nodewise
    assert shipped is not None and shipped.origin["training"]["episodes"] == 2000
    monkeypatch.delitem(TRAININGS, "tiny")
    assert train_missing(device="cpu", data_dir=small_data) == []  # all that is needed comes with nodewise


def test_names_are_checked_before_anything_is_trained(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean"):
        train_missing(["reddit1", "reddit12"], tmp_path)
    assert not any(tmp_path.iterdir())
    assert len(all_names()) == 35
