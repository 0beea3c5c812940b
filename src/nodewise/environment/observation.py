"""What a strategy sees of an environment: see `nodewise.contracts.Observation`."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import torch

from nodewise.contracts import Learner, Queried
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError

if TYPE_CHECKING:
    from nodewise.environment.environment import Environment

__all__ = ["EnvironmentObservation"]

LOG_SMALLEST = -23.025850929940457  # log 1e-10: smaller probabilities count as 1e-10 in logarithms


class EnvironmentObservation:
    """One moment of all runs of an environment; it fulfils `nodewise.contracts.Observation`."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self.graph: GraphTensors = environment.graph.unlabelled
        self.budget = environment.budget
        self.labelled, self.pool = environment.labelled, environment.pool
        self.learner: Learner = environment.learner
        self.memory: dict[str, Any] = environment.memory

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return self.pool.shape[0]

    @property
    def num_classes(self) -> int:
        """How many classes there are now."""
        return self.learner.num_classes

    @property
    def step(self) -> torch.Tensor:
        """How many queries were made, int64 [1]."""
        return self._environment.step_tensor

    @property
    def step_number(self) -> int:
        """How many queries were made.

        Raises:
            InputError: a step is being recorded, in which the number would stay what it is now.
        """
        if self._environment.is_recording:
            raise InputError(
                "a GPU records this step once and replays it, so the step's number, read in Python, would stay the same: "
                "use observation.step, a tensor, or say recordable = False"
            )
        return self._environment.step

    @property
    def queried(self) -> Queried:
        """The nodes asked so far and their answers, padded to the budget."""
        return self._environment.queried

    @cached_property
    def embedding(self) -> torch.Tensor:
        """The learner's embedding: [run, node, width]."""
        return self.learner.embedding()

    @cached_property
    def logits(self) -> torch.Tensor:
        """The learner's output: [run, node, class]."""
        return self.learner.logits()

    @cached_property
    def _packed(self) -> torch.Tensor:
        """log p (not below log 1e-10), p and Σ p log p side by side: [run, node, 2 class + 1]."""
        if self.graph.device.type == "cuda":
            from nodewise.environment.prediction_kernels import predictions

            return predictions(self.logits)
        shifted = self.logits - self.logits.amax(-1, keepdim=True)
        log_p = (shifted - shifted.exp().sum(-1, keepdim=True).log()).clamp_min(LOG_SMALLEST)
        p = log_p.exp()
        return torch.cat([log_p, p, (p * log_p).sum(-1, keepdim=True)], -1)

    @property
    def log_probabilities(self) -> torch.Tensor:
        """log of the predicted probabilities, not below log 1e-10: [run, node, class]."""
        return self._packed[..., : self.num_classes]

    @property
    def probabilities(self) -> torch.Tensor:
        """The predicted probabilities: [run, node, class]."""
        return self._packed[..., self.num_classes : -1]

    @property
    def negative_entropy(self) -> torch.Tensor:
        """Σ p log p of every node's prediction: [run, node]."""
        return self._packed[..., -1]

    @cached_property
    def divergences(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The mean over a node's neighbours of KL(node ‖ neighbour) and of KL(neighbour ‖ node): [run, node] each.

        Two sparse products in one: with m the mean over neighbours, the first is Σ p log p − p·m(log p), the second
        m(Σ p log p) − log p·m(p). Both are zero for a node without neighbours (section 3.2).
        """
        if self.graph.device.type == "cuda":
            from nodewise.environment.prediction_kernels import divergences

            return divergences(self.graph, self._packed)
        p, log_p, negative, classes = self.probabilities, self.log_probabilities, self.negative_entropy, self.num_classes
        means = self.graph.adjacency.mm(self._packed) / self.graph.degree.clamp_min(1)[:, None]
        forward = negative * (self.graph.degree > 0) - (p * means[..., :classes]).sum(-1)
        reverse = means[..., -1] - (log_p * means[..., classes : 2 * classes]).sum(-1)
        return forward, reverse

    @cached_property
    def noise(self) -> torch.Tensor:
        """Fresh uniform numbers in [0, 1) for this step: [run, node]."""
        return self._environment.uniform("noise", (self.runs, self.graph.num_nodes))

    def record(self, table: torch.Tensor, values: torch.Tensor) -> None:
        """Write this step's values, [run, ...], into a table of all steps, [run, step, ...]."""
        self._environment.record(table, values)

    def uniform(self, purpose: str, *shape: int) -> torch.Tensor:
        """Fresh uniform numbers in [0, 1) for this step and purpose."""
        return self._environment.uniform(purpose, shape)
