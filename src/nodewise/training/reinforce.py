"""Training a policy on labelled source graphs: REINFORCE, algorithm 1 of the paper, from top to bottom.

`Explorer` is the policy while it learns; returns, their running scale and the loss are pure functions at the end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

import torch

from nodewise.classifiers import make_classifier, notes_on_graph
from nodewise.contracts import Classifier, Observation, Strategy
from nodewise.datasets import as_graph, default_budget
from nodewise.environment import Environment, draw_splits, rollout
from nodewise.evaluation.task import default_splits
from nodewise.graph import Graph
from nodewise.graph.features import prepared
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import derive_seed, resolve_device
from nodewise.ground.errors import InputError, UnknownNameError, WrongTypeError
from nodewise.ground.events import Note, Progress, Reporter, Warned, listening
from nodewise.policy import Policy, PolicySettings
from nodewise.policy.policy import state
from nodewise.training.checkpoint import DEAD_AFTER, Checkpoint, describe_sources

__all__ = [
    "Explorer",
    "RunningScale",
    "TrainingOptions",
    "TrainingSettings",
    "policy_loss",
    "stepwise_returns",
    "train_policy",
]


@dataclass(frozen=True)
class TrainingSettings:
    """How a policy is trained; the defaults are the paper's and the protocol's.

    Attributes:
        episodes: every source graph is played once in each.
        batch: runs in parallel on each graph.
        budgets: queries on each source graph.
        learning_rate: of the policy's Adam.
        first_update: episodes before it only warm up the running scale of the returns.
        reward: ``"trajectory"``: the final validation score for every step; ``"stepwise"``: each query's own gain.
        seed: everything random follows from it.
        features: what was done to each graph's features; filled in when the training begins.
        policy: the policy's shape and what it reads.
        classifier: what learns from the labels: an object, or its name; the paper's GCN by default.
    """

    budgets: tuple[int, ...]
    episodes: int = 2000
    batch: int = 5
    learning_rate: float = 0.01
    first_update: int = 10
    reward: Literal["trajectory", "stepwise"] = "trajectory"
    seed: int = 0
    features: str | tuple[str | None, ...] = ()
    policy: PolicySettings = field(default_factory=PolicySettings)
    classifier: Classifier = field(default_factory=lambda: make_classifier("gcn"))

    def __post_init__(self) -> None:
        object.__setattr__(self, "classifier", make_classifier(self.classifier))
        given: object = self.features
        object.__setattr__(self, "features", (given,) if isinstance(given, str) else tuple(self.features))
        numbers = [
            ("episodes", self.episodes),
            ("batch", self.batch),
            ("seed", self.seed),
            *(("budgets", one) for one in self.budgets),
        ]
        for name, value in numbers:
            if isinstance(value, bool) or not isinstance(value, int):
                raise WrongTypeError(f"{name} must be a whole number, got {value!r}")
        if self.episodes < 1 or self.batch < 1 or min(self.budgets, default=0) < 1:
            raise InputError(
                f"episodes, batch and budgets must be at least 1, got {self.episodes}, {self.batch} and"
                f" {list(self.budgets)}"
            )
        if not self.learning_rate > 0 or self.first_update < 0:
            raise InputError(
                f"learning_rate must be above 0 and first_update not below, got {self.learning_rate} and"
                f" {self.first_update}"
            )
        if self.reward not in ("trajectory", "stepwise"):
            raise InputError(f"unknown reward {self.reward!r}: use trajectory or stepwise")

    def as_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        plain = {
            name: getattr(self, name)
            for name in ("episodes", "batch", "learning_rate", "first_update", "reward", "seed")
        }
        learns = {"name": self.classifier.name, "settings": dict(self.classifier.identity())}
        return {
            "budgets": list(self.budgets),
            **plain,
            "features": list(self.features),
            "policy": self.policy.as_dict(),
            "classifier": learns,
        }


class TrainingOptions(TypedDict, total=False):
    """The fields of `TrainingSettings`, as `train_policy` takes them; a number for ``budgets`` is for all graphs."""

    budgets: int | Sequence[int]
    episodes: int
    batch: int
    learning_rate: float
    first_update: int
    reward: Literal["trajectory", "stepwise"]
    seed: int
    features: str | Sequence[str | None]
    policy: PolicySettings
    classifier: str | Classifier


def train_policy(
    graphs: Sequence[Graph | str | Path],
    settings: TrainingSettings | None = None,
    *,
    out: str | Path | None = None,
    resume: bool = False,
    keep_every: int = 0,
    device: str | torch.device = "auto",
    progress: bool = False,
    reporter: Reporter | None = None,
    each_episode: Callable[[dict[str, Any]], None] | None = None,
    **options: Unpack[TrainingOptions],
) -> Policy:
    """Train a policy on labelled source graphs.

    Args:
        graphs: a list of source graphs, or of their names or files; features that were not preprocessed get the
            classifier's own default.
        settings: how to train; or give its fields as keyword arguments. Budgets are by default the paper's for its
            graphs, else five a class.
        out: the policy file. Beside it are kept the last policy, the log (JSON lines) and, while training lasts, a
            checkpoint.
        resume: go on from the checkpoint beside ``out``; on the CPU the outcome is the same to the bit as undisturbed.
            A training that has ended is not done again.
        keep_every: episodes after which the policy of the moment is kept, too, as NAME.EPISODE.safetensors beside
            ``out``; 0: never.
        device: ``"auto"``, ``"cpu"`` or ``"cuda"``.
        progress: whether to draw a bar on standard error.
        reporter: gets the mean rewards after every episode.
        each_episode: called with every line of the log.
        **options: the fields of `TrainingSettings`, such as ``episodes=200``.

    Returns:
        The policy whose last 100 episodes had the best mean validation reward over the source graphs.

    Example:
        >>> import nodewise as nw
        >>> policy = nw.train_policy([nw.load_graph("wine")], episodes=2, batch=2, budgets=4)
        >>> nw.evaluate("wine", policy, budget=4, runs=2).strategy
        'policy'
    """
    if isinstance(graphs, (Graph, str, Path)) or not isinstance(graphs, Iterable):
        what = f"{graphs!r}" if isinstance(graphs, (Graph, str, Path)) else type(graphs).__name__
        raise WrongTypeError(
            f"train_policy takes a list of source graphs, got {what}: put one alone in brackets, as in"
            " train_policy([graph])"
        )
    sources_given = [as_graph(graph) for graph in graphs]
    if not sources_given:
        raise InputError("no source graph was given: name at least one labelled graph")
    settings = _settings_for(sources_given, settings, options)
    with listening(reporter, progress) as report:
        return _train(sources_given, settings, out, resume, keep_every, device, report, each_episode)


def _settings_for(
    graphs: Sequence[Graph], settings: TrainingSettings | None, options: TrainingOptions
) -> TrainingSettings:
    """The settings that are given, or made of their fields.

    Refuses graphs without labels and fields that are unknown.
    """
    for graph in graphs:
        if graph.several:
            raise InputError(
                f"nodes of the source graph {graph.name!r} may have several classes, and a policy is trained on graphs"
                " with one class a node: give such a graph"
            )
        if graph.y is None or not (graph.y >= 0).any():
            raise InputError(
                f"source graph {graph.name!r} has no labels: a policy is trained on graphs whose labels are known"
            )
    if settings is not None and options:
        raise InputError(
            f"train_policy got settings and {', '.join(options)}: give a TrainingSettings or its fields, not both"
        )
    if settings is not None:
        return settings
    given: dict[str, Any] = dict(options)
    for name in given:
        if name not in TrainingOptions.__annotations__:
            raise UnknownNameError("setting of train_policy", name, TrainingOptions.__annotations__)
    budgets = given.pop("budgets", None)
    each = (budgets,) * len(graphs) if isinstance(budgets, int) else budgets
    return TrainingSettings(
        budgets=tuple(default_budget(graph, simulated=True) for graph in graphs) if each is None else tuple(each),
        **given,
    )


def _train(
    graphs: Sequence[Graph],
    settings: TrainingSettings,
    out: str | Path | None,
    resume: bool,
    keep_every: int,
    device: str | torch.device,
    report: Reporter,
    each_episode: Callable[[dict[str, Any]], None] | None,
) -> Policy:
    """Algorithm 1."""
    wanted = settings.features or (None,) * len(graphs)
    if len(wanted) not in (1, len(graphs)):
        raise InputError(
            f"{len(graphs)} source graphs but {len(wanted)} kinds of features: give one for all, or one a graph"
        )
    learns, each = settings.classifier, wanted * len(graphs) if len(wanted) == 1 else wanted
    for graph, spec in zip(graphs, each, strict=True):
        for remark in notes_on_graph(learns, graph, spec):
            report(Note(remark))
    graphs = [prepared(graph, spec, learns.default_features(graph)) for graph, spec in zip(graphs, each, strict=True)]
    settings = replace(settings, features=tuple(graph.features for graph in graphs))
    if len(settings.budgets) != len(graphs):
        raise InputError(f"{len(graphs)} source graphs but {len(settings.budgets)} budgets: give one budget a graph")
    where = resolve_device(device)
    policy = Policy(settings.policy, derive_seed(settings.seed, "policy")).to(where)
    adam = torch.optim.Adam(policy.parameters(), lr=settings.learning_rate)
    sources = [
        _Source(graph, budget, settings, where, policy) for graph, budget in zip(graphs, settings.budgets, strict=True)
    ]
    policy.origin = describe_sources(graphs, settings)
    the_same = {key: policy.origin[key] for key in ("source_graphs", "training")}
    checkpoint = Checkpoint(out, policy, adam, [source.scale for source in sources], the_same, keep_every)
    done = checkpoint.finished() if resume else None
    if done is not None:
        return done
    recent: deque[float] = deque(maxlen=100)
    first = checkpoint.restore(recent) if resume else checkpoint.start()
    try:
        for episode in range(first, settings.episodes):
            rewards, alive = {}, episode < settings.first_update
            for number, source in enumerate(sources):
                reward, advantages = _play(source, number, episode, settings)
                if episode >= settings.first_update:
                    alive |= _update(policy, adam, source, advantages)
                rewards[
                    source.name if len({s.name for s in sources}) == len(sources) else f"{source.name}#{number}"
                ] = reward
            recent.append(sum(rewards.values()) / len(rewards))
            if checkpoint.is_dead(alive):
                report(
                    Warned(
                        f"the policy scored all nodes alike for {DEAD_AFTER} episodes up to {episode + 1}: it begins"
                        " anew"
                    )
                )
                _begin_anew(policy, adam, derive_seed(settings.seed, "policy", episode))
                checkpoint.begin_anew(episode, recent)
            line = checkpoint.after_episode(episode, rewards, recent)
            report(Progress("train", episode + 1, settings.episodes, {**rewards, "mean of last 100": line["mean_100"]}))
            if each_episode is not None:
                each_episode(line)
        return checkpoint.finish()
    except KeyboardInterrupt:
        checkpoint.interrupt()
        raise


class _Source:
    """A source graph with its environment and the running scale of its returns."""

    def __init__(
        self, graph: Graph, budget: int, settings: TrainingSettings, device: torch.device, policy: Policy
    ) -> None:
        self.name, self.budget = graph.name, budget
        self.tensors, self.splits = GraphTensors(graph, device), default_splits(graph)
        self.environment = Environment.of(self.tensors, settings.classifier, settings.batch, budget)
        self.explorer = Explorer(policy, self.environment, keep_scores=settings.reward == "stepwise")
        self.scale = RunningScale()


def _play(source: _Source, number: int, episode: int, settings: TrainingSettings) -> tuple[float, torch.Tensor]:
    """One episode on one graph: the mean reward, and the advantages [step or 1, run].

    All randomness follows from (seed, graph, episode).
    """
    seed = derive_seed(settings.seed, "source", number)
    splits = draw_splits(source.tensors, settings.batch, seed, first_run=episode * settings.batch, sizes=source.splits)
    rollout(source.environment, source.explorer, splits, derive_seed(seed, "episode", episode))
    with torch.no_grad():
        reward = source.environment.score(splits.validation).micro
        returns = reward[None] if settings.reward == "trajectory" else stepwise_returns(source.explorer.before, reward)
        return float(reward.mean()), source.scale(returns)


def _update(policy: Policy, adam: torch.optim.Adam, source: _Source, advantages: torch.Tensor) -> bool:
    """One step of Adam on the gradient over all steps of the episode at once.

    Returns:
        Whether the policy was alive: told nodes apart in at least half of the steps. With hidden units that are 0 on
        all nodes it does not, and has no gradient.
    """
    environment, states = source.environment, source.explorer.states
    runs, steps, nodes, _ = states.shape
    scores = policy(source.tensors, states.view(runs * steps, nodes, -1)).view(runs, steps, nodes)
    loss = policy_loss(scores, environment.splits.pool, environment.queries, advantages)
    adam.zero_grad()
    loss.backward()
    adam.step()
    values = scores.detach()
    return bool((values.amax(-1) > values.amin(-1)).float().mean() >= 0.5)


def _begin_anew(policy: Policy, adam: torch.optim.Adam, seed: int) -> None:
    """Fresh weights in place, since environments hold on to the policy, and an Adam that remembers nothing.

    The paper does not say what becomes of a policy whose hidden units are 0 on all nodes: it has no gradient, and would
    choose at random to the end.
    """
    policy.load_state_dict(Policy(policy.settings, seed).state_dict())
    adam.state.clear()


class Explorer(Strategy):
    """The policy while it learns.

    Nodes are sampled from its softmax over the pool, and what it saw is kept for the gradient.

    Attributes:
        states: what the policy saw: [run, step, node, feature].
        before: the validation score before each query, [run, step]; filled when ``keep_scores`` is set.
    """

    name = "explorer"
    recordable = True

    def __init__(self, policy: Policy, environment: Environment, keep_scores: bool = False) -> None:
        self.policy, self.keep_scores, self._environment = policy, keep_scores, environment
        graph, features = environment.graph, len(policy.settings.state.features)
        shape = (environment.runs, environment.budget)
        self.states = torch.zeros(*shape, graph.num_nodes, features, device=graph.device, dtype=graph.dtype)
        self.before = torch.zeros(shape, device=graph.device, dtype=graph.dtype)

    def begin(self, observation: Observation) -> None:
        """Take the episode's validation nodes; their labels are used for rewards alone."""
        if not self.keep_scores:
            return
        splits = self._environment.splits
        if not hasattr(self, "_validation"):
            self._validation = splits.validation.clone()
        self._validation.copy_(splits.validation)

    def scores(self, observation: Observation) -> torch.Tensor:
        """Scores plus Gumbel noise: the largest is a sample from their softmax over the pool."""
        seen = state(observation, self.policy.settings.state)
        observation.record(self.states, seen)
        if self.keep_scores:
            guess = observation.logits.argmax(-1).gather(1, self._validation)
            right = (guess == self._environment.graph.y[self._validation]).to(seen.dtype)
            observation.record(self.before, right.mean(1))
        drawn = observation.noise.clamp(1e-7, 1 - 6e-8)
        scores: torch.Tensor = self.policy(observation.graph, seen)
        return scores - torch.log(-torch.log(drawn))


@dataclass
class RunningScale:
    """A source graph's running mean and mean square of returns: [step] each, or [1] where all steps share one return.

    Both start from the first batch, and take in the present batch before they are used.
    """

    rate: float = 0.05
    mean: torch.Tensor | None = None
    square: torch.Tensor | None = None

    def __call__(self, returns: torch.Tensor) -> torch.Tensor:
        """Returns minus their running mean, divided by the running root mean square of what is left: [step, run]."""
        batch_mean = returns.mean(1)
        self.mean = batch_mean if self.mean is None else torch.lerp(self.mean, batch_mean, self.rate)
        left = returns - self.mean[:, None]
        batch_square = left.square().mean(1)
        self.square = batch_square if self.square is None else torch.lerp(self.square, batch_square, self.rate)
        return left / self.square.sqrt().clamp_min(1e-8)[:, None]


def stepwise_returns(before: torch.Tensor, final: torch.Tensor) -> torch.Tensor:
    """What each query and those after it gained, when every query is rewarded by its own gain in validation score.

    Gains after step t add up to the final score minus the score before step t.

    Args:
        before: the score before each query: [run, step].
        final: the score after the closing epochs: [run].

    Returns:
        [step, run].
    """
    return (final[:, None] - before).T


def policy_loss(
    scores: torch.Tensor, pool: torch.Tensor, nodes: torch.Tensor, advantages: torch.Tensor
) -> torch.Tensor:
    """−Σ over steps, mean over runs, of log p(chosen node) × advantage (section 3.4).

    Args:
        scores: the policy's scores at every step: [run, step, node].
        pool: the first pool of each run: bool [run, node].
        nodes: what was asked: int64 [run, step].
        advantages: [step, run], or [1, run] for one that all steps share.
    """
    steps = nodes.shape[1]
    when = torch.full(pool.shape, steps, device=nodes.device)
    when.scatter_(1, nodes, torch.arange(steps, device=nodes.device).expand_as(nodes))
    open_then = pool[:, None] & (
        when[:, None] >= torch.arange(steps, device=nodes.device)[None, :, None]
    )  # [run, step, node]
    masked = scores.masked_fill(~open_then, -torch.inf)
    chosen = masked.gather(2, nodes[..., None]).squeeze(2) - masked.logsumexp(2)  # [run, step]
    return -(chosen * advantages.T).sum(1).mean()
