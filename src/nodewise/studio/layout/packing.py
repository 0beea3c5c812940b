"""Pieces of a map side by side: the largest in the middle, the others close around it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.ndimage import distance_transform_edt
from scipy.spatial import ConvexHull, QhullError

__all__ = ["pack"]

Positions = npt.NDArray[np.float64]

_GAP = 1.25
"""The room of a piece, by its own radius."""
_CELLS = 256


def pack(position: Positions, piece: npt.NDArray[np.int64]) -> Positions:
    """Moves and scales each piece so that none overlap and all are about equally dense.

    Around the hull of the largest piece, the others are set as near to the middle as there is room, the larger ones
    first, those of one size on a common lattice.

    Args:
        position: [2, node], in each piece in a scale of its own.
        piece: [node], 0 … P-1.

    Returns:
        Positions [2, node], the outermost at 1 from the middle.
    """
    size = np.bincount(piece)
    radius = np.sqrt(size.astype(float))
    members = np.split(np.argsort(piece, kind="stable"), np.cumsum(size)[:-1])
    first = int(np.argmax(size))
    packed = np.empty(position.shape, dtype=float)
    packed[:, members[first]] = radius[first] * _round(position[:, members[first]])
    others = np.array([number for number in np.lexsort((np.arange(len(size)), -size)) if number != first], np.int64)
    for centre, number in zip(
        _around(packed[:, members[first]], radius[first], radius[others]).T, others.tolist(), strict=True
    ):
        nodes = members[number]
        packed[:, nodes] = centre[:, None] + radius[number] * _round(position[:, nodes])
    return packed / max(float(np.sqrt((packed**2).sum(axis=0)).max()), 1e-9)


def _round(position: Positions) -> Positions:
    """A piece around 0, 0 within 1; a few nodes that are all on one spot are set side by side."""
    count = position.shape[1]
    if count == 1:
        return np.zeros((2, 1))
    moved = position - (position.max(axis=1, keepdims=True) + position.min(axis=1, keepdims=True)) / 2
    reach = float(np.sqrt((moved**2).sum(axis=0)).max())
    if reach < 1e-9:
        angle = 2 * np.pi * np.arange(count) / count
        return np.stack([np.cos(angle), np.sin(angle)]) * 0.6
    within: Positions = moved / reach
    return within


def _around(core: Positions, reach: float, radius: npt.NDArray[np.float64]) -> Positions:
    """Centres [2, disc] for discs, the largest first, outside the hull of the core."""
    centres = np.zeros((2, len(radius)))
    if not len(radius):
        return centres
    half = reach + 2 * _GAP * (np.sqrt((radius**2).sum()) + 2 * radius[0])
    cell = 2 * half / _CELLS
    axis = (np.arange(_CELLS) + 0.5) * cell - half
    hull = _inside_hull(core, axis) if reach > 2 * cell else np.hypot(axis[:, None], axis[None, :]) <= reach
    taken = distance_transform_edt(~hull) * cell <= 1.0  # as far as nodes lie from each other
    sizes, begin = np.unique(-radius, return_index=True)
    for wanted, low in zip((-sizes).tolist(), begin.tolist(), strict=True):
        count = int((radius == wanted).sum())
        free = distance_transform_edt(~taken) * cell
        spots = _lattice(half, 2 * wanted * _GAP)
        at = np.clip(((spots + half) / cell).astype(np.int64), 0, _CELLS - 1)
        spots = spots[:, free[at[0], at[1]] >= wanted * _GAP]
        centres[:, low : low + count] = chosen = spots[:, :count]
        marks = np.clip(((chosen + half) / cell).astype(np.int64), 0, _CELLS - 1)
        dots = np.ones_like(taken)
        dots[marks[0], marks[1]] = False
        taken |= distance_transform_edt(dots) * cell <= wanted * _GAP
    return centres


def _inside_hull(core: Positions, axis: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Which points of the mesh lie in the convex hull of the core."""
    across, down = np.meshgrid(axis, axis, indexing="ij")
    try:
        planes = ConvexHull(core.T).equations
    except QhullError:  # all in one line
        return np.hypot(across, down) <= float(np.sqrt((core**2).sum(axis=0)).max())
    inside = np.ones(across.shape, bool)
    for one, other, offset in planes:
        inside &= one * across + other * down + offset <= 0
    return inside


def _lattice(half: float, spacing: float) -> Positions:
    """Points of a hexagonal lattice, [2, point], the nearest to the middle first."""
    rows = np.arange(-int(half / (spacing * 0.866)), int(half / (spacing * 0.866)) + 1)
    steps = np.arange(-int(half / spacing) - 1, int(half / spacing) + 2)
    down = np.repeat(rows * spacing * 0.8660254, len(steps))
    across = np.tile(steps * spacing, len(rows)) + np.repeat((rows % 2) * spacing / 2, len(steps))
    inside = np.maximum(np.abs(across), np.abs(down)) <= half - spacing / 2
    points = np.stack([across[inside], down[inside]])
    return points[:, np.lexsort((points[1], points[0], np.round(np.hypot(*points), 6)))]
