"""The build against the slow and obvious reference, over generated months with every quirk of real ones."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from nodewise.datasets.reddit import Limits, RedditSettings, build_reddit
from nodewise.ground.errors import InputError
from tests.datasets.reddit.agreement import compare, save
from tests.datasets.reddit.month import WIDTH, Shape, make_month
from tests.datasets.reddit.reference import build_by_hand

shapes = st.builds(
    Shape,
    posts=st.sampled_from([30, 12, 20, 45, 60, 1]),
    comments=st.sampled_from([150, 200, 250, 300, 350, 10]),
    subreddits=st.sampled_from([1, 2, 3, 6]),
    users=st.integers(2, 6),
    seconds=st.sampled_from([1, 5, 1000]),
    dirt=st.sampled_from([0.0, 0.1, 0.5]),
    deleted=st.sampled_from([0.25, 0.0, 0.6]),
)
choices = st.builds(
    lambda first, more, **others: RedditSettings(first_rank=first, last_rank=first + more, width=WIDTH, **others),
    first=st.sampled_from([1, 1, 1, 2, 3]),
    more=st.integers(0, 2),
    group_size=st.sampled_from([10, 20, 40]),
    shared_users=st.sampled_from([2, 2, 1, 3]),
    groups=st.sampled_from([None, 1, 2]),
    exclude_bots=st.booleans(),
    exclude_users=st.sampled_from([(), ("uSer0",), ("user1", "nobody")]),
)


def agrees(seed: int, shape: Shape, chosen: RedditSettings, chunk: int) -> bool:
    """Compares both, and tells whether there was a graph to compare."""
    month = make_month(seed, shape)
    expected = build_by_hand(month.submissions, month.comments, month.glove, chosen)
    with tempfile.TemporaryDirectory() as name:
        folder, limits = Path(name), Limits(memory_gb=1, threads=1 + seed % 2, chunk_bytes=chunk)
        if any(any(map(any, graph.x)) for graph in expected.graphs.values()):
            build_reddit(*save(month, folder), folder / "out", chosen, limits=limits)
            compare(folder / "out", expected, chosen)
            return True
        with pytest.raises(
            InputError, match=r"no graph can be built|no (submissions|comments|posts)|none of the .* words?"
        ):
            build_reddit(*save(month, folder), folder / "out", chosen, limits=limits)
        assert not list((folder / "out").glob("*.npz"))
        return False


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_the_reference_on_some_months(seed: int) -> None:
    assert agrees(
        seed,
        Shape(posts=40, comments=200, users=3),
        RedditSettings(group_size=15, first_rank=1, last_rank=3, width=WIDTH),
        1000,
    )


@pytest.mark.long
@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**32 - 1), shape=shapes, chosen=choices, chunk=st.sampled_from([4000, 20_000, 10**6]))
def test_agrees_with_the_reference_on_hundreds_of_months(
    seed: int, shape: Shape, chosen: RedditSettings, chunk: int
) -> None:
    event("graphs" if agrees(seed, shape, chosen, chunk) else "no graph")
