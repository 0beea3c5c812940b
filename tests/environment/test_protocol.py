"""Rounds, labels at the start, training from scratch and wrong answers."""

from __future__ import annotations

import numpy as np
import pytest

import nodewise as nw
from nodewise.environment import EvaluationProtocol
from nodewise.environment.protocol import noisy_answers, starting_nodes
from nodewise.ground.errors import InputError

LABELS = np.repeat([0, 1, 2], 200)


def test_the_start_has_so_many_labels_of_each_class_from_the_pool_and_follows_from_the_run() -> None:
    pool = np.tile(np.arange(600) % 2 == 0, (3, 1))
    nodes = starting_nodes(LABELS, pool, 2, seed=5, runs=[4, 5, 6])
    assert nodes.shape == (3, 6) and not (nodes % 2).any()
    assert [np.bincount(LABELS[row]).tolist() for row in nodes] == [[2, 2, 2]] * 3
    assert nodes[1].tolist() == starting_nodes(LABELS, pool[:1], 2, seed=5, runs=[5])[0].tolist()
    pool[:, :200] = False
    assert len(set(starting_nodes(LABELS, pool, 2, 5, [4, 5, 6])[0].tolist())) == 6, "others stand in"


def test_answers_are_wrong_as_often_as_the_noise_says() -> None:
    said = noisy_answers(LABELS, 3, 0.3, seed=1, runs=[0, 1])
    assert abs((said != LABELS).mean() - 0.3) < 0.05 and (said[0] != said[1]).any()
    wrong = said[0][(said[0] != LABELS) & (LABELS == 0)]
    assert set(wrong.tolist()) == {1, 2}
    by_node = noisy_answers(LABELS, 3, tuple((np.arange(600) >= 300) * 1.0), 1, [0])[0]
    assert (by_node[:300] == LABELS[:300]).all() and (by_node[300:] != LABELS[300:]).all()
    table = ((1.0, 0.0, 0.0), (0.5, 0.5, 0.0), (0.0, 0.0, 1.0))
    by_class = noisy_answers(LABELS, 3, table, 1, [0])[0]
    assert (by_class[:200] == 0).all() and (by_class[400:] == 2).all()
    assert set(by_class[200:400].tolist()) == {0, 1} and abs((by_class[200:400] == 0).mean() - 0.5) < 0.15
    assert (noisy_answers(np.full(4, -1), 3, 0.9, 1, [0]) == -1).all()
    with pytest.raises(InputError, match="noise is given for 2 nodes, the graph has 600"):
        noisy_answers(LABELS, 3, (0.1, 0.2), 1, [0])


@pytest.mark.parametrize("strategy", ["uncertainty", "gain", "featprop"])
@pytest.mark.parametrize("classifier", ["views", "gcn"])
def test_rounds_end_with_the_budget_and_begin_with_the_same_labels(strategy: str, classifier: str) -> None:
    protocol = EvaluationProtocol(round_size=3, start=1, retrain=True)
    result, other = (
        nw.evaluate("wine", one, classifier=classifier, budget=8, runs=2, protocol=protocol, device="cpu")
        for one in (strategy, "random")
    )
    assert result.queries.shape == (2, 8) and all(len(set(row)) == 8 for row in result.queries.tolist())
    assert result.queries[:, :3].tolist() == other.queries[:, :3].tolist()


def test_a_round_is_chosen_before_its_labels_are_seen() -> None:
    def asked(size: int) -> list[int]:
        protocol = EvaluationProtocol(round_size=size)
        return nw.evaluate("wine", "uncertainty", budget=6, runs=1, protocol=protocol).queries[0].tolist()  # type: ignore[no-any-return]

    usual = nw.evaluate("wine", "uncertainty", budget=6, runs=1)
    assert asked(1) == usual.queries[0].tolist()
    assert asked(3)[:1] == asked(1)[:1] and asked(3) != asked(1)


def test_wrong_answers_make_scores_worse_and_test_labels_stay_right() -> None:
    clean, noisy = (
        nw.evaluate("wine", "random", budget=12, runs=4, protocol=EvaluationProtocol(noise=rate)) for rate in (0.0, 0.9)
    )
    assert clean.queries.tolist() == noisy.queries.tolist()
    assert clean.micro.mean > 80 and noisy.micro.mean < 40


def test_what_makes_no_sense_is_refused() -> None:
    for wrong, message in (
        ({"round_size": 0}, "at least one query"),
        ({"noise": 1.5}, "between 0 and 1"),
        ({"noise": "much"}, "noise must be numbers, received 'much'"),
        ({"noise": [[1.0], [0.0, 1.0]]}, "noise must be numbers"),
        ({"round_size": 2.5}, r"round_size must be a whole number, received 2\.5"),
        ({"start": "1"}, "start must be a whole number, received '1'"),
        ({"scores": 3}, "scores must be names or functions, received 3"),
        ({"noise": [[0.5, 0.6], [0.0, 1.0]]}, "each row adds up to 1"),
    ):
        with pytest.raises(InputError, match=message):
            EvaluationProtocol(**wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="6 labels at the start leave nothing of a budget of 6"):
        nw.evaluate("wine", "random", budget=6, runs=1, protocol=EvaluationProtocol(start=2))
