"""``nodewise train``, ``policy`` and ``evaluate``, one after the other as a user would."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nodewise import __version__
from nodewise.cli import main


@pytest.mark.slow
def test_a_policy_is_trained_shown_and_evaluated(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    short = ["--budget", "6", "--episodes", "2", "--batch", "2", "--seed", "3", "--device", "cpu", "--quiet"]
    assert main(["train", "wine", "--out", "mine.safetensors", *short]) == 0
    assert capfd.readouterr().out.startswith("mine.safetensors: the policy of episode ")
    assert {"mine.safetensors", "mine.last.safetensors", "mine.jsonl"} <= {path.name for path in tmp_path.iterdir()}

    assert main(["policy", "show", "mine.safetensors", "--json"]) == 0
    shown = json.loads(capfd.readouterr().out)
    assert [source["name"] for source in shown["origin"]["source_graphs"]] == ["wine"]
    assert shown["origin"]["training"]["seed"] == 3
    assert main(["policy", "show", "mine.safetensors"]) == 0
    assert "trained on wine" in capfd.readouterr().out

    options = ["--budget", "6", "--runs", "3", "--seed", "5", "--device", "cpu", "--json", "result.json", "--quiet"]
    assert main(["evaluate", "breast-cancer", "--strategy", "policy", "--policy", "mine.safetensors", *options]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    assert "Micro-F1" in out
    result = json.loads(Path("result.json").read_text(encoding="utf-8"))
    known = {
        key: result[key]
        for key in (
            "schema",
            "nodewise_version",
            "graph",
            "features",
            "strategy",
            "classifier",
            "budget",
            "runs",
            "seed",
        )
    }
    assert known == {
        "schema": 1,
        "nodewise_version": __version__,
        "graph": "breast-cancer",
        "features": "unit",
        "strategy": "policy",
        "classifier": "gcn",
        "budget": 6,
        "runs": 3,
        "seed": 5,
    }
    for score in ("micro_f1", "macro_f1"):
        values = result[score]["values"]
        assert len(values) == 3
        assert result[score]["mean"] == pytest.approx(sum(values) / 3)
        assert all(0 <= value <= 100 for value in values)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["train", "wine", "--out", "p.safetensors", "--budget", "5,6"], ["--budget got 2 numbers for 1 graphs"]),
        (["train", "wine", "--out", "p.safetensors", "--budget", "five"], ["--budget got 'five'"]),
        (["train", "wine", "--out", "p.safetensors", "--device", "tpu"], ["unknown device 'tpu'", "cuda:N"]),
        (["train", "wnie", "--out", "p.safetensors"], ["unknown data set 'wnie'", "'wine'"]),
        (["evaluate", "wine", "--strategy", "randm"], ["'randm'", "'random'"]),
        (["evaluate", "wine", "--strategy", "random", "--classifier", "gnc"], ["unknown classifier 'gnc'", "'gcn'"]),
        (["evaluate", "wine", "--strategy", "policy", "--policy", "nowhere.safetensors"], ["nowhere.safetensors"]),
        (["evaluate", "wine", "--strategy", "random", "--json", "no/such/r.json"], ["no/such/r.json", "make it first"]),
        (["policy", "show", "nowhere.safetensors"], ["nowhere.safetensors"]),
        (["policy", "import", "a.pkl", "b.pkl"], ["'b.pkl'", ".safetensors"]),
        (["policy", "import", "a.pkl", "b.safetensors"], ["'a.pkl'"]),
    ],
)
def test_bad_input_gets_one_line_and_2(
    arguments: list[str],
    expected: list[str],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    for part in expected:
        assert part in err
    assert not list(tmp_path.iterdir())
