"""A policy's layer on a GPU in one pass, for choosing nodes; gradients take the plain way in `policy`."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from nodewise.graph.tensors import GraphTensors

__all__ = ["layer"]


@triton.jit
def _layer(
    crow,
    col,
    values,
    h,
    weight,
    bias,
    out,
    nodes,
    inputs,
    outputs,
    INPUTS: tl.constexpr,
    OUTPUTS: tl.constexpr,
    ENTRIES: tl.constexpr,
):
    run = tl.program_id(1).to(tl.int64)
    i = tl.arange(0, INPUTS)
    o = tl.arange(0, OUTPUTS)
    w = tl.load(
        weight + i[:, None] * outputs + o[None, :], mask=(i < inputs)[:, None] & (o < outputs)[None, :], other=0.0
    )
    b = tl.load(bias + o, mask=o < outputs, other=0.0)
    for node in range(tl.program_id(0), nodes, tl.num_programs(0)):
        start = tl.load(crow + node)
        end = tl.load(crow + node + 1)
        total = tl.zeros([INPUTS], dtype=tl.float32)
        share = 0.0
        for first in range(start, end, ENTRIES):
            entry = first + tl.arange(0, ENTRIES)
            inside = entry < end
            neighbour = tl.load(col + entry, mask=inside, other=0)
            value = tl.load(values + entry, mask=inside, other=0.0)
            source = h + ((run * nodes + neighbour) * inputs)[:, None] + i[None, :]
            total += tl.sum(
                value[:, None] * tl.load(source, mask=inside[:, None] & (i < inputs)[None, :], other=0.0), 0
            )
            share += tl.sum(value, 0)
        result = tl.maximum(tl.sum(total[:, None] * w, 0) + share * b, 0.0)
        tl.store(out + (run * nodes + node) * outputs + o, result, mask=o < outputs)


def layer(graph: GraphTensors, h: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """relu(Â (h W + b)), as relu((Â h) W + (Â 1) b): [run, node, input] to [run, node, output]."""
    h = h.contiguous()
    runs, nodes, inputs = h.shape
    outputs = weight.shape[1]
    out = torch.empty(runs, nodes, outputs, device=h.device, dtype=h.dtype)
    norm = graph.norm
    _layer[(max(64, min(nodes, 16384 // runs)), runs)](
        norm.crow,
        norm.col,
        norm.values,
        h,
        weight,
        bias,
        out,
        nodes,
        inputs,
        outputs,
        INPUTS=triton.next_power_of_2(inputs),
        OUTPUTS=triton.next_power_of_2(outputs),
        ENTRIES=16,
        num_warps=1,
    )
    return out
