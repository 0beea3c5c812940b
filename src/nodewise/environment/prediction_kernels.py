"""GPU kernels of the state: predictions and their divergence from the neighbours', each in one pass."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from nodewise.graph.tensors import GraphTensors

__all__ = ["divergences", "predictions"]


@triton.jit
def _predict(logits, out, rows, classes, CLASSES: tl.constexpr, ROWS: tl.constexpr):
    row = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)
    label = tl.arange(0, CLASSES)
    inside = (row < rows)[:, None] & (label < classes)[None, :]
    z = tl.load(logits + row[:, None] * classes + label[None, :], mask=inside, other=float("-inf"))
    z = z - tl.max(z, 1)[:, None]
    log_p = tl.maximum(z - tl.log(tl.sum(tl.exp(z), 1))[:, None], -23.025850929940457)
    p = tl.where(inside, tl.exp(log_p), 0.0)
    start = out + row[:, None] * (2 * classes + 1) + label[None, :]
    tl.store(start, log_p, mask=inside)
    tl.store(start + classes, p, mask=inside)
    tl.store(out + row * (2 * classes + 1) + 2 * classes, tl.sum(tl.where(inside, p * log_p, 0.0), 1), mask=row < rows)


def predictions(logits: torch.Tensor) -> torch.Tensor:
    """log p, p and Σ p log p side by side: [run, node, class] to [run, node, 2 class + 1]."""
    runs, nodes, classes = logits.shape
    logits = logits.contiguous()  # a learner may keep them in another order, such as [node, run, class]
    out = torch.empty(runs, nodes, 2 * classes + 1, device=logits.device, dtype=logits.dtype)
    lanes, rows = max(2, triton.next_power_of_2(classes)), runs * nodes
    block = max(1, 512 // lanes)
    _predict[(triton.cdiv(rows, block),)](logits, out, rows, classes, CLASSES=lanes, ROWS=block)
    return out


@triton.jit
def _diverge(crow, col, packed, forward, reverse, nodes, classes, CLASSES: tl.constexpr, ENTRIES: tl.constexpr):
    run = tl.program_id(1).to(tl.int64)
    label = tl.arange(0, CLASSES)
    known = label < classes
    width = 2 * classes + 1
    for node in range(tl.program_id(0), nodes, tl.num_programs(0)):
        start = tl.load(crow + node)
        end = tl.load(crow + node + 1)
        log_sum = tl.zeros([CLASSES], dtype=tl.float32)
        p_sum = tl.zeros([CLASSES], dtype=tl.float32)
        negative_sum = 0.0
        for first in range(start, end, ENTRIES):
            entry = first + tl.arange(0, ENTRIES)
            inside = entry < end
            neighbour = tl.load(col + entry, mask=inside, other=0)
            source = packed + (run * nodes + neighbour) * width
            both = inside[:, None] & known[None, :]
            log_sum += tl.sum(tl.load(source[:, None] + label[None, :], mask=both, other=0.0), 0)
            p_sum += tl.sum(tl.load(source[:, None] + classes + label[None, :], mask=both, other=0.0), 0)
            negative_sum += tl.sum(tl.load(source + 2 * classes, mask=inside, other=0.0), 0)
        own = packed + (run * nodes + node) * width
        log_p = tl.load(own + label, mask=known, other=0.0)
        p = tl.load(own + classes + label, mask=known, other=0.0)
        negative = tl.load(own + 2 * classes)
        degree = tl.maximum(end - start, 1).to(tl.float32)
        alone = end == start
        tl.store(forward + run * nodes + node, tl.where(alone, 0.0, negative - tl.sum(p * log_sum, 0) / degree))
        tl.store(reverse + run * nodes + node, (negative_sum - tl.sum(log_p * p_sum, 0)) / degree)


def divergences(graph: GraphTensors, packed: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The mean KL(node ‖ neighbour) and KL(neighbour ‖ node), from `predictions`: [run, node] each."""
    runs, nodes, width = packed.shape
    classes = (width - 1) // 2
    forward, reverse = (torch.empty(runs, nodes, device=packed.device, dtype=packed.dtype) for _ in range(2))
    grid = (max(64, min(nodes, 16384 // runs)), runs)
    _diverge[grid](
        graph.adjacency.crow,
        graph.adjacency.col,
        packed,
        forward,
        reverse,
        nodes,
        classes,
        CLASSES=max(2, triton.next_power_of_2(classes)),
        ENTRIES=16,
        num_warps=1,
    )
    return forward, reverse
