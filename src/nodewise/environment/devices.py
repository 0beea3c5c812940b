"""What computes on the CPU, and which backend a device has: the one place of this room that asks for its kind."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import torch

from nodewise.contracts import Strategy
from nodewise.environment.backend import Backend, Episode
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import numpy_generator

__all__ = ["CpuBackend", "CpuClock", "backend_of"]

LOG_SMALLEST = -23.025850929940457  # log 1e-10: smaller probabilities count as 1e-10 in logarithms


def backend_of(device: torch.device) -> Backend:
    """The backend for a device."""
    return _backend(device.type)


@cache
def _backend(kind: str) -> Backend:
    if kind == "cuda":
        from nodewise.environment.cuda import CudaBackend

        return CudaBackend()
    return CpuBackend()


class CpuBackend:
    """What computes on the CPU."""

    def clock(self, device: torch.device) -> CpuClock:
        """A clock at step 0."""
        return CpuClock()

    def predictions(self, logits: torch.Tensor) -> torch.Tensor:
        """log p, p and Σ p log p side by side."""
        shifted = logits - logits.amax(-1, keepdim=True)
        log_p = (shifted - shifted.exp().sum(-1, keepdim=True).log()).clamp_min(LOG_SMALLEST)
        p = log_p.exp()
        return torch.cat([log_p, p, (p * log_p).sum(-1, keepdim=True)], -1)

    def divergences(self, graph: GraphTensors, packed: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Two sparse products in one.

        With m the mean over neighbours, the first is Σ p log p − p·m(log p), the second m(Σ p log p) − log p·m(p).
        """
        classes = packed.shape[-1] // 2
        log_p, p, negative = packed[..., :classes], packed[..., classes:-1], packed[..., -1]
        means = graph.adjacency.mm(packed) / graph.degree.clamp_min(1)[:, None]
        forward = negative * (graph.degree > 0) - (p * means[..., :classes]).sum(-1)
        reverse = means[..., -1] - (log_p * means[..., classes : 2 * classes]).sum(-1)
        return forward, reverse

    def has_nan(self, values: torch.Tensor, among: torch.Tensor | None = None) -> bool:
        """Whether one of the values is not a number."""
        if among is not None:
            values = values.masked_fill(~among, 0)
        return bool(values.sum().isnan()) and bool(values.isnan().any())  # the sum takes a fraction of the time

    def play(self, episode: Episode, strategy: Strategy, each_query: Callable[[int], None] | None = None) -> None:
        """Step by step."""
        episode.play_steps(strategy, each_query)


class CpuClock:
    """Counts in Python; each draw has a generator of its own, by seed, purpose and step."""

    def __init__(self) -> None:
        self.count = 0
        self._seed = 0

    @property
    def step(self) -> torch.Tensor:
        """Queries made since the reset, int64 [1]."""
        return torch.tensor([self.count])

    def reset(self, seed: int) -> None:
        """Back to step 0, with an episode's seed."""
        self._seed, self.count = seed, 0

    def tick(self) -> None:
        """One step on."""
        self.count += 1

    def write(self, table: torch.Tensor, values: torch.Tensor) -> None:
        """Write values [run, ...] at the present step of a table [run, step, ...]."""
        table[:, self.count] = values

    def uniform(self, purpose: str, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        """Uniform numbers in [0, 1) that follow from the seed, the step and the purpose."""
        generator = numpy_generator(self._seed, purpose, self.count)
        return torch.from_numpy(generator.random(shape, dtype="float32")).to(dtype)
