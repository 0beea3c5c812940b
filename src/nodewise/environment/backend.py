"""What computes an episode: the clock, the state's formulas and the loop, for the CPU here and for a GPU in `cuda`.

The decision process asks the one object that `backend_of` gives, and never which device it has.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Protocol

import torch

from nodewise.contracts import Learner, Strategy
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import numpy_generator

__all__ = ["Backend", "Clock", "CpuBackend", "CpuClock", "Episode", "backend_of", "play_steps"]

LOG_SMALLEST = -23.025850929940457  # log 1e-10: smaller probabilities count as 1e-10 in logarithms


class Clock(Protocol):
    """The step and the randomness of an episode.

    Attributes:
        count: queries made since the reset, as Python knows it.
    """

    count: int

    @property
    def step(self) -> torch.Tensor:
        """Queries made since the reset, int64 [1], on the device."""
        ...

    def reset(self, seed: int) -> None:
        """Back to step 0, with an episode's seed."""
        ...

    def tick(self) -> None:
        """One step on."""
        ...

    def write(self, table: torch.Tensor, values: torch.Tensor) -> None:
        """Write values [run, ...] at the present step of a table [run, step, ...]."""
        ...

    def uniform(self, purpose: str, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        """Uniform numbers in [0, 1) that follow from the seed, the step and the purpose."""
        ...


class Episode(Protocol):
    """An environment, as far as playing an episode needs it.

    Attributes:
        recording: a step that a backend has recorded, or None. is_recording: whether one is being recorded.
    """

    clock: Clock
    learner: Learner
    budget: int
    recording: object
    is_recording: bool

    def take_step(self, strategy: Strategy) -> None:
        """One query of every run: observe, choose, ask, fit."""
        ...

    def finish(self) -> None:
        """Let the learners train to the end."""
        ...

    def restart(self, strategy: Strategy) -> None:
        """Back to the beginning of this episode."""
        ...


class Backend(Protocol):
    """What computes on one kind of device."""

    def clock(self, device: torch.device) -> Clock:
        """A clock at step 0."""
        ...

    def predictions(self, logits: torch.Tensor) -> torch.Tensor:
        """log p (not below log 1e-10), p and Σ p log p side by side: [run, node, class] to [run, node, 2 class + 1]."""
        ...

    def divergences(self, graph: GraphTensors, packed: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The mean KL(node ‖ neighbour) and KL(neighbour ‖ node), from `predictions`: [run, node] each."""
        ...

    def has_nan(self, values: torch.Tensor, among: torch.Tensor | None = None) -> bool:
        """Whether one of the values is not a number, of those that ``among`` marks where it is given.

        False where asking would wait for the device.
        """
        ...

    def play(self, episode: Episode, strategy: Strategy, each_query: Callable[[int], None] | None = None) -> None:
        """All steps of an episode that has just begun, and its end."""
        ...


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
    """Everything by torch's own operations, step by step."""

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
        play_steps(episode, strategy, each_query)


def play_steps(episode: Episode, strategy: Strategy, each_query: Callable[[int], None] | None = None) -> None:
    """All steps of an episode one by one, and its end."""
    for done in range(1, episode.budget + 1):
        episode.take_step(strategy)
        if each_query is not None:
            each_query(done)
    episode.finish()


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
