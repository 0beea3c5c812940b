"""The paper's Markov decision process (section 3.2) over a batch of runs: what is asked, seen, drawn and scored.

`Environment` is the process, `EnvironmentObservation` what a strategy sees of it, `rollout` the loop in which a
strategy chooses all nodes of an episode, `draw_splits` every run's own division of the labelled nodes, `f1_scores` what
the learners are worth.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from nodewise.contracts import Classifier, Learner, Observation, Queried, Strategy
from nodewise.datasets.load import held_out
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import derive_seed, numpy_generator
from nodewise.ground.errors import InputError

__all__ = [
    "Environment",
    "EnvironmentObservation",
    "Scores",
    "SplitSizes",
    "Splits",
    "TestNodes",
    "break_ties",
    "checked_logits",
    "checked_scores",
    "choose",
    "draw_splits",
    "f1_scores",
    "rollout",
]


class Environment:
    """Runs of active learning on one graph: each has a split, a pool, labels and a classifier of its own.

    All tensors keep their storage from reset to reset, so that a step can be captured once on a GPU and replayed.

    Attributes:
        learner: what learns from the answers. labelled, pool: bool [run, node].
        step: queries made since the reset.
        budget: queries that an episode has room for.
        memory: what the present strategy keeps from step to step.
        version: raised by hand when results change; stored results hold it.
    """

    version = 1

    def __init__(self, graph: GraphTensors, learner: Learner, runs: int, budget: int) -> None:
        if budget < 1:
            raise InputError(f"the budget must be at least 1, got {budget}")
        self.graph, self.learner, self.runs, self.budget = graph, learner, runs, budget
        device, nodes = graph.device, graph.num_nodes
        self.labelled = torch.zeros(runs, nodes, dtype=torch.bool, device=device)
        self.pool = torch.zeros(runs, nodes, dtype=torch.bool, device=device)
        self._nodes = torch.zeros(runs, budget, dtype=torch.int64, device=device)
        self._labels = torch.zeros(runs, budget, dtype=torch.int64, device=device)
        self._positions = torch.arange(budget, device=device)
        self.step = 0
        self.seed = 0
        self.memory: dict[str, Any] = {}
        self._remembered: Strategy | None = None
        self.recording: object = None  # a GPU's recorded step, see `replay`
        self.is_recording = False
        if device.type == "cuda":
            from nodewise.environment.clock import DeviceClock

            self.clock = DeviceClock(device)

    @classmethod
    def of(cls, graph: GraphTensors, classifier: Classifier, runs: int, budget: int) -> Environment:
        """An environment with fresh learners of a classifier."""
        prepared = graph.prepared_by(classifier)
        return cls(graph, classifier.start(graph.unlabelled, prepared, runs, graph.num_classes, budget), runs, budget)

    def reset(self, seed: int, splits: Splits) -> None:
        """Start an episode: new classifiers, nothing labelled, the pool as the splits say."""
        smallest = int(splits.pool.sum(1).min())
        if self.budget > smallest:
            raise InputError(
                f"a budget of {self.budget} queries is more than the pool's {smallest} nodes: lower the budget"
            )
        self.splits, self.seed, self.step = splits, seed, 0
        self.labelled.zero_()
        self.pool.copy_(splits.pool)
        self.learner.reset(derive_seed(seed, "classifier"))
        if self.graph.device.type == "cuda":
            self.clock.reset(derive_seed(seed, "noise"))

    @property
    def step_tensor(self) -> torch.Tensor:
        """Queries made since the reset, int64 [1], on the device."""
        return self.clock.step if self.graph.device.type == "cuda" else torch.tensor([self.step])

    @property
    def queried(self) -> Queried:
        """The nodes asked so far and their answers, padded to the budget."""
        return Queried(self._nodes, self._labels, (self._positions < self.step_tensor).expand(self.runs, -1))

    @property
    def queries(self) -> torch.Tensor:
        """The nodes asked so far, in order: int64 [run, step]."""
        return self._nodes[:, : self.step]

    def observe(self) -> EnvironmentObservation:
        """What a strategy may see now."""
        return EnvironmentObservation(self)

    def begin(self, strategy: Strategy) -> None:
        """Let a strategy begin its episode; what another one remembered is forgotten."""
        if strategy is not self._remembered:
            self.memory, self._remembered, self.recording = {}, strategy, None
        strategy.begin(self.observe())

    def query(self, nodes: torch.Tensor) -> None:
        """Ask the oracle for one node of each run, int64 [run]: they leave the pool, the learner gets the labels."""
        labels = self.graph.y[nodes]
        self.labelled.scatter_(1, nodes[:, None], True)
        self.pool.scatter_(1, nodes[:, None], False)
        self.record(self._nodes, nodes)
        self.record(self._labels, labels)
        self.learner.add(nodes[:, None], labels[:, None])
        self.step += 1
        if self.graph.device.type == "cuda":
            self.clock.tick()

    def record(self, table: torch.Tensor, values: torch.Tensor) -> None:
        """Write the present step's values, [run, ...], into a table of all steps, [run, step, ...]."""
        if self.graph.device.type == "cuda":
            self.clock.write(table, values)
        else:
            table[:, self.step] = values

    def score(self, nodes: torch.Tensor) -> Scores:
        """Micro and Macro-F1 of the learners as they are now on given nodes, int64 [run, node]."""
        logits = checked_logits(self.learner, (self.runs, self.graph.num_nodes, max(1, self.graph.num_classes)))
        return f1_scores(logits.argmax(-1).gather(1, nodes), self.graph.y[nodes], self.graph.num_classes)

    def uniform(self, purpose: str, shape: tuple[int, ...]) -> torch.Tensor:
        """Uniform numbers in [0, 1) that follow from the seed, the step and the purpose."""
        if self.graph.device.type == "cuda":
            return self.clock.uniform(purpose, shape, self.graph.dtype)
        generator = numpy_generator(self.seed, purpose, self.step)
        return torch.from_numpy(generator.random(shape, dtype="float32")).to(self.graph.dtype)


class EnvironmentObservation:
    """One moment of all runs of an environment; it fulfils `nodewise.contracts.Observation`."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self.graph: GraphTensors = environment.graph.unlabelled
        self.budget = environment.budget
        self.labelled, self.pool = environment.labelled, environment.pool
        self.learner: Learner = environment.learner
        self.memory: dict[str, Any] = environment.memory

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return self.pool.shape[0]

    @property
    def num_classes(self) -> int:
        """How many classes there are now."""
        return self.learner.num_classes

    @property
    def step(self) -> torch.Tensor:
        """How many queries were made, int64 [1]."""
        return self._environment.step_tensor

    @property
    def step_number(self) -> int:
        """How many queries were made.

        Raises:
            InputError: a step is being recorded, in which the number would stay what it is now.
        """
        if self._environment.is_recording:
            raise InputError(
                "a GPU records this step once and replays it, so the step's number, read in Python, would stay the"
                " same: use observation.step, a tensor, or say recordable = False"
            )
        return self._environment.step

    @property
    def queried(self) -> Queried:
        """The nodes asked so far and their answers, padded to the budget."""
        return self._environment.queried

    @cached_property
    def embedding(self) -> torch.Tensor:
        """The learner's embedding: [run, node, width]."""
        return self.learner.embedding()

    @cached_property
    def logits(self) -> torch.Tensor:
        """The learner's output: [run, node, class]."""
        return checked_logits(self.learner, (self.runs, self.graph.num_nodes, self.num_classes))

    @cached_property
    def _packed(self) -> torch.Tensor:
        """log p (not below log 1e-10), p and Σ p log p side by side: [run, node, 2 class + 1]."""
        if self.graph.device.type == "cuda":
            from nodewise.environment.prediction_kernels import predictions

            return predictions(self.logits)
        shifted = self.logits - self.logits.amax(-1, keepdim=True)
        log_p = (shifted - shifted.exp().sum(-1, keepdim=True).log()).clamp_min(LOG_SMALLEST)
        p = log_p.exp()
        return torch.cat([log_p, p, (p * log_p).sum(-1, keepdim=True)], -1)

    @property
    def log_probabilities(self) -> torch.Tensor:
        """log of the predicted probabilities, not below log 1e-10: [run, node, class]."""
        return self._packed[..., : self.num_classes]

    @property
    def probabilities(self) -> torch.Tensor:
        """The predicted probabilities: [run, node, class]."""
        return self._packed[..., self.num_classes : -1]

    @property
    def negative_entropy(self) -> torch.Tensor:
        """Σ p log p of every node's prediction: [run, node]."""
        return self._packed[..., -1]

    @cached_property
    def divergences(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The mean over a node's neighbours of KL(node ‖ neighbour) and of KL(neighbour ‖ node): [run, node] each.

        Two sparse products in one: with m the mean over neighbours, the first is Σ p log p − p·m(log p), the second m(Σ
        p log p) − log p·m(p). Both are zero for a node without neighbours (section 3.2).
        """
        if self.graph.device.type == "cuda":
            from nodewise.environment.prediction_kernels import divergences

            return divergences(self.graph, self._packed)
        p, log_p, negative, classes = (
            self.probabilities,
            self.log_probabilities,
            self.negative_entropy,
            self.num_classes,
        )
        means = self.graph.adjacency.mm(self._packed) / self.graph.degree.clamp_min(1)[:, None]
        forward = negative * (self.graph.degree > 0) - (p * means[..., :classes]).sum(-1)
        reverse = means[..., -1] - (log_p * means[..., classes : 2 * classes]).sum(-1)
        return forward, reverse

    @cached_property
    def noise(self) -> torch.Tensor:
        """Fresh uniform numbers in [0, 1) for this step: [run, node]."""
        return self._environment.uniform("noise", (self.runs, self.graph.num_nodes))

    def record(self, table: torch.Tensor, values: torch.Tensor) -> None:
        """Write this step's values, [run, ...], into a table of all steps, [run, step, ...]."""
        self._environment.record(table, values)

    def uniform(self, purpose: str, *shape: int) -> torch.Tensor:
        """Fresh uniform numbers in [0, 1) for this step and purpose."""
        return self._environment.uniform(purpose, shape)


LOG_SMALLEST = -23.025850929940457  # log 1e-10: smaller probabilities count as 1e-10 in logarithms


def rollout(
    environment: Environment,
    strategy: Strategy,
    splits: Splits,
    seed: int,
    each_query: Callable[[int], None] | None = None,
) -> torch.Tensor:
    """Play one episode of every run and let the learners finish (algorithm 2): they fit after each query.

    Args:
        each_query: called with the number of queries so far after each query and its fit; it may look, and must leave
            everything as it was.

    Returns:
        The nodes in the order in which they were asked: int64 [run, step].
    """
    with torch.no_grad():
        environment.reset(seed, splits)
        environment.begin(strategy)
        if (
            environment.graph.device.type == "cuda"
            and strategy.recordable
            and getattr(environment.learner, "recordable", False)
        ):
            from nodewise.environment.replay import replay_episode

            replay_episode(environment, strategy, each_query)
        else:
            for done in range(1, environment.budget + 1):
                step(environment, strategy)
                if each_query is not None:
                    each_query(done)
            environment.learner.finish()
        return environment.queries.clone()


def step(environment: Environment, strategy: Strategy) -> None:
    """One query of every run: observe, choose, ask, fit."""
    scores = checked_scores(strategy, strategy.scores(environment.observe()), environment.pool)
    environment.query(choose(scores, environment.pool))
    environment.learner.fit()


def checked_scores(strategy: Strategy, scores: torch.Tensor, pool: torch.Tensor) -> torch.Tensor:
    """The scores that a strategy gave, if they are some.

    Raises:
        InputError: they have another shape or kind, or are not numbers.
    """
    if not isinstance(scores, torch.Tensor) or scores.shape != pool.shape or not scores.is_floating_point():
        got = (
            f"of shape {list(scores.shape)} and kind {scores.dtype}"
            if isinstance(scores, torch.Tensor)
            else f"as {type(scores).__name__}"
        )
        raise InputError(
            f"strategy {strategy.name!r} gave scores {got}: they must be floating-point numbers [run, node], here"
            f" {list(pool.shape)}"
        )
    if scores.device.type == "cpu" and bool(scores.masked_fill(~pool, 0).isnan().any()):
        raise InputError(
            f"strategy {strategy.name!r} gave scores that are not numbers for nodes of the pool: each needs one, -inf"
            " for 'never'"
        )
    return scores


def checked_logits(learner: Learner, shape: tuple[int, int, int]) -> torch.Tensor:
    """A learner's logits, if they are some: [run, node, class].

    Raises:
        InputError: they have another shape, or are not numbers.
    """
    logits = learner.logits()
    name = type(learner).__name__
    if not isinstance(logits, torch.Tensor) or logits.shape != shape:
        got = f"of shape {list(logits.shape)}" if isinstance(logits, torch.Tensor) else f"as {type(logits).__name__}"
        raise InputError(f"{name} gave logits {got}: they must be a tensor [run, node, class], here {list(shape)}")
    if (
        logits.device.type == "cpu" and bool(logits.sum().isnan()) and bool(logits.isnan().any())
    ):  # the sum takes a fraction of the time
        raise InputError(
            f"{name} gave logits that are not numbers: every node needs a prediction, before the first label as well"
        )
    return logits


def choose(scores: torch.Tensor, pool: torch.Tensor) -> torch.Tensor:
    """The pool node with the largest score in each run: int64 [run].

    A score of -inf is the lowest, yet above any outside the pool.
    """
    return scores.clamp_min(torch.finfo(scores.dtype).min).masked_fill(~pool, -torch.inf).argmax(1)


def break_ties(scores: torch.Tensor, observation: Observation) -> torch.Tensor:
    """The same scores with noise added to those that share the pool's maximum, so that `choose` takes one of them at
    random: [run, node].

    The order of all other nodes stays as it is.
    """
    best = scores.masked_fill(~observation.pool, -torch.inf).amax(1, keepdim=True)
    return torch.where(scores == best, scores + observation.noise, scores)


@dataclass(frozen=True)
class SplitSizes:
    """How many nodes are held out in each run."""

    test: int
    validation: int

    @classmethod
    def default(cls, nodes: int) -> SplitSizes:
        """The protocol's sizes: 1000 and 500; a quarter each at 2250 nodes and below."""
        return cls(*held_out(nodes))

    def identity(self) -> dict[str, Any]:
        """As a chunk's key holds it."""
        return {"test": self.test, "validation": self.validation}


@dataclass(frozen=True)
class TestNodes:
    """Test nodes of one's own in place of random splits; every other labelled node may be asked.

    Attributes:
        columns: node indices, one tuple for all runs, or several: run r uses the (r mod several)-th.
        mask_length: for how many nodes the mask spoke; None: indices were given.
    """

    __test__ = False  # no test of pytest's

    columns: tuple[tuple[int, ...], ...]
    mask_length: int | None = None

    @classmethod
    def of(cls, nodes: Any) -> TestNodes:
        """From a mask [node], a mask [node, split] as PyTorch Geometric has for several splits, or node indices.

        Raises:
            InputError: it is none of these, or holds no node.
        """
        array = np.asarray(nodes.cpu() if isinstance(nodes, torch.Tensor) else nodes)
        length = len(array) if array.dtype == bool and array.ndim in (1, 2) else None
        if length is not None:
            columns = [np.flatnonzero(column) for column in np.atleast_2d(array.T)]
        elif array.ndim == 1 and (array.dtype.kind in "iu" or not len(array)):
            columns = [np.unique(array)]
            if len(array) > 2 and set(columns[0].tolist()) <= {0, 1}:
                raise InputError(
                    f"test nodes are {len(array)} zeros and ones: a mask holds True and False, as {array.dtype} they"
                    " would be nodes 0 and 1"
                )
        else:
            raise InputError(
                f"test nodes must be a mask [node], a mask [node, split] or node indices, got {array.dtype} of shape"
                f" {list(array.shape)}"
            )
        if any(not len(column) for column in columns) or any(column[0] < 0 for column in columns):
            raise InputError(
                "test nodes must be at least one node, by indices from 0 on: an empty or negative one was given"
            )
        return cls(tuple(tuple(column.tolist()) for column in columns), length)

    def pool_size(self, labelled: npt.NDArray[np.int64]) -> int:
        """How many nodes of those that are labelled may be asked, in the split with the fewest."""
        return min(len(np.setdiff1d(labelled, column)) for column in self.columns)

    def identity(self) -> dict[str, Any]:
        """As a chunk's key holds it."""
        return {"test_nodes": hashlib.blake2b(repr(self.columns).encode(), digest_size=8).hexdigest()}


@dataclass(frozen=True)
class Splits:
    """Test and validation nodes, int64 [run, node], and the pool, bool [run, node], on the graph's device."""

    test: torch.Tensor
    validation: torch.Tensor
    pool: torch.Tensor

    def rows(self, rows: Sequence[int]) -> Splits:
        """The splits of some runs, in that order; a run may come several times."""
        index = torch.tensor(list(rows), device=self.pool.device)
        return Splits(self.test[index], self.validation[index], self.pool[index])


def draw_splits(
    graph: GraphTensors, runs: int, seed: int, first_run: int = 0, sizes: SplitSizes | TestNodes | None = None
) -> Splits:
    """Splits of the runs ``first_run`` to ``first_run + runs - 1``.

    A run's split follows from the seed and the run's number alone, so that strategies, devices and batch sizes share
    it. Nodes without a label are in none of the three.

    Args:
        sizes: how many nodes are held out, if not the protocol's; or which ones are tested. The test nodes then are the
            validation nodes as well: nothing chooses by them here.
    """
    known = np.flatnonzero(graph.y.cpu().numpy() >= 0)
    if len(known) == 0:
        raise InputError(
            f"graph {graph.name!r} has no labels: a simulation needs them to answer queries; give labels, or use a"
            " session"
        )
    if isinstance(sizes, TestNodes):
        return _given(graph, known, runs, first_run, sizes)
    sizes = sizes or SplitSizes.default(len(known))
    if sizes.test < 1 or sizes.validation < 1 or sizes.test + sizes.validation >= len(known):
        raise InputError(
            f"graph {graph.name!r} has {len(known)} labelled nodes, too few for {sizes.test} test and"
            f" {sizes.validation} validation nodes and a pool: use a graph with more labels, or smaller splits"
        )
    order = np.stack([numpy_generator(seed, "split", first_run + run).permutation(known) for run in range(runs)])
    middle, end = sizes.test, sizes.test + sizes.validation
    pool = np.zeros((runs, graph.num_nodes), dtype=bool)
    np.put_along_axis(pool, order[:, end:], True, axis=1)
    parts = (order[:, :middle], order[:, middle:end], pool)
    return Splits(*(torch.from_numpy(np.ascontiguousarray(part)).to(graph.device) for part in parts))


def _given(graph: GraphTensors, known: npt.NDArray[np.int64], runs: int, first_run: int, nodes: TestNodes) -> Splits:
    if nodes.mask_length not in (None, graph.num_nodes):
        raise InputError(
            f"the mask of test nodes is for {nodes.mask_length} nodes, graph {graph.name!r} has {graph.num_nodes}: give"
            " it one entry for every node, [node] or [node, split]"
        )
    columns = [np.intersect1d(np.array(column), known) for column in nodes.columns]
    last = max(max(column) for column in nodes.columns)
    if last >= graph.num_nodes:
        raise InputError(f"test node {last} is not in graph {graph.name!r}, whose nodes are 0 to {graph.num_nodes - 1}")
    if any(len(column) == 0 for column in columns) or len({len(column) for column in columns}) > 1:
        raise InputError(
            "every split's test nodes must have labels, and every split as many of them: give one mask, or equal ones"
        )
    test = np.stack([columns[(first_run + run) % len(columns)] for run in range(runs)])
    pool = np.zeros((runs, graph.num_nodes), dtype=bool)
    pool[:, known] = True
    np.put_along_axis(pool, test, False, axis=1)
    held = torch.from_numpy(test).to(graph.device)
    return Splits(held, held, torch.from_numpy(pool).to(graph.device))


class Scores(NamedTuple):
    """Micro and Macro-F1 of each run, between 0 and 1: [run]."""

    micro: torch.Tensor
    macro: torch.Tensor


def f1_scores(guess: torch.Tensor, truth: torch.Tensor, classes: int) -> Scores:
    """Scores of single-label predictions, int64 [run, node] each.

    Micro-F1 of single-label predictions is the accuracy. Macro-F1 is the mean over the classes that occur in the truth
    or the guess, as scikit-learn's; a class that neither holds does not count.
    """
    runs = guess.shape[0]
    code = (torch.arange(runs, device=guess.device)[:, None] * classes + truth) * classes + guess
    table = torch.zeros(runs * classes * classes, device=guess.device)
    table = table.scatter_add_(0, code.reshape(-1), torch.ones_like(code, dtype=table.dtype).reshape(-1)).view(
        runs, classes, classes
    )
    hits = table.diagonal(dim1=1, dim2=2)  # [run, class]
    sizes = table.sum(1) + table.sum(2)
    macro = (2 * hits / sizes.clamp_min(1)).sum(1) / (sizes > 0).sum(1)
    return Scores(hits.sum(1) / guess.shape[1], macro)
