"""Diverse batches by hand."""

from __future__ import annotations

import numpy as np

from nodewise.session.asking.selection import diverse_batch


def pick(
    scores: list[float], count: int, edges: dict[int, list[int]], predicted: list[int], **more: object
) -> list[int]:
    allowed = np.array(more.pop("allowed", [True] * len(scores)))
    return diverse_batch(
        np.array(scores),
        allowed,
        count,
        lambda node: np.array(edges.get(node, []), dtype=np.int64),
        np.array(predicted),
        **more,  # type: ignore[arg-type]
    )


def test_neighbours_are_passed_over_while_others_are_left() -> None:
    edges = {0: [1], 1: [0]}
    assert pick([9, 8, 7, 6], 2, edges, [0, 0, 0, 0]) == [0, 2]
    assert pick([9, 8, 7, 6], 4, edges, [0, 0, 0, 0]) == [0, 2, 3, 1]


def test_every_predicted_class_has_its_share() -> None:
    assert pick([9, 8, 7, 6, 5, 4], 2, {}, [0, 0, 0, 1, 1, 1]) == [0, 3]
    assert pick([9, 8, 7, 6, 5, 4], 3, {}, [0, 0, 0, 1, 1, 1]) == [0, 1, 3]


def test_a_single_query_is_the_best_allowed_one_away_from_what_is_out() -> None:
    assert pick([9, 8, 7], 1, {}, [0, 0, 1]) == [0]
    assert pick([9, 8, 7], 1, {}, [0, 0, 1], allowed=[False, True, True]) == [1]
    assert pick([9, 8, 7], 1, {0: [1]}, [0, 0, 1], allowed=[False, True, True], taken=[0]) == [2]


def test_what_may_not_be_asked_is_never_picked() -> None:
    assert pick([9, 8, 7], 5, {}, [0, 0, 0], allowed=[False, True, False]) == [1]
    assert pick([9, 8], 2, {}, [0, 0], allowed=[False, False]) == []
    assert pick([5, 5, 5], 2, {}, [0, 0, 0]) == [0, 1]  # equal ones in the order of the nodes
