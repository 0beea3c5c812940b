"""Sequences of queries, by hand."""

from __future__ import annotations

import numpy as np

from nodewise.experiments.gpa.case_study import consecutive_share, usual_sequence


def test_the_node_chosen_most_often_that_is_not_taken_yet() -> None:
    queries = np.array([[3, 1, 0], [3, 3, 2], [1, 3, 2], [3, 3, 4]])
    # step 1: node 3 in three runs; step 2: node 3 again in most, but it is taken, so node 1; step 3: node 2 in two
    assert usual_sequence(queries, 5) == [3, 1, 2]


def test_equals_give_the_smaller_node() -> None:
    assert usual_sequence(np.array([[4, 2], [2, 4]]), 5) == [2, 4]


def test_share_of_consecutive_queries_of_one_class() -> None:
    assert consecutive_share(np.array([0, 0, 1, 1, 1])) == 3 / 4
    assert consecutive_share(np.array([[0, 1, 0], [2, 2, 2]])) == 2 / 4
    assert consecutive_share(np.array([[1], [2]])) == 0.0
