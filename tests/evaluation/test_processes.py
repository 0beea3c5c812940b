"""Tasks in several processes: the same numbers as in this one, and what is told where that cannot be."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import torch

import nodewise as nw
from nodewise.contracts import Observation, Strategy
from nodewise.evaluation.processes import ProcessEngine
from nodewise.ground.errors import ClusterError, InputError
from tests.small_graphs import block_graph


class Dying(Strategy):
    """A strategy that ends its process, as one does that has no memory left."""

    name = "dying"
    version = 1

    def scores(self, observation: Observation) -> torch.Tensor:
        os._exit(7)


def test_numbers_that_are_none_are_refused() -> None:
    for processes, seconds in ((-1, None), (1, 0.0), (1, float("nan"))):
        with pytest.raises(InputError, match="processes must be at least 0"):
            ProcessEngine(processes, seconds)
    assert ProcessEngine().processes >= 1 and not ProcessEngine(1, 60.0).over


def test_what_cannot_be_sent_is_refused_in_a_sentence() -> None:
    class Local(Strategy):
        name = "local"

        def scores(self, observation: Observation) -> torch.Tensor:
            return observation.noise

    with pytest.raises(InputError, match="'local' or the classifier 'views' cannot be sent to another process"):
        nw.compare("wine", [Local()], budgets=3, runs=2, engine=ProcessEngine(1))


@pytest.mark.slow
def test_scores_are_those_of_one_process_and_a_dead_process_is_told(tmp_path: Path) -> None:
    graph = block_graph(60)  # it lies in this process's memory
    here = nw.compare(graph, ["random", "age"], budgets=[4], runs=12, device="cpu")
    there = nw.compare(graph, ["random", "age"], budgets=[4], runs=12, device="cpu", engine=ProcessEngine(2))
    for name, outcome in here.settings[0].outcomes.items():
        other = there.settings[0].outcomes[name]
        np.testing.assert_array_equal(outcome.micro_f1, other.micro_f1)
        np.testing.assert_array_equal(outcome.queries, other.queries)
    with pytest.raises(ClusterError, match=r"runs 0 to 1 of 'dying' on .* died \(7\)"):
        nw.compare(graph, [Dying()], budgets=4, runs=2, device="cpu", store=tmp_path, engine=ProcessEngine(1))
