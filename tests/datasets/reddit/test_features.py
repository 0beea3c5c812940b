from __future__ import annotations

import numpy as np

from nodewise.datasets.reddit.features import mean_vectors

VECTORS = np.array([[1, 0], [0, 2], [9, 9]], dtype=np.float32)
PLACE = {"red": 0, "Cat": 1, "unused": 2}


def test_the_mean_counts_a_word_as_often_as_it_occurs() -> None:
    found = mean_vectors(["red red Cat!", "cat", "Cat unknown", ""], PLACE, VECTORS)
    np.testing.assert_allclose(found.x, [[2 / 3, 2 / 3], [0, 0], [0, 2], [0, 0]], rtol=1e-6)
    assert found.x.dtype == np.float32
    assert (found.words, found.wordless) == (4, 2)


def test_no_texts_and_no_known_words() -> None:
    assert mean_vectors([], PLACE, VECTORS).x.shape == (0, 2)
    assert mean_vectors(["nothing"], PLACE, VECTORS).x.tolist() == [[0, 0]]
