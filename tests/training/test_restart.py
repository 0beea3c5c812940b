"""A policy whose hidden units have all died begins anew; one that is merely satisfied does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from nodewise.classifiers import Gcn
from nodewise.ground.compute import derive_seed
from nodewise.ground.events import Event, Warned
from nodewise.policy import Policy, PolicySettings, load_policy
from nodewise.training import train_policy
from nodewise.training.checkpoint import DEAD_AFTER
from tests.training.toy import communities_and_loners

# a warning is what a caller without a reporter gets to read
pytestmark = pytest.mark.filterwarnings("ignore:the policy scored all nodes alike:UserWarning")

ONE_UNIT = PolicySettings(hidden=1, layers=1)
QUICK: dict[str, Any] = {
    "budgets": (2,),
    "batch": 2,
    "classifier": Gcn(closing_epochs=0),
    "device": "cpu",
    "policy": ONE_UNIT,
}


def dead_seed() -> int:
    """A seed whose one hidden unit has negative weights only: states are never negative, so it is 0 on every node of
    every graph.
    """
    return next(seed for seed in range(1000) if (Policy(ONE_UNIT, derive_seed(seed, "policy")).weights[0] < 0).all())


def test_a_dead_policy_begins_anew_and_learns(tmp_path: Path) -> None:
    told: list[Event] = []
    out = tmp_path / "p.safetensors"
    policy = train_policy(
        [communities_and_loners()], out=out, episodes=60, seed=dead_seed(), reporter=told.append, **QUICK
    )
    restarts = policy.origin["restarts"]
    assert restarts[0] == 10 + DEAD_AFTER  # the first ten episodes only warm up
    assert next(f"up to {restarts[0]}" in event.message for event in told if isinstance(event, Warned))
    assert (policy.weights[0] > 0).any()
    assert load_policy(out).origin["restarts"] == restarts


def test_what_the_dead_policy_reached_does_not_count(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = []
    episodes = 10 + DEAD_AFTER + 110
    policy = train_policy(
        [communities_and_loners()], episodes=episodes, seed=dead_seed(), each_episode=lines.append, **QUICK
    )
    first, *more = policy.origin["restarts"]
    last = more[-1] if more else first
    assert lines[last - 1]["mean_100"] == pytest.approx(sum(lines[last - 1]["rewards"].values()))
    assert policy.origin["episode"] >= min(last + 99, episodes)


@pytest.mark.parametrize("stop", [5, 10 + DEAD_AFTER - 1, 10 + DEAD_AFTER, 45])
def test_stopped_around_the_restart_it_goes_on_to_the_bit(tmp_path: Path, stop: int) -> None:
    def interrupt(line: dict[str, Any]) -> None:
        if line["episode"] == stop:
            raise KeyboardInterrupt

    graph, seed = communities_and_loners(), dead_seed()
    whole = train_policy([graph], out=tmp_path / "whole.safetensors", episodes=60, seed=seed, **QUICK)
    with pytest.raises(KeyboardInterrupt):
        train_policy([graph], out=tmp_path / "p.safetensors", episodes=60, seed=seed, each_episode=interrupt, **QUICK)
    resumed = train_policy([graph], out=tmp_path / "p.safetensors", episodes=60, seed=seed, resume=True, **QUICK)
    assert (tmp_path / "p.safetensors").read_bytes() == (tmp_path / "whole.safetensors").read_bytes()
    assert (tmp_path / "p.jsonl").read_text() == (tmp_path / "whole.jsonl").read_text()
    assert torch.equal(resumed.output, whole.output)


def test_a_living_policy_is_left_alone() -> None:
    policy = train_policy([communities_and_loners()], episodes=60, seed=1, **{**QUICK, "policy": PolicySettings()})
    assert "restarts" not in policy.origin
