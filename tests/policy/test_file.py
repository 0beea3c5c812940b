"""Policy files: what was saved comes back, and nothing else is taken for one; policies by name; released state dicts,
of which nothing may be executed.
"""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import random
import subprocess
import sys
from collections import OrderedDict
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import save_file

from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import PolicyFileError, UnknownNameError
from nodewise.policy import (
    DEFAULT_POLICY,
    Policy,
    PolicySettings,
    find_policy,
    import_released,
    load_policy,
    save_policy,
    shipped_policies,
)
from nodewise.policy.file import tensor_digest
from nodewise.policy.policy import PAPER_STATE_FEATURES, StateSettings
from tests.small_graphs import random_graph

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
    save_file(tensors, path, metadata={**merged, "digest": tensor_digest(merged, tensors)})
    return path


def retensored(path: Path, **tensors: torch.Tensor | None) -> Path:
    """The file with other weights; None leaves one out, names with two underscores for a dot."""
    with safe_open(path, framework="pt") as file:
        known, kept = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    kept.update({name.replace("__", "."): tensor for name, tensor in tensors.items()})
    left = {name: tensor for name, tensor in kept.items() if tensor is not None}
    save_file(left, path, metadata={**known, "digest": tensor_digest(known, left)})
    return path


@pytest.mark.parametrize(
    "settings",
    [
        PolicySettings(),
        PolicySettings("mlp"),
        PolicySettings(
            hidden=3, layers=1, state=StateSettings(("degree", "labelled"), degree_alpha=7.25, kl_scaling="none")
        ),
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
        (
            state_with(features=["entropy", "betweenness", "degree", "labelled", "kl_to_neighbours"]),
            "unknown state feature 'betweenness'",
        ),
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


def test_settings_that_claim_more_than_the_file_holds_are_refused_before_anything_of_that_size_is_made(
    saved: Path,
) -> None:
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


SHIPPED = sorted(shipped_policies())


def test_a_file_is_found_by_its_path(tmp_path: Path) -> None:
    policy = Policy(seed=5)
    save_policy(policy, tmp_path / "mine.safetensors")
    for path in (tmp_path / "mine.safetensors", str(tmp_path / "mine.safetensors")):
        assert torch.equal(find_policy(path).output, policy.output)


def test_neither_a_name_nor_a_file(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown policy 'cora\\+citesser'.*safetensors"):
        find_policy("cora+citesser")
    with pytest.raises(PolicyFileError, match="no policy file at .*nowhere.safetensors"):
        find_policy(tmp_path / "nowhere.safetensors")


@pytest.mark.skipif(not SHIPPED, reason="no policies are shipped yet")
@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_policy_is_the_paper_s_and_says_where_it_comes_from(name: str) -> None:
    policy = find_policy(name)
    assert sum(p.numel() for p in policy.parameters()) == 128
    assert policy.settings.architecture == "gcn"
    sources = policy.origin["source_graphs"]
    assert [source["name"] for source in sources] == name.split("+")
    for source in sources:
        assert {"nodes", "edges", "classes", "average_degree", "budget"} <= source.keys()
    assert {"episodes", "batch", "seed", "features"} <= policy.origin["training"].keys()
    assert policy.origin["nodewise_version"] and 1 <= policy.origin["episode"] <= policy.origin["training"]["episodes"]


@pytest.mark.skipif(not SHIPPED, reason="no policies are shipped yet")
def test_without_a_name_it_is_the_default_one() -> None:
    assert DEFAULT_POLICY in SHIPPED
    assert torch.equal(find_policy().output, find_policy(DEFAULT_POLICY).output)


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
    assert policy.settings.state.features == PAPER_STATE_FEATURES
    assert (policy.settings.architecture, policy.settings.hidden, policy.settings.state.kl_scaling) == (
        "gcn",
        hidden,
        "max",
    )
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


def test_there_is_no_released_file(tmp_path: Path) -> None:
    with pytest.raises(PolicyFileError, match="no file at .*a.pkl"):
        import_released(tmp_path / "a.pkl")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(cut=st.floats(0, 1), place=st.floats(0, 1), byte=st.integers(0, 255), zipped=st.booleans())
def test_a_damaged_file_is_refused_or_harmless(
    cut: float, place: float, byte: int, zipped: bool, tmp_path: Path
) -> None:
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


def test_no_flipped_bit_of_a_policy_is_read_as_another_policy(saved: Path) -> None:
    content, policy = saved.read_bytes(), load_policy(saved)
    chance, refused = random.Random(8), 0
    for _ in range(400):
        damaged = bytearray(content)
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        saved.write_bytes(damaged)
        try:
            read = load_policy(saved)
        except PolicyFileError:
            refused += 1
            continue
        assert read.settings == policy.settings and read.origin == policy.origin
        for name, tensor in policy.state_dict().items():
            assert torch.equal(read.state_dict()[name], tensor)
    assert refused > 350


def test_a_policy_from_before_there_were_digests_is_read(saved: Path) -> None:
    with safe_open(saved, framework="pt") as file:
        known, tensors = file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    del known["digest"]
    save_file(tensors, saved, metadata=known)
    assert load_policy(saved).origin == ORIGIN


@pytest.mark.parametrize("text", ["[" * 100_000, "{}" * 3, "null"])
def test_settings_or_an_origin_without_end_are_refused_in_words(text: str, saved: Path) -> None:
    content = saved.read_bytes()
    for key in ("settings", "origin"):
        saved.write_bytes(content)
        with pytest.raises(PolicyFileError, match="does not know"):
            load_policy(rewritten(saved, **{key: text}))


@pytest.mark.slow
def test_a_full_disk_is_told_in_a_sentence_and_the_old_policy_stays(
    saved: Path, clean_environment: dict[str, str]
) -> None:
    content = saved.read_bytes()
    code = (
        "import resource, signal, sys; from nodewise import load_policy, save_policy;"
        "from nodewise.ground.errors import PolicyFileError; policy = load_policy(sys.argv[1]);"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "try:\n save_policy(policy, sys.argv[1])\nexcept PolicyFileError as error:\n sys.stdout.write(str(error))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(saved)], capture_output=True, text=True, env=clean_environment, check=False
    )
    assert "no policy can be written to" in done.stdout and "space left" in done.stdout, done
    assert saved.read_bytes() == content and list(saved.parent.iterdir()) == [saved]
