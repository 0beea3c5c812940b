"""Positions for a few nodes around one in the middle, by attraction along edges and repulsion between all pairs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components, reverse_cuthill_mckee

__all__ = ["spread"]

_GOLDEN = (np.sqrt(5) - 1) / 2


def spread(
    count: int, edges: npt.NDArray[np.int64], hop: npt.NDArray[np.int64], rounds: int = 60
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Positions in -1 … 1 for a few hundred nodes, the first one at 0, 0; nothing is random.

    The nodes start on rings, those that know each other side by side, the second hop outside; then come some rounds of
    Fruchterman and Reingold's forces, each a few operations on all pairs at once.

    Args:
        count: nodes.
        edges: indices [edge, 2].
        hop: [node], steps from the first one.
        rounds: how often the forces act; fewer where there are many nodes.

    Returns:
        x and y, float32 [node].
    """
    position = _rings(count, edges, hop)
    if count > 2:
        position = _push(position, edges, max(25, min(rounds, 5_000_000 // count**2)))
    position -= position[:, :1]
    reach = float(np.sqrt((position**2).sum(axis=0)).max())
    position /= reach or 1.0
    return position[0].copy(), position[1].copy()


def _rings(count: int, edges: npt.NDArray[np.int64], hop: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """The start, float32 [2, node].

    Without the centre, pieces lie side by side, and in each the nodes near to each other.
    """
    others = edges[edges[:, 0] > 0] - 1
    links = sp.csr_matrix(
        (np.ones(len(others), np.float32), (others[:, 0], others[:, 1])), shape=(count - 1, count - 1)
    )
    links = (links + links.T).tocsr()
    angle, radius = np.zeros(count), np.zeros(count)
    if count > 1:
        _, piece = connected_components(links, directed=False)
        within = np.empty(count - 1, np.int64)
        within[reverse_cuthill_mckee(links, symmetric_mode=True)] = np.arange(count - 1)
        order = np.lexsort((within, piece))
        angle[1 + order] = 2 * np.pi * np.arange(count - 1) / (count - 1)
        jitter = (np.arange(count - 1) * _GOLDEN) % 1.0  # even, but not in line
        radius[1 + order] = 0.35 + 0.3 * jitter
        radius[hop == 2] += 0.35
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)]).astype(np.float32)


def _push(position: npt.NDArray[np.float32], edges: npt.NDArray[np.int64], rounds: int) -> npt.NDArray[np.float32]:
    """Fruchterman and Reingold's forces with a step that shrinks; the centre stays."""
    count = position.shape[1]
    joined = np.zeros((count, count), np.float32)
    joined[edges[:, 0], edges[:, 1]] = joined[edges[:, 1], edges[:, 0]] = 1.0
    joined[0, :] *= 0.6
    joined[:, 0] *= 0.6  # everybody knows the centre, so that says little about who belongs together
    wish = np.float32(1.6 / np.sqrt(count))
    for turn in range(rounds):
        across, down = position[0][:, None] - position[0][None, :], position[1][:, None] - position[1][None, :]
        square = across * across
        square += down * down
        np.maximum(square, np.float32(1e-6), out=square)
        weight = wish**2 / square
        weight -= joined * np.sqrt(square) / wish
        force = (
            position * weight.sum(axis=1) - position @ weight
        )  # the sum over others of weight times the way from them
        size = np.maximum(np.sqrt((force**2).sum(axis=0)), np.float32(1e-9))
        step = np.float32(0.15 * (1 - turn / rounds) + 0.003)
        force *= np.minimum(size, step) / size
        force[:, 0] = 0
        position = position + force
    return position
