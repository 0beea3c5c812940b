"""The policy: the state of every node that it reads (section 3.2), the small graph network that scores nodes from it
(3.3), and its use (algorithm 2).

State features and networks are found by name, so that others can be added; `Learned` is a trained policy as a strategy.
"""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import torch
from torch import nn

from nodewise.contracts import Capability, Observation, Strategy
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError, UnknownNameError, WrongTypeError
from nodewise.ground.events import Reporter
from nodewise.ground.plugins import CallsOthers, find_plugin

__all__ = [
    "OUTLOOK_STATE_FEATURES",
    "PAPER_STATE_FEATURES",
    "POLICY_NETWORKS",
    "STATE_FEATURES",
    "Learned",
    "Policy",
    "PolicySettings",
    "StateSettings",
    "import_state_features",
    "register_policy_network",
    "register_state_feature",
    "state",
]


PAPER_STATE_FEATURES = ("entropy", "degree", "kl_from_neighbours", "kl_to_neighbours", "labelled")
"""The paper's five, in the released policies' order."""

OUTLOOK_STATE_FEATURES = ("budget_used", "mean_degree", "class_share", "edge_agreement")
"""What the paper names as an outlook: time first, then what describes the whole graph and its labels."""


@dataclass(frozen=True)
class StateSettings:
    """Which features make the state, in order, and how they are scaled.

    Attributes:
        features: names from `STATE_FEATURES`.
        degree_alpha: the degree that counts as 1; larger ones are clipped.
        kl_scaling: ``"max"`` divides each divergence by its maximum over the run's graph (the released policies),
            ``"none"`` leaves it as it is (the paper).
    """

    features: tuple[str, ...] = PAPER_STATE_FEATURES
    degree_alpha: float = 20.0
    kl_scaling: Literal["max", "none"] = "max"

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", tuple(self.features))
        for name in self.features:
            if (
                name not in STATE_FEATURES
            ):  # or offered by an installed package; nothing else is imported, since policy files name features
                STATE_FEATURES[name] = find_plugin(
                    "state feature", str(name), STATE_FEATURES, STATE_GROUP, imports=False
                )
        if not self.features or len(set(self.features)) < len(self.features):
            raise InputError(f"state features must be at least one and each only once, got {self.features}")
        if not self.degree_alpha > 0 or self.kl_scaling not in ("max", "none"):
            raise InputError(
                f"degree_alpha must be above 0 and kl_scaling max or none, got {self.degree_alpha} and"
                f" {self.kl_scaling!r}"
            )

    def without(self, names: Iterable[str]) -> StateSettings:
        """The same settings with some features left out; a name that is not among them is refused."""
        dropped = set(names)
        if unknown := sorted(dropped.difference(self.features)):
            raise UnknownNameError("state feature", unknown[0], self.features)
        return StateSettings(tuple(f for f in self.features if f not in dropped), self.degree_alpha, self.kl_scaling)

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {**asdict(self), "features": list(self.features)}


def state(observation: Observation, settings: StateSettings) -> torch.Tensor:
    """The state of every node: [run, node, feature]."""
    shape = observation.pool.shape
    return torch.stack(
        [_column(name, STATE_FEATURES[name](observation, settings), shape) for name in settings.features], -1
    )


def _column(name: str, values: object, shape: torch.Size) -> torch.Tensor:
    """A feature's values as [run, node].

    Raises:
        InputError: they are no tensor, or do not broadcast to that.
    """
    if not isinstance(values, torch.Tensor):
        raise WrongTypeError(
            f"the state feature {name!r} gave {type(values).__name__}, not a tensor [run, node], here {list(shape)}"
        )
    try:
        return values.expand(shape)
    except RuntimeError:
        raise InputError(
            f"the state feature {name!r} gave the shape {list(values.shape)}, not [run, node], here {list(shape)}"
        ) from None


StateFeature = Callable[[Observation, StateSettings], torch.Tensor]

STATE_GROUP = "nodewise.state_features"
"""The group of entry points under which installed packages offer state features."""

STATE_FEATURES: dict[str, StateFeature] = {}
"""Every feature by name: a function of the observation and the settings that gives [run, node] (or what broadcasts to
it).
"""


def register_state_feature(name: str) -> Callable[[StateFeature], StateFeature]:
    """Add a feature under a name; policies that use it carry the name in their file.

    Where a GPU records a step, the feature must read `Observation.step`, a tensor, and not `Observation.step_number`,
    which raises an error then.

    Raises:
        InputError: from the decorator, if what it is given cannot be called with an observation and settings.
    """

    def add(function: StateFeature) -> StateFeature:
        if not callable(function) or not _takes_two(function):
            raise InputError(
                f"the state feature {name!r} is {function!r}: give a function of two arguments, observation and"
                " settings, that returns a tensor [run, node] or one that broadcasts to it"
            )
        STATE_FEATURES[name] = function
        return function

    return add


def _takes_two(function: Callable[..., Any]) -> bool:
    """Whether it can be called with two arguments; what does not say is believed."""
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def import_state_features(names: Sequence[str]) -> tuple[str, ...]:
    """Names of state features, those given as ``package.module:function`` imported and registered.

    A function that its module registers keeps the name that it has there, another is registered under the whole text,
    which the policy's file then carries.

    Raises:
        InputError: it could not be imported, or is no function.
    """
    known = []
    for name in names:
        if ":" in name and name not in STATE_FEATURES:
            function = find_plugin("state feature", name, STATE_FEATURES, STATE_GROUP)
            name = next((own for own, other in STATE_FEATURES.items() if other is function), name)
            register_state_feature(name)(function)
        known.append(name)
    return tuple(known)


@register_state_feature("entropy")
def _entropy(observation: Observation, settings: StateSettings) -> torch.Tensor:
    """s(v) = −Σ_c p_c(v) log p_c(v) / log C, the entropy of the prediction p(v) over C classes, between 0 and 1
    (section 3.2, uncertainty).
    """
    # with a single class there is nothing to be unsure of: log 1 = 0 would divide by zero
    return observation.negative_entropy / -math.log(max(observation.num_classes, 2))


@register_state_feature("degree")
def _degree(observation: Observation, settings: StateSettings) -> torch.Tensor:
    """s(v) = min(|N(v)| / α, 1), with N(v) the neighbours of v and α = 20 (section 3.2, centrality)."""
    return (observation.graph.degree / settings.degree_alpha).clamp_max(1)


@register_state_feature("kl_from_neighbours")
def _kl_from_neighbours(observation: Observation, settings: StateSettings) -> torch.Tensor:
    """s(v) = 1/|N(v)| Σ_{u ∈ N(v)} KL(p(u) ‖ p(v)).

    How the neighbours' predictions differ from the node's (section 3.2, divergence).
    """
    return _scaled(observation.divergences[1], settings)


@register_state_feature("kl_to_neighbours")
def _kl_to_neighbours(observation: Observation, settings: StateSettings) -> torch.Tensor:
    """s(v) = 1/|N(v)| Σ_{u ∈ N(v)} KL(p(v) ‖ p(u)).

    How the node's prediction differs from its neighbours' (section 3.2, divergence).
    """
    return _scaled(observation.divergences[0], settings)


@register_state_feature("labelled")
def _labelled(observation: Observation, settings: StateSettings) -> torch.Tensor:
    """s(v) = 1 if v has been labelled, else 0 (section 3.2, the indicator)."""
    return observation.labelled.to(observation.graph.dtype)


@register_state_feature("budget_used")
def _budget_used(observation: Observation, settings: StateSettings) -> torch.Tensor:
    """s = t / B, the share of the budget that is used; the same for all nodes (the paper's outlook: time)."""
    return observation.step.to(observation.graph.dtype) / max(1, observation.budget)


@register_state_feature("mean_degree")
def _mean_degree(observation: Observation, settings: StateSettings) -> torch.Tensor:
    """s = min(mean over nodes of |N(v)| / α, 1); the same for all nodes (the paper's outlook: the graph)."""
    return (observation.graph.degree.mean() / settings.degree_alpha).clamp_max(1)


@register_state_feature("class_share")
def _class_share(observation: Observation, settings: StateSettings) -> torch.Tensor:
    """s(v) = the share of all labels so far that are of the class predicted for v; 0 before the first label.

    The labelled share of each class, given to the nodes that it is about, so that it fits any number of classes.
    """
    answered, classes = observation.queried, observation.num_classes
    counted = answered.mask.to(observation.graph.dtype)
    shares = counted.new_zeros(counted.shape[0], classes).scatter_add_(1, answered.labels, counted)
    shares = shares / counted.sum(1, keepdim=True).clamp_min(1)
    return shares.gather(1, observation.probabilities.argmax(-1))


@register_state_feature("edge_agreement")
def _edge_agreement(observation: Observation, settings: StateSettings) -> torch.Tensor:
    """s = the share of edges whose ends are predicted alike; the same for all nodes of a run, 0 without edges."""
    if "edge ends" not in observation.memory:  # where a recorded step finds them as long as it is replayed
        observation.memory["edge ends"] = observation.graph.prepared_by(_EdgeEndsOf())
    ends: _EdgeEnds = observation.memory["edge ends"]
    predicted = observation.probabilities.argmax(-1)
    if not len(ends.first):
        return torch.zeros_like(observation.noise)
    alike = predicted[:, ends.first] == predicted[:, ends.second]
    return alike.to(observation.graph.dtype).mean(1, keepdim=True)


class _EdgeEnds(NamedTuple):
    """The two ends of every edge, each edge once: int64 [edge] each."""

    first: torch.Tensor
    second: torch.Tensor


@dataclass(frozen=True)
class _EdgeEndsOf:
    """How they are found: there is nothing to set."""

    def identity(self) -> Mapping[str, Any]:
        return {}

    def prepare(self, graph: GraphTensors, reporter: Reporter | None = None) -> _EdgeEnds:
        crow, second = graph.adjacency.crow.long(), graph.adjacency.col.long()
        first = torch.repeat_interleave(torch.arange(graph.num_nodes, device=crow.device), crow.diff())
        once = first < second
        return _EdgeEnds(first[once], second[once])


def _scaled(divergence: torch.Tensor, settings: StateSettings) -> torch.Tensor:
    """The divergence as it is (the paper), or divided by its maximum over the run's nodes (the released policies)."""
    if settings.kl_scaling == "none":
        return divergence
    # where all predictions are alike, what is left is rounding, positive or negative, and must not be blown up
    return divergence / divergence.amax(1, keepdim=True).clamp_min(1e-6)


@dataclass(frozen=True)
class PolicySettings:
    """The policy's shape and what it reads.

    Attributes:
        architecture: ``"gcn"`` or, for the ablation, ``"mlp"``, which does not look at neighbours; or one that was
            registered.
        hidden: width of the hidden layers.
        layers: how many hidden layers.
        state: the features that it reads.
    """

    architecture: str = "gcn"
    hidden: int = 8
    layers: int = 2
    state: StateSettings = field(default_factory=StateSettings)

    def __post_init__(self) -> None:
        name = self.architecture
        if (
            name not in POLICY_NETWORKS
        ):  # or offered by an installed package; nothing else is imported, since policy files name it
            POLICY_NETWORKS[name] = find_plugin(
                "policy architecture", str(name), POLICY_NETWORKS, NETWORK_GROUP, imports=False
            )
        if self.hidden < 1 or self.layers < 1:
            raise InputError(
                f"a policy needs at least one hidden layer of at least one unit, got {self.layers} of {self.hidden}"
            )

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {**asdict(self), "state": self.state.as_dict()}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> PolicySettings:
        """The inverse of `as_dict`."""
        return cls(**{**record, "state": StateSettings(**record["state"])})


class Policy(nn.Module):
    """Scores nodes: h ← relu(Â (h W + b)) for each hidden layer (the MLP without Â), then a linear layer without bias.

    The bias is added before the propagation, as in the released policies. No parameter depends on the graph's size, so
    the policy works on any graph. Weights start uniform in ±1/√columns, biases at 0.

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
        self.network = network and network(
            len(self.settings.state.features), self.settings.hidden, self.settings.layers, generator
        )
        if self.network is not None:
            return
        widths = [len(self.settings.state.features)] + [self.settings.hidden] * self.settings.layers
        self.weights = nn.ParameterList(_uniform(a, b, generator) for a, b in pairwise(widths))
        self.biases = nn.ParameterList(nn.Parameter(torch.zeros(b)) for b in widths[1:])
        self.output = _uniform(1, widths[-1], generator)

    def forward(self, graph: GraphTensors, states: torch.Tensor) -> torch.Tensor:
        """Scores of every node: [run, node, feature] to [run, node].

        The softmax over the pool gives the probabilities.
        """
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
        """The name and settings of the classifier that it is played with unless another one is asked for.

        That is the one it was trained with, or what ``played_with`` of its origin names; files that say nothing mean
        the paper's GCN.
        """
        training = self.origin.get("training")
        record = self.origin.get("played_with") or (training.get("classifier") if isinstance(training, dict) else None)
        if not isinstance(record, dict) or "name" not in record:
            return "gcn", {}
        return str(record["name"]), dict(record.get("settings") or {})

    def digest(self) -> str:
        """A short name for the weights and settings."""
        digest = hashlib.blake2b(repr(sorted(self.settings.as_dict().items())).encode(), digest_size=8)
        for name, tensor in sorted(self.state_dict().items()):
            digest.update(name.encode())
            digest.update(tensor.detach().cpu().float().numpy().tobytes())
        return digest.hexdigest()


PolicyNetwork = Callable[[int, int, int, torch.Generator], nn.Module]

NETWORK_GROUP = "nodewise.policy_networks"
"""The group of entry points under which installed packages offer policy networks."""

POLICY_NETWORKS: dict[str, PolicyNetwork | None] = {"gcn": None, "mlp": None}
"""Every architecture by name; the paper's two are `Policy` itself."""


def register_policy_network(name: str) -> Callable[[PolicyNetwork], PolicyNetwork]:
    """Add an architecture under a name; policies that use it carry the name in their file.

    What is registered takes the number of state features, the width and number of hidden layers and a generator for its
    weights, and gives a module that maps the graph's tensors and states [run, node, feature] to scores [run, node].
    """

    def add(network: PolicyNetwork) -> PolicyNetwork:
        POLICY_NETWORKS[name] = network
        return network

    return add


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


class Learned(Strategy, CallsOthers):
    """The learned policy as a strategy (algorithm 2).

    Zero-shot, the node to which it gives the largest probability first; nothing is sampled or tuned.
    """

    name = "policy"
    version = 2
    recordable = True
    stateless = True
    capabilities = frozenset[Capability]({"own-classifier"})

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        # whether its choices depend on how many queries there will be: the paper's five state features do not
        self.reads_budget = not set(policy.settings.state.features) <= set(PAPER_STATE_FEATURES)

    def identity(self) -> dict[str, Any]:
        """A digest of the policy's weights and settings."""
        return {"policy": self.policy.digest()}

    @property
    def code(self) -> list[Any]:  # type: ignore[override]
        """The state features and the network of somebody's own that it calls.

        A corrected one gives other choices from the same weights.
        """
        settings = self.policy.settings
        used = [STATE_FEATURES[name] for name in settings.state.features] + [POLICY_NETWORKS[settings.architecture]]
        return [part for part in used if part is not None and part.__module__ != __name__]

    def own_classifier(self) -> tuple[str, Mapping[str, Any]]:
        """The one that the policy was trained with."""
        return self.policy.classifier

    def begin(self, observation: Observation) -> None:
        """Bring the policy to the graph's device and precision."""
        self.policy.to(observation.graph.device, observation.graph.dtype)

    def scores(self, observation: Observation) -> torch.Tensor:
        """The policy's scores; their softmax, which keeps the order, is not needed."""
        scores: torch.Tensor = self.policy(observation.graph, state(observation, self.policy.settings.state))
        return scores
