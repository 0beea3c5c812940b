"""GPU kernels over a batch of runs: a sparse product and uniform numbers.

They need Triton, which comes with CUDA builds of torch.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

__all__ = ["sparse_product", "uniform"]


@triton.jit
def _product(
    crow,
    col,
    values,
    dense,
    out,
    runs,
    rows,
    columns,
    width,
    RUNS: tl.constexpr,
    WIDTH: tl.constexpr,
    ENTRIES: tl.constexpr,
):
    row = tl.program_id(0)
    lane = tl.arange(0, RUNS * WIDTH)
    run = (tl.program_id(1) * RUNS + lane // WIDTH).to(tl.int64)
    offset = lane % WIDTH
    inside = (run < runs) & (offset < width)
    start = tl.load(crow + row)
    end = tl.load(crow + row + 1)
    total = tl.zeros([RUNS * WIDTH], dtype=out.dtype.element_ty)
    for first in range(start, end, ENTRIES):
        entry = first + tl.arange(0, ENTRIES)
        there = entry < end
        column = tl.load(col + entry, mask=there, other=0)
        weight = tl.load(values + entry, mask=there, other=0.0)
        source = dense + (run * columns)[None, :] * width + column[:, None] * width + offset[None, :]
        total += tl.sum(weight[:, None] * tl.load(source, mask=there[:, None] & inside[None, :], other=0.0), 0)
    tl.store(out + (run * rows + row) * width + offset, total, mask=inside)


def sparse_product(crow: torch.Tensor, col: torch.Tensor, values: torch.Tensor, dense: torch.Tensor) -> torch.Tensor:
    """The matrix, given by its CSR arrays, times every run's dense one: [run, column, width] to [run, row, width]."""
    dense = dense.contiguous()
    runs, columns, width = dense.shape
    rows = len(crow) - 1
    out = torch.empty(runs, rows, width, device=dense.device, dtype=dense.dtype)
    lanes = triton.next_power_of_2(width)
    together = max(1, min(triton.next_power_of_2(runs), 128 // lanes))
    grid = (rows, triton.cdiv(runs, together))
    _product[grid](
        crow,
        col,
        values,
        dense,
        out,
        runs,
        rows,
        columns,
        width,
        RUNS=together,
        WIDTH=lanes,
        ENTRIES=8,
        num_warps=max(1, min(4, together * lanes // 64)),
    )
    return out


@triton.jit
def _uniform(seed, step, purpose, out, size, low, high, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    stream = tl.load(seed) + tl.load(step) * 1000003 + purpose
    tl.store(out + index, low + (high - low) * tl.rand(stream, index), mask=index < size)


def uniform(
    out: torch.Tensor, seed: torch.Tensor, step: torch.Tensor, purpose: int, low: float = 0.0, high: float = 1.0
) -> torch.Tensor:
    """Fill a tensor with uniform numbers in [low, high) that follow from the seed, the step (int64 [1] each) and the
    purpose.
    """
    size = out.numel()
    _uniform[(triton.cdiv(size, 1024),)](seed, step, purpose, out, size, low, high, BLOCK=1024)
    return out
