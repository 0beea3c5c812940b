"""The policy of section 3.3: a small graph network that scores every node from its state."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any, Literal

import torch
from torch import nn

from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError
from nodewise.policy.state import StateSettings

__all__ = ["Policy", "PolicySettings"]


@dataclass(frozen=True)
class PolicySettings:
    """The policy's shape and what it reads.

    Attributes:
        architecture: ``"gcn"`` or, for the ablation, ``"mlp"``, which does not look at neighbours.
        hidden: width of the hidden layers.
        layers: how many hidden layers.
        state: the features that it reads.
    """

    architecture: Literal["gcn", "mlp"] = "gcn"
    hidden: int = 8
    layers: int = 2
    state: StateSettings = field(default_factory=StateSettings)

    def __post_init__(self) -> None:
        if self.architecture not in ("gcn", "mlp"):
            raise InputError(f"unknown policy architecture {self.architecture!r}: use gcn or mlp")
        if self.hidden < 1 or self.layers < 1:
            raise InputError(f"a policy needs at least one hidden layer of at least one unit, got {self.layers} of {self.hidden}")

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {**asdict(self), "state": self.state.as_dict()}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> PolicySettings:
        """The inverse of `as_dict`."""
        return cls(**{**record, "state": StateSettings(**record["state"])})


class Policy(nn.Module):
    """Scores nodes: h ← relu(Â (h W + b)) for each hidden layer (the MLP without Â), then a linear layer without bias.

    The bias is added before the propagation, as in the released policies. No parameter depends on the graph's size, so the
    policy works on any graph. Weights start uniform in ±1/√columns, biases at 0.

    Attributes:
        settings: shape and state features.
        origin: where the weights come from; empty for a fresh policy.
    """

    def __init__(self, settings: PolicySettings | None = None, seed: int = 0) -> None:
        super().__init__()
        self.settings = settings or PolicySettings()
        self.origin: dict[str, Any] = {}
        generator = torch.Generator().manual_seed(seed)
        widths = [len(self.settings.state.features)] + [self.settings.hidden] * self.settings.layers
        self.weights = nn.ParameterList(_uniform(a, b, generator) for a, b in pairwise(widths))
        self.biases = nn.ParameterList(nn.Parameter(torch.zeros(b)) for b in widths[1:])
        self.output = _uniform(1, widths[-1], generator)

    def forward(self, graph: GraphTensors, states: torch.Tensor) -> torch.Tensor:
        """Scores of every node: [run, node, feature] to [run, node]; the softmax over the pool gives the probabilities."""
        h = states
        fused = h.is_cuda and self.settings.architecture == "gcn" and not torch.is_grad_enabled()
        for weight, bias in zip(self.weights, self.biases, strict=True):
            if fused:
                from nodewise.policy.layer_kernels import layer

                h = layer(graph, h, weight, bias)
                continue
            h = h @ weight + bias
            if self.settings.architecture == "gcn":
                h = _Propagate.apply(h, graph)  # type: ignore[no-untyped-call]
            h = h.relu()
        return (h @ self.output.T).squeeze(-1)


class _Propagate(torch.autograd.Function):
    """Multiplication by Â, which is symmetric: the gradient is the same product."""

    @staticmethod
    def forward(ctx: Any, h: torch.Tensor, graph: GraphTensors) -> torch.Tensor:
        ctx.graph = graph
        return graph.norm.mm(h)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None]:
        return ctx.graph.norm.mm(grads[0].contiguous()), None


def _uniform(rows: int, columns: int, generator: torch.Generator) -> nn.Parameter:
    return nn.Parameter(torch.empty(rows, columns).uniform_(-1, 1, generator=generator) / math.sqrt(columns))
