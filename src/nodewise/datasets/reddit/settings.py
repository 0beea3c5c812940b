"""What a build is asked to do: the numbers of the paper's appendix, and the limits of the machine."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nodewise.ground.errors import InputError

__all__ = ["KNOWN_BOTS", "Limits", "RedditSettings"]

KNOWN_BOTS = (
    "AutoModerator",
    "autotldr",
    "autowikibot",
    "bitcointip",
    "CaptionBot",
    "changetip",
    "compilebot",
    "dogetipbot",
    "gfy_mirror",
    "image_linker_bot",
    "imgurtranscriber",
    "JiffyBot",
    "LinkFixerBot",
    "ModeratorBot",
    "MovieGuide",
    "qkme_transcriber",
    "redditbots",
    "RemindMeBot",
    "sneakpeekbot",
    "totes_meta_bot",
    "TotesMessenger",
    "TweetPoster",
    "VideoLinkBot",
    "WikiTextBot",
)
"""Accounts that are known to be programs; `RedditSettings.exclude_bots` leaves them out."""


@dataclass(frozen=True)
class RedditSettings:
    """The numbers that decide which graphs come out; the defaults are the paper's (Appendix B).

    Attributes:
        group_size: posts in one group, in order of their creation.
        first_rank: the first rank, by number of posts in the group, of the subreddits that are kept.
        last_rank: the last one.
        shared_users: how many users two posts must share to be joined.
        groups: how many groups become graphs, from the earliest on; None for all.
        width: numbers in a word vector.
        exclude_bots: whether accounts in `KNOWN_BOTS` join no posts.
        exclude_users: further accounts that join no posts; upper and lower case make no difference.
        prefix: the graphs are called prefix1, prefix2, …
        max_edges: a group with more edges than this is refused: such a graph is made by bots, and no graph network
            would want it.
    """

    group_size: int = 300_000
    first_rank: int = 11
    last_rank: int = 20
    shared_users: int = 2
    groups: int | None = 5
    width: int = 300
    exclude_bots: bool = False
    exclude_users: tuple[str, ...] = ()
    prefix: str = "reddit"
    max_edges: int = 10_000_000

    def __post_init__(self) -> None:
        for name in ("group_size", "first_rank", "last_rank", "shared_users", "groups", "width", "max_edges"):
            value = getattr(self, name)
            if (value is None and name == "groups") or (
                isinstance(value, int) and not isinstance(value, bool) and value >= 1
            ):
                continue
            raise InputError(
                f"{name} is {value!r}: give a whole number of at least 1" + (", or None for all" * (name == "groups"))
            )
        if self.first_rank > self.last_rank:
            raise InputError(
                f"ranks {self.first_rank} to {self.last_rank} hold no subreddit: the first must not be above the last"
            )
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", self.prefix):
            raise InputError(f"prefix is {self.prefix!r}: it opens file names, so use letters, digits, - and _")
        object.__setattr__(self, "exclude_users", tuple(map(str, self.exclude_users)))

    @property
    def excluded(self) -> tuple[str, ...]:
        """The accounts that join no posts, in lower case, sorted."""
        names = (*self.exclude_users, *(KNOWN_BOTS if self.exclude_bots else ()))
        return tuple(sorted({name.lower() for name in names}))


@dataclass(frozen=True)
class Limits:
    """What the machine may spend; the graphs do not depend on it.

    Attributes:
        memory_gb: memory for everything. Half of it is the join engine's, beyond which it works on disk; the rest is
            for a decompressor's window (up to 2 GB), the lines in flight, the vectors of the words that occur and one
            group's edges.
        threads: threads of the join engine; None for one a core.
        chunk_bytes: decompressed bytes that are read, stored and recorded as done together.
    """

    memory_gb: float = 8.0
    threads: int | None = None
    chunk_bytes: int = 64_000_000

    def __post_init__(self) -> None:
        if not self.memory_gb >= 1:
            raise InputError(f"memory_gb is {self.memory_gb!r}: at least 1 is needed")
        if self.threads is not None and self.threads < 1:
            raise InputError(f"threads is {self.threads!r}: give at least 1, or None for one a core")
        if self.chunk_bytes < 1:
            raise InputError(f"chunk_bytes is {self.chunk_bytes!r}: give at least 1")
