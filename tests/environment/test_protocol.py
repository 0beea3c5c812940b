"""Rounds, labels at the start, training from scratch, wrong answers and costs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import nodewise as nw
from nodewise.environment import EvaluationProtocol
from nodewise.environment.protocol import most_queries, noisy_answers, starting_nodes
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
        ({"cost": "dear"}, "costs must be numbers, received 'dear'"),
        ({"cost": [1.0, 0.0]}, "one number above 0 for each node"),
    ):
        with pytest.raises(InputError, match=message):
            EvaluationProtocol(**wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="6 labels at the start leave nothing of a budget of 6"):
        nw.evaluate("wine", "random", budget=6, runs=1, protocol=EvaluationProtocol(start=2))


COSTS = 1.0 + np.arange(178) % 4  # wine's nodes cost 1, 2, 3 or 4


@pytest.mark.parametrize("strategy", ["random", "gain", "featprop"])
@pytest.mark.parametrize("round_size", [1, 4])
def test_a_run_ends_when_the_budget_in_costs_pays_for_no_further_node(strategy: str, round_size: int) -> None:
    protocol = EvaluationProtocol(round_size=round_size, cost=COSTS)
    result = nw.evaluate("wine", strategy, budget=17, runs=3, protocol=protocol, device="cpu")
    spent = result.costs(COSTS)
    assert spent.tolist() == [17.0] * 3, "some node costs 1, so that nothing is left over"
    numbers = [int((row >= 0).sum()) for row in result.queries]
    assert all(5 <= number <= 17 for number in numbers) and result.queries.shape == (3, max(numbers))
    assert all(len(set(row[:n])) == n and (row[n:] == -1).all() for row, n in zip(result.queries, numbers, strict=True))
    assert "a cost of 17" in repr(result)


def test_equal_costs_are_a_budget_of_labels() -> None:
    plain = nw.evaluate("wine", "centrality", budget=6, runs=2, protocol=EvaluationProtocol(round_size=2))
    protocol = EvaluationProtocol(round_size=2, cost=np.full(178, 2.0))
    paid = nw.evaluate("wine", "centrality", budget=13, runs=2, protocol=protocol)
    assert [sorted(row) for row in paid.queries.tolist()] == [sorted(row) for row in plain.queries.tolist()]
    assert paid.micro_f1 == pytest.approx(plain.micro_f1)


@pytest.mark.parametrize(("cost", "budget", "asked"), [(0.7, 7, 10), (0.1, 1, 10), (1.4, 14, 10)])
def test_what_a_budget_pays_for_does_not_hang_on_the_rounding_of_costs(cost: float, budget: int, asked: int) -> None:
    protocol = EvaluationProtocol(cost=np.full(178, cost))
    result = nw.evaluate("wine", "random", budget=budget, runs=1, protocol=protocol, device="cpu")
    assert result.queries.shape == (1, asked)


def test_costs_are_kept_scored_exported_and_told(tmp_path: Path) -> None:
    protocol = EvaluationProtocol(start=1, cost=COSTS, scores=("log_loss",))

    def compare() -> nw.evaluation.Comparison:
        return nw.compare("wine", ["random", "gain"], budgets=17, runs=3, protocol=protocol, store=tmp_path / "kept")

    first, again = compare(), compare()
    assert [one.micro_f1.tolist() for one in again.settings[0].outcomes.values()] == [
        one.micro_f1.tolist() for one in first.settings[0].outcomes.values()
    ]
    record = json.loads(first.export(tmp_path / "all.json").read_text())["settings"][0]
    asked = record["methods"]["gain"]["queries"]
    assert all(COSTS[row].sum() <= 17 and min(row) >= 0 for row in asked) and "cost" in record["protocol"]
    told = first.to_markdown()
    assert "a cost of 17; views on raw features; 1 label a class at the start, the budget counts what" in told


def test_costs_that_cannot_be_paid_or_fit_no_graph_are_refused() -> None:
    assert most_queries(np.array([3.0, 1.0, 2.0]), 3) == 2 and most_queries(np.array([3.0]), 2.9) == 0
    for costs, start, budget, message in (
        (COSTS[:5], 0, 9, "costs are given for 5 nodes, the graph has 178"),
        (COSTS * 100, 0, 9, "a budget of 9 pays for no node of the pool, whose cheapest costs 100"),
        (np.full(178, 3.0), 1, 9, "labels at the start that cost 9 leave nothing of a budget of 9"),
        (COSTS, 0, None, "a budget in costs must be said"),
    ):
        with pytest.raises(InputError, match=message):
            nw.evaluate("wine", "random", budget=budget, runs=1, protocol=EvaluationProtocol(start=start, cost=costs))
