"""Step 4 of Appendix B: two posts are joined when enough users took part in both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.ground.errors import InputError

if TYPE_CHECKING:
    _Ints = npt.NDArray[np.int64]
    _Matrix = sp.csr_matrix[np.int32]

__all__ = ["shared_user_edges"]

_BLOCK = 4_000_000  # entries of a product held at once


def shared_user_edges(
    post: _Ints,
    user: _Ints,
    num_posts: int,
    shared: int = 2,
    *,
    max_edges: int = 10_000_000,
    busy: int = 1000,
    block: int = _BLOCK,
) -> _Ints:
    """The edges between posts that share at least `shared` users, int64 [2, edge], row 0 < row 1, sorted.

    The number of users that two posts share is an entry of B Bᵀ, with B the 0/1 matrix [post, user]. It is computed a
    block of rows at a time, so memory is bounded. A user with d posts adds d² entries, most of which come to nothing
    when nobody else is shared; so users with more than `busy` posts are kept out of that product. They are looked up
    for the pairs it finds, and pairs that share `shared` of them alone are found from the different sets of busy users
    that posts have, of which there are few.

    Args:
        post: [pair], index of a post.
        user: [pair], index of a user who took part in it; no pair occurs twice.
        num_posts: how many posts there are.
        shared: how many users two posts must share.
        max_edges: refuse to return more.
        busy: how many posts make a user busy. The result does not depend on it.
        block: entries of a product held at once. The result does not depend on it.

    Raises:
        InputError: if there are more than `max_edges` edges.
    """
    posts_of = np.bincount(user)[user] if user.size else user
    quiet, loud = (posts_of > 1) & (posts_of <= busy), (posts_of > 1) & (posts_of > busy)
    few, many = _matrix(post[quiet], user[quiet], num_posts), _matrix(post[loud], user[loud], num_posts)
    parts: list[_Ints] = []
    total = 0
    for source in (_through_few(few, many, shared, block), _through_many(many, shared, block, max_edges)):
        for low, high in source:
            total += low.size
            if total > max_edges:
                raise _refusal(max_edges, shared)
            parts.append(low * num_posts + high)
    keys = np.sort(np.concatenate(parts)) if parts else np.zeros(0, dtype=np.int64)
    return np.stack([keys // num_posts, keys % num_posts])


def _through_few(few: _Matrix, many: _Matrix, shared: int, block: int) -> Iterator[tuple[_Ints, _Ints]]:
    """Pairs that share somebody who is not busy, but not `shared` busy ones: those are found from the busy ones."""
    for low, high, count in _products(few, block):
        kept = low < high
        low, high, count = low[kept], high[kept], count[kept]
        if many.nnz:
            also = np.asarray(many[low].multiply(many[high]).sum(axis=1)).ravel()
            count = np.where(also < shared, count + also, 0)
        enough = count >= shared
        yield low[enough], high[enough]


def _through_many(many: _Matrix, shared: int, block: int, max_edges: int) -> Iterator[tuple[_Ints, _Ints]]:
    """Pairs that share `shared` busy users: all pairs of posts whose sets of busy users have so many in common."""
    rows = np.flatnonzero(np.diff(many.indptr) >= shared)
    if not rows.size:
        return
    chosen = many[rows]
    sets: dict[bytes, int] = {}
    pairs = zip(chosen.indptr[:-1], chosen.indptr[1:], strict=True)
    kind = np.array([sets.setdefault(chosen.indices[start:stop].tobytes(), len(sets)) for start, stop in pairs])
    order = np.argsort(kind, kind="stable")
    size = np.bincount(kind)
    begin = np.cumsum(size) - size
    posts = rows[order].astype(np.int64)  # grouped by their set of busy users
    for one, other, count in _products(chosen[order[begin]], block):
        enough = count >= shared
        one, other = one[enough], other[enough]
        if np.where(one == other, size[one] * (size[one] - 1) // 2, size[one] * size[other]).sum() > max_edges:
            raise _refusal(max_edges, shared)
        cost = np.cumsum(size[one] * size[other])
        for start, stop in _cuts(cost, block):
            yield _crossed(posts, begin, size, one[start:stop], other[start:stop])


def _crossed(posts: _Ints, begin: _Ints, size: _Ints, one: _Ints, other: _Ints) -> tuple[_Ints, _Ints]:
    """Every post of the set `one` with every post of the set `other`, for each pair of sets.

    Within a set each pair once.
    """
    count = size[one] * size[other]
    pair = np.repeat(np.arange(one.size), count)
    step = np.arange(pair.size) - np.repeat(np.cumsum(count) - count, count)
    width = size[other][pair]
    a, b = posts[begin[one][pair] + step // width], posts[begin[other][pair] + step % width]
    kept = (one != other)[pair] | (a < b)
    return np.minimum(a, b)[kept], np.maximum(a, b)[kept]


def _products(matrix: _Matrix, block: int) -> Iterator[tuple[_Ints, _Ints, _Ints]]:
    """The entries of M Mᵀ on and above the diagonal, as (row, column, value), a block of rows at a time."""
    cost: _Ints = np.cumsum(np.asarray(matrix.dot(np.asarray(matrix.sum(axis=0), dtype=np.int64).ravel())))
    for start, stop in _cuts(cost, block):
        if cost[stop - 1] == (cost[start - 1] if start else 0):
            continue
        product = sp.coo_matrix(matrix[start:stop].dot(matrix[start:].T))
        upper = product.col >= product.row
        low, high = product.row[upper].astype(np.int64) + start, product.col[upper].astype(np.int64) + start
        yield low, high, product.data[upper].astype(np.int64)


def _cuts(cost: _Ints, block: int) -> Iterator[tuple[int, int]]:
    """Ranges whose cost, given as running sums, is at most `block`, or that hold one item."""
    start = 0
    while start < cost.size:
        before = int(cost[start - 1]) if start else 0
        stop = max(int(np.searchsorted(cost, before + block, side="right")), start + 1)
        yield start, stop
        start = stop


def _refusal(max_edges: int, shared: int) -> InputError:
    return InputError(f"more than {max_edges:,} pairs of posts share {shared} users or more")


def _matrix(post: _Ints, user: _Ints, num_posts: int) -> _Matrix:
    columns, index = np.unique(user, return_inverse=True)
    matrix: _Matrix = sp.csr_matrix(
        (np.ones(post.size, dtype=np.int32), (post, index)), shape=(num_posts, max(columns.size, 1))
    )
    matrix.sort_indices()
    return matrix
