"""Nodes to be asked together where the strategy leaves that open: the best scores, spread over graph and classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

__all__ = ["diverse_batch"]


def diverse_batch(
    scores: npt.NDArray[np.float64],
    allowed: npt.NDArray[np.bool_],
    count: int,
    neighbours: Callable[[int], npt.NDArray[np.int64]],
    predicted: npt.NDArray[np.int64],
    taken: Iterable[int] = (),
) -> list[int]:
    """Up to ``count`` nodes, greedily by score.

    A node is passed over as long as there are others if it is a neighbour of one that is in the batch or with an
    annotator already, or if its predicted class has had its share of the batch, ``count`` / classes rounded up. So the
    first of a batch is the node that a single query would ask.

    Args:
        scores: how much each node is wanted, [node]; equal ones are taken in the order of the nodes.
        allowed: the nodes that may be asked, [node].
        count: how many are wanted.
        neighbours: the neighbours of a node.
        predicted: the class that is predicted for each node, [node].
        taken: nodes that are out with annotators now.
    """
    order = np.flatnonzero(allowed)
    order = order[np.argsort(-scores[order], kind="stable")]
    near: set[int] = set()
    for node in taken:
        near.update(neighbours(node).tolist())
    share = -(-count // max(1, len(np.unique(predicted[allowed])) if allowed.any() else 1))
    chosen: list[int] = []
    classes: Counter[int] = Counter()
    passed: list[int] = []
    for node in order.tolist():
        if len(chosen) == count:
            break
        if node in near or classes[int(predicted[node])] >= share:
            passed.append(node)
            continue
        chosen.append(node)
        classes[int(predicted[node])] += 1
        near.update(neighbours(node).tolist())
    return chosen + passed[: count - len(chosen)]
