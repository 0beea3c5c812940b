"""Views where a node may have several classes: each class is predicted by itself, by the same closed form.

A class's targets are 0 and 1, and its centre p its share of the labels, drawn towards the share of all classes together
by one label; in a label's own leave-one-out prediction both are counted without it. A member is ridge regression on one
view with one strength; its weight, softmax(−s · loss), comes from the squared error of all classes together, divided by
that of the centres, with s the number of labels, 40 at most. So a class with a single label uses the views that
all labels have found. With d the prediction less the centre, a class's log odds are

    logit p + t · d / √(p (1 − p))

and t is the temperature under which the leave-one-out predictions are likeliest. Whether a class is given is decided by
a threshold on these odds: `SetMembers.thresholds`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch

from nodewise.classifiers.views.posterior import (
    FIRST_RIDGE,
    Fit,
    LeftOut,
    Members,
    Posterior,
    stretched_by,
    temperature_prior,
)

__all__ = ["SetMembers", "SetPosterior", "log_odds"]

_MOST_SHARP = 40.0
_OWN_THRESHOLD = 5.0
"""Labels of a class with which its own threshold and the common one count alike."""

_LEAST = 2
"""Labels of a class from which on it has a threshold of its own."""


def log_odds(deviation: torch.Tensor, centre: torch.Tensor, temperature: torch.Tensor) -> torch.Tensor:
    """logit p + t · d / √(p (1 − p)), all of one shape but for leading or trailing ones."""
    spread = (centre * (1 - centre)).clamp_min(1e-6).sqrt()
    return torch.logit(centre, 1e-6) + temperature * deviation / spread


@dataclass(frozen=True)
class SetMembers(Members):
    """All members one by one, as `Members`, with the classes' shares as their only centre.

    Attributes:
        targets: 0 or 1, zero where there is no label: [run, class, label].
        predicted: leave-one-out predictions less the centre: [1, view, ridge, run, class, label].
        loss: squared errors summed over classes: [1, view, ridge, run, label].
        others: the centres without each label: [run, class, label].
        there: 1 where there is a label: [run, label].
    """

    others: torch.Tensor | None = None
    there: torch.Tensor | None = None

    @cached_property
    def by_label(self) -> torch.Tensor:
        """What each label adds to a node's mean, times z · z_label: [view, run, class, label]."""
        assert self.there is not None
        by_member = self.of_targets - self.of_ones * self.share[..., None]
        return (self.stretched[0][..., None, None] * by_member).sum(1) * self.there[:, None]

    @cached_property
    def left_out(self) -> LeftOut:
        """Leave-one-out predictions less their centres, and the temperature they ask for.

        Each label's own loss is left out of the weights with which it is predicted.
        """
        assert self.others is not None and self.there is not None
        nothing = ((self.targets - self.others).square() * self.there[:, None]).sum(1)  # [run, label]
        least = (nothing.sum(-1, keepdim=True) - nothing).clamp_min(1e-6)
        against = (self.loss.sum(-1, keepdim=True) - self.loss) / least * _sharpness(self.number)
        nested = torch.softmax(-against.flatten(0, 2), 0).view_as(self.loss)
        predictions = (nested[..., None, :] * self.predicted).sum((0, 1, 2))  # [run, class, label]
        grid = self.temperatures
        odds = log_odds(predictions, self.others, grid.view(-1, 1, 1, 1))
        loss = -(_log_likelihood(odds, self.targets) * self.there[:, None]).sum((-1, -2))  # [temperature, run]
        best = grid[(loss + temperature_prior(grid)[:, None]).argmin(0)]
        return LeftOut(predictions.transpose(1, 2), best, best)

    @cached_property
    def left_out_odds(self) -> torch.Tensor:
        """The labels' leave-one-out log odds: [run, class, label]."""
        assert self.others is not None
        left_out = self.left_out
        return log_odds(left_out.predictions.transpose(1, 2), self.others, left_out.temperature[:, None, None])

    @cached_property
    def thresholds(self) -> torch.Tensor:
        """The log odds from which on a class is given to a node: [run, class].

        The common one makes Micro-F1 of all leave-one-out predictions largest, a class's own one its F1. A class with n
        labels takes n / (n + 5) of its own and the rest of the common one; a class with one label, whose leave-one-out
        prediction knows no label of it, the common one alone. A class without any is given to nobody.
        """
        assert self.there is not None
        odds, runs = self.left_out_odds, len(self.targets)
        here = self.there.bool()[:, None].expand_as(odds)
        common = _best_cut(odds.reshape(runs, 1, -1), self.targets.reshape(runs, 1, -1), here.reshape(runs, 1, -1))
        own = _best_cut(odds, self.targets, here)
        number = self.targets.sum(-1)  # [run, class]
        part = torch.where(number >= _LEAST, number / (number + _OWN_THRESHOLD), 0.0)
        return part * own + (1 - part) * common

    def lead_over_shares(self) -> torch.Tensor:
        """By how many standard errors labels are better predicted by each other than by the classes' shares: [run]."""
        assert self.others is not None and self.there is not None
        by_shares = torch.logit(self.others, 1e-6)
        gained = _log_likelihood(self.left_out_odds, self.targets) - _log_likelihood(by_shares, self.targets)
        better = gained.sum(1) * self.there  # [run, label]
        mean = better.sum(1) / self.number
        squares = ((better - mean[:, None]).square() * self.there).sum(1)
        return mean * self.number / (squares + 1).sqrt()


class SetPosterior(Posterior):
    """The ridge posterior of many runs whose labels are sets of classes: 0 or 1, [run, class] each."""

    def _encoded(self, labels: torch.Tensor) -> torch.Tensor:
        """Targets of labels that are targets already: [run, label, class]."""
        given = labels.double()
        return torch.nn.functional.pad(given, (0, self.classes - given.shape[-1]))

    def labels(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The labelled nodes, int64 [run, label], and their classes, [run, label, class]."""
        count = int(self.count)
        return self.nodes[:, :count].clone(), self.targets[:, :count].to(torch.int8)

    def _filled(self) -> int:
        """Labels that are looked at: those there are. No step of sets is recorded, so the host may be asked."""
        return max(1, int(self.count))

    def fit(self) -> Fit:
        """Weights, coefficients and leave-one-out predictions from the labels so far."""
        members = self.members()
        dtype = self.views.columns.dtype
        coefficients = (members.by_label.double() @ self.rows[:, :, : self._filled()]).permute(0, 3, 1, 2)
        by_ridge = members.weights[0]  # [view, ridge, run]
        most = by_ridge.amax(1, keepdim=True)
        best = torch.where(self.count > 0, (by_ridge >= 0.999 * most).to(torch.int64).argmax(1), FIRST_RIDGE)
        return Fit(
            by_ridge.sum(1).T.to(dtype),
            self._ridges.to(dtype)[best].T,
            members.stretched.sum((0, 2)).T.to(dtype),
            coefficients.to(dtype),
            torch.zeros(self.runs, self.classes, dtype=dtype, device=self._device),
            lambda: members,
            members.lead_over_shares,
        )

    def members(self) -> SetMembers:
        """Leave-one-out predictions, losses and weights of all members."""
        filled, classes = self._filled(), self.classes
        targets, mask = (
            table.float().transpose(1, 2).contiguous()
            for table in (self.targets[:, :filled], self.mask[:, :filled, None])
        )
        of_targets, of_ones, diagonal = self._solved()
        count = self.count.float().clamp_min(1.0)
        total = targets.sum(-1)  # [run, class]
        every = total.sum(-1, keepdim=True)
        share = (total + (every + 1) / (self.count * classes + 2)) / (self.count + 1)
        density = (every - targets.sum(1) + 1) / ((count - 1) * classes + 2)  # without label i: [run, label]
        others = (total[..., None] - targets + density[:, None]) / count
        wanted = (targets - others) * mask
        divided = mask / diagonal
        out = (wanted - of_targets * divided).addcmul_(of_ones * divided, others)  # [view, ridge, run, class, label]
        scale = stretched_by(out, wanted, count)
        predicted = out.mul_(scale[..., None, None])
        loss = (wanted - predicted).square().sum(-2)  # [view, ridge, run, label]
        nothing = wanted.square().sum((-1, -2)).clamp_min(1e-6)
        against = loss.sum(-1) / nothing * _sharpness(count)
        weights = torch.softmax(-against.flatten(0, 1), 0).view_as(against)
        return SetMembers(
            targets,
            count,
            of_targets,
            of_ones,
            predicted[None],
            scale[None],
            loss[None],
            weights[None],
            share,
            self._temperatures,
            others=others,
            there=mask[:, 0],
        )


def _sharpness(count: torch.Tensor) -> torch.Tensor:
    return count.clamp_max(_MOST_SHARP)


def _log_likelihood(odds: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return targets * odds - torch.nn.functional.softplus(odds)


def _best_cut(odds: torch.Tensor, targets: torch.Tensor, there: torch.Tensor) -> torch.Tensor:
    """The log odds above which predictions have the largest F1: half way to the next lower one.

    [run, class, label] to [run, class]. Where two are equal nothing is cut between them.
    """
    ordered = odds.masked_fill(~there, -torch.inf).sort(-1, descending=True)
    hits = targets.gather(-1, ordered.indices).cumsum(-1)
    given = torch.arange(1, odds.shape[-1] + 1, device=odds.device, dtype=hits.dtype)
    below = torch.nn.functional.pad(ordered.values[..., 1:], (0, 1), value=-torch.inf)
    f1 = (2 * hits / (given + targets.sum(-1, keepdim=True))).masked_fill(ordered.values == below, -1.0)
    best = f1.argmax(-1, keepdim=True)
    upper, lower = ordered.values.gather(-1, best)[..., 0], below.gather(-1, best)[..., 0]
    cut = torch.where(torch.isfinite(lower), (upper + lower) / 2, upper)
    return torch.where(torch.isfinite(cut), cut, 0.0)
