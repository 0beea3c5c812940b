"""Several processes need the views of one graph: one makes them, counted by what each is told, and the others read what
it kept.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workers import Workers, ended

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


class ViewMakers(Workers):
    """Processes with a cache of their own in the folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            folder, WORKER, {"OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(folder / "cache"), "HOME": str(folder)}
        )

    def told(self, name: str) -> list[str]:
        path = self.folder / f"{name} was told"
        return path.read_text().splitlines() if path.exists() else []

    def until_told(self, name: str, word: str) -> None:
        self.until(name, lambda: any(word in line for line in self.told(name)))
        assert any(word in line for line in self.told(name))

    def kept(self) -> list[str]:
        return [path.suffix for path in self.folder.rglob("nodewise/views/*")]


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[ViewMakers]:
    made = ViewMakers(tmp_path)
    with ended(made):
        yield made


def test_views_are_made_once_and_read_by_who_waited(workers: ViewMakers) -> None:
    maker = workers.start("maker")
    workers.until_told("maker", "a view is made")
    waiter = workers.start("waiter")
    workers.until_told("waiter", f"process {maker.pid} is making the views of 2,500 nodes")
    (workers.folder / "maker may go on").touch()
    assert maker.wait() == waiter.wait() == 0
    assert len(workers.told("waiter")) == 1 and workers.told("maker").count("a view is made") > 1
    assert (workers.folder / "maker has").read_text() == (workers.folder / "waiter has").read_text()
    assert workers.kept() == [".safetensors"]


def test_a_maker_that_is_killed_costs_its_work_alone(workers: ViewMakers) -> None:
    maker = workers.start("maker")
    workers.until_told("maker", "a view is made")
    waiter = workers.start("waiter")
    workers.until_told("waiter", "waiting")
    maker.kill()
    workers.until_told("waiter", "a view is made")
    (workers.folder / "waiter may go on").touch()
    assert waiter.wait() == 0 and workers.told("waiter").count("a view is made") > 1
    assert workers.kept() == [".safetensors"]
