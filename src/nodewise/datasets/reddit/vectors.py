"""The word vectors a build needs, from several GloVe files, read once and then kept in the work folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nodewise.datasets.reddit.glove import read_glove
from nodewise.datasets.reddit.sources import fingerprint
from nodewise.ground.events import Reporter
from nodewise.ground.files import whole_file

__all__ = ["word_vectors"]


def word_vectors(
    files: Sequence[Path], words: set[str], width: int, folder: Path, reporter: Reporter
) -> tuple[dict[str, int], npt.NDArray[np.float32]]:
    """Known word -> row, and the vectors, float32 [word, width].

    A word that several files have is taken from the first.

    Args:
        files: GloVe files.
        words: the words that are needed.
        width: numbers in a vector.
        folder: where the vectors are kept, so that a build that was killed need not read the files again.
        reporter: gets the progress.
    """
    kept = folder / f"vectors-{fingerprint(files, width, sorted(words))}.npz"
    if kept.exists():
        with np.load(kept, allow_pickle=False) as saved:
            names: list[str] = json.loads(saved["words"].tobytes())
            return {word: row for row, word in enumerate(names)}, saved["vectors"]
    known: list[str] = []
    parts = [np.zeros((0, width), dtype=np.float32)]
    missing = set(words)
    for path in files:
        some, vectors = read_glove(path, missing, width, reporter)
        known += some
        parts.append(vectors)
        missing.difference_update(some)
    whole = np.concatenate(parts)
    with whole_file(kept) as file:
        np.savez(file, words=np.frombuffer(json.dumps(known).encode(), dtype=np.uint8), vectors=whole)
    return {word: row for row, word in enumerate(known)}, whole
