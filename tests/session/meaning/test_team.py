"""Rows that are given to somebody and freed again; what is known of rows, read before it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodewise.ground.errors import InputError
from nodewise.session.meaning import team
from tests.session.jobs import Clock, small_job


def test_a_row_that_is_with_somebody_is_free_again_when_the_time_for_an_answer_has_passed(tmp_path: Path) -> None:
    """By the session's own clock, whatever the machine's says."""
    clock = Clock()
    session = small_job(tmp_path / "job", clock=clock, release_after=60.0)
    assert session.assign([3, 4], "ada") == [3, 4]
    assert session.assign([3, 4, 5], "bo") == [5]
    clock.now += 59.0
    assert team.may_be_given(session.moment(), "cy", [3, 5, 6]) == [6]
    clock.now += 2.0
    assert team.may_be_given(session.moment(), "cy", [3, 5, 6]) == [3, 5, 6]
    assert session.assign([3], "bo") == [3]


def test_what_somebody_has_not_answered_is_freed_whole_or_in_part(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job")
    session.assign([3, 4, 5], "ada")
    session.tell(4, "a", "ada")
    some, whole = team.Release("olga", "ada", [5, 6]), team.Release("olga", "ada")
    (draft,) = some.draft(session.moment())
    assert (draft.annotator, draft.body, some.count) == ("olga", {"annotator": "ada", "nodes": [5]}, 1)
    assert whole.draft(session.moment())[0].body == {"annotator": "ada"} and whole.count == 2
    nobody = team.Release("olga", "bo")
    assert nobody.draft(session.moment()) == [] and nobody.count == 0, "nothing to free, nothing to write"


def test_what_is_known_is_written_as_it_was_read(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job")
    known = team.Known.read(session.moment(), {3: "a", 40: "b", 41: None}, 20, counts=True)
    (draft,) = known.draft("olga", session.moment())
    assert draft.kind == "known" and draft.annotator == "olga"
    assert (draft.body["nodes"], draft.body["labels"]) == ([3, 40], ["a", "b"])
    assert (draft.body["percent"], draft.body["counts"]) == (20, True) and "column" not in draft.body
    session.tell(3, "a")
    with pytest.raises(InputError, match="'3' has a label already"):
        known.draft("olga", session.moment())
    with pytest.raises(InputError, match="no answer is known of a row that could be asked"):
        team.Known.read(session.moment(), {}, None, counts=False)
