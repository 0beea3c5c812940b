from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodewise.graph import Graph
from nodewise.graph.io.assembly import Head, exact_texts, sparse_features
from nodewise.ground.errors import GraphError
from tests.graph.generated import ANYTHING, graphs


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False)))
def test_float32_survives_as_text(values: list[float]) -> None:
    array = np.array(values, dtype=np.float32)
    back = np.array([float(text) for text in exact_texts(array)], dtype=np.float64).astype(np.float32)
    assert np.array_equal(back, array)


def test_texts_of_numbers_are_short() -> None:
    assert exact_texts(np.array([0.1, 1, 1e-20], dtype=np.float32)) == ["0.1", "1.0", "1e-20"]


@pytest.mark.slow
@given(graphs(ANYTHING))
def test_head_survives_as_json(graph: Graph) -> None:
    head = Head.of(graph)
    text = head.to_json()
    assert text.isascii()
    assert Head.from_json(text, "here") == head


def test_two_values_for_one_place_are_refused() -> None:
    with pytest.raises(GraphError, match="here gives two values for node 1, column 2"):
        sparse_features([0, 1, 1], [0, 2, 2], [1.0, 2.0, 3.0], (2, 3), "here")
