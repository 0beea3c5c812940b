"""The protocol of section 4.1: independent runs of a strategy on a graph, scored on each run's own test nodes."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nodewise.classifiers import make_classifier, notes_on_features
from nodewise.contracts import Classifier, Strategy
from nodewise.datasets import as_graph, default_budget
from nodewise.environment import SplitSizes, TestNodes
from nodewise.evaluation.statistics import Interval, confidence_interval
from nodewise.evaluation.task import Chunk, GraphReference, Player, Task, default_splits, runs_at_once
from nodewise.graph import Graph
from nodewise.graph.features import prepared
from nodewise.ground.compute import resolve_device
from nodewise.ground.errors import InputError
from nodewise.ground.events import Note, Progress, Reporter, Warned, listening
from nodewise.policy import DEFAULT_POLICY, Policy
from nodewise.strategies import DEFAULT_STRATEGY, Learned, make_strategy, parse_strategy

if TYPE_CHECKING:
    import pandas as pd
    import torch
    from matplotlib.figure import Figure

__all__ = ["Evaluation", "choose_classifier", "evaluate", "policy_name"]


@dataclass(frozen=True, repr=False)
class Evaluation:
    """What a strategy reached on a graph.

    Attributes:
        features: what was done to the features. micro_f1, macro_f1: percent, one value a run: [run].
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

    def to_dataframe(self) -> pd.DataFrame:
        """One row a run: what was run, and its scores in percent. Needs pandas."""
        from nodewise.evaluation.showing import evaluation_frame

        return evaluation_frame(self)

    def plot(self, path: str | Path | None = None) -> Figure:
        """Every run's Micro-F1 and Macro-F1 as dots, their means and 95 % intervals beside them.

        Args:
            path: where to write it, by its ending .png, .svg or .pdf; None: nowhere.
        """
        from nodewise.evaluation.showing import plot_evaluation

        return plot_evaluation(self, path)

    def __repr__(self) -> str:
        from nodewise.evaluation.showing import evaluation_line

        return evaluation_line(self)

    def _repr_html_(self) -> str:
        from nodewise.evaluation.showing import evaluation_html

        return evaluation_html(self)

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
            for key, interval, values in (
                ("micro_f1", self.micro, self.micro_f1),
                ("macro_f1", self.macro, self.macro_f1),
            )
        }
        return {"schema": 1, "nodewise_version": __version__, **{name: getattr(self, name) for name in names}, **scores}


def evaluate(
    graph: Graph | str | Path,
    strategy: str | Strategy | Policy | None = None,
    *,
    policy: str | Path | Policy | None = None,
    classifier: str | Classifier | None = None,
    settings: Mapping[str, Any] | None = None,
    strategy_settings: Mapping[str, Any] | None = None,
    budget: int | None = None,
    runs: int = 100,
    seed: int = 0,
    device: str | torch.device = "auto",
    features: str | None = None,
    splits: SplitSizes | None = None,
    test_nodes: Any = None,
    progress: bool = False,
    reporter: Reporter | None = None,
) -> Evaluation:
    """Runs a strategy on a labelled graph and scores the classifiers that it trained.

    Args:
        graph: a graph, or its name or file; its labels answer the queries.
        strategy: a name, a strategy of your own, or a trained policy; the default one if None.
        policy: which policy the strategy ``"policy"`` uses.
        classifier: a name or a classifier of your own; by default the policy's own, else the default one.
        settings: of the classifier, where it is given by name.
        strategy_settings: of the strategy, where it is given by name.
        budget: queries in each run; by default the paper's for its graphs, else five a class, at most half the pool.
        runs: independent runs, each with its own split, weights and dropout.
        seed: everything random follows from it; splits are the same for every strategy, classifier and device.
        device: ``"auto"``, ``"cpu"`` or ``"cuda"``.
        features: preprocessing by name; by default the classifier's own. Features that were preprocessed before are
            left alone.
        splits: sizes of the test and validation sets, if not the protocol's.
        test_nodes: test nodes of your own in place of random ones: a mask (PyTorch Geometric's, too, also for several
            splits) or indices.
        progress: whether to draw a bar on standard error.
        reporter: told after every chunk.

    Example:
        >>> import nodewise as nw
        >>> result = nw.evaluate("wine", "random", budget=10, runs=3)
        >>> result.runs, result.micro_f1.shape
        (3, (3,))
    """
    check_counts(runs, budget, seed)
    chosen, where = make_strategy(strategy, policy, strategy_settings), resolve_device(device)
    learns = choose_classifier(classifier, chosen, settings)
    graph = as_graph(graph)
    remarks = notes_on_features(learns, graph, features)
    graph = prepared(graph, features, learns.default_features(graph))
    if splits is not None and test_nodes is not None:
        raise InputError("both splits and test_nodes were given: sizes of random test sets, or test nodes of your own")
    given: SplitSizes | TestNodes | None = splits if test_nodes is None else TestNodes.of(test_nodes)
    held_out = default_splits(graph) if given is None else given
    if budget is None:
        budget = simulated_budget(graph, given)
    begin = time.perf_counter()
    player, reference = Player(), GraphReference.of(graph)
    player.hold(graph, reference)
    chunks = []
    with listening(reporter, progress) as report:
        for remark in remarks:
            report(Note(remark))
        tensors = player.tensors(reference, str(where))
        tensors.prepared_by(learns, report)
        size = runs_at_once(tensors, learns, chosen, budget)
        for first in range(0, runs, size):
            task = Task(
                reference, learns, chosen, (budget,), seed, first, min(size, runs - first), held_out, device=str(where)
            )
            chunks.append(player.play(task)[budget])
            report(Progress(f"{graph.name} {chosen.name}", min(first + size, runs), runs))
        whole = Chunk.joined(chunks)
        warn_of_flat_scores(chosen.name, whole.queries, report)
    return Evaluation(
        graph=graph.name,
        features=graph.features,
        strategy=chosen.name,
        policy=policy_name(strategy, policy),
        classifier=learns.name,
        budget=budget,
        runs=runs,
        seed=seed,
        device=where.type,
        seconds=time.perf_counter() - begin,
        micro_f1=whole.micro_f1,
        macro_f1=whole.macro_f1,
        queries=whole.queries,
    )


def policy_name(strategy: object, policy: str | Path | Policy | None) -> str | None:
    """The policy that a strategy uses, as the caller named it; None where it uses none."""
    if isinstance(strategy, (Policy, Learned)) or isinstance(policy, Policy):
        return "given"
    if strategy is None:
        strategy = DEFAULT_STRATEGY if policy is None else "policy"
    name, settings = parse_strategy(strategy) if isinstance(strategy, str) else ("", {})
    return str(policy or settings.get("policy") or DEFAULT_POLICY) if name == "policy" else None


def choose_classifier(
    classifier: str | Classifier | None, strategy: Strategy, settings: Mapping[str, Any] | None = None
) -> Classifier:
    """The classifier that is asked for, else the own one of the strategy's policy, else the default."""
    if classifier is None and isinstance(strategy, Learned):
        name, own = strategy.policy.classifier
        return make_classifier(name, {**own, **(settings or {})}, imports=False)
    return make_classifier(classifier, settings)


def simulated_budget(graph: Graph, held_out: SplitSizes | TestNodes | None = None) -> int:
    """The default budget of a graph.

    Where a caller says what is held out, at most half of the pool that this leaves.
    """
    if not graph.num_classes:
        return 1  # the splits refuse such a graph, and say more
    budget = default_budget(graph, simulated=True)
    if held_out is None or graph.y is None:
        return budget
    labelled = np.flatnonzero(graph.y >= 0)
    pool = (
        held_out.pool_size(labelled)
        if isinstance(held_out, TestNodes)
        else len(labelled) - held_out.test - held_out.validation
    )
    return max(1, min(budget, pool // 2))


def check_counts(runs: int, budget: int | None, seed: int) -> None:
    """Refuses numbers that are none: a run count or budget below 1 or not whole, a seed that is None."""
    for name, value, least in (("number of runs", runs, 1), ("budget", budget, 1), ("seed", seed, 0)):
        if name == "budget" and value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise InputError(f"the {name} must be a whole number, at least {least}, got {value!r}")


def warn_of_flat_scores(strategy: str, queries: npt.NDArray[np.int64], report: Reporter) -> None:
    """Tells of a strategy that asked nodes in the order of their numbers in every run, as one does that scores all
    alike.

    Args:
        queries: the nodes in the order asked: [run, step]; with fewer than five steps this may be chance.
    """
    if queries.shape[1] >= 5 and bool((np.diff(queries, axis=1) > 0).all()):
        report(
            Warned(
                f"strategy {strategy!r} asked nodes in the order of their numbers in every run, as it does where it"
                " scores all alike: give different scores, or add observation.noise to choose among equals at random"
            )
        )
