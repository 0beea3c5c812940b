"""GPU kernels of the posterior.

One for a new label in every member of every run, one for what follows from all members together, two for how much
better labels are predicted by each other than by the classes' shares.

The formulas, and their names, are those of `posterior`, which is what the CPU does.
"""

from __future__ import annotations

import triton
import triton.language as tl

__all__ = ["absorb", "commit", "compare_with_shares", "leave_out", "weigh"]


@triton.jit
def _left_out(wanted, middle, solved, ones, divided, valid):
    """Leave-one-out predictions of one member, less its centre and not stretched: [label, class]."""
    return tl.where(valid, wanted - (solved - ones * middle) / divided, 0.0)


@triton.jit
def _missed(predicted, is_target, named, loss_scale):
    """Each label's loss, from its prediction less 1/C: [label]."""
    predicted = tl.where(named[None, :], loss_scale * predicted, -float("inf"))
    most = tl.max(predicted, 1)
    spread = most + tl.log(tl.sum(tl.exp(predicted - most[:, None]), 1))
    return spread - tl.sum(tl.where(is_target, predicted, 0.0), 1)


@triton.jit
def absorb(
    columns,
    nodes,
    labels,
    count,
    asked,
    answers,
    counted,
    ridges,
    inverse,
    covariance,
    of_targets,
    of_ones,
    diagonal,
    scale,
    loss,
    runs,
    views,
    strengths,
    room,
    width,
    leading,
    classes,
    shrink,
    nothing,
    loss_scale,
    LABELS: tl.constexpr,
    LEADING: tl.constexpr,
    CLASSES: tl.constexpr,
    PART: tl.constexpr,
):
    """One more label: Q by bordering, the covariance of the leading columns by a rank-one update, then the
    leave-one-out loss.

    Program (run, ridge, view). Where no label counts, ``counted`` 0, only the losses are computed again.
    """
    run, strength, view = tl.program_id(0).to(tl.int64), tl.program_id(1), tl.program_id(2)
    member = (view * strengths + strength) * runs + run
    before = tl.load(count)
    new = (tl.load(counted) != 0) & (before < room)
    after = before + new.to(tl.int64)
    ridge = tl.load(ridges + strength)
    node = tl.load(asked + run)
    answer = tl.load(answers + run)
    place = tl.arange(0, LABELS)
    there = place < before
    filled = place < after
    known = tl.load(nodes + run * room + place, mask=there, other=0)
    start = (known * views + view) * width
    products = tl.zeros([LABELS], dtype=tl.float64)  # with the labelled rows
    length = ridge
    for begin in range(0, width, PART):
        column = begin + tl.arange(0, PART)
        wide = column < width
        row = tl.load(columns + (node * views + view) * width + column, mask=wide, other=0.0).to(tl.float64)
        rows = tl.load(columns + start[:, None] + column[None, :], mask=there[:, None] & wide[None, :], other=0.0).to(
            tl.float64
        )
        products += tl.sum(rows * row[None, :], 1)
        length += tl.sum(row * row, 0)
    own_square = inverse + member * room * room
    along = tl.zeros([LABELS], dtype=tl.float64)
    for begin in range(0, before, PART):  # Q k, some rows of Q at a time: Q is symmetric
        line = begin + tl.arange(0, PART)
        tile = tl.load(
            own_square + line[:, None] * room + place[None, :],
            mask=(line < before)[:, None] & there[None, :],
            other=0.0,
        )
        factors = tl.sum(
            tl.where(line[:, None] == place[None, :], products[None, :], 0.0), 1
        )  # the same rows' products
        along += tl.sum(tile * factors[:, None], 0)
    factor = tl.where(new, 1.0 / (length - tl.sum(along * products, 0)), 0.0)
    along -= tl.where(place == before, 1.0, 0.0)
    for begin in range(0, after, PART):
        line = begin + tl.arange(0, PART)
        cell = own_square + line[:, None] * room + place[None, :]
        tile = tl.load(cell, mask=(line < before)[:, None] & there[None, :], other=0.0)
        factors = factor * tl.sum(tl.where(line[:, None] == place[None, :], along[None, :], 0.0), 1)
        tl.store(cell, tile + factors[:, None] * along[None, :], mask=(line < after)[:, None] & filled[None, :])

    lead = tl.arange(0, LEADING)
    first = lead < leading
    z = tl.load(columns + (node * views + view) * width + lead, mask=first, other=0.0).to(tl.float64)
    square = covariance + member * leading * leading + lead[:, None] * leading + lead[None, :]
    both = first[:, None] & first[None, :]
    tile = tl.load(square, mask=both, other=0.0)
    moved = tl.sum(tile * z[None, :], 1)
    share = tl.where(new, 1.0 / (tl.sum(moved * z, 0) + ridge), 0.0)
    tl.debug_barrier()  # several warps may hold the same numbers: none may store before all have loaded
    tl.store(square, tile - (share * moved)[:, None] * moved[None, :], mask=both)

    # Q Y, Q 1 and the diagonal change by the same u = along: Q ← Q + s u uᵀ
    given = tl.load(labels + run * room + place, mask=there, other=-1)
    given = tl.where((place == before) & new, answer, given)
    label = tl.arange(0, CLASSES)
    named = label < classes
    is_target = (given[:, None] == label[None, :]) & filled[:, None]
    targets_cell = of_targets + (member * room + place)[:, None] * classes + label[None, :]
    ones_cell = of_ones + member * room + place
    own_cell = diagonal + member * room + place
    shares = tl.sum(tl.where(is_target, along[:, None], 0.0), 0)
    solved = (
        tl.load(targets_cell, mask=there[:, None] & named[None, :], other=0.0)
        + (factor * along)[:, None] * shares[None, :]
    )
    ones = tl.load(ones_cell, mask=there, other=0.0) + factor * along * tl.sum(tl.where(filled, along, 0.0), 0)
    own = tl.load(own_cell, mask=there, other=0.0) + factor * along * along
    tl.debug_barrier()  # as above
    tl.store(targets_cell, solved, mask=filled[:, None] & named[None, :])
    tl.store(ones_cell, ones, mask=filled)
    tl.store(own_cell, own, mask=filled)

    target = tl.where(is_target, 1.0, 0.0)
    total = tl.sum(target, 0)
    many = tl.maximum(after, 1).to(tl.float32)
    even = 1.0 / classes
    valid = filled[:, None] & named[None, :]
    divided = tl.where(own > 0, own, 1.0).to(tl.float32)[:, None]
    solved_32 = solved.to(tl.float32)
    ones_32 = ones.to(tl.float32)[:, None]
    for centre in tl.static_range(2):
        if centre == 0:
            middle = tl.zeros([LABELS, CLASSES], dtype=tl.float32) + even
        else:
            middle = (total[None, :] - target + 1) / (many - 1 + classes)
        wanted = tl.where(valid, target - middle, 0.0)
        out = _left_out(wanted, middle, solved_32, ones_32, divided, valid)
        fits = tl.sum(tl.sum(out * wanted, 1), 0) / tl.maximum(tl.sum(tl.sum(out * out, 1), 0), nothing)
        fits = 1 + (tl.minimum(tl.maximum(fits, 0.2), 8.0) - 1) * many / (many + shrink)
        missed = _missed(middle - even + fits * out, is_target, named, loss_scale)
        index = centre * views * strengths * runs + member
        tl.store(scale + index, fits)
        tl.store(loss + index, tl.sum(tl.where(filled, missed, 0.0), 0))


@triton.jit
def commit(nodes, labels, count, asked, answers, counted, runs, room, RUNS: tl.constexpr):
    """Write down the label that `absorb` has taken in.

    One program of one warp, since it reads the count that it writes.
    """
    before = tl.load(count)
    new = (tl.load(counted) != 0) & (before < room)
    run = tl.arange(0, RUNS)
    inside = (run < runs) & new
    tl.store(nodes + run * room + before, tl.load(asked + run, mask=inside, other=0), mask=inside)
    tl.store(labels + run * room + before, tl.load(answers + run, mask=inside, other=0), mask=inside)
    tl.store(count, before + new.to(tl.int64))


@triton.jit
def weigh(
    columns,
    nodes,
    labels,
    count,
    ridges,
    of_targets,
    of_ones,
    scale,
    loss,
    weights,
    chosen,
    chosen_ridge,
    stretch,
    coefficients,
    base,
    runs,
    views,
    strengths,
    room,
    width,
    classes,
    sharpness,
    ramp,
    first_ridge,
    MEMBERS: tl.constexpr,
    LABELS: tl.constexpr,
    WIDTH: tl.constexpr,
    CLASSES: tl.constexpr,
):
    """Weights of the members by their losses, and what follows for one view.

    Its weight, its ridge, its columns' coefficients. Program (run, view).
    """
    run, view = tl.program_id(0).to(tl.int64), tl.program_id(1)
    filled = tl.load(count)
    many = tl.maximum(filled, 1).to(tl.float32)
    sharp = sharpness * tl.minimum(many / ramp, 1.0) / many
    half = views * strengths
    member = tl.arange(0, MEMBERS)
    inside = member < 2 * half
    value = tl.where(inside, -sharp * tl.load(loss + member * runs + run, mask=inside, other=0.0), -float("inf"))
    most = tl.max(value, 0)
    power = tl.exp(value - most)
    whole = tl.sum(power, 0)
    of_shares = tl.sum(tl.where(member >= half, power, 0.0), 0) / whole

    label = tl.arange(0, CLASSES)
    named = label < classes
    place = tl.arange(0, LABELS)
    there = place < filled
    given = tl.load(labels + run * room + place, mask=there, other=-1)
    total = tl.sum(tl.where(given[:, None] == label[None, :], 1.0, 0.0), 0)
    even = 1.0 / classes
    share = (total + 1) / (filled + classes).to(tl.float32)
    by_label = tl.zeros([LABELS, CLASSES], dtype=tl.float32)
    weight = 0.0
    reach = 0.0
    heaviest = 0.0
    valid = there[:, None] & named[None, :]
    for strength in range(strengths):
        index = (view * strengths + strength) * runs + run
        plain = tl.exp(-sharp * tl.load(loss + index) - most) / whole
        shared = tl.exp(-sharp * tl.load(loss + half * runs + index) - most) / whole
        heaviest = tl.maximum(heaviest, plain + shared)
        weight += plain + shared
        plain *= tl.load(scale + index)
        shared *= tl.load(scale + half * runs + index)
        reach += plain + shared
        solved = tl.load(
            of_targets + (index * room + place)[:, None] * classes + label[None, :], mask=valid, other=0.0
        ).to(tl.float32)
        ones = tl.load(of_ones + index * room + place, mask=there, other=0.0).to(tl.float32)
        by_label += (plain + shared) * solved - ones[:, None] * (plain * even + shared * share)[None, :]
    best = 0
    for back in range(strengths):  # of nearly equal ones the weakest
        strength = strengths - 1 - back
        index = (view * strengths + strength) * runs + run
        plain = tl.exp(-sharp * tl.load(loss + index) - most) / whole
        shared = tl.exp(-sharp * tl.load(loss + half * runs + index) - most) / whole
        best = tl.where(plain + shared >= 0.999 * heaviest, strength, best)
    best = tl.where(filled > 0, best, first_ridge)
    tl.store(weights + run * views + view, weight)
    tl.store(chosen + run * views + view, best)
    tl.store(chosen_ridge + run * views + view, tl.load(ridges + best).to(tl.float32))
    tl.store(stretch + run * views + view, reach)
    if view == 0:
        tl.store(base + run * classes + label, of_shares * (share - even), mask=named)
    column = tl.arange(0, WIDTH)
    known = tl.load(nodes + run * room + place, mask=there, other=0)
    start = columns + (known * views + view) * width
    rows = tl.load(
        start[None, :] + column[:, None], mask=there[None, :] & (column < width)[:, None], other=0.0
    )  # [column, label]
    by_label = tl.where(valid, by_label, 0.0)
    moved = tl.dot(rows, by_label, input_precision="ieee")
    cell = coefficients + ((view * width + column)[:, None] * runs + run) * classes + label[None, :]
    tl.store(cell, moved, mask=(column < width)[:, None] & named[None, :])


@triton.jit
def leave_out(
    labels,
    count,
    of_targets,
    of_ones,
    diagonal,
    scale,
    loss,
    peaks,
    sums,
    predictions,
    runs,
    views,
    room,
    classes,
    sharpness,
    ramp,
    loss_scale,
    STRENGTHS: tl.constexpr,
    CLASSES: tl.constexpr,
    PART: tl.constexpr,
):
    """Leave-one-out predictions of some labels by the members of one view, weighted by the other labels' losses.

    A softmax over members, taken one after another: the largest exponent so far, the sum of the powers less it, and the
    predictions' sum with these powers as weights. Program (run, view, part of the labels).
    """
    run, view, part = tl.program_id(0).to(tl.int64), tl.program_id(1), tl.program_id(2)
    filled = tl.load(count)
    if part * PART < filled:
        label = tl.arange(0, CLASSES)
        named = label < classes
        total = tl.zeros([CLASSES], dtype=tl.float32)
        for begin in range(0, filled, PART):
            some = begin + tl.arange(0, PART)
            given = tl.load(labels + run * room + some, mask=some < filled, other=-1)
            total += tl.sum(tl.where(given[:, None] == label[None, :], 1.0, 0.0), 0)
        many = tl.maximum(filled, 1).to(tl.float32)
        sharp = sharpness * tl.minimum(many / ramp, 1.0) / tl.maximum(many - 1, 1.0)
        place = part * PART + tl.arange(0, PART)
        there = place < filled
        valid = there[:, None] & named[None, :]
        given = tl.load(labels + run * room + place, mask=there, other=-1)
        is_target = given[:, None] == label[None, :]
        target = tl.where(is_target, 1.0, 0.0)
        even = 1.0 / classes
        peak = tl.full([PART], -float("inf"), dtype=tl.float32)
        powers = tl.zeros([PART], dtype=tl.float32)
        weighted = tl.zeros([PART, CLASSES], dtype=tl.float32)
        for strength in tl.static_range(STRENGTHS):
            member = (view * STRENGTHS + strength) * runs + run
            cell = member * room + place
            solved = tl.load(of_targets + cell[:, None] * classes + label[None, :], mask=valid, other=0.0)
            ones = tl.load(of_ones + cell, mask=there, other=0.0).to(tl.float32)[:, None]
            own = tl.load(diagonal + cell, mask=there, other=1.0)
            divided = tl.where(own > 0, own, 1.0).to(tl.float32)[:, None]
            for centre in tl.static_range(2):
                if centre == 0:
                    middle = tl.zeros([PART, CLASSES], dtype=tl.float32) + even
                else:
                    middle = (total[None, :] - target + 1) / (many - 1 + classes)
                index = centre * views * STRENGTHS * runs + member
                wanted = tl.where(valid, target - middle, 0.0)
                out = _left_out(wanted, middle, solved.to(tl.float32), ones, divided, valid)
                predicted = middle - even + tl.load(scale + index) * out
                missed = _missed(predicted, is_target, named, loss_scale)
                exponent = -sharp * (tl.load(loss + index) - missed)
                higher = tl.maximum(peak, exponent)
                kept, power = tl.exp(peak - higher), tl.exp(exponent - higher)
                powers = powers * kept + power
                weighted = weighted * kept[:, None] + power[:, None] * predicted
                peak = higher
        cell = (run * views + view) * room + place
        tl.store(peaks + cell, peak, mask=there)
        tl.store(sums + cell, powers, mask=there)
        tl.store(predictions + cell[:, None] * classes + label[None, :], weighted, mask=valid)


@triton.jit
def compare_with_shares(
    labels,
    count,
    peaks,
    sums,
    predictions,
    temperatures,
    lead,
    room,
    classes,
    tried,
    usual,
    usual_labels,
    VIEWS: tl.constexpr,
    AT_ONCE: tl.constexpr,
    LABELS: tl.constexpr,
    CLASSES: tl.constexpr,
):
    """By how many standard errors labels are better predicted by each other than by the classes' shares.

    It puts the parts of `leave_out` together and takes the temperature that they ask for. Program (run).
    """
    run = tl.program_id(0).to(tl.int64)
    filled = tl.load(count)
    place = tl.arange(0, LABELS)
    there = place < filled
    label = tl.arange(0, CLASSES)
    named = label < classes
    valid = there[:, None] & named[None, :]
    peak = tl.full([LABELS], -float("inf"), dtype=tl.float32)
    powers = tl.zeros([LABELS], dtype=tl.float32)
    mixed = tl.zeros([LABELS, CLASSES], dtype=tl.float32)
    for view in tl.static_range(VIEWS):
        cell = (run * VIEWS + view) * room + place
        exponent = tl.load(peaks + cell, mask=there, other=0.0)
        higher = tl.maximum(peak, exponent)
        kept, power = tl.exp(peak - higher), tl.exp(exponent - higher)
        powers = powers * kept + power * tl.load(sums + cell, mask=there, other=1.0)
        predicted = tl.load(predictions + cell[:, None] * classes + label[None, :], mask=valid, other=0.0)
        mixed = mixed * kept[:, None] + power[:, None] * predicted
        peak = higher
    mixed = tl.where(named[None, :], mixed / powers[:, None], -float("inf"))
    mixed -= tl.max(mixed, 1)[:, None]

    given = tl.load(labels + run * room + place, mask=there, other=-1)
    is_target = given[:, None] == label[None, :]
    own = tl.sum(tl.where(is_target, mixed, 0.0), 1)
    least = float("inf")
    best = usual
    some = tl.arange(0, AT_ONCE)
    for begin in range(0, tried, AT_ONCE):
        temperature = tl.load(temperatures + begin + some, mask=begin + some < tried, other=1.0)
        spread = tl.log(tl.sum(tl.exp(temperature[:, None, None] * mixed[None, :, :]), 2))
        tempered = tl.where(there[None, :], temperature[:, None] * own[None, :] - spread, 0.0)
        off = tl.log(temperature / usual)
        missed = usual_labels * off * off / 2 - tl.sum(tempered, 1)
        missed = tl.where(begin + some < tried, missed, float("inf"))
        lowest = tl.min(missed, 0)
        first = tl.min(tl.where(missed == lowest, some, AT_ONCE), 0)
        best = tl.where(lowest < least, tl.sum(tl.where(some == first, temperature, 0.0), 0), best)
        least = tl.minimum(lowest, least)
    # among the classes that the other labels have, of labels that are not alone of their class
    total = tl.sum(tl.where(is_target, 1.0, 0.0), 0)
    others = total[None, :] - tl.where(is_target, 1.0, 0.0)
    beside = tl.sum(tl.where(is_target, others, 0.0), 1)  # other labels of the same class
    twin = there & (beside > 0)
    power = tl.where((others > 0) & named[None, :], tl.exp(best * (mixed - own[:, None])), 0.0)
    chance = -tl.log(tl.where(twin, tl.sum(power, 1), 1.0))  # the logarithm
    shares = tl.where(twin, beside / tl.maximum(filled - 1, 1).to(tl.float32), 1.0)
    better = tl.where(twin, chance - tl.log(shares), 0.0)
    mean = tl.sum(better, 0) / tl.maximum(tl.sum(tl.where(twin, 1.0, 0.0), 0), 1.0)
    deviation = tl.where(twin, better - mean, 0.0)
    tl.store(lead + run, tl.sum(better, 0) / tl.sqrt(tl.sum(deviation * deviation, 0) + 1))
