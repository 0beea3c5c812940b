from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodewise.datasets.reddit.edges import shared_user_edges
from nodewise.ground.errors import InputError

pairs = st.sets(st.tuples(st.integers(0, 9), st.integers(0, 7)), max_size=60)


def arrays(members: set[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    table = np.array(sorted(members), dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def by_hand(members: set[tuple[int, int]], shared: int) -> list[list[int]]:
    users = {post: {user for other, user in members if other == post} for post in range(10)}
    return [
        [one, other] for one, other in itertools.combinations(range(10), 2) if len(users[one] & users[other]) >= shared
    ]


@settings(max_examples=500)
@given(
    members=pairs, shared=st.integers(1, 4), busy=st.sampled_from([1, 2, 3, 1000]), block=st.sampled_from([1, 5, 10**6])
)
def test_joins_exactly_the_posts_that_share_enough_users(
    members: set[tuple[int, int]], shared: int, busy: int, block: int
) -> None:
    assert shared_user_edges(*arrays(members), 10, shared, busy=busy, block=block).T.tolist() == by_hand(
        members, shared
    )


@pytest.mark.parametrize("busy", [1, 2, 1000])
def test_the_limit_counts_each_edge_once(busy: int) -> None:
    members = set(itertools.product(range(6), range(3)))  # 15 edges
    assert shared_user_edges(*arrays(members), 6, max_edges=15, busy=busy).shape == (2, 15)
    with pytest.raises(InputError, match="more than 14 pairs of posts share 2 users or more"):
        shared_user_edges(*arrays(members), 6, max_edges=14, busy=busy)


def test_nobody_gives_no_edges() -> None:
    none = np.zeros(0, dtype=np.int64)
    assert shared_user_edges(none, none, 5).shape == (2, 0)


def test_a_user_with_a_hundred_thousand_posts_costs_little_memory() -> None:
    posts = 100_000  # a plain product would have 10^10 entries
    few = np.arange(0, posts, 10)
    post = np.concatenate([np.arange(posts), few, few + 1])
    user = np.concatenate(
        [np.zeros(posts, dtype=np.int64), few + 1, few + 1]
    )  # besides the bot, 10 n and 10 n + 1 share one user
    tracemalloc.start()
    edges = shared_user_edges(post, user, posts)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert edges.tolist() == [few.tolist(), (few + 1).tolist()]
    assert peak < 200e6


def test_two_users_with_a_hundred_thousand_posts_are_refused_before_the_edges_are_made() -> None:
    posts = 100_000
    post, user = np.tile(np.arange(posts), 2), np.repeat([0, 1], posts)
    tracemalloc.start()
    with pytest.raises(InputError, match="more than"):
        shared_user_edges(post, user, posts)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 500e6
