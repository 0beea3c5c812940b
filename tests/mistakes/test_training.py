"""Mistakes in training policies, in their files and in state features of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import nodewise as nw
from nodewise.policy import PolicySettings, StateSettings, register_state_feature
from nodewise.policy.policy import STATE_FEATURES
from tests.mistakes.telling import GRAPH, KARATE, Mistake, World, is_refused, message


@pytest.mark.parametrize("thing", [GRAPH, "wine", Path("wine.npz"), 3], ids=lambda thing: type(thing).__name__)
def test_one_graph_in_place_of_a_list_for_training(thing: Any) -> None:
    said = message(lambda: nw.train_policy(thing))
    assert "train_policy takes a list of source graphs" in said and "train_policy([graph])" in said


def test_a_setting_of_training_that_does_not_exist() -> None:
    assert "unknown setting of train_policy 'episode': did you mean 'episodes'" in message(
        lambda: nw.train_policy([GRAPH], episode=3)
    )  # type: ignore[call-arg]
    assert "did you mean 'budgets'" in message(lambda: nw.train_policy([GRAPH], budget=3))  # type: ignore[call-arg]
    assert "episodes must be a whole number, got 2.5" in message(lambda: nw.train_policy([GRAPH], episodes=2.5))  # type: ignore[arg-type]


def test_a_state_feature_of_another_shape_is_told() -> None:
    register_state_feature("odd-shape")(lambda observation, settings: torch.zeros(3, 5))
    register_state_feature("no-tensor")(lambda observation, settings: [0.0])  # type: ignore[arg-type,return-value]
    try:
        for name, said in (("odd-shape", "gave the shape [3, 5], not [run, node]"), ("no-tensor", "gave list, not a")):
            features = PolicySettings(state=StateSettings(features=(name, "degree")))
            assert f"the state feature {name!r} {said}" in message(
                lambda features=features: nw.train_policy([GRAPH], episodes=1, budgets=2, policy=features)
            )
    finally:
        STATE_FEATURES.pop("odd-shape"), STATE_FEATURES.pop("no-tensor")


MISTAKES: list[Mistake] = [
    (
        "one graph in place of a list",
        lambda w: nw.train_policy(KARATE),
        TypeError,
        "train_policy takes a list of source graphs, got Graph('karate': 34 nod",
    ),
    (
        "no source graphs",
        lambda w: nw.train_policy([]),
        ValueError,
        "no source graph was given: name at least one labelled graph",
    ),
    (
        "a setting of training misspelt",
        lambda w: nw.train_policy([KARATE], episode=3),
        ValueError,
        "unknown setting of train_policy 'episode': did you mean 'episodes'?",
    ),
    (
        "half an episode",
        lambda w: nw.train_policy([KARATE], episodes=2.5),
        TypeError,
        "episodes must be a whole number, got 2.5",
    ),
    (
        "a policy misspelt",
        lambda w: nw.load_policy("cora+citesear"),
        ValueError,
        "no policy file at 'cora+citesear': give a .safetensors file, or one of",
    ),
    (
        "a policy's file that is none",
        lambda w: nw.load_policy(w.folder / "p.safetensors"),
        ValueError,
        "is not a readable policy file (Error while deserializing header: heade",
    ),
    (
        "a graph saved as a policy",
        lambda w: nw.save_policy(KARATE, w.folder / "p.safetensors"),
        TypeError,
        "a policy was expected, received Graph: give what train_policy or load_",
    ),
    (
        "a policy where no folder is",
        lambda w: nw.save_policy(nw.load_policy("cora+citeseer"), w.folder / "none" / "p.safetensors"),
        ValueError,
        ": name a .safetensors file in a folder that is there",
    ),
    (
        "a session in the memory",
        lambda w: nw.Session.create(":memory:", KARATE),
        ValueError,
        "a session lives in a file, and ':memory:' is none: give a path, in a t",
    ),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake[0])
def test_a_mistake_in_python_is_told(mistake: Mistake, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    is_refused(mistake, world, monkeypatch)
