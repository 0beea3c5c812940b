"""The build against the reference, over generated months."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nodewise.datasets.reddit import Limits, RedditSettings, build_reddit
from nodewise.errors import InputError
from nodewise.graph import read_graph
from tests.datasets.reddit.month import WIDTH, Month, Shape, make_month
from tests.datasets.reddit.reference import Expected, build_by_hand

SMALL = RedditSettings(group_size=12, first_rank=1, last_rank=2, groups=None, width=WIDTH)


def save(month: Month, folder: Path) -> tuple[Path, Path, Path]:
    paths = folder / "RS_2014-01", folder / "RC_2014-01", folder / "glove.txt"
    for path, data in zip(paths, (b"\n".join(month.submissions), b"\n".join(month.comments), month.glove), strict=True):
        path.write_bytes(data)
    return paths


def compare(out: Path, expected: Expected, chosen: RedditSettings) -> None:
    names = {f"{chosen.prefix}{number}.npz" for number in expected.graphs}
    assert {path.name for path in out.iterdir()} == names | {f"{chosen.prefix}-report.json"}
    report = json.loads((out / f"{chosen.prefix}-report.json").read_text())
    for number, want in expected.graphs.items():
        graph = read_graph(out / f"{chosen.prefix}{number}.npz")
        assert list(graph.node_names or ()) == want.ids
        assert [tuple(edge) for edge in graph.edge_index.T.tolist()] == want.edges
        assert graph.y is not None
        assert [graph.class_names[label] for label in graph.y] == want.subreddits
        assert set(graph.class_names) == set(want.subreddits)
        assert graph.attributes["title"].tolist() == want.titles
        assert graph.attributes["text"].tolist() == want.texts
        assert graph.attributes["link"].tolist() == want.links
        assert graph.x is not None
        np.testing.assert_allclose(graph.x, np.array(want.x), rtol=1e-5, atol=1e-6)
        group = next(group for group in report["groups"] if group["graph"] == graph.name)
        assert (group["nodes"], group["edges"], group["wordless"]) == (graph.num_nodes, graph.num_edges, want.wordless)
        assert sum(size["nodes"] for size in group["classes"]) == graph.num_nodes
        assert group["homophily"] == graph.homophily
    counts = expected.counts
    assert sum(report["submissions"]["rejected"].values()) == counts["rejected posts"]
    assert sum(report["comments"]["rejected"].values()) == counts["rejected comments"]
    assert report["selected"]["repeated"] == counts["repeated posts"]
    assert report["selected"]["anonymous"] == counts["anonymous"]
    assert report["comment_counts"]["repeated"] == counts["repeated comments"]
    assert {fate: report["comment_counts"][fate] for fate in ("deleted", "excluded", "outside", "elsewhere", "used")} == {
        fate: counts[fate] for fate in ("deleted", "excluded", "outside", "elsewhere", "used")
    }


shapes = st.builds(
    Shape,
    posts=st.integers(1, 60),
    comments=st.integers(0, 150),
    subreddits=st.integers(1, 6),
    users=st.integers(1, 12),
    seconds=st.sampled_from([1, 5, 1000]),
    dirt=st.sampled_from([0.0, 0.1, 0.5]),
    deleted=st.sampled_from([0.0, 0.25, 0.7]),
)
choices = st.builds(
    lambda first, more, **others: RedditSettings(first_rank=first, last_rank=first + more, width=WIDTH, **others),
    first=st.integers(1, 3),
    more=st.integers(0, 2),
    group_size=st.sampled_from([5, 12, 40]),
    shared_users=st.sampled_from([1, 2, 2, 3]),
    groups=st.sampled_from([None, 1, 2]),
    exclude_bots=st.booleans(),
    exclude_users=st.sampled_from([(), ("uSer0",), ("user1", "nobody")]),
)


@pytest.mark.slow
@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 2**32 - 1), shape=shapes, chosen=choices, chunk=st.sampled_from([1, 300, 2000, 10**6]))
def test_agrees_with_the_reference_on_generated_months(seed: int, shape: Shape, chosen: RedditSettings, chunk: int) -> None:
    month = make_month(seed, shape)
    expected = build_by_hand(month.submissions, month.comments, month.glove, chosen)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        limits = Limits(memory_gb=1, threads=1 + seed % 2, chunk_bytes=chunk)
        wordless = expected.graphs and all(not any(map(any, graph.x)) for graph in expected.graphs.values())
        if not expected.graphs or wordless:
            with pytest.raises(InputError):
                build_reddit(*save(month, folder), folder / "out", chosen, limits=limits)
            assert not list((folder / "out").glob("*.*z*"))
            return
        build_reddit(*save(month, folder), folder / "out", chosen, limits=limits)
        compare(folder / "out", expected, chosen)
