"""The policy of section 3.3: a small graph network that scores every node from its state."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any

import torch
from torch import nn

from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError
from nodewise.ground.plugins import find_plugin
from nodewise.policy.state import StateSettings

__all__ = ["POLICY_NETWORKS", "Policy", "PolicySettings", "register_policy_network"]


PolicyNetwork = Callable[[int, int, int, torch.Generator], nn.Module]
GROUP = "nodewise.policy_networks"
"""The group of entry points under which installed packages offer policy networks."""

POLICY_NETWORKS: dict[str, PolicyNetwork | None] = {"gcn": None, "mlp": None}
"""Every architecture by name; the paper's two are `Policy` itself."""


def register_policy_network(name: str) -> Callable[[PolicyNetwork], PolicyNetwork]:
    """Add an architecture under a name; policies that use it carry the name in their file.

    What is registered takes the number of state features, the width and number of hidden layers and a generator for its weights, and gives a module that maps
    the graph's tensors and states [run, node, feature] to scores [run, node].
    """

    def add(network: PolicyNetwork) -> PolicyNetwork:
        POLICY_NETWORKS[name] = network
        return network

    return add


@dataclass(frozen=True)
class PolicySettings:
    """The policy's shape and what it reads.

    Attributes:
        architecture: ``"gcn"`` or, for the ablation, ``"mlp"``, which does not look at neighbours; or one that was registered.
        hidden: width of the hidden layers.
        layers: how many hidden layers.
        state: the features that it reads.
    """

    architecture: str = "gcn"
    hidden: int = 8
    layers: int = 2
    state: StateSettings = field(default_factory=StateSettings)

    def __post_init__(self) -> None:
        if (
            self.architecture not in POLICY_NETWORKS
        ):  # or offered by an installed package; nothing else is imported, since policy files name it
            POLICY_NETWORKS[self.architecture] = find_plugin(
                "policy architecture", str(self.architecture), POLICY_NETWORKS, GROUP, imports=False
            )
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

    Example:
        >>> import nodewise as nw
        >>> policy = nw.load_policy("cora+citeseer")
        >>> [source["name"] for source in policy.origin["source_graphs"]]
        ['cora', 'citeseer']

    Attributes:
        settings: shape and state features.
        origin: where the weights come from; empty for a fresh policy.
    """

    def __init__(self, settings: PolicySettings | None = None, seed: int = 0) -> None:
        super().__init__()
        self.settings = settings or PolicySettings()
        self.origin: dict[str, Any] = {}
        generator = torch.Generator().manual_seed(seed)
        network = POLICY_NETWORKS[self.settings.architecture]
        self.network = network and network(len(self.settings.state.features), self.settings.hidden, self.settings.layers, generator)
        if self.network is not None:
            return
        widths = [len(self.settings.state.features)] + [self.settings.hidden] * self.settings.layers
        self.weights = nn.ParameterList(_uniform(a, b, generator) for a, b in pairwise(widths))
        self.biases = nn.ParameterList(nn.Parameter(torch.zeros(b)) for b in widths[1:])
        self.output = _uniform(1, widths[-1], generator)

    def forward(self, graph: GraphTensors, states: torch.Tensor) -> torch.Tensor:
        """Scores of every node: [run, node, feature] to [run, node]; the softmax over the pool gives the probabilities."""
        if self.network is not None:
            return self.network(graph, states)  # type: ignore[no-any-return]
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

    @property
    def classifier(self) -> tuple[str, dict[str, Any]]:
        """The name and settings of the classifier that it was trained with; files that say nothing mean the paper's GCN."""
        record = self.origin.get("training", {}).get("classifier", {})
        if "name" not in record:
            return "gcn", {}
        return str(record["name"]), dict(record.get("settings", {}))

    def digest(self) -> str:
        """A short name for the weights and settings."""
        digest = hashlib.blake2b(repr(sorted(self.settings.as_dict().items())).encode(), digest_size=8)
        for name, tensor in sorted(self.state_dict().items()):
            digest.update(name.encode())
            digest.update(tensor.detach().cpu().float().numpy().tobytes())
        return digest.hexdigest()


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
