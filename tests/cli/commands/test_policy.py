"""``nodewise policy``: list, show and import."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from nodewise.classifiers import Gcn
from nodewise.cli import main
from nodewise.policy import Policy, PolicySettings, StateSettings, load_policy, save_policy, shipped_policies
from tests.policy.test_file import Trap, released


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    torch.save(released(), tmp_path / "released.pkl")
    return tmp_path


def test_the_list_names_every_shipped_policy(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "list"]) == 0
    out = capfd.readouterr().out
    assert all(name in out for name in shipped_policies())
    assert main(["policy", "list", "--json"]) == 0
    listed = json.loads(capfd.readouterr().out)
    assert listed["schema"] == 1 and [row["name"] for row in listed["policies"]] == list(shipped_policies())
    for row in listed["policies"]:
        assert row["sources"] == row["name"].split("+")


@pytest.mark.parametrize("name", shipped_policies())
def test_a_shipped_policy_is_shown(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "show", name]) == 0
    out = capfd.readouterr().out
    for source in name.split("+"):
        assert f"trained on {source}" in out
    assert "entropy, degree, kl_from_neighbours, kl_to_neighbours, labelled" in out


def test_what_a_policy_was_trained_with_is_shown(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    policy = Policy()
    policy.origin = {
        "training": {
            "classifier": {"name": "gcn", "settings": {**Gcn().identity(), "observed": "training", "hidden": 64}}
        }
    }
    save_policy(policy, tmp_path / "mine.safetensors")
    assert main(["policy", "show", str(tmp_path / "mine.safetensors")]) == 0
    assert "trained with    gcn, observed training\n" in capfd.readouterr().out.replace(" \n", "\n")


@pytest.mark.parametrize("name", shipped_policies())
def test_a_shipped_policy_is_played_with_the_papers_classifier(name: str) -> None:
    assert load_policy(name).classifier == ("gcn", {})


@pytest.mark.parametrize(
    ("origin", "classifier"),
    [
        ({}, ("gcn", {})),
        ({"training": {"classifier": {"name": "gcn", "settings": {"hidden": 8}}}}, ("gcn", {"hidden": 8})),
        (
            {"training": {"classifier": {"name": "gcn", "settings": {"hidden": 8}}}, "played_with": {"name": "views"}},
            ("views", {}),
        ),
        ({"training": "nothing", "played_with": "name"}, ("gcn", {})),
    ],
)
def test_a_policy_is_played_as_it_was_trained_unless_it_says_otherwise(
    origin: dict[str, Any], classifier: tuple[str, Any]
) -> None:
    policy = Policy()
    policy.origin = origin
    assert policy.classifier == classifier


def test_a_released_state_dict_is_imported_and_shown(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "import", "released.pkl", "mine.safetensors"]) == 0
    assert capfd.readouterr().out == "mine.safetensors: written\n"
    assert torch.equal(load_policy("mine.safetensors").weights[0], released()["gcn.0.weight"])
    assert main(["policy", "show", "mine.safetensors"]) == 0
    assert "released.pkl" in capfd.readouterr().out
    assert main(["policy", "show", "mine.safetensors", "--json"]) == 0
    shown = json.loads(capfd.readouterr().out)
    assert shown["parameters"] == 128 and shown["settings"]["state"]["kl_scaling"] == "max"


def test_a_policy_that_says_nothing_about_itself_is_shown(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    save_policy(Policy(PolicySettings(state=StateSettings(kl_scaling="none"))), here / "bare.safetensors")
    assert main(["policy", "show", "bare.safetensors"]) == 0
    shown = capfd.readouterr().out
    assert "gcn, 2 hidden layers of 8" in shown and "degree / 20 up to 1, KL as it is" in shown


def test_code_in_a_file_is_not_executed(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    torch.save({**released(), "gcn.0.bias": Trap(here / "sprung")}, here / "trap.pkl")
    assert main(["policy", "import", "trap.pkl", "mine.safetensors"]) == 2
    out, err = capfd.readouterr()
    assert out == "" and err.count("\n") == 1 and "'trap.pkl' is not a plain state dict (it asks for " in err
    assert "weights_only" not in err, "torch's advice would run the file"
    assert {path.name for path in here.iterdir()} == {"released.pkl", "trap.pkl"}


@pytest.mark.parametrize("out", ["no/such/p.safetensors", "released.pkl/p.safetensors"])
def test_a_folder_that_is_not_there_is_told(out: str, here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "import", "released.pkl", out]) == 2
    text, err = capfd.readouterr()
    assert text == "" and err.count("\n") == 1 and "folder" in err
