"""How an episode is played where it is not one query at a time to an oracle that is always right.

Rounds of several queries, labels at the start, training from scratch in each round, wrong answers, nodes of which one
costs more than another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import torch

from nodewise.contracts import AsksSeveral, Classifier, Strategy, can
from nodewise.environment.environment import Environment
from nodewise.environment.runs import backend_of, checked_scores, reset_learner
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import numpy_generator
from nodewise.ground.errors import InputError
from nodewise.ground.events import count

__all__ = ["EvaluationProtocol", "ProtocolEnvironment", "most_queries", "noisy_answers", "starting_nodes"]

Score = Callable[[npt.NDArray[np.float64], npt.NDArray[np.int64]], float]
"""A score of one's own: probabilities [node, class] and the true classes [node] of a run's test nodes to a number."""


@dataclass(frozen=True)
class EvaluationProtocol:
    """How runs are played and what is scored; the defaults are the protocol's own.

    Attributes:
        round_size: queries that are chosen together; the classifier learns after each round.
        start: labels of each class, drawn at random from the pool, that are there before the first query. They count
            as labels of the budget, and all strategies begin with the same ones.
        retrain: whether a classifier that is trained is trained to the end from new weights in each round, so that the
            strategy sees it so, in place of one epoch more.
        noise: wrong answers: a rate; a rate for each node; or a table [class, class] of how often the first is answered
            as the second, each row adding up to 1. A wrong class is any other one alike. Test labels are always right.
        scores: further scores by name, see `nodewise.evaluation.SCORES`, or functions of one's own.
        cost: what a label of each node costs, [node]; the budget then counts costs. A node that costs more than what is
            left is not asked, and a run ends when none is left that can be paid. None: each costs the same.
    """

    round_size: int = 1
    start: int = 0
    retrain: bool = False
    noise: Any = 0.0
    scores: tuple[str | Score, ...] = ()
    cost: Any = None

    def __post_init__(self) -> None:
        for what, number in (("round_size", self.round_size), ("start", self.start)):
            if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
                raise InputError(f"{what} must be a whole number, received {number!r}")
            object.__setattr__(self, what, int(number))
        if self.round_size < 1 or self.start < 0:
            raise InputError(
                f"a round has at least one query and the start no fewer labels than none, got {self.round_size} and"
                f" {self.start}"
            )
        given: Any = self.scores  # one counts as a list of itself
        if not (isinstance(given, (str, Sequence)) or callable(given)):
            raise InputError(f"scores must be names or functions, received {given!r}: give a list of them")
        scores = (given,) if isinstance(given, str) or callable(given) else tuple(given)
        for score in scores:
            if not (isinstance(score, str) or callable(score)):
                raise InputError(f"a score must be a name or a function, received {score!r}")
        object.__setattr__(self, "scores", scores)
        try:
            rates = np.asarray(self.noise, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(
                f"noise must be numbers, received {self.noise!r}: give a rate such as 0.1, a rate for each node, or a"
                " table [class, class]"
            ) from None
        if rates.ndim > 2 or not ((rates >= 0) & (rates <= 1)).all():
            raise InputError("noise is a rate, a rate for each node or a table [class, class], between 0 and 1")
        if rates.ndim == 2 and (rates.shape[0] != rates.shape[1] or not np.allclose(rates.sum(1), 1)):
            raise InputError("a table of noise is [class, class], and each row adds up to 1")
        object.__setattr__(self, "noise", _tuples(rates))
        if self.cost is not None:
            object.__setattr__(self, "cost", _checked_costs(self.cost))

    @property
    def plays_as_usual(self) -> bool:
        """Whether episodes are those of the default; scores do not change them."""
        return not set(self.identity()) - {"scores"}

    @property
    def storable(self) -> bool:
        """Whether its name tells all of it: not where a score is somebody's own function."""
        return all(isinstance(score, str) for score in self.scores)

    @property
    def score_names(self) -> tuple[str, ...]:
        """What the further scores are called."""
        return tuple(score if isinstance(score, str) else score.__name__ for score in self.scores)

    def identity(self) -> dict[str, Any]:
        """What differs from the default, as a chunk's key holds it."""
        noise = self.noise
        if isinstance(noise, tuple):
            noise = hashlib.blake2b(repr(noise).encode(), digest_size=8).hexdigest()
        settings = {"round_size": self.round_size, "start": self.start, "retrain": self.retrain, "noise": noise}
        settings["cost"] = self.cost and hashlib.blake2b(repr(self.cost).encode(), digest_size=8).hexdigest()
        usual = {"round_size": 1, "start": 0, "retrain": False, "noise": 0.0, "cost": None}
        changed = {name: value for name, value in settings.items() if value != usual[name]}
        return {**changed, **({"scores": list(self.score_names)} if self.scores else {})}

    def words(self) -> str:
        """What differs from the default, for below a table; empty where nothing does, scores aside."""
        noise = self.noise
        if isinstance(noise, tuple):
            noise_words = f"wrong answers by {'class pair' if isinstance(noise[0], tuple) else 'node'}"
        else:
            noise_words = f"{100 * noise:g} % of the answers wrong" if noise else ""
        said = (
            f"rounds of {self.round_size} queries" if self.round_size > 1 else "",
            f"{self.start} label{'s' * (self.start > 1)} a class at the start" if self.start else "",
            "trained from scratch in each round" if self.retrain else "",
            noise_words,
            "the budget counts what each node costs" if self.cost is not None else "",
        )
        return ", ".join(filter(None, said))

    def amount(self, budget: int) -> str:
        """A budget in words: ``"20 labels"``, or ``"a cost of 20"``."""
        return f"a cost of {budget}" if self.cost is not None else count(budget, "label")


def _checked_costs(given: Any) -> tuple[float, ...]:
    try:
        costs = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"costs must be numbers, received {given!r}: give one for each node") from None
    if costs.ndim != 1 or not len(costs) or not (np.isfinite(costs) & (costs > 0)).all():
        raise InputError(
            f"costs are one number above 0 for each node, received {'numbers of shape ' + str(list(costs.shape))},"
            f" the smallest {costs.min(initial=np.inf):g}: leave nodes that must not be asked out of the pool by splits"
        )
    return tuple(costs.tolist())


_ROUNDING = 1e-9
"""The share of a budget by which costs may exceed it: 0.7 is taken from 7 ten times, though floats say nine."""


def most_queries(costs: npt.NDArray[np.float64], budget: float) -> int:
    """How many nodes a budget pays for at most: of the cheapest, by their costs: [node]."""
    return int((np.cumsum(np.sort(costs)) <= budget * (1 + _ROUNDING)).sum())


def _tuples(rates: npt.NDArray[np.float64]) -> Any:
    if rates.ndim == 0:
        return float(rates)
    return tuple(tuple(row) if rates.ndim == 2 else row for row in rates.tolist())


def starting_nodes(
    labels: npt.NDArray[np.int64], pool: npt.NDArray[np.bool_], per_class: int, seed: int, runs: Sequence[int]
) -> npt.NDArray[np.int64]:
    """The nodes that are labelled at the start: [run, label].

    They follow from the seed and the run's number. Where the pool has too few nodes of a class, others stand in.

    Args:
        labels: [node]. pool: [run, node].
        runs: their numbers.
    """
    classes = np.unique(labels[labels >= 0])
    rows = []
    for number, free in zip(runs, pool, strict=True):
        order = numpy_generator(seed, "start", number).permutation(np.flatnonzero(free))
        chosen = np.concatenate([order[labels[order] == one][:per_class] for one in classes])
        others = order[~np.isin(order, chosen)]
        rows.append(np.concatenate([chosen, others[: per_class * len(classes) - len(chosen)]]))
    return np.stack(rows)


def noisy_answers(
    labels: npt.NDArray[np.int64], classes: int, noise: Any, seed: int, runs: Sequence[int]
) -> npt.NDArray[np.int64]:
    """What the oracle answers for each node: [run, node]. It follows from the seed and the run's number.

    Raises:
        InputError: the noise is for other nodes or classes.
    """
    rates = np.asarray(noise, dtype=np.float64)
    wanted = {1: len(labels), 2: classes}
    if rates.ndim and len(rates) != wanted[rates.ndim]:
        what = "nodes" if rates.ndim == 1 else "classes"
        raise InputError(f"noise is given for {len(rates)} {what}, the graph has {wanted[rates.ndim]}: give one each")
    answers = []
    for number in runs:
        chance = numpy_generator(seed, "oracle", number)
        drawn, shift = chance.random(len(labels)), chance.integers(1, max(2, classes), len(labels))
        if rates.ndim == 2:
            said = (drawn[:, None] >= np.cumsum(rates, 1)[np.maximum(labels, 0)][:, :-1]).sum(1)
        else:
            said = np.where(drawn < rates, (labels + shift) % classes, labels)
        answers.append(np.where(labels >= 0, said, labels))
    return np.stack(answers)


class ProtocolEnvironment(Environment):
    """An environment whose episodes follow a protocol; it is played on the CPU.

    Args:
        budget: queries at most.
        spend: what all queries of a run may cost together, where the protocol has costs; there is one run then, since
            runs end after different numbers of queries.
    """

    def __init__(
        self,
        graph: GraphTensors,
        classifier: Classifier,
        runs: int,
        budget: int,
        protocol: EvaluationProtocol,
        spend: float | None = None,
    ) -> None:
        if not backend_of(graph.device).plays_protocols:
            raise InputError(
                "rounds, labels at the start, training from scratch, wrong answers and costs are played on the CPU:"
                " choose the device cpu"
            )
        prepared = graph.prepared_by(classifier)
        learner = classifier.start(graph.unlabelled, prepared, runs, graph.num_classes, budget)
        super().__init__(graph, learner, runs, budget)
        self._protocol, self._anew = protocol, protocol.retrain and classifier.trained
        self._answers = graph.y.expand(runs, -1)
        self._start: torch.Tensor | None = None
        self._costs, self._left = None if spend is None else torch.tensor(protocol.cost, dtype=torch.float64), spend
        self._rounding = _ROUNDING * (spend or 0.0)
        assert self._costs is None or runs == 1

    def set_up(self, seed: int, runs: Sequence[int], pool: torch.Tensor) -> None:
        """What the next episode begins with and how its oracle answers.

        Args:
            runs: the numbers of its runs. pool: bool [run, node].
        """
        labels, protocol = self.graph.y.numpy(), self._protocol
        if protocol.noise != 0.0:
            said = noisy_answers(labels, self.graph.num_classes, protocol.noise, seed, runs)
            self._answers = torch.from_numpy(said)
        if protocol.start:
            nodes = starting_nodes(labels, pool.numpy(), protocol.start, seed, runs)
            if self._costs is not None and self._left is not None:
                first = float(self._costs[nodes].sum())
                if first >= self._left:
                    raise InputError(
                        f"labels at the start that cost {first:g} leave nothing of a budget of {self._left:g}: they"
                        " count as labels, so raise the budget or begin with fewer"
                    )
            elif nodes.shape[1] >= self.budget:
                raise InputError(
                    f"{nodes.shape[1]} labels at the start leave nothing of a budget of {self.budget}: they count as"
                    " labels, so raise the budget or begin with fewer"
                )
            self._start = torch.from_numpy(nodes)

    def play_steps(self, strategy: Strategy, each_query: Callable[[int], None] | None = None) -> None:
        """Round after round, and the end."""
        if self._start is not None:
            self._ask(self._paid(self._start))
        while self.step < self.budget and self._some_can_be_paid():
            size = min(self._protocol.round_size, self.budget - self.step, int(self.pool.sum(1).min()))
            self._ask(self._paid(self._chosen(strategy, size)))
        if not self._anew:
            self.finish()

    def _some_can_be_paid(self) -> bool:
        """Takes what costs too much out of the pool."""
        if self._costs is not None and self._left is not None:
            self.pool &= self._costs <= self._left + self._rounding
        return bool(self.pool.any(1).all())

    def _paid(self, nodes: torch.Tensor) -> torch.Tensor:
        """Of a round's nodes, int64 [run, k], those that what is left pays for, in their order."""
        if self._costs is None:
            return nodes
        kept = []
        for node in nodes[0].tolist():
            price = float(self._costs[node])
            if self._left is not None and price <= self._left + self._rounding:
                self._left -= price
                kept.append(node)
        return torch.tensor([kept])

    def _chosen(self, strategy: Strategy, size: int) -> torch.Tensor:
        """The nodes of a round: those that the strategy wants together, else those that it scores highest."""
        seen = self.observe()
        if size > 1 and can(strategy, "several-queries"):
            nodes = cast(AsksSeveral, strategy).batch(seen, size)
            if nodes is not None:
                return nodes
        scores = checked_scores(strategy, strategy.scores(seen), self.pool)
        lowest = torch.finfo(scores.dtype).min
        return scores.clamp_min(lowest).masked_fill(~self.pool, -torch.inf).topk(size, 1).indices

    def _ask(self, nodes: torch.Tensor) -> None:
        """Ask for some nodes of each run, int64 [run, k], and let the learners learn from all of them."""
        labels = self._answers.gather(1, nodes)
        self.labelled.scatter_(1, nodes, True)
        self.pool.scatter_(1, nodes, False)
        for column in range(nodes.shape[1]):
            self.record(self._nodes, nodes[:, column])
            self.record(self._labels, labels[:, column])
            self.clock.tick()
        if self._anew:
            reset_learner(self.learner, self.seed, "round", self.step)
            self.learner.add(self._nodes[:, : self.step], self._labels[:, : self.step])
        else:
            self.learner.add(nodes, labels)
        self.fit()
        if self._anew:
            self.finish()
