"""Steps 1 to 3 of the paper's Appendix B: which posts become nodes.

1. Posts without a known author go.
2. The others are sorted by creation time and cut into groups.
3. In each group, the posts of the subreddits with the wanted ranks stay.

Ties are broken so that a month gives the same graphs every time: posts of the same second by their id as Reddit counts
them (base 36: the shorter first), subreddits with as many posts by name. Of lines with the same id the first counts.
"""

from __future__ import annotations

from dataclasses import dataclass

from nodewise.datasets.reddit.settings import RedditSettings
from nodewise.datasets.reddit.work import Work

__all__ = ["Rank", "Selected", "SelectedGroup", "duplicates_of", "select_posts"]


@dataclass(frozen=True)
class Rank:
    """A subreddit of a group: its rank by number of posts, and that number."""

    rank: int
    subreddit: str
    posts: int


@dataclass(frozen=True)
class SelectedGroup:
    """A group of posts and the subreddits chosen from it.

    Attributes:
        number: 1 for the earliest group.
        posts: posts in the group.
        first_created: when its first post was made, in seconds since 1970.
        last_created: when its last one was.
        subreddits: how many subreddits its posts belong to.
        ranks: the chosen ones.
    """

    number: int
    posts: int
    first_created: float
    last_created: float
    subreddits: int
    ranks: tuple[Rank, ...]


@dataclass(frozen=True)
class Selected:
    """What is left of the posts after each step.

    Attributes:
        repeated: lines whose post id was seen before.
        anonymous: posts without a known author.
        placed: posts that were sorted into groups.
        homeless: those of them without a subreddit; they count for their group's size and are never chosen.
        full_groups: groups with all the posts they should have.
        left_over: posts after the last full group.
        groups: the groups that graphs are made from.
    """

    repeated: int
    anonymous: int
    placed: int
    homeless: int
    full_groups: int
    left_over: int
    groups: tuple[SelectedGroup, ...]


def select_posts(work: Work, settings: RedditSettings) -> Selected:
    """Makes the tables ``placed`` (every post that has a place) and ``chosen`` (those that become nodes), and counts.

    ``chosen`` has a row for each post: its group, its place in time, and its id, author, line and rank.
    """
    con, size = work.con, settings.group_size
    repeated = duplicates_of(work, "submissions")
    con.execute(f"""
        CREATE OR REPLACE TABLE placed AS
        SELECT *, place // {size} + 1 AS number FROM (
            SELECT seq, id, author, subreddit, created,
                row_number() OVER (ORDER BY created, length(id), id) - 1 AS place
            FROM submissions ANTI JOIN repeated_submissions USING (seq) WHERE author IS NOT NULL
        )""")
    placed, homeless = _row(work, "SELECT count(*), count(*) FILTER (subreddit IS NULL) FROM placed")
    (every,) = _row(work, "SELECT count(*) FROM submissions")
    full = placed // size
    used = min(settings.groups or full, full) if full else min(placed, 1)
    con.execute(f"""
        CREATE OR REPLACE TABLE chosen_rank AS
        SELECT number, subreddit, posts, rank FROM (
            SELECT number, subreddit, count(*) AS posts,
                row_number() OVER (PARTITION BY number ORDER BY count(*) DESC, subreddit) AS rank
            FROM placed WHERE number <= {used} AND subreddit IS NOT NULL GROUP BY number, subreddit
        ) WHERE rank BETWEEN {settings.first_rank} AND {settings.last_rank}""")
    con.execute(
        """
        CREATE OR REPLACE TABLE chosen AS
        SELECT number, place, id, author, seq, rank::BIGINT AS rank
        FROM placed JOIN chosen_rank USING (number, subreddit)"""
    )
    return Selected(
        repeated=repeated,
        anonymous=every - repeated - placed,
        placed=placed,
        homeless=homeless,
        full_groups=full,
        left_over=placed - full * size if full else 0,
        groups=tuple(_group(work, number) for number in range(1, used + 1)),
    )


def duplicates_of(work: Work, table: str) -> int:
    """Makes the table ``repeated_TABLE``, the lines whose id an earlier line has, and returns how many there are.

    Few ids occur twice: they are found by counting alone, which needs little memory, and only their lines are compared.
    """
    work.con.execute(f"""
        CREATE OR REPLACE TABLE repeated_{table} AS
        SELECT seq FROM {table} SEMI JOIN (SELECT id FROM {table} GROUP BY id HAVING count(*) > 1) USING (id)
        QUALIFY row_number() OVER (PARTITION BY id ORDER BY seq) > 1""")
    return int(_row(work, f"SELECT count(*) FROM repeated_{table}")[0])


def _group(work: Work, number: int) -> SelectedGroup:
    query = (
        f"SELECT count(*), min(created), max(created), count(DISTINCT subreddit) FROM placed WHERE number = {number}"
    )
    posts, first, last, subreddits = _row(work, query)
    ranks = work.con.execute(
        f"SELECT rank, subreddit, posts FROM chosen_rank WHERE number = {number} ORDER BY rank"
    ).fetchall()
    return SelectedGroup(number, posts, first, last, subreddits, tuple(Rank(*row) for row in ranks))


def _row(work: Work, query: str) -> tuple[int, ...]:
    row = work.con.execute(query).fetchone()
    assert row is not None
    return tuple(row)
