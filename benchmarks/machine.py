"""What a result was measured on, and the record that a measurement closes with.

python benchmarks/machine.py    which result files name a commit that this history does not hold
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch


def describe_machine(device: str = "cpu") -> dict[str, Any]:
    """Kind of machine, versions and commit; no names of hosts or people."""
    try:
        cpu = next(
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        )
    except (OSError, StopIteration):
        cpu = platform.processor()
    facts: dict[str, Any] = {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
    }
    if device.startswith("cuda"):
        facts["gpu"] = torch.cuda.get_device_name()
    return {**facts, "commit": commit()}


def commit() -> str | None:
    """The commit of the code that was measured: from NODEWISE_COMMIT, which a copy without its git needs, or git."""
    if os.environ.get("NODEWISE_COMMIT"):
        return os.environ["NODEWISE_COMMIT"]
    try:
        done = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],
            capture_output=True,
            text=True,
            cwd=Path(__file__).parent,
            check=True,
        )
        return done.stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def write_record(path: Path, benchmark: str, begin: float, row: dict[str, Any]) -> None:
    """Write what was measured, on which machine, in which time since `begin`, and how busy it was."""
    from nodewise.evaluation import write_json  # here, since the machine is told of older checkouts as well

    busy = [round(value, 1) for value in os.getloadavg()]
    seconds = round(time.time() - begin, 1)
    record = {
        "schema": 1,
        "benchmark": benchmark,
        "machine": describe_machine(),
        "seed": 0,
        "seconds": seconds,
        "load": busy,
        "rows": [row],
    }
    write_json(path, record, compact=True)


BEFORE_KIN = frozenset({"21d4851", "220925f", "3f0eaa3", "ad9e12f"})
"""Commits of results that say how long views take, or a question with them, from before there were kin views."""

BEFORE_TOGETHER = frozenset({"3478e18e", "76c7515d"})
"""The same from before all views of the features were looked at together."""


def views_since(commit: str) -> str:
    """What a page must say of times with views at a commit, where there are more of them today; else nothing."""
    if commit in BEFORE_KIN:
        missing = "were no views `kin`, `kin near` and `kin together` yet, and with them"
    elif commit in BEFORE_TOGETHER:
        missing = "was no view `kin together` yet, and with it"
    else:
        return ""
    return f"At commit {commit} there {missing} it was not measured again."


def named_commits(record: Any) -> Iterator[str]:
    """Every commit that a result file names, at whatever depth."""
    if isinstance(record, dict):
        for key, value in record.items():
            if key == "commit" and isinstance(value, str):
                yield value
            else:
                yield from named_commits(value)
    elif isinstance(record, list):
        for value in record:
            yield from named_commits(value)


def lost_commits(folder: Path, repository: Path) -> dict[str, list[str]]:
    """Result file -> the commits that it names and that are no ancestors of what is checked out.

    Such a file was measured on a branch that was rebased before it was merged: nobody can check out its code again.
    """

    def is_held(name: str) -> bool:
        asked = ["git", "merge-base", "--is-ancestor", name, "HEAD"]
        return subprocess.run(asked, cwd=repository, capture_output=True, check=False).returncode == 0

    lost = {}
    for path in sorted(folder.rglob("*.json")):
        named = sorted(set(named_commits(json.loads(path.read_text(encoding="utf-8")))))
        if strange := [name for name in named if not is_held(name)]:
            lost[path.relative_to(folder).as_posix()] = strange
    return lost


if __name__ == "__main__":
    here = Path(__file__).parent
    for name, commits in lost_commits(here / "results", here).items():
        print(f"{name}: {', '.join(commits)}")
