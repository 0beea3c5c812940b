"""The protocol of section 4.1: independent runs of a strategy on a graph, scored on each run's own test nodes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from nodewise.classifiers import make_classifier
from nodewise.datasets import default_budget
from nodewise.environment import Environment, SplitSizes, Strategy, draw_splits, rollout
from nodewise.evaluation.statistics import Interval, confidence_interval
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.device import resolve_device
from nodewise.ground.errors import InputError
from nodewise.ground.events import Progress, Reporter, Silent
from nodewise.ground.seeds import derive_seed
from nodewise.policy import Policy
from nodewise.strategies import make_strategy

__all__ = ["Evaluation", "evaluate", "runs_at_once"]


@dataclass(frozen=True)
class Evaluation:
    """What a strategy reached on a graph.

    Attributes:
        micro_f1, macro_f1: percent, one value a run: [run].
        queries: the nodes in the order asked: int64 [run, step].
        seconds: wall time of the runs.
    """

    graph: str
    features: str
    strategy: str
    policy: str | None
    classifier: str
    budget: int
    runs: int
    seed: int
    device: str
    seconds: float
    micro_f1: npt.NDArray[np.float64]
    macro_f1: npt.NDArray[np.float64]
    queries: npt.NDArray[np.int64]

    @property
    def micro(self) -> Interval:
        """Mean Micro-F1 with its 95 % interval."""
        return confidence_interval(self.micro_f1)

    @property
    def macro(self) -> Interval:
        """Mean Macro-F1 with its 95 % interval."""
        return confidence_interval(self.macro_f1)

    def as_dict(self) -> dict[str, Any]:
        """The result file's record, scores in percent."""
        from nodewise import __version__

        names = ("graph", "features", "strategy", "policy", "classifier", "budget", "runs", "seed", "device", "seconds")
        scores = {
            key: {
                "mean": interval.mean,
                "ci95": None if math.isnan(interval.half_width) else interval.half_width,
                "values": values.tolist(),
            }
            for key, interval, values in (("micro_f1", self.micro, self.micro_f1), ("macro_f1", self.macro, self.macro_f1))
        }
        return {"schema": 1, "nodewise_version": __version__, **{name: getattr(self, name) for name in names}, **scores}


def runs_at_once(graph: GraphTensors) -> int:
    """How many runs make one chunk: 10 on the CPU, 50 on a GPU, fewer where the graph is so large that they would need over 4 GB.

    It depends on the graph and the kind of device alone, so that a result is the same however many workers made it.
    """
    most = 50 if graph.device.type == "cuda" else 10
    bytes_a_run = 4 * (graph.num_nodes * 64 * 4 + graph.num_features * 64 * 4 + 4 * graph.norm.entries)
    return max(1, min(most, int(4e9 // bytes_a_run)))


def evaluate(
    graph: Graph,
    strategy: str | Strategy | Policy = "policy",
    *,
    policy: str | Path | Policy | None = None,
    classifier: str = "gcn",
    budget: int | None = None,
    runs: int = 100,
    seed: int = 0,
    device: str = "auto",
    features: str = "raw",
    splits: SplitSizes | None = None,
    reporter: Reporter | None = None,
) -> Evaluation:
    """Runs a strategy on a labelled graph and scores the classifiers that it trained.

    Args:
        graph: its labels answer the queries; its features are used as they are.
        strategy: a name, a strategy, or a trained policy.
        policy: which policy the strategy ``"policy"`` uses.
        classifier: a name.
        budget: queries in each run; by default the paper's for its graphs, else five a class.
        runs: independent runs, each with its own split, weights and dropout.
        seed: everything random follows from it; splits are the same for every strategy, classifier and device.
        device: ``"auto"``, ``"cpu"`` or ``"cuda"``.
        features: what was done to the features, for the record.
        splits: sizes of the test and validation sets, if not the protocol's.
        reporter: told after every chunk.
    """
    if runs < 1:
        raise InputError(f"the number of runs must be at least 1, got {runs}")
    chosen, where = make_strategy(strategy, policy), resolve_device(device)
    tensors = GraphTensors(graph, where)
    if budget is None:  # a graph without classes is refused by the splits, which say more
        budget = default_budget(graph) if graph.num_classes else 1
    begin = time.perf_counter()
    report = reporter or Silent()
    task = f"{graph.name} {chosen.name}"
    micro, macro, queries = _all_chunks(
        tensors, chosen, classifier, budget, runs, seed, splits, lambda done: report(Progress(task, done, runs))
    )
    return Evaluation(
        graph=graph.name, features=features, strategy=chosen.name, policy=_policy_name(policy, strategy), classifier=classifier, budget=budget,
        runs=runs, seed=seed, device=where.type, seconds=time.perf_counter() - begin, micro_f1=micro, macro_f1=macro, queries=queries,
    )  # fmt: skip


def _all_chunks(
    tensors: GraphTensors, strategy: Strategy, classifier: str, budget: int, runs: int, seed: int, sizes: SplitSizes | None,
    done: Callable[[int], None],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int64]]:  # fmt: skip
    chunk = runs_at_once(tensors)
    found: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = []
    environment: Environment | None = None
    for first in range(0, runs, chunk):
        size = min(chunk, runs - first)
        drawn = draw_splits(tensors, size, seed, first, sizes)
        if environment is None or environment.runs != size:
            environment = Environment(tensors, make_classifier(classifier, tensors, size), size, budget)
        asked = rollout(environment, strategy, drawn, derive_seed(seed, "chunk", first))
        score = environment.score(drawn.test)
        found.append((score.micro.cpu(), score.macro.cpu(), asked.cpu()))
        done(first + size)
    micro, macro, asked = (torch.cat(parts) for parts in zip(*found, strict=True))
    return 100 * micro.double().numpy(), 100 * macro.double().numpy(), asked.numpy()


def _policy_name(policy: str | Path | Policy | None, strategy: str | Strategy | Policy) -> str | None:
    from nodewise.policy import DEFAULT_POLICY

    if isinstance(strategy, Policy) or (strategy == "policy" and isinstance(policy, Policy)):
        return "given"
    return str(policy or DEFAULT_POLICY) if strategy == "policy" else None
