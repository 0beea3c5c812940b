"""The protocol of section 4.1: independent runs of a strategy on a graph, scored on each run's own test nodes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodewise.contracts import Classifier, Strategy
from nodewise.datasets import as_graph
from nodewise.environment import EvaluationProtocol, SplitSizes, TestNodes
from nodewise.evaluation.contest import Contest, Method, check_counts, choose_classifier, play_contests, policy_name
from nodewise.evaluation.engine import LocalEngine
from nodewise.evaluation.results.evaluation import Evaluation
from nodewise.evaluation.task import ChunkStore
from nodewise.graph import Graph
from nodewise.ground.errors import InputError
from nodewise.ground.events import Reporter, listening
from nodewise.policy import Policy
from nodewise.strategies import make_strategy

if TYPE_CHECKING:
    import torch

__all__ = ["evaluate"]


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
    splits: SplitSizes | TestNodes | str | Path | None = None,
    test_nodes: Any = None,
    protocol: EvaluationProtocol | None = None,
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
        splits: sizes of the test and validation sets, if not the protocol's; or a file of splits, as `write_splits`
            writes it; or ``"public"``, the test and validation nodes that the data set was published with.
        test_nodes: test nodes of your own in place of random ones: a mask (PyTorch Geometric's, too, also for several
            splits), indices or names.
        protocol: rounds of several queries, labels at the start, training from scratch, wrong answers, further scores.
        progress: whether to draw a bar on standard error.
        reporter: called after every chunk.

    Example:
        >>> import nodewise as nw
        >>> result = nw.evaluate("wine", "random", budget=10, runs=3)
        >>> result.runs, result.micro_f1.shape
        (3, (3,))
    """
    check_counts(runs, budget, seed)
    if splits is not None and test_nodes is not None:
        raise InputError("both splits and test_nodes were given: sizes of random test sets, or test nodes of your own")
    chosen, engine = make_strategy(strategy, policy, strategy_settings), LocalEngine()
    where = engine.device(device if isinstance(device, str) or device is None else str(device))
    learns = choose_classifier(classifier, chosen, settings)
    loaded = as_graph(graph)
    contest = Contest(
        loaded.name,
        lambda: loaded,
        () if budget is None else (int(budget),),
        (Method(chosen, name=chosen.name),),
        int(runs),
        (learns,),
        features,
        splits if test_nodes is None else TestNodes.of(test_nodes, loaded),
        protocol=protocol,
    )
    begin = time.perf_counter()
    with listening(reporter, progress) as report:
        comparison = play_contests([contest], int(seed), where, ChunkStore(), engine, report)
    result = comparison.settings[0].outcomes[chosen.name]
    return replace(result, policy=policy_name(strategy, policy), seconds=time.perf_counter() - begin)
