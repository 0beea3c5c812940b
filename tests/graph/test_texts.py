import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from nodewise.errors import GraphError
from nodewise.graph.texts import tfidf


def test_weights_are_those_of_the_formula():
    x, words = tfidf(["red red fish", "blue fish", "Blue whale"])
    assert words == ("blue", "fish", "red", "whale")
    common, rare = 1 + np.log(4 / 3), 1 + np.log(4 / 2)  # in two texts, in one
    red = rare * (1 + np.log(2))
    first = np.array([0, common, red, 0]) / np.hypot(common, red)
    np.testing.assert_allclose(x.toarray()[0], first, rtol=1e-6)
    assert x.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(x.toarray(), axis=1), 1, rtol=1e-6)


def test_agrees_with_scikit_learn():
    texts = [f"word{i % 7} word{i % 3} other{i}" for i in range(40)]
    theirs = TfidfVectorizer(sublinear_tf=True).fit_transform(texts).toarray()
    np.testing.assert_allclose(tfidf(texts)[0].toarray(), theirs, atol=1e-6)


def test_words_in_one_text_or_in_most_are_left_out_of_many():
    texts = [f"the number{i} class{i % 4}" for i in range(80)]
    assert tfidf(texts)[1] == ("class0", "class1", "class2", "class3")


def test_most_frequent_words_stay():
    assert tfidf(["aa bb cc", "aa bb", "aa dd"], most=2)[1] == ("aa", "bb")
    assert tfidf(["zz yy xx"], most=2)[1] == ("xx", "yy")  # ties by letters


def test_text_without_words_gets_zeros():
    x, _ = tfidf(["red fish", "", "a b"])
    assert x.getnnz(axis=1).tolist() == [2, 0, 0]


def test_chinese_is_read_sign_by_sign():
    assert tfidf(["红色的鱼", "鱼"])[1] == tuple(sorted("红色的鱼"))


def test_no_words_at_all():
    with pytest.raises(GraphError, match=r"none of the 2 texts holds a word.*right column"):
        tfidf(["", "!"])
