"""From one group's chosen posts to a graph: steps 4 and 5, features, and what a person is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nodewise.datasets.reddit.component import Component, largest_component
from nodewise.datasets.reddit.edges import shared_user_edges
from nodewise.datasets.reddit.features import mean_vectors
from nodewise.datasets.reddit.members import members_of, most_active
from nodewise.datasets.reddit.report import ClassSize, GroupReport
from nodewise.datasets.reddit.select import SelectedGroup
from nodewise.datasets.reddit.settings import RedditSettings
from nodewise.datasets.reddit.words import clean_text, post_link, post_text
from nodewise.datasets.reddit.work import Work
from nodewise.graph import Graph
from nodewise.ground.errors import InputError
from nodewise.ground.events import count

__all__ = ["Joined", "join_posts", "make_graph"]


@dataclass(frozen=True)
class Joined:
    """A group's largest component with its posts, before features.

    Attributes:
        group: where it comes from.
        component: nodes and edges; None when no two posts are joined. ids, titles, bodies, links: one for each node.
        ranks: [node], the rank of each node's subreddit.
        report: what is known so far.
    """

    group: SelectedGroup
    component: Component | None
    ids: tuple[str, ...]
    titles: tuple[str, ...]
    bodies: tuple[str, ...]
    links: tuple[str, ...]
    ranks: npt.NDArray[np.int64]
    report: GroupReport

    @property
    def texts(self) -> list[str]:
        """What the features are made of, for each node."""
        return [post_text(title, body) for title, body in zip(self.titles, self.bodies, strict=True)]


def join_posts(work: Work, group: SelectedGroup, settings: RedditSettings) -> Joined:
    """Joins the group's chosen posts and keeps the largest component.

    Raises:
        InputError: if there are more edges than `settings.max_edges`; the message names the users behind them.
    """
    notes = _about_ranks(group, settings)
    members = members_of(work, group.number)
    try:
        edges = shared_user_edges(
            members.post, members.user, members.place.size, settings.shared_users, max_edges=settings.max_edges
        )
    except InputError as error:
        busy = ", ".join(f"{name} ({posts:,} posts)" for name, posts in most_active(work, group.number))
        raise InputError(
            f"group {group.number}: {error}. Most active: {busy}. Exclude those that are bots, ask for more shared"
            " users, or raise max_edges"
        ) from None
    counts = {"users": members.users, "memberships": members.post.size, "all_edges": edges.shape[1]}
    if not edges.size:
        if members.place.size:
            notes += (
                (
                    f"no two of its {count(members.place.size, 'chosen post')} share"
                    f" {count(settings.shared_users, 'user')}"
                ),
            )
        empty = np.zeros(0, dtype=np.int64)
        return Joined(group, None, (), (), (), (), empty, GroupReport(None, group, **counts, notes=notes))
    component = largest_component(edges, members.place.size)
    rows = work.con.execute(f"""
        SELECT chosen.id, title, body, url, rank FROM chosen JOIN submissions ON chosen.seq = submissions.seq
        WHERE number = {group.number} ORDER BY place""").fetchall()
    ids, titles, bodies, urls, ranks = zip(*(rows[node] for node in component.nodes), strict=True)
    report = GroupReport(
        None, group, **counts, components=component.components, isolated=component.isolated, notes=notes
    )
    return Joined(
        group,
        component,
        ids,
        tuple(map(clean_text, titles)),
        tuple(map(clean_text, bodies)),
        tuple(post_link(one, clean_text(url)) for one, url in zip(ids, urls, strict=True)),
        np.array(ranks, dtype=np.int64),
        report,
    )


def make_graph(
    joined: Joined, name: str, row_of: Mapping[str, int], vectors: npt.NDArray[np.float32]
) -> tuple[Graph, GroupReport]:
    """The graph with its features, and the group's report.

    Args:
        joined: the nodes and edges; its component must not be None.
        name: what the graph is called.
        row_of: known word -> its row in `vectors`.
        vectors: float32 [word, feature].
    """
    assert joined.component is not None
    means = mean_vectors(joined.texts, row_of, vectors)
    present, labels = np.unique(joined.ranks, return_inverse=True)
    subreddit = {rank.rank: rank.subreddit for rank in joined.group.ranks}
    graph = Graph.build(
        joined.component.edge_index,
        num_nodes=len(joined.ids),
        x=means.x,
        y=labels.astype(np.int64),
        class_names=[subreddit[int(rank)] for rank in present],
        node_names=joined.ids,
        attributes={"title": joined.titles, "text": joined.bodies, "link": joined.links},
        name=name,
    )
    return graph, _finished(joined, graph, means.words, means.wordless)


def _finished(joined: Joined, graph: Graph, words: int, wordless: int) -> GroupReport:
    old = joined.report
    nodes = {rank.rank: int((joined.ranks == rank.rank).sum()) for rank in joined.group.ranks}
    return GroupReport(
        graph.name,
        joined.group,
        old.users,
        old.memberships,
        old.all_edges,
        old.components,
        old.isolated,
        graph.num_nodes,
        graph.num_edges,
        tuple(ClassSize(rank.rank, rank.subreddit, rank.posts, nodes[rank.rank]) for rank in joined.group.ranks),
        graph.homophily,
        float(graph.degree.mean()),
        int(graph.degree.max()),
        words,
        wordless,
        old.notes,
    )


def _about_ranks(group: SelectedGroup, settings: RedditSettings) -> tuple[str, ...]:
    wanted = settings.last_rank - settings.first_rank + 1
    if len(group.ranks) == wanted:
        return ()
    got = f"only {len(group.ranks)} of {wanted} exist" if group.ranks else "none exists"
    return (
        (
            f"it has {count(group.subreddits, 'subreddit')}: of the ranks {settings.first_rank} to"
            f" {settings.last_rank}, {got}"
        ),
    )
