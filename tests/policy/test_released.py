"""State dicts in the form that the paper's authors released; nothing in a file may be executed."""

from __future__ import annotations

import contextlib
import os
import pickle
from collections import OrderedDict
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import PolicyFileError
from nodewise.policy import import_released, load_policy, save_policy
from nodewise.policy.state import PAPER_FEATURES
from tests.small_graphs import random_graph


def released(hidden: int = 8) -> OrderedDict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    shapes = {
        "gcn.0.weight": (5, hidden),
        "gcn.0.bias": (hidden,),
        "gcn.1.weight": (hidden, hidden),
        "gcn.1.bias": (hidden,),
        "output_layer.weight": (1, hidden),
    }
    return OrderedDict((name, torch.randn(shape, generator=generator)) for name, shape in shapes.items())


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("hidden", [8, 16])
def test_a_released_state_dict_is_a_policy(hidden: int, zipped: bool, tmp_path: Path) -> None:
    file = tmp_path / "released.pkl"
    torch.save(released(hidden), file, _use_new_zipfile_serialization=zipped)
    policy = import_released(file)
    assert policy.settings.state.features == PAPER_FEATURES
    assert (policy.settings.architecture, policy.settings.hidden, policy.settings.state.kl_scaling) == ("gcn", hidden, "max")
    assert policy.origin["imported_from"] == "released.pkl"
    graph = GraphTensors(random_graph())
    h = states = torch.rand(2, graph.num_nodes, 5, generator=torch.Generator().manual_seed(1))
    w = released(hidden)
    for layer in ("0", "1"):
        h = torch.relu(graph.norm.mm(h @ w[f"gcn.{layer}.weight"] + w[f"gcn.{layer}.bias"]))
    with torch.no_grad():
        torch.testing.assert_close(policy(graph, states), (h @ w["output_layer.weight"].T).squeeze(-1))
    save_policy(policy, tmp_path / "p.safetensors")
    assert torch.equal(load_policy(tmp_path / "p.safetensors").output, policy.output)


def test_a_tensor_that_repeats_what_little_the_file_holds_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "wide.pkl"
    torch.save(OrderedDict({**released(), "gcn.0.bias": torch.zeros(1).expand(30_000)}), file)
    with pytest.raises(PolicyFileError, match="larger than itself"):
        import_released(file)


class Trap:
    """What pickle would call when it reads this."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("save", ["torch", "torch, not zipped", "pickle"])
def test_code_in_a_file_is_refused_and_not_executed(save: str, tmp_path: Path) -> None:
    sprung, file = tmp_path / "sprung", tmp_path / "trap.pkl"
    content = {**released(), "gcn.0.bias": Trap(sprung)}
    if save == "pickle":
        file.write_bytes(pickle.dumps(content))
    else:
        torch.save(content, file, _use_new_zipfile_serialization=save == "torch")
    with pytest.raises(PolicyFileError, match="is not a plain state dict"):
        import_released(file)
    assert not sprung.exists()
    torch.load(file, weights_only=False) if save != "pickle" else pickle.loads(file.read_bytes())
    assert sprung.exists()  # so the trap would have worked


@pytest.mark.parametrize(
    "content",
    [
        pytest.param({"w": torch.zeros(2)}, id="other names"),
        pytest.param({1: torch.zeros(2), "gcn.0.weight": torch.zeros(2)}, id="names that are not text"),
        pytest.param([torch.zeros(2)], id="a list"),
        pytest.param(torch.zeros(2), id="a tensor"),
        pytest.param(dict.fromkeys(released(), 3), id="numbers for weights"),
        pytest.param({**released(), "gcn.0.weight": torch.tensor(3.0)}, id="a weight without shape"),
        pytest.param({**released(), "gcn.1.weight": torch.zeros(8, 9)}, id="another shape"),
        pytest.param({**released(), "gcn.1.weight": torch.full((8, 8), torch.nan)}, id="not numbers"),
        pytest.param({**released(), "gcn.0.weight": torch.zeros(5, 0)}, id="no units"),
    ],
)
def test_other_contents_are_refused(content: object, tmp_path: Path) -> None:
    torch.save(content, tmp_path / "other.pkl")
    with pytest.raises(PolicyFileError, match="other.pkl"):
        import_released(tmp_path / "other.pkl")


def test_there_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(PolicyFileError, match="no file at .*a.pkl"):
        import_released(tmp_path / "a.pkl")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(cut=st.floats(0, 1), place=st.floats(0, 1), byte=st.integers(0, 255), zipped=st.booleans())
def test_a_damaged_file_is_refused_or_harmless(cut: float, place: float, byte: int, zipped: bool, tmp_path: Path) -> None:
    """Cut off somewhere, with one byte changed: a policy, or the error for such files; never anything else."""
    file = tmp_path / "damaged.pkl"
    torch.save(released(), file, _use_new_zipfile_serialization=zipped)
    content = bytearray(file.read_bytes())
    content = content[: max(1, round(cut * len(content)))] if cut < 0.7 else content
    content[min(len(content) - 1, int(place * len(content)))] = byte
    file.write_bytes(bytes(content))
    with contextlib.suppress(PolicyFileError):
        assert all(torch.isfinite(p).all() for p in import_released(file).parameters())


@given(st.binary(max_size=300))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_any_bytes_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "bytes.pkl").write_bytes(content)
    with pytest.raises(PolicyFileError, match="bytes.pkl"):
        import_released(tmp_path / "bytes.pkl")
