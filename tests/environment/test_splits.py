"""Each run's own test nodes, validation nodes and pool."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nodewise.environment import SplitSizes, draw_splits
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def labelled(nodes: int, unlabelled: tuple[int, ...] = (), device: str = "cpu") -> GraphTensors:
    y = np.arange(nodes) % 3
    y[list(unlabelled)] = -1
    return GraphTensors(Graph.build([[0], [1]], nodes, y=y, name="some"), device)


@pytest.mark.parametrize(
    ("nodes", "test", "validation"),
    [
        (34493, 1000, 500),
        (2708, 1000, 500),
        (2251, 1000, 500),
        (2250, 562, 562),
        (100, 25, 25),
        (86, 21, 21),
        (85, 21, 21),
        (84, 21, 21),
        (4, 1, 1),
    ],
)
def test_sizes_are_the_protocol_s(nodes: int, test: int, validation: int) -> None:
    assert SplitSizes.default(nodes) == SplitSizes(test, validation)


def test_every_labelled_node_is_in_exactly_one_part() -> None:
    hidden = (3, 50, 99)
    splits = draw_splits(labelled(100, hidden), 6, seed=0)
    assert splits.test.shape == splits.validation.shape == (6, 24)  # a quarter of 97
    assert splits.pool.shape == (6, 100) and splits.pool.dtype == torch.bool
    for run in range(6):
        parts = (splits.test[run], splits.validation[run], torch.nonzero(splits.pool[run])[:, 0])
        assert torch.cat(parts).sort().values.tolist() == [node for node in range(100) if node not in hidden]


def test_runs_and_seeds_differ() -> None:
    graph = labelled(100)
    splits = draw_splits(graph, 5, seed=0)
    assert len(splits.test.unique(dim=0)) == 5
    assert not torch.equal(draw_splits(graph, 5, seed=1).test, splits.test)


@pytest.mark.parametrize("device", DEVICES)
def test_a_run_has_its_split_however_runs_are_batched_and_wherever(device: str) -> None:
    whole = draw_splits(labelled(100), 10, seed=4)
    graph = labelled(100, device=device)
    for first, runs in ((0, 10), (0, 3), (3, 7), (9, 1)):
        part = draw_splits(graph, runs, seed=4, first_run=first)
        for name in ("test", "validation", "pool"):
            got = getattr(part, name)
            assert got.device.type == device
            assert torch.equal(got.cpu(), getattr(whole, name)[first : first + runs])


def test_every_node_is_as_likely_as_any_other() -> None:
    splits = draw_splits(labelled(40), 2000, seed=0)
    shares = torch.bincount(splits.test.ravel(), minlength=40) / 2000
    assert (shares - 0.25).abs().max() < 4.5 * (0.25 * 0.75 / 2000) ** 0.5


def test_other_sizes_can_be_asked_for() -> None:
    splits = draw_splits(labelled(100), 2, seed=0, sizes=SplitSizes(7, 11))
    assert splits.test.shape[1] == 7 and splits.validation.shape[1] == 11
    assert splits.pool.sum(1).tolist() == [82, 82]


def test_a_graph_without_labels_is_refused() -> None:
    for graph in (Graph.build([[0], [1]], 50, name="bare"), Graph.build([[0], [1]], 50, y=[-1] * 50, class_names=["a"], name="bare")):
        with pytest.raises(InputError, match="graph 'bare' has no labels"):
            draw_splits(GraphTensors(graph), 1, seed=0)


@pytest.mark.parametrize(("nodes", "sizes"), [(3, None), (10, SplitSizes(5, 5)), (10, SplitSizes(0, 2)), (10, SplitSizes(2, 0))])
def test_splits_that_leave_nothing_are_refused(nodes: int, sizes: SplitSizes | None) -> None:
    with pytest.raises(InputError, match=f"graph 'some' has {nodes} labelled nodes, too few for"):
        draw_splits(labelled(nodes), 1, seed=0, sizes=sizes)
