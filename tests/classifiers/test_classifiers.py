"""Classifiers by name, and the contract that every one of them keeps."""

from __future__ import annotations

import pytest

from nodewise.classifiers import CLASSIFIERS, Gcn, list_classifiers, make_classifier
from nodewise.contracts import Classifier
from nodewise.ground.errors import InputError, UnknownNameError
from nodewise.testing import check_classifier

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def test_a_misspelt_name_is_told_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="unknown classifier 'gnc': did you mean 'gcn'?"):
        make_classifier("gnc")


def test_settings_are_given_by_name_and_misspelt_ones_are_told_the_nearest() -> None:
    assert make_classifier("gcn", {"hidden": 16}) == Gcn(hidden=16)
    with pytest.raises(
        UnknownNameError, match="unknown setting of the classifier 'gcn' 'hiden': did you mean 'hidden'?"
    ):
        make_classifier("gcn", {"hiden": 16})
    with pytest.raises(
        InputError, match="the classifier 'gcn' is an object already: its settings are its own, got {'hidden': 16}"
    ):
        make_classifier(Gcn(), {"hidden": 16})


def test_what_is_no_classifier_is_refused() -> None:
    with pytest.raises(
        InputError, match="is no classifier: it needs a name, trained, capabilities and the methods prepare, start"
    ):
        make_classifier(object())  # type: ignore[arg-type]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_name_gives_a_classifier_of_that_name(name: str) -> None:
    made = make_classifier(name)
    assert isinstance(made, Classifier) and made.name == name
    assert name in list_classifiers() and make_classifier(made) is made


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_keeps_the_contract(name: str, device: str) -> None:
    check_classifier(name, device)
