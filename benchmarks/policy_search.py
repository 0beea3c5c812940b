"""Which of many trainings of the shipped pairs is shipped: a rule that never sees a target graph.

    python benchmarks/policy_search.py train --folder DIR --seeds 43-45 --jobs 12 --minutes 6 --device cuda
    python benchmarks/policy_search.py select --folder DIR --device cuda
    python benchmarks/policy_search.py report --folder DIR --device cuda --out benchmarks/results/policy-choice.json

The rule, written down before any of the policies that it chooses among had met a target. For each pair of source
graphs, every training (seed, batch, and with ``--observed training`` the released code's state: the output before the
update, with dropout) offers its policies of episodes 800, 1000, … 2000, the one whose last 100 episodes had the best
mean reward on the sources, and the mean of the weights of episodes 1600 to 2000; the policy that was shipped before is
offered, too. Each plays 30 runs with seed 1000, the largest probability first, on nine labelled graphs that are not its
targets: its two sources; three citation graphs (acmv9, citationv1, dblpv7); four generated ones (`GENERATED`), sparser
and denser, with classes of equal and of unequal size, whose features are as telling as it takes for random choice to
reach about 80 of 100: where every policy is nearly always right, as on the generated graphs of the rule before, nothing
is told apart. A policy's score is the mean over the nine of (Micro-F1 + Macro-F1) /
2. The six best of a pair play 150
runs more, with seed 2000; the best score of these is shipped, whatever it then reaches. ``report`` plays the best of
every training on the pair's targets, 100 runs with seed 0, and is run once, after ``select``.

The rule before (docs/policies.md has what it chose among): the last policy, the best and the mean of the weights, 100
runs on seven graphs, of which the two generated ones were easy.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from machine import describe_machine
from transfer import PAPER

from nodewise.classifiers import make_classifier
from nodewise.datasets import default_budget, default_features, load_graph, synthetic_graph
from nodewise.evaluation import evaluate, write_json
from nodewise.graph import Graph
from nodewise.policy import Policy, find_policy, load_policy, save_policy
from nodewise.training import train_policy

PAIRS = ("cora+citeseer", "cora+pubmed", "citeseer+pubmed")
THIRD = ("acmv9", "citationv1", "dblpv7")
GENERATED: dict[str, dict[str, Any]] = {
    "equal-8": {"classes": 8, "mean_degree": 8.0, "signal": 1.05, "seed": 11},
    "equal-16": {"classes": 5, "mean_degree": 16.0, "degrees": "powerlaw", "signal": 0.7, "seed": 12},
    "unequal-8": {
        "classes": 6,
        "mean_degree": 8.0,
        "degrees": "powerlaw",
        "class_shares": (10.0, 5.0, 3.0, 2.0, 1.0, 1.0),
        "signal": 1.35,
        "seed": 13,
    },
    "unequal-16": {
        "classes": 5,
        "mean_degree": 16.0,
        "degrees": "powerlaw",
        "class_shares": (10.0, 4.0, 3.0, 2.0, 1.0),
        "signal": 0.65,
        "seed": 14,
    },
}
EVERY = {"nodes": 5000, "homophily": 0.8, "features": 64}
AVERAGED = (1600, 1700, 1800, 1900, 2000)
EPISODES = range(800, 2001, 200)
FIRST, SECOND, FINALISTS = (
    (30, 1000),
    (150, 2000),
    6,
)  # runs and seed of both rounds, and how many of a pair play the second


class TimeIsUp(KeyboardInterrupt):
    """Ends a training as Ctrl-C does: with a checkpoint."""


@cache
def graph_of(name: str) -> Graph:
    if name in GENERATED:
        return synthetic_graph(name=name, **EVERY, **GENERATED[name])
    return load_graph(name, features=default_features(name))


def train_one(folder: Path, pair: str, seed: int, batch: int, observed: str, device: str, until: float) -> str:
    torch.set_num_threads(1)
    out = folder / f"{pair}-{seed}-{batch}{'' if observed == 'updated' else f'-{observed}'}.safetensors"

    def watch(line: dict[str, Any]) -> None:
        if time.monotonic() > until:
            raise TimeIsUp

    sources = [graph_of(name) for name in pair.split("+")]
    budgets = [default_budget(name) for name in pair.split("+")]
    begin = time.monotonic()
    try:
        policy = train_policy(
            sources,
            out=out,
            resume=True,
            keep_every=100,
            device=device,
            each_episode=watch,
            seed=seed,
            batch=batch,
            budgets=budgets,
            classifier=make_classifier("gcn", {"observed": observed}),
        )
    except TimeIsUp:
        return f"{out.name}: stopped"
    return (
        f"{out.name}: episode {policy.origin['episode']}, {policy.origin['best_mean_reward_of_100']:.4f},"
        f" {time.monotonic() - begin:.0f} s"
    )


def candidates(folder: Path, training: str) -> dict[str, Policy]:
    """The policies that a training offers; that of ``PAIR-shipped`` is the one that was shipped before."""
    pair, _, rest = training.partition("-")
    if rest == "shipped":
        return {"shipped": find_policy(pair)}
    best = load_policy(folder / f"{training}.safetensors")
    kept = {episode: load_policy(folder / f"{training}.{episode}.safetensors") for episode in {*EPISODES, *AVERAGED}}
    mean = Policy(best.settings)
    weights = [kept[episode].state_dict() for episode in AVERAGED]
    mean.load_state_dict({name: torch.stack([one[name] for one in weights]).mean(0) for name in weights[0]})
    mean.origin = {**kept[AVERAGED[-1]].origin, "averaged_episodes": list(AVERAGED)}
    return {"best": best, "mean": mean, **{str(episode): kept[episode] for episode in EPISODES}}


def play(policy: Policy, graph: str, runs: int, seed: int, device: str) -> dict[str, float]:
    budget = 5 * GENERATED[graph]["classes"] if graph in GENERATED else default_budget(graph)
    features = None if graph in GENERATED else default_features(graph)
    result = evaluate(
        graph_of(graph), policy, classifier="gcn", budget=budget, runs=runs, seed=seed, device=device, features=features
    )
    return {"micro": result.micro.mean, "micro_ci95": result.micro.half_width, "macro": result.macro.mean}


def score(folder: Path, training: str, kinds: tuple[str, ...], runs: int, seed: int, device: str) -> dict[str, Any]:
    """The score of a training's policies, or of some of them."""
    torch.set_num_threads(1)
    scores, graphs = {}, {}
    for kind, policy in candidates(folder, training).items():
        if not kinds or kind in kinds:
            figures = {
                graph: play(policy, graph, runs, seed, device)
                for graph in (*training.split("-")[0].split("+"), *THIRD, *GENERATED)
            }
            scores[kind] = fmean((one["micro"] + one["macro"]) / 2 for one in figures.values())
            graphs[kind] = {name: [round(one["micro"], 2), round(one["macro"], 2)] for name, one in figures.items()}
    return {"training": training, "scores": scores, "graphs": graphs}


def report_one(folder: Path, training: str, kind: str, device: str, until: float) -> str:
    torch.set_num_threads(1)
    out = folder / f"{training}.targets.json"
    if out.exists() or time.monotonic() > until:
        return f"{training}: {'known' if out.exists() else 'no time'}"
    pair, policy = training.split("-")[0], candidates(folder, training)[kind]
    targets = {
        graph: {**play(policy, graph, 100, 0, device), "paper_micro": micro, "paper_macro": macro}
        for graph, (micro, macro) in PAPER[pair].items()
    }
    write_json(out, targets, compact=True)
    return f"{training}: {kind} played"


def finished(folder: Path) -> list[str]:
    return sorted(path.name.removesuffix(".last.safetensors") for path in folder.glob("*.last.safetensors"))


def spread(jobs: int, function: Callable[..., Any], argument_lists: list[tuple[Any, ...]]) -> list[Any]:
    """The function of every list of arguments, several at once, each in a process of its own.

    What is done is printed.
    """
    results = []
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for future in as_completed([pool.submit(function, *arguments) for arguments in argument_lists]):
            results.append(future.result())
            print(json.dumps(results[-1]) if isinstance(results[-1], dict) else results[-1], flush=True)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("train", "select", "report"))
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--pairs", default=",".join(PAIRS))
    parser.add_argument("--seeds", default="43-45", help="first-last")
    parser.add_argument("--batch", type=int, default=5)
    parser.add_argument("--observed", choices=("updated", "training"), default="updated")
    parser.add_argument("--jobs", type=int, default=12)
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/policy-choice.json"))
    given = parser.parse_args()
    selection = given.folder / "selection.json"
    given.folder.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + 60 * given.minutes
    if given.action == "train":
        first, last = map(int, given.seeds.split("-"))
        jobs = [
            (given.folder, pair, seed, given.batch, given.observed, given.device, until)
            for seed in range(first, last + 1)
            for pair in given.pairs.split(",")
        ]
        spread(given.jobs, train_one, jobs)
    elif given.action == "select":
        write_json(selection, select(given), compact=True)
    else:
        known = json.loads(selection.read_text())
        best_first = sorted(known["rows"], key=lambda row: row["first"][row["kind"]], reverse=True)
        spread(
            given.jobs,
            report_one,
            [(given.folder, row["training"], row["kind"], given.device, until) for row in best_first],
        )
        record = {"schema": 1, "benchmark": "policy-choice", "machine": describe_machine(given.device), **known}
        for row in record["rows"]:
            targets = given.folder / f"{row['training']}.targets.json"
            row["targets"] = json.loads(targets.read_text()) if targets.exists() else None
        write_json(given.out, record, compact=True)


def select(given: argparse.Namespace) -> dict[str, Any]:
    """Both rounds: of every pair what is shipped, and of every training its scores and its best policy."""
    trainings = [*(f"{pair}-shipped" for pair in given.pairs.split(",")), *finished(given.folder)]
    first = {
        row["training"]: row
        for row in spread(
            given.jobs, score, [(given.folder, training, (), *FIRST, given.device) for training in trainings]
        )
    }
    offers = {
        pair: [
            (value, name, kind)
            for name, row in first.items()
            if name.startswith(f"{pair}-")
            for kind, value in row["scores"].items()
        ]
        for pair in given.pairs.split(",")
    }
    finalists = {pair: sorted(some, reverse=True)[:FINALISTS] for pair, some in offers.items()}
    jobs = [
        (given.folder, name, (kind,), *SECOND, given.device) for some in finalists.values() for _, name, kind in some
    ]
    again = {
        (row["training"], kind): value
        for row in spread(given.jobs, score, jobs)
        for kind, value in row["scores"].items()
    }
    chosen = {}
    for pair, some in finalists.items():
        value, training, kind = max((again[name, kind], name, kind) for _, name, kind in some)
        policy = candidates(given.folder, training)[kind]
        policy.origin = {
            **policy.origin,
            "played_with": {"name": "gcn", "settings": {}},  # as it was when it was chosen
            "selection": {"score": value, "policy": kind, "of": len(offers[pair])},
        }
        save_policy(policy, given.folder / f"chosen-{pair}.safetensors")
        chosen[pair] = {"training": training, "kind": kind, "score": value, "of": len(offers[pair])}
    print(json.dumps(chosen))
    rows = []
    for training in trainings:
        finals = {kind: value for (name, kind), value in again.items() if name == training}
        scores = first[training]["scores"]
        best = max(finals or scores, key=(finals or scores).__getitem__)
        rows.append(
            {
                "training": training,
                "kind": best,
                "first": scores,
                "second": finals,
                "graphs": first[training]["graphs"][best],
            }
        )
    return {"chosen": chosen, "rows": rows}


if __name__ == "__main__":
    main()
