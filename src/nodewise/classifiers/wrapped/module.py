"""A network of PyTorch or PyTorch Geometric as a classifier, trained anew from all labels or on from label to label."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import torch
from torch.nn import Module

from nodewise.classifiers.wrapped.labels import LabelKeeper, library_version, plain, qualified
from nodewise.contracts import Capability, Classifier, Learner
from nodewise.graph import Graph
from nodewise.graph.features import gcn_features
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import derive_seed
from nodewise.ground.errors import InputError
from nodewise.ground.events import Progress, Reporter, count
from nodewise.ground.plugins import CallsOthers

__all__ = ["TorchClassifier"]

_USUAL = {"hidden_channels": 64, "num_layers": 2}
"""What a network gets that must be told these and was not: as the paper's GCN has them."""


@dataclass(frozen=True)
class TorchClassifier(Classifier, CallsOthers):
    """Any network that gives a row of scores for each node, trained with Adam on the labelled nodes' cross-entropy.

    Example:
        >>> import nodewise as nw
        >>> from torch_geometric.nn import GCN
        >>> from nodewise.classifiers import TorchClassifier
        >>> network = TorchClassifier(GCN, epochs=20)  # or partial(GCN, hidden_channels=16, num_layers=3)
        >>> nw.evaluate("wine", "random", classifier=network, budget=9, runs=2).classifier
        'GCN'

    Attributes:
        module: what makes the network: a class or function that is called with ``in_channels=…`` and
            ``out_channels=…`` where it knows these names, as PyTorch Geometric's do, else with the number of features
            and of classes; one that must be told ``hidden_channels`` and ``num_layers`` gets 64 and 2. Or a network,
            which then has as many outputs as there are classes: copies of it learn, their weights drawn anew. It is
            called with the features, and with ``edge_index`` where it takes two arguments.
        epochs: of training. Trained anew: from the first weights, whenever somebody looks after a label came.
            Trained on: after the last label; each label before that brings one epoch.
        anew: whether it is trained anew, so that predictions follow from the labels alone, or on.
        learning_rate, weight_decay: Adam's.
        name: what it is called; by default the network's class, or the function's name ("network" of a lambda).
    """

    version = 1

    module: Callable[..., Module] | Module
    epochs: int = 200
    anew: bool = True
    learning_rate: float = 0.01
    weight_decay: float = 5e-4
    name: str = ""

    def __post_init__(self) -> None:
        if not callable(self.module):
            raise InputError(
                f"{self.module!r} is no network: give one, or a class or function that makes one of the numbers of"
                " features and classes"
            )
        if isinstance(self.epochs, bool) or not isinstance(self.epochs, int):
            raise InputError(f"epochs must be a whole number, received {self.epochs!r}")
        if self.epochs < 1 or not self.learning_rate > 0 or self.weight_decay < 0:
            raise InputError(
                f"a network is trained for at least one epoch with a rate above 0, got epochs={self.epochs},"
                f" learning_rate={self.learning_rate} and weight_decay={self.weight_decay}"
            )
        if isinstance(self.module, Module):
            _redraw(self.module, draw=False)
        else:
            _call(self.module, 1, 1)  # what it lacks is told here, not in the middle of a comparison
        kind = self._kind
        grows = self.anew and not isinstance(self.module, Module)
        object.__setattr__(self, "name", self.name or (kind.__name__ if kind.__name__.isidentifier() else "network"))
        object.__setattr__(self, "trained", not self.anew)
        object.__setattr__(self, "capabilities", frozenset[Capability]({"grow-classes"} if grows else set()))
        library = library_version(kind)
        if library is None:
            object.__setattr__(self, "code", (kind,))
        else:
            object.__setattr__(self, "version", f"{type(self).version}, {library}")

    @property
    def _kind(self) -> Any:
        """The class or function that says what the network is."""
        made: Any = self.module
        while isinstance(made, partial):
            made = made.func
        return type(made) if isinstance(made, Module) else made

    def identity(self) -> Mapping[str, Any]:
        """The network by its class and what it is made with, or as it shows itself; and how it is trained."""
        given = self.module
        module = [qualified(type(given)), repr(given)] if isinstance(given, Module) else plain(given)
        rest = ("epochs", "anew", "learning_rate", "weight_decay")
        return {"module": module, **{key: getattr(self, key) for key in rest}}

    def default_features(self, graph: Graph) -> str:
        """As the classifier gcn has them."""
        return gcn_features(graph)

    def prepare(self, graph: GraphTensors, reporter: Reporter | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """The features as a dense matrix, and the edges in both directions."""
        return graph.x, graph.edge_index

    def start(
        self,
        graph: GraphTensors,
        prepared: tuple[torch.Tensor, torch.Tensor],
        runs: int,
        classes: int,
        budget: int,
    ) -> Learner:
        """Runs with weights of their own."""
        if not self.anew:
            return _TrainedOn(self, *prepared, runs, classes)
        kind = _TrainedAnew if isinstance(self.module, Module) else _GrowingTrainedAnew
        return kind(self, *prepared, runs, classes)

    def network(self, features: int, classes: int, seed: int, x: torch.Tensor) -> Module:
        """A network with first weights that follow from the seed, where the features are."""
        with _draws(seed, x.device):
            if isinstance(self.module, Module):
                made: Module = deepcopy(self.module)
                _redraw(made)
            else:
                arguments = _call(self.module, features, classes)
                made = self.module(*arguments.args, **arguments.kwargs)
            if not isinstance(made, Module):
                raise InputError(
                    f"{self.name} made a {type(made).__name__}, which is no network: give what makes a torch.nn.Module"
                )
            return made.to(x.device, x.dtype)


def _call(module: Callable[..., Module], features: int, classes: int) -> inspect.BoundArguments:
    """What a class or function that makes networks is called with.

    Raises:
        InputError: it needs more than is known.
    """
    try:
        signature = inspect.signature(module)
    except ValueError:  # some that are written in C do not tell theirs
        signature = inspect.signature(lambda features, classes: None)
    known = signature.parameters
    if not {"in_channels", "out_channels"} <= set(known):
        positional: tuple[int, ...] = (features, classes)
        named: dict[str, int] = {}
    else:
        positional, named = (), {"in_channels": features, "out_channels": classes}
        named |= {
            name: _USUAL[name] for name in _USUAL if name in known and known[name].default is inspect.Parameter.empty
        }
    try:
        return signature.bind(*positional, **named)
    except TypeError as error:
        raise InputError(
            f"{getattr(module, '__name__', 'what makes the network')} cannot be called with the numbers of features and"
            f" classes alone ({error}): give the rest, as in functools.partial(…, name=value)"
        ) from None


class _Settings(NamedTuple):
    """What networks of one kind need to learn on one graph."""

    classifier: TorchClassifier
    x: torch.Tensor
    edges: torch.Tensor
    classes: int

    def inputs(self, network: Module) -> tuple[torch.Tensor, ...]:
        """What a network is called with."""
        taken = list(inspect.signature(network.forward).parameters.values())
        several = any(one.kind is inspect.Parameter.VAR_POSITIONAL for one in taken)
        return (
            (self.x, self.edges)
            if several or "edge_index" in [one.name for one in taken] or len(taken) > 1
            else (self.x,)
        )

    def made(self, seed: int) -> Module:
        """A network before its first epoch; one with lazy weights has them."""
        network = self.classifier.network(self.x.shape[1], self.classes, seed, self.x)
        with torch.no_grad(), _draws(seed, self.x.device):
            network.eval()
            try:
                output = network(*self.inputs(network))
            except RuntimeError as error:
                if "memory" in str(error):
                    raise
                raise InputError(
                    f"the network {self.classifier.name!r} cannot take this graph's {count(self.x.shape[1], 'feature')}"
                    f" ({error}): give it as many inputs, or what makes it of that number"
                ) from error
        wanted = (len(self.x), self.classes)
        if not isinstance(output, torch.Tensor) or tuple(output.shape) != wanted:
            got = list(output.shape) if isinstance(output, torch.Tensor) else type(output).__name__
            raise InputError(
                f"the network {self.classifier.name!r} gives {got} on this graph, not scores [node, class] of shape"
                f" {list(wanted)}: give it as many outputs as there are classes, or what makes it, such as"
                " partial(GCN, hidden_channels=16, num_layers=2)"
            )
        return network

    def adam(self, parameters: Sequence[torch.Tensor]) -> torch.optim.Adam:
        """The optimizer."""
        rates = self.classifier
        return torch.optim.Adam(parameters, lr=rates.learning_rate, weight_decay=rates.weight_decay)


class _Networks(Protocol):
    """The networks of all runs."""

    def epoch(self, seed: int, nodes: torch.Tensor, labels: torch.Tensor) -> None:
        """One epoch of each on its labels, int64 [run, label] each."""

    def output(self) -> torch.Tensor:
        """What they give, nothing left out at random: [run, node, class]."""

    def state(self) -> Any:
        """All that an epoch changes, a copy."""

    def load(self, state: Any) -> None:
        """Go on from a state."""


class _OneByOne:
    """The networks of all runs, one after another: any network will do."""

    def __init__(self, settings: _Settings, networks: Sequence[Module]) -> None:
        self._networks, self._inputs = networks, settings.inputs(networks[0])
        self._adams = [settings.adam(list(network.parameters())) for network in networks]

    def epoch(self, seed: int, nodes: torch.Tensor, labels: torch.Tensor) -> None:
        for run, (network, adam) in enumerate(zip(self._networks, self._adams, strict=True)):
            network.train()
            with _draws(derive_seed(seed, "run", run), nodes.device):
                adam.zero_grad()
                loss = torch.nn.functional.cross_entropy(network(*self._inputs)[nodes[run]], labels[run])
                loss.backward()
                adam.step()

    def output(self) -> torch.Tensor:
        with torch.no_grad():
            return torch.stack([network.eval()(*self._inputs) for network in self._networks])

    def state(self) -> Any:
        return deepcopy([(n.state_dict(), a.state_dict()) for n, a in zip(self._networks, self._adams, strict=True)])

    def load(self, state: Any) -> None:
        for network, adam, kept in zip(self._networks, self._adams, deepcopy(state), strict=True):
            network.load_state_dict(kept[0])
            adam.load_state_dict(kept[1])


class _Together:
    """The networks of all runs in one pass, their weights stacked: `torch.func` carries the network over them."""

    def __init__(self, settings: _Settings, networks: Sequence[Module]) -> None:
        stacked = torch.func.stack_module_state(list(networks))[0]
        self._weights = {name: weight.detach().requires_grad_() for name, weight in stacked.items()}
        self._network, self._inputs = networks[0], settings.inputs(networks[0])
        self._adam = settings.adam(list(self._weights.values()))

    @classmethod
    def works(cls, settings: _Settings, networks: Sequence[Module]) -> bool:
        """Whether an epoch passes, and gives each run what it has alone: tried on networks that are thrown away.

        Not with buffers, such as a batch norm's means, which a pass changes.
        """
        if len(networks) < 2 or any(True for _ in networks[0].buffers()):
            return False
        alone = _OneByOne(settings, networks).output()
        nodes = torch.zeros(len(networks), 1, dtype=torch.int64, device=settings.x.device)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # torch warns where it would go through the runs one by one
            try:
                tried = cls(settings, [deepcopy(network) for network in networks])
                same = torch.allclose(tried.output(), alone, rtol=1e-3, atol=1e-4)
                tried.epoch(0, nodes, nodes)
            except Exception:  # whatever a network does that cannot be carried over runs
                return False
        return same

    def epoch(self, seed: int, nodes: torch.Tensor, labels: torch.Tensor) -> None:
        self._network.train()
        with _draws(seed, nodes.device):
            self._adam.zero_grad()
            scores = self._pass()
            of_labels = scores.gather(1, nodes[..., None].expand(-1, -1, scores.shape[-1]))
            # the sum over runs of the mean over labels: no run's gradient depends on another
            loss = torch.nn.functional.cross_entropy(of_labels.flatten(0, 1), labels.flatten(), reduction="sum")
            (loss / nodes.shape[1]).backward()
            self._adam.step()

    def output(self) -> torch.Tensor:
        self._network.eval()
        with torch.no_grad():
            return self._pass()

    def _pass(self) -> torch.Tensor:
        def one(weights: dict[str, torch.Tensor]) -> torch.Tensor:
            scores: torch.Tensor = torch.func.functional_call(self._network, weights, self._inputs)
            return scores

        scores: torch.Tensor = torch.vmap(one, randomness="different")(self._weights)
        return scores

    def state(self) -> Any:
        return deepcopy(({name: weight.detach() for name, weight in self._weights.items()}, self._adam.state_dict()))

    def load(self, state: Any) -> None:
        weights, adam = deepcopy(state)
        with torch.no_grad():
            for name, weight in weights.items():
                self._weights[name].copy_(weight)
        self._adam.load_state_dict(adam)


def _started(settings: _Settings, seed: int, runs: int, together: bool | None) -> tuple[_Networks, bool]:
    """Networks with their first weights, and whether all runs learn in one pass.

    Args:
        together: what was found before; None: find out.
    """
    networks = [settings.made(derive_seed(seed, "weights", run)) for run in range(runs)]
    if together is None:
        together = _Together.works(settings, networks)
    return (_Together if together else _OneByOne)(settings, networks), together


class _TrainedAnew(LabelKeeper):
    """Runs whose networks are trained from their first weights whenever somebody looks."""

    def __init__(
        self, classifier: TorchClassifier, x: torch.Tensor, edges: torch.Tensor, runs: int, classes: int
    ) -> None:
        self._classifier, self._x, self._edges = classifier, x, edges
        self._together: bool | None = None
        super().__init__(runs, len(x), classes, x.dtype, x.device)

    def compute(self) -> torch.Tensor:
        """Train to the end."""
        settings = _Settings(self._classifier, self._x, self._edges, self.num_classes)
        networks, self._together = _started(settings, self.seed, self.runs, self._together)
        for epoch in range(self._classifier.epochs):
            networks.epoch(derive_seed(self.seed, "epoch", epoch), self.nodes, self.labels)
        return networks.output()


class _GrowingTrainedAnew(_TrainedAnew):
    """The same with a network that is made for the classes there are."""

    def add_classes(self, names: Sequence[str]) -> None:
        """More classes; the network is made anew."""
        self.widen(names)


class _TrainedOn(Learner):
    """Runs whose networks go on from label to label, one epoch each, and train to the end at the end."""

    def __init__(
        self, classifier: TorchClassifier, x: torch.Tensor, edges: torch.Tensor, runs: int, classes: int
    ) -> None:
        self.num_classes, self._runs = max(1, classes), runs
        self._settings = _Settings(classifier, x, edges, self.num_classes)
        self._together: bool | None = None
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget all labels; new weights."""
        self._seed, self._epochs = seed, 0
        self._nodes, self._labels = torch.zeros(2, self._runs, 0, dtype=torch.int64, device=self._settings.x.device)
        self._networks, self._together = _started(self._settings, seed, self._runs, self._together)

    def add(self, nodes: torch.Tensor, labels: torch.Tensor) -> None:
        """More labels: int64 [run, k] each."""
        self._nodes, self._labels = torch.cat([self._nodes, nodes], 1), torch.cat([self._labels, labels], 1)

    def fit(self) -> None:
        """One epoch on the labels so far."""
        if self._nodes.shape[1]:
            self._networks.epoch(derive_seed(self._seed, "epoch", self._epochs), self._nodes, self._labels)
            self._epochs += 1

    def finish(self, reporter: Reporter | None = None) -> None:
        """The closing epochs."""
        for done in range(1, self._settings.classifier.epochs + 1):
            self.fit()
            if reporter is not None:
                reporter(Progress("predict", done, self._settings.classifier.epochs))

    def logits(self) -> torch.Tensor:
        """What the networks give now: [run, node, class]."""
        return self._networks.output()

    def snapshot(self) -> Any:
        """Weights, what Adam keeps of them, labels and how many epochs there were."""
        return self._networks.state(), self._nodes, self._labels, self._epochs

    def restore(self, snapshot: Any) -> None:
        """Go on from there."""
        state, self._nodes, self._labels, self._epochs = snapshot
        self._networks.load(state)


@contextmanager
def _draws(seed: int, device: torch.device) -> Iterator[None]:
    """Networks draw weights and dropout from torch's global state: here it follows from the seed, and is given back."""
    devices = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.set_rng_state(torch.Generator().manual_seed(seed).get_state())
        for each in devices:
            torch.cuda.set_rng_state(torch.Generator(each).manual_seed(seed).get_state(), each)
        yield


def _redraw(module: Module, draw: bool = True) -> None:
    """Draw all weights of a network anew, by the reset_parameters of its layers.

    Args:
        draw: whether to do so, or only to look whether it can be done.

    Raises:
        InputError: a layer has weights of its own and no reset_parameters.
    """
    reset = getattr(module, "reset_parameters", None)
    if callable(reset):
        if draw:
            reset()
        return
    own = [name for name, _ in module.named_parameters(recurse=False)]
    if own:
        raise InputError(
            f"{type(module).__name__} has weights ({', '.join(own)}) and no reset_parameters() that draws them anew for"
            " each run: write one, or give what makes the network in place of the network"
        )
    for child in module.children():
        _redraw(child, draw)
