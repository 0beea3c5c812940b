"""What a model says, read from whatever holds it: pairs told from answers, and confidences that are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nodewise as nw
from nodewise.ground.errors import InputError
from nodewise.session.meaning.given import answers_and_confidence, read_given


def graph_of(nodes: int) -> nw.Graph:
    """Texts in a row, with a column of rules and one of how sure they are."""
    texts = {"text": ["a cat", "a dog", "a bond", "a stock"][:nodes], "rules": ["pet"] * nodes, "sure": ["0.5"] * nodes}
    return nw.Graph.from_dataframe(texts, text="text", k=1)


def test_two_answers_of_a_graph_with_two_nodes_are_no_pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    two, four = graph_of(2), graph_of(4)
    for answers in (("pet", "money"), ("pet", None), (None, "pet"), (0, 1)):
        assert answers_and_confidence(answers, two) == (list(answers), None)
    for pair in (({0: "pet"}, 0.5), (["pet", "money"], [0.5, 1]), (len, None)):
        assert answers_and_confidence(pair, two) == pair
    assert answers_and_confidence(("rules", "sure"), four) == ("rules", "sure")
    (tmp_path / "answers.csv").write_text("node,label\n0,pet\n")
    for either in (("rules", "sure"), ("answers.csv", None)):
        with pytest.raises(InputError, match=r"can be read as one answer .* or as the column or file"):
            answers_and_confidence(either, two)


def test_a_job_of_two_rows_begins_with_an_answer_for_each(tmp_path: Path) -> None:
    with nw.Session.create(
        tmp_path / "two.nodewise", graph_of(2), budget=1, classes=["pet", "money"], suggestions={"m": ("pet", "money")}
    ) as session:
        assert [each.labels(session.refresh().classes) for each in session.suggestions] == [["pet", "money"]]


@pytest.mark.parametrize(
    ("confidence", "sentence"),
    [
        ("certainly", r"no column 'certainly' for a model's confidences: it has .*sure"),
        ("rules", r"the column 'rules' must hold numbers from 0 to 1"),
        ({0: "much"}, r"the confidences must hold numbers from 0 to 1"),
        (["a", "b", "c", "d"], r"the confidences must hold numbers from 0 to 1"),
        ([0.5], r"1 confidence for 4 answers"),
        (object(), r"confidence must be a number, one for each answer"),
    ],
)
def test_confidences_that_are_none_are_told_in_a_sentence(confidence: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read_given(graph_of(4), ["pet"] * 4, confidence)


def test_confidences_come_in_every_form() -> None:
    graph = graph_of(4)
    for confidence in (0.5, [0.5] * 4, np.full(4, 0.5), "sure", dict.fromkeys(range(4), 0.5)):
        assert list(read_given(graph, ["pet"] * 4, confidence).confidence) == [0.5] * 4
    assert list(read_given(graph, ["pet"] * 4, {1: 0.25}).confidence) == [1, 0.25, 1, 1]


def test_a_table_of_probabilities_is_refused_with_what_to_give_instead(tmp_path: Path) -> None:
    graph, chances = graph_of(4), np.full((4, 2), 0.5)
    for held in (chances, chances.tolist(), [["pet"]] * 4, dict(enumerate(chances))):
        with pytest.raises(InputError, match="one class a node, .* by its name, and how sure .* beside it"):
            read_given(graph, held)
        with pytest.raises(InputError, match="one class a node"):
            nw.fit(graph, {0: "pet", 2: "money"}, suggestions={"m": held})
    with (
        nw.Session.create(tmp_path / "four.nodewise", graph, budget=1, classes=["pet", "money"]) as session,
        pytest.raises(InputError, match="one class a node"),
    ):
        session.suggest("m", chances)


def test_answers_of_which_none_names_a_class_are_told(tmp_path: Path) -> None:
    graph = graph_of(4)
    with pytest.raises(InputError, match=r"no answer of 'm' names one of the classes \(pet, money\), it says 0, 1:"):
        nw.fit(graph, {}, classes=["pet", "money"], suggestions={"m": [0, 1, 0, None]})
    with (
        nw.Session.create(tmp_path / "four.nodewise", graph, budget=1, classes=["pet", "money"]) as session,
        pytest.raises(InputError, match=r"names a class of the job \(pet, money\), it says 0, 1:"),
    ):
        session.suggest("m", np.array([0, 1, 0, -1]))
    with pytest.raises(InputError, match=r"no answer of 'm' .*, it says nothing:"):
        nw.fit(graph, {}, classes=["pet"], suggestions={"m": [None] * 4})
