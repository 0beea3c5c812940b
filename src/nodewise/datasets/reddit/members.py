"""Who took part in which chosen post: its author, and everybody who commented on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nodewise.datasets.reddit.select import duplicates_of
from nodewise.datasets.reddit.settings import RedditSettings
from nodewise.datasets.reddit.work import Work

__all__ = ["CommentCounts", "Membership", "find_members", "members_of", "most_active"]


@dataclass(frozen=True)
class CommentCounts:
    """What became of the comments; each is counted in one place only, the first that fits.

    Attributes:
        repeated: lines whose comment id was seen before.
        deleted: by users who are not known; they never join posts.
        excluded: by accounts that were excluded.
        outside: on posts that are not in the submissions.
        elsewhere: on posts that were not chosen.
        used: on chosen posts.
    """

    repeated: int
    deleted: int
    excluded: int
    outside: int
    elsewhere: int
    used: int


@dataclass(frozen=True)
class Membership:
    """One group's users, as pairs.

    Attributes:
        place: [post], the chosen posts' places in time, ascending.
        post: [pair], index of a post.
        user: [pair], index of a user who took part in it; no pair occurs twice.
        users: how many users there are.
    """

    place: npt.NDArray[np.int64]
    post: npt.NDArray[np.int64]
    user: npt.NDArray[np.int64]
    users: int


def find_members(work: Work, settings: RedditSettings) -> CommentCounts:
    """Makes the table ``member`` (group, place, user; each once), and counts what became of the comments."""
    con = work.con
    repeated = duplicates_of(work, "comments")
    con.execute("CREATE OR REPLACE TEMP TABLE excluded (name VARCHAR)")
    if settings.excluded:
        con.execute("INSERT INTO excluded SELECT unnest(?)", [list(settings.excluded)])
    fates = con.execute("""
        SELECT CASE
            WHEN comments.author IS NULL THEN 'deleted'
            WHEN lower(comments.author) IN (SELECT name FROM excluded) THEN 'excluded'
            WHEN target.id IS NULL THEN 'outside'
            WHEN NOT target.chosen THEN 'elsewhere'
            ELSE 'used' END AS fate, count(*)
        FROM comments ANTI JOIN repeated_comments USING (seq)
        LEFT JOIN (
            SELECT id, chosen.seq IS NOT NULL AS chosen
            FROM (SELECT id, seq FROM submissions ANTI JOIN repeated_submissions USING (seq))
            LEFT JOIN chosen USING (id)
        ) AS target ON comments.post = target.id
        GROUP BY fate""").fetchall()
    con.execute("""
        CREATE OR REPLACE TABLE member AS
        SELECT DISTINCT number, place, name FROM (
            SELECT number, place, author AS name FROM chosen
            UNION ALL
            SELECT number, place, comments.author FROM comments ANTI JOIN repeated_comments USING (seq)
            JOIN chosen ON comments.post = chosen.id WHERE comments.author IS NOT NULL
        ) WHERE lower(name) NOT IN (SELECT name FROM excluded)""")
    counts = {"deleted": 0, "excluded": 0, "outside": 0, "elsewhere": 0, "used": 0, **dict(fates)}
    return CommentCounts(repeated=repeated, **counts)


def members_of(work: Work, number: int) -> Membership:
    """The users of one group's chosen posts."""
    place = work.con.execute(f"SELECT place FROM chosen WHERE number = {number} ORDER BY place").fetchnumpy()["place"]
    pairs = work.con.execute(
        f"SELECT place, dense_rank() OVER (ORDER BY name) - 1 AS who FROM member WHERE number = {number} ORDER BY"
        " place, who"
    ).fetchnumpy()
    place = np.asarray(place, dtype=np.int64)
    user = np.asarray(pairs["who"], dtype=np.int64)
    return Membership(place, np.searchsorted(place, pairs["place"]), user, int(user.max(initial=-1)) + 1)


def most_active(work: Work, number: int, count: int = 5) -> list[tuple[str, int]]:
    """The users who took part in most of the group's chosen posts, with how many."""
    query = (
        f"SELECT name, count(*) AS posts FROM member WHERE number = {number} GROUP BY name ORDER BY posts DESC, name"
        f" LIMIT {count}"
    )
    return [(str(name), int(posts)) for name, posts in work.con.execute(query).fetchall()]
