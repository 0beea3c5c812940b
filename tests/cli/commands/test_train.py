"""``nodewise train``: what it writes, what it refuses, and Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from nodewise.cli import main
from nodewise.graph import Graph, write_graph
from nodewise.policy import load_policy
from tests.small_graphs import random_graph

SHORT = ["--episodes", "2", "--batch", "2", "--device", "cpu", "--quiet"]
FORTY = [
    "train",
    "one.npz",
    "two.npz",
    "--out",
    "p.safetensors",
    "--budget",
    "2",
    "--episodes",
    "40",
    "--batch",
    "2",
    "--device",
    "cpu",
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two small graphs and one without labels, which the command runs in."""
    monkeypatch.chdir(tmp_path)
    write_graph(random_graph(), tmp_path / "one.npz")
    write_graph(random_graph(classes=4, seed=1), tmp_path / "two.npz")
    write_graph(Graph.build([[0, 1], [1, 2]], 50, x=np.eye(50, dtype=np.float32)), tmp_path / "bare.npz")
    return tmp_path


def test_every_option_reaches_the_policy_s_file(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    options = [
        "--budget",
        "3,4",
        "--features",
        "unit",
        "--architecture",
        "mlp",
        "--without",
        "degree, labelled",
        "--reward",
        "stepwise",
    ]
    options += ["--kl-scaling", "none"]
    assert main(["train", "one.npz", "two.npz", "--out", "p.safetensors", "--seed", "6", *options, *SHORT]) == 0
    assert capfd.readouterr().out.startswith("p.safetensors: the policy of episode 2, mean reward of 2 episodes ")
    policy = load_policy("p.safetensors")
    assert policy.settings.architecture == "mlp"
    assert policy.settings.state.features == ("entropy", "kl_from_neighbours", "kl_to_neighbours")
    assert policy.settings.state.kl_scaling == "none"
    training = policy.origin["training"]
    told = {key: training[key] for key in ("episodes", "batch", "budgets", "seed", "reward", "features")}
    assert told == {
        "episodes": 2,
        "batch": 2,
        "budgets": [3, 4],
        "seed": 6,
        "reward": "stepwise",
        "features": ["unit", "unit"],
    }
    assert len((here / "p.jsonl").read_text().splitlines()) == 2


@pytest.mark.parametrize(("given", "budgets"), [([], [10, 10]), (["--budget", "2"], [2, 2])])
def test_one_budget_is_for_all_and_none_is_half_the_pool_where_that_is_less_than_five_a_class(
    given: list[str], budgets: list[int], here: Path
) -> None:
    assert main(["train", "one.npz", "two.npz", "--out", "p.safetensors", *given, *SHORT]) == 0
    assert load_policy("p.safetensors").origin["training"]["budgets"] == budgets


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["one.npz", "--budget", "21"], ["a budget of 21 queries is more than the pool's 20 nodes"]),
        (["bare.npz", "--budget", "3"], ["'bare.npz' has no labels"]),
        (["one.npz", "bare.npz"], ["'bare.npz' has no labels"]),
        (["one.npz", "--without", "entropi"], ["unknown state feature 'entropi'", "'entropy'"]),
        (["one.npz", "--without", "entropy,degree,kl_from_neighbours,kl_to_neighbours,labelled"], ["at least one"]),
        (["one.npz", "--without", "entropy,,degree"], ["--without got 'entropy,,degree'"]),
        (["one.npz", "--episodes", "0"], ["--episodes", "0"]),
        (["one.npz", "--features", "unitt"], ["'unitt'", "'unit'"]),
        (["one.npz", "--reward", "gain"], ["'gain'", "trajectory", "stepwise"]),
    ],
)
def test_bad_input_gets_one_line_and_2_and_leaves_nothing(
    arguments: list[str], expected: list[str], here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = sorted(here.iterdir())
    assert main(["train", *arguments, "--out", "p.safetensors", "--device", "cpu", "--quiet"]) == 2
    out, err = capfd.readouterr()
    assert out == "" and err.count("\n") == 1
    for part in expected:
        assert part in err
    assert sorted(here.iterdir()) == before


@pytest.mark.parametrize(
    ("out", "said"),
    [("p.pt", "a policy file ends with .safetensors, got 'p.pt'"), ("no/p.safetensors", "make it first")],
)
def test_a_policy_needs_a_place_and_its_ending(
    out: str, said: str, here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", "one.npz", "--out", out, *SHORT]) == 2
    assert said in capfd.readouterr().err


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGINT")
def test_ctrl_c_saves_ends_with_130_and_can_be_resumed(
    here: Path, tmp_path: Path, clean_environment: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "nodewise", *FORTY],
        cwd=here,
        env={**clean_environment, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    log = here / "p.jsonl"
    while process.poll() is None and (not log.exists() or log.read_text().count("\n") < 12):
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out) == (130, "")
    assert (
        err.splitlines()[-1]
        == "nodewise train: interrupted; the same command with --resume goes on from the last whole episode"
    )
    assert {path.name for path in here.glob("p.*")} == {"p.checkpoint", "p.jsonl"}
    # without --resume nothing is overwritten
    assert main(FORTY) == 2
    assert "use --resume" in capfd.readouterr().err
    assert main([*FORTY, "--resume"]) == 0, capfd.readouterr().err
    # the outcome is that of a training that nobody disturbed
    kept = {path.name: path.read_bytes() for path in here.glob("p.*")}
    for path in here.glob("p.*"):
        path.unlink()
    assert main(FORTY) == 0
    assert {path.name: path.read_bytes() for path in here.glob("p.*")} == kept
    assert [json.loads(line)["episode"] for line in kept["p.jsonl"].splitlines()] == list(range(1, 41))


def test_a_finished_policy_is_not_written_over_unless_it_is_said(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    command = ["train", "one.npz", "--out", "p.safetensors", "--budget", "2", *SHORT]
    assert main(command) == 0
    kept = (here / "p.safetensors").read_bytes()
    capfd.readouterr()
    assert main([*command, "--seed", "1"]) == 2
    err = capfd.readouterr().err
    assert "'p.safetensors' is a finished policy" in err and "--force" in err and "--resume" in err
    assert (here / "p.safetensors").read_bytes() == kept
    assert main([*command, "--resume"]) == 0
    assert (here / "p.safetensors").read_bytes() == kept
    assert main([*command, "--seed", "1", "--force", "--json"]) == 0
    assert (here / "p.safetensors").read_bytes() != kept
    out = capfd.readouterr().out
    assert json.loads(out[out.index("{") :])["origin"]["training"]["seed"] == 1
