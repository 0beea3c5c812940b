"""The exact k nearest neighbours of every row, by blocks of matrix products, as pairs or as a matrix; and how near rows
are: quickly in float32 with a known error, and exactly in float64.

scikit-learn's `NearestNeighbors` in its place takes 1.3 times the time (3 times where rows repeat), with 0.03 GB
instead of 0.28, and leaves open which of equally near rows it takes (`benchmarks/libraries.py`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from threading import Lock
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from nodewise.ground.compute import cores
from nodewise.ground.events import Progress, Reporter, Silent

__all__ = ["Distances", "Metric", "joined_to_nearest", "nearest_neighbours"]

Metric = Literal["cosine", "euclidean"]
Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Rows = Any  # float32 [row, feature], dense or CSR

_BLOCK = 2**25  # scores held at once: 128 MB
_CHUNK = 64  # columns of which only the largest score is looked at first
_PAIRS = 2**21  # pairs compared exactly at once
_VALUES = 2**22  # float64 values gathered at once: 32 MB
_DENSE_ROWS = 32  # rows that are made dense at once, so that they stay in the processor's caches
_WORTH_TORCH = 2**34  # products from which torch's, in half the time of scipy's, makes up for importing it
_PAIR_COST, _ENTRY_COST, _CELL_COST = 8.0, 0.2, 1.0  # nanoseconds, roughly: see `_as_dense`
_MANY, _TOGETHER = 4096, 64
"""Rows from which every pair is scored once, where that is possible; and rows of these that are looked at together."""

EXACT = 24_000
"""Rows up to which `joined_to_nearest` compares all with all."""


def nearest_neighbours(x: Rows, k: int, metric: Metric = "cosine", reporter: Reporter | None = None) -> Ints:
    """The pairs (row, one of its k nearest rows), exact and the same on every machine.

    Scores come from float32 products, a block of rows against all rows at a time. Where rounding could change which
    rows are among the k nearest, the distances in question are computed again in float64. Rows at the same distance are
    taken in the order of their index, counted onwards from the row itself and beginning anew after the last: so equal
    rows form a ring, not a star around the first of them. Under the cosine metric only rows with a positive similarity
    are neighbours: a row may have fewer than k, and a row of zeros has none.

    Args:
        x: finite float32 [row, feature], dense or CSR.
        k: neighbours of each row, below the number of rows.
        metric: what near means.
        reporter: gets the number of rows done.

    Returns:
        int64 [2, pair]: a row, and a neighbour of it.
    """
    report = reporter or Silent()
    groups = _Groups(x)
    distances = Distances(x[groups.first] if groups.count < x.shape[0] else x, metric)
    pairs: list[Ints] = []
    threads, once = cores(), distances.mutual and groups.count >= _MANY and k <= _TOGETHER // 2
    step = _TOGETHER if once else max(1, _BLOCK // (groups.count * threads))
    starts = range(0, groups.count, step)
    search = _Together(distances, min(k, groups.count - 1)) if once else None

    def work(start: int) -> list[Ints]:
        stop = min(start + step, groups.count)
        if search is None:
            return _pairs(distances, groups, start, stop, k, *_candidates(distances, start, stop, k, groups.size))
        search.look(start, stop)
        return []

    with ThreadPoolExecutor(
        threads, initializer=distances.alone
    ) as pool:  # numpy and scipy let other threads run while they compute
        for start, some in zip(starts, pool.map(work, starts), strict=True):
            pairs += some
            report(Progress("nearest neighbours", min(start + step, groups.count), groups.count))
    if search is not None:
        nearest = _nearest(distances, 0, groups.count, groups.size, search.wanted, *search.found())
        pairs = _pairs(distances, groups, 0, groups.count, k, *nearest)
    return np.concatenate(pairs, axis=1)


def joined_to_nearest(x: npt.NDArray[Any], k: int) -> sp.csr_matrix:
    """Rows joined to their k nearest by the cosine, both ways: 0 and 1, symmetric, [row, row].

    More than `EXACT` rows are joined to nearly their nearest (see `approximate`).
    """
    count = len(x)
    k = min(k, count - 1)
    if count <= EXACT:
        one, other = nearest_neighbours(np.ascontiguousarray(x, np.float32), k) if k else np.zeros((2, 0), np.int64)
    else:
        from nodewise.graph.knn.approximate import approximate_neighbours

        one, other = approximate_neighbours(x, k)
    matrix = sp.csr_matrix((np.ones(len(one), np.float32), (one, other)), shape=(count, count))
    return matrix.maximum(matrix.T).tocsr()


class Distances:
    """Scores and distances between the rows of a table; a larger score is a smaller distance.

    The score is the cosine, or for the Euclidean metric ``u·v - |v|²/2`` of the rows after their mean was subtracted
    (dense ones) and the largest was scaled to length 1: its order along a row is that of the distances.

    Args:
        x: finite float32 [row, feature], dense or CSR.
        metric: ``"cosine"`` or ``"euclidean"``.

    Attributes:
        count: rows.
        least: pairs whose score is not above it are never neighbours.
        farthest: the same as an exact distance.
    """

    def __init__(self, x: Any, metric: str) -> None:
        self._x, self._cosine, self._sparse = x, metric == "cosine", not isinstance(x, np.ndarray)
        self.count = int(x.shape[0])
        self.least, self.farthest = (0.0, 0.0) if self._cosine else (-np.inf, np.inf)
        centre = np.zeros(x.shape[1]) if self._cosine or self._sparse else x.mean(axis=0, dtype=np.float64)
        self._length = _lengths(x, centre)
        largest = float(self._length.max(initial=0.0)) or 1.0
        scale = np.where(self._length > 0, self._length, 1.0) if self._cosine else np.full(x.shape[0], largest)
        self._scaled = _scaled_rows(x, centre, scale)
        self._product = _sparse_product(self._scaled) if self._sparse and _as_dense(self._scaled) else None
        self._turned = self._scaled.T if not self._sparse else None if self._product else self._scaled.T.tocsr()
        self._half = (
            None if self._cosine else (_lengths(self._scaled, np.zeros(x.shape[1])) ** 2 / 2).astype(np.float32)
        )
        terms = int(np.diff(x.indptr).max(initial=0)) if self._sparse else x.shape[1]
        self._error = (terms + 8) * 2.0**-24
        self._reach = np.ones(x.shape[0]) if self._cosine else self._length / largest + 0.5

    def scores(self, start: int, stop: int) -> npt.NDArray[np.float32]:
        """float32 [row from start to stop, row]."""
        scores: npt.NDArray[np.float32]
        if self._product is not None:
            scores = np.empty((stop - start, self._scaled.shape[0]), np.float32)
            for first in range(start, stop, _DENSE_ROWS):
                some = np.ascontiguousarray(self._scaled[first : min(first + _DENSE_ROWS, stop)].toarray().T)
                scores[first - start : first - start + some.shape[1]] = self._product(some).T
        else:
            product = self._scaled[start:stop] @ self._turned
            scores = product.toarray() if self._sparse else product
        if self._half is not None:
            scores -= self._half
        return scores

    @property
    def mutual(self) -> bool:
        """Whether a score is the same both ways and 0 just where two rows have nothing in common, as of counted words.

        Then `onwards` gives it.
        """
        return self._cosine and self._product is not None and bool((self._scaled.data > 1e-15).all())

    def onwards(self, start: int, stop: int) -> npt.NDArray[np.float32]:
        """The scores of the rows from start to stop with each other and all that follow.

        Float32 [row from start on, row from start to stop].
        """
        assert self._product is not None
        scores = np.empty((self.count - start, stop - start), np.float32)
        for first in range(start, stop, _DENSE_ROWS):
            some = np.ascontiguousarray(self._scaled[first : min(first + _DENSE_ROWS, stop)].toarray().T)
            scores[:, first - start : first - start + some.shape[1]] = self._product(some, start)
        return scores

    def alone(self) -> None:
        """To be called on every thread that asks for scores.

        There are as many of these as cores, and torch needs no more.
        """
        if torch := sys.modules.get("torch"):
            torch.set_num_threads(1)

    def slack(self, start: int, stop: int) -> Floats:
        """How far the scores of these rows can be from the truth: the bound for a sum of rounded products."""
        slack: Floats = self._error * self._reach[start:stop]
        return slack

    def has_direction(self, row: Ints) -> npt.NDArray[np.bool_]:
        """Which rows can be near to anything: under the cosine metric those that are not all zeros."""
        usable: npt.NDArray[np.bool_] = (self._length[row] > 0) | (not self._cosine)
        return usable

    def exact(self, row: Ints, other: Ints) -> Floats:
        """Minus the cosine, or the squared distance, of each pair.

        In float64, then rounded, so that equal distances compare as equal.
        """
        result = np.empty(len(row))
        step = max(1, _VALUES // max(1, self._x.shape[1] if not self._sparse else 256))
        for start in range(0, len(row), step):
            part = slice(start, start + step)
            a, b = self._x[row[part]].astype(np.float64), self._x[other[part]].astype(np.float64)
            result[part] = _products(a, b) if self._cosine else _products(a - b, a - b)
        if self._cosine:
            length = self._length[row] * self._length[other]
            cosine: Floats = np.divide(result, length, out=np.zeros_like(result), where=length > 0)
            return 0.0 - cosine.round(11)
        fraction, exponent = np.frexp(result)
        rounded: Floats = np.ldexp(np.round(fraction * 2.0**40), exponent - 40)
        return rounded


def _pairs(
    distances: Distances,
    groups: _Groups,
    start: int,
    stop: int,
    k: int,
    row: Ints,
    column: Ints,
    settled: npt.NDArray[np.bool_],
) -> list[Ints]:
    """The pairs of the groups from start to stop, from those among which their nearest must be."""
    sure = settled[row - start]
    pairs = [np.stack([groups.first[row[sure]], groups.first[column[sure]]])]
    row, column = row[~sure], column[~sure]
    pairs += [_resolve(distances, groups, row[part], column[part], k) for part in _parts(row, groups.size)]
    alone = np.setdiff1d(np.flatnonzero(groups.size[start:stop] > 1) + start, row)
    pairs.append(_resolve(distances, groups, alone, alone, k))
    return pairs


class _Groups:
    """Rows that are equal bit by bit: searched for once, however many there are.

    Attributes:
        first: int64 [group], the first row of each group, rising.
        size: int64 [group].
    """

    def __init__(self, x: Rows) -> None:
        seen: dict[bytes, int] = {}
        group = np.empty(x.shape[0], dtype=np.int64)
        for row, content in enumerate(_contents(x)):
            group[row] = seen.setdefault(blake2b(content, digest_size=16).digest(), len(seen))
        self.rows, self.count = x.shape[0], len(seen)
        self.size: Ints = np.bincount(group, minlength=self.count)
        self.members: Ints = np.argsort(group, kind="stable")
        self.start: Ints = np.cumsum(self.size) - self.size
        self.first: Ints = self.members[self.start]
        self._key: Ints = group[self.members] * self.rows + self.members

    def onwards(self, row: Ints, group: Ints, most: Ints) -> tuple[Ints, Ints]:
        """For every pair of row and group: the group's next `most` members after the row, around the ring.

        Returns:
            Which pair each result belongs to, and the member.
        """
        position = np.searchsorted(self._key, group * self.rows + row, side="right") - self.start[group]
        pair = np.repeat(np.arange(len(row)), most)
        ahead = np.arange(len(pair)) - np.repeat(np.cumsum(most) - most, most)
        return pair, self.members[self.start[group][pair] + (position[pair] + ahead) % self.size[group][pair]]


def _contents(x: Rows) -> Iterator[bytes]:
    if isinstance(x, np.ndarray):
        for values in x:
            yield (values + np.float32(0)).tobytes()  # -0 is 0
        return
    for start, stop in zip(x.indptr[:-1], x.indptr[1:], strict=True):
        yield x.indices[start:stop].tobytes() + x.data[start:stop].tobytes()


def _candidates(
    distances: Distances, start: int, stop: int, k: int, size: Ints
) -> tuple[Ints, Ints, npt.NDArray[np.bool_]]:
    """Pairs of groups among which the k nearest must be, for the groups from start to stop, and for which of these they
    are all of them.
    """
    scores = distances.scores(start, stop)
    own = np.arange(start, stop)
    scores[own - start, own] = -np.inf
    wanted = min(k, scores.shape[1] - 1)
    if not wanted:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(stop - start, dtype=bool)
    slack = distances.slack(start, stop)
    best = _best_of_sets(scores, wanted)
    floor = np.partition(best, best.shape[1] - wanted, axis=1)[:, -wanted]  # at most a row's `wanted`-th largest score
    least = np.nextafter((floor - 2 * slack).astype(np.float32), np.float32(-np.inf))
    row, column = _at_least(scores, best, least)
    return _nearest(distances, start, stop, size, wanted, row + start, column, scores[row, column])


def _nearest(
    distances: Distances,
    start: int,
    stop: int,
    size: Ints,
    wanted: int,
    row: Ints,
    column: Ints,
    scores: npt.NDArray[np.float32],
) -> tuple[Ints, Ints, npt.NDArray[np.bool_]]:
    """Of pairs among which the nearest are, those that may be.

    And for which groups from start to stop they are all of the nearest.
    """
    slack, score, row = distances.slack(start, stop), scores.astype(np.float64), row - start
    order = np.lexsort((column, -score, row))
    row, column, score = row[order], column[order], score[order]
    number = np.bincount(row, minlength=stop - start)
    last = (
        np.minimum(np.cumsum(number) - number + wanted, len(row)) - 1
    )  # where the `wanted`-th of each row stands, if there are so many
    keep = score >= np.where(number >= wanted, score[last] - 2 * slack, -np.inf)[row]
    # Under the cosine metric only what is surely or perhaps positive stays, and what is perhaps positive is looked at
    # again.
    keep &= (score > distances.least - slack[row]) & np.isfinite(score)
    doubt = (score <= distances.least + slack[row]) | (size[column] > 1)
    row, column, doubt = row[keep], column[keep], doubt[keep]
    number = np.bincount(row, minlength=stop - start)
    settled = (
        (number <= wanted) & (size[start:stop] == 1) & (np.bincount(row, weights=doubt, minlength=stop - start) == 0)
    )
    return row + start, column, settled


class _Together:
    """The nearest of all rows at once, where a score is the same both ways and 0 without anything in common.

    Every pair is scored once, for both its rows.

    For every row its largest scores so far are kept; a pair whose score is below all of them is among the nearest of
    neither, and forgotten.

    Args:
        distances: between the rows.
        wanted: how many of the nearest.
    """

    def __init__(self, distances: Distances, wanted: int) -> None:
        self._distances, self.wanted, self._lock = distances, wanted, Lock()
        count = distances.count
        self._largest = np.full((count, wanted), -np.inf, np.float32)
        self._least = np.full(count, -np.inf, np.float32)  # no row's `wanted`-th largest score is below it
        self._slack = 2 * distances.slack(0, count)
        self._found: list[tuple[Ints, Ints, npt.NDArray[np.float32]]] = []

    def look(self, start: int, stop: int) -> None:
        """Score the rows from start to stop with each other and with all that come after them."""
        scores = self._distances.onwards(start, stop)  # [row from start on, row from start to stop]
        own = np.arange(stop - start)
        scores[own, own] = -np.inf
        fresh = np.flatnonzero(np.isneginf(self._least[start:]))
        if (
            len(fresh) and stop - start >= 2 * self.wanted
        ):  # the first rows: of pairs of columns the larger score, of these the `wanted`-th
            best = np.maximum(scores[fresh, : (stop - start) // 2], scores[fresh, -((stop - start) // 2) :])
            floor = np.partition(best, best.shape[1] - self.wanted, axis=1)[:, -self.wanted]
            self._least[start + fresh] = np.maximum(self._least[start + fresh], floor)
        least = np.nextafter((self._least - self._slack).astype(np.float32)[start:], np.float32(-np.inf))
        least = np.maximum(least, np.finfo(np.float32).tiny)  # rows that share nothing are no neighbours
        later, one = np.divmod(np.flatnonzero(scores >= least[:, None]), stop - start)
        ahead, other = np.divmod(np.flatnonzero(scores[stop - start :] >= least[None, : stop - start]), stop - start)
        ahead += stop - start
        row, column = np.concatenate([later, other]) + start, np.concatenate([one, ahead]) + start
        self._keep(row, column, np.concatenate([scores[later, one], scores[ahead, other]]))

    def _keep(self, row: Ints, column: Ints, score: npt.NDArray[np.float32]) -> None:
        order = np.lexsort((-score, row))
        rows, first, which = np.unique(row[order], return_index=True, return_inverse=True)
        rank = np.arange(len(row)) - first[which]
        top = rank < self.wanted
        new = np.full((len(rows), self.wanted), -np.inf, np.float32)
        new[which[top], rank[top]] = score[order][top]
        with self._lock:
            both = np.concatenate([self._largest[rows], new], axis=1)
            self._largest[rows] = largest = np.partition(both, self.wanted, axis=1)[:, self.wanted :]
            self._least[rows] = np.maximum(self._least[rows], largest.min(axis=1))
            self._found.append((row, column, score))

    def found(self) -> tuple[Ints, Ints, npt.NDArray[np.float32]]:
        """Pairs among which the nearest of every row are: row, other row, score."""
        row, column, score = (np.concatenate(part) for part in zip(*self._found, strict=True))
        near = score >= (self._least - self._slack).astype(np.float32)[row] - np.float32(1e-6)
        return row[near], column[near], score[near]


def _best_of_sets(scores: npt.NDArray[np.float32], wanted: int) -> npt.NDArray[np.float32]:
    """The largest scores of disjoint sets of columns, set s being the columns s, s + sets, s + 2 sets …: [row, set].

    Of few columns all scores.
    """
    rows, columns = scores.shape
    sets = -(-columns // _CHUNK)
    if sets < 4 * wanted:
        return scores
    whole = columns // sets
    best: npt.NDArray[np.float32] = scores[:, : whole * sets].reshape(rows, whole, sets).max(axis=1)
    rest = columns - whole * sets
    np.maximum(best[:, :rest], scores[:, whole * sets :], out=best[:, :rest])
    return best


def _at_least(
    scores: npt.NDArray[np.float32], best: npt.NDArray[np.float32], least: npt.NDArray[np.float32]
) -> tuple[Ints, Ints]:
    """The rows and columns of scores that are not below their row's least.

    Only sets whose largest is not are looked at.
    """
    row, column = np.nonzero(best >= least[:, None])
    if best.shape == scores.shape:
        return row, column
    columns = column[:, None] + np.arange(0, scores.shape[1], best.shape[1])
    inside = columns < scores.shape[1]
    inside[inside] = scores[np.repeat(row, inside.sum(1)), columns[inside]] >= np.repeat(least[row], inside.sum(1))
    return np.repeat(row, inside.sum(1)), columns[inside]


def _parts(row: Ints, size: Ints) -> Iterator[slice]:
    """Cuts pairs, sorted by row, between rows into parts that stand for a bounded number of pairs of members."""
    work = np.cumsum(size[row])
    ends = np.flatnonzero(np.append(np.diff(row), 1)) + 1 if len(row) else np.zeros(0, dtype=np.int64)
    start = 0
    while start < len(row):
        limit = (work[start - 1] if start else 0) + _PAIRS // 16
        inside = ends[(ends > start) & (work[ends - 1] <= limit)]
        stop = int(inside[-1]) if len(inside) else int(ends[ends > start][0])
        yield slice(start, stop)
        start = stop


def _resolve(distances: Distances, groups: _Groups, row: Ints, column: Ints, k: int) -> Ints:
    """The k nearest members for every member of the groups in `row`, sorted, out of those in `column` and their own."""
    same = np.unique(row)
    same = same[(groups.size[same] > 1) & distances.has_direction(same)]
    other = row != column
    row, column = np.concatenate([row[other], same]), np.concatenate([column[other], same])
    near = distances.exact(row, column)
    fit = near < distances.farthest
    row, column, near = row[fit], column[fit], near[fit]
    pair, node = groups.onwards(groups.first[row] - 1, row, groups.size[row])
    group = column[pair]
    which, neighbour = groups.onwards(node, group, np.minimum(k, groups.size[group] - (group == row[pair])))
    node, near = node[which], near[pair][which]
    order = np.lexsort(((neighbour - node) % groups.rows, near, node))
    node, neighbour = node[order], neighbour[order]
    rank = np.arange(len(node)) - np.searchsorted(node, node)
    return np.stack([node[rank < k], neighbour[rank < k]])


def _as_dense(x: Any) -> bool:
    """Whether all products of sparse rows take less time with some rows made dense at a time than with all sparse.

    Of sparse rows, every pair of rows that share a column costs for each such column; with dense ones, every entry of
    all rows costs for each row, and every cell of the dense ones. Texts, in which many rows share some words, are
    several times faster so; rows with hardly anything in common are not.
    """
    shared = float(np.square(np.bincount(x.indices, minlength=x.shape[1]), dtype=np.float64).sum())
    dense = x.shape[0] * (_ENTRY_COST * x.nnz + _CELL_COST * x.shape[1])
    return bool(x.shape[1] <= 2**19 and dense < _PAIR_COST * shared)


def _sparse_product(x: Any) -> Callable[..., npt.NDArray[np.float32]]:
    """What multiplies sparse rows, all or those from one on, by dense columns, on the thread that asks for it."""
    if x.nnz * x.shape[0] < _WORTH_TORCH:
        return lambda some, start=0: (x[start:] if start else x) @ some
    import torch

    from nodewise.graph.tensors import csr_product, csr_tensor

    x.sort_indices()
    starts, columns, values = (torch.from_numpy(array) for array in (x.indptr, x.indices, x.data))

    def product(some: npt.NDArray[np.float32], start: int = 0) -> npt.NDArray[np.float32]:
        first = int(starts[start])
        matrix = csr_tensor(starts[start:] - first, columns[first:], values[first:], (x.shape[0] - start, x.shape[1]))
        with torch.no_grad():
            return csr_product(matrix, torch.from_numpy(some)).numpy()

    return product


def _products(a: Any, b: Any) -> Floats:
    if not isinstance(a, np.ndarray):
        return np.asarray(a.multiply(b).sum(axis=1), dtype=np.float64).reshape(-1)
    products: Floats = np.einsum("rf,rf->r", a, b)
    return products


def _lengths(x: Any, centre: Floats) -> Floats:
    if not isinstance(x, np.ndarray):
        squares = x.astype(np.float64)
        squares.data **= 2
        return np.sqrt(np.asarray(squares.sum(axis=1), dtype=np.float64).reshape(-1))
    length = np.empty(x.shape[0])
    step = max(1, _VALUES // max(1, x.shape[1]))
    for start in range(0, len(x), step):
        part = x[start : start + step] - centre
        length[start : start + step] = np.sqrt(np.einsum("rf,rf->r", part, part))
    return length


def _scaled_rows(x: Any, centre: Floats, scale: Floats) -> Any:
    if not isinstance(x, np.ndarray):
        return (sp.diags(1 / scale) @ x).astype(np.float32).tocsr()
    scaled = np.empty(x.shape, dtype=np.float32)
    step = max(1, _VALUES // max(1, x.shape[1]))
    for start in range(0, len(x), step):
        part = slice(start, start + step)
        scaled[part] = (x[part] - centre) / scale[part, None]
    return scaled
