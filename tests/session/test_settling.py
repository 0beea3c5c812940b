"""Disagreements that are settled, opinions asked for later, and a class that is misspelt when it is declared."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodewise.ground.errors import InputError, SessionError, UnknownNameError
from nodewise.session import Session
from tests.session.jobs import small_job


def disagreeing(path: Path) -> Session:
    session = small_job(path, redundancy=3)
    session.tell(7, "a", "ada")
    session.tell(7, "b", "bob")
    return session


def test_what_is_settled_counts_whatever_the_votes_say_and_is_asked_no_more(tmp_path: Path) -> None:
    session = disagreeing(tmp_path / "job.nodewise")
    assert session.labels[7] == "a" and list(session.status().disagreements) == ["7"]
    event = session.settle(7, "b", "owner")
    assert session.labels[7] == "b" and not session.status().disagreements and session.history == [(7, "b")]
    assert session.ask(annotator="cyd").node != 7, "no third opinion is wanted"
    with pytest.raises(InputError, match="'owner' has settled that node '7' is 'b'"):
        session.tell(7, "a", "cyd", overrule=True)
    session.tell(7, "b", "cyd")  # says the same
    kappa = session.status().kappa
    assert kappa is not None and kappa.nodes == 1, "the votes stay"
    session.settle(7, "a", "owner")
    assert session.labels[7] == "a"
    session.undo()
    assert session.labels[7] == "b"
    session.undo(event)
    assert session.labels[7] == "b" and list(session.status().disagreements) == ["7"], "two of three say b"
    with Session.open(session.path) as again:
        assert again.labels == session.labels


def test_only_what_is_labelled_can_be_settled_and_only_as_a_class_that_there_is(tmp_path: Path) -> None:
    session = disagreeing(tmp_path / "job.nodewise")
    with pytest.raises(InputError, match="nobody has labelled node '8'"):
        session.settle(8, "a")
    with pytest.raises(UnknownNameError, match="unheard"):
        session.settle(7, "unheard")
    session.settle(7, "b")
    session.undo(2)  # bob's vote, the last to say b
    assert session.labels[7] == "b"
    session.undo(1)
    assert 7 not in session.labels, "without any vote there is nothing to settle"


def test_a_merged_class_takes_what_was_settled_along(tmp_path: Path) -> None:
    session = disagreeing(tmp_path / "job.nodewise")
    session.settle(7, "b")
    session.merge_classes("b", "a")
    assert session.labels[7] == "a"


def test_opinions_on_each_node_can_be_raised_and_lowered(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job.nodewise", budget=1)
    session.tell(session.ask(annotator="ada").node, "a", "ada")
    assert session.done
    with pytest.raises(SessionError, match="budget of 1 labels is spent"):
        session.ask(annotator="bob")
    event = session.set_redundancy(2)
    assert (
        not session.done
        and session.ask(annotator="bob").node == session.history[0][0]
        and session.rules().redundancy == 2
    )
    session.undo(event)
    assert session.done
    with pytest.raises(InputError, match="whole number from 1 to 100, got 0"):
        session.set_redundancy(0)


def test_a_class_that_looks_misspelt_is_declared_only_when_it_is_meant(tmp_path: Path) -> None:
    session = small_job(tmp_path / "job.nodewise", classes=["database", "b"])
    with pytest.raises(UnknownNameError, match="databse") as refused:
        session.add_class("databse")
    assert list(refused.value.suggestions) == ["database"] and session.classes == ("database", "b")
    session.add_class("databse", new_class=True)
    assert session.classes == ("database", "b", "databse")
