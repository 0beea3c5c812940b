from __future__ import annotations

from typing import Any

import pytest

from nodewise.datasets.reddit import KNOWN_BOTS, Limits, RedditSettings
from nodewise.ground.errors import InputError


def test_the_defaults_are_the_papers() -> None:
    paper = RedditSettings()
    assert (paper.group_size, paper.first_rank, paper.last_rank, paper.shared_users, paper.groups, paper.width) == (
        300_000,
        11,
        20,
        2,
        5,
        300,
    )
    assert paper.excluded == ()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"group_size": 0}, "group_size is 0: give a whole number of at least 1"),
        ({"shared_users": 1.5}, "shared_users is 1.5"),
        ({"groups": 0}, "groups is 0: .* or None for all"),
        ({"width": True}, "width is True"),
        ({"first_rank": 21}, "ranks 21 to 20 hold no subreddit"),
        ({"prefix": "a/b"}, "prefix is 'a/b'"),
        ({"prefix": ""}, "prefix is ''"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        RedditSettings(**given)


@pytest.mark.parametrize("given", [{"memory_gb": 0.5}, {"memory_gb": float("nan")}, {"threads": 0}, {"chunk_bytes": 0}])
def test_limits_that_nothing_can_run_in_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(given))):
        Limits(**given)


def test_excluded_accounts_are_compared_without_case() -> None:
    assert RedditSettings(exclude_users=("Bob", "bob")).excluded == ("bob",)
    both = RedditSettings(exclude_users=("Bob",), exclude_bots=True).excluded
    assert set(both) == {"bob", *(name.lower() for name in KNOWN_BOTS)}
    assert "automoderator" in both
