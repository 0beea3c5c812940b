"""The step and the randomness of an episode, kept on the GPU so that a recorded step can be replayed."""

from __future__ import annotations

import zlib

import torch

from nodewise.graph.sparse_kernels import uniform

__all__ = ["DeviceClock"]


class DeviceClock:
    """Counts queries and draws numbers without the host.

    Attributes:
        step: queries made since the reset, int64 [1].
    """

    def __init__(self, device: torch.device) -> None:
        self._seed = torch.zeros(1, dtype=torch.int64, device=device)
        self.step = torch.zeros(1, dtype=torch.int64, device=device)

    def reset(self, seed: int) -> None:
        """Back to step 0, with a new seed."""
        self._seed.fill_(seed)
        self.step.zero_()

    def tick(self) -> None:
        """One step on."""
        self.step.add_(1)

    def write(self, table: torch.Tensor, values: torch.Tensor) -> None:
        """Write values [run, ...] at the present step of a table [run, step, ...]."""
        table.index_copy_(1, self.step, values.unsqueeze(1))

    def uniform(self, purpose: str, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        """Uniform numbers in [0, 1) for this step and purpose."""
        return uniform(
            torch.empty(shape, dtype=dtype, device=self._seed.device),
            self._seed,
            self.step,
            zlib.crc32(purpose.encode()),
        )
