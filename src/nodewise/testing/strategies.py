"""The contract suite of strategies."""

from __future__ import annotations

from typing import cast

import numpy as np
import torch

from nodewise.classifiers import Gcn, make_classifier
from nodewise.contracts import AsksAtRandom, AsksSeveral, HasOwnClassifier, Strategy, can
from nodewise.environment import Environment, Splits, SplitSizes, choose, draw_splits, rollout
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError
from nodewise.strategies import make_strategy
from nodewise.testing.promises import Suite, graph_parts, odd_graphs, reordered, small_graph, with_labels

__all__ = ["check_strategy"]

_EXACT = Gcn(hidden=8, dropout=0.0, closing_epochs=1)
"""Without dropout, whose draws are dealt out over all runs, a run's classifier is the same to the bit in any company.
"""

_RUNS, _BUDGET = 3, 6


def check_strategy(strategy: Strategy | str, device: str = "cpu", *, node_order: bool = True) -> None:
    """Plays a strategy on small graphs and looks whether it keeps the contract of `nodewise.contracts`.

    Args:
        strategy: an object, or a name as `make_strategy` takes it.
        device: where: ``"cpu"`` or ``"cuda"``.
        node_order: whether its choices must not depend on the order of the nodes.

    Raises:
        nodewise.testing.promises.ContractError: it does not; the sentence says which promise.
    """
    _StrategySuite(make_strategy(strategy), device, node_order).run()


class _StrategySuite(Suite):
    """Every promise of a strategy."""

    def __init__(self, strategy: Strategy, device: str, node_order: bool) -> None:
        super().__init__("strategy", strategy)
        self._strategy, self._device, self._node_order = strategy, device, node_order

    def run(self) -> None:
        """All promises, the plainest first."""
        self.identity(self._strategy)
        for promise, check in (
            ("it says what it is", self._flags),
            ("it can do what it says, and says what is used", self._capabilities),
            ("its scores are numbers for every node", self._numbers),
            ("it works on any graph", self._odd),
            ("it takes the last node of the pool", self._last),
            ("the same seed asks the same nodes", self._seed),
            ("it carries nothing but what lies in the observation's memory", self._memory),
            ("runs do not see each other", self._runs),
            ("labels that were not asked change nothing", self._unasked),
            ("it leaves the learner as it is", self._learner),
            ("it leaves what it is shown as it is", self._shown),
            ("where it does not read the budget, a shorter episode is the beginning of a longer one", self._budget),
            ("where it is stateless, it may begin anew before every query", self._stateless),
            ("where it is recordable, a step does not depend on its number in Python", self._recordable),
            ("nodes that it wants together are different nodes of the pool", self._batch),
            ("it says why a question is random, if it is", self._random),
            ("it names its own classifier, if it has one", self._own_classifier),
            ("the order of the nodes does not matter", self._order),
        ):
            with torch.no_grad(), self.own_randomness():
                self.attempt(promise, check)

    def _tensors(self, graph: Graph) -> GraphTensors:
        return GraphTensors(graph, self._device)

    def _played(
        self,
        graph: GraphTensors,
        *,
        splits: Splits | None = None,
        runs: int = _RUNS,
        budget: int = _BUDGET,
        seed: int = 0,
    ) -> torch.Tensor:
        """What is asked in an episode, int64 [run, step], on the CPU."""
        environment = Environment.of(graph, _EXACT, runs, budget)
        return rollout(environment, self._strategy, splits or draw_splits(graph, runs, 0), seed).cpu()

    def _begun(self, graph: GraphTensors, budget: int = _BUDGET) -> Environment:
        environment = Environment.of(graph, _EXACT, _RUNS, budget)
        environment.reset(0, draw_splits(graph, _RUNS, 0))
        environment.begin(self._strategy)
        return environment

    def _step(self, environment: Environment) -> torch.Tensor:
        nodes = choose(self._strategy.scores(environment.observe()), environment.pool)
        environment.query(nodes)
        environment.fit()
        return nodes.cpu()

    def _flags(self) -> None:
        strategy = self._strategy
        flags = {
            "recordable": strategy.recordable,
            "reads_budget": strategy.reads_budget,
            "stateless": strategy.stateless,
        }
        for name, flag in flags.items():
            self.expect(isinstance(flag, bool), f"{name} is True or False", f"got {flag!r}")
        size = self._strategy.bytes_per_run(self._tensors(small_graph()), 10)
        self.expect(
            isinstance(size, int) and size >= 0, "bytes_per_run() gives a whole number, at least 0", f"got {size!r}"
        )

    def _capabilities(self) -> None:
        self.capabilities(self._strategy, "strategy", self._strategy.name)

    def _numbers(self) -> None:
        graph = self._tensors(small_graph())
        environment = self._begun(graph)
        for _ in range(_BUDGET):
            scores = self._strategy.scores(environment.observe())
            wanted = [_RUNS, graph.num_nodes]
            self.expect(
                list(scores.shape) == wanted, "scores() is [run, node]", f"got {list(scores.shape)}, not {wanted}"
            )
            self.expect(
                scores.is_floating_point() and scores.device == graph.device,
                "scores() are floating-point numbers on the graph's device",
            )
            self.expect(not scores[environment.pool].isnan().any(), "scores() is a number for every node of the pool")
            self._step(environment)

    def _odd(self) -> None:
        for name, graph in odd_graphs().items():
            tensors = self._tensors(graph)

            def play(tensors: GraphTensors = tensors, name: str = name) -> None:
                splits = draw_splits(tensors, _RUNS, 0)
                asked = self._played(tensors, splits=splits)
                self.expect(splits.pool.cpu().gather(1, asked).all(), f"it asks nodes of the pool on {name}")
                self.expect(
                    all(len(set(row)) == _BUDGET for row in asked.tolist()), f"it asks each node once on {name}"
                )

            self.attempt(f"it works on {name}", play)

    def _last(self) -> None:
        graph = self._tensors(small_graph())
        for pool in (4, 1):
            rest = graph.num_nodes - pool
            splits = draw_splits(graph, _RUNS, 0, sizes=SplitSizes(rest // 2, rest - rest // 2))
            asked = self._played(graph, splits=splits, budget=pool)
            every = torch.equal(
                torch.zeros(_RUNS, graph.num_nodes, dtype=torch.bool).scatter_(1, asked, True), splits.pool.cpu()
            )
            self.expect(every, "a budget as large as the pool asks every node of it")

    def _seed(self) -> None:
        graph = self._tensors(small_graph())
        first = self._played(graph)
        self._played(graph, runs=2, budget=3, seed=5)  # an episode of another size in between leaves nothing behind
        self.expect(
            torch.equal(self._played(graph), first), "the same seed asks the same nodes, whatever was played in between"
        )

    def _memory(self) -> None:
        graph = self._tensors(small_graph())
        alone = [torch.stack([self._step(one) for _ in range(4)]) for one in (self._begun(graph), self._begun(graph))]
        one, other = self._begun(graph), self._begun(graph)
        mixed = [
            torch.stack(steps) for steps in zip(*((self._step(one), self._step(other)) for _ in range(4)), strict=True)
        ]
        same = all(torch.equal(a, b) for a, b in zip(alone, mixed, strict=True))
        self.expect(
            same,
            "two episodes at the same time do not disturb each other: what it carries lies in the observation's memory",
        )

    def _runs(self) -> None:
        graph = self._tensors(small_graph())
        one, other = draw_splits(graph, _RUNS, 0), draw_splits(graph, _RUNS, 99)
        parts = ((one.test, other.test), (one.validation, other.validation), (one.pool, other.pool))
        mixed = Splits(*(torch.cat([a[:1], b[1:]]) for a, b in parts))
        together, otherwise = self._played(graph, splits=one), self._played(graph, splits=mixed)
        self.expect(torch.equal(together[0], otherwise[0]), "a run asks the same nodes whatever happens in other runs")

    def _unasked(self) -> None:
        whole = small_graph(nodes=120)
        assert whole.y is not None
        asked = self._played(self._tensors(whole))
        others = np.setdiff1d(np.arange(whole.num_nodes), asked.numpy())
        y = np.array(whole.y)
        y[others] = np.random.default_rng(0).permutation(y[others])
        same = torch.equal(self._played(self._tensors(with_labels(whole, y))), asked)
        self.expect(same, "labels that were not asked do not change what it asks")

    def _learner(self) -> None:
        environment = self._begun(self._tensors(small_graph()))
        for _ in range(2):
            before = environment.learner.logits().clone()
            self._strategy.scores(environment.observe())
            self.expect(
                torch.equal(environment.learner.logits(), before),
                "choosing leaves the learner's predictions as they are",
            )
            self._step(environment)

    def _shown(self) -> None:
        graph = self._tensors(small_graph())
        environment = self._begun(graph)
        for _ in range(2):
            seen, queried = environment.observe(), environment.queried
            shown = {
                "pool": seen.pool,
                "labelled": seen.labelled,
                "queried.nodes": queried.nodes,
                "queried.labels": queried.labels,
            }
            with self.untouched({**graph_parts(graph), **shown}):
                environment.begin(self._strategy)
                self._strategy.scores(seen)
                if can(self._strategy, "several-queries"):
                    cast(AsksSeveral, self._strategy).batch(environment.observe(), 2)
            self._step(environment)

    def _budget(self) -> None:
        if self._strategy.reads_budget:
            return
        graph = self._tensors(small_graph())
        short, long = self._played(graph, budget=3), self._played(graph, budget=_BUDGET)
        self.expect(
            torch.equal(short, long[:, :3]),
            "with reads_budget = False, the first queries do not depend on how many there will be",
        )

    def _stateless(self) -> None:
        if not self._strategy.stateless:
            return
        graph = self._tensors(small_graph())
        environment = self._begun(graph)
        for _ in range(4):
            scores = []
            for _ in range(2):
                environment.begin(self._strategy)
                scores.append(self._strategy.scores(environment.observe()).masked_fill(~environment.pool, 0).clone())
            self.expect(
                torch.equal(*scores), "with stateless = True, beginning anew at the same moment gives the same scores"
            )
            self._step(environment)

    def _recordable(self) -> None:
        if not self._strategy.recordable:
            return
        environment = self._begun(self._tensors(small_graph()))
        environment.is_recording = True
        try:
            self._strategy.scores(environment.observe())
        except InputError as error:
            self.fail("with recordable = True, it reads observation.step, a tensor, and not step_number", str(error))

    def _batch(self) -> None:
        if not can(self._strategy, "several-queries"):
            return
        environment = self._begun(self._tensors(small_graph()))
        self._step(environment)
        self._strategy.scores(environment.observe())
        nodes = cast(AsksSeveral, self._strategy).batch(environment.observe(), 4)
        if nodes is None:
            return
        self.expect(
            list(nodes.shape) == [_RUNS, 4] and nodes.dtype == torch.int64, "batch() is int64 [run, count], or None"
        )
        self.expect(environment.pool.gather(1, nodes).all(), "batch() gives nodes of the pool")
        self.expect(all(len(set(row)) == 4 for row in nodes.tolist()), "batch() gives different nodes")

    def _random(self) -> None:
        if not can(self._strategy, "random-questions"):
            return
        graph = self._tensors(small_graph())
        environment = Environment.of(graph, _EXACT, 1, _BUDGET)
        environment.reset(0, draw_splits(graph, 1, 0))
        environment.begin(self._strategy)
        for _ in range(_BUDGET):
            why = cast(AsksAtRandom, self._strategy).why_random(environment.observe())
            self.expect(
                why is None or (isinstance(why, str) and bool(why.strip()) and not why.rstrip().endswith(".")),
                "why_random() gives a main clause without a full stop, or None",
                f"got {why!r}",
            )
            self._step(environment)

    def _own_classifier(self) -> None:
        if not can(self._strategy, "own-classifier"):
            return
        name, settings = cast(HasOwnClassifier, self._strategy).own_classifier()
        found = "a classifier"
        try:
            make_classifier(name, settings, imports=False)
        except InputError as error:
            found = str(error)
        self.expect(found == "a classifier", "own_classifier() names a classifier and its settings", found)

    def _order(self) -> None:
        if not self._node_order or self._device != "cpu":
            return
        whole = small_graph(nodes=120)
        order = np.random.default_rng(1).permutation(whole.num_nodes)
        graph, turned = GraphTensors(whole, dtype=torch.float64), reordered(whole, order, torch.float64)
        splits, index = draw_splits(graph, _RUNS, 0), torch.from_numpy(np.argsort(order))
        moved = Splits(index[splits.test], index[splits.validation], splits.pool[:, torch.from_numpy(order)])
        environment = _Reordered(turned, Environment.of(turned, _EXACT, _RUNS, _BUDGET).learner, _RUNS, _BUDGET)
        environment.order = torch.from_numpy(order)
        same = torch.equal(rollout(environment, self._strategy, moved, 0), index[self._played(graph, splits=splits)])
        self.expect(same, "the same nodes are asked when the graph's nodes stand in another order")


class _Reordered(Environment):
    """The environment of a reordered graph, with every node's own noise."""

    order: torch.Tensor

    def uniform(self, purpose: str, shape: tuple[int, ...]) -> torch.Tensor:
        drawn = super().uniform(purpose, shape)
        return drawn[..., self.order] if shape[-1] == len(self.order) else drawn
