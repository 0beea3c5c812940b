from __future__ import annotations

import pytest

from nodewise.datasets.reddit.dumps import TOO_LONG
from nodewise.datasets.reddit.records import COMMENTS, SUBMISSIONS, second_opinion


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", "empty line"),
        (b" \r", "empty line"),
        (TOO_LONG, "line too long"),
        (b'{"id": "a"', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[1]", "not a JSON object"),
        (b"null", "not a JSON object"),
        (b"{}", "no id"),
        (b'{"id": ""}', "no id"),
        (b'{"id": "a"}', "no creation time"),
        (b'{"id": "a", "created_utc": "now"}', "no creation time"),
        (b'{"id": "a", "created_utc": Infinity}', "no creation time"),
        (b'{"id": "a", "created_utc": 5, "link_id": "t3_b"}', "a comment, not a post"),
    ],
)
def test_the_reason_why_a_line_is_no_post(line: bytes, reason: str) -> None:
    assert second_opinion(SUBMISSIONS, line) == reason


@pytest.mark.parametrize(
    "line",
    [
        b'{"id": "a"}',
        b'{"id": "a", "link_id": "t1_b"}',
        b'{"id": "a", "link_id": "t3_"}',
        b'{"id": "a", "link_id": null}',
    ],
)
def test_a_comment_must_name_its_post(line: bytes) -> None:
    assert second_opinion(COMMENTS, line) == "no link_id that names a post"


def test_a_line_that_python_can_read_is_read() -> None:
    line = b'{"id": "a", "created_utc": "5", "title": "x \\ud83d \xff", "author": null, "extra": {"id": "b"}}'
    found = second_opinion(SUBMISSIONS, line)
    assert isinstance(found, dict)
    assert found == {
        "id": "a",
        "created_utc": "5.0",
        "author": None,
        "subreddit": None,
        "title": "x \ufffd \ufffd",
        "selftext": None,
        "url": None,
        "link_id": None,
    }


def test_what_follows_the_object_is_ignored_and_the_first_of_two_fields_counts() -> None:
    found = second_opinion(
        COMMENTS, b' {"id": "a", "id": "b", "link_id": "t3_c"}{"id": "d", "link_id": "t3_e"} rubbish'
    )
    assert found == {"id": "a", "link_id": "t3_c", "author": None}


def test_a_pair_of_surrogates_written_as_two_escapes_is_one_character() -> None:
    found = second_opinion(COMMENTS, b'{"id": "a", "link_id": "t3_b", "author": "\\ud83d\\ude00"}')
    assert isinstance(found, dict)
    assert found["author"] == "\U0001f600"
