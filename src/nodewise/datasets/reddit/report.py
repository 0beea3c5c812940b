"""What a build did, step by step: saved as JSON beside the graphs, and shown as tables."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from nodewise.datasets.reddit.ingest import Ingested
from nodewise.datasets.reddit.members import CommentCounts
from nodewise.datasets.reddit.select import Selected, SelectedGroup
from nodewise.datasets.reddit.settings import RedditSettings

__all__ = ["BuildReport", "ClassSize", "GroupReport", "ReportTable"]

Cell = str | int | float | None


@dataclass(frozen=True)
class ClassSize:
    """One chosen subreddit: its rank, its posts in the group, and those of them that are nodes of the graph."""

    rank: int
    subreddit: str
    posts: int
    nodes: int


@dataclass(frozen=True)
class GroupReport:
    """From a group of posts to a graph.

    Attributes:
        graph: the graph's name, or None when the group gives none.
        selected: steps 1 to 3.
        users: users who took part in a chosen post.
        memberships: pairs of a post and a user who took part in it.
        all_edges: edges between chosen posts.
        components: connected components, isolated posts included.
        isolated: posts that are joined with no other.
        nodes: nodes of the graph, which is the largest component.
        edges: its edges.
        classes: the chosen subreddits.
        homophily: share of edges within a class.
        mean_degree: mean number of neighbours.
        max_degree: the largest.
        words: known words in titles and texts.
        wordless: nodes without a known word, whose features are zero.
        notes: what is unusual about this group.
    """

    graph: str | None
    selected: SelectedGroup
    users: int = 0
    memberships: int = 0
    all_edges: int = 0
    components: int = 0
    isolated: int = 0
    nodes: int = 0
    edges: int = 0
    classes: tuple[ClassSize, ...] = ()
    homophily: float | None = None
    mean_degree: float | None = None
    max_degree: int | None = None
    words: int = 0
    wordless: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReportTable:
    """A table to show: a title, the columns' names, and rows."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class BuildReport:
    """The whole build: what was asked, what each step left, and what came out."""

    version: str
    settings: RedditSettings
    submissions: Ingested
    comments: Ingested
    selected: Selected
    comment_counts: CommentCounts
    vocabulary: int
    known_words: int
    groups: tuple[GroupReport, ...]
    notes: tuple[str, ...] = ()

    @property
    def graphs(self) -> tuple[str, ...]:
        """The names of the graphs that were built."""
        return tuple(group.graph for group in self.groups if group.graph is not None)

    def as_json(self) -> str:
        """The report as a JSON document."""
        return json.dumps({"schema": 1, "nodewise_version": self.version, **_as_record(self)}, indent=2) + "\n"

    def tables(self) -> tuple[ReportTable, ...]:
        """The report for a person: the steps, the graphs, the classes."""
        return self._steps(), self._graphs(), self._classes()

    def _steps(self) -> ReportTable:
        posts, comments, picked, fate = self.submissions, self.comments, self.selected, self.comment_counts
        size, ranks = self.settings.group_size, f"{self.settings.first_rank}–{self.settings.last_rank}"
        rows: list[tuple[Cell, ...]] = [
            ("lines of submissions", posts.lines),
            *((f"  not used: {reason}", -number) for reason, number in posts.rejected.items()),
            ("  posts seen before", -picked.repeated),
            ("1 anonymous posts deleted", -picked.anonymous),
            ("2 posts sorted by creation time", picked.placed),
            (f"  full groups of {size:,}", picked.full_groups),
            ("  posts after the last full group", picked.left_over),
            ("  posts without a subreddit", picked.homeless),
            (
                f"3 posts in subreddits of rank {ranks}",
                sum(rank.posts for group in picked.groups for rank in group.ranks),
            ),
            ("  lines of comments", comments.lines),
            *((f"  not used: {reason}", -number) for reason, number in comments.rejected.items()),
            ("  comments seen before", -fate.repeated),
            ("  by deleted users", -fate.deleted),
            ("  by excluded users", -fate.excluded),
            ("  on posts outside the submissions", -fate.outside),
            ("  on posts not chosen", -fate.elsewhere),
            ("  comments on chosen posts", fate.used),
            ("4 edges", sum(group.all_edges for group in self.groups)),
            ("5 nodes in largest components", sum(group.nodes for group in self.groups)),
            ("  different words in them", self.vocabulary),
            ("  of these in the GloVe file", self.known_words),
        ]
        return ReportTable("steps", ("step", "count"), tuple(rows))

    def _graphs(self) -> ReportTable:
        columns = (
            "graph",
            "from",
            "to",
            "posts",
            "chosen",
            "users",
            "nodes",
            "edges",
            "classes",
            "homophily",
            "degree",
            "max",
            "no words",
        )
        rows = tuple(_graph_row(group) for group in self.groups)
        return ReportTable("graphs", columns, rows)

    def _classes(self) -> ReportTable:
        rows = tuple(
            (group.graph, size.rank, size.subreddit, size.posts, size.nodes)
            for group in self.groups
            if group.graph
            for size in group.classes
        )
        return ReportTable("classes", ("graph", "rank", "subreddit", "posts", "nodes"), rows)


def _graph_row(group: GroupReport) -> tuple[Cell, ...]:
    picked = group.selected
    start, end = (_day(seconds) for seconds in (picked.first_created, picked.last_created))
    chosen = sum(rank.posts for rank in picked.ranks)
    shown = (
        None if value is None else round(value, digits)
        for value, digits in ((group.homophily, 3), (group.mean_degree, 2))
    )
    classes = sum(size.nodes > 0 for size in group.classes)
    name = group.graph or f"(group {picked.number})"
    return (
        name,
        start,
        end,
        picked.posts,
        chosen,
        group.users,
        group.nodes,
        group.edges,
        classes,
        *shown,
        group.max_degree,
        group.wordless,
    )


def _day(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%d")
    except (OverflowError, OSError, ValueError):  # a time in milliseconds, or nonsense
        return f"{seconds:g}"


def _as_record(report: BuildReport) -> dict[str, Any]:
    record = asdict(report)
    record.pop("version")
    record["graphs"] = list(report.graphs)
    for kind in ("submissions", "comments"):
        record[kind]["files"] = [{"file": path, "lines": lines} for path, lines in record[kind]["files"]]
    return record
