"""The policy file: what was saved comes back, and nothing else is taken for one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from nodewise.ground.errors import PolicyFileError
from nodewise.policy import Policy, PolicySettings, load_policy, save_policy
from nodewise.policy.state import StateSettings

ORIGIN = {"source_graphs": [{"name": "somewhere", "average_degree": 3.9}], "episode": 7}


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    policy = Policy(seed=5)
    policy.origin = dict(ORIGIN)
    save_policy(policy, tmp_path / "p.safetensors")
    return tmp_path / "p.safetensors"


def rewritten(path: Path, **metadata: str | None) -> Path:
    """The file with other metadata; None leaves a key out."""
    with safe_open(path, framework="pt") as file:
        known, tensors = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    merged = {key: value for key, value in {**known, **metadata}.items() if value is not None}
    save_file(tensors, path, metadata=merged)
    return path


def retensored(path: Path, **tensors: torch.Tensor | None) -> Path:
    """The file with other weights; None leaves one out, names with two underscores for a dot."""
    with safe_open(path, framework="pt") as file:
        known, kept = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    kept.update({name.replace("__", "."): tensor for name, tensor in tensors.items()})
    save_file({name: tensor for name, tensor in kept.items() if tensor is not None}, path, metadata=known)
    return path


@pytest.mark.parametrize(
    "settings",
    [
        PolicySettings(),
        PolicySettings("mlp"),
        PolicySettings(hidden=3, layers=1, state=StateSettings(("degree", "labelled"), degree_alpha=7.25, kl_scaling="none")),
    ],
)
def test_save_then_load_is_the_identity(settings: PolicySettings, tmp_path: Path) -> None:
    policy = Policy(settings, seed=9)
    with torch.no_grad():
        policy.biases[0].fill_(0.125)
    policy.origin = dict(ORIGIN)
    save_policy(policy, tmp_path / "p.safetensors")
    back = load_policy(tmp_path / "p.safetensors")
    assert back.settings == settings and back.origin == ORIGIN
    for name, tensor in policy.state_dict().items():
        assert torch.equal(back.state_dict()[name], tensor)
    assert [path.name for path in tmp_path.iterdir()] == ["p.safetensors"]


def test_the_metadata_say_what_the_policy_reads_and_where_it_comes_from(saved: Path) -> None:
    with safe_open(saved, framework="pt") as file:
        record = file.metadata()
    assert record["format"] == "nodewise-policy-1"
    settings = json.loads(record["settings"])
    assert settings["state"] == {
        "features": ["entropy", "degree", "kl_from_neighbours", "kl_to_neighbours", "labelled"],
        "degree_alpha": 20.0,
        "kl_scaling": "max",
    }
    assert (settings["architecture"], settings["hidden"], settings["layers"]) == ("gcn", 8, 2)
    assert json.loads(record["origin"]) == ORIGIN


def test_the_origin_can_be_given_and_a_policy_in_double_precision_saved(tmp_path: Path) -> None:
    policy = Policy(seed=5).double()
    save_policy(policy, tmp_path / "p.safetensors", origin={"from": "a test"})
    back = load_policy(tmp_path / "p.safetensors")
    assert back.origin == {"from": "a test"} and policy.origin == {}
    assert back.output.dtype == torch.float32
    assert torch.equal(back.output, policy.output.float())


def test_an_old_file_is_replaced_whole(saved: Path) -> None:
    save_policy(Policy(seed=6), saved)
    assert torch.equal(load_policy(saved).output, Policy(seed=6).output)


@pytest.mark.parametrize("name", ["p.pt", "no/such/p.safetensors"])
def test_a_file_that_could_not_be_found_again_is_not_written(name: str, tmp_path: Path) -> None:
    with pytest.raises(PolicyFileError, match="name a .safetensors file in a folder that is there"):
        save_policy(Policy(), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_there_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(PolicyFileError, match="no policy file at .*nowhere.safetensors'.*'nodewise policy list'"):
        load_policy(tmp_path / "nowhere.safetensors")
    with pytest.raises(PolicyFileError, match="no policy file at"):
        load_policy(tmp_path)


@pytest.mark.parametrize("keep", [0, 7, 200, -1])
def test_a_damaged_file_is_refused(saved: Path, keep: int) -> None:
    saved.write_bytes(saved.read_bytes()[:keep])
    with pytest.raises(PolicyFileError, match="is not a readable policy file"):
        load_policy(saved)


def test_another_kind_of_file_is_refused(saved: Path, tmp_path: Path) -> None:
    text = tmp_path / "text.safetensors"
    text.write_text("these are not weights, not even nearly")
    with pytest.raises(PolicyFileError, match="is not a readable policy file"):
        load_policy(text)
    with pytest.raises(PolicyFileError, match="has format None, this version reads 'nodewise-policy-1'"):
        load_policy(rewritten(saved, format=None))
    with pytest.raises(PolicyFileError, match="has format 'nodewise-policy-2'.*update nodewise"):
        load_policy(rewritten(saved, format="nodewise-policy-2"))


def settings_with(**changed: object) -> str:
    return json.dumps({**PolicySettings().as_dict(), **changed})


def state_with(**changed: object) -> str:
    return settings_with(state={**StateSettings().as_dict(), **changed})


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (state_with(features=["entropy", "betweenness", "degree", "labelled", "kl_to_neighbours"]), "unknown state feature 'betweenness'"),
        (state_with(kl_scaling="softmax"), "kl_scaling max or none"),
        (state_with(colour="red"), "colour"),
        (settings_with(architecture="gat"), "unknown policy architecture 'gat'"),
        (settings_with(hidden="eight"), "does not know"),
        (settings_with(hidden=8.0), "does not know"),
        (settings_with(wings=2), "wings"),
        ("[]", "does not know"),
        ("{", "does not know"),
        (None, "does not know"),
    ],
)
def test_settings_of_another_version_are_refused(saved: Path, settings: str | None, said: str) -> None:
    with pytest.raises(PolicyFileError, match="does not know") as refused:
        load_policy(rewritten(saved, settings=settings))
    assert said in str(refused.value)
    assert "p.safetensors" in str(refused.value)


def test_settings_that_claim_more_than_the_file_holds_are_refused_before_anything_of_that_size_is_made(saved: Path) -> None:
    with pytest.raises(PolicyFileError, match="30000 units but holds only 128 numbers"):
        load_policy(rewritten(saved, settings=settings_with(hidden=30000)))


@pytest.mark.parametrize("origin", ["{", "3", '["cora"]'])
def test_an_origin_that_says_nothing_is_refused(saved: Path, origin: str) -> None:
    with pytest.raises(PolicyFileError, match="does not know"):
        load_policy(rewritten(saved, origin=origin))


def test_a_file_without_an_origin_can_be_read(saved: Path) -> None:
    assert load_policy(rewritten(saved, origin=None)).origin == {}


def test_wrong_shapes_are_told_by_name_with_both_shapes(saved: Path) -> None:
    with pytest.raises(PolicyFileError, match=r"weight 'weights.0' has shape \(5, 8\), its settings say \(3, 8\)"):
        load_policy(rewritten(saved, settings=state_with(features=["entropy", "degree", "labelled"])))


def test_missing_and_superfluous_weights_are_told_by_name(saved: Path) -> None:
    with pytest.raises(PolicyFileError, match=r"weight 'wings' has shape \(2,\), its settings say nothing"):
        load_policy(retensored(saved, wings=torch.zeros(2)))
    with pytest.raises(PolicyFileError, match=r"weight 'biases.1' has shape nothing, its settings say \(8,\)"):
        load_policy(retensored(saved, wings=None, biases__1=None))


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_weights_that_are_not_numbers_are_refused(saved: Path, bad: float) -> None:
    with pytest.raises(PolicyFileError, match="weight 'output' holds values that are not finite"):
        load_policy(retensored(saved, output=torch.full((1, 8), bad)))
