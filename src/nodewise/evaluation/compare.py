"""Many strategies on the same splits of many graphs: work in chunks that are kept, so that nothing is done twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nodewise.contracts import Classifier, Strategy
from nodewise.datasets import as_graph, load_graph
from nodewise.environment import EvaluationProtocol, SplitSizes, TestNodes
from nodewise.evaluation.contest import Contest, Method, check_counts, play_contests
from nodewise.evaluation.engine import Engine, make_engine
from nodewise.evaluation.results.comparison import Comparison
from nodewise.evaluation.task import ChunkStore
from nodewise.graph import Graph
from nodewise.ground.errors import InputError
from nodewise.ground.events import Reporter, listening, told_apart
from nodewise.policy import Policy
from nodewise.strategies import DEFAULT_STRATEGY

if TYPE_CHECKING:
    import torch

__all__ = ["compare"]


def compare(
    graphs: str | Path | Graph | Contest | Sequence[str | Path | Graph | Contest],
    strategies: str | Strategy | Policy | Method | Sequence[str | Strategy | Policy | Method] | None = None,
    *,
    classifiers: str | Classifier | Sequence[str | Classifier] | None = None,
    budgets: Sequence[int] | int | None = None,
    features: str | None = None,
    runs: int = 100,
    splits: SplitSizes | str | Path | None = None,
    test_nodes: Any = None,
    protocol: EvaluationProtocol | None = None,
    seed: int = 0,
    device: str | torch.device = "auto",
    store: ChunkStore | str | Path | None = None,
    engine: Engine | str = "local",
    data_dir: str | Path | None = None,
    progress: bool = False,
    reporter: Reporter | None = None,
) -> Comparison:
    """Plays all strategies on all graphs with all classifiers at all budgets.

    Every strategy meets the same splits in the same runs. Scores do not depend on what else is compared, nor on what
    was kept before.

    Args:
        graphs: names, files or graphs; or contests, which say everything for their graph.
        strategies: names or strategies of your own; by default random choice and the default one.
        classifiers: names or classifiers of your own; by default each policy's own, else the default one.
        budgets: queries; by default the paper's for its graphs, else five a class.
        features: preprocessing by name; by default each classifier's own.
        runs: independent runs.
        splits: sizes of the test and validation sets, if not the protocol's; or a file of splits, as `write_splits`
            writes it; or ``"public"``, the test and validation nodes that a data set was published with.
        test_nodes: test nodes of your own, where one graph is given: a mask or indices, of a `Graph` names, too.
        protocol: rounds of several queries, labels at the start, training from scratch, wrong answers, further scores.
        seed: everything random follows from it.
        device: ``"auto"``, ``"cpu"`` or ``"cuda"``.
        store: finished chunks, or a folder for them; those that it holds are not played again. A folder outlives a
            kill.
        engine: ``"local"`` plays one chunk after another in this process, ``"ray"`` many at a time on a Ray cluster; or
            an engine of your own.
        data_dir: where names of graphs are looked for.
        progress: whether to draw a bar on standard error.
        reporter: called after every chunk, for each graph.

    Example:
        >>> import nodewise as nw
        >>> table = nw.compare("wine", ["random", "centrality"], budgets=[5, 10], runs=3)
        >>> table.graphs, table.methods
        (['wine'], ['random', 'centrality'])
    """
    given = _once(_several(graphs))
    if not given:
        raise InputError("no graph was given to compare on: name at least one")
    if test_nodes is not None and len(given) > 1:
        raise InputError(f"test nodes were given for {len(given)} graphs: they belong to one")
    check_counts(runs, None, seed)
    methods = tuple(
        Method.of(one) for one in (("random", DEFAULT_STRATEGY) if strategies is None else _several(strategies))
    )
    asked = () if budgets is None else tuple(_several(getattr(budgets, "tolist", lambda: budgets)()))
    for budget in asked:
        check_counts(runs, budget, seed)
    asked, runs, seed = tuple(dict.fromkeys(map(int, asked))), int(runs), int(seed)  # numpy's numbers are taken, too
    known = given[0] if isinstance(given[0], Graph) else None
    if splits is not None and test_nodes is not None:
        raise InputError("both splits and test_nodes were given: use one of them")
    held_out = splits if test_nodes is None else TestNodes.of(test_nodes, known)
    chosen: tuple[str | Classifier | None, ...] = tuple(_several(classifiers)) if classifiers else (None,)
    contests = [
        one
        if isinstance(one, Contest)
        else _contest(one, asked, methods, runs, chosen, features, held_out, data_dir, protocol)
        for one in given
    ]
    contests = numbered(contests, keep=[isinstance(one, Contest) for one in given])
    with listening(reporter, progress) as report:
        return play_contests(contests, seed, device, ChunkStore.of(store), make_engine(engine), report)


def numbered(contests: Sequence[Contest], keep: Sequence[bool]) -> list[Contest]:
    """The contests, a number after a graph's name where an earlier one has it: many graphs are called "graph".

    Args:
        keep: which keep their names, since the caller gave them.
    """
    names = told_apart([contest.name for contest in contests], keep)
    return [replace(contest, name=name) for contest, name in zip(contests, names, strict=True)]


def _once(graphs: list[Any]) -> list[Any]:
    """The graphs, those that were named twice, or given twice as the same object, once."""
    seen: dict[Any, Any] = {}
    for graph in graphs:
        seen.setdefault(str(graph) if isinstance(graph, (str, Path)) else id(graph), graph)
    return list(seen.values())


def _several(given: Any) -> list[Any]:
    """A list of what was given: one thing counts as a list of itself."""
    return (
        list(given)
        if isinstance(given, (list, tuple, set, frozenset, range)) or hasattr(given, "__next__")
        else [given]
    )


def _contest(
    graph: str | Path | Graph,
    budgets: tuple[int, ...],
    methods: tuple[Method, ...],
    runs: int,
    classifiers: tuple[str | Classifier | None, ...],
    features: str | None,
    splits: SplitSizes | TestNodes | str | Path | None,
    data_dir: str | Path | None,
    protocol: EvaluationProtocol | None,
) -> Contest:
    if not isinstance(graph, (str, Path)):
        held = as_graph(graph)
        return Contest(
            held.name, lambda: held, budgets, methods, runs, classifiers, features, splits, protocol=protocol
        )
    folder = None if data_dir is None else str(data_dir)
    return Contest(
        str(graph),
        lambda: load_graph(graph, data_dir=data_dir),
        budgets,
        methods,
        runs,
        classifiers,
        features,
        splits,
        str(graph),
        folder,
        protocol,
    )
