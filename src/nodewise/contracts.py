"""All that a plug-in must know: Classifier, Learner, Strategy and what they see, Observation.

An object of one's own that fulfils one of these contracts works wherever a name does. The classes here can be
inherited from, which brings a plain answer for everything that has one; or fulfilled without, by having the same names.
What a thing can do beyond that it says by name, in ``capabilities``: `CAPABILITIES` lists the names, `can` asks,
`refusal` says what is missing. `nodewise.testing.check_classifier` and `check_strategy` tell whether a contract is
kept.

Shapes are written in the words run, node, class, step: everything works on a batch of independent runs over one graph.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, get_args, runtime_checkable

from nodewise.ground.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import torch

    from nodewise.graph import Graph
    from nodewise.graph.tensors import GraphTensors
    from nodewise.ground.events import Reporter

__all__ = [
    "CAPABILITIES",
    "AsksAtRandom",
    "AsksSeveral",
    "Capability",
    "Classifier",
    "Explains",
    "Foresees",
    "GrowsByClasses",
    "HasMembers",
    "HasOwnClassifier",
    "Kind",
    "Learner",
    "LearnsSets",
    "LeavesOneOut",
    "LooksAtPart",
    "Observation",
    "PlacesRows",
    "PredictsFromEmbedding",
    "Queried",
    "Restores",
    "Saves",
    "SharesPosterior",
    "Strategy",
    "TakesSets",
    "TakesSuggestions",
    "TakesTrust",
    "can",
    "check_capabilities",
    "check_needs",
    "refusal",
    "seen_by",
]

Kind = Literal["classifier", "learner", "strategy"]
Capability = Literal[
    "grow-classes",
    "grow-nodes",
    "several-labels",
    "relations",
    "weights",
    "own-centre",
    "label-trust",
    "leave-one-out",
    "part",
    "foresee",
    "explain",
    "save",
    "new-rows",
    "edges-alone",
    "posterior",
    "long-seeds",
    "from-embedding",
    "members",
    "several-queries",
    "random-questions",
    "own-classifier",
]
"""What a classifier, a learner or a strategy may be able to do beyond its contract, by name."""


class CapabilityInfo(NamedTuple):
    """What a capability's name means.

    Attributes:
        declared_by: what says it, in its ``capabilities``: ``also_by``, another kind that says it of itself.
        ability: what it can do, as words after "can".
        methods: what it then has: ``foresee`` is the declaring thing's own, ``Learner.part`` is that of a classifier's
            learners. Empty where nothing asks for it yet, or where nothing more is needed.
        instead: what somebody does whose classifier or strategy cannot.
    """

    declared_by: Kind
    ability: str
    methods: tuple[str, ...]
    instead: str
    also_by: Kind | None = None

    def is_said_by(self, kind: Kind) -> bool:
        """Whether things of a kind declare it."""
        return kind in (self.declared_by, self.also_by)


CAPABILITIES: Mapping[Capability, CapabilityInfo] = {
    "grow-classes": CapabilityInfo(
        "classifier",
        "take in classes while it learns",
        ("Learner.add_classes",),
        "name all classes at the start, or use the classifier views or gcn",
    ),
    "grow-nodes": CapabilityInfo("classifier", "take in nodes while it learns", (), "begin with all nodes"),
    "several-labels": CapabilityInfo(
        "classifier",
        "deal with several labels of a node",
        ("start_several",),
        "give each node one label, or use the classifier views with the strategy gain, random or uncertainty",
        "strategy",
    ),
    "relations": CapabilityInfo(
        "classifier", "tell the relations of a graph apart", (), "it is given the union of their paths as plain edges"
    ),
    "weights": CapabilityInfo(
        "classifier", "tell strong edges from weak ones", (), "it is given the graph without weights"
    ),
    "own-centre": CapabilityInfo(
        "classifier",
        "begin with what models say of each node",
        ("Learner.set_suggestions",),
        "leave the suggestions out, or use the classifier views",
    ),
    "label-trust": CapabilityInfo(
        "classifier",
        "let labels that may be wrong count less",
        ("Learner.set_trust", "Learner.label_trust"),
        "leave trust out, or use the classifier views",
    ),
    "leave-one-out": CapabilityInfo(
        "classifier",
        "predict each label from all the others",
        ("Learner.leave_one_out",),
        "use cross-validation, or the classifier views",
    ),
    "part": CapabilityInfo(
        "classifier", "predict some nodes without all others", ("Learner.part",), "predict all nodes"
    ),
    "foresee": CapabilityInfo("classifier", "tell what a graph will take", ("foresee",), "try a part of the graph"),
    "explain": CapabilityInfo(
        "classifier",
        "say which labels speak for a prediction",
        ("Learner.evidence", "Learner.reach"),
        "use the classifier views",
    ),
    "save": CapabilityInfo(
        "classifier",
        "be kept as named arrays and JSON",
        ("restored", "Learner.saved"),
        "keep the labels, and let it learn again",
    ),
    "new-rows": CapabilityInfo(
        "classifier",
        "predict rows that are not in the graph",
        ("Learner.new_rows",),
        "use the classifier views, or make a graph with the rows in it",
    ),
    "edges-alone": CapabilityInfo(
        "classifier", "learn from edges alone", (), "it is given numbers made of the edges as features"
    ),
    "posterior": CapabilityInfo(
        "learner",
        "share the posterior that gain reads",
        ("ridge_posterior",),
        "gain keeps one beside it, and a session that is to look for classes is refused",
        "classifier",
    ),
    "long-seeds": CapabilityInfo("learner", "take seeds of 63 bits", (), "it is given seeds of 32 bits"),
    "from-embedding": CapabilityInfo(
        "learner",
        "predict from an embedding that others changed",
        ("logits_from",),
        "use the classifier gcn, or the strategy bald in place of bald-dropout",
        "classifier",
    ),
    "members": CapabilityInfo(
        "learner",
        "say what each of its members predicts",
        ("member_probabilities",),
        "bald draws members of its own",
    ),
    "several-queries": CapabilityInfo(
        "strategy", "choose several nodes to be asked together", ("batch",), "the nodes are spread by their scores"
    ),
    "random-questions": CapabilityInfo(
        "strategy",
        "say why a question is a random one",
        ("why_random",),
        "a query's reasons take each question for one that the strategy's scores have chosen",
    ),
    "own-classifier": CapabilityInfo(
        "strategy",
        "name the classifier that it was made with",
        ("own_classifier",),
        "it is played with the default classifier where none is asked for",
    ),
}
"""Every capability by its name. docs/plugins.md has them as a table."""


class Capable(Protocol):
    """Whatever says what it can do."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The names of what it can do beyond its contract."""
        ...


def can(thing: Capable, capability: Capability) -> bool:
    """Whether a classifier, a learner or a strategy says that it can do something beyond its contract."""
    return capability in thing.capabilities


def seen_by(thing: Capable, graph: GraphTensors) -> GraphTensors:
    """The graph as a classifier is given it: without relations and weights that it does not say it can use."""
    seen = graph if can(thing, "relations") else graph.one_relation
    return seen if can(thing, "weights") else seen.unweighted


def refusal(thing: Classifier | Strategy, capability: Capability, because: str = "") -> InputError:
    """The error that tells what a thing cannot do, and what to do instead.

    Args:
        because: why it is needed, a sentence's second half: ``"no class is named"``.
    """
    info = CAPABILITIES[capability]
    why = f", and {because}" if because else ""
    kind = "classifier" if isinstance(thing, Classifier) else "strategy"
    return InputError(f"the {kind} {thing.name!r} cannot {info.ability}{why}: {info.instead}")


def check_needs(strategy: Strategy, classifier: Classifier) -> None:
    """Refuse a classifier that cannot do what a strategy needs of it, before anything is played or written.

    Raises:
        InputError: says what it cannot do, and what to do instead.
    """
    for need in sorted(strategy.needs):
        if not can(classifier, need):
            raise refusal(classifier, need, f"the strategy {strategy.name!r} needs that")


def check_capabilities(thing: Capable, kind: Kind, name: str) -> None:
    """Refuse a thing that declares what there is no name for, or what is not said of its kind.

    Args:
        thing: what declares. kind: what it is. name: what it is called.

    Raises:
        InputError: ``capabilities`` is no set of names, or a name stands for something else.
        UnknownNameError: there is no such capability.
    """
    declared = thing.capabilities
    if not isinstance(declared, frozenset):
        raise InputError(
            f"the {kind} {name!r} has capabilities {declared!r}: they must be a frozenset of names, such as"
            ' frozenset({"grow-classes"})'
        )
    of_kind = [known for known in get_args(Capability) if CAPABILITIES[known].is_said_by(kind)]
    for each in sorted(declared, key=str):
        if each not in of_kind:
            raise UnknownNameError("capability", str(each), of_kind, f"The {kind} {name!r} declares it.")


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
        capabilities: what it and its learners can do beyond this, by the names in `CAPABILITIES`.
    """

    name: str
    trained: bool = True
    capabilities: frozenset[Capability] = frozenset()

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
        capabilities: what a learner itself says that it can do, ``"posterior"``, ``"long-seeds"``,
            ``"from-embedding"`` or ``"members"``; all else is said by its classifier.
    """

    num_classes: int
    recordable: bool = False
    capabilities: frozenset[Capability] = frozenset()

    def reset(self, seed: int) -> None:
        """Forget all labels, and the classes that came on the way.

        Everything random from here on follows from the seed, a whole number from 0 to 2³² − 1.
        """
        ...

    def add(self, nodes: torch.Tensor, labels: torch.Tensor) -> None:
        """Take in labels: int64 [run, k] each, the same number for every run."""
        ...

    def fit(self) -> None:
        """Learn from the labels so far: one epoch where it is trained; called once after every `add` of an episode.

        torch's gradients are on here and in `finish`, and off everywhere else.
        """
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
        capabilities: what it can do beyond this, by the names in `CAPABILITIES`.
        needs: what the classifier must be able to do, by the same names.
    """

    name: str
    recordable: bool = False
    reads_budget: bool = True
    stateless: bool = False
    capabilities: frozenset[Capability] = frozenset()
    needs: frozenset[Capability] = frozenset()

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


class TakesSets(Protocol):
    """A classifier that can deal with ``"several-labels"`` of a node."""

    def start_several(self, graph: GraphTensors, prepared: Any, runs: int, classes: int, budget: int) -> LearnsSets:
        """As `Classifier.start`, for nodes that may have several classes."""
        ...


@runtime_checkable
class LearnsSets(Learner, Protocol):
    """A learner for nodes that may have several classes.

    `Learner.add` takes 0 or 1, int8 [run, k, class], a row of zeros for an answer of none of the classes;
    `Learner.logits` gives each class's log odds by itself, whose sigmoid is its chance; `LeavesOneOut.leave_one_out`
    chances.
    """

    def thresholds(self) -> torch.Tensor:
        """The log odds from which on a node is given each class: [run, class]."""
        ...


class GrowsByClasses(Protocol):
    """A learner whose classifier can ``"grow-classes"``; without that all classes are named at the start."""

    def add_classes(self, names: Sequence[str]) -> None:
        """Take in new classes, behind those there are.

        What a class starts from may depend on its name, not on when it came. `Learner.reset` forgets them.
        """
        ...


class TakesSuggestions(Protocol):
    """A learner whose classifier can begin with an ``"own-centre"`` for each node: what models say of it."""

    def set_suggestions(self, answers: npt.NDArray[np.float32] | None) -> None:
        """Take what models say of the nodes; the labels stay, and decide how far each model is believed.

        It replaces what was said before, and `Learner.reset` keeps it.

        Args:
            answers: how sure each model is of each class, 0 to 1, [model, node, class], rows of zeros where a model
                says nothing; None: models say nothing any more.
        """
        ...


class TakesTrust(Protocol):
    """A learner whose classifier has ``"label-trust"``: labels that may be wrong count less."""

    def set_trust(self, trust: npt.NDArray[np.float32] | None, confirmed: npt.NDArray[np.bool_] | None = None) -> None:
        """Let a label that the others contradict count less from now on; `Learner.reset` keeps this.

        Where no label is doubted all predictions are those without it.

        Args:
            trust: how far a label of each node is trusted by who gave it, from 0 to 1: [node]; None: each label counts
                whole, as at the start.
            confirmed: nodes whose labels are not doubted: [node]; None: there are none.
        """
        ...

    def label_trust(self) -> torch.Tensor:
        """How far each label is trusted, from 0 to 1, in the order in which labels came: [run, label]; where no trust
        was set as it would be.
        """
        ...


class LeavesOneOut(Protocol):
    """A learner whose classifier can ``"leave-one-out"``."""

    def leave_one_out(self) -> torch.Tensor | None:
        """The prediction for each label from all the others, probabilities [run, label, class]; None without a
        label.
        """
        ...


class LooksAtPart(Protocol):
    """A learner whose classifier can look at a ``"part"``: on a very large graph a page then needs no other nodes."""

    def part(self, nodes: torch.Tensor) -> Learner:
        """The same runs with some of the nodes alone, int64 [node], to look at."""
        ...


class Explains(Protocol):
    """A learner whose classifier can ``"explain"``; each method is about one run."""

    def evidence(self, node: int) -> list[tuple[int, float]]:
        """The labelled nodes, and how much each speaks for the class that is predicted for a node, the strongest
        first.
        """
        ...

    def reach(self, node: int) -> float:
        """How many nodes a label here would decide."""
        ...


class Saves(Protocol):
    """A learner whose classifier can ``"save"`` it."""

    def saved(self) -> tuple[Mapping[str, npt.NDArray[Any]], Mapping[str, Any]]:
        """All that the classifier's ``restored`` needs beside graph and labels: JSON, and arrays of finite numbers."""
        ...


class Restores(Protocol):
    """A classifier that can ``"save"`` its learners."""

    def restored(
        self, graph: GraphTensors, arrays: Mapping[str, npt.NDArray[Any]], record: Mapping[str, Any], classes: int
    ) -> Learner:
        """A learner of one run from what ``saved`` gave; one that is not trained is then given its labels."""
        ...


class PlacesRows(Protocol):
    """A learner whose classifier can predict ``"new-rows"``."""

    def new_rows(self, features: Any, joined: Any) -> torch.Tensor:
        """The logits of rows that are not in the graph, of one run: [row, class].

        Args:
            features: as the graph's are, [row, feature], dense or scipy sparse.
            joined: how strongly each row is joined to each node, scipy sparse [row, node].
        """
        ...


class SharesPosterior(Protocol):
    """A learner that can share its ``"posterior"``."""

    def ridge_posterior(self) -> Any:
        """What the strategy gain reads: a `nodewise.classifiers.views.views.ViewsLearner`."""
        ...


class PredictsFromEmbedding(Protocol):
    """A learner that can predict ``"from-embedding"``."""

    def logits_from(self, embedding: torch.Tensor) -> torch.Tensor:
        """Its logits if its embedding were this one, [run, node, width] to [run, node, class]."""
        ...


class HasMembers(Protocol):
    """A learner of several ``"members"`` that can disagree."""

    def member_probabilities(self) -> torch.Tensor:
        """What each member predicts: [run, node, member, class]."""
        ...


class Foresees(Protocol):
    """A classifier that can ``"foresee"``."""

    def foresee(self, graph: Graph, reporter: Reporter) -> None:
        """Tell before a session is made what this graph will take, and refuse one that is too large."""
        ...


class AsksSeveral(Protocol):
    """A strategy that can choose ``"several-queries"``; of others a session spreads the best by their scores."""

    def batch(self, observation: Observation, count: int) -> torch.Tensor | None:
        """So many nodes to be asked together, int64 [run, count], the most wanted first; None: as if it could not.

        Nodes that somebody is being asked about right now are ``labelled`` here, without a label among those
        ``queried``.
        """
        ...


class AsksAtRandom(Protocol):
    """A strategy whose scores are random numbers at times, and that can say so: ``"random-questions"``."""

    def why_random(self, observation: Observation) -> str | None:
        """Why the next question is a random one, of a single run; None where the strategy has chosen it.

        A main clause without a full stop, such as "no label is there yet": a session says what follows from it.
        """
        ...


class HasOwnClassifier(Protocol):
    """A strategy that was made with one classifier, a policy trained with it say: ``"own-classifier"``."""

    def own_classifier(self) -> tuple[str, Mapping[str, Any]]:
        """The classifier's name and its settings: `evaluate` and `compare` take it where none is asked for."""
        ...


class Queried(NamedTuple):
    """What has been asked: nodes and their answers, int64 [run, budget] each, and which of these are filled, bool [run,
    budget]. Where a node may have several classes answers are 0 or 1, int8 [run, budget, class].
    """

    nodes: torch.Tensor
    labels: torch.Tensor
    mask: torch.Tensor


class Observation(Protocol):
    """What a strategy may see when it chooses: everything but labels that were not queried.

    Costly parts are computed when first asked for.

    Its tensors are those that everybody uses: a strategy changes none of them in place.

    Attributes:
        graph: the graph's matrices, without labels; `GraphTensors.adjacency` holds weights where edges have them.
        budget: how many queries may be made in all. labelled, pool: bool [run, node].
        learner: what learns; a strategy may look, and must leave it as it is.
        several: whether a node may have several classes: probabilities are then each class's own, and the entropy is
            summed over classes.
        memory: what the strategy has put there. It stays with the environment from episode to episode; where a step is
            recorded, `begin` fills tensors in place.
    """

    graph: GraphTensors
    budget: int
    labelled: torch.Tensor
    pool: torch.Tensor
    learner: Learner
    several: bool
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
