"""Trains the policies that are missing, checkpointed, one after another or several at once."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from nodewise.datasets import default_budget, default_features, load_graph
from nodewise.experiments.gpa.trainings import (
    AGE_SOURCES,
    TRAININGS,
    age_budgets,
    find_file,
    find_trained,
    find_training,
    policies_folder,
)
from nodewise.graph.graph import canonical_features
from nodewise.ground.errors import InputError
from nodewise.ground.events import Event, Note, Progress, Reporter, Silent
from nodewise.ground.files import write_json
from nodewise.training import search_age_budgets, train_policy

__all__ = ["TrainingOutcome", "all_names", "is_there", "train_missing"]


@dataclass(frozen=True)
class TrainingOutcome:
    """How a training ended.

    Attributes:
        finished: False when the time was up; the same call goes on from the checkpoint.
        seconds: of this call alone.
    """

    name: str
    finished: bool
    seconds: float
    detail: str


class _TimeIsUp(KeyboardInterrupt):
    """Ends a training as Ctrl-C does: with a checkpoint."""


def all_names() -> list[str]:
    """Every training, and every search for AGE's weights as ``age-GRAPH``."""
    return [*TRAININGS, *(f"age-{graph}" for graph in AGE_SOURCES)]


def is_there(name: str, folder: Path) -> bool:
    """Whether the folder holds the file that a name stands for."""
    return (folder / _file(name)).is_file()


def _file(name: str) -> str:
    return f"{name}.json" if name.startswith("age-") else f"{name}.safetensors"


def train_missing(
    names: Sequence[str] = (),
    folder: str | Path | None = None,
    *,
    device: str = "auto",
    jobs: int = 1,
    minutes: float | None = None,
    data_dir: str | Path | None = None,
    reporter: Reporter | None = None,
    each: Callable[[TrainingOutcome], None] | None = None,
) -> list[TrainingOutcome]:
    """Trains those of the named policies, or of all, whose files are not there.

    A finished policy is ``NAME.safetensors`` with its log, ``NAME.json``; what is unfinished lies in ``unfinished``
    beside them.

    Args:
        names: trainings, or ``age-GRAPH``; none: all, but for those that come with nodewise.
        folder: where the files go; None: ``policies`` in the present one. What comes with nodewise is never written to.
        device: ``"auto"``, ``"cpu"`` or ``"cuda"``.
        jobs: how many at once, each in a process of its own.
        minutes: start nothing after that time, and stop what is running, to be gone on with by the next call.
        reporter: gets the progress, with one job.
        each: called when a training has ended.
    """
    target = policies_folder(folder)
    wanted = list(dict.fromkeys(names)) or all_names()
    for name in wanted:
        if name not in all_names():
            find_training(name)
    if jobs < 1:
        raise InputError(f"the number of jobs must be at least 1, got {jobs}")
    missing = [name for name in wanted if not is_there(name, target) and (names or not _is_anywhere(name, folder))]
    if not missing:
        return []
    (target / "unfinished").mkdir(parents=True, exist_ok=True)
    until = None if minutes is None else time.monotonic() + 60 * minutes
    report, ended = each or (lambda outcome: None), []
    if jobs == 1:
        for name in missing:
            if until is not None and time.monotonic() > until:
                break
            ended.append(_train_one(name, target, device, until, data_dir, reporter or Silent()))
            report(ended[-1])
    else:
        # monotonic clocks of processes on one machine agree
        with ProcessPoolExecutor(min(jobs, max(1, len(missing))), mp_context=get_context("spawn")) as pool:
            for future in as_completed(
                [pool.submit(_train_beside, name, target, device, until, data_dir) for name in missing]
            ):
                ended.append(future.result())
                report(ended[-1])
    if not any((target / "unfinished").iterdir()):
        (target / "unfinished").rmdir()
    return ended


def _is_anywhere(name: str, folder: str | Path | None) -> bool:
    """Whether the experiments would find what a name stands for, in the folder or among what comes with nodewise."""
    return find_file(_file(name), folder) is not None or (name in TRAININGS and find_trained(name, folder) is not None)


def _train_one(
    name: str, folder: Path, device: str, until: float | None, data_dir: str | Path | None, reporter: Reporter | None
) -> TrainingOutcome:
    report, begin = reporter or Silent(), time.monotonic()
    if until is not None and begin > until:
        return TrainingOutcome(name, False, 0.0, "not begun")
    report(Note(f"training {name}"))
    detail = (_search_age if name.startswith("age-") else _train_policy)(name, folder, device, until, data_dir, report)
    return TrainingOutcome(name, is_there(name, folder), time.monotonic() - begin, detail)


def _train_beside(
    name: str, folder: Path, device: str, until: float | None, data_dir: str | Path | None
) -> TrainingOutcome:
    """In a process of its own, on one core: threads of several processes would wait for each other."""
    import torch

    torch.set_num_threads(1)
    return _train_one(name, folder, device, until, data_dir, None)


def _train_policy(
    name: str, folder: Path, device: str, until: float | None, data_dir: str | Path | None, report: Reporter
) -> str:
    training = find_training(name)
    features = [default_features(source) for source in training.sources]
    graphs = [
        load_graph(source, features=spec, data_dir=data_dir)
        for source, spec in zip(training.sources, features, strict=True)
    ]
    used = tuple(
        "structural" if graph.x is None else canonical_features(spec, graph.name)
        for graph, spec in zip(graphs, features, strict=True)
    )
    settings = training.settings(tuple(default_budget(graph) for graph in graphs), used)
    work = folder / "unfinished" / f"{name}.safetensors"
    begin, episode = time.monotonic(), 0

    def watch(line: dict[str, Any]) -> None:
        nonlocal episode
        episode = line["episode"]
        if until is not None and time.monotonic() > until:
            raise _TimeIsUp

    try:
        policy = train_policy(
            graphs, settings, out=work, resume=True, device=device, reporter=report, each_episode=watch
        )
    except _TimeIsUp:
        _add_seconds(work, time.monotonic() - begin)
        return f"stopped after episode {episode} of {training.episodes}"
    except KeyboardInterrupt:
        _add_seconds(work, time.monotonic() - begin)
        raise
    seconds = _add_seconds(work, time.monotonic() - begin)
    lines = [json.loads(line) for line in work.with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()]
    rewards = {graph: [round(line["rewards"][graph], 4) for line in lines] for graph in lines[0]["rewards"]}
    record = {
        "schema": 1,
        "training": name,
        "device": device,
        "seconds": round(seconds, 1),
        "origin": policy.origin,
        "rewards": rewards,
    }
    write_json(folder / f"{name}.json", record, compact=True)
    work.replace(folder / work.name)
    for ending in (".jsonl", ".last.safetensors", ".seconds"):
        work.with_name(f"{name}{ending}").unlink(missing_ok=True)
    return (
        f"episode {policy.origin['episode']}, mean reward of 100 episodes"
        f" {policy.origin['best_mean_reward_of_100']:.4f}"
    )


def _add_seconds(work: Path, seconds: float) -> float:
    """Adds to the time that the training took so far, kept beside its checkpoint."""
    path = work.with_suffix(".seconds")
    total = seconds + (float(path.read_text()) if path.is_file() else 0.0)
    path.write_text(f"{total:.1f}")
    return total


def _search_age(
    name: str, folder: Path, device: str, until: float | None, data_dir: str | Path | None, report: Reporter
) -> str:
    source = name.removeprefix("age-")
    graph = load_graph(source, features=default_features(source), data_dir=data_dir)
    spec = (
        "raw" if graph.has_features else "structural"
    )  # as loaded; Reddit graphs without texts get structural features
    work = folder / "unfinished" / name
    begin, done = time.monotonic(), 0

    def watch(event: Event, /) -> None:
        nonlocal done
        report(event)
        done = event.done if isinstance(event, Progress) else done
        if until is not None and time.monotonic() > until:
            raise _TimeIsUp

    try:
        best = search_age_budgets(graph, age_budgets(source), device=device, features=spec, store=work, reporter=watch)
    except _TimeIsUp:
        return f"stopped after {done} runs"
    budgets = {
        str(budget): {
            "weights": one.weights,
            "weights_score": max(one.scores),
            "basef": one.basef,
            "basef_scores": {str(basef): score for basef, score in zip(one.basefs, one.basef_scores, strict=True)},
        }
        for budget, one in best.items()
    }
    any_one = next(iter(best.values()))
    record = {
        "schema": 1,
        "graph": source,
        "budgets": budgets,
        "runs": any_one.runs,
        "basef_runs": any_one.basef_runs,
        "seed": any_one.seed,
        "device": device,
        "seconds": round(time.monotonic() - begin, 1),
    }
    write_json(folder / f"{name}.json", record, compact=True)
    shutil.rmtree(work, ignore_errors=True)
    return "; ".join(
        f"{budget} labels: basef {one.basef:g}, weights of entropy, centrality and density"
        f" {' '.join(f'{weight:g}' for weight in one.weights)}"
        for budget, one in best.items()
    )
