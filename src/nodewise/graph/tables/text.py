"""Texts as features: TF-IDF, or what an encoder of one's own makes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.ground.errors import GraphError, InputError

__all__ = ["Words", "encoded", "encoder_name", "new_encoded", "text_features", "word_features", "words_of"]


class Words(NamedTuple):
    """The words that texts are told apart by.

    Attributes:
        words: in the order of the columns.
        idf: float32 [word], how much each counts: the rarer the more.
    """

    words: list[str]
    idf: npt.NDArray[np.float32]


def text_features(texts: Sequence[str], max_words: int = 2000) -> sp.csr_matrix[np.float32]:
    """TF-IDF features of texts, float32 CSR [text, word], rows of unit length.

    Words of two letters or more, in any language that parts them by spaces or signs. Words that only one text has, or
    more than half of them, say little and are left out, unless none would be left. Of the rest, the `max_words` most
    frequent are taken, ties by letters. Nothing is random.

    Args:
        texts: one a node; an empty one gets a row of zeros.
        max_words: columns at most.

    Raises:
        GraphError: if no text holds a word.
    """
    return word_features(texts, words_of(texts, max_words))


def words_of(texts: Sequence[str], max_words: int) -> Words:
    """The words that texts are told apart by; see `text_features`."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

    choosy = {"min_df": 2, "max_df": 0.5} if len(texts) >= 20 else {}
    for limits in (choosy, {}):
        try:
            counter = CountVectorizer(strip_accents="unicode", dtype=np.float32, **limits)
            counts = counter.fit_transform(texts)
        except ValueError:
            continue
        # Chosen here, not by scikit-learn, whose choice among equally frequent words differs from one kind of processor
        # to another.
        total = np.asarray(counts.sum(axis=0)).ravel()
        kept = np.sort(np.argsort(-total, kind="stable")[:max_words])
        weigher = TfidfTransformer(sublinear_tf=True).fit(counts[:, kept])
        return Words(counter.get_feature_names_out()[kept].tolist(), np.asarray(weigher.idf_, dtype=np.float32))
    raise GraphError(
        f"none of the {len(texts)} texts holds a word of two letters or more: check that the text column is the"
        " right one"
    )


def word_features(texts: Sequence[str], words: Words) -> sp.csr_matrix[np.float32]:
    """TF-IDF features of texts by given words, float32 CSR [text, word]; a text without one of them is all zeros."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import normalize

    counter = CountVectorizer(strip_accents="unicode", dtype=np.float32, vocabulary=words.words)
    counts = sp.csr_matrix(counter.transform(texts))
    counts.sort_indices()
    counts.data = (np.log(counts.data) + np.float32(1)) * words.idf[counts.indices]
    return sp.csr_matrix(normalize(counts, copy=False), dtype=np.float32)


def encoder_name(encoder: Any) -> str:
    """What an encoder is called: its module and name, or those of its class."""
    named = encoder if hasattr(encoder, "__qualname__") else type(encoder)
    return f"{named.__module__}.{named.__qualname__}"


def new_encoded(texts: list[str], encoder: Callable[[list[str]], Any]) -> Any:
    """What an encoder that has seen other texts makes of new ones; one with ``transform`` is not fitted again."""
    return encoded(texts, getattr(encoder, "encode", None) or getattr(encoder, "transform", None) or encoder)


def encoded(texts: list[str], encoder: Callable[[list[str]], Any]) -> Any:
    """What an encoder makes of texts: an array [text, feature], dense or scipy sparse.

    Args:
        texts: one a node.
        encoder: a function list of texts -> array (numpy, torch or a list of rows), or an object with such a method
            ``encode``, as of sentence-transformers, or ``fit_transform``, as of scikit-learn's vectorizers.

    Raises:
        InputError: if it is none of these, or does not give one row of numbers for each text.
    """
    work = getattr(encoder, "encode", None) or getattr(encoder, "fit_transform", None) or encoder
    if isinstance(encoder, str) or not callable(work):
        raise InputError(
            f"an encoder is a function from a list of texts to an array [text, feature], received {encoder!r}"
        )
    given = work(texts)
    if hasattr(given, "detach"):
        given = given.detach().cpu().numpy()
    rows: Any = given if sp.issparse(given) else np.asarray(given)
    if (
        rows.ndim != 2
        or rows.shape[0] != len(texts)
        or not rows.shape[1]
        or (not sp.issparse(rows) and rows.dtype.kind not in "biuf")
    ):
        raise InputError(
            f"the encoder must give one row of numbers for each of the {len(texts)} texts, received an array of shape"
            f" {list(rows.shape)} of {rows.dtype}: give a function that takes a list of texts and returns [text,"
            " feature]"
        )
    return rows
