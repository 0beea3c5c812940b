"""Random choice that takes its time and leaves marks, so that a test sees which process is at work on a chunk."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import torch

from nodewise.contracts import Observation, Strategy


@dataclass
class Marking(Strategy):
    """Random choice: writes PID-MACHINE-NUMBER.begun before an episode's first choice, and .ended at its last one."""

    folder: str
    pause: float = 0.0

    name = "marking"
    version = "1"
    recordable = False
    reads_budget = True
    stateless = False

    def identity(self) -> dict[str, object]:
        return {}

    def begin(self, observation: Observation) -> None:
        self.mark = f"{os.getpid()}-{os.environ.get('MACHINE', 'none')}-{uuid4().hex}"
        (Path(self.folder) / f"{self.mark}.begun").touch()

    def scores(self, observation: Observation) -> torch.Tensor:
        time.sleep(self.pause)
        if observation.step_number == observation.budget - 1:
            (Path(self.folder) / f"{self.mark}.ended").touch()
        return observation.noise


def running(folder: Path) -> list[tuple[int, str, str]]:
    """Process, machine and mark of every episode that has begun and not ended."""
    ended = {path.stem for path in folder.glob("*.ended")}
    marks = [path.stem for path in sorted(folder.glob("*.begun")) if path.stem not in ended]
    return [(int(mark.split("-")[0]), mark.split("-")[1], mark) for mark in marks]
