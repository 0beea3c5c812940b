"""The paper's Markov decision process (section 3.2) over a batch of runs: what is asked, seen, drawn and scored.

`Environment` is the process, `rollout` an episode in which a strategy chooses all nodes, `draw_splits` every run's own
division of the labelled nodes, `f1_scores` what the learners are worth. What a strategy sees is in `runs`, what
computes it in `backend`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import torch

from nodewise.contracts import Classifier, Learner, LearnsSets, Queried, Strategy, TakesSets, can, refusal, seen_by
from nodewise.datasets.load import held_out
from nodewise.environment.runs import (
    Runs,
    checked_logits,
    checked_scores,
    choose,
    finish_learner,
    fit_learner,
    reset_learner,
)
from nodewise.environment.set_scores import SetScores, set_scores
from nodewise.graph import Graph
from nodewise.graph.nodes import node_indices
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import numpy_generator
from nodewise.ground.errors import InputError

__all__ = [
    "Environment",
    "Scores",
    "SplitSizes",
    "Splits",
    "TestNodes",
    "draw_splits",
    "f1_scores",
    "rollout",
    "split_arrays",
]


class Environment(Runs):
    """Runs of active learning on one graph: each has a split, a pool, labels and a classifier of its own.

    All tensors keep their storage from reset to reset, so that a step can be captured once on a GPU and replayed.

    Attributes:
        seed: of the present episode. splits: those of its runs.
        version: raised by hand when results change; stored results hold it.
    """

    version = 1

    def __init__(self, graph: GraphTensors, learner: Learner, runs: int, budget: int) -> None:
        if budget < 1:
            raise InputError(f"the budget must be at least 1, got {budget}")
        super().__init__(graph, learner, runs, budget)
        self._nodes = torch.zeros(runs, budget, dtype=torch.int64, device=graph.device)
        self.several = graph.several
        self._answers = graph.y if graph.y_sets is None else graph.y_sets
        self._labels = self._answers.new_zeros(runs, budget, *self._answers.shape[1:])
        self._positions = torch.arange(budget, device=graph.device)
        self.seed = 0

    @classmethod
    def of(cls, graph: GraphTensors, classifier: Classifier, runs: int, budget: int) -> Environment:
        """An environment with fresh learners of a classifier."""
        if graph.several and not can(classifier, "several-labels"):
            raise refusal(classifier, "several-labels", f"nodes of the graph {graph.name!r} may have several")
        seen = seen_by(classifier, graph)
        start = cast(TakesSets, classifier).start_several if graph.several else classifier.start
        learner = start(seen.unlabelled, seen.prepared_by(classifier), runs, graph.num_classes, budget)
        return cls(graph, learner, runs, budget)

    def reset(self, seed: int, splits: Splits) -> None:
        """Start an episode: new classifiers, nothing labelled, the pool as the splits say."""
        smallest = int(splits.pool.sum(1).min())
        if not smallest:
            raise InputError(
                "no node is left to ask: all that have a label are test or validation nodes; hold out fewer of them"
            )
        if self.budget > smallest:
            raise InputError(
                f"a budget of {self.budget} queries is more than the pool's {smallest} nodes: lower the budget"
            )
        self.splits, self.seed = splits, seed
        self.labelled.zero_()
        self.pool.copy_(splits.pool)
        reset_learner(self.learner, seed, "classifier")
        self.clock.reset(seed)

    def restart(self, strategy: Strategy) -> None:
        """Back to the beginning of this episode."""
        self.reset(self.seed, self.splits)
        self.begin(strategy)

    @property
    def queried(self) -> Queried:
        """The nodes asked so far and their answers, padded to the budget."""
        return Queried(self._nodes, self._labels, (self._positions < self.clock.step).expand(self.runs, -1))

    @property
    def queries(self) -> torch.Tensor:
        """The nodes asked so far, in order: int64 [run, step]."""
        return self._nodes[:, : self.step]

    def take_step(self, strategy: Strategy) -> None:
        """One query of every run: observe, choose, ask, fit."""
        scores = checked_scores(strategy, strategy.scores(self.observe()), self.pool)
        self.query(choose(scores, self.pool))
        self.fit()

    def play_steps(self, strategy: Strategy, each_query: Callable[[int], None] | None = None) -> None:
        """All steps of an episode that has just begun one by one, and its end."""
        for done in range(1, self.budget + 1):
            self.take_step(strategy)
            if each_query is not None:
                each_query(done)
        self.finish()

    def query(self, nodes: torch.Tensor) -> None:
        """Ask the oracle for one node of each run, int64 [run]: they leave the pool, the learner gets the labels."""
        labels = self._answers[nodes]
        self.labelled.scatter_(1, nodes[:, None], True)
        self.pool.scatter_(1, nodes[:, None], False)
        self.record(self._nodes, nodes)
        self.record(self._labels, labels)
        self.learner.add(nodes[:, None], labels[:, None])
        self.clock.tick()

    def fit(self) -> None:
        """Let the learners learn from the labels so far."""
        fit_learner(self.learner)

    def finish(self) -> None:
        """Let the learners train to the end."""
        finish_learner(self.learner)

    def score(self, nodes: torch.Tensor) -> Scores | SetScores:
        """What the learners as they are now reach on given nodes, int64 [run, node]."""
        logits = checked_logits(self.learner, (self.runs, self.graph.num_nodes, max(1, self.graph.num_classes)))
        if self.several:
            odds = logits.gather(1, nodes[..., None].expand(-1, -1, logits.shape[-1]))
            return set_scores(odds, cast(LearnsSets, self.learner).thresholds(), self._answers[nodes])
        return f1_scores(logits.argmax(-1).gather(1, nodes), self.graph.y[nodes], self.graph.num_classes)


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
        environment.backend.play(environment, strategy, each_query)
        return environment.queries.clone()


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
        validation: validation nodes of each split, beside the test nodes; empty: the test nodes are these, too.
        pool: the nodes of each split that may be asked; empty: all labelled nodes that are held out nowhere.
    """

    __test__ = False  # no test of pytest's

    columns: tuple[tuple[int, ...], ...]
    mask_length: int | None = None
    validation: tuple[tuple[int, ...], ...] = ()
    pool: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        for name, part in (("validation nodes", self.validation), ("a pool", self.pool)):
            if part and len(part) != len(self.columns):
                raise InputError(f"{len(self.columns)} splits have {name} for {len(part)} of them: give it for each")
        for number, test in enumerate(self.columns):
            held = {*test, *(self.validation[number] if self.validation else ())}
            if len(held) < len(test) + (len(self.validation[number]) if self.validation else 0):
                raise InputError(f"split {number} has a node twice among its test and validation nodes: each is one")
            if self.pool and held & set(self.pool[number]):
                raise InputError(f"split {number} has held-out nodes in its pool: a node is tested or asked, not both")

    @classmethod
    def of(cls, nodes: Any, graph: Graph | None = None) -> TestNodes:
        """From a mask [node], a mask [node, split] as PyTorch Geometric has for several splits, or node indices.

        Of a graph that is known, nodes may be named, too.

        Raises:
            InputError: it is none of these, or holds no node.
        """
        if graph is not None and np.ndim(nodes.cpu() if isinstance(nodes, torch.Tensor) else nodes) < 2:
            nodes = node_indices(nodes, graph, "test nodes")
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
        if self.pool:
            return min(len(np.intersect1d(labelled, column)) for column in self.pool)
        beside = self.validation or ((),) * len(self.columns)
        return min(len(np.setdiff1d(labelled, (*c, *b))) for c, b in zip(self.columns, beside, strict=True))

    def identity(self) -> dict[str, Any]:
        """As a chunk's key holds it."""
        parts = {"test_nodes": self.columns, "validation_nodes": self.validation, "pool_nodes": self.pool}
        return {
            name: hashlib.blake2b(repr(part).encode(), digest_size=8).hexdigest()
            for name, part in parts.items()
            if part or name == "test_nodes"
        }


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
    answered = graph.y if graph.y_sets is None else graph.y_sets.amin(1).long()  # -1 where there is no answer
    parts = split_arrays(answered.cpu().numpy(), graph.name, runs, seed, first_run, sizes)
    test, validation, pool = (torch.from_numpy(part).to(graph.device) for part in parts)
    return Splits(test, test if parts[1] is parts[0] else validation, pool)


class SplitArrays(NamedTuple):
    """Test and validation nodes, int64 [run, node], and the pool, bool [run, node]."""

    test: npt.NDArray[np.int64]
    validation: npt.NDArray[np.int64]
    pool: npt.NDArray[np.bool_]


def split_arrays(
    labels: npt.NDArray[np.int64],
    name: str,
    runs: int,
    seed: int,
    first_run: int = 0,
    sizes: SplitSizes | TestNodes | None = None,
) -> SplitArrays:
    """The same as arrays, of a graph of that name by its labels alone: int64 [node], -1 where there is none."""
    known = np.flatnonzero(labels >= 0)
    if len(known) == 0:
        raise InputError(
            f"graph {name!r} has no labels: a simulation needs them to answer queries; give labels, or use a session"
        )
    if isinstance(sizes, TestNodes):
        return _given(len(labels), name, known, runs, first_run, sizes)
    sizes = sizes or SplitSizes.default(len(known))
    if sizes.test < 1 or sizes.validation < 1 or sizes.test + sizes.validation >= len(known):
        raise InputError(
            f"graph {name!r} has {len(known)} labelled nodes, too few for {sizes.test} test and"
            f" {sizes.validation} validation nodes and a pool: use a graph with more labels, or smaller splits"
        )
    order = np.stack([numpy_generator(seed, "split", first_run + run).permutation(known) for run in range(runs)])
    middle, end = sizes.test, sizes.test + sizes.validation
    pool = np.zeros((runs, len(labels)), dtype=bool)
    np.put_along_axis(pool, order[:, end:], True, axis=1)
    return SplitArrays(np.ascontiguousarray(order[:, :middle]), np.ascontiguousarray(order[:, middle:end]), pool)


def _given(
    count: int, name: str, known: npt.NDArray[np.int64], runs: int, first_run: int, nodes: TestNodes
) -> SplitArrays:
    if nodes.mask_length not in (None, count):
        raise InputError(
            f"the mask of test nodes is for {nodes.mask_length} nodes, graph {name!r} has {count}: give"
            " it one entry for every node, [node] or [node, split]"
        )
    last = max(max(column, default=0) for column in (*nodes.columns, *nodes.validation, *nodes.pool))
    if last >= count:
        raise InputError(f"test node {last} is not in graph {name!r}, whose nodes are 0 to {count - 1}")
    columns, beside = (
        [np.intersect1d(np.array(column, dtype=np.int64), known) for column in part]
        for part in (nodes.columns, nodes.validation)
    )
    for part in (columns, beside):
        if any(len(column) == 0 for column in part) or len({len(column) for column in part}) > 1:
            raise InputError(
                "every split's test nodes must have labels, and every split as many of them: give one mask, or equal"
                " ones"
            )
    chosen = [(first_run + run) % len(columns) for run in range(runs)]
    test = np.stack([columns[number] for number in chosen])
    validation = np.stack([beside[number] for number in chosen]) if beside else test
    pool = np.zeros((runs, count), dtype=bool)
    if nodes.pool:
        for run, number in enumerate(chosen):
            pool[run, np.intersect1d(np.array(nodes.pool[number], dtype=np.int64), known)] = True
    else:
        pool[:, known] = True
    np.put_along_axis(pool, test, False, axis=1)
    np.put_along_axis(pool, validation, False, axis=1)
    return SplitArrays(test, validation, pool)


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
