"""Each kind of broken input: a clear message, and nothing in the output folder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from nodewise.datasets.reddit import Limits, RedditSettings, build_reddit
from nodewise.graph import read_graph
from nodewise.ground.errors import InputError, MissingExtraError
from nodewise.ground.events import Event, Warned
from tests.datasets.reddit.small_month import COMMENT_LINES, PACK, SETTINGS, SUBMISSION_LINES, write_month

LIMITS = Limits(memory_gb=1, threads=2)
PACKED = [ending for ending in PACK if ending]


def refused(paths: tuple[Path, Path, Path], out: Path, said: str, settings: RedditSettings = SETTINGS) -> None:
    """The build fails with that message, and leaves no graph, no report and nothing half-written behind."""
    with pytest.raises(InputError, match=said):
        build_reddit(*paths, out, settings, limits=LIMITS)
    left = {path.name for path in out.iterdir()} if out.exists() else set()
    assert left <= {".reddit-work"}  # what has been read, where reading it again would take long


@pytest.mark.parametrize("ending", PACKED)
@pytest.mark.parametrize("which", [0, 1])
def test_a_truncated_archive(tmp_path: Path, ending: str, which: int) -> None:
    paths = write_month(tmp_path / "in", ending)
    paths[which].write_bytes(paths[which].read_bytes()[:-6])
    refused(paths, tmp_path / "out", rf"R[SC]_2014-01\{ending} is truncated: .* Download it again")
    if which == 0:
        assert not (tmp_path / "out").exists()
    write_month(tmp_path / "in", ending)  # downloaded again
    assert build_reddit(*paths, tmp_path / "out", SETTINGS, limits=LIMITS).graphs == ("reddit1",)
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"reddit1.npz", "reddit-report.json"}


@pytest.mark.parametrize("ending", PACKED)
def test_an_archive_that_is_an_error_page(tmp_path: Path, ending: str) -> None:
    paths = write_month(tmp_path / "in", ending)
    paths[0].write_bytes(b"<!DOCTYPE html><title>404 Not Found</title>")
    refused(paths, tmp_path / "out", f"is named like a {ending[1:]} file but begins with b'<!DOCTYP'")


def test_lines_that_are_not_json_are_left_out_counted_and_told(tmp_path: Path) -> None:
    broken = [b"not json", *SUBMISSION_LINES, SUBMISSION_LINES[0][:20]]
    paths = write_month(tmp_path / "in", "", broken, [COMMENT_LINES[0][:-5], *COMMENT_LINES])
    heard: list[Event] = []
    report = build_reddit(*paths, tmp_path / "out", SETTINGS, limits=LIMITS, reporter=heard.append)
    assert report.submissions.rejected == {"not JSON": 2}
    assert report.comments.rejected == {"not JSON": 1}
    assert ("  not used: not JSON", -2) in report.tables()[0].rows
    warned = [event.message for event in heard if isinstance(event, Warned)]
    assert "submissions: 2 of 10 lines are not used (2 not JSON); RS_2014-01 line 1: not JSON: 'not json'" in warned
    assert read_graph(tmp_path / "out" / "reddit1.npz").node_names == ("p1", "p2", "p3", "p4")


@pytest.mark.parametrize("ending", PACK)
def test_an_empty_month(tmp_path: Path, ending: str) -> None:
    refused(write_month(tmp_path / "a", ending, []), tmp_path / "out", "no submissions: RS_2014-01.* has no lines")
    assert not (tmp_path / "out").exists()
    refused(write_month(tmp_path / "b", ending, None, []), tmp_path / "out", "no comments: RC_2014-01.* has no lines")


def test_a_file_with_nothing_of_use(tmp_path: Path) -> None:
    said = (
        r"no submissions: none of the 3 lines of RS_2014-01 can be used \(3 not JSON\); RS_2014-01 line 1: not JSON:"
        r" 'a,b'"
    )
    refused(write_month(tmp_path / "in", "", [b"a,b", b"1,2", b"3,4"]), tmp_path / "out", said)


def test_submissions_and_comments_exchanged(tmp_path: Path) -> None:
    submissions, comments, glove = write_month(tmp_path / "in")
    refused(
        (comments, submissions, glove),
        tmp_path / "out",
        "no submissions: none of the 15 lines .* a comment, not a post",
    )


def test_the_same_file_as_both(tmp_path: Path) -> None:
    submissions, _, glove = write_month(tmp_path / "in")
    refused((submissions, submissions, glove), tmp_path / "out", "RS_2014-01 is given as submissions and as comments")


def test_all_posts_deleted(tmp_path: Path) -> None:
    lines = [line.replace(b'"author": "', b'"author": "[deleted]", "was": "') for line in SUBMISSION_LINES]
    refused(write_month(tmp_path / "in", "", lines), tmp_path / "out", "no posts are left: all 8 are by deleted users")


def test_comments_of_another_month(tmp_path: Path) -> None:
    lines = [line.replace(b"t3_p", b"t3_x") for line in COMMENT_LINES]
    said = (
        "no graph can be built: group 1: no two of its 6 chosen posts share 2 users. Check that the comments belong to"
        " the submissions"
    )
    refused(write_month(tmp_path / "in", "", None, lines), tmp_path / "out", said)


def test_ranks_that_no_group_has(tmp_path: Path) -> None:
    said = "group 1: it has 3 subreddits: of the ranks 11 to 20, none exists"
    refused(write_month(tmp_path / "in"), tmp_path / "out", said, RedditSettings(group_size=8, width=3))


def test_vectors_of_another_width(tmp_path: Path) -> None:
    refused(
        write_month(tmp_path / "in"),
        tmp_path / "out",
        "glove.txt has vectors of 3 numbers .* but 300 are asked for",
        RedditSettings(),
    )
    assert not (tmp_path / "out").exists()
    mixed = write_month(tmp_path / "in", glove=b"A 1 0 0\nred 0 1\n")
    refused(mixed, tmp_path / "out", "glove.txt line 2 has 2 numbers, the lines before it 3")


@pytest.mark.parametrize(
    ("glove", "said"),
    [
        (b"Rot 1 2 3\nKatze 4 5 6\n", "none of the 7 different words of the chosen posts is in glove.txt"),
        (b"", "empty"),
    ],
)
def test_no_words_known(tmp_path: Path, glove: bytes, said: str) -> None:
    refused(write_month(tmp_path / "in", glove=glove), tmp_path / "out", said)


def test_no_glove_file(tmp_path: Path) -> None:
    submissions, comments, _ = write_month(tmp_path / "in")
    refused((submissions, comments, tmp_path / "glove.txt"), tmp_path / "out", "no GloVe file at")
    assert not (tmp_path / "out").exists()


def test_an_output_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises((InputError, OSError)):
        build_reddit(*write_month(tmp_path / "in"), tmp_path / "out", SETTINGS, limits=LIMITS)
    assert (tmp_path / "out").read_text() == "mine"


def test_without_duckdb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtraError, match=r"pip install '.*\[reddit\]'"):
        build_reddit(*write_month(tmp_path / "in"), tmp_path / "out", SETTINGS, limits=LIMITS)
    assert not (tmp_path / "out").exists()
