"""All that a plug-in must know: Classifier, Learner, Strategy and what they see, Observation.

Whoever fulfils one of these contracts is a citizen of the house: an object of one's own works wherever a name does. The
classes here can be inherited from, which brings a plain answer for everything that has one; or fulfilled without, by
having the same names. `nodewise.testing.check_classifier` and `check_strategy` tell whether a contract is kept.

Shapes are told in the words run, node, class, step: everything works on a batch of independent runs over one graph.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from nodewise.ground.errors import InputError

if TYPE_CHECKING:
    import torch

    from nodewise.graph import Graph
    from nodewise.graph.tensors import GraphTensors
    from nodewise.ground.events import Reporter

__all__ = ["Classifier", "Learner", "Observation", "Queried", "Strategy"]


def _settings(thing: object) -> dict[str, Any]:
    """A dataclass's fields by name.

    Of any other object what its constructor was given, which it keeps under the same name, or that and an underscore.

    Raises:
        InputError: it keeps one of these nowhere, so that nothing tells it from one that was given another.
    """
    if is_dataclass(thing):
        return {field.name: getattr(thing, field.name) for field in fields(thing)}
    maker = next(
        (
            kind.__dict__["__init__"]
            for kind in type(thing).__mro__
            if "__init__" in kind.__dict__ and kind.__module__ != "typing"
        ),
        None,
    )
    if maker is None or maker in (object.__init__, Classifier.__init__, Strategy.__init__):
        return {}
    settings: dict[str, Any] = {}
    for name, parameter in list(inspect.signature(maker).parameters.items())[1:]:
        if parameter.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD):
            continue
        kept = next((each for each in (name, f"_{name}") if hasattr(thing, each)), None)
        if kept is None:
            raise InputError(
                f"{type(thing).__name__} is made with {name!r} but keeps no attribute of that name, so results with one"
                f" value could be taken for those with another: write self.{name} = {name}, make it a dataclass, or"
                " give it a method identity()"
            )
        settings[name] = getattr(thing, kept)
    return settings


@runtime_checkable
class Classifier(Protocol):
    """What learns from labels. It is frozen, can be pickled and knows no graph: its settings, and how to start.

    Example:
        >>> import nodewise as nw
        >>> from nodewise.classifiers import Gcn
        >>> isinstance(Gcn(), nw.Classifier), nw.evaluate("wine", "random", classifier=Gcn(), budget=5,
        ...     runs=2).classifier
        (True, 'gcn')

    Attributes:
        name: what it is called on the command line and in results.
        trained: whether it learns by epochs, so that a session's closing epochs take time; otherwise it follows from
            the labels alone.

    It may have a method ``foresee(graph, reporter)``, which tells before a session is made what this graph will take.
    """

    name: str
    trained: bool = True

    def identity(self) -> Mapping[str, Any]:
        """The settings that results depend on, as JSON can hold them.

        By default a dataclass's fields, else what the constructor took.
        """
        return _settings(self)

    def default_features(self, graph: Graph) -> str:
        """The preprocessing that suits it, where nobody asks for another: by default the features as they are."""
        return "raw"

    def bytes_per_run(self, graph: GraphTensors, budget: int) -> int:
        """Memory that each run of a learner takes.

        It tells how many runs make a chunk, so it must follow from its arguments alone.
        """
        return 16 * graph.num_nodes * max(64, graph.num_features)

    def prepare(self, graph: GraphTensors, reporter: Reporter | None = None) -> Any:
        """What is made once for a graph, whatever the labels.

        It is kept with the graph's tensors and given to every `start`.
        """
        return None

    def start(self, graph: GraphTensors, prepared: Any, runs: int, classes: int, budget: int) -> Learner:
        """Learners of so many runs over a graph, for so many classes (0 where none is known yet) and room for so many
        labels.

        `Learner.reset` is called before anything else.
        """
        ...


@runtime_checkable
class Learner(Protocol):
    """Runs of a classifier over one graph, which learn together but independently of each other.

    Attributes:
        num_classes: how many classes there are now; at least 1, so that there is something to predict.
        recordable: whether on a GPU every step does the same device work, so that it may be recorded once and replayed:
            `add` and `fit` keep their tensors' storage and ask the host for nothing.
    """

    num_classes: int
    recordable: bool = False

    def reset(self, seed: int) -> None:
        """Forget all labels, and the classes that came by `add_classes`.

        Everything random from here on follows from the seed.
        """
        ...

    def add(self, nodes: torch.Tensor, labels: torch.Tensor) -> None:
        """Take in labels: int64 [run, k] each, the same number for every run."""
        ...

    def fit(self) -> None:
        """Learn from the labels so far: one epoch where it is trained; called once after every `add` of an episode."""
        ...

    def finish(self, reporter: Reporter | None = None) -> None:
        """Train to the end, where it is trained; predictions after this are the final ones.

        By default there is nothing to do.
        """
        return

    def logits(self) -> torch.Tensor:
        """Scores whose softmax is the prediction, [run, node, class]; who has probabilities gives their logarithms."""
        ...

    def embedding(self) -> torch.Tensor:
        """What it makes of the nodes before it decides, [run, node, width]: by default the logits."""
        return self.logits()

    def leave_one_out(self) -> torch.Tensor | None:
        """The prediction for each label from all the others, probabilities [run, label, class].

        None where that has no closed form.
        """
        return None

    def add_classes(self, names: Sequence[str]) -> None:
        """Take in new classes, behind those there are.

        What a class starts from may depend on its name, not on when it came.
        """
        raise InputError("this classifier cannot take in classes while it learns: name all classes at the start")

    def snapshot(self) -> Any:
        """All that learning changes, to come back to with `restore`; None where going back means to learn anew."""
        return None

    def restore(self, snapshot: Any) -> None:
        """Go on from a snapshot as if nothing had happened since."""
        if snapshot is not None:
            raise InputError(f"{type(self).__name__} gives no snapshots, so there is none to go back to")


@runtime_checkable
class Strategy(Protocol):
    """A rule that says which node of the pool to ask next.

    What it carries from step to step lies in `Observation.memory`.

    Example:
        >>> import nodewise as nw
        >>> class Unsure(nw.Strategy):
        ...     name, stateless = "unsure", True
        ...     def scores(self, observation):
        ...         return -observation.probabilities.amax(-1) + 1e-6 * observation.noise
        >>> nw.evaluate("wine", Unsure(), budget=5, runs=2).strategy
        'unsure'

    Attributes:
        name: what it is called on the command line and in results.
        recordable: whether a step does the same device work every time, so that a GPU may record it once and replay it:
            no Python state that changes from step to step, no transfer to the host, nothing that reads
            `Observation.step_number`.
        reads_budget: whether its choices depend on how many queries there will be in all. If not, one rollout serves
            several budgets.
        stateless: whether its choice depends on the present alone, so that a session may begin it anew for every query.
    """

    name: str
    recordable: bool = False
    reads_budget: bool = True
    stateless: bool = False

    def identity(self) -> Mapping[str, Any]:
        """The settings that its choices depend on, as JSON can hold them.

        By default a dataclass's fields, else what the constructor took.
        """
        return _settings(self)

    def bytes_per_run(self, graph: GraphTensors, budget: int) -> int:
        """Memory that it takes for each run, beside the learner's."""
        return 0

    def begin(self, observation: Observation) -> None:
        """Called at the start of every episode, before the first choice."""
        return

    def scores(self, observation: Observation) -> torch.Tensor:
        """How much each node is wanted, [run, node]; the largest in the pool is asked.

        Values outside the pool are ignored.

        Of equals the first is asked; `nodewise.environment.break_ties` makes it one at random.
        """
        ...

    def batch(self, observation: Observation, count: int) -> torch.Tensor | None:
        """So many nodes to be asked together, int64 [run, count], the most wanted first; None.

        Nobody has thought of it.

        Nodes that somebody is being asked about right now are ``labelled`` here, without a label among those
        ``queried``.
        """
        return None


class Queried(NamedTuple):
    """What has been asked: nodes and their answers, int64 [run, budget] each, and which of these are filled, bool [run,
    budget].
    """

    nodes: torch.Tensor
    labels: torch.Tensor
    mask: torch.Tensor


class Observation(Protocol):
    """What a strategy may see when it chooses: everything but labels that were not queried.

    Costly parts are computed when first asked for.

    Its tensors are those that everybody uses: a strategy changes none of them in place.

    Attributes:
        graph: the graph's matrices, without labels.
        budget: how many queries may be made in all. labelled, pool: bool [run, node].
        learner: what learns; a strategy may look, and must leave it as it is.
        memory: what the strategy has put there. It stays with the environment from episode to episode; where a step is
            recorded, `begin` fills tensors in place.
    """

    graph: GraphTensors
    budget: int
    labelled: torch.Tensor
    pool: torch.Tensor
    learner: Learner
    memory: dict[str, Any]

    @property
    def runs(self) -> int:
        """How many runs there are."""
        ...

    @property
    def num_classes(self) -> int:
        """How many classes there are now."""
        ...

    @property
    def step(self) -> torch.Tensor:
        """How many queries were made, int64 [1]: right in a recorded step, too."""
        ...

    @property
    def step_number(self) -> int:
        """How many queries were made. Raises an error while a step is being recorded, in which it would be frozen."""
        ...

    @property
    def queried(self) -> Queried:
        """The nodes asked so far and their answers, padded to the budget."""
        ...

    @property
    def logits(self) -> torch.Tensor:
        """The learner's output: [run, node, class]."""
        ...

    @property
    def probabilities(self) -> torch.Tensor:
        """The predicted probabilities: [run, node, class]."""
        ...

    @property
    def log_probabilities(self) -> torch.Tensor:
        """Their logarithms, not below log 1e-10: [run, node, class]."""
        ...

    @property
    def negative_entropy(self) -> torch.Tensor:
        """Σ p log p of every node's prediction: [run, node]."""
        ...

    @property
    def divergences(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The mean over a node's neighbours of KL(node ‖ neighbour) and of KL(neighbour ‖ node): [run, node] each."""
        ...

    @property
    def embedding(self) -> torch.Tensor:
        """The learner's embedding: [run, node, width]."""
        ...

    @property
    def noise(self) -> torch.Tensor:
        """Fresh uniform numbers in [0, 1) for this step: [run, node]."""
        ...

    def uniform(self, purpose: str, *shape: int) -> torch.Tensor:
        """Fresh uniform numbers in [0, 1) for this step and purpose."""
        ...

    def record(self, table: torch.Tensor, values: torch.Tensor) -> None:
        """Write this step's values, [run, ...], into a table of all steps, [run, step, ...]."""
        ...
