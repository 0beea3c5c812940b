"""How a session computes: no gradients, on one thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

__all__ = ["one_thread"]


@contextmanager
def one_thread() -> Iterator[None]:
    """torch without gradients and on a single thread, as it was before afterwards.

    Sums then have one order, so that a session's numbers do not depend on how many cores there are; and with a single run the work is so
    small that threads waiting for each other cost more than they bring, many times more on a busy machine.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.no_grad():
            yield
    finally:
        torch.set_num_threads(before)
