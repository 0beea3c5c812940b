"""TF-IDF features of texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from nodewise.errors import GraphError

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["tfidf"]

# Words of two letters or more; Chinese and Japanese, which put no spaces between words, sign by sign.
_WORD = r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|\b\w\w+\b"


def tfidf(texts: Sequence[str], most: int = 20_000) -> tuple[sp.csr_matrix[np.float32], tuple[str, ...]]:
    """How much each word says about each text: ``(1 + ln count) · (1 + ln((1 + n) / (1 + texts with the word)))``, rows of length 1.

    Words are taken in lower case. Out of more than 50 texts a word must occur in two of them, and in at most half of them; of what is left the
    `most` frequent words stay (ties in alphabetical order). A text without any of them gets a row of zeros.

    Args:
        texts: one a node.
        most: the largest number of words.

    Returns:
        float32 CSR [node, word], and the words in alphabetical order.

    Raises:
        GraphError: if no text holds a word.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    counter = CountVectorizer(token_pattern=_WORD, dtype=np.float32)
    try:
        counts = counter.fit_transform(texts)
    except ValueError:
        raise GraphError(f"none of the {len(texts)} texts holds a word of two letters: check that the right column was given") from None
    words = counter.get_feature_names_out()
    frequency: npt.NDArray[np.int64] = np.bincount(counts.indices, minlength=len(words))
    usable = np.flatnonzero((frequency >= 2) & (frequency <= len(texts) / 2)) if len(texts) > 50 else np.arange(len(words))
    if not len(usable):
        usable = np.arange(len(words))  # texts that share every word, or none: better these than nothing
    kept = np.sort(usable[np.argsort(-frequency[usable], kind="stable")[:most]])
    weights = sp.csr_matrix(counts[:, kept], dtype=np.float32)
    weights.data = 1 + np.log(weights.data)
    rarity = 1 + np.log((1 + len(texts)) / (1 + frequency[kept]))
    weights.data *= rarity[weights.indices].astype(np.float32)
    length = np.sqrt(np.asarray(weights.multiply(weights).sum(axis=1), dtype=np.float64)).reshape(-1)
    per_entry = np.repeat(np.maximum(length, 1e-12), np.diff(weights.indptr))
    weights.data = (weights.data / per_entry).astype(np.float32)
    weights.sort_indices()
    return weights, tuple(map(str, words[kept]))
