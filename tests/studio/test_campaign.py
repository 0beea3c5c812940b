"""A small campaign of benchmarks/studio_team.py: a team, an owner who gives and frees rows, and kills of the studio."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_nothing_is_lost_and_nobody_sees_what_they_should_not() -> None:
    options = ["--people", "6", "--seconds", "30", "--kills", "4", "--every", "0.5"]
    done = subprocess.run(
        [sys.executable, "studio_team.py", *options],
        cwd=ROOT / "benchmarks",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "'lost': []" in done.stdout and "'seen': []" in done.stdout
    assert "'kills': 4" in done.stdout
