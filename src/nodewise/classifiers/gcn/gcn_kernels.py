"""GPU kernels of the GCN's training step, one program for a (node, run), restricted to the rows that the loss reaches.

Dropout is drawn where it is used, from (seed, epoch, run, layer) and the element's place, so that the backward pass
draws the same again and nothing is stored. The names follow `field`: labelled nodes, near nodes (their neighbours), far
nodes (the neighbours' neighbours).
"""

from __future__ import annotations

import triton
import triton.language as tl

__all__ = [
    "adam",
    "far_dense",
    "far_sparse",
    "far_sum",
    "hidden_layer",
    "mark",
    "near_back",
    "read",
    "weight_back_dense",
    "weight_back_sparse",
]


@triton.jit
def stream(seed, epoch, run, runs, layer):
    """The seed of one run's dropout in one layer and epoch.

    Never the seed itself, from which the weights were drawn.
    """
    return tl.load(seed) + ((tl.load(epoch) * runs + run) * 2 + layer + 1).to(tl.int64) * 7919


@triton.jit
def keep(key, node, begin, features, rate, ROWS: tl.constexpr, FEATURES: tl.constexpr):
    """Dropout's choice for a tile of nodes and a run of features that begins at a multiple of FEATURES.

    Bool [ROWS, FEATURES].

    One draw of the generator gives eight choices of 16 bits each.
    """
    groups: tl.constexpr = FEATURES // 8
    counter = node[:, None] * (tl.cdiv(features, 8) + 8) + begin // 8 + tl.arange(0, groups)[None, :]
    a, b, c, d = tl.randint4x(key, counter.to(tl.int32))
    words = tl.reshape(tl.join(tl.join(a, b), tl.join(c, d)), [ROWS, FEATURES // 2])
    low = (words & 0xFFFF).to(tl.float32)
    high = ((words >> 16) & 0xFFFF).to(tl.float32)
    return tl.reshape(tl.join(low, high), [ROWS, FEATURES]) >= rate * 65536


@triton.jit
def row_product(
    crow,
    col,
    values,
    source,
    near,
    run,
    node,
    nodes,
    width,
    NEAR: tl.constexpr,
    WIDTH: tl.constexpr,
    ENTRIES: tl.constexpr,
):
    """A node's row of the sparse matrix times the run's source [node, width]: [WIDTH].

    With NEAR, only at columns that are marked near.
    """
    unit = tl.arange(0, WIDTH)
    start = tl.load(crow + node)
    end = tl.load(crow + node + 1)
    total = tl.zeros([WIDTH], dtype=tl.float32)
    for first in range(start, end, ENTRIES):
        entry = first + tl.arange(0, ENTRIES)
        inside = entry < end
        column = tl.load(col + entry, mask=inside, other=0)
        value = tl.load(values + entry, mask=inside, other=0.0)
        if NEAR:
            inside = inside & (tl.load(near + run * nodes + column, mask=inside, other=0) != 0)
        where = source + (run * nodes + column)[:, None] * width + unit[None, :]
        total += tl.sum(value[:, None] * tl.load(where, mask=inside[:, None] & (unit < width)[None, :], other=0.0), 0)
    return total


@triton.jit
def mark(crow, col, queried, near, far, near_list, far_list, near_count, far_count, nodes, ENTRIES: tl.constexpr):
    """Mark and list the near and far nodes of the node that each run has just asked; program (neighbour, run)."""
    run = tl.program_id(1).to(tl.int64)
    asked = tl.load(queried + run)
    entry = tl.load(crow + asked) + tl.program_id(0)
    if entry < tl.load(crow + asked + 1):
        neighbour = tl.load(col + entry)
        if tl.atomic_xchg(near + run * nodes + neighbour, 1) == 0:
            tl.store(near_list + run * nodes + tl.atomic_add(near_count + run, 1), neighbour)
            start = tl.load(crow + neighbour)
            end = tl.load(crow + neighbour + 1)
            for first in range(start, end, ENTRIES):
                entries = first + tl.arange(0, ENTRIES)
                inside = entries < end
                second = tl.load(col + entries, mask=inside, other=0)
                fresh = inside & (
                    tl.atomic_xchg(far + run * nodes + second, tl.full([ENTRIES], 1, tl.int32), mask=inside) == 0
                )
                slot = tl.atomic_add(
                    far_count + run + tl.zeros([ENTRIES], tl.int32), tl.full([ENTRIES], 1, tl.int32), mask=fresh
                )
                tl.store(far_list + run * nodes + slot, second, mask=fresh)


@triton.jit
def far_sparse(
    crow,
    col,
    values,
    w0,
    far_list,
    far_count,
    out,
    seed,
    epoch,
    rate,
    runs,
    nodes,
    features,
    width,
    TRAIN: tl.constexpr,
    WIDTH: tl.constexpr,
    ENTRIES: tl.constexpr,
):
    """X W0, X sparse; in training with dropout and only at far nodes. Program (share of the nodes, run)."""
    run = tl.program_id(1).to(tl.int64)
    unit = tl.arange(0, WIDTH)
    many = tl.load(far_count + run) if TRAIN else nodes
    for which in range(tl.program_id(0), many, tl.num_programs(0)):
        node = tl.load(far_list + run * nodes + which) if TRAIN else which
        start = tl.load(crow + node)
        end = tl.load(crow + node + 1)
        total = tl.zeros([WIDTH], dtype=tl.float32)
        for first in range(start, end, ENTRIES):
            entry = first + tl.arange(0, ENTRIES)
            inside = entry < end
            column = tl.load(col + entry, mask=inside, other=0)
            value = tl.load(values + entry, mask=inside, other=0.0)
            if TRAIN:
                value = tl.where(tl.rand(stream(seed, epoch, run, runs, 0), entry) >= rate, value / (1 - rate), 0.0)
            source = w0 + run * features * width + column[:, None] * width + unit[None, :]
            total += tl.sum(
                value[:, None] * tl.load(source, mask=inside[:, None] & (unit < width)[None, :], other=0.0), 0
            )
        tl.store(out + (run * nodes + node) * width + unit, total, mask=unit < width)


@triton.jit
def far_dense(
    x,
    w0,
    rows,
    count,
    out,
    seed,
    epoch,
    rate,
    runs,
    nodes,
    features,
    width,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
    FEATURES: tl.constexpr,
):
    """X W0 at far nodes, X dense, with dropout; program (tile of the run's far nodes, run)."""
    run = tl.program_id(1).to(tl.int64)
    many = tl.load(count + run)
    first = tl.program_id(0) * ROWS
    if first >= many:
        return
    slot = first + tl.arange(0, ROWS)
    node = tl.load(rows + run * nodes + slot, mask=slot < many, other=0)
    unit = tl.arange(0, WIDTH)
    key = stream(seed, epoch, run, runs, 0)
    total = tl.zeros([ROWS, WIDTH], dtype=tl.float32)
    for begin in range(0, features, FEATURES):
        feature = begin + tl.arange(0, FEATURES)
        where = node[:, None] * features + feature[None, :]
        inside = (slot < many)[:, None] & (feature < features)[None, :]
        value = tl.load(x + where, mask=inside, other=0.0)
        value = tl.where(keep(key, node, begin, features, rate, ROWS, FEATURES), value / (1 - rate), 0.0)
        weight = tl.load(
            w0 + run * features * width + feature[:, None] * width + unit[None, :],
            mask=(feature < features)[:, None] & (unit < width)[None, :],
            other=0.0,
        )
        total = tl.dot(value, weight, total, input_precision="tf32x3")
    tl.store(
        out + (run * nodes + node)[:, None] * width + unit[None, :],
        total,
        mask=(slot < many)[:, None] & (unit < width)[None, :],
    )


@triton.jit
def hidden_layer(
    crow,
    col,
    values,
    far_out,
    w1,
    near_list,
    near_count,
    hidden,
    projected,
    seed,
    epoch,
    rate,
    runs,
    nodes,
    width,
    classes,
    TRAIN: tl.constexpr,
    PROJECT: tl.constexpr,
    WIDTH: tl.constexpr,
    CLASSES: tl.constexpr,
    ENTRIES: tl.constexpr,
):
    """relu(Â far); in training at near nodes, with dropout. With PROJECT, times W1 instead of stored."""
    run = tl.program_id(1).to(tl.int64)
    unit = tl.arange(0, WIDTH)
    many = tl.load(near_count + run) if TRAIN else nodes
    for which in range(tl.program_id(0), many, tl.num_programs(0)):
        node = tl.load(near_list + run * nodes + which) if TRAIN else which
        total = row_product(crow, col, values, far_out, col, run, node, nodes, width, False, WIDTH, ENTRIES)
        total = tl.maximum(total, 0.0)
        if TRAIN:
            total = tl.where(
                tl.rand(stream(seed, epoch, run, runs, 1), node * width + unit) >= rate, total / (1 - rate), 0.0
            )
        if PROJECT:
            label = tl.arange(0, CLASSES)
            weight = tl.load(
                w1 + run * width * classes + unit[:, None] * classes + label[None, :],
                mask=(unit < width)[:, None] & (label < classes)[None, :],
                other=0.0,
            )
            tl.store(
                projected + (run * nodes + node) * classes + label,
                tl.sum(total[:, None] * weight, 0),
                mask=label < classes,
            )
        else:
            tl.store(hidden + (run * nodes + node) * width + unit, total, mask=unit < width)


@triton.jit
def read(
    crow,
    col,
    values,
    hidden,
    w1,
    queried,
    labels,
    count,
    error,
    w1_grad,
    warm_up,
    nodes,
    width,
    classes,
    budget,
    WIDTH: tl.constexpr,
    CLASSES: tl.constexpr,
    ENTRIES: tl.constexpr,
):
    """Output and error at labelled nodes, and the gradient of W1; program (label, run)."""
    which = tl.program_id(0)
    run = tl.program_id(1).to(tl.int64)
    many = tl.load(count)
    if which >= many:
        return
    node = tl.load(queried + run * budget + which)
    unit = tl.arange(0, WIDTH)
    label = tl.arange(0, CLASSES)
    total = row_product(crow, col, values, hidden, col, run, node, nodes, width, False, WIDTH, ENTRIES)
    inside = (unit < width)[:, None] & (label < classes)[None, :]
    where = run * width * classes + unit[:, None] * classes + label[None, :]
    weight = tl.load(w1 + where, mask=inside, other=0.0)
    logits = tl.where(label < classes, tl.sum(total[:, None] * weight, 0), float("-inf"))
    power = tl.exp(logits - tl.max(logits, 0))
    wrong = power / tl.sum(power, 0) - tl.where(label == tl.load(labels + run * budget + which), 1.0, 0.0)
    wrong = tl.where(label < classes, wrong * (tl.minimum(many, warm_up).to(tl.float32) / warm_up / many), 0.0)
    tl.store(error + (run * nodes + node) * classes + label, wrong, mask=label < classes)
    tl.atomic_add(w1_grad + where, total[:, None] * wrong[None, :], mask=inside, sem="relaxed")


@triton.jit
def near_back(
    crow,
    col,
    values,
    error,
    w1,
    near_list,
    near_count,
    hidden,
    out,
    rate,
    nodes,
    width,
    classes,
    WIDTH: tl.constexpr,
    CLASSES: tl.constexpr,
    ENTRIES: tl.constexpr,
):
    """The loss's gradient at the hidden layer's input; program (near node, run)."""
    run = tl.program_id(1).to(tl.int64)
    unit = tl.arange(0, WIDTH)
    label = tl.arange(0, CLASSES)
    for which in range(tl.program_id(0), tl.load(near_count + run), tl.num_programs(0)):
        node = tl.load(near_list + run * nodes + which)
        total = row_product(crow, col, values, error, col, run, node, nodes, classes, False, CLASSES, ENTRIES)
        weight = tl.load(
            w1 + run * width * classes + unit[:, None] * classes + label[None, :],
            mask=(unit < width)[:, None] & (label < classes)[None, :],
            other=0.0,
        )
        where = (run * nodes + node) * width + unit
        active = tl.load(hidden + where, mask=unit < width, other=0.0) > 0
        tl.store(out + where, tl.where(active, tl.sum(total[None, :] * weight, 1) / (1 - rate), 0.0), mask=unit < width)


@triton.jit
def far_sum(
    crow, col, values, source, near, far_list, far_count, out, nodes, width, WIDTH: tl.constexpr, ENTRIES: tl.constexpr
):
    """Â times the gradient at near nodes; program (far node, run)."""
    run = tl.program_id(1).to(tl.int64)
    unit = tl.arange(0, WIDTH)
    for which in range(tl.program_id(0), tl.load(far_count + run), tl.num_programs(0)):
        node = tl.load(far_list + run * nodes + which)
        total = row_product(crow, col, values, source, near, run, node, nodes, width, True, WIDTH, ENTRIES)
        tl.store(out + (run * nodes + node) * width + unit, total, mask=unit < width)


@triton.jit
def weight_back_sparse(
    part_start,
    part_end,
    part_feature,
    row,
    entry_of,
    values,
    back,
    far,
    grad,
    seed,
    epoch,
    rate,
    runs,
    nodes,
    features,
    width,
    WIDTH: tl.constexpr,
    ENTRIES: tl.constexpr,
):
    """The gradient of W0, X sparse; program (part of a feature's column, run).

    Long columns have several parts, so they are added.
    """
    part = tl.program_id(0)
    run = tl.program_id(1).to(tl.int64)
    unit = tl.arange(0, WIDTH)
    start = tl.load(part_start + part)
    end = tl.load(part_end + part)
    total = tl.zeros([WIDTH], dtype=tl.float32)
    any_inside = 0
    for first in range(start, end, ENTRIES):
        where = first + tl.arange(0, ENTRIES)
        inside = where < end
        node = tl.load(row + where, mask=inside, other=0)
        inside = inside & (tl.load(far + run * nodes + node, mask=inside, other=0) != 0)
        entry = tl.load(entry_of + where, mask=inside, other=0)
        value = tl.load(values + where, mask=inside, other=0.0)
        value = tl.where(tl.rand(stream(seed, epoch, run, runs, 0), entry) >= rate, value / (1 - rate), 0.0)
        source = back + (run * nodes + node)[:, None] * width + unit[None, :]
        total += tl.sum(value[:, None] * tl.load(source, mask=inside[:, None] & (unit < width)[None, :], other=0.0), 0)
        any_inside += tl.sum(inside.to(tl.int32), 0)
    if any_inside > 0:
        feature = tl.load(part_feature + part)
        tl.atomic_add(grad + (run * features + feature) * width + unit, total, mask=unit < width, sem="relaxed")


@triton.jit
def weight_back_dense(
    x,
    rows,
    count,
    back,
    grad,
    seed,
    epoch,
    rate,
    runs,
    nodes,
    features,
    width,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
    FEATURES: tl.constexpr,
):
    """The gradient of W0, X dense; program (block of features, run, share of the far nodes). The shares are added."""
    run = tl.program_id(1).to(tl.int64)
    begin = tl.program_id(0) * FEATURES
    feature = begin + tl.arange(0, FEATURES)
    unit = tl.arange(0, WIDTH)
    many = tl.load(count + run)
    key = stream(seed, epoch, run, runs, 0)
    total = tl.zeros([FEATURES, WIDTH], dtype=tl.float32)
    for first in range(tl.program_id(2) * ROWS, many, tl.num_programs(2) * ROWS):
        slot = first + tl.arange(0, ROWS)
        node = tl.load(rows + run * nodes + slot, mask=slot < many, other=0)
        inside = (slot < many)[:, None] & (feature < features)[None, :]
        value = tl.load(x + node[:, None] * features + feature[None, :], mask=inside, other=0.0)
        value = tl.where(keep(key, node, begin, features, rate, ROWS, FEATURES), value / (1 - rate), 0.0)
        source = back + (run * nodes + node)[:, None] * width + unit[None, :]
        slope = tl.load(source, mask=(slot < many)[:, None] & (unit < width)[None, :], other=0.0)
        total = tl.dot(tl.trans(value), slope, total, input_precision="tf32x3")
    if tl.program_id(2) * ROWS < many:
        where = grad + (run * features + feature)[:, None] * width + unit[None, :]
        tl.atomic_add(where, total, mask=(feature < features)[:, None] & (unit < width)[None, :], sem="relaxed")


@triton.jit
def adam(weights, grad, first, second, epoch, rate, decay, size, BLOCK: tl.constexpr):
    """Adam's step with L2 added to the gradient (Kingma and Ba's algorithm 1), leaving the gradient at zero."""
    index = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = index < size
    weight = tl.load(weights + index, mask=inside)
    slope = tl.load(grad + index, mask=inside) + decay * weight
    m = 0.9 * tl.load(first + index, mask=inside) + 0.1 * slope
    v = 0.999 * tl.load(second + index, mask=inside) + 0.001 * slope * slope
    step = (tl.load(epoch) + 1).to(tl.float32)
    m_scale = 1 - tl.exp(step * -0.10536051565782628)  # log 0.9
    v_scale = 1 - tl.exp(step * -0.0010005003335835335)  # log 0.999
    tl.store(weights + index, weight - rate * (m / m_scale) / (tl.sqrt(v / v_scale) + 1e-8), mask=inside)
    tl.store(first + index, m, mask=inside)
    tl.store(second + index, v, mask=inside)
    tl.store(grad + index, tl.zeros([BLOCK], dtype=tl.float32), mask=inside)
