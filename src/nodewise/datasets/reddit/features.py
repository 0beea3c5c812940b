"""A post's features: the mean vector of its words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.datasets.reddit.words import known_words

__all__ = ["MeanVectors", "mean_vectors"]


@dataclass(frozen=True)
class MeanVectors:
    """Mean word vectors of some texts.

    Attributes:
        x: float32 [node, feature]; zeros for a text without a known word.
        words: known words in all texts together, each as often as it occurs.
        wordless: texts without a known word.
    """

    x: npt.NDArray[np.float32]
    words: int
    wordless: int


def mean_vectors(texts: Sequence[str], row_of: Mapping[str, int], vectors: npt.NDArray[np.float32]) -> MeanVectors:
    """The mean of the vectors of each text's known words, a word counting as often as it occurs.

    Args:
        texts: one for each node.
        row_of: known word -> its row in `vectors`.
        vectors: float32 [word, feature].
    """
    rows: list[int] = []
    ends = [0]
    for text in texts:
        rows += [row_of[word] for word in known_words(text, row_of)]
        ends.append(len(rows))
    count = np.diff(ends)
    used, column = np.unique(np.array(rows, dtype=np.int64), return_inverse=True)
    occurs = sp.csr_matrix((np.ones(len(rows)), column, np.array(ends)), shape=(len(texts), used.size))
    mean = (occurs @ vectors[used].astype(np.float64)) / np.maximum(count, 1)[:, None]
    return MeanVectors(mean.astype(np.float32), len(rows), int((count == 0).sum()))
