"""The whole build, on a month whose graph is known."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from nodewise.datasets import load_graph
from nodewise.datasets.reddit import BuildReport, Limits, RedditSettings, build_reddit
from nodewise.graph import read_graph
from nodewise.ground.errors import InputError
from nodewise.ground.events import Event, Note, Progress, Warned
from tests.datasets.reddit.small_month import (
    COMMENT_LINES,
    GLOVE,
    PACK,
    POSTS,
    SETTINGS,
    SUBMISSION_LINES,
    write_month,
    zipped,
)

LIMITS = Limits(memory_gb=1, threads=2)


def build(folder: Path, settings: RedditSettings = SETTINGS, ending: str = "", **others: object) -> BuildReport:
    return build_reddit(*write_month(folder / "in", ending), folder / "out", settings, limits=LIMITS, **others)  # type: ignore[arg-type]


def test_the_graph_of_the_small_month(tmp_path: Path) -> None:
    report = build(tmp_path)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["reddit-report.json", "reddit1.npz"]
    graph = load_graph("reddit1", data_dir=tmp_path / "out")
    assert graph.name == "reddit1"
    assert graph.node_names == ("p1", "p2", "p3", "p4")
    assert graph.edge_index.T.tolist() == [[0, 1], [1, 2], [2, 3]]
    assert graph.class_names == ("cats", "dogs")
    assert graph.y is not None
    assert graph.y.tolist() == [0, 0, 0, 1]
    assert graph.attributes["title"].tolist() == ["A red cat", "red red", "!!!", "Blue dog"]
    assert graph.attributes["text"].tolist() == ["purrs & sleeps", "", "", ""]
    assert graph.attributes["link"].tolist() == [
        "https://redd.it/p1",
        "https://redd.it/p2",
        "https://redd.it/p3",
        "http://dogs.org/1.png",
    ]
    np.testing.assert_allclose(graph.x, [[1 / 3, 1 / 3, 1 / 3], [0, 1, 0], [0, 0, 0], [2, 2, 2]], rtol=1e-6)
    (group,) = report.groups
    assert (group.nodes, group.edges, group.homophily, group.mean_degree, group.max_degree) == (4, 3, 2 / 3, 1.5, 2)
    assert (group.components, group.isolated, group.users, group.wordless) == (3, 2, 6, 1)


def test_the_report_tells_every_step(tmp_path: Path) -> None:
    report = build(tmp_path)
    saved = json.loads((tmp_path / "out" / "reddit-report.json").read_text())
    assert saved == json.loads(report.as_json())
    assert saved["schema"] == 1
    assert saved["settings"]["group_size"] == 8
    steps = dict(report.tables()[0].rows)
    assert steps["lines of submissions"] == 8
    assert steps["1 anonymous posts deleted"] == -1
    assert steps["2 posts sorted by creation time"] == 7
    assert steps["3 posts in subreddits of rank 1–2"] == 6
    assert steps["4 edges"] == 3
    assert steps["5 nodes in largest components"] == 4
    assert saved["comment_counts"] == {
        "repeated": 0,
        "deleted": 3,
        "excluded": 0,
        "outside": 1,
        "elsewhere": 4,
        "used": 7,
    }
    assert saved["groups"][0]["classes"] == [
        {"rank": 1, "subreddit": "cats", "posts": 4, "nodes": 3},
        {"rank": 2, "subreddit": "dogs", "posts": 2, "nodes": 1},
    ]
    graphs, classes = report.tables()[1:]
    assert dict(zip(graphs.columns, graphs.rows[0], strict=True)) == {
        "graph": "reddit1",
        "from": "1970-01-01",
        "to": "1970-01-01",
        "posts": 7,
        "chosen": 6,
        "users": 6,
        "nodes": 4,
        "edges": 3,
        "classes": 2,
        "homophily": 0.667,
        "degree": 1.5,
        "max": 2,
        "no words": 1,
    }
    assert classes.rows == (("reddit1", 1, "cats", 4, 3), ("reddit1", 2, "dogs", 2, 1))


@pytest.mark.parametrize("ending", PACK)
def test_every_packing_gives_the_same_bytes(tmp_path: Path, ending: str) -> None:
    build(tmp_path / "plain")
    build(tmp_path / "packed", ending=ending)
    names = ("plain", "packed")
    assert len({(tmp_path / name / "out" / "reddit1.npz").read_bytes() for name in names}) == 1


def test_several_files_folders_and_globs(tmp_path: Path) -> None:
    build(tmp_path / "one")
    folder = tmp_path / "many"
    folder.mkdir()
    (folder / "RS_1.gz").write_bytes(PACK[".gz"](b"\n".join(SUBMISSION_LINES[:3])))
    (folder / "RS_2").write_bytes(b"\n".join(SUBMISSION_LINES[3:]))
    (folder / "RC_1.xz").write_bytes(PACK[".xz"](b"\n".join(COMMENT_LINES[:9])))
    (folder / "RC_2.zst").write_bytes(PACK[".zst"](b"\n".join(COMMENT_LINES[9:])))
    (folder / "glove.a.txt").write_bytes(b"\n".join(GLOVE.splitlines()[:2]))
    (folder / "glove.b.txt.gz").write_bytes(gzip.compress(b"\n".join(GLOVE.splitlines()[2:])))
    build_reddit(
        folder,
        str(folder / "RC_*"),
        [str(folder / "glove.a*"), folder / "glove.b.txt.gz"],
        tmp_path / "out",
        SETTINGS,
        limits=LIMITS,
    )
    assert (tmp_path / "out" / "reddit1.npz").read_bytes() == (tmp_path / "one" / "out" / "reddit1.npz").read_bytes()


def test_folders_that_look_like_patterns_and_files_of_the_same_name(tmp_path: Path) -> None:
    build(tmp_path / "one")
    folder = tmp_path / "it's [a] ünusual {b} folder"
    for part, (posts, comments) in enumerate(
        [(SUBMISSION_LINES[:4], COMMENT_LINES[:8]), (SUBMISSION_LINES[4:], [b"", *COMMENT_LINES[8:]])]
    ):
        write_month(folder / str(part), "", posts, comments)
    parts = [folder / "0", folder / "1"]
    build_reddit(parts, parts, folder / "0" / "glove.txt", folder / "out", SETTINGS, limits=LIMITS)
    assert (folder / "out" / "reddit1.npz").read_bytes() == (tmp_path / "one" / "out" / "reddit1.npz").read_bytes()


def test_vectors_from_a_zip(tmp_path: Path) -> None:
    submissions, comments, _ = write_month(tmp_path / "in")
    build_reddit(
        submissions,
        comments,
        zipped(tmp_path / "glove.zip", glove_840B_3d=GLOVE),
        tmp_path / "out",
        SETTINGS,
        limits=LIMITS,
    )
    assert read_graph(tmp_path / "out" / "reddit1.npz").num_features == 3


def test_the_order_of_lines_and_repeated_lines_change_nothing(tmp_path: Path) -> None:
    build(tmp_path / "one")
    paths = write_month(tmp_path / "in", "", SUBMISSION_LINES[::-1] + SUBMISSION_LINES[2:4], COMMENT_LINES[::-1] * 2)
    report = build_reddit(*paths, tmp_path / "out", SETTINGS, limits=LIMITS)
    assert (tmp_path / "out" / "reddit1.npz").read_bytes() == (tmp_path / "one" / "out" / "reddit1.npz").read_bytes()
    assert (report.selected.repeated, report.comment_counts.repeated) == (2, len(COMMENT_LINES))


def test_an_excluded_account_joins_nothing_but_keeps_its_posts(tmp_path: Path) -> None:
    report = build(tmp_path, RedditSettings(group_size=8, first_rank=1, last_rank=2, width=3, exclude_users=("CID",)))
    graph = read_graph(tmp_path / "out" / "reddit1.npz")
    assert graph.node_names == ("p1", "p2")
    assert report.comment_counts.excluded == 2
    assert report.selected.placed == 7


def test_another_number_of_shared_users(tmp_path: Path) -> None:
    build(tmp_path, RedditSettings(group_size=8, first_rank=1, last_rank=2, width=3, shared_users=1))
    graph = read_graph(tmp_path / "out" / "reddit1.npz")
    assert graph.node_names == ("p1", "p2", "p3", "p4", "p5")
    assert [3, 4] in graph.edge_index.T.tolist()


def test_groups_ranks_and_what_is_said_of_them(tmp_path: Path) -> None:
    heard: list[Event] = []
    report = build(
        tmp_path, RedditSettings(group_size=3, first_rank=1, last_rank=3, width=3, groups=None), reporter=heard.append
    )
    warned = [event.message for event in heard if isinstance(event, Warned)]
    assert "1 post after the last full group of 3 left out" in warned
    assert "group 1: it has 1 subreddit: of the ranks 1 to 3, only 1 of 3 exist" in warned
    assert "group 2: no two of its 3 chosen posts share 2 users" in warned
    assert report.graphs == ("reddit1",)
    assert [group.graph for group in report.groups] == ["reddit1", None]
    assert report.groups[1].notes == (
        "it has 2 subreddits: of the ranks 1 to 3, only 2 of 3 exist",
        "no two of its 3 chosen posts share 2 users",
    )
    assert list(report.notes) == [note for note in warned if not note.startswith("group")]
    assert any(isinstance(event, Progress) and event.task == "read comments (MB)" for event in heard)
    assert Note("choosing posts") in heard


def test_a_month_smaller_than_a_group_is_kept_as_one_and_said(tmp_path: Path) -> None:
    report = build(tmp_path, RedditSettings(group_size=100, first_rank=1, last_rank=2, width=3))
    assert report.graphs == ("reddit1",)
    assert report.notes == (
        "there are only 7 posts, less than one group of 100: they are kept as one incomplete group",
    )


def test_fewer_groups_than_asked_for_is_said(tmp_path: Path) -> None:
    assert build(tmp_path, RedditSettings(group_size=7, first_rank=1, last_rank=2, width=3)).notes == (
        "the posts fill 1 group of 7, not 5",
    )


def test_the_prefix_names_graphs_files_and_report(tmp_path: Path) -> None:
    build(tmp_path, RedditSettings(group_size=8, first_rank=1, last_rank=2, width=3, prefix="jan14-"))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["jan14--report.json", "jan14-1.npz"]
    assert load_graph("jan14-1", data_dir=tmp_path / "out").name == "jan14-1"


def test_graphs_of_before_are_replaced_only_on_request(tmp_path: Path) -> None:
    build(tmp_path)
    before = (tmp_path / "out" / "reddit1.npz").read_bytes()
    with pytest.raises(InputError, match=r"holds reddit1\.npz already: .* or ask to overwrite"):
        build(tmp_path, RedditSettings(group_size=8, first_rank=1, last_rank=1, width=3))
    assert (tmp_path / "out" / "reddit1.npz").read_bytes() == before
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["reddit-report.json", "reddit1.npz"]
    build(tmp_path, RedditSettings(group_size=8, first_rank=1, last_rank=1, width=3), overwrite=True)
    assert (tmp_path / "out" / "reddit1.npz").read_bytes() != before


def test_a_kept_work_folder_saves_reading_again(tmp_path: Path) -> None:
    paths = write_month(tmp_path / "in")
    heard: list[Event] = []
    for shared, tasks in ((2, {"read submissions (MB)", "read comments (MB)"}), (1, set())):
        heard.clear()
        settings = RedditSettings(group_size=8, first_rank=1, last_rank=2, width=3, shared_users=shared)
        out = tmp_path / f"out{shared}"
        build_reddit(
            *paths, out, settings, limits=LIMITS, work=tmp_path / "work", keep_work=True, reporter=heard.append
        )
        read = {event.task for event in heard if isinstance(event, Progress)} & {
            "read submissions (MB)",
            "read comments (MB)",
        }
        assert read == tasks
    assert read_graph(tmp_path / "out1" / "reddit1.npz").num_nodes == 5
    assert (tmp_path / "work" / "work.duckdb").exists()


@pytest.mark.slow
def test_a_bot_with_a_hundred_thousand_comments(tmp_path: Path) -> None:
    """Each post has five of the bot's comments; besides it, posts 10 n and 10 n + 1 share a user. So these are joined,
    and no others.
    """
    posts = 20_000
    submissions = [
        b'{"id": "%d", "author": "author%d", "created_utc": %d, "subreddit": "s%d", "title": "red"}' % (n, n, n, n % 2)
        for n in range(posts)
    ]
    comments = [
        b'{"id": "b%d", "link_id": "t3_%d", "author": "AutoModerator"}' % (n, n % posts) for n in range(5 * posts)
    ]
    comments += [
        b'{"id": "u%d", "link_id": "t3_%d", "author": "user%d"}' % (n, n, n // 10) for n in range(posts) if n % 10 < 2
    ]
    comments += [b'{"id": "v%d", "link_id": "t3_%d", "author": "linker"}' % (n, n) for n in range(0, 100, 10)]
    paths = write_month(tmp_path / "in", "", submissions, comments)
    settings = RedditSettings(group_size=posts, first_rank=1, last_rank=2, width=3)
    report = build_reddit(*paths, tmp_path / "out", settings, limits=LIMITS)
    (group,) = report.groups
    assert group.all_edges == posts // 10 + 10 * 9 // 2
    assert (group.nodes, group.edges) == (20, 10 + 45)
    without = RedditSettings(group_size=posts, first_rank=1, last_rank=2, width=3, exclude_bots=True)
    with pytest.raises(InputError, match="no two of its 20,000 chosen posts share 2 users"):
        build_reddit(*paths, tmp_path / "other", without, limits=LIMITS)


def test_too_many_edges_are_refused_with_the_names_of_those_behind_them(tmp_path: Path) -> None:
    comments = [
        b'{"id": "%s%d", "link_id": "t3_%s", "author": "%s"}' % (bot, place, str(post["id"]).encode(), bot)
        for bot in (b"spam1", b"spam2")
        for place, post in enumerate(POSTS)
    ]
    paths = write_month(tmp_path / "in", comments=comments)
    settings = RedditSettings(group_size=8, first_rank=1, last_rank=2, width=3, max_edges=5)
    with pytest.raises(
        InputError, match=r"group 1: more than 5 pairs .* Most active: spam1 \(6 posts\), spam2 \(6 posts\)"
    ):
        build_reddit(*paths, tmp_path / "out", settings, limits=LIMITS)
    assert not list((tmp_path / "out").glob("*.npz"))
