"""What is generated and tracked stays small: no file over 100 kB but the benchmark, 2 MB in all, pictures aside."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GENERATED = (".json", ".jsonl", ".gz", ".xz", ".npz", ".safetensors", ".csv", ".html")
PAGES = ("docs/departures.md", "docs/reproduction/", "docs/policies.md", "docs/speed.md")


def generated() -> dict[str, int]:
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    tracked = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=True
    ).stdout.split("\0")
    names = [
        name for name in tracked if (name.endswith(GENERATED) or name.startswith(PAGES)) and "/studio/" not in name
    ]
    return {name: (ROOT / name).stat().st_size for name in names if (ROOT / name).is_file()}


MOST, OF_THE_BENCHMARK = 100_000, 200_000
"""Bytes of a file; of the benchmark's, which has a row for each graph, strategy and classifier."""


def test_no_generated_file_is_large() -> None:
    most = {"benchmarks/results/benchmark.json": OF_THE_BENCHMARK}
    assert {name: size for name, size in generated().items() if size > most.get(name, MOST)} == {}


def test_all_generated_files_together_are_small() -> None:
    sizes = generated()
    for kind in (*PAGES, ".json", ".safetensors"):
        assert any(name.startswith(kind) or name.endswith(kind) for name in sizes), f"nothing is counted for {kind}"
    assert sum(sizes.values()) < 2_000_000
