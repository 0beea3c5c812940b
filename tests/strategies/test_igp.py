from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from nodewise.ground.errors import InputError
from nodewise.strategies import Igp
from nodewise.strategies.igp import expected_gain
from nodewise.strategies.influence import influence_blocks
from nodewise.testing import check_strategy
from tests.strategies.stages import still_environment


def entropy(shares: np.ndarray) -> float:
    return float(-sum(share * math.log2(share) for share in shares.ravel() if share > 0))


def test_a_node_of_which_nothing_is_known_by_hand() -> None:
    # of two classes, with influence 1/2: (1/2, 1/2) becomes (3/4, 1/4) or (1/4, 3/4), whatever the chances
    gain = expected_gain(torch.tensor([[0.5, 0.5]]), torch.tensor([0.5]), torch.tensor([[0.9, 0.1]]))
    assert gain.item() == pytest.approx(1 - entropy(np.array([0.75, 0.25])))


def test_an_answer_that_agrees_tells_more() -> None:
    # (0.7, 0.3) with influence 0.4: the answers make (0.9, 0.1) and (0.5, 0.5)
    spread, influence = torch.tensor([[0.7, 0.3]] * 2), torch.tensor([0.4, 0.4])
    gain = expected_gain(spread, influence, torch.tensor([[1.0, 0.0], [0.25, 0.75]]))
    before, agrees, differs = (entropy(np.array(shares)) for shares in ([0.7, 0.3], [0.9, 0.1], [0.5, 0.5]))
    assert gain.tolist() == pytest.approx([before - agrees, before - 0.25 * agrees - 0.75 * differs], abs=1e-6)


def test_scores_are_those_of_trying_every_answer() -> None:
    rng = np.random.default_rng(0)
    edges = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5)]
    logits = rng.normal(size=(1, 6, 3))
    environment = still_environment(logits=logits.tolist(), edges=edges, labels=[0, 1, 2, 0, 1, 2], budget=3)
    for node in (3, 0):
        environment.query(torch.tensor([node]))
    scores = Igp(drawn=0).scores(environment.observe())[0].masked_fill(~environment.pool[0], -torch.inf)
    walk = np.vstack([rows.toarray() for _, rows in influence_blocks(environment.graph)])
    labels = np.full((6, 3), 1 / 3)
    labels[3], labels[0] = np.eye(3)[0], np.eye(3)[0]
    chances = torch.softmax(torch.tensor(logits[0]), -1).numpy()
    gains: dict[int, float] = {}
    for node in (1, 2, 4, 5):
        gain = 0.0
        for answer in range(3):
            answered = labels.copy()
            answered[node] = np.eye(3)[answer]
            gain += chances[node, answer] * (entropy(walk @ labels) - entropy(walk @ answered))
        if scores[node] < scores.max():  # noise is added to the best
            assert scores[node].item() == pytest.approx(gain, abs=1e-5)
        gains[node] = gain
    assert max(gains, key=gains.__getitem__) == int(scores.argmax())


def test_candidates_are_the_nodes_with_most_neighbours() -> None:
    environment = still_environment(features=[[1.0]] * 6, edges=[(0, 1), (0, 2), (0, 3), (1, 2)], pool=[1, 2, 3, 4, 5])
    scores = Igp(candidates=2, drawn=0).scores(environment.observe())[0]
    assert torch.isfinite(scores).nonzero()[:, 0].tolist() == [1, 2]


def test_it_keeps_the_contract_from_the_first_query_on() -> None:
    check_strategy(Igp(drawn=0))


def test_the_first_queries_are_drawn() -> None:
    environment = still_environment(features=[[1.0]] * 6, edges=[(0, 1), (0, 2)])
    assert torch.equal(Igp().scores(environment.observe()), environment.observe().noise)


def test_settings_that_mean_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="one candidate at least"):
        Igp(candidates=0)
