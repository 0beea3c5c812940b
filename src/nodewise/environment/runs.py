"""Runs over one graph as a strategy sees them, whoever answers; how learners are led, in an episode as in a session;
and what computes on the CPU.

`backend_of` is the one place of this room that asks for a device's kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Any, Protocol

import torch

from nodewise.contracts import Learner, Queried, Strategy, can
from nodewise.environment.backend import Backend, Episode
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import derive_seed, numpy_generator
from nodewise.ground.errors import InputError
from nodewise.ground.events import Reporter
from nodewise.ground.shared_column import MANY_CLASSES, SharedColumn

__all__ = [
    "Columns",
    "CpuBackend",
    "CpuClock",
    "EnvironmentObservation",
    "Runs",
    "SessionEnvironment",
    "backend_of",
    "break_ties",
    "checked_logits",
    "checked_scores",
    "choose",
    "finish_learner",
    "fit_learner",
    "reset_learner",
]

Columns = int | tuple[int, ...]
"""The classifier's column of a node's class; where it may have several, all of them in order."""

LOG_SMALLEST = -23.025850929940457  # log 1e-10: smaller probabilities count as 1e-10 in logarithms


class Runs:
    """What a simulation and a person's session have in common: a learner, what is labelled, what may be asked, and when
    it is.

    Attributes:
        learner: what learns from the answers. labelled, pool: bool [run, node].
        budget: queries that an episode has room for.
        clock: counts the queries and draws numbers. backend: what computes.
        memory: what the present strategy keeps from step to step.
        recording: a step that the backend has recorded. is_recording: whether one is being recorded.
    """

    several = False
    """Whether a node may have several classes."""

    def __init__(self, graph: GraphTensors, learner: Learner, runs: int, budget: int) -> None:
        self.graph, self.learner, self.runs, self.budget = graph, learner, runs, budget
        self.labelled = torch.zeros(runs, graph.num_nodes, dtype=torch.bool, device=graph.device)
        self.pool = torch.zeros(runs, graph.num_nodes, dtype=torch.bool, device=graph.device)
        self.backend = backend_of(graph.device)
        self.clock = self.backend.clock(graph.device)
        self.memory: dict[str, Any] = {}
        self._remembered: Strategy | None = None
        self.recording: object = None
        self.is_recording = False

    @property
    def step(self) -> int:
        """Queries made since the reset."""
        return self.clock.count

    @property
    def queried(self) -> Queried:
        """The nodes asked so far and their answers, padded to the budget."""
        raise NotImplementedError

    def observe(self) -> EnvironmentObservation:
        """What a strategy may see now."""
        return EnvironmentObservation(self)

    def begin(self, strategy: Strategy) -> None:
        """Let a strategy begin its episode; what another one remembered is forgotten."""
        if strategy is not self._remembered:
            self.memory, self._remembered, self.recording = {}, strategy, None
        strategy.begin(self.observe())

    def record(self, table: torch.Tensor, values: torch.Tensor) -> None:
        """Write the present step's values, [run, ...], into a table of all steps, [run, step, ...]."""
        self.clock.write(table, values)

    def uniform(self, purpose: str, shape: tuple[int, ...]) -> torch.Tensor:
        """Uniform numbers in [0, 1) that follow from the seed, the step and the purpose."""
        return self.clock.uniform(purpose, shape, self.graph.dtype)


class SessionEnvironment(Runs):
    """What a strategy looks at when a person answers: a single run, as in the simulated environment.

    It has no labels but those of people: its graph carries none.

    Attributes:
        candidates: the nodes that may ever be asked, bool [node].
        several: whether a node may have several classes.
    """

    def __init__(
        self, graph: GraphTensors, learner: Learner, budget: int, candidates: torch.Tensor, several: bool = False
    ) -> None:
        super().__init__(graph.unlabelled, learner, 1, budget)
        self._seed = 0
        self.candidates, self.several = candidates, several
        self._asked: list[int] = []
        self._answers: list[Columns] = []

    def clear(self, seed: int) -> None:
        """Nothing labelled; the pool is all candidates."""
        self._seed = seed
        self.clock.reset(seed)
        self.labelled.zero_()
        self.pool[0] = self.candidates
        self._asked, self._answers = [], []

    def take(self, node: int, label: Columns) -> None:
        """A node's label, by the classifier's column of its class, or of its classes."""
        self.take_all([(node, label)])

    def take_all(self, labels: Sequence[tuple[int, Columns]]) -> None:
        """Many nodes' labels at once."""
        if not labels:
            return
        nodes = torch.tensor([node for node, _ in labels])
        answers = [label for _, label in labels]
        self.labelled[0, nodes] = True
        self.pool[0, nodes] = False
        self._asked += nodes.tolist()
        self._answers += answers
        self.clock.count = len(self._asked)
        self.learner.add(nodes[None], self._as_tensor(answers)[None])

    def go_back(self, taken: list[tuple[int, Columns]]) -> None:
        """To the moment when just these nodes had been taken in; the learner is restored by the caller."""
        self.clear(self._seed)
        self._asked, self._answers = [node for node, _ in taken], [label for _, label in taken]
        self.clock.count = len(taken)
        if taken:
            nodes = torch.tensor(self._asked)
            self.labelled[0, nodes] = True
            self.pool[0, nodes] = False

    @property
    def taken(self) -> list[tuple[int, Columns]]:
        """The nodes labelled so far with the columns of their classes, in order."""
        return list(zip(self._asked, self._answers, strict=True))

    @property
    def queried(self) -> Queried:
        """The nodes labelled so far and their answers, padded to the budget."""
        room = max(self.budget, self.step)
        nodes = torch.zeros(1, room, dtype=torch.int64)
        nodes[0, : self.step] = torch.tensor(self._asked, dtype=torch.int64)
        answers = self._as_tensor(self._answers)
        labels = torch.zeros(1, room, *answers.shape[1:], dtype=answers.dtype)
        labels[0, : self.step] = answers
        return Queried(nodes, labels, torch.arange(room)[None] < self.step)

    def _as_tensor(self, answers: Sequence[Columns]) -> torch.Tensor:
        """Answers as the learner takes them: int64 [label], or 0 and 1 where there may be several, [label, class]."""
        if not self.several:
            return torch.tensor(answers, dtype=torch.int64)
        table = torch.zeros(len(answers), self.learner.num_classes, dtype=torch.int8)
        for row, columns in enumerate(answers):
            table[row, list(columns if isinstance(columns, tuple) else (columns,))] = 1
        return table


class EnvironmentObservation:
    """One moment of all runs of an environment; it fulfils `nodewise.contracts.Observation`.

    Attributes:
        has_predictions: whether somebody has looked at the predictions of all nodes, which are then there.
    """

    def __init__(self, environment: Runs) -> None:
        self._environment = environment
        self.graph: GraphTensors = environment.graph.unlabelled
        self.budget = environment.budget
        self.labelled, self.pool = environment.labelled, environment.pool
        self.learner: Learner = environment.learner
        self.several = environment.several
        self.memory: dict[str, Any] = environment.memory
        self.has_predictions = False

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
        return self._environment.clock.step

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
        """log p (not below log 1e-10), p and Σ p log p side by side: [run, node, 2 class + 1].

        Where a node may have several classes, of each class by itself, and Σ p log p + (1 − p) log (1 − p).
        """
        self.has_predictions = True
        if self.several:
            return _predictions_of_sets(self.logits)
        return self._environment.backend.predictions(self.logits)

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

        Both are zero for a node without neighbours (section 3.2).
        """
        # no kernel of a GPU knows weights: what computes on the CPU does so on any device
        backend = CpuBackend() if self.graph.weighted or self.several else self._environment.backend
        return backend.divergences(self.graph, _both_sides(self.logits) if self.several else self._packed)

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


def _predictions_of_sets(odds: torch.Tensor) -> torch.Tensor:
    """log p, p and the sum of the classes' negative entropies side by side: [run, node, 2 class + 1]."""
    log_p, log_not = (torch.nn.functional.logsigmoid(part).clamp_min(LOG_SMALLEST) for part in (odds, -odds))
    p = log_p.exp()
    return torch.cat([log_p, p, (p * log_p + log_not.exp() * log_not).sum(-1, keepdim=True)], -1)


def _both_sides(odds: torch.Tensor) -> torch.Tensor:
    """The same with each class and its absence as two columns, whose divergences add up: [run, node, 4 class + 1]."""
    log_p = torch.nn.functional.logsigmoid(torch.cat([odds, -odds], -1)).clamp_min(LOG_SMALLEST)
    p = log_p.exp()
    return torch.cat([log_p, p, (p * log_p).sum(-1, keepdim=True)], -1)


def reset_learner(learner: Learner, seed: int, *path: int | str) -> None:
    """Let a learner forget all labels, with the seed of the draw that ``path`` names.

    Many libraries take seeds of 32 bits only, so that is what a learner is given that does not say it takes longer
    ones.
    """
    drawn = derive_seed(seed, *path)
    learner.reset(drawn if can(learner, "long-seeds") else drawn >> 31)


def fit_learner(learner: Learner) -> None:
    """Let a learner learn from its labels, with gradients on, wherever this is called."""
    with torch.enable_grad():
        learner.fit()


def finish_learner(learner: Learner, reporter: Reporter | None = None) -> None:
    """Let a learner train to the end, with gradients on, wherever this is called."""
    with torch.enable_grad():
        learner.finish(reporter)


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
    if backend_of(logits.device).has_nan(logits):
        raise InputError(
            f"{name} gave logits that are not numbers: every node needs a prediction, before the first label as well"
        )
    return logits


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
    if backend_of(scores.device).has_nan(scores, pool):
        raise InputError(
            f"strategy {strategy.name!r} gave scores that are not numbers for nodes of the pool: each needs one, -inf"
            " for 'never'"
        )
    return scores


def choose(scores: torch.Tensor, pool: torch.Tensor) -> torch.Tensor:
    """The pool node with the largest score in each run: int64 [run].

    A score of -inf is the lowest, yet above any outside the pool.
    """
    return scores.clamp_min(torch.finfo(scores.dtype).min).masked_fill(~pool, -torch.inf).argmax(1)


def break_ties(scores: torch.Tensor, observation: _PoolAndNoise) -> torch.Tensor:
    """The same scores with noise added to those that share the pool's maximum, so that `choose` takes one of them at
    random: [run, node].

    The order of all other nodes stays as it is.
    """
    best = scores.masked_fill(~observation.pool, -torch.inf).amax(1, keepdim=True)
    return torch.where(scores == best, scores + observation.noise, scores)


def backend_of(device: torch.device) -> Backend:
    """The backend for a device."""
    return _backend(device.type)


@cache
def _backend(kind: str) -> Backend:
    if kind == "cuda":
        from nodewise.environment.cuda import CudaBackend

        return CudaBackend()
    return CpuBackend()


class CpuBackend:
    """What computes on the CPU."""

    plays_protocols = True

    def clock(self, device: torch.device) -> CpuClock:
        """A clock at step 0."""
        return CpuClock()

    def predictions(self, logits: torch.Tensor) -> torch.Tensor:
        """log p, p and Σ p log p side by side."""
        shared = SharedColumn.found_in(logits) if logits.shape[-1] >= MANY_CLASSES else None
        if shared is not None:
            narrow = shared.narrow(logits)
            narrow = narrow - narrow.amax(-1, keepdim=True)
            log_p = (narrow - (narrow.exp() * shared.times).sum(-1, keepdim=True).log()).clamp_min(LOG_SMALLEST)
            p = log_p.exp()
            negative = (p * log_p * shared.times).sum(-1, keepdim=True)
            return torch.cat([shared.spread(log_p), shared.spread(p), negative], -1)
        shifted = logits - logits.amax(-1, keepdim=True)
        log_p = (shifted - shifted.exp().sum(-1, keepdim=True).log()).clamp_min(LOG_SMALLEST)
        p = log_p.exp()
        return torch.cat([log_p, p, (p * log_p).sum(-1, keepdim=True)], -1)

    def divergences(self, graph: GraphTensors, packed: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Two sparse products in one.

        With m the mean over neighbours, by their edges' weights where there are any, the first is
        Σ p log p − p·m(log p), the second m(Σ p log p) − log p·m(p).
        """
        classes = packed.shape[-1] // 2
        log_p, p, negative = packed[..., :classes], packed[..., classes:-1], packed[..., -1]
        shared = SharedColumn.found_in(log_p) if classes >= MANY_CLASSES else None
        if shared is not None:
            classes, log_p, p = len(shared.kept), shared.narrow(log_p), shared.narrow(p)
            packed = torch.cat([log_p, p, negative[..., None]], -1)
            log_p, p = log_p * shared.times, p * shared.times
        means = graph.adjacency.mm(packed) / graph.divisor[:, None]
        forward = negative * (graph.degree > 0) - (p * means[..., :classes]).sum(-1)
        reverse = means[..., -1] - (log_p * means[..., classes : 2 * classes]).sum(-1)
        return forward, reverse

    def has_nan(self, values: torch.Tensor, among: torch.Tensor | None = None) -> bool:
        """Whether one of the values is not a number."""
        if among is not None:
            values = values.masked_fill(~among, 0)
        return bool(values.sum().isnan()) and bool(values.isnan().any())  # the sum takes a fraction of the time

    def play(self, episode: Episode, strategy: Strategy, each_query: Callable[[int], None] | None = None) -> None:
        """Step by step."""
        episode.play_steps(strategy, each_query)


class CpuClock:
    """Counts in Python; each draw has a generator of its own, by seed, purpose and step."""

    def __init__(self) -> None:
        self.count = 0
        self._seed = 0

    @property
    def step(self) -> torch.Tensor:
        """Queries made since the reset, int64 [1]."""
        return torch.tensor([self.count])

    def reset(self, seed: int) -> None:
        """Back to step 0, with an episode's seed."""
        self._seed, self.count = seed, 0

    def tick(self) -> None:
        """One step on."""
        self.count += 1

    def write(self, table: torch.Tensor, values: torch.Tensor) -> None:
        """Write values [run, ...] at the present step of a table [run, step, ...]."""
        table[:, self.count] = values

    def uniform(self, purpose: str, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        """Uniform numbers in [0, 1) that follow from the seed, the step and the purpose."""
        generator = numpy_generator(self._seed, purpose, self.count)
        return torch.from_numpy(generator.random(shape, dtype="float32")).to(dtype)


class _PoolAndNoise(Protocol):
    """The part of an observation that settles ties."""

    @property
    def pool(self) -> torch.Tensor: ...

    @property
    def noise(self) -> torch.Tensor: ...
