"""``nodewise evaluate``: the result, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from nodewise.classifiers import Gcn
from nodewise.cli import main
from nodewise.evaluation import evaluate
from nodewise.graph import Graph, preprocess, write_graph
from nodewise.policy import Policy, save_policy
from nodewise.strategies import Age
from tests.small_graphs import block_graph, random_graph

SHORT = ["--runs", "2", "--device", "cpu", "--quiet"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a graph, one without labels, and a policy, which the command runs in."""
    monkeypatch.chdir(tmp_path)
    write_graph(block_graph(), tmp_path / "blocks.npz")
    write_graph(random_graph(), tmp_path / "small.npz")
    write_graph(Graph.build([[0, 1], [1, 2]], 50, x=np.eye(50, dtype=np.float32)), tmp_path / "bare.npz")
    save_policy(Policy(seed=3), tmp_path / "p.safetensors")
    return tmp_path


def test_the_file_holds_what_python_gives(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    options = ["--policy", "p.safetensors", "--features", "unit", "--budget", "4", "--seed", "9", "--json", "r.json"]
    assert main(["evaluate", "blocks.npz", "--strategy", "policy", *options, *SHORT]) == 0
    out, err = capfd.readouterr()
    record = json.loads((here / "r.json").read_text())
    expected = evaluate(preprocess(block_graph(), "unit"), Policy(seed=3), budget=4, runs=2, seed=9, device="cpu")
    assert record["micro_f1"]["values"] == expected.micro_f1.tolist()
    assert record["macro_f1"]["values"] == expected.macro_f1.tolist()
    assert (record["strategy"], record["policy"], record["features"], record["budget"]) == (
        "policy",
        "p.safetensors",
        "unit",
        4,
    )
    assert err == ""
    assert f"{expected.micro}" in out and f"{expected.macro}" in out


def test_without_options_it_is_five_a_class_and_the_classifier_s_own_features(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", "blocks.npz", "--strategy", "random", "--json", "r.json", *SHORT]) == 0
    record = json.loads((here / "r.json").read_text())
    assert (record["budget"], record["features"], record["seed"], record["classifier"]) == (15, "raw", 0, "views")
    assert "blocks, random, views, 15 labels, 2 runs, features raw, cpu" in capfd.readouterr().out


def test_another_protocol_is_named_and_a_loss_has_digits(here: Path, capfd: pytest.CaptureFixture[str]) -> None:
    asked = ["--strategy", "random", "--round-size", "3", "--noise", "0.1", "--scores", "log_loss,balanced_accuracy"]
    assert main(["evaluate", "blocks.npz", *asked, "--budget", "6", "--json", "r.json", *SHORT]) == 0
    out, scores = capfd.readouterr().out, json.loads((here / "r.json").read_text())
    assert "blocks, random, views, 6 labels, rounds of 3 queries, 10 % of the answers wrong, 2 runs" in out
    assert (
        f"{np.mean(scores['log_loss']['values']):.3f}" in out
        and f"{np.mean(scores['balanced_accuracy']['values']):.1f}" in out
    )


def test_unscaled_features_are_told_once_and_not_to_whoever_asked_for_a_preprocessing(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    graph = block_graph()
    assert graph.x is not None and graph.y is not None
    years = np.full((graph.num_nodes, 1), 2000.0, dtype=np.float32)
    x = np.hstack([graph.dense_features(), years])
    write_graph(
        Graph.build(graph.edge_index, graph.num_nodes, x=x, y=graph.y, class_names=graph.class_names, name="years"),
        here / "years.npz",
    )
    loud = ["--runs", "2", "--device", "cpu"]
    said = "the features have very different scales"
    for command in (
        ["evaluate", "years.npz", "--strategy", "random"],
        ["compare", "years.npz", "--strategies", "random,centrality"],
    ):
        assert main([*command, *loud]) == 0
        out, err = capfd.readouterr()
        assert "".join(err.split()).count("'years':" + "".join(said.split())) == 1 and said not in out
    assert main(["session", "new", "job.nodewise", "years.npz", "--budget", "3", "--strategy", "random"]) == 0
    assert said in " ".join(capfd.readouterr().err.split())
    assert main(["evaluate", "years.npz", "--strategy", "random", "--features", "unit", *loud]) == 0
    assert main(["evaluate", "years.npz", "--strategy", "random", *SHORT]) == 0
    assert main(["evaluate", "blocks.npz", "--strategy", "random", *loud]) == 0
    assert said not in " ".join(capfd.readouterr().err.split())


def test_closing_epochs_and_basef_are_options(here: Path) -> None:
    scores = {}
    for name, options in {
        "plain": [],
        "again": ["--closing-epochs", "35"],
        "longer": ["--closing-epochs", "80"],
        "set": ["--set", "closing_epochs=80"],
        "converged": ["--closing-epochs", "converged"],
    }.items():
        command = [
            "evaluate",
            "blocks.npz",
            "--strategy",
            "random",
            "--classifier",
            "gcn",
            "--budget",
            "6",
            "--json",
            "r.json",
        ]
        assert main([*command, *options, *SHORT]) == 0
        scores[name] = json.loads((here / "r.json").read_text())["micro_f1"]["values"]
    assert scores["plain"] == scores["again"] != scores["longer"] and scores["longer"] == scores["set"]
    expected = evaluate(
        block_graph(), "random", classifier=Gcn(closing_epochs=500, convergence=0.01), budget=6, runs=2, device="cpu"
    )
    assert scores["converged"] == expected.micro_f1.tolist()
    age = [
        "evaluate",
        "blocks.npz",
        "--strategy",
        "age",
        "--set",
        "basef=0.5",
        "--classifier",
        "gcn",
        "--budget",
        "6",
        "--json",
        "r.json",
    ]
    assert main([*age, *SHORT]) == 0
    theirs = evaluate(block_graph(), Age(basef=0.5), classifier="gcn", budget=6, runs=2, device="cpu")
    assert json.loads((here / "r.json").read_text())["micro_f1"]["values"] == theirs.micro_f1.tolist()


def test_settings_change_the_classifier_that_a_policy_brings_along(
    here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    policy, scores = Policy(seed=1), []
    policy.origin = {
        "training": {"classifier": {"name": "gcn", "settings": {**Gcn(hidden=8, observed="training").identity()}}}
    }
    save_policy(policy, here / "mine.safetensors")
    for options, expected in (([], "training"), (["--set", "observed=updated"], "updated")):
        assert (
            main(
                [
                    "evaluate",
                    "blocks.npz",
                    "--policy",
                    "mine.safetensors",
                    *options,
                    "--budget",
                    "6",
                    "--json",
                    "r.json",
                    *SHORT,
                ]
            )
            == 0
        )
        theirs = evaluate(
            block_graph(), policy, classifier=Gcn(hidden=8, observed=expected), budget=6, runs=2, device="cpu"
        )
        scores.append(json.loads((here / "r.json").read_text())["micro_f1"]["values"])
        assert scores[-1] == theirs.micro_f1.tolist()
    assert scores[0] != scores[1]
    policy.origin = {"training": {"classifier": {"name": "os:system", "settings": {}}}}
    save_policy(policy, here / "foreign.safetensors")
    assert main(["evaluate", "blocks.npz", "--policy", "foreign.safetensors", "--set", "observed=updated", *SHORT]) == 2
    assert "'observed'" in capfd.readouterr().err, "code that a file names is not imported to know its settings"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["small.npz", "--strategy", "random", "--budget", "21"],
            ["a budget of 21 queries is more than the pool's 20 nodes"],
        ),
        (["bare.npz", "--strategy", "random", "--budget", "3"], ["'bare.npz' has no labels"]),
        (["bare.npz", "--strategy", "random"], ["'bare.npz' has no labels", "nodewise session new"]),
        (["small.npz", "--strategy", "random", "--runs", "0"], ["--runs", "0"]),
        (["small.npz", "--strategy", "random", "--device", "cuda:x"], ["unknown device 'cuda:x'"]),
        (["nowhere.npz", "--strategy", "random"], ["nowhere.npz"]),
        (["small.npz", "--strategy", "policy", "--policy", "small.npz"], ["small.npz", "policy file"]),
        (
            ["small.npz", "--strategy", "random", "--closing-epochs", "50"],
            ["--closing-epochs is the GCN's", "--classifier gcn"],
        ),
    ],
)
def test_bad_input_gets_one_line_and_2(
    arguments: list[str], expected: list[str], here: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", *arguments, "--quiet", "--json", "r.json"]) == 2
    out, err = capfd.readouterr()
    assert out == "" and err.count("\n") == 1
    for part in expected:
        assert part in err
    assert not (here / "r.json").exists()
