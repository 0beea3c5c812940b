"""Several processes need the views of one graph: one makes them, counted by what each is told, and the others read what it kept."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

# Writes down every event; the one that makes views stops at the first of them until it may go on.
WORKER = """
import sys, time
from pathlib import Path
from nodewise.classifiers.views.views import cached_views
from nodewise.datasets import synthetic_graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.events import Note, Progress

folder, name = Path(sys.argv[1]), sys.argv[2]

def told(event):
    with (folder / f"{name} was told").open("a") as file:
        file.write(f"{event.message if isinstance(event, Note) else 'a view is made'}\\n")
    while isinstance(event, Progress) and not (folder / f"{name} may go on").exists():
        time.sleep(0.01)

views = cached_views(GraphTensors(synthetic_graph(nodes=2500, mean_degree=6, features=8, classes=3)), told)
(folder / f"{name} has").write_text(str(float(views.columns.double().sum())))
"""

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")]


class Workers:
    """Processes with a cache of their own in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.running = folder, dict[str, subprocess.Popen[bytes]]()

    def start(self, name: str) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3] / "src"), "OMP_NUM_THREADS": "1"}
        environment |= {"XDG_CACHE_HOME": str(self.folder / "cache"), "HOME": str(self.folder)}
        self.running[name] = subprocess.Popen([sys.executable, "-c", WORKER, str(self.folder), name], env=environment)
        return self.running[name]

    def told(self, name: str) -> list[str]:
        path = self.folder / f"{name} was told"
        return path.read_text().splitlines() if path.exists() else []

    def until_told(self, name: str, word: str) -> None:
        """Waits for an event; pytest's own limit ends a wait for what never comes."""
        _until(lambda: any(word in line for line in self.told(name)) or self.running[name].poll() is not None)
        assert any(word in line for line in self.told(name))

    def kept(self) -> list[str]:
        return [path.suffix for path in self.folder.rglob("nodewise/views/*")]


def _until(there: Callable[[], bool]) -> None:
    while not there():
        time.sleep(0.01)


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Workers]:
    """Ends what a failed test has left."""
    made = Workers(tmp_path)
    yield made
    for process in made.running.values():
        process.kill()
        process.wait()


def test_views_are_made_once_and_read_by_who_waited(workers: Workers) -> None:
    maker = workers.start("maker")
    workers.until_told("maker", "a view is made")
    waiter = workers.start("waiter")
    workers.until_told("waiter", f"process {maker.pid} is making the views of 2,500 nodes")
    (workers.folder / "maker may go on").touch()
    assert maker.wait() == waiter.wait() == 0
    assert len(workers.told("waiter")) == 1 and workers.told("maker").count("a view is made") > 1
    assert (workers.folder / "maker has").read_text() == (workers.folder / "waiter has").read_text()
    assert workers.kept() == [".npz"]


def test_a_maker_that_is_killed_costs_its_work_alone(workers: Workers) -> None:
    maker = workers.start("maker")
    workers.until_told("maker", "a view is made")
    waiter = workers.start("waiter")
    workers.until_told("waiter", "waiting")
    maker.kill()
    workers.until_told("waiter", "a view is made")
    (workers.folder / "waiter may go on").touch()
    assert waiter.wait() == 0 and workers.told("waiter").count("a view is made") > 1
    assert workers.kept() == [".npz"]
