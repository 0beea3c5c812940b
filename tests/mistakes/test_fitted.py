"""Mistakes with fitted learners and their files."""

from __future__ import annotations

import pytest

import nodewise as nw
from tests.mistakes.telling import KARATE, Mistake, World, is_refused

MISTAKES: list[Mistake] = [
    (
        "fitted to a class outside the list",
        lambda w: nw.fit(KARATE, {0: "a"}, classes=["b"]),
        ValueError,
        "the labels name 'a', and the classes are 'b': add it, or correct it",
    ),
    (
        "fitted to a class nearly in the list",
        lambda w: nw.fit(KARATE, {0: "alpa"}, classes=["alpha", "beta"]),
        ValueError,
        "the labels name 'alpa', and the classes are 'alpha', 'beta': add it, or correct it; did you mean 'alpha'?",
    ),
    (
        "fitted to too few labels",
        lambda w: nw.fit(KARATE, [1, 2]),
        ValueError,
        "labels need one entry for each of the 34 nodes, None where it is not k",
    ),
    (
        "fitted with a classifier misspelt",
        lambda w: nw.fit(KARATE, {0: "a"}, "viws"),
        ValueError,
        "unknown classifier 'viws': did you mean 'views'? One of your own is na",
    ),
    (
        "a graph in place of a fitted learner's file",
        lambda w: nw.load_fitted(KARATE),
        TypeError,
        "the file of a fitted learner was expected, received Graph: give it as",
    ),
    (
        "another file in place of a fitted learner's",
        lambda w: nw.load_fitted(w.folder / "x.nodewise"),
        ValueError,
        "is no fitted learner, or damaged: give a file that Fitted.save wrote",
    ),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake[0])
def test_a_mistake_in_python_is_told(mistake: Mistake, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    is_refused(mistake, world, monkeypatch)
