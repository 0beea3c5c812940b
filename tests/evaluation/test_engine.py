"""Where tasks are played, and what an engine keeps from one to the next."""

from __future__ import annotations

import numpy as np

from nodewise.evaluation.engine import LocalEngine
from nodewise.strategies import make_strategy
from tests.evaluation.test_task import RUNS, played, small, task


def test_an_engine_gives_the_same_however_often_and_in_whatever_order_it_plays() -> None:
    graph = small()
    engine = LocalEngine()
    tasks = [
        task(graph, make_strategy(name), 4, first=first) for name in ("random", "age", "coreset") for first in (0, RUNS)
    ]
    engine.prepare(graph, tasks[0].graph, "cpu")
    alone = [played(graph, one)[4] for one in tasks]
    for order in (range(6), reversed(range(6))):
        for number in order:
            chunk = engine.play_one(tasks[number])[4]
            assert np.array_equal(chunk.micro_f1, alone[number].micro_f1) and np.array_equal(
                chunk.queries, alone[number].queries
            )
