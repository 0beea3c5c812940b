"""``nodewise compare`` through the real command."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import nodewise as nw
from nodewise.classifiers import Gcn
from nodewise.cli import main
from nodewise.evaluation import Method, write_splits
from nodewise.graph import write_graph

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def chunks(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.rglob("chunks/*/*.json")}


@pytest.mark.slow
def test_a_table_goes_to_standard_output_and_files_to_the_folder(
    nodewise: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    command = (
        "compare",
        "karate",
        "--strategies",
        "random,centrality",
        "--budgets",
        "2,4",
        "--runs",
        "5",
        "--device",
        "cpu",
        "--out",
        "d",
    )
    done = nodewise(*command)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].split("  ")[0] == "strategy" and "karate, 2 labels" in lines[0] and "karate, 4 labels" in lines[0]
    assert lines[1].startswith("random") and lines[2].startswith("centrality")
    assert "not significantly worse" in done.stderr
    record = json.loads((tmp_path / "d" / "comparison.json").read_text())
    assert [(s["graph"], s["budget"]) for s in record["settings"]] == [("karate", 2), ("karate", 4)]
    assert {path.name for path in (tmp_path / "d").glob("*.png")} == {"curves-karate.png", "win-rates.png"}
    before = chunks(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(list(command)) == 0
    assert capfd.readouterr().out == done.stdout and chunks(tmp_path) == before and len(before) == 4


@pytest.mark.slow
def test_ctrl_c_says_how_to_go_on_and_the_same_command_does(
    clean_environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def command(runs: int) -> list[str]:
        return [
            "compare",
            "karate",
            "--strategies",
            "random",
            "--budgets",
            "4",
            "--runs",
            str(runs),
            "--device",
            "cpu",
            "--out",
            "d",
        ]

    process = subprocess.Popen(
        [sys.executable, "-m", "nodewise", *command(100_000)],
        cwd=tmp_path,
        env=clean_environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while process.poll() is None and len(chunks(tmp_path)) < 2:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert (
        err.splitlines()[-1]
        == "nodewise compare: interrupted; what is finished lies in d, and the same command goes on from there"
    )
    kept = chunks(tmp_path)
    assert len(kept) >= 2
    monkeypatch.chdir(tmp_path)
    assert main(command(20)) == 0 and {name: chunks(tmp_path)[name] for name in kept} == kept


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (["--strategies", "randm"], "did you mean 'random'"),
        (["--strategies", "random,random"], "each only once"),
        (["--strategies", "random", "--address", "here:1"], "--address here:1 is for --engine ray"),
        (["--strategies", "random", "--budgets", "5,x"], "--budgets got '5,x'"),
        (["--strategies", "random", "--classifiers", "gcm"], "unknown classifier 'gcm'"),
        (["--strategies", "age:1/2"], "three numbers"),
        (["--strategies", "random", "--closing-epochs", "x"], "--closing-epochs got 'x'"),
        (["--strategies", "random", "--budgets", "90"], "more than the pool's"),
        (["--strategies", "random", "--device", "tpu"], "unknown device"),
        (
            ["--strategies", "random,centrality", "--set", "mesure=degree"],
            "--set got 'mesure': say classifier.mesure or strategy.mesure",
        ),
        (
            ["--strategies", "random,age", "--set", "strategy.measure=degree"],
            "no strategy here knows 'measure'; they know basef",
        ),
        (
            ["--strategies", "random,policy", "--set", "observed=training"],
            "a classifier's settings need --classifiers, as in --classifiers gcn",
        ),
        (
            ["--strategies", "random", "--set", "classifier.observed=training"],
            "name them by --classifiers, as in --classifiers gcn",
        ),
    ],
)
def test_bad_input_is_one_line_and_2(wrong: list[str], expected: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "karate", *wrong, "--quiet"]) == 2
    out, err = capfd.readouterr()
    assert out == "" and err.count("\n") == 1 and err.startswith("nodewise compare: ") and expected in err


def test_settings_go_to_whoever_knows_them(capfd: pytest.CaptureFixture[str]) -> None:
    options = [
        "--strategies",
        "random,centrality",
        "--classifiers",
        "views,gcn",
        "--set",
        "measure=pagerank",
        "--set",
        "hidden=4",
    ]
    assert main(["compare", "karate", *options, "--budgets", "3", "--runs", "2", "--json", "-", "--quiet"]) == 0
    by_name = json.loads(capfd.readouterr().out)
    table = nw.compare(
        "karate",
        ["random", Method("centrality", settings={"measure": "pagerank"})],
        classifiers=["views", Gcn(hidden=4)],
        budgets=3,
        runs=2,
    )
    for one, other in zip(by_name["settings"], table.as_dict()["settings"], strict=True):
        assert one["classifier"] == other["classifier"]
        assert [(row["name"], row["micro_f1"]) for row in one["results"]] == [
            (row["name"], row["micro_f1"]) for row in other["results"]
        ]


def test_a_graph_without_labels_is_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "g.edges").write_text("a b\nb c\n")
    assert main(["compare", str(tmp_path / "g.edges"), "--strategies", "random", "--budgets", "1"]) == 2
    assert "has no labels" in capfd.readouterr().err


def test_a_folder_with_another_comparison_is_not_written_over(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "out")
    shared = ["--strategies", "random", "--budgets", "4", "--runs", "2", "--out", out]
    assert main(["compare", "wine", *shared]) == 0
    assert main(["compare", "karate", *shared]) == 2
    assert (
        "holds a comparison with wine with views at 4 random, which this one has not and would write over"
        in capfd.readouterr().err
    )
    assert main(["compare", "wine", *shared, "--seed", "1"]) == 2
    assert main(["compare", "wine", "karate", "wine", *shared]) == 0
    held = json.loads((tmp_path / "out" / "comparison.json").read_text())
    assert [setting["graph"] for setting in held["settings"]] == ["wine", "karate"]


def test_other_budgets_classifiers_protocols_and_fewer_runs_are_not_written_over(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    shared = ["compare", "wine", "--strategies", "random", "--out", str(tmp_path)]
    splits = ["--splits", str(write_splits(tmp_path / "splits.json", nw.load_graph("wine"), runs=3, seed=5))]
    assert main([*shared, "--budgets", "4", "--runs", "3", "--classifiers", "views"]) == 0
    written = (tmp_path / "comparison.json").read_text()
    played = sorted(path.name for path in tmp_path.rglob("chunks/*/*"))
    assert played
    capfd.readouterr()
    for other, expected in (
        (["--budgets", "5", "--runs", "3"], "wine with views at 4 random"),
        (["--budgets", "4", "--runs", "3", "--classifiers", "gcn"], "wine with views at 4 random"),
        (["--budgets", "4", "--runs", "2"], "wine with views at 4 random, 3 runs"),
        (["--budgets", "4", "--runs", "3", "--noise", "0.2"], "wine with views at 4 random under the usual protocol"),
        (["--budgets", "4", "--runs", "3", *splits], "wine with views at 4 random on the protocol's splits"),
        (["--runs", "3"], "wine with views at 4 random"),
    ):
        assert main([*shared, *other]) == 2
        assert f"holds a comparison with {expected}, which this one has not" in capfd.readouterr().err
        assert sorted(path.name for path in tmp_path.rglob("chunks/*/*")) == played  # told before anything is played
    assert (tmp_path / "comparison.json").read_text() == written
    assert main([*shared, "--budgets", "4,5", "--runs", "3", "--classifiers", "views,gcn"]) == 0


def test_other_settings_features_and_graphs_of_the_same_name_are_not_written_over(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "mine.npz", tmp_path / "out"
    shared = ["compare", str(file), "--strategies", "random", "--budgets", "6", "--runs", "3", "--out", str(out)]
    graph = nw.load_graph("wine")
    write_graph(graph, file)
    assert main([*shared, "--classifiers", "gcn", "--set", "hidden=8"]) == 0
    held = json.loads((out / "comparison.json").read_text())
    assert held["settings"][0]["results"][0]["classifier_settings"] == {"hidden": 8}
    assert "6 labels; gcn with hidden=8 on" in (out / "table.md").read_text()
    written = (out / "comparison.json").read_text()
    capfd.readouterr()
    for other, expected in (
        ([], 'wine with gcn at 6 random with {"hidden": 8}'),
        (["--set", "hidden=9"], 'wine with gcn at 6 random with {"hidden": 8}'),
        (["--set", "hidden=8", "--features", "raw"], "wine with gcn on unit features at 6 random"),
    ):
        assert main([*shared, "--classifiers", "gcn", *other]) == 2
        assert f"holds a comparison with {expected}" in capfd.readouterr().err
    assert graph.y is not None
    write_graph(replace(graph, y=np.roll(graph.y, 60)), file)
    assert main([*shared, "--classifiers", "gcn", "--set", "hidden=8"]) == 2
    assert "holds other scores of wine with gcn on unit features at 6 random" in capfd.readouterr().err
    assert (out / "comparison.json").read_text() == written


def test_two_files_with_graphs_of_one_name_are_told_apart(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    graph = nw.load_graph("wine")
    assert graph.y is not None
    files = [tmp_path / "one" / "g.npz", tmp_path / "two" / "g.npz"]
    for file, labels in zip(files, (graph.y, np.roll(graph.y, 60)), strict=True):
        file.parent.mkdir()
        write_graph(replace(graph, y=labels, name="g"), file)
    out = tmp_path / "export.json"
    shared = ["--strategies", "random", "--budgets", "6", "--runs", "2", "--out", str(tmp_path / "out")]
    command = ["compare", *map(str, files), *shared, "--export", str(out)]
    assert main(command) == 0 and main(command) == 0, "the same command goes on"
    exported = json.loads(out.read_text())
    assert [one["graph"] for one in exported["settings"]] == ["g", "g 2"] == list(exported["graphs"])
    assert exported["graphs"]["g"]["labels"] != exported["graphs"]["g 2"]["labels"]


def test_strategies_that_share_no_setting_have_no_table_of_leads(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", "wine", "--strategies", "random,policy", "--budgets", "4", "--runs", "2"]) == 0
    told = capfd.readouterr()
    assert "policy with gcn: what a policy was trained with" in " ".join(told.err.split())
    assert "lead in points" not in told.out


def test_a_score_of_one_s_own_on_the_command_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "def surest(probabilities, truth):\n    return float(probabilities.max())\n\n\nnumber = 3\n"
    (tmp_path / "my_scores.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    shared = ["compare", "wine", "--strategies", "random", "--budgets", "6", "--runs", "2", "--scores"]
    assert main([*shared, "my_scores:surest,log_loss", "--out", str(tmp_path / "out")]) == 0
    page = (tmp_path / "out" / "table.md").read_text()
    assert "surest (more counts as better)" in page and "log loss in nats (less is better)" in page
    capfd.readouterr()
    for wrong, expected in (
        ("my_scores:number", "a score must be a name or a function, received 3"),
        ("my_scores:none", "the score 'my_scores:none' could not be imported"),
        ("surest", "unknown score 'surest'"),
    ):
        assert main([*shared, wrong]) == 2
        assert expected in capfd.readouterr().err


def test_costs_and_noise_from_files_and_further_scores_in_the_tables(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "costs.csv").write_text("".join(f"{1 + node % 3}\n" for node in range(178)))
    (tmp_path / "pairs.csv").write_text("0.8,0.2,0\n0,1,0\n0.1,0,0.9\n")
    shared = ["compare", "wine", "--strategies", "random,centrality", "--budgets", "9", "--runs", "2"]
    files = ["--cost", str(tmp_path / "costs.csv"), "--noise", str(tmp_path / "pairs.csv"), "--scores", "log_loss"]
    assert main([*shared, *files, "--out", str(tmp_path / "out")]) == 0
    assert "log loss in nats (less is better)" in " ".join(capfd.readouterr().err.split())
    page = (tmp_path / "out" / "table.md").read_text()
    assert "**log loss**" in page and "**Time**" in page
    told = "a cost of 9; views on raw features; wrong answers by class pair, the budget counts what each node costs"
    assert page.count(told) == 4, "each of the tables of scores and that of times stands alone"
    assert "Bold: the best mean of a setting" in page and "Marked" not in page
    for wrong, expected in (("nothing.csv", "there is no file"), ("pairs.csv", "one number above 0 for each node")):
        assert main([*shared, "--cost", str(tmp_path / wrong)]) == 2
        assert expected in capfd.readouterr().err


def test_what_a_strategy_needs_of_the_classifier_is_told_before_any_graph_is_read(
    capfd: pytest.CaptureFixture[str],
) -> None:
    wanted = ["--strategies", "random,bald-dropout", "--runs", "2"]
    assert main(["compare", "wine", *wanted, "--classifiers", "gcn,views"]) == 2
    told = capfd.readouterr().err
    assert told.startswith("nodewise compare: the classifier 'views' cannot predict from an embedding"), (
        "nothing before"
    )
