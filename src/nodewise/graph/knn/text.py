"""Texts as features: TF-IDF."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from nodewise.ground.errors import GraphError

__all__ = ["text_features"]


def text_features(texts: Sequence[str], max_words: int = 2000) -> sp.csr_matrix[np.float32]:
    """TF-IDF features of texts, float32 CSR [text, word], rows of unit length.

    Words of two letters or more, in any language that parts them by spaces or signs. Words that only one text has, or more than half of
    them, say little and are left out, unless none would be left. Of the rest, the `max_words` most frequent are taken, ties by letters. Nothing is random.

    Args:
        texts: one a node; an empty one gets a row of zeros.
        max_words: columns at most.

    Raises:
        GraphError: if no text holds a word.
    """
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

    choosy = {"min_df": 2, "max_df": 0.5} if len(texts) >= 20 else {}
    for limits in (choosy, {}):
        try:
            counts = CountVectorizer(strip_accents="unicode", dtype=np.float32, **limits).fit_transform(texts)
        except ValueError:
            continue
        # Chosen here, not by scikit-learn, whose choice among equally frequent words differs from one kind of processor to another.
        total = np.asarray(counts.sum(axis=0)).ravel()
        kept = np.sort(np.argsort(-total, kind="stable")[:max_words])
        return sp.csr_matrix(TfidfTransformer(sublinear_tf=True).fit_transform(counts[:, kept]), dtype=np.float32)
    raise GraphError(f"none of the {len(texts)} texts holds a word of two letters or more: check that the text column is the right one")
