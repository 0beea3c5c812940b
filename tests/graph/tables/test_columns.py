import numpy as np
import pytest

from nodewise.graph.tables.columns import column_features
from nodewise.ground.errors import GraphError


def test_numbers_are_standardised_and_categories_get_a_column_each():
    x, notes = column_features({"height": ["1", "2", "3", ""], "kind": ["b", "a", "", "b"]})
    deviation = np.sqrt(2 / 3)
    np.testing.assert_allclose(x, [[-1 / deviation, 0, 1], [0, 1, 0], [1 / deviation, 0, 0], [0, 0, 1]], atol=1e-6)
    assert notes == ["column 'height': 1 empty cell filled with the mean"]
    assert x.dtype == np.float32


def test_columns_that_say_nothing_are_left_out_and_told():
    columns = {
        "row": list("012345"),
        "same": ["1"] * 6,
        "who": list("abcdef"),
        "zero": ["0", "0.0"] * 3,
        "n": list("123456"),
    }
    x, notes = column_features(columns)
    assert x.shape == (6, 2)
    assert not x[:, 0].any()
    assert notes[:2] == [
        "column 'row' counts the rows and is left out",
        "column 'same' has the same value everywhere and is left out",
    ]
    assert notes[2].startswith("column 'who' has 6 different texts and is no feature")


def test_codes_with_leading_zeros_are_categories_not_numbers():
    x, notes = column_features({"zip": ["01234", "99999"] * 3, "n": list("123456")})
    assert x.shape == (6, 3) and not notes


def test_no_usable_column():
    with pytest.raises(GraphError, match="no column of 'title' can become a feature"):
        column_features({"title": list("abcdef")})
