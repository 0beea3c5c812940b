from __future__ import annotations

from nodewise.strategies import GraphPart, make_strategy
from tests.strategies.stages import next_choice, still_environment

EDGES = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3), (6, 7), (7, 8), (6, 8), (8, 9), (9, 6), (7, 9)]
"""A part of two triangles that are joined, and one of four nodes, all joined."""

FEATURES = [[0.0, 0.0]] * 3 + [[1.0, 0.0]] * 3 + [[20.0, 0.0], [20.0, 0.0], [20.0, 0.0], [21.0, 0.0]]


def test_parts_get_as_many_queries_each() -> None:
    for seed in range(5):
        environment, strategy = still_environment(features=FEATURES, edges=EDGES, budget=4, seed=seed), GraphPart()
        environment.begin(strategy)
        asked = [next_choice(environment, strategy)[0] for _ in range(4)]
        assert [node >= 6 for node in asked] == [False, True, False, True]  # in turns, the larger part first


def test_where_the_pool_has_too_few_of_a_part_others_come_in_their_place() -> None:
    environment = still_environment(features=FEATURES, edges=EDGES, budget=4, pool=[0, 1, 2, 3, 4, 7])
    strategy = GraphPart()
    environment.begin(strategy)
    asked = [next_choice(environment, strategy)[0] for _ in range(4)]
    assert 7 in asked and len(set(asked)) == 4


def test_the_far_form_keeps_away_from_what_was_asked_in_other_parts() -> None:
    # nodes 0 to 4 lie at zero, joined in a ring; 5 and 6 are a part of two, both one away from its middle
    edges, features = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)], [[0.0]] * 5 + [[9.0], [11.0]]
    asked: dict[bool, set[int]] = {False: set(), True: set()}
    for seed in range(20):
        for far, nodes in asked.items():
            environment, strategy = still_environment(features=features, edges=edges, seed=seed), GraphPart(far)
            environment.begin(strategy)
            nodes |= {node for node in (next_choice(environment, strategy)[0] for _ in range(3)) if node > 4}
    assert asked == {False: {5, 6}, True: {6}}


def test_the_far_form_has_a_name() -> None:
    assert make_strategy("graphpart-far").identity() == {"far": True}
    assert make_strategy("graphpart").name == "graphpart"
