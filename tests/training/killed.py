"""Trains once undisturbed and once killed over and over again: run in a process of its own, since it forks."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

from nodewise.classifiers import Gcn
from nodewise.training import checkpoint, train_policy
from tests.small_graphs import random_graph


def train(folder: Path) -> None:
    """A training of about a second that saves after every episode."""
    checkpoint._SECONDS = 0.0
    graphs = [random_graph("sparse"), random_graph("offset", seed=1)]
    train_policy(
        graphs,
        out=folder / "p.safetensors",
        resume=True,
        budgets=(3, 2),
        episodes=120,
        batch=2,
        classifier=Gcn(closing_epochs=2),
        device="cpu",
        seed=7,
    )


def in_a_child(folder: Path) -> int:
    """Starts the training in a process of its own."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            train(folder)
            code = 0
        finally:
            os._exit(code)
    return child


def main(folder: str, kills: int) -> None:
    """Writes how often it was killed and how often it was started; both trainings' files are left in the folder."""
    whole, killed = Path(folder, "whole"), Path(folder, "killed")
    whole.mkdir()
    killed.mkdir()
    if os.waitpid(in_a_child(whole), 0)[1]:
        sys.exit("the undisturbed training failed")
    chance = random.Random(0)
    done = starts = 0
    while True:
        child = in_a_child(killed)
        starts += 1
        if done < kills:
            time.sleep(chance.uniform(0.01, 0.3))
            os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        if os.WIFSIGNALED(status):
            done += 1
        elif status:
            sys.exit("a resumed training failed")
        else:
            break
    sys.stdout.write(f"{done} {starts}\n")
