"""The ridge posterior of many runs at once.

Leave-one-out predictions, the members' weights, and the mean, all in closed form.

A *member* is ridge regression on one view with one strength r of the prior and one centre of its targets. With the
labelled rows Z of the view, targets Y (one-hot) less the centre p and Q = (Z Zᵀ + r I)⁻¹:

- the prediction of a node z is p + zᵀ Zᵀ Q (Y − p);
- left out of its own fit, label i is predicted as y_i − [Q (Y − p)]_i / Q_ii, exactly as a fit without it would.

Centres are the even one, 1/C, and the labels' smoothed shares, which are counted without label i in its own
leave-one-out prediction; and where models have said something of the nodes, every node's own (see `centres`), P in
place of p. Predictions are stretched by the factor that fits the leave-one-out ones best, and members
weighed by softmax(−8 · leave-one-out loss). Labels come one by one: Q grows by bordering, Q ← Q + s u uᵀ with u = Q k −
e and s = 1 / (zᵀz + r − kᵀ Q k), k the new row's products with the labelled ones. The buffers keep their place, so that
a GPU can record a step.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch

from nodewise.classifiers.views.centres import believed, said_temperature
from nodewise.classifiers.views.graph_views import GraphViews
from nodewise.classifiers.views.products import affine_product
from nodewise.ground.compute import cores, in_blocks
from nodewise.ground.shared_column import MANY_CLASSES, SharedColumn

__all__ = [
    "DUAL_LIMIT",
    "FIRST_RIDGE",
    "RIDGES",
    "Fit",
    "LeftOut",
    "Members",
    "Posterior",
    "loss_scale",
    "stretched_by",
    "temperature_prior",
]

RIDGES = (0.1, 0.3, 1.0, 3.0, 10.0)

FIRST_RIDGE = 1
"""Which of them is taken before the first label, when nothing speaks for any."""

_SHARPNESS, _RAMP, _VOTE = 8.0, 10.0, 2.5
_SHRINK, _NOTHING = 10.0, 1e-6  # leave-one-out predictions that are only rounding are not stretched by it
_IMPOSSIBLE = -1e4  # the odds of a class that is out of the question: a power of them is 0
_TEMPERATURES = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 13.0, 17.0, 22.0)
_USUAL_TEMPERATURE, _SAID_TEMPERATURE, _TEMPERATURE_LABELS = 4.0, 2.0, 5.0  # the second in probabilities that are said

DUAL_LIMIT = 256
"""Labels up to which Q is kept label by label; with more, everything is solved in the space of the columns."""

_SOLVED, _SHARED = 2**23, 32
"""Numbers in the labelled rows that are solved at once, not view by view; labels from which two cores share views."""


class LeftOut(NamedTuple):
    """What the labels say of the predictions themselves.

    Attributes:
        predictions: the labels' leave-one-out predictions, less 1/C, each by weights that its own loss does not enter:
            [run, label, class].
        temperature: what predictions are multiplied by before the softmax where labels are tested by each other: [run].
        said: the same where a probability is said, lower while labels are few (benchmarks/temperature.py): [run].
    """

    predictions: torch.Tensor
    temperature: torch.Tensor
    said: torch.Tensor


@dataclass(frozen=True)
class Fit:
    """What follows from the labels so far.

    Attributes:
        weights: of the views, summed over their members: [run, view].
        ridges: the strength with most weight in each view; before the first label, when all are alike, a weak one:
            [run, view].
        stretch: the sum of weight times factor over each view's members: how far a label moves the mean: [run, view].
        coefficients: of the views' columns, by which a node's mean is a sum over all of them: [view, column, run,
            class].
        base: what is predicted where no view says anything, less 1/C: [run, class].
        members: all members one by one, computed when they are asked for.
        lead: what `lead_over_shares` is computed by.
        own: weights of the members with each of the nodes' own centres: [own, run]; None where nodes have none.
        shared: which classes have a column in coefficients and base, where one column stands for very many.
    """

    weights: torch.Tensor
    ridges: torch.Tensor
    stretch: torch.Tensor
    coefficients: torch.Tensor
    base: torch.Tensor
    members: Callable[[], Members]
    lead: Callable[[], torch.Tensor]
    own: torch.Tensor | None = None
    shared: SharedColumn | None = None

    @cached_property
    def left_out(self) -> LeftOut:
        """Leave-one-out predictions and their temperatures; a rollout needs neither, so they wait until asked for."""
        return self.members().left_out

    @cached_property
    def lead_over_shares(self) -> torch.Tensor:
        """By how many standard errors labels are better predicted by each other than by the shares alone: [run]."""
        return self.lead()


@dataclass(frozen=True)
class Members:
    """All members one by one, [centre, view, ridge, run, class, label] and without the last dimensions.

    Sums over few classes are fast that way.

    Attributes:
        targets: one-hot, zero where there is no label: [run, class, label].
        number: of labels, at least 1: [1]. of_targets, of_ones: Q Y and Q 1: [view, ridge, run, class, label].
        predicted: leave-one-out predictions, less 1/C.
        scale: what they were stretched by: [centre, view, ridge, run].
        loss: of each label: [centre, view, ridge, run, label].
        weights: [centre, view, ridge, run].
        share: the labels' smoothed shares: [run, class].
        temperatures: those tried, on the device beforehand, since a recorded step may not copy them there:
            [temperature].
        of_own: Q P for each of the nodes' own centres, [own, view, ridge, run, class, label]; None without any.
        belief: what the members' weights are multiplied by beside their loss, as logarithms: [centre, 1, 1, run].
        trust: how far each label is trusted, which losses are taken times: [run, label]; None where each counts whole.
        shared: which classes have a column here, where one column stands for very many; None: each has its own.
    """

    targets: torch.Tensor
    number: torch.Tensor
    of_targets: torch.Tensor
    of_ones: torch.Tensor
    predicted: torch.Tensor
    scale: torch.Tensor
    loss: torch.Tensor
    weights: torch.Tensor
    share: torch.Tensor
    temperatures: torch.Tensor
    of_own: torch.Tensor | None = None
    belief: torch.Tensor | None = None
    trust: torch.Tensor | None = None
    shared: SharedColumn | None = None

    @property
    def classes(self) -> int:
        """How many there are."""
        return self.targets.shape[1] if self.shared is None else len(self.shared.column)

    def own_columns(self, table: torch.Tensor) -> torch.Tensor:
        """A table [..., class] by the columns that there are here."""
        return table if self.shared is None else self.shared.narrow(table)

    @cached_property
    def stretched(self) -> torch.Tensor:
        """The members' weights times what they are stretched by: [centre, view, ridge, run]."""
        return self.weights * self.scale

    @cached_property
    def by_label(self) -> torch.Tensor:
        """What each label adds, a node's mean being the sum over views and labels of z · z_label times it.

        [view, run, class, label].
        """
        stretched = self.stretched[..., None]
        centre = stretched[0] / self.classes + stretched[1] * self.share  # [view, ridge, run, class]
        by_member = (stretched.sum(0)[..., None] * self.of_targets).sub_(self.of_ones * centre[..., None])
        if self.of_own is not None:
            by_member -= (stretched[2:, ..., None] * self.of_own).sum(0)
        return by_member.sum(1) * self.targets.sum(1, keepdim=True)

    @cached_property
    def left_out(self) -> LeftOut:
        """Leave-one-out predictions and the temperature they ask for.

        Each label's own loss is left out of the weights with which it is predicted.
        """
        others = (self.loss.sum(-1, keepdim=True) - self.loss) / (self.number - 1).clamp_min(1.0)
        others = others * _sharpness(self.number)
        if self.belief is not None:
            others = others - self.belief[..., None]
        nested = torch.softmax(-others.flatten(0, 2), 0).view_as(self.loss)
        predictions = (nested[..., None, :] * self.predicted).sum((0, 1, 2))  # [run, class, label]
        # the temperature by the leave-one-out likelihood, with a prior worth a few labels around the usual one
        grid, counted = self.temperatures, self.targets if self.trust is None else self.targets * self.trust[:, None]
        scaled = grid.view(-1, 1, 1, 1) * predictions
        chance = torch.log_softmax(scaled, -2) if self.shared is None else self.shared.log_softmax(scaled)
        loss = -(chance * counted).sum((-1, -2))
        usual: float | torch.Tensor = _SAID_TEMPERATURE
        if self.of_own is not None:
            usual = said_temperature(_SAID_TEMPERATURE, self.weights, loss_scale(self.classes))
        tested, said = (loss + temperature_prior(grid[:, None], one) for one in (_USUAL_TEMPERATURE, usual))
        by_class = predictions.transpose(1, 2)
        by_class = by_class if self.shared is None else self.shared.spread(by_class)
        return LeftOut(by_class, grid[tested.argmin(0)], grid[said.argmin(0)])

    def lead_over_shares(self) -> torch.Tensor:
        """By how many standard errors labels are better predicted by each other than by the classes' shares: [run].

        For each label whose class another one has, log p − log q, with p the chance that its leave-one-out prediction
        gives its class and q the share of its class among the other labels, both among the classes that these have; the
        mean of these differences, divided by its standard error. Their variance is (Σ (d − d̄)² + 1) / n, as if one
        label more had been seen whose difference lies 1 off. A label that is alone of its class cannot be predicted by
        others, whatever can be learned, and says nothing (benchmarks/gate_twins.py).
        """
        others = self.targets.sum(-1, keepdim=True) - self.targets  # of each class beside it: [run, class, label]
        twin = ((others > 0) & (self.targets > 0)).any(1)  # [run, label]
        odds = self.own_columns(self.left_out.temperature[:, None, None] * self.left_out.predictions).transpose(1, 2)
        chance = torch.log_softmax(odds.masked_fill(others <= 0, _IMPOSSIBLE), 1)
        shares = others / others.sum(1, keepdim=True).clamp_min(1.0)
        better = ((chance - shares.clamp_min(_NOTHING).log()) * self.targets).sum(1) * twin
        mean = better.sum(1, keepdim=True) / twin.sum(1, keepdim=True).clamp_min(1)
        return better.sum(1) / (((better - mean).square() * twin).sum(1) + 1).sqrt()


def temperature_prior(temperatures: torch.Tensor, usual: float | torch.Tensor = _USUAL_TEMPERATURE) -> torch.Tensor:
    """What speaks against each temperature beside the labels: a prior worth a few labels around the usual one."""
    return _TEMPERATURE_LABELS * torch.log(temperatures / usual).square() / 2


def stretched_by(out: torch.Tensor, wanted: torch.Tensor, count: torch.Tensor) -> torch.Tensor:
    """The factor by which leave-one-out predictions less their centre fit best, [..., class, label] to [...]."""
    scale = ((out * wanted).sum((-1, -2)) / out.square().sum((-1, -2)).clamp_min(_NOTHING)).clamp(0.2, 8.0)
    return 1 + (scale - 1) * count / (count + _SHRINK)


def loss_scale(classes: int) -> float:
    """What predictions are multiplied by in the leave-one-out loss, so that a full vote has the same odds always."""
    return _VOTE + math.log(max(1, classes - 1))


def _sharpness(count: torch.Tensor) -> torch.Tensor:
    return _SHARPNESS * (count / _RAMP).clamp_max(1.0)


class Posterior:
    """Labels of many runs, and what follows from them.

    Args:
        views: of the graph.
        runs: how many.
        classes: how many there are at first.
        room: labels that each run has room for.
        own: the nodes' own centres, less 1/C: [own, node, class]; None where models have said nothing.
    """

    by_kernels = False  # whether a GPU's own kernels compute it

    def __init__(self, views: GraphViews, runs: int, classes: int, room: int, own: torch.Tensor | None = None) -> None:
        self.views, self.runs, self.room = views, runs, max(1, room)
        self.classes = max(1, classes)
        self._device = views.columns.device
        self._ridges = torch.tensor(RIDGES, dtype=torch.float64, device=self._device)
        self._temperatures = torch.tensor(_TEMPERATURES, device=self._device)
        self.trust: torch.Tensor | None = None
        self._allocate()
        self.set_centres(own)

    def set_centres(self, own: torch.Tensor | None) -> None:
        """Give the nodes centres of their own, less 1/C: [own, node, class]; None takes them away."""
        self.own = None if own is None else torch.nn.functional.pad(own, (0, self.classes - own.shape[-1]))
        self._spoken_for = None if self.own is None else (self.own > 0).any(0).any(0)
        self._centred = None if self.own is None else (self.own != 0).any(0).any(0)

    def _zeros(self, *shape: int) -> torch.Tensor:
        return torch.zeros(shape, dtype=torch.float64, device=self._device)

    def _allocate(self) -> None:
        _, views, width = self.views.columns.shape
        shape = (self.runs, self.room)
        self.nodes = torch.zeros(shape, dtype=torch.int64, device=self._device)
        self.mask = self._zeros(*shape)
        self.targets = self._zeros(*shape, self.classes)
        self.rows = self._zeros(views, *shape, width)
        self.count = torch.zeros(1, dtype=torch.int64, device=self._device)
        self._keeps = False
        if self._device.type != "cpu":  # a recorded step may not branch
            self._keep()

    def _keep(self) -> None:
        """From now on Q and the covariances are kept label by label."""
        _, views, width = self.views.columns.shape
        count, columns = int(self.count), min(self.views.leading_columns, width)
        members = (views, len(RIDGES), self.runs)
        self._keeps, rows, ridges = True, self.rows[:, :, :count], self._ridges.view(1, -1, 1, 1, 1)
        self.covariance = self._zeros(*members, columns, columns)
        self._inverse = self._zeros(*members, self.room, self.room) if self.room <= DUAL_LIMIT else None
        self._start_covariance()
        if count:
            if self._inverse is not None:
                eye = torch.eye(count, dtype=torch.float64, device=self._device)
                self._inverse[..., :count, :count] = torch.linalg.inv(
                    (rows @ rows.transpose(-1, -2))[:, None] + ridges * eye
                )
            self.covariance.copy_(self._covariance_of(rows[:, None], ridges))

    def reset(self, classes: int | None = None) -> None:
        """Forget all labels."""
        if classes is not None and max(1, classes) != self.classes:
            self.classes = max(1, classes)
            self.targets = self._zeros(self.runs, self.room, self.classes)
            self.set_centres(self.own)
        filled = self._filled()  # the rest is zero: a budget of thousands costs nothing until it is used
        for buffer in (
            self.nodes[:, :filled],
            self.mask[:, :filled],
            self.targets[:, :filled],
            self.rows[:, :, :filled],
            self.count,
        ):
            buffer.zero_()
        if self._keeps:
            self._start_covariance()
            if self._inverse is not None:
                self._inverse.zero_()

    def _start_covariance(self) -> None:
        self.covariance.zero_().diagonal(dim1=-2, dim2=-1).fill_(1.0)

    def _rows(self, nodes: torch.Tensor) -> torch.Tensor:
        """Nodes' vectors in every view: int64 [run, …] to [view, run, …, column]."""
        rows: torch.Tensor = self.views.columns[nodes].movedim(-2, 0).double()
        return rows

    def covariances(self, ridges: torch.Tensor) -> torch.Tensor:
        """(I + Zᵀ Z / r)⁻¹ of each view's leading columns, Z the labelled rows, for chosen strengths [run, view].

        [view, run, column, column].
        """
        if not self._keeps:
            chosen = self._covariance_of(self.rows[:, :, : self._filled()], ridges.T.double()[..., None, None])
        else:
            number = (self._ridges.to(ridges.dtype) == ridges[..., None]).to(torch.int64).argmax(-1).T  # [view, run]
            index = number[:, None, :, None, None].expand(-1, 1, -1, *self.covariance.shape[-2:])
            chosen = self.covariance.gather(1, index)[:, 0]
        return chosen.to(self.views.columns.dtype)

    def _covariance_of(self, rows: torch.Tensor, ridges: torch.Tensor) -> torch.Tensor:
        """(I + Zᵀ Z / r)⁻¹, from the labelled rows [view, …, run, label, column]."""
        leading = rows[..., : self.views.leading_columns]
        precision = (leading.transpose(-1, -2) @ leading) / ridges
        precision.diagonal(dim1=-2, dim2=-1).add_(1.0)
        inverse: torch.Tensor = torch.linalg.inv(precision)
        return inverse

    def add(self, nodes: torch.Tensor, labels: torch.Tensor, valid: torch.Tensor | None = None) -> None:
        """One more label for each run: int64 [run] each. ``valid`` 0 instead of 1 changes nothing.

        A recorded step may not branch.
        """
        if not self._keeps:
            self._keep()
        counted = torch.ones(1, dtype=torch.float64, device=self._device) if valid is None else valid.double()
        row = self._rows(nodes) * counted  # [view, run, column]
        ridges, index = self._ridges.view(1, -1, 1), self.count.clamp_max(self.room - 1)
        if self._inverse is not None:
            size = int(index) + 1 if self._device.type == "cpu" else self.room
            inverse = self._inverse[..., :size, :size]
            # [view, run, label]; 0 where nothing is filled
            products = (self.rows[:, :, :size] @ row[..., None])[..., 0]
            along = (inverse @ products[:, None, ..., None])[..., 0]  # [view, ridge, run, label]
            schur = counted / (row.square().sum(-1)[:, None] + ridges - (along * products[:, None]).sum(-1))
            along.sub_(self._zeros(size).index_fill_(0, index, 1.0))
            inverse.addcmul_((schur[..., None] * along)[..., None], along[..., None, :])
        # M ← M − M z zᵀ M / (zᵀ M z + r)
        leading = row[..., : self.covariance.shape[-1]]
        along = (self.covariance @ leading[:, None, ..., None])[..., 0]  # [view, ridge, run, column]
        scale = counted / ((along * leading[:, None]).sum(-1) + ridges)
        self.covariance.addcmul_((scale[..., None] * along)[..., None], along[..., None, :], value=-1)
        self.nodes.index_copy_(1, index, nodes[:, None])
        self.rows.index_copy_(2, index, row[:, :, None])
        self.mask.index_copy_(1, index, counted.expand(self.runs, 1))
        self.targets.index_copy_(1, index, self._encoded(labels[:, None]) * counted)
        self.count.add_(counted.long())

    def _encoded(self, labels: torch.Tensor) -> torch.Tensor:
        """Labels as targets, one-hot: int64 [run, label] to [run, label, class]."""
        return self._zeros(*labels.shape, self.classes).scatter_(2, labels[..., None], 1.0)

    def add_many(self, nodes: torch.Tensor, labels: torch.Tensor) -> None:
        """Many labels at once, to a posterior without any: int64 [run, label] each.

        What is asked for is then solved as a whole.
        """
        count = nodes.shape[1]
        self.nodes[:, :count], self.mask[:, :count] = nodes, 1
        self.rows[:, :, :count] = self.views.columns[nodes].movedim(-2, 0)
        self.targets[:, :count] = self._encoded(labels)
        self.count.fill_(count)
        self._keeps = False

    def labels(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The labelled nodes and their classes, int64 [run, label] each."""
        count = int(self.count)
        return self.nodes[:, :count].clone(), self.targets[:, :count].argmax(-1)

    def known_classes(self) -> torch.Tensor:
        """Which classes have a label, or a model that speaks for them: bool [run, class]."""
        known = self.targets[:, : self._filled()].any(1)
        return known if self._spoken_for is None else known | self._spoken_for

    def _shared_column(self) -> SharedColumn | None:
        """The column that very many classes share; on a GPU there is none, since a recorded step may not ask."""
        if self.classes < MANY_CLASSES or self._device.type != "cpu":
            return None
        known = self.targets[:, : self._filled()].any(1).any(0)
        return SharedColumn.of(known if self._centred is None else known | self._centred)

    def widen(self, classes: int) -> None:
        """Room for more classes; the labels stay."""
        more = max(1, classes) - self.classes
        if more > 0:
            self.targets = torch.nn.functional.pad(self.targets, (0, more))
            self.classes += more
            self.set_centres(self.own)

    def reserve(self, more: int) -> None:
        """Room for so many more labels."""
        count = int(self.count)
        if count + more <= self.room:
            return
        nodes, labels = self.labels()
        self.room = max(2 * self.room, count + more)
        self._allocate()
        if count:
            self.add_many(nodes, labels)

    def _filled(self) -> int:
        """Labels that are looked at: on the CPU those there are, on a GPU the whole room, since a recorded step may not
        ask.
        """
        return max(1, int(self.count)) if self._device.type == "cpu" else self.room

    def _own_rows(self, shared: SharedColumn | None) -> torch.Tensor:
        """The labelled nodes' own centres: [own, run, class, label]."""
        assert self.own is not None
        filled = self._filled()
        own = self.own[:, self.nodes[:, :filled]]
        rows = (own if shared is None else shared.narrow(own)).double() + 1 / self.classes
        return (rows * self.mask[:, :filled, None]).transpose(-1, -2)

    def _solved(self, shared: SharedColumn | None = None) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Q Y, Q 1 and the diagonal of Q: [view, ridge, run, class, label], and with 1 in place of the class.

        Where nodes have centres of their own, Q P of each of these follows Q Y, in place of the class.
        """
        filled = self._filled()
        targets = self.targets[:, :filled]
        parts = [targets if shared is None else shared.narrow(targets), self.mask[:, :filled, None]]
        if self.own is not None:
            parts.insert(1, self._own_rows(shared).movedim(0, 1).flatten(1, 2).transpose(1, 2))
        both = torch.cat(parts, 2).transpose(1, 2)
        if self._keeps and self._inverse is not None:
            inverse = self._inverse[..., :filled, :filled]
            diagonal = inverse.diagonal(dim1=-2, dim2=-1)[..., None, :]
            solved = (both @ inverse).float()
            return solved[..., :-1, :], solved[..., -1:, :], torch.where(diagonal > 0, diagonal, 1.0).float()
        rows = self.rows[:, :, :filled]
        if self.trust is not None:  # Q = S (S Z Zᵀ S + r I)⁻¹ S, S² the trust
            root = self.trust.double().sqrt()
            rows, both = rows * root[..., None], both * root[:, None]
        size = max(1, min(-(-len(rows) // (2 if filled >= _SHARED and cores() > 1 else 1)), _SOLVED // rows[0].numel()))
        solved_by_view: dict[int, torch.Tensor] = {}

        def fill(first: int, end: int) -> None:
            solved_by_view[first] = self._solved_whole(rows[first:end], both)

        if self._device.type == "cpu":
            in_blocks(len(rows), size, fill)
        else:  # a GPU needs no threads, and two of them may not load its solvers at once
            for first in range(0, len(rows), size):
                fill(first, first + size)
        parts = [solved_by_view[first] for first in sorted(solved_by_view)]
        stacked = parts[0] if len(parts) == 1 else torch.cat(parts)
        if self.trust is not None:
            stacked[..., :-1, :].mul_(root.float()[:, None])
            stacked[..., -1:, :].mul_(self.trust[:, None])
        return stacked[..., :-2, :], stacked[..., -2:-1, :], stacked[..., -1:, :]

    def _solved_whole(self, rows: torch.Tensor, both: torch.Tensor) -> torch.Tensor:
        """Q times the rows of ``both``, [run, class, label], and its diagonal, of some views, from one
        eigendecomposition for all strengths.

        With Z Zᵀ = U Λ Uᵀ, Q = U (Λ + r)⁻¹ Uᵀ; with more labels than columns, Zᵀ Z = U Λ Uᵀ and T = Z U, Q = (I − T (Λ
        + r)⁻¹ Tᵀ) / r.
        """
        ridges = self._ridges.view(-1, 1)
        dual = rows.shape[-2] <= rows.shape[-1]
        # from here on views and runs are one dimension
        shape, both = rows.shape[:2], both.expand(len(rows), *both.shape).flatten(0, 1)
        z = rows.flatten(0, 1)
        values, vectors = torch.linalg.eigh(z @ z.mT if dual else z.mT @ z)
        turned = vectors if dual else z @ vectors  # [view × run, label, direction]
        shrunk = 1 / (values[:, None].clamp_min(0) + ridges)  # [view × run, ridge, direction]
        inner = (both @ turned)[:, None] * shrunk[:, :, None]  # [view × run, ridge, class, direction]
        across = turned.mT
        solved = (inner.flatten(1, 2) @ across).unflatten(1, inner.shape[1:3])  # [view × run, ridge, class, label]
        diagonal = shrunk @ across.square()
        if not dual:
            solved, diagonal = solved.sub_(both[:, None]).div_(-ridges[..., None]), (1 - diagonal) / ridges
        result = torch.empty(
            *shape, len(ridges), both.shape[1] + 1, both.shape[2], dtype=torch.float32, device=self._device
        )
        together = result.flatten(0, 1)
        together[:, :, :-1], together[:, :, -1] = solved, diagonal
        return result.transpose(1, 2)

    def fit(self) -> Fit:
        """Weights, coefficients and leave-one-out predictions from the labels so far.

        Without any, all members alike and nothing predicted.
        """
        members = self.members()
        coefficients = (members.by_label.double() @ self.rows[:, :, : self._filled()]).permute(0, 3, 1, 2)
        base = members.weights[1].sum((0, 1))[:, None] * (members.share - 1 / self.classes)
        by_ridge, dtype = members.weights.sum(0), self.views.columns.dtype  # [view, ridge, run]
        most = by_ridge.amax(1, keepdim=True)  # of nearly equal ones the weakest is taken, whatever the rounding
        best = torch.where(self.count > 0, (by_ridge >= 0.999 * most).to(torch.int64).argmax(1), FIRST_RIDGE)
        ridges, stretch = self._ridges.to(dtype)[best].T, members.stretched.sum((0, 2)).T.to(dtype)
        return Fit(
            by_ridge.sum(1).T.to(dtype),
            ridges,
            stretch,
            coefficients.to(dtype),
            base.to(dtype),
            lambda: members,
            members.lead_over_shares,
            None if self.own is None else members.weights[2:].sum((1, 2)).to(dtype),
            members.shared,
        )

    def members(self) -> Members:
        """Leave-one-out predictions, losses and weights of all members."""
        filled, even, shared = self._filled(), 1 / self.classes, self._shared_column()
        labels = self.targets[:, :filled]
        labels = labels if shared is None else shared.narrow(labels)
        targets, mask = (table.float().transpose(1, 2).contiguous() for table in (labels, self.mask[:, :filled, None]))
        of_targets, of_ones, diagonal = self._solved(shared)
        of_own: torch.Tensor | None = None
        if self.own is not None:
            columns = targets.shape[1]
            of_targets, of_own = of_targets.split([columns, of_targets.shape[-2] - columns], -2)
            of_own = of_own.unflatten(-2, (len(self.own), columns)).movedim(-3, 0)
        count = self.count.float().clamp_min(1.0)
        total = targets.sum(-1)  # [run, class]
        share = (total + 1) / (self.count + self.classes)
        # the shares without label i: [run, class, label]
        others = (total[..., None] - targets + 1) / (count - 1 + self.classes)
        # from here on [centre, view, ridge, run, class, label]
        centre = torch.stack([torch.full_like(others, even), others])[:, None, None]
        wanted = (targets - centre) * mask
        divided = mask / diagonal
        out = (wanted - of_targets * divided).addcmul_(of_ones * divided, centre)
        belief = None
        if of_own is not None:
            own = self._own_rows(shared).float()[:, None, None]
            beside = (targets - own) * mask
            out = torch.cat([out, (beside - of_targets * divided).addcmul_(of_own, divided)])
            wanted, centre = torch.cat([wanted, beside]), torch.cat([centre, own])
            belief = believed(own[:, 0, 0], others, targets, loss_scale(self.classes), shared)
        root = None if self.trust is None else self.trust[:, None].sqrt()
        if shared is not None:
            times = shared.times[:, None].sqrt()
            root = times if root is None else root * times
        scale = stretched_by(*((out, wanted) if root is None else (out * root, wanted * root)), count)
        predicted = torch.addcmul(centre - even, scale[..., None, None], out, out=out)
        scaled = loss_scale(self.classes) * predicted
        chance = torch.log_softmax(scaled, -2) if shared is None else shared.log_softmax(scaled)
        loss = chance.mul_(targets).sum(-2).neg_()
        if self.trust is not None:
            loss.mul_(self.trust)
        whole_loss = loss.sum(-1)  # [centre, view, ridge, run]
        against = whole_loss / count * _sharpness(count)
        if belief is not None:
            against = against - belief
        weights = torch.softmax(-against.flatten(0, 2), 0).view_as(whole_loss)
        common = (targets, count, of_targets, of_ones, predicted, scale, loss, weights, share, self._temperatures)
        return Members(*common, of_own, belief, self.trust, shared)

    def mean(self, fit: Fit) -> torch.Tensor:
        """The posterior mean of all nodes, less 1/C: [run, node, class]."""
        flat = self.views.flat
        product = affine_product(flat, fit.coefficients.reshape(flat.shape[1], -1), fit.base.reshape(-1))
        mean: torch.Tensor = product.unflatten(1, (self.runs, -1)).transpose(0, 1)
        if fit.own is not None and self.own is not None:
            own = self.own if fit.shared is None else fit.shared.narrow(self.own)
            mean = mean + torch.einsum("or,onc->rnc", fit.own, own)
        return mean if fit.shared is None else fit.shared.spread(mean)
