"""The posterior on a GPU: the same numbers as `posterior`, each of them in one or two kernels, so that a recorded step
is short.
"""

from __future__ import annotations

import torch

from nodewise.classifiers.views import kernels, posterior
from nodewise.classifiers.views.construction import LEADING
from nodewise.classifiers.views.posterior import FIRST_RIDGE, RIDGES, Fit, Posterior
from nodewise.ground.shared_column import SharedColumn

__all__ = ["CudaPosterior"]

_PART = 16
"""Labels, or columns, that a program works on at once."""

_TRIED_AT_ONCE = 8192
"""Numbers that a program holds for the temperatures which it tries at once."""


class CudaPosterior(Posterior):
    """Labels of many runs, and what follows from them.

    It keeps Q Y, Q 1 and Q's diagonal beside Q, and all of them change by rank one.

    Attributes:
        chosen: the number of the ridge with most weight in each view: int32 [run, view].
    """

    by_kernels = True

    def _allocate(self) -> None:
        views = self.views.columns.shape[1]
        members, columns = (views, len(RIDGES), self.runs), min(LEADING, self.views.columns.shape[2])
        self.nodes, self._labels = (
            torch.zeros(self.runs, self.room, dtype=torch.int64, device=self._device) for _ in range(2)
        )
        self.count = torch.zeros(1, dtype=torch.int64, device=self._device)
        self._keeps = True
        self._always = torch.ones(1, dtype=torch.uint8, device=self._device)
        self.covariance = self._zeros(*members, columns, columns)
        self._inverse = self._zeros(*members, self.room, self.room)
        self._of_ones, self._diagonal = (self._zeros(*members, self.room) for _ in range(2))
        self._scale, self._loss = (torch.zeros(2, *members, device=self._device) for _ in range(2))
        self._weights, self._chosen_ridge, self._stretch = (
            torch.zeros(self.runs, views, device=self._device) for _ in range(3)
        )
        self.chosen = torch.zeros(self.runs, views, dtype=torch.int32, device=self._device)
        self._peaks, self._sums = (torch.zeros(self.runs, views, self.room, device=self._device) for _ in range(2))
        self._lead = torch.zeros(self.runs, device=self._device)
        self._allocate_classes()
        self._start_covariance()
        self._losses_again()

    def _allocate_classes(self) -> None:
        _, views, width = self.views.columns.shape
        self._of_targets = self._zeros(views, len(RIDGES), self.runs, self.room, self.classes)
        self._coefficients = torch.zeros(views, width, self.runs, self.classes, device=self._device)
        self._base = torch.zeros(self.runs, self.classes, device=self._device)
        self._predictions = torch.zeros(self.runs, views, self.room, self.classes, device=self._device)

    def reset(self, classes: int | None = None) -> None:
        """Forget all labels."""
        if classes is not None and max(1, classes) != self.classes:
            self.classes = max(1, classes)
            self._allocate_classes()
        self._start_covariance()
        self.count.zero_()
        self._losses_again()

    def widen(self, classes: int) -> None:
        """Room for more classes; the labels stay."""
        if classes > self.classes:
            before = self._of_targets
            self.classes = classes
            self._allocate_classes()
            self._of_targets[..., : before.shape[-1]] = before
            self._losses_again()

    def reserve(self, more: int) -> None:
        """The room is what it was at the start, since a recorded step keeps its buffers."""

    @property
    def mask(self) -> torch.Tensor:  # type: ignore[override]
        """1 where there is a label: [run, label]."""
        return (torch.arange(self.room, device=self._device) < self.count).double().expand(self.runs, -1)

    @property
    def targets(self) -> torch.Tensor:  # type: ignore[override]
        """One-hot, zero where there is no label: [run, label, class]."""
        one_hot = self._labels[..., None] == torch.arange(self.classes, device=self._device)
        return one_hot.double() * self.mask[..., None]

    @property
    def rows(self) -> torch.Tensor:  # type: ignore[override]
        """The labelled nodes' vectors: [view, run, label, column]."""
        return self._rows(self.nodes) * self.mask[..., None]

    def _sizes(self) -> dict[str, int]:
        power = kernels.triton.next_power_of_2
        labels, width = max(16, power(self.room)), max(16, power(self.views.columns.shape[2]))
        return {"LABELS": labels, "WIDTH": width, "CLASSES": max(2, power(self.classes))}

    def _losses_again(self) -> None:
        """The members' losses of the labels there are."""
        zeros = torch.zeros(self.runs, dtype=torch.int64, device=self._device)
        self._absorb(zeros, zeros, torch.zeros_like(self._always))

    def _absorb(self, nodes: torch.Tensor, labels: torch.Tensor, counted: torch.Tensor) -> None:
        _, views, width = self.views.columns.shape
        leading = self.covariance.shape[-1]
        sizes = self._sizes()
        kernels.absorb[(self.runs, len(RIDGES), views)](
            self.views.columns,
            self.nodes,
            self._labels,
            self.count,
            nodes,
            labels,
            counted,
            self._ridges,
            self._inverse,
            self.covariance,
            self._of_targets,
            self._of_ones,
            self._diagonal,
            self._scale,
            self._loss,
            self.runs,
            views,
            len(RIDGES),
            self.room,
            width,
            leading,
            self.classes,
            posterior._SHRINK,
            posterior._NOTHING,
            posterior.loss_scale(self.classes),
            LABELS=sizes["LABELS"],
            CLASSES=sizes["CLASSES"],
            LEADING=kernels.triton.next_power_of_2(leading),
            PART=_PART,
            num_warps=4 if sizes["LABELS"] <= 64 else 8,
        )

    def add(self, nodes: torch.Tensor, labels: torch.Tensor, valid: torch.Tensor | None = None) -> None:
        """One more label for each run: int64 [run] each. ``valid`` 0 instead of 1 changes nothing.

        A recorded step may not branch.
        """
        counted = self._always if valid is None else valid.to(torch.uint8)
        nodes, labels = nodes.contiguous(), labels.contiguous()
        self._absorb(nodes, labels, counted)
        kernels.commit[(1,)](
            self.nodes,
            self._labels,
            self.count,
            nodes,
            labels,
            counted,
            self.runs,
            self.room,
            RUNS=kernels.triton.next_power_of_2(self.runs),
            num_warps=1,
        )

    def mean(self, fit: Fit) -> torch.Tensor:
        """The posterior mean of all nodes, less 1/C: [run, node, class], a transposed [node, run, class] in memory."""
        flat = self.views.flat
        product = torch.addmm(fit.base.view(-1), flat, fit.coefficients.view(flat.shape[1], -1))
        return product.view(-1, self.runs, self.classes).transpose(0, 1)

    def add_many(self, nodes: torch.Tensor, labels: torch.Tensor) -> None:
        """Many labels, to a posterior without any: int64 [run, label] each."""
        for node, label in zip(nodes.T, labels.T, strict=True):
            self.add(node, label)

    def _solved(self, shared: SharedColumn | None = None) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        assert shared is None  # the kernels have a column for each class
        diagonal = torch.where(self._diagonal > 0, self._diagonal, 1.0)[..., None]
        there = self.mask[..., None] > 0  # what an episode before has left is no label's
        of_targets, of_ones = (torch.where(there, table, 0) for table in (self._of_targets, self._of_ones[..., None]))
        of_targets, of_ones, diagonal = (
            table.float().transpose(-1, -2) for table in (of_targets, of_ones, torch.where(there, diagonal, 1))
        )
        return of_targets, of_ones, diagonal

    def _filled(self) -> int:
        return self.room

    def fit(self) -> Fit:
        """Weights and coefficients from the labels so far; without any, all members alike and nothing predicted."""
        _, views, width = self.views.columns.shape
        members, sizes = 2 * views * len(RIDGES), self._sizes()
        kernels.weigh[(self.runs, views)](
            self.views.columns,
            self.nodes,
            self._labels,
            self.count,
            self._ridges,
            self._of_targets,
            self._of_ones,
            self._scale,
            self._loss,
            self._weights,
            self.chosen,
            self._chosen_ridge,
            self._stretch,
            self._coefficients,
            self._base,
            self.runs,
            views,
            len(RIDGES),
            self.room,
            width,
            self.classes,
            posterior._SHARPNESS,
            posterior._RAMP,
            FIRST_RIDGE,
            **{**sizes, "CLASSES": max(16, sizes["CLASSES"])},  # the least that a tensor core multiplies
            MEMBERS=kernels.triton.next_power_of_2(members),
            num_warps=4,
        )
        parts = (self._weights, self._chosen_ridge, self._stretch, self._coefficients, self._base)
        return Fit(*parts, self.members, self.lead_over_shares)

    def lead_over_shares(self) -> torch.Tensor:
        """That of `members`, without what else they hold: [run]."""
        views, sizes = self.views.columns.shape[1], self._sizes()
        labels, classes = sizes["LABELS"], sizes["CLASSES"]
        parts = (self._peaks, self._sums, self._predictions)
        kernels.leave_out[(self.runs, views, -(-self.room // _PART))](
            self._labels,
            self.count,
            self._of_targets,
            self._of_ones,
            self._diagonal,
            self._scale,
            self._loss,
            *parts,
            self.runs,
            views,
            self.room,
            self.classes,
            posterior._SHARPNESS,
            posterior._RAMP,
            posterior.loss_scale(self.classes),
            STRENGTHS=len(RIDGES),
            CLASSES=classes,
            PART=_PART,
            num_warps=min(8, max(1, classes // 32)),
        )
        kernels.compare_with_shares[(self.runs,)](
            self._labels,
            self.count,
            *parts,
            self._temperatures,
            self._lead,
            self.room,
            self.classes,
            len(self._temperatures),
            posterior._USUAL_TEMPERATURE,
            posterior._TEMPERATURE_LABELS,
            VIEWS=views,
            AT_ONCE=max(1, min(16, _TRIED_AT_ONCE // (labels * classes))),
            LABELS=labels,
            CLASSES=classes,
            num_warps=4 if labels <= 64 else 8,
        )
        return self._lead
