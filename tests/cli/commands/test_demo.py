"""``nodewise demo``, the real command."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

Nodewise = Callable[..., subprocess.CompletedProcess[str]]


def test_the_demo_sets_the_default_and_the_policy_beside_random_choice(nodewise: Nodewise, tmp_path: Path) -> None:
    picture = tmp_path / "demo.png"
    shown = nodewise("demo", "--runs", "3", "--out", str(picture), "--json", str(tmp_path / "demo.json"))
    assert shown.returncode == 0, shown.stderr
    lines = shown.stdout.splitlines()
    assert lines[0].startswith("digits: 1797")
    scores = {line.split()[0]: line.split()[2::3] for line in lines if " labels " in line and line[0].isdigit()}
    assert list(scores) == ["10", "20", "30", "40", "50"]
    gain, random, policy, random_with_gcn = (float(value) for value in scores["50"])
    assert 95 < gain < 100 and 80 < random < gain and 85 < policy < 100 and 70 < random_with_gcn < 100
    assert picture.read_bytes().startswith(b"\x89PNG")
    record = json.loads((tmp_path / "demo.json").read_text())
    outcomes = [result for comparison in record["comparisons"] for result in comparison["settings"][-1]["results"]]
    assert [round(result["micro_f1"]["mean"], 1) for result in outcomes] == [gain, random, policy, random_with_gcn]


def test_a_picture_that_cannot_be_written_is_told_first(nodewise: Nodewise, tmp_path: Path) -> None:
    shown = nodewise("demo", "--out", str(tmp_path / "nowhere" / "demo.png"))
    assert shown.returncode == 2
    assert "in a folder that is there" in shown.stderr
