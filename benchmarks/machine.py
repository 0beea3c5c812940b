"""What a result was measured on, and the record that a measurement closes with."""

from __future__ import annotations

import os
import platform
import subprocess
import time
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
    """The commit of the code that was measured: from git, or from NODEWISE_COMMIT where there is no git."""
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
        return os.environ.get("NODEWISE_COMMIT")


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
    write_json(path, record)
