"""Policies by name."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from nodewise.ground.errors import PolicyFileError, UnknownNameError
from nodewise.policy import DEFAULT_POLICY, Policy, find_policy, save_policy, shipped_policies

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
