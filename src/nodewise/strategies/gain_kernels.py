"""GPU kernels of `gain`: a step's scores in nine launches, of which the last four do nothing once labels are no longer
few.

The formulas are those of `gain`, which is what the CPU does. A view that does not count in a run costs nothing: its
programs end at once.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

__all__ = ["gain_scores"]

_NODES = 128
"""Nodes that one program works on."""

_PROGRAMS = 1024
"""Programs, about, that share the sum over all nodes."""


@triton.jit
def _counting(weights, run, view, views, most, least, VIEWS: tl.constexpr):
    """The view's weight in the run, 0 where the view does not count.

    Not among the ``most`` heaviest, or below ``least``.
    """
    place = tl.arange(0, VIEWS)
    all_weights = tl.load(weights + run * views + place, mask=place < views, other=-1.0)
    above = tl.sum((all_weights[None, :] > all_weights[:, None]).to(tl.int32), 1)
    last = tl.min(tl.where((above < most) & (place < views), all_weights, 1e30), 0)
    own = tl.load(weights + run * views + view)
    return tl.where(own >= 0.999 * tl.maximum(last, least), own, 0.0)


@triton.jit
def _undecided(mean, out, nodes, runs, classes, temperature, NODES: tl.constexpr, CLASSES: tl.constexpr):
    """(1 − margin)², the margin that of softmax(temperature · mean); the mean is [node, run, class].

    Program (block of nodes, run).
    """
    run = tl.program_id(1).to(tl.int64)
    node = tl.program_id(0) * NODES + tl.arange(0, NODES)
    label = tl.arange(0, CLASSES)
    inside = node < nodes
    start = mean + (node.to(tl.int64) * runs + run) * classes
    value = tl.load(
        start[:, None] + label[None, :], mask=inside[:, None] & (label < classes)[None, :], other=-float("inf")
    )
    value = tl.where(inside[:, None], value, 0.0)
    best = tl.argmax(value, 1)
    odds = tl.exp(temperature * (value - tl.max(value, 1)[:, None]))
    second = tl.max(tl.where(label[None, :] == best[:, None], 0.0, odds), 1)
    left = 1 - (1 - second) / tl.sum(odds, 1)
    left = left * left
    if classes == 1:
        left = left * 0 + 1
    tl.store(out + run * nodes + node, left, mask=inside)


@triton.jit
def _gram(
    leading,
    weights,
    undecided,
    parts,
    peaks,
    best,
    nodes,
    runs,
    views,
    columns,
    stride,
    most,
    least,
    VIEWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    NODES: tl.constexpr,
):
    """Part of Σ w z zᵀ over every ``stride``-th node, for a view that counts; clears what is searched for later.

    Program (part, view, run).
    """
    part, view, run = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
    if part == 0:
        tl.store(peaks + run * views + view, 0)
        if view == 0:
            tl.store(best + run, 0)
    if _counting(weights, run, view, views, most, least, VIEWS) > 0:
        column = tl.arange(0, COLUMNS)
        total = tl.zeros([COLUMNS, COLUMNS], dtype=tl.float32)
        many = tl.cdiv(nodes, stride)
        for first in range(part * NODES, many, tl.num_programs(0) * NODES):
            place = first + tl.arange(0, NODES)
            node = place.to(tl.int64) * stride
            inside = place < many
            cell = leading + (view * nodes + node)[:, None] * columns + column[None, :]
            z = tl.load(cell, mask=inside[:, None] & (column < columns)[None, :], other=0.0)
            worth = tl.load(undecided + run * nodes + node, mask=inside, other=0.0) * stride
            total = tl.dot(tl.trans(z * worth[:, None]), z, total, input_precision="tf32x3")
        cell = parts + ((run * views + view) * tl.num_programs(0) + part) * COLUMNS * COLUMNS
        tl.store(cell + column[:, None] * COLUMNS + column[None, :], total)


@triton.jit
def _quadratic(
    leading,
    weights,
    chosen,
    ridges,
    covariance,
    parts,
    gains,
    peaks,
    nodes,
    runs,
    views,
    strengths,
    columns,
    many_parts,
    most,
    least,
    VIEWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    NODES: tl.constexpr,
):
    """zᵀ M G M z / (zᵀ M z + r) of each node in a view that counts, and its largest.

    Program (block of nodes, view, run).
    """
    view, run = tl.program_id(1), tl.program_id(2).to(tl.int64)
    if _counting(weights, run, view, views, most, least, VIEWS) > 0:
        column = tl.arange(0, COLUMNS)
        known = column < columns
        both = known[:, None] & known[None, :]
        member = (view * strengths + tl.load(chosen + run * views + view)) * runs + run
        cell = covariance + member * columns * columns + column[:, None] * columns + column[None, :]
        moves = tl.load(cell, mask=both, other=0.0).to(tl.float32)
        gram = tl.zeros([COLUMNS, COLUMNS], dtype=tl.float32)
        start = parts + (run * views + view) * many_parts * COLUMNS * COLUMNS
        for part in range(many_parts):
            gram += tl.load(start + part * COLUMNS * COLUMNS + column[:, None] * COLUMNS + column[None, :])
        node = tl.program_id(0) * NODES + tl.arange(0, NODES)
        inside = node < nodes
        cell = leading + (view * nodes + node.to(tl.int64))[:, None] * columns + column[None, :]
        z = tl.load(cell, mask=inside[:, None] & known[None, :], other=0.0)
        moved = tl.dot(z, moves, input_precision="tf32x3")
        variance = tl.sum(moved * z, 1)
        reduction = tl.sum(tl.dot(moved, gram, input_precision="tf32x3") * moved, 1)
        gain = tl.where(inside, tl.maximum(reduction / (variance + tl.load(ridges + run * views + view)), 0.0), 0.0)
        tl.store(gains + (view * runs + run) * nodes + node, gain, mask=inside)
        tl.atomic_max(
            peaks + run * views + view, tl.max(gain, 0).to(tl.int32, bitcast=True)
        )  # floats of one sign are in their bits' order


@triton.jit
def _combine(
    gains, weights, peaks, pool, scores, best, nodes, runs, views, most, least, VIEWS: tl.constexpr, NODES: tl.constexpr
):
    """The weighted sum of the views' gains, each divided by its largest, and its largest in the pool.

    Program (block of nodes, run).
    """
    run = tl.program_id(1).to(tl.int64)
    node = tl.program_id(0) * NODES + tl.arange(0, NODES)
    inside = node < nodes
    total = tl.zeros([NODES], dtype=tl.float32)
    for view in range(views):
        weight = _counting(weights, run, view, views, most, least, VIEWS)
        if weight > 0:
            peak = tl.load(peaks + run * views + view).to(tl.float32, bitcast=True)
            total += (
                weight
                / tl.maximum(peak, 1e-12)
                * tl.load(gains + (view * runs + run) * nodes + node, mask=inside, other=0.0)
            )
    tl.store(scores + run * nodes + node, total, mask=inside)
    asked = tl.load(pool + run * nodes + node, mask=inside, other=0) != 0
    tl.atomic_max(best + run, tl.max(tl.where(asked, total, 0.0), 0).to(tl.int32, bitcast=True))


@triton.jit
def _settle(scores, best, noise, nodes, NODES: tl.constexpr):
    """Noise for those that share the pool's largest score. Program (block of nodes, run)."""
    run = tl.program_id(1).to(tl.int64)
    node = tl.program_id(0) * NODES + tl.arange(0, NODES)
    inside = node < nodes
    score = tl.load(scores + run * nodes + node, mask=inside, other=-1.0)
    ties = inside & (score == tl.load(best + run).to(tl.float32, bitcast=True))
    tl.store(scores + run * nodes + node, score + tl.load(noise + run * nodes + node, mask=ties, other=0.0), mask=ties)


@triton.jit
def _select(scores, pool, noise, step, candidates, nodes, early, many, first, NODES: tl.constexpr):
    """The nodes of the pool with the best scores, −1 where there are none left. Program (run).

    Before the first label one of the ``first`` best alone, that with most noise.
    """
    run = tl.program_id(0).to(tl.int64)
    if tl.load(step) < early:
        opening = tl.load(step) < 1
        last = float("inf")
        last_node = -1
        most = -1.0
        drawn = -1
        for number in range(tl.where(opening, tl.maximum(first, many), many)):  # in the order of score, then number
            top = -float("inf")
            top_node = -1
            for begin in range(0, nodes, NODES):
                node = begin + tl.arange(0, NODES)
                inside = node < nodes
                score = tl.load(scores + run * nodes + node, mask=inside, other=-float("inf"))
                free = tl.load(pool + run * nodes + node, mask=inside, other=0) != 0
                free = free & ((score < last) | ((score == last) & (node > last_node)))
                score = tl.where(free, score, -float("inf"))
                highest = tl.max(score, 0)
                where = begin + tl.argmax(score, 0)
                top_node = tl.where(highest > top, where, top_node)
                top = tl.maximum(highest, top)
            chance = tl.load(noise + run * nodes + top_node, mask=(top_node >= 0) & (number < first), other=-1.0)
            drawn = tl.where(chance > most, top_node, drawn)
            most = tl.maximum(chance, most)
            kept = (number < many) & ((number > 0) | (opening == 0))
            tl.store(candidates + run * many + number, tl.where(opening, -1, top_node), mask=kept)
            last = top
            last_node = top_node
        tl.store(candidates + run * many, drawn, mask=opening)


@triton.jit
def _directions(
    leading,
    stretch,
    chosen,
    ridges,
    covariance,
    candidates,
    step,
    directions,
    nodes,
    runs,
    views,
    strengths,
    columns,
    early,
    many,
    COLUMNS: tl.constexpr,
):
    """s M z / (zᵀ M z + r) of each candidate in one view: what its answer moves, along the view's columns.

    Program (view, run).
    """
    view, run = tl.program_id(0), tl.program_id(1).to(tl.int64)
    if tl.load(step) < early:
        column = tl.arange(0, COLUMNS)
        known = column < columns
        member = (view * strengths + tl.load(chosen + run * views + view)) * runs + run
        cell = covariance + member * columns * columns + column[:, None] * columns + column[None, :]
        moves = tl.load(cell, mask=known[:, None] & known[None, :], other=0.0).to(tl.float32)
        for number in range(many):
            node = tl.maximum(tl.load(candidates + run * many + number), 0).to(tl.int64)
            z = tl.load(leading + (view * nodes + node) * columns + column, mask=known, other=0.0)
            moved = tl.sum(moves * z[:, None], 0)
            variance = tl.sum(moved * z, 0)
            factor = tl.load(stretch + run * views + view) / (variance + tl.load(ridges + run * views + view))
            tl.store(directions + ((run * many + number) * views + view) * columns + column, factor * moved, mask=known)


@triton.jit
def _errors(
    leading,
    mean,
    candidates,
    directions,
    step,
    errors,
    nodes,
    runs,
    views,
    columns,
    classes,
    early,
    many,
    stride,
    temperature,
    COLUMNS: tl.constexpr,
    CLASSES: tl.constexpr,
    NODES: tl.constexpr,
):
    """The expected errors on some of every ``stride``-th node after a candidate's answer.

    Program (block of nodes, candidate, run).
    """
    number, run = tl.program_id(1), tl.program_id(2).to(tl.int64)
    if tl.load(step) < early:
        place = tl.program_id(0) * NODES + tl.arange(0, NODES)
        node = place.to(tl.int64) * stride
        inside = node < nodes
        column = tl.arange(0, COLUMNS)
        known = column < columns
        shift = tl.zeros([NODES], dtype=tl.float32)
        for view in range(views):
            z = tl.load(
                leading + (view * nodes + node)[:, None] * columns + column[None, :],
                mask=inside[:, None] & known[None, :],
                other=0.0,
            )
            along = tl.load(
                directions + ((run * many + number) * views + view) * columns + column, mask=known, other=0.0
            )
            shift += tl.sum(z * along[None, :], 1)
        label = tl.arange(0, CLASSES)
        named = label < classes
        asked = tl.maximum(tl.load(candidates + run * many + number), 0).to(tl.int64)
        own = tl.load(mean + (asked * runs + run) * classes + label, mask=named, other=0.0)
        chance = tl.where(named, tl.exp(temperature * (own - tl.max(tl.where(named, own, -float("inf")), 0))), 0.0)
        chance = chance / tl.sum(chance, 0)
        start = mean + (node * runs + run) * classes
        around = tl.load(start[:, None] + label[None, :], mask=inside[:, None] & named[None, :], other=0.0)
        total = 0.0
        for answer in range(classes):
            change = tl.where(label == answer, 1.0, 0.0) - 1.0 / classes - own
            after = tl.where(named[None, :], temperature * (around + shift[:, None] * change[None, :]), -float("inf"))
            sure = 1 / tl.sum(tl.exp(after - tl.max(after, 1)[:, None]), 1)
            total += tl.sum(tl.where(label == answer, chance, 0.0), 0) * tl.sum(tl.where(inside, 1 - sure, 0.0), 0)
        tl.store(errors + (run * many + number) * tl.num_programs(0) + tl.program_id(0), total)


@triton.jit
def _lift(scores, best, candidates, errors, step, nodes, early, many, blocks, MANY: tl.constexpr, BLOCKS: tl.constexpr):
    """The candidate with the least expected error gets a score above all others. Program (run)."""
    run = tl.program_id(0).to(tl.int64)
    if tl.load(step) < early:
        number = tl.arange(0, MANY)
        block = tl.arange(0, BLOCKS)
        inside = (number < many)[:, None] & (block < blocks)[None, :]
        error = tl.sum(
            tl.load(errors + (run * many + number)[:, None] * blocks + block[None, :], mask=inside, other=0.0), 1
        )
        node = tl.load(candidates + run * many + number, mask=number < many, other=-1)
        least = tl.argmin(tl.where(node >= 0, error, float("inf")), 0)
        chosen = tl.sum(tl.where(number == least, node, 0), 0)
        tl.store(scores + run * nodes + chosen, tl.load(best + run).to(tl.float32, bitcast=True) + 2, mask=chosen >= 0)


def gain_scores(
    leading: torch.Tensor,
    mean: torch.Tensor,
    weights: torch.Tensor,
    stretch: torch.Tensor,
    chosen: torch.Tensor,
    ridges: torch.Tensor,
    covariance: torch.Tensor,
    pool: torch.Tensor,
    noise: torch.Tensor,
    step: torch.Tensor,
    *,
    counting: tuple[int, float],
    first: int,
    early: int,
    candidates: int,
    looked_at: int,
    gram_nodes: int,
    temperature: float,
) -> torch.Tensor:
    """The scores of `gain`: [run, node].

    Args:
        leading: the views' leading columns, [view, node, column].
        mean: the posterior's, [node, run, class]. weights, stretch, chosen, ridges: of the fit, [run, view]; ``chosen``
        is the ridge's number.
        covariance: float64 [view, ridge, run, column, column]. pool, noise: [run, node].
        step: int64 [1].
        counting: how many views count at most, and from which weight on.
        first: the best nodes that the first question is drawn among.
        early: steps in which, after the first, the expected error decides among the best ``candidates``, on at least
            ``looked_at`` evenly spaced nodes.
        gram_nodes: nodes from which the sum over all nodes is taken at least.
        temperature: of the predictions.
    """
    (views, nodes, columns), (_, runs, classes), device = leading.shape, mean.shape, leading.device
    pool = pool.view(torch.uint8)
    many, stride = min(candidates, nodes), max(1, nodes // looked_at)
    power, blocks = triton.next_power_of_2, triton.cdiv(nodes, _NODES)
    wide, lanes, several = max(16, power(columns)), max(2, power(classes)), max(2, power(views))
    parts = max(1, min(8, blocks, _PROGRAMS // (counting[0] * runs)))
    undecided, scores = (torch.empty(runs, nodes, device=device) for _ in range(2))
    gains = torch.empty(views, runs, nodes, device=device)
    grams = torch.empty(runs, views, parts, wide, wide, device=device)
    peaks, best = (
        torch.empty(runs, views, dtype=torch.int32, device=device),
        torch.empty(runs, dtype=torch.int32, device=device),
    )
    _undecided[(blocks, runs)](mean, undecided, nodes, runs, classes, temperature, NODES=_NODES, CLASSES=lanes)
    _gram[(parts, views, runs)](
        leading,
        weights,
        undecided,
        grams,
        peaks,
        best,
        nodes,
        runs,
        views,
        columns,
        max(1, nodes // gram_nodes),
        *counting,
        VIEWS=several,
        COLUMNS=wide,
        NODES=64,
    )
    _quadratic[(blocks, views, runs)](
        leading,
        weights,
        chosen,
        ridges,
        covariance,
        grams,
        gains,
        peaks,
        nodes,
        runs,
        views,
        covariance.shape[1],
        columns,
        parts,
        *counting,
        VIEWS=several,
        COLUMNS=wide,
        NODES=_NODES,
    )
    _combine[(blocks, runs)](
        gains, weights, peaks, pool, scores, best, nodes, runs, views, *counting, VIEWS=several, NODES=_NODES
    )
    _settle[(blocks, runs)](scores, best, noise, nodes, NODES=_NODES)

    found = torch.empty(runs, many, dtype=torch.int32, device=device)
    directions = torch.empty(runs, many, views, columns, device=device)
    some = 64
    pieces = triton.cdiv(triton.cdiv(nodes, stride), some)
    errors = torch.empty(runs, many, pieces, device=device)
    _select[(runs,)](
        scores, pool, noise, step, found, nodes, early, many, first, NODES=min(4096, power(nodes)), num_warps=8
    )
    _directions[(views, runs)](
        leading,
        stretch,
        chosen,
        ridges,
        covariance,
        found,
        step,
        directions,
        nodes,
        runs,
        views,
        covariance.shape[1],
        columns,
        early,
        many,
        COLUMNS=wide,
    )
    _errors[(pieces, many, runs)](
        leading,
        mean,
        found,
        directions,
        step,
        errors,
        nodes,
        runs,
        views,
        columns,
        classes,
        early,
        many,
        stride,
        temperature,
        COLUMNS=wide,
        CLASSES=lanes,
        NODES=some,
    )
    _lift[(runs,)](
        scores, best, found, errors, step, nodes, early, many, pieces, MANY=power(many), BLOCKS=power(pieces)
    )
    return scores
