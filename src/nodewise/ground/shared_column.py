"""Where there are very many classes, those that are all predicted alike share their columns.

Classes without a label are predicted alike. A sum over classes counts a shared column as often as there are such
classes: with a list of ten thousand classes and a dozen of them labelled all then costs what a dozen cost.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

__all__ = ["MANY_CLASSES", "SharedColumn"]

MANY_CLASSES = 512
"""Classes from which it is asked whether columns can be shared. With fewer, each has its own, which takes no longer.
"""

_ROWS = 64
"""Rows of a table that are compared at once, which stay in a processor's cache."""


@dataclass(frozen=True)
class SharedColumn:
    """Which class has which column; whoever has fewer than `MANY_CLASSES` classes need not ask.

    Attributes:
        kept: the classes with a column of their own, then two that stand for all others, so that the two likeliest
            classes are always among them: int64 [column].
        column: of each class: int64 [class].
        times: how many classes a column stands for: float32 [column].
    """

    kept: torch.Tensor
    column: torch.Tensor
    times: torch.Tensor

    @classmethod
    def of(cls, known: torch.Tensor) -> SharedColumn | None:
        """The columns where these classes differ from all others, bool [class]; None where that saves little."""
        others = torch.nonzero(~known)[:, 0]
        if len(known) < MANY_CLASSES or 2 * len(others) < len(known):
            return None
        kept = torch.cat([torch.nonzero(known)[:, 0], others[:2]])
        column = torch.full(known.shape, len(kept) - 1)
        column[kept] = torch.arange(len(kept))
        times = torch.ones(len(kept))
        times[-1] = len(others) - 1
        return cls(kept, column, times)

    @classmethod
    def found_in(cls, table: torch.Tensor) -> SharedColumn | None:
        """The columns of a table [..., class] on the CPU that has many equal ones; None where it has not."""
        if table.device.type != "cpu" or not table.numel():
            return None
        rows = table.flatten(0, -2)
        likely = torch.arange(table.shape[-1])  # those that have what most have, in three rows
        for row in (0, len(rows) // 2, len(rows) - 1):
            likely = likely[rows[row, likely] == rows[row, likely].mode().values]
        alike = torch.ones(table.shape[-1], dtype=torch.bool)
        for block in rows.split(_ROWS):
            alike &= (block == block[:, likely[:1]]).all(0)
        return cls.of(~alike)

    def narrow(self, table: torch.Tensor) -> torch.Tensor:
        """A table [..., class] as [..., column]."""
        return table[..., self.kept]

    def spread(self, table: torch.Tensor) -> torch.Tensor:
        """A table [..., column] as [..., class]."""
        return table[..., self.column]

    def log_softmax(self, logits: torch.Tensor) -> torch.Tensor:
        """log softmax over all classes, [..., column, label]."""
        return torch.log_softmax(logits + self.times.log()[:, None], -2)
