"""Labels that may be wrong: how far each is trusted, and the ridge posterior with noise of each label's own.

A label that is trusted by w, from 0 to 1, has the noise r / w in place of r: Q = (Z Zᵀ + r W⁻¹)⁻¹, so it bends the
others' predictions less, and its own leave-one-out prediction stays y_i − [Q (Y − p)]_i / Q_ii. With p_y the chance of
its class in that prediction, p_best the likeliest class's and n the labels of the same class beside it,

    w = min(1, 3 p_y / p_best) ^ (n / (n + 5)), at least 0.02,

times how far its annotators are trusted. So a label counts whole as long as its class has a third of the likeliest
one's chance; the only label of a class is never doubted, since no other could speak for it; and where no label is
doubted all numbers are those of the plain posterior, to the bit. benchmarks/trust.py says how the rule was chosen.
"""

from __future__ import annotations

import torch

from nodewise.classifiers.views.posterior import Members, Posterior

__all__ = ["TrustedPosterior", "doubt"]

_TOLERANCE, _LEAST, _FELLOWS = 3.0, 0.02, 5.0


def doubt(chances: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """How far each label is trusted by what all others say of it: [run, label].

    Args:
        chances: leave-one-out predictions, [run, label, class]. labels: one-hot, [run, label, class].
    """
    fellows = ((labels.sum(1, keepdim=True) - 1) * labels).sum(-1)
    ratio = (chances * labels).sum(-1) / chances.amax(-1).clamp_min(1e-12)
    return (_TOLERANCE * ratio).clamp(_LEAST, 1.0) ** (fellows / (fellows + _FELLOWS))


class TrustedPosterior(Posterior):
    """The ridge posterior of many runs in which labels that the others contradict count less, on the CPU.

    Attributes:
        beforehand: how far a label of each node is trusted by who gave it: [node].
        confirmed: the nodes whose labels are not doubted, since people have decided them: bool [node].
    """

    beforehand: torch.Tensor
    confirmed: torch.Tensor

    def add(self, nodes: torch.Tensor, labels: torch.Tensor, valid: torch.Tensor | None = None) -> None:
        """One more label for each run: int64 [run] each. All is solved as a whole, since every label's noise moves.

        Args:
            valid: as for the plain posterior, which a GPU's recorded steps need; here there are none.
        """
        labelled, known = self.labels()
        self.add_many(torch.cat([labelled, nodes[:, None]], 1), torch.cat([known, labels[:, None]], 1))

    def members(self) -> Members:
        """Leave-one-out predictions, losses and weights of all members, with each label's own noise."""
        filled = self._filled()
        nodes = self.nodes[:, :filled]
        given = self.beforehand[nodes]
        self.trust = given if bool((given < 1).any()) else None
        first = super().members()
        left_out = first.left_out
        chances = torch.softmax(left_out.temperature[:, None, None] * left_out.predictions, -1)
        doubted = doubt(first.own_columns(chances), first.targets.transpose(1, 2))
        trust = given * torch.where(self.confirmed[nodes] | (self.mask[:, :filled] == 0), 1.0, doubted)
        if bool((trust == given).all()):
            return first
        self.trust = trust
        return super().members()

    def _covariance_of(self, rows: torch.Tensor, ridges: torch.Tensor) -> torch.Tensor:
        """(I + Zᵀ W Z / r)⁻¹, from the labelled rows [view, …, run, label, column]."""
        return super()._covariance_of(
            rows if self.trust is None else rows * self.trust.double().sqrt()[..., None], ridges
        )
