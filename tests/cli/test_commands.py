"""The names and flags that scripts rely on."""

from __future__ import annotations

import pytest

from nodewise.cli import main

FIXED = {
    "demo": ["--json"],
    "datasets": ["NAME", "--json", "--data-dir"],
    "convert": [
        "SOURCE",
        "OUT",
        "--knn",
        "--text",
        "--images",
        "--metric",
        "--weighted",
        "--label",
        "--features",
        "--data-dir",
    ],
    "train": [
        "GRAPH",
        "--out",
        "--budget",
        "--episodes",
        "--batch",
        "--features",
        "--seed",
        "--device",
        "--resume",
        "--data-dir",
    ],
    "evaluate": [
        *("GRAPH", "--strategy", "--policy", "--classifier", "--features", "--budget"),
        *("--runs", "--seed", "--device", "--json", "--data-dir"),
    ],
    "compare": [
        "GRAPH",
        "--strategies",
        "--budgets",
        "--classifiers",
        "--features",
        "--runs",
        "--out",
        "--engine",
        "--data-dir",
    ],
    "benchmark": ["--graphs", "--strategies", "--classifiers", "--labels", "--runs", "--out", "--engine", "--join"],
    "reproduce": ["EXPERIMENT", "--runs", "--quick", "--out", "--json"],
    "session new": [
        "FILE",
        "GRAPH",
        "--budget",
        "--classes",
        "--strategy",
        "--policy",
        "--classifier",
        "--seed",
        "--audit",
        "--suggest",
    ],
    "session ask": ["FILE", "-k", "--json"],
    "session tell": ["FILE", "NODE", "LABEL", "--annotator"],
    "session skip": ["FILE", "NODE"],
    "session undo": ["FILE"],
    "session status": ["FILE", "--json"],
    "session predict": ["FILE", "--out"],
    "session export": ["FILE", "OUT", "--format"],
    "session backup": ["FILE", "OUT"],
    "studio": ["SESSION", "--host", "--port", "--token", "--allow-host", "--folder", "--pictures", "--no-browser"],
    "reddit build": ["--submissions", "--comments", "--glove", "--out", "--groups"],
    "people add": ["NAME", "--role", "--folder", "--address", "--json"],
    "people list": ["--folder", "--json"],
    "people revoke": ["NAME", "--folder"],
    "policy list": [],
    "policy show": ["NAME|FILE"],
    "policy import": ["STATE_DICT.pkl", "OUT.safetensors"],
}


@pytest.mark.parametrize("command", FIXED)
def test_help_names_every_argument_and_flag(
    command: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main([*command.split(), "--help"]) == 0
    text = capfd.readouterr().out
    for name in [*FIXED[command], "--quiet", "--debug", "--help"]:
        assert name in text
    assert "Examples:" in text
    assert f"nodewise {command}" in text.partition("Examples:")[2]
