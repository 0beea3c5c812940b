"""How counts and lists are said; one rule for what a class may be called, at import and at answering."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodewise.ground.errors import InputError
from nodewise.ground.wording import class_name, count, listed, tidy_name
from nodewise.session.naming import valid_class


def test_count_knows_one_and_many() -> None:
    assert count(1, "edge") == "1 edge"
    assert count(12345, "edge") == "12,345 edges"
    assert count(0, "class", "classes") == "0 classes"


def test_listed_quotes_and_cuts() -> None:
    assert listed(["a", 2]) == "'a', '2'"
    assert listed(range(10), most=2) == "'0', '1' and 8 more"
    assert listed([]) == ""


FAMILY = "\N{MAN}\u200d\N{WOMAN}\u200d\N{GIRL}"

KEPT = ["a b", "Käse", "no\u00a0break", "می\u200cخواهم", FAMILY, "\N{WHITE HEAVY CHECK MARK}\ufe0f", "1.0", "nan", "=1+1", "क्‍ष", "x" * 200]


@pytest.mark.parametrize("name", KEPT)
def test_names_that_people_use_are_kept_as_they_are(name: str) -> None:
    assert class_name(name) == valid_class(name) == name


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (" a ", "a"),
        ("\u00a0a\u3000", "a"),
        ("a\tb", "a b"),
        ("a \r\n  b", "a b"),
        ("a\u2028b", "a b"),
        ("a\x00b\x1b", "ab"),
        ("\ufeffa", "a"),
        ("a\u202eb", "ab"),
        ("Ka\u0308se", "Käse"),
        ("e\x00\u0301", "é"),
        (7, "7"),
    ],
)
def test_what_cannot_be_seen_is_made_harmless(given: object, kept: str) -> None:
    assert class_name(given) == valid_class(given) == kept


@pytest.mark.parametrize("name", ["", "  ", "\u00a0", "\t\n", "\u200d\u200c", "\x00", "x" * 201])
def test_names_of_nothing_or_of_too_much_are_refused(name: str) -> None:
    for rule in (class_name, valid_class):
        with pytest.raises(InputError, match="a class needs a name of 1 to 200 printable characters, got"):
            rule(name)


@given(st.text())
def test_the_rule_changes_a_name_once(text: str) -> None:
    assert tidy_name(tidy_name(text)) == tidy_name(text)
