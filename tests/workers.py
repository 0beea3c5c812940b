"""Processes that a test starts by names, and that tell what they do by files in a folder."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"


def until(there: Callable[[], bool]) -> None:
    """Waits for what must come; pytest's own limit ends a wait for what never does."""
    while not there():
        time.sleep(0.01)


class Workers:
    """Processes of one piece of code, which is given the folder and its name as arguments, and the folder."""

    def __init__(self, folder: Path, code: str, environment: Mapping[str, str] | None = None) -> None:
        self.folder, self.running = folder, dict[str, subprocess.Popen[bytes]]()
        self._code, self._environment = code, {**os.environ, "PYTHONPATH": str(SOURCE), **(environment or {})}

    def start(self, name: str, *arguments: str) -> subprocess.Popen[bytes]:
        """What it writes to standard error is in ``NAME said``."""
        command = [sys.executable, "-c", self._code, str(self.folder), name, *arguments]
        with (self.folder / f"{name} said").open("w") as said:
            self.running[name] = subprocess.Popen(command, env=self._environment, stderr=said)
        return self.running[name]

    def until(self, name: str, there: Callable[[], bool]) -> None:
        """Waits for what a process does; one that has ended is not waited for."""
        until(lambda: there() or self.running[name].poll() is not None)


@contextmanager
def ended(workers: Workers) -> Iterator[None]:
    """Ends what a failed test has left."""
    try:
        yield
    finally:
        for process in workers.running.values():
            process.kill()
            process.wait()
