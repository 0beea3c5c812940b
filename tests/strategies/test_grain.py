from __future__ import annotations

import numpy as np
import pytest
import torch

from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError
from nodewise.strategies import Grain, grain, make_strategy
from nodewise.strategies.grain import GrainTables, _Preparation
from tests.small_graphs import block_graph
from tests.strategies.stages import next_choice, still_environment


def tables(
    diversity: str, features: list[list[float]], edges: list[tuple[int, int]], radius: float = 0.05
) -> GrainTables:
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    x = np.array(features, dtype=np.float32)
    graph = GraphTensors(Graph.build(ends, len(x), x=x, y=np.arange(len(x)) % 2))
    made: GrainTables = graph.unlabelled.prepared_by(_Preparation(diversity, radius))
    return made


def test_influenced_nodes_lie_within_two_steps_and_balls_around_them() -> None:
    # 0 - 1 - 2 - 3 and 4 alone; with equal features on the path, the distance of 4 is the largest
    made = tables("ball", [[0.0]] * 4 + [[1.0]], [(0, 1), (1, 2), (2, 3)], radius=0.01)
    expected = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 1, 1, 0], [0, 1, 1, 1, 0], [0, 0, 0, 0, 1.0]])
    assert torch.equal(made.reach, expected)
    assert torch.equal(made.cover, torch.tensor([[1.0, 1, 1, 1, 0]] * 4 + [[0, 0, 0, 0, 1.0]]))


def test_distances_are_shares_of_the_largest() -> None:
    made = tables("nn", [[0.0], [1.0], [4.0]], [])
    assert torch.allclose(made.cover, torch.tensor([[0.0, 0.25, 1.0], [0.25, 0.0, 0.75], [1.0, 0.75, 0.0]]), atol=1e-6)


def test_the_hub_first_then_what_it_does_not_reach() -> None:
    # a star around 0 with five leaves, a path 6 - 7 - 8, and 9 alone, far away
    edges = [(0, leaf) for leaf in range(1, 6)] + [(6, 7), (7, 8)]
    features = [[0.0, 0.0]] * 6 + [[1.0, 0.0]] * 3 + [[0.0, 9.0]]
    for name in ("grain-ball", "grain-nn"):
        environment = still_environment(features=features, edges=edges, budget=3, pool=[0, 1, 6, 7, 9])
        strategy = make_strategy(name)
        environment.begin(strategy)
        asked = [next_choice(environment, strategy)[0] for _ in range(3)]
        assert asked[0] in (0, 1)  # from a leaf all others lie within two steps as well
        assert sorted(node if node > 5 else 0 for node in asked) in ([0, 6, 9], [0, 7, 9])


@pytest.mark.parametrize("diversity", ["ball", "nn"])
def test_looking_at_the_best_alone_chooses_as_looking_at_all(diversity: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from nodewise.classifiers import Gcn
    from nodewise.environment import Environment, draw_splits, rollout

    asked = []
    for renewed in (1, 1000):
        monkeypatch.setattr(grain, "_RENEWED", renewed)
        graph = GraphTensors(block_graph())
        environment = Environment.of(graph, Gcn(hidden=4, closing_epochs=0), 3, 10)
        asked.append(rollout(environment, Grain(diversity), draw_splits(graph, 3, 0), 0))  # type: ignore[arg-type]
    assert torch.equal(*asked)


def test_the_greedy_choice_is_that_of_the_formula() -> None:
    made = tables("nn", [[float(n * n), float(n % 3)] for n in range(9)], [(0, 1), (1, 2), (3, 4), (5, 6), (6, 7)])
    strategy = Grain("nn", gamma=0.5)
    environment = still_environment(
        features=[[float(n * n), float(n % 3)] for n in range(9)],
        edges=[(0, 1), (1, 2), (3, 4), (5, 6), (6, 7)],
        budget=4,
    )
    environment.begin(strategy)
    chosen: list[int] = []

    def value(nodes: list[int]) -> float:
        covered = 1 - made.cover[nodes].amin(0).clamp_max(1)
        return float((made.reach[nodes].amax(0) + 0.5 * covered).sum())

    for _ in range(4):
        best = max(value([*chosen, node]) for node in range(9))
        chosen.append(next_choice(environment, strategy)[0])
        assert value(chosen) == pytest.approx(best, abs=1e-5)


def test_many_nodes_have_fewer_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grain, "_TABLE", 20)
    made = tables("nn", [[0.0]] * 4 + [[1.0]], [(0, 1), (1, 2), (2, 3)])
    assert made.candidates.tolist() == [0, 1, 2, 3]  # node 4 influences itself alone
    monkeypatch.setattr(grain, "_LOOKED_AT", 3)
    assert tables("ball", [[0.0]] * 4 + [[1.0]], [(0, 1), (1, 2), (2, 3)]).cover.shape == (5, 3)


def test_settings_that_mean_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="use ball or nn"):
        Grain("sphere")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="radius between 0 and 1"):
        Grain(radius=2)
