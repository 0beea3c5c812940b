from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from nodewise.graph.tables.text import text_features
from nodewise.ground.errors import GraphError


def test_rows_have_unit_length_and_empty_texts_none() -> None:
    found = text_features(["cats and dogs", "", "dogs bark"])
    assert isinstance(found, sp.csr_matrix)
    assert (found.shape, found.dtype) == ((3, 4), np.float32)
    np.testing.assert_allclose(np.sqrt(found.multiply(found).sum(axis=1)).ravel(), [[1, 0, 1]], rtol=1e-6)


def test_rare_words_weigh_more_than_common_ones() -> None:
    found = text_features(["cats dogs", "dogs birds", "dogs fish"]).toarray()
    dogs = int(np.flatnonzero((found > 0).all(axis=0))[0])
    assert (found[0][found[0] > 0].max() > found[0, dogs]).all()


def test_words_in_one_text_or_in_most_are_left_out_of_large_collections() -> None:
    texts = [f"everywhere {'even' if i % 2 else 'odd'} single{i}" for i in range(40)]
    assert text_features(texts).shape == (40, 2)
    assert text_features([f"unique{i}" for i in range(40)]).shape == (40, 40)


def test_accents_do_not_part_words_and_columns_are_limited() -> None:
    assert text_features(["café naïve", "cafe 数据"]).shape[1] == 3
    assert text_features(["a1 b1 c1 d1"], max_words=2).shape[1] == 2


def test_most_frequent_words_stay_and_ties_go_by_letters() -> None:
    found = text_features(["zz yy xx xx", "ww yy"], max_words=2).toarray()
    np.testing.assert_array_equal(found > 0, [[True, True], [False, True]])  # xx and yy
    assert (text_features(["dd cc bb aa", "aa"], max_words=2).toarray()[1] > 0).tolist() == [True, False]  # aa and bb


def test_agrees_with_scikit_learn() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [f"word{i % 7} word{i % 3} other{i}" for i in range(15)]
    theirs = TfidfVectorizer(sublinear_tf=True).fit_transform(texts).toarray()
    np.testing.assert_allclose(text_features(texts).toarray(), theirs, atol=1e-6)


def test_texts_without_words_are_refused() -> None:
    with pytest.raises(
        GraphError, match="none of the 2 texts holds a word.*check that the text column is the right one"
    ):
        text_features(["", "?!"])
