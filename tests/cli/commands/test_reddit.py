"""``nodewise reddit build`` on a month of eight posts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nodewise.cli import main
from nodewise.graph import read_graph

pytest.importorskip("duckdb")

POSTS = [
    ("a", "sea", "ada"),
    ("b", "sea", "bob"),
    ("c", "land", "cyd"),
    ("d", "land", "dan"),
    ("e", "sea", "[deleted]"),
    ("f", "sky", "eve"),
]
COMMENTS = [("a", "bob"), ("b", "ada"), ("c", "ada"), ("c", "bob"), ("d", "cyd"), ("f", "cyd")]


@pytest.fixture
def month(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The dumps in the current folder, and the options that fit them."""
    monkeypatch.chdir(tmp_path)
    posts = [
        {"id": name, "subreddit": place, "author": author, "created_utc": str(100 + at), "title": "ship ahoy", "selftext": ""}
        for at, (name, place, author) in enumerate(POSTS)
    ]
    comments = [
        {"id": f"c{at}", "link_id": f"t3_{post}", "parent_id": f"t3_{post}", "author": by} for at, (post, by) in enumerate(COMMENTS)
    ]
    Path("RS").write_text("".join(json.dumps(post) + "\n" for post in posts), encoding="utf-8")
    Path("RC").write_text("".join(json.dumps(comment) + "\n" for comment in comments), encoding="utf-8")
    Path("glove.txt").write_text("ship 1 2 3\nahoy 3 4 5\n", encoding="utf-8")
    return ["--submissions", "RS", "--comments", "RC", "--glove", "glove.txt", "--width", "3", "--group-size", "5", "--ranks", "1-2"]


def test_a_small_month_becomes_a_graph_and_a_report(month: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["reddit", "build", *month, "--out", "graphs", "--groups", "all"]) == 0
    shown = capfd.readouterr().out
    assert shown.endswith("1 graph in graphs: reddit1\n")
    for part in ("anonymous posts deleted", "subreddit", "sea", "homophily"):
        assert part in shown
    graph = read_graph(Path("graphs") / "reddit1.npz")
    assert graph.node_names == ("a", "b", "c")
    assert graph.edge_index.T.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert graph.dense_features().tolist() == [[2, 3, 4]] * 3


def test_the_report_for_a_machine_is_the_one_that_is_saved(month: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["reddit", "build", *month, "--out", "graphs", "--json", "--quiet"]) == 0
    out, err = capfd.readouterr()
    assert err == ""
    told = json.loads(out)
    assert told == json.loads((Path("graphs") / "reddit-report.json").read_text(encoding="utf-8"))
    assert told["graphs"] == ["reddit1"]
    assert (told["settings"]["first_rank"], told["settings"]["last_rank"], told["settings"]["groups"]) == (1, 2, 5)


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (["--groups", "some"], ["--groups got 'some'", "all"]),
        (["--groups", "0"], ["--groups got '0'"]),
        (["--ranks", "11"], ["--ranks got '11'", "11-20"]),
        (["--ranks", "20-11"], ["20", "11"]),
        (["--submissions", "nowhere"], ["nowhere"]),
        (["--width", "300"], ["glove.txt", "300"]),
    ],
)
def test_bad_input_leaves_nothing_behind(
    wrong: list[str], expected: list[str], month: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["reddit", "build", *month, "--out", "graphs", *wrong]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("nodewise reddit build: ")
    assert err.count("\n") == 1
    for part in expected:
        assert part in err
    assert not list(Path().glob("graphs/*.npz"))
