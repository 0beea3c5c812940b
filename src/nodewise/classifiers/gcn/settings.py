"""The settings of the paper's classifier: a record that its learners on the CPU and on a GPU share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from nodewise.ground.errors import InputError

__all__ = ["GcnSettings"]

MOST_HIDDEN, MOST_EPOCHS = 16_384, 1_000_000
"""What a file that came from anywhere may ask for."""


@dataclass(frozen=True)
class GcnSettings:
    """What a two-layer GCN is trained with; the defaults are the protocol's.

    Attributes:
        closing_epochs: epochs after the last label: what "until convergence" was in the released code.
        convergence: the share by which the training loss must fall in ten epochs for a run to go on after the last
            label, as the paper words it; ``closing_epochs`` are then the most. 0: exactly so many.
        observed: what strategies see between two labels, and a session shows with its questions: the output of the
            ``"updated"`` weights, as the paper has it, or that of the ``"training"`` pass itself, before its update and
            with dropout on, as in the released code. What is predicted at the end is the output after training in both
            cases. The training pass takes longer, most on a CPU and where features are dense.
    """

    hidden: int = 64
    dropout: float = 0.2
    learning_rate: float = 0.03
    weight_decay: float = 5e-4
    warm_up: int = 10
    closing_epochs: int = 35
    convergence: float = 0.0
    observed: Literal["updated", "training"] = "updated"

    def __post_init__(self) -> None:
        if not (
            self.hidden > 0
            and 0 <= self.dropout < 1
            and self.learning_rate > 0
            and self.weight_decay >= 0
            and self.warm_up > 0
        ):
            raise InputError(
                f"a classifier cannot be trained with {self}: sizes and rates must be positive and dropout below 1"
            )
        if self.closing_epochs < 0 or not 0 <= self.convergence < 1:
            raise InputError(
                f"closing_epochs must not be below 0 and convergence from 0 to below 1, got {self.closing_epochs} and"
                f" {self.convergence}"
            )
        if self.hidden > MOST_HIDDEN or self.closing_epochs > MOST_EPOCHS:
            raise InputError(
                f"hidden is at most {MOST_HIDDEN:,} and closing_epochs at most {MOST_EPOCHS:,}, got {self.hidden:,} and"
                f" {self.closing_epochs:,}: give fewer"
            )
        if self.observed not in ("updated", "training"):
            raise InputError(f"unknown observed output {self.observed!r}: use updated or training")
