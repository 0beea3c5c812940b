"""Whether a built folder holds what the reference says."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from nodewise.datasets.reddit import RedditSettings
from nodewise.graph import read_graph
from tests.datasets.reddit.month import Month
from tests.datasets.reddit.reference import Expected


def save(month: Month, folder: Path) -> tuple[Path, Path, Path]:
    paths = folder / "RS_2014-01", folder / "RC_2014-01", folder / "glove.txt"
    for path, data in zip(paths, (joined(month.submissions), joined(month.comments), month.glove), strict=True):
        path.write_bytes(data)
    return paths


def joined(lines: list[bytes]) -> bytes:
    """The lines, the last one without an end, unless it would not be there then."""
    return b"\n".join(lines) + (b"" if lines and lines[-1] else b"\n")


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
    assert {
        fate: report["comment_counts"][fate] for fate in ("deleted", "excluded", "outside", "elsewhere", "used")
    } == {fate: counts[fate] for fate in ("deleted", "excluded", "outside", "elsewhere", "used")}
