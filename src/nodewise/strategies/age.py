"""AGE: a weighted sum of three heuristics (Cai, Zheng & Chang 2017, "Active learning for graph embedding")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch

from nodewise.contracts import Observation, Strategy
from nodewise.environment.runs import break_ties
from nodewise.ground.errors import InputError
from nodewise.strategies.heuristics import Heuristics

__all__ = ["Age", "beta_quantile"]


def beta_quantile(uniform: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The inverse distribution function of Beta(1, b): F(x) = 1 − (1 − x)^b gives x = 1 − (1 − u)^(1/b)."""
    return 1 - (1 - uniform) ** (1 / b)


class Age(Strategy):
    """The node with the largest weighted sum of the percentile ranks of entropy, PageRank and density first, ties at
    random.

    By default the weights change with time, as Cai, Zheng & Chang (2017) draw them in each run and step: with t nodes
    labelled, γ ~ Beta(1, 1.005 − f^t) weighs centrality, (1 − γ)/2 each entropy and density. The expected γ falls from
    nearly 1 to 1/2: first the graph counts, then what the classifier has learned of it; the larger f (``basef``), the
    later.
    Section 4.1 of Hu et al. (2020) speaks of fixed weights for transfer; its released program has f as AGE's parameter.
    `search_age_weights` finds both on a labelled graph.

    Departures: the clusters of the density are of predicted probabilities and carried from step to step (see
    `Heuristics`).

    Args:
        weights: fixed weights of entropy, centrality and density: three numbers for all runs, or [run, 3] with each
            run's own.
        basef: f, between 0 and 1: one number for all runs, or [run]. Fixed weights make no use of it.
    """

    AUTHORS_BASEF = 0.95

    name = "age"
    version = 2
    recordable = True
    reads_budget = False
    stateless = True

    def __init__(
        self,
        weights: Sequence[float] | Sequence[Sequence[float]] | torch.Tensor | None = None,
        basef: float | Sequence[float] = AUTHORS_BASEF,
    ) -> None:
        self._fixed = None if weights is None else _checked(weights)
        self._basef = _checked_basef(basef)
        self._heuristics = Heuristics()

    def identity(self) -> dict[str, Any]:
        """The weights, where they are fixed, else what they change by."""
        if self._fixed is not None:
            return {"weights": self._fixed.tolist()}
        return {"basef": self._basef if isinstance(self._basef, float) else self._basef.tolist()}

    def begin(self, observation: Observation) -> None:
        """Seed the clusters; bring fixed weights to the device."""
        self._heuristics.begin(observation)
        fixed, graph = self._fixed, observation.graph
        own = fixed if fixed is not None else None if isinstance(self._basef, float) else self._basef
        if own is None:
            return
        if own.dim() == (1 if fixed is None else 2) and len(own) != observation.runs:
            what = "triple" if fixed is not None else "basef"
            raise InputError(
                f"AGE has weights for {len(own)} runs, but {observation.runs} are played: give one {what} a run, or one"
                " for all"
            )
        if "weights" not in observation.memory:
            observation.memory["weights"] = own.to(graph.device, graph.dtype)

    def scores(self, observation: Observation) -> torch.Tensor:
        """The weighted sum of ranks."""
        ranks = self._heuristics.ranks(observation)
        entropy, centrality, density = self._weights_now(observation).unsqueeze(-1).unbind(-2)
        return break_ties(
            entropy * ranks.entropy + centrality * ranks.centrality + density * ranks.density, observation
        )

    def _weights_now(self, observation: Observation) -> torch.Tensor:
        """The weights of this step: [run, 3], or [3] for all runs."""
        if self._fixed is not None:
            return cast(torch.Tensor, observation.memory["weights"])
        # the count of labels is read off a tensor, so that a recorded step sees it grow
        time = observation.labelled.sum(1).to(observation.graph.dtype)
        basef = self._basef if isinstance(self._basef, float) else cast(torch.Tensor, observation.memory["weights"])
        gamma = beta_quantile(observation.uniform("age", observation.runs), 1.005 - basef**time)
        rest = (1 - gamma) / 2
        return torch.stack([rest, gamma, rest], 1)


def _checked_basef(basef: float | Sequence[float]) -> float | torch.Tensor:
    try:
        table = torch.as_tensor(basef, dtype=torch.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"AGE's basef must be a number between 0 and 1, got {basef!r}: its authors' is 0.95"
        ) from error
    if table.dim() > 1 or not bool(((table >= 0) & (table <= 1)).all()):
        raise InputError(f"AGE's basef must be a number between 0 and 1, got {table.tolist()}: its authors' is 0.95")
    return table if table.dim() else float(table)


def _checked(weights: Sequence[float] | Sequence[Sequence[float]] | torch.Tensor) -> torch.Tensor:
    try:
        table = torch.as_tensor(weights, dtype=torch.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"AGE's weights must be numbers, got {weights!r}: give three, of entropy, centrality and density"
        ) from error
    if table.dim() not in (1, 2) or table.shape[-1] != 3:
        raise InputError(
            "AGE needs three weights, of entropy, centrality and density, or [run, 3]; got the shape"
            f" {list(table.shape)}"
        )
    if not bool(torch.isfinite(table).all()) or bool((table < 0).any()) or bool((table.sum(-1) <= 0).any()):
        raise InputError(f"AGE's weights must be finite, none below 0 and not all 0, got {table.tolist()}")
    return table
