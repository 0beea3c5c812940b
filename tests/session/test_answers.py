"""What people may say: what counts as misspelt, which names and texts are taken, and which events nodewise writes."""

from __future__ import annotations

from typing import Any

import pytest

from nodewise.ground.errors import InputError
from nodewise.session.answers import (
    KINDS,
    LAST_CLASS,
    Draft,
    Event,
    check_event,
    form_needed,
    probable_typo,
    valid_person,
    valid_text,
)

GOOD: dict[str, dict[str, Any]] = {
    "ask": {"node": 0, "why": ["because"], "score": None, "predicted": [["a", 0.5]]},
    "tell": {"node": 9, "label": "a", "class": 1},
    "bulk": {"nodes": [0, 1], "labels": ["a", "b"], "classes": [1, 2]},
    "skip": {"node": 3},
    "settle": {"node": 3, "label": "a", "class": 1},
    "class": {"name": "a"},
    "rename": {"class": 1, "name": "b"},
    "merge": {"class": 1, "into": 2},
    "describe": {"class": None, "text": ""},
    "order": {"classes": [2, 1]},
    "note": {"node": 3, "text": "blurred"},
    "budget": {"budget": 10},
    "redundancy": {"redundancy": 100},
    "known": {"nodes": [3], "labels": ["a"], "classes": [1]},
    "suggest": {
        "name": "assistant",
        "labels": ["a"],
        "classes": [1],
        "answers": 3,
        "attached": {"suggestions": "0" * 64},
    },
    "rows": {"first": 10, "count": 3, "audit": [11], "attached": {"rows": "0" * 64}},
    "change": {"nodes": [0, 9], "attached": {"rows": "0" * 64}},
    "remove": {"nodes": [0, 9]},
    "erase": {"nodes": [0, 9]},
    "erased": {"was": "tell"},
    "join": {
        "from": "other",
        "nodes": [0],
        "labels": ["a"],
        "classes": [1],
        "annotators": ["ada"],
        "times": [1.5],
        "bulk": [False],
    },
    "release": {"annotator": "ada"},
    "undo": {"event": 6},
}


@pytest.mark.parametrize(
    ("label", "classes"), [("sport", ["sports"]), ("SPAM", ["spam"]), ("Genetic algorithm", ["Genetic Algorithms"])]
)
def test_these_are_probably_misspelt(label: str, classes: list[str]) -> None:
    found = probable_typo(label, classes)
    assert found is not None and repr(classes[0]) in str(found) and "--new-class" in str(found)


@pytest.mark.parametrize(
    ("label", "classes"), [("7", ["1", "2"]), ("year 2", ["year 1"]), ("weather", ["sports", "politics"]), ("x", [])]
)
def test_these_are_classes_of_their_own(label: str, classes: list[str]) -> None:
    assert probable_typo(label, classes) is None


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_an_event_lacks_nothing_that_it_must_say(kind: str) -> None:
    assert check_event(Event(7, 1.0, "me", kind, GOOD[kind]), 10) == ""
    for key in GOOD[kind].keys() - {"why", "score", "predicted"} - ({"class"} if kind == "tell" else set()):
        less = {name: value for name, value in GOOD[kind].items() if name != key}
        assert check_event(Event(7, 1.0, "me", kind, less), 10).startswith(f"its {key} is")


@pytest.mark.parametrize(
    ("kind", "change", "wrong"),
    [
        ("tell", {"node": 10}, "node"),
        ("tell", {"node": True}, "node"),
        ("tell", {"label": "  "}, "label"),
        ("tell", {"overrule": False}, "overrule"),
        ("settle", {"class": LAST_CLASS + 1}, "class"),
        ("bulk", {"labels": ["a"]}, "nodes"),
        ("note", {"text": "x" * 20_001}, "text"),
        ("undo", {"event": 7}, "event"),
        ("rows", {"first": 9}, "first"),
        ("rows", {"audit": [9]}, "audit"),
        ("rows", {"attached": {"edges": "0" * 64}}, "attached"),
        ("remove", {"nodes": [10]}, "nodes"),
        ("join", {"times": [1.0, 2.0]}, "nodes"),
        ("redundancy", {"redundancy": 101}, "redundancy"),
        ("ask", {"predicted": [["a", float("inf")]]}, "predicted"),
    ],
)
def test_an_event_that_nodewise_would_not_write_is_seen(kind: str, change: dict[str, Any], wrong: str) -> None:
    assert check_event(Event(7, 1.0, "me", kind, {**GOOD[kind], **change}), 10).startswith(f"its {wrong} is")


def test_a_kind_of_another_version_is_seen() -> None:
    assert "which this version does not know" in check_event(Event(1, 1.0, "me", "dance", {}), 10)


def test_what_an_older_nodewise_would_misread_needs_a_later_form() -> None:
    assert form_needed(Draft("tell", "me", {"node": 1, "label": "a"})) == 1
    assert form_needed(Draft("tell", "me", {"node": 1, "label": "a", "overrule": True})) == 2
    assert form_needed(Draft("note", "me", {"node": 1, "text": "a"})) == 2
    assert form_needed(Draft("tell", "me", {"node": 1, "label": "a"}, {"rows": b"many"})) == 3


def test_names_and_texts_lose_blanks_at_their_ends() -> None:
    assert valid_person("  ada ") == "ada" and valid_text(" seen twice\n") == "seen twice"


@pytest.mark.parametrize("name", ["", "  ", "a" * 201, "a\nb", "\u200b"])
def test_a_name_that_cannot_be_seen_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="an annotator needs a name of 1 to 200 printable characters"):
        valid_person(name)


@pytest.mark.parametrize("text", [None, 3, "x" * 20_001])
def test_a_text_that_is_too_long_or_none_is_refused(text: object) -> None:
    with pytest.raises(InputError, match="must be a text of at most 20,000 characters"):
        valid_text(text)
