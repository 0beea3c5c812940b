"""Plays a part of an experiment: its methods on its graphs, what cannot be played being named instead of hidden."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from nodewise.classifiers import Gcn
from nodewise.datasets import data_folder, default_budget, default_features, load_graph
from nodewise.evaluation.compare import compare
from nodewise.evaluation.contest import Contest, Method
from nodewise.evaluation.engine import Engine
from nodewise.evaluation.results.comparison import Setting
from nodewise.evaluation.results.evaluation import Evaluation
from nodewise.evaluation.results.statistics import PairedComparison, holm, paired_comparison
from nodewise.evaluation.task import ChunkStore
from nodewise.experiments.gpa.experiments import Part, Row
from nodewise.experiments.gpa.numbers import paper_table
from nodewise.experiments.gpa.trainings import (
    AgeSettings,
    age_settings,
    find_file,
    find_trained,
    missing_command,
    released_policy,
)
from nodewise.graph import Graph
from nodewise.ground.errors import DownloadError, UnknownNameError
from nodewise.ground.events import Event, Progress, Reporter

__all__ = ["Arrangement", "play_part", "settings_of"]

LARGE = 10_000
"""Nodes above which a graph counts as large: ``--quick`` plays fewer runs on it."""


@dataclass(frozen=True)
class Arrangement:
    """How experiments are played.

    Attributes:
        runs, large_runs: independent runs on graphs of up to 10,000 nodes, and on larger ones.
        store: finished chunks, shared by all experiments: what two of them need is played once.
        classifier: what learns in all of them.
        policies: folder of policy files; None: ``policies`` in the present one, else those that come with nodewise.
        engine: where chunks are played.
    """

    runs: int
    large_runs: int
    seed: int
    device: str
    store: ChunkStore
    reporter: Reporter
    policies: Path | None = None
    data_dir: Path | None = None
    classifier: Gcn = field(default_factory=Gcn)
    engine: Engine | str = "local"


def play_part(part: Part, how: Arrangement) -> dict[str, Any]:
    """Plays a part.

    Returns:
        The part's record for the result file.
    """
    settings, missing = settings_of(part, how)
    tests = _leads(part, settings)
    played = [
        {
            "graph": setting.graph,
            "features": setting.features,
            "classifier": setting.classifier,
            "budget": setting.budget,
            "results": [
                {**_scores(outcome, name), "paper": _beside(part, name, setting.graph)}
                for name, outcome in setting.outcomes.items()
            ],
            "leads": [test.as_dict() for test in leads],
        }
        for setting, leads in zip(settings, tests, strict=True)
    ]
    return {
        "title": part.title,
        "stand_in": part.stand_in,
        "table": None if part.table is None else paper_table(part.table).place,
        "against": part.against,
        "policies": _origins(part, how),
        "age": _age_record(part, how),
        "settings": played,
        "missing": missing,
    }


def settings_of(part: Part, how: Arrangement) -> tuple[list[Setting], list[dict[str, str]]]:
    """Plays a part: every graph and budget with what all methods reached there, and what is missing and why."""
    settings: dict[tuple[str, int], Setting] = {}
    missing: dict[str, dict[str, str]] = {}
    for name in part.graphs:
        try:
            contests = list(_contests(part, name, how, missing))
        except (DownloadError, UnknownNameError) as error:
            missing[name] = {"what": name, "why": str(error)}
            continue
        if not contests:
            continue
        comparison = compare(
            contests, seed=how.seed, device=how.device, store=how.store, engine=how.engine, reporter=how.reporter
        )
        for setting in comparison.settings:
            key = (setting.graph, setting.budget)
            outcomes = {**(settings[key].outcomes if key in settings else {}), **setting.outcomes}
            settings[key] = replace(
                setting, outcomes={row.label: outcomes[row.label] for row in part.rows if row.label in outcomes}
            )
    return list(settings.values()), list(missing.values())


def _contests(part: Part, name: str, how: Arrangement, missing: dict[str, dict[str, str]]) -> Iterator[Contest]:
    """One contest for the methods that all budgets share, and one for each budget that has policies of its own."""
    graph = load_graph(name, features=default_features(name), data_dir=how.data_dir)
    features = "raw" if graph.has_features else "structural"
    budgets = part.budgets or (default_budget(graph),)
    runs = how.large_runs if graph.num_nodes > LARGE else how.runs
    single = [row for row in part.rows if isinstance(row.training, tuple) or row.age_budgets]
    groups = [(budgets, [row for row in part.rows if row not in single])] + [((budget,), single) for budget in budgets]
    for some, rows in groups:
        methods = tuple(method for row in rows if (method := _method(row, some[0], how, missing)) is not None)
        if methods:
            folder = None if how.data_dir is None else str(how.data_dir)
            yield Contest(
                name,
                partial(_same, graph),
                tuple(some),
                methods,
                runs,
                (how.classifier,),
                features,
                source=name,
                data_dir=folder,
            )


def _same(graph: Graph) -> Graph:
    return graph


def _method(row: Row, budget: int, how: Arrangement, missing: dict[str, dict[str, str]]) -> Method | None:
    """The method that a row stands for.

    None, and a line among what is missing, where its policy or weights are not there.
    """
    if row.age_sources:
        chosen = _age(row, budget, how)
        if chosen is None:
            absent = ",".join(
                f"age-{source}" for source in row.age_sources if find_file(f"age-{source}.json", how.policies) is None
            )
            missing[row.label] = _absent(row.label, f"AGE's weights from {' and '.join(row.age_sources)}", absent, how)
            return None
        return Method(row.strategy, settings=chosen.settings, name=row.label)
    if row.released is not None:
        policy = released_policy(row.released, data_folder(how.data_dir))
        if policy is None:
            why = f"the authors' state dict pretrain_{row.released}.pkl is not in the data folder"
            missing[row.label] = {"what": row.label, "why": why}
            return None
        return Method("policy", policy=policy, name=row.label)
    training = dict(row.training)[budget] if isinstance(row.training, tuple) else row.training
    if training is None:
        return Method(row.strategy, name=row.label)
    policy = find_trained(training, how.policies)
    if policy is None:
        missing[training] = _absent(row.label, f"the policy {training}", training, how)
        return None
    return Method("policy", policy=policy, name=row.label)


def _age(row: Row, budget: int, how: Arrangement) -> AgeSettings | None:
    return age_settings(row.age_sources, row.age_fixed, dict(row.age_budgets).get(budget), how.policies)


def _age_record(part: Part, how: Arrangement) -> list[dict[str, Any]]:
    """What AGE was played with, by row and, where they differ, by budget."""
    records = []
    for row in part.rows:
        for budget in dict(row.age_budgets) or (0,):
            chosen = _age(row, budget, how) if row.age_sources else None
            if chosen is not None:
                record = {
                    "name": row.label,
                    "sources": list(row.age_sources),
                    **chosen.settings,
                    "searched": chosen.searched,
                }
                records.append({**record, **({"budget": budget} if budget else {})})
    return records


def _origins(part: Part, how: Arrangement) -> dict[str, Any]:
    """Where each of our policies comes from.

    Episodes, batch, seed, and the episode that was best on the source graphs.
    """
    names = [
        name
        for row in part.rows
        for name in ([row.training] if isinstance(row.training, str) else [n for _, n in row.training or ()])
    ]
    origins = {}
    for name in dict.fromkeys(names):
        policy = find_trained(name, how.policies)
        if policy is not None:
            origin = {**policy.origin.get("training", {}), **policy.origin}
            kept = ("episodes", "batch", "budgets", "seed", "episode", "best_mean_reward_of_100")
            origins[name] = {key: origin[key] for key in kept if key in origin}
    return origins


def _absent(label: str, what: str, names: str, how: Arrangement) -> dict[str, str]:
    return {"what": label, "why": f"no file holds {what}: run {missing_command(names, how.policies)}"}


def _leads(part: Part, settings: Sequence[Setting]) -> list[list[PairedComparison]]:
    """The lead of one method over every other in each setting, Holm-corrected over the whole part."""
    tests = [
        (
            [
                paired_comparison(scores[part.against], scores[name], (part.against, name))
                for name in scores
                if name != part.against
            ]
            if part.against is not None and part.against in scores
            else []
        )
        for scores in (setting.scores() for setting in settings)
    ]
    corrected = iter(holm([test.t_p for some in tests for test in some]))
    return [[replace(test, corrected_p=next(corrected)) for test in some] for some in tests]


def _scores(outcome: Evaluation, name: str) -> dict[str, Any]:
    """A method's record without the single runs' scores: these are in the chunks."""
    record = outcome.as_row(name)
    return {
        **record,
        **{metric: {key: record[metric][key] for key in ("mean", "ci95")} for metric in ("micro_f1", "macro_f1")},
    }


def _beside(part: Part, label: str, graph: str) -> dict[str, float] | None:
    """The paper's scores for a row, where it prints them."""
    row = next(row for row in part.rows if row.label == label)
    if part.table is None or row.paper is None:
        return None
    return paper_table(part.table).scores.get(row.paper, {}).get(graph)


class Prefixed:
    """A reporter that puts the experiment's name before every task."""

    def __init__(self, reporter: Reporter, prefix: str) -> None:
        self._reporter, self._prefix = reporter, prefix

    def __call__(self, event: Event, /) -> None:
        self._reporter(replace(event, task=f"{self._prefix}, {event.task}") if isinstance(event, Progress) else event)
