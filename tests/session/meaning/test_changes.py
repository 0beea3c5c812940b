"""What people say and change, as events, decided on a history by hand."""

from __future__ import annotations

from typing import Any

import pytest

from nodewise.ground.errors import AlreadyLabelledError, InputError, SessionError, UnknownNameError
from nodewise.session.answers import Draft, Event
from nodewise.session.meaning import changes
from nodewise.session.meaning.changes import Answers
from nodewise.session.meaning.history import History, read_history
from tests.session.meaning.test_history import log, told

START = ["cat", "dog"]


def history(*entries: tuple[Any, ...]) -> History:
    return read_history(log(*entries), START)


def answers(label: str, who: str = "me", **options: bool) -> Answers:
    flags = {"new_class": False, "overrule": False, "alone": True, "closed": False, **options}
    return Answers([3], ["n3"], [(label,)], who, **flags)


def test_a_label_becomes_an_event_with_the_number_of_its_class() -> None:
    (draft,) = answers("dog").as_tells(history())
    assert (draft.kind, draft.annotator, draft.body) == ("tell", "me", {"node": 3, "label": "dog", "class": 2})
    (draft,) = answers("bird", overrule=True).as_bulk(history())
    assert draft.body == {"nodes": [3], "labels": ["bird"], "classes": [3], "overrule": True}


def test_a_label_is_refused_that_is_misspelt_or_against_what_others_said_or_settled() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'cat'"):
        answers("cats").as_tells(history())
    assert answers("cats", new_class=True).as_tells(history())[0].body["class"] == 3
    said = history(told(3, "cat", "ada"))
    with pytest.raises(AlreadyLabelledError, match="'n3' was labelled 'cat' by 'ada'"):
        answers("dog").as_tells(said)
    assert answers("dog", alone=False).as_tells(said) and answers("dog", overrule=True).as_tells(said)
    settled = history(told(3, "cat", "ada"), ("settle", "eve", {"node": 3, "label": "dog", "class": 2}))
    with pytest.raises(InputError, match="'eve' has settled that node 'n3' is 'dog'"):
        answers("cat", "ada", overrule=True).as_tells(settled)


def test_a_new_class_is_refused_by_a_closed_list_and_spelled_as_in_a_table() -> None:
    for answer in (answers("cats", closed=True), answers("bird", closed=True, new_class=True)):
        with pytest.raises(UnknownNameError, match="no others than its 2: its list of classes is closed"):
            answer.as_tells(history())
    with pytest.raises(UnknownNameError, match="unknown class 'cats': did you mean 'cat'"):
        changes.declare("me", "cats", True, True, history())
    assert answers("cat", closed=True).as_bulk(history())[0].body["classes"] == [1]
    for word in ("NaN", "none", "N/A"):
        with pytest.raises(InputError, match=f"{word!r} means unlabelled and is no class here: skip the node"):
            answers(word).as_tells(history())
        assert answers(word, new_class=True).as_tells(history())[0].body["label"] == word
    numbers = read_history([], ["0", "1"])
    assert answers("1.0").as_tells(numbers)[0].body == {"node": 3, "label": "1", "class": 2}
    assert answers("2.0").as_bulk(numbers)[0].body["labels"] == ["2"]


def test_skipping_needs_no_label_and_settling_one() -> None:
    said = history(told(3, "cat", "ada"))
    with pytest.raises(InputError, match="'ada' has labelled node 'n3', so it cannot be skipped"):
        changes.skip("ada", {3: "n3"}, said)
    assert changes.skip("bob", {3: "n3"}, said)[0].body == {"node": 3}
    assert changes.skip("bob", {3: "n3", 4: "n4"}, said)[0].body == {"nodes": [3, 4]}
    assert changes.settle("bob", 3, "n3", "dog", said)[0].body == {"node": 3, "label": "dog", "class": 2}
    with pytest.raises(InputError, match="nobody has labelled node 'n4'"):
        changes.settle("bob", 4, "n4", "dog", said)


@pytest.mark.parametrize("budget", [0, 61, True, 2.0])
def test_a_budget_is_a_number_of_nodes(budget: Any) -> None:
    with pytest.raises(InputError, match="from 1 to the graph's 60 nodes"):
        changes.change_budget("me", budget, 60, history())
    assert changes.change_budget("me", 60, 60, history())[0].body == {"budget": 60}


@pytest.mark.parametrize("redundancy", [0, 101, True, 2.0])
def test_opinions_are_between_one_and_a_hundred(redundancy: Any) -> None:
    with pytest.raises(InputError, match="from 1 to 100"):
        changes.change_redundancy("me", redundancy, history())


def test_classes_are_changed_by_their_numbers() -> None:
    now = history()
    assert changes.rename("me", "cat", "feline", now)[0].body == {"class": 1, "name": "feline"}
    assert changes.merge("me", "cat", "dog", now)[0].body == {"class": 1, "into": 2}
    assert changes.order("me", ["dog", "cat"], now)[0].body == {"classes": [2, 1]}
    for wrong in (
        lambda: changes.rename("me", "cat", "dog", now),
        lambda: changes.merge("me", "cat", "cat", now),
        lambda: changes.order("me", ["dog", "dog"], now),
        lambda: changes.order("me", "dog", now),
        lambda: changes.declare("me", "dog", False, False, now),
    ):
        with pytest.raises(InputError):
            wrong()


def test_an_undo_that_would_give_two_classes_one_name_is_refused() -> None:
    events: list[Event] = log(
        ("rename", "me", {"class": 1, "name": "feline"}), ("class", "me", {"name": "cat", "class": 3})
    )
    now = read_history(events, START)
    target = changes.undoable(events, now, 1, None)
    assert target.kind == "rename"
    with pytest.raises(SessionError, match="two classes would be called 'cat'"):
        changes.check_undo(events, Draft("undo", "me", {"event": 1}), START)
