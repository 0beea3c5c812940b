"""Texts, with an encoder of your own.

An encoder is any function from a list of texts to an array, one row a text: a sentence transformer's `model.encode`
will do. Here it is a small one of word pairs, so that nothing has to be downloaded.
"""

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer

import nodewise as nw

subjects = {
    "kitchen": ["oven", "pan", "recipe", "salt"],
    "garden": ["rose", "soil", "spade", "hedge"],
    "road": ["tyre", "engine", "brake", "toll"],
}
draw = np.random.default_rng(0)
texts, labels = [], []
for topic, words in subjects.items():
    for _ in range(40):
        texts.append(" ".join(draw.choice([*words, "the", "old", "new"], 6)))
        labels.append(topic)


def encode(batch: list[str]) -> np.ndarray:
    """Hashed words and word pairs, 256 numbers a text."""
    return HashingVectorizer(n_features=256, ngram_range=(1, 2)).transform(batch).toarray()


graph = nw.Graph.from_texts(texts, labels, encoder=encode, k=6, name="notes")
print(graph)
table = nw.compare(graph, ["gain", "random"], budgets=[3, 6, 9], runs=6)
print(table)
table.plot("texts.png")
