from __future__ import annotations

import re

import pytest

from nodewise.contracts import Strategy
from nodewise.ground.errors import UnknownNameError
from nodewise.strategies import DEFAULT_STRATEGY, STRATEGIES, make_strategy
from tests.strategies.stages import strategy_named


def test_the_names_of_the_command_line() -> None:
    assert {"random", "uncertainty", "centrality", "coreset", "kcenter", "age", "anrmab", "policy"} <= set(STRATEGIES)
    assert "gain" in STRATEGIES and DEFAULT_STRATEGY == "gain" == make_strategy().name


@pytest.mark.parametrize("name", sorted(STRATEGIES))
def test_a_name_gives_a_strategy_of_that_name(name: str) -> None:
    strategy = strategy_named(name)
    assert isinstance(strategy, Strategy)
    assert name.startswith(strategy.name)


@pytest.mark.parametrize("name", sorted(set(STRATEGIES) - {"random", "gain", "policy"}))
def test_a_method_of_others_names_its_source_and_its_departures(name: str) -> None:
    text = type(strategy_named(name)).__doc__ or ""
    assert re.search(r"\b(19|20)\d\d\b", text), "the year of what it follows"
    assert re.search(r"\bDepartures: \w", text), "where it departs from it, or that it does not"


def test_a_misspelt_name() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'uncertainty'"):
        make_strategy("uncertanty")


def test_a_strategy_is_taken_as_it_is() -> None:
    strategy = make_strategy("age")
    assert make_strategy(strategy) is strategy
