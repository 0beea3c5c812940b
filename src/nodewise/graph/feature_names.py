"""What was done to features, by name, in one spelling; and a note where their columns have very different scales."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from nodewise.ground.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from nodewise.graph.checks import Features

__all__ = ["FIRST_COLUMNS", "PAPER_FEATURES", "PREPROCESSING", "canonical_features", "recorded_steps", "unscaled"]

PAPER_FEATURES = {
    "cora": "raw",
    "citeseer": "row+center",
    "pubmed": "row+center",
    "coauthor-cs": "binary",
    "coauthor-physics": "binary+first2000",
    **{f"reddit{i}": "raw" for i in range(1, 6)},
    "reddit-case-study": "raw",
}
"""What the figures of the paper's ten graphs and of its case study were made with.

For any other graph ``paper`` changes nothing.
"""

PREPROCESSING = {
    "raw": "as they are",
    "paper": "what the paper did with this graph, told by the graph's name",
    "unit": "every row divided by its L2 length",
    "row": "every row divided by the sum of its absolute values",
    "center": "every column's mean subtracted",
    "binary": "1 for every value that is not 0",
    "firstN": "the first N columns, such as first2000",
    "structural": "replaced by structural features, which need only the edges",
}
"""The steps there are. Join them with + (or a comma): they are done from left to right."""

SCALES = 500
"""How many times larger the values of one column may be than those of another before it is worth a note."""

FIRST_COLUMNS = re.compile(r"first([1-9][0-9]*)")
"""The step ``firstN``."""


def canonical_features(spec: str, graph_name: str = "") -> str:
    """One spelling for a preprocessing: what results record.

    Args:
        spec: steps joined with ``+`` or ``,``, such as ``"row,center"``.
        graph_name: whose features; ``paper`` stands for what it means for that graph.

    Returns:
        The steps joined with ``+``, such as ``"row+center"``; ``"raw"`` where nothing is done. What ``structural``
        replaces is not told.

    Raises:
        UnknownNameError: if a step is not known.
        InputError: if it is no text.
    """
    if not isinstance(spec, str):
        raise InputError(
            f"features must be the name of a preprocessing, such as 'unit' or 'row+center', received {spec!r}"
        )
    steps: list[str] = []
    for part in re.split(r"[+,]", spec):
        step = part.strip().lower()
        if step == "paper":
            step = PAPER_FEATURES.get(graph_name.lower(), "raw")
        elif step not in PREPROCESSING and not FIRST_COLUMNS.fullmatch(step):
            raise UnknownNameError(
                "feature preprocessing", part.strip(), PREPROCESSING, "Join several with +, such as row+center."
            )
        steps += step.split("+") if step != "raw" else []
    return recorded_steps(steps)


def recorded_steps(steps: list[str]) -> str:
    """The steps as they are recorded.

    Without those that change nothing, or whose features were replaced by structural ones.
    """
    last = max((i for i, step in enumerate(steps) if step == "structural"), default=0)
    return "+".join(step for step in steps[last:] if step != "raw") or "raw"


def unscaled(x: Features | None, x_offset: npt.NDArray[np.float32] | None, done: str) -> str | None:
    """A note for features whose columns have very different scales, such as years beside shares.

    The largest outweigh all others. None where scales are alike, or where something was done to the features already.
    """
    if not isinstance(x, np.ndarray) or x_offset is not None or done != "raw" or x.size == 0:
        return None
    largest = np.maximum(x.max(axis=0), -x.min(axis=0)).astype(np.float64)  # so that no product overflows
    used = np.flatnonzero(largest > 0)
    if len(used) < 2:
        return None
    high, low = used[largest[used].argmax()], used[largest[used].argmin()]
    if largest[high] < SCALES * largest[low]:
        return None
    return (
        f"the features have very different scales (column {high} goes up to {largest[high]:.4g}, column {low} up to"
        f" {largest[low]:.4g}): the largest outweigh the others; standardise the columns first if they are measurements"
    )
