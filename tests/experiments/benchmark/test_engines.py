"""The benchmark's command on every engine: the same chunks to the bit, also where it was killed at work on the way."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-m", "nodewise", "benchmark", "--graphs", "wine,karate", "--strategies", "random,gain"]
COMMAND += ["--classifiers", "views,gcn", "--labels", "1,2", "--runs", "60", "--device", "cpu", "--out"]
PATHS = os.pathsep.join([str(ROOT), str(ROOT / "src")])
CHUNKS = 2 * 2 * 2 * 2 * 6  # graphs, strategies, classifiers, budgets; ten runs each


def begin(out: Path, *more: str) -> subprocess.Popen[str]:
    surroundings = {**os.environ, "PYTHONPATH": PATHS, "OMP_NUM_THREADS": "1", "RAY_USAGE_STATS_ENABLED": "0"}
    silent: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([*COMMAND, str(out), *more], cwd=out.parent, env=surroundings, text=True, **silent)


def chunks(out: Path) -> dict[str, Path]:
    return {str(path.relative_to(out)): path for path in (out / "chunks").rglob("*.json")}


def numbers(out: Path) -> dict[str, dict[str, Any]]:
    """What every chunk holds, but for the time that it took."""
    held = {name: json.loads(path.read_text()) for name, path in chunks(out).items()}
    return {name: {key: one[key] for key in one.keys() - {"seconds", "digest"}} for name, one in held.items()}


def rows(out: Path) -> list[list[Any]]:
    """The rows of the result, but for the time."""
    record = json.loads((out / "benchmark.json").read_text())
    place = record["columns"].index("seconds")
    return [row[:place] + row[place + 1 :] for row in record["rows"]]


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("local") / "out"
    assert begin(out).wait() == 0 and len(chunks(out)) == CHUNKS
    return out


@pytest.mark.long
@pytest.mark.parametrize("engine", ["local", "processes", "ray"])
def test_a_benchmark_that_is_killed_goes_on_and_is_the_local_one_to_the_bit(
    engine: str, local: Path, tmp_path: Path
) -> None:
    if engine == "ray" and importlib.util.find_spec("ray") is None:
        pytest.skip("the extra cluster is not installed")
    out = tmp_path / "out"
    command = (out, "--engine", engine, *(("--processes", "2") if engine == "processes" else ()))
    killed = begin(*command)
    while killed.poll() is None and len(chunks(out)) < 4:
        time.sleep(0.002)
    killed.kill()
    assert killed.wait() == -9, "it had not ended by itself"
    time.sleep(2)  # whoever computed for it may write no more, and ends
    kept = {name: path.stat().st_mtime_ns for name, path in chunks(out).items()}
    assert 4 <= len(kept) < CHUNKS and not (out / "benchmark.json").exists()

    assert begin(*command).wait() == 0
    after = {name: path.stat().st_mtime_ns for name, path in chunks(out).items()}
    assert {name: after[name] for name in kept} == kept, "what was finished is not played again"
    assert numbers(out) == numbers(local) and rows(out) == rows(local)
