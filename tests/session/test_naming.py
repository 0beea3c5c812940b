"""What counts as misspelt."""

from __future__ import annotations

import pytest

from nodewise.session.naming import probable_typo


@pytest.mark.parametrize(("label", "classes"), [("sport", ["sports"]), ("SPAM", ["spam"]), ("Genetic algorithm", ["Genetic Algorithms"])])
def test_these_are_probably_misspelt(label: str, classes: list[str]) -> None:
    found = probable_typo(label, classes)
    assert found is not None and repr(classes[0]) in str(found) and "--new-class" in str(found)


@pytest.mark.parametrize(("label", "classes"), [("7", ["1", "2"]), ("year 2", ["year 1"]), ("weather", ["sports", "politics"]), ("x", [])])
def test_these_are_classes_of_their_own(label: str, classes: list[str]) -> None:
    assert probable_typo(label, classes) is None
