"""What computes an episode, as the decision process asks it: a clock, the state's formulas and the loop.

`runs` fulfils it for the CPU, `cuda` for a GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch

from nodewise.contracts import Learner, Strategy
from nodewise.graph.tensors import GraphTensors

__all__ = ["Backend", "Clock", "Episode"]


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

    def play_steps(self, strategy: Strategy, each_query: Callable[[int], None] | None = None) -> None:
        """All steps one by one, and the end."""
        ...

    def finish(self) -> None:
        """Let the learners train to the end."""
        ...

    def restart(self, strategy: Strategy) -> None:
        """Back to the beginning of this episode."""
        ...


class Backend(Protocol):
    """What computes on one kind of device.

    Attributes:
        plays_protocols: whether episodes may follow a protocol, whose oracle and rounds stop between two steps.
    """

    plays_protocols: bool

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
