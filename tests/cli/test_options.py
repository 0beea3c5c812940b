"""Lists given to an option."""

from __future__ import annotations

import pytest

from nodewise.cli.options import read_names, read_numbers
from nodewise.ground.errors import InputError


def test_lists_are_split_at_commas() -> None:
    assert read_numbers("10, 20,30", "--budgets") == (10, 20, 30)
    assert read_names("random , age", "--strategies") == ("random", "age")


@pytest.mark.parametrize("text", ["", "10,", "ten", "-5", "0", "1.5", "10;20"])
def test_a_list_of_numbers_that_is_none_is_refused_with_what_was_received(text: str) -> None:
    with pytest.raises(InputError, match="--budgets got ") as refused:
        read_numbers(text, "--budgets")
    assert repr(text) in str(refused.value)
    assert "commas" in str(refused.value)


def test_an_empty_name_is_refused() -> None:
    with pytest.raises(InputError, match="--strategies got 'random,,age'"):
        read_names("random,,age", "--strategies")
