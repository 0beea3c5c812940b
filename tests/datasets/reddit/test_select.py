from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nodewise.datasets.reddit import Limits, RedditSettings
from nodewise.datasets.reddit.select import Rank, select_posts
from nodewise.datasets.reddit.work import Work


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    work = Work(tmp_path / "work", Limits(memory_gb=1, threads=2))
    work.con.execute(
        "CREATE TABLE submissions (seq BIGINT, id VARCHAR, created DOUBLE, author VARCHAR, subreddit VARCHAR)"
    )
    yield work
    work.close()


def fill(work: Work, rows: list[tuple[str, float, str | None, str | None]]) -> None:
    work.con.executemany(
        "INSERT INTO submissions VALUES (?, ?, ?, ?, ?)", [(seq, *row) for seq, row in enumerate(rows)]
    )


def chosen(work: Work) -> list[tuple[object, ...]]:
    return work.con.execute("SELECT number, place, id, rank FROM chosen ORDER BY place").fetchall()


def test_posts_are_sorted_by_time_then_by_id_as_reddit_counts(work: Work) -> None:
    fill(work, [("b", 5, "u", "s"), ("10", 5, "u", "s"), ("z", 5, "u", "s"), ("9", 7, "u", "s"), ("a", 4, "u", "s")])
    select_posts(work, RedditSettings(group_size=9, first_rank=1))
    assert [row[2] for row in chosen(work)] == ["a", "b", "z", "10", "9"]  # of base-36 numbers, 10 comes after z


def test_ranks_go_by_number_of_posts_then_by_name(work: Work) -> None:
    names = ["big"] * 4 + ["beta", "alpha", "Zeta"] * 2 + ["one"]
    fill(work, [(str(place), place, "u", name) for place, name in enumerate(names)])
    found = select_posts(work, RedditSettings(group_size=50, first_rank=2, last_rank=3))
    assert found.groups[0].ranks == (Rank(2, "Zeta", 2), Rank(3, "alpha", 2))
    assert found.groups[0].subreddits == 5
    assert {row[3] for row in chosen(work)} == {2, 3}


def test_each_group_has_its_own_ranks_and_the_rest_is_left_out(work: Work) -> None:
    names = ["a", "a", "b", "b", "b", "a", "c"]
    fill(work, [(str(place), place, "u", name) for place, name in enumerate(names)])
    found = select_posts(work, RedditSettings(group_size=3, first_rank=1, last_rank=1))
    assert [group.ranks for group in found.groups] == [(Rank(1, "a", 2),), (Rank(1, "b", 2),)]
    assert (found.full_groups, found.left_over, found.placed) == (2, 1, 7)
    assert chosen(work) == [(1, 0, "0", 1), (1, 1, "1", 1), (2, 3, "3", 1), (2, 4, "4", 1)]
    assert [(group.first_created, group.last_created) for group in found.groups] == [(0, 2), (3, 5)]


def test_fewer_groups_on_request_and_an_incomplete_one_when_it_is_the_only_one(work: Work) -> None:
    fill(work, [(str(place), place, "u", "s") for place in range(7)])
    assert len(select_posts(work, RedditSettings(group_size=3, groups=1, first_rank=1)).groups) == 1
    assert len(select_posts(work, RedditSettings(group_size=3, groups=None, first_rank=1)).groups) == 2
    only = select_posts(work, RedditSettings(group_size=8, first_rank=1))
    assert (only.full_groups, only.left_over, [group.posts for group in only.groups]) == (0, 0, [7])


def test_repeated_anonymous_and_homeless_posts(work: Work) -> None:
    rows = [
        ("a", 1, None, "s"),
        ("a", 2, "u", "s"),
        ("b", 3, "u", None),
        ("c", 4, "u", "s"),
        ("c", 0, "u", "s"),
        ("c", 9, None, "s"),
    ]
    fill(work, rows)
    found = select_posts(work, RedditSettings(group_size=2, first_rank=1))
    assert (found.repeated, found.anonymous, found.placed, found.homeless) == (3, 1, 2, 1)
    assert chosen(work) == [(1, 1, "c", 1)]  # the first line of c counts, and b takes a place in the group
    assert found.groups[0].ranks == (Rank(1, "s", 1),)


def test_no_posts_no_groups(work: Work) -> None:
    found = select_posts(work, RedditSettings())
    assert (found.placed, found.groups) == (0, ())
