"""Which of many trainings of the shipped pairs is shipped: a rule that never sees a target graph.

    python benchmarks/policy_search.py train --folder DIR --seeds 20-25 --jobs 12 --minutes 6 --device cuda
    python benchmarks/policy_search.py select --folder DIR --device cuda
    python benchmarks/policy_search.py report --folder DIR --device cuda --out benchmarks/results/policy-search.json

The rule, written down before the first of these trainings. For each pair of source graphs, every training (seed, batch, and with ``--observed training``
the released code's state: the output before the update, with dropout) offers three policies: the one whose last 100 episodes had the best mean reward on the sources, the last one, and the mean of the weights of the policies of episodes 1600, 1700, 1800,
1900 and 2000. Each plays 100 runs with seed 1000, the largest probability first, on seven labelled graphs that are not its targets: its two sources;
three citation graphs (acmv9, citationv1, dblpv7); two generated ones with denser edges, one with classes of equal and one of unequal size (`GENERATED`).
Its score is the mean over the seven of (Micro-F1 + Macro-F1) / 2. The policy with the best score of its pair is shipped, whatever it then reaches.
``report`` plays the best of every training on the pair's targets, 100 runs with seed 0, and is run once, after ``select``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
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
from nodewise.policy import Policy, load_policy, save_policy
from nodewise.training import train_policy

PAIRS = ("cora+citeseer", "cora+pubmed", "citeseer+pubmed")
THIRD = ("acmv9", "citationv1", "dblpv7")
GENERATED: dict[str, dict[str, Any]] = {
    "generated-equal": {"nodes": 5000, "classes": 8, "mean_degree": 9.0, "homophily": 0.8, "features": 64, "signal": 1.5, "seed": 1},
    "generated-unequal": {
        "nodes": 5000, "classes": 6, "mean_degree": 14.0, "homophily": 0.8, "features": 64, "signal": 1.5, "seed": 2,
        "degrees": "powerlaw", "class_shares": (10.0, 5.0, 3.0, 2.0, 1.0, 1.0),
    },
}  # fmt: skip
AVERAGED = (1600, 1700, 1800, 1900, 2000)
KINDS = ("best", "last", "mean")


class TimeIsUp(KeyboardInterrupt):
    """Ends a training as Ctrl-C does: with a checkpoint."""


def graph_of(name: str) -> Graph:
    return synthetic_graph(name=name, **GENERATED[name]) if name in GENERATED else load_graph(name, features=default_features(name))


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
            sources, out=out, resume=True, keep_every=100, device=device, each_episode=watch,
            seed=seed, batch=batch, budgets=budgets, classifier=make_classifier("gcn", {"observed": observed}),
        )  # fmt: skip
    except TimeIsUp:
        return f"{out.name}: stopped"
    return (
        f"{out.name}: episode {policy.origin['episode']}, {policy.origin['best_mean_reward_of_100']:.4f}, {time.monotonic() - begin:.0f} s"
    )


def candidates(folder: Path, training: str) -> dict[str, Policy]:
    """The three policies that a training offers."""
    best, last = (load_policy(folder / f"{training}{ending}.safetensors") for ending in ("", ".last"))
    kept = [load_policy(folder / f"{training}.{episode}.safetensors").state_dict() for episode in AVERAGED]
    mean = Policy(best.settings)
    mean.load_state_dict({name: torch.stack([one[name] for one in kept]).mean(0) for name in kept[0]})
    mean.origin = {**last.origin, "averaged_episodes": list(AVERAGED)}
    return {"best": best, "last": last, "mean": mean}


def play(policy: Policy, graph: str, seed: int, device: str) -> dict[str, float]:
    budget = 5 * GENERATED[graph]["classes"] if graph in GENERATED else default_budget(graph)
    features = None if graph in GENERATED else default_features(graph)
    result = evaluate(graph_of(graph), policy, classifier="gcn", budget=budget, runs=100, seed=seed, device=device, features=features)
    return {"micro": result.micro.mean, "micro_ci95": result.micro.half_width, "macro": result.macro.mean}


def select_one(folder: Path, training: str, device: str) -> dict[str, Any]:
    torch.set_num_threads(1)
    rows = {}
    for kind, policy in candidates(folder, training).items():
        figures = {graph: play(policy, graph, 1000, device) for graph in (*training.split("-")[0].split("+"), *THIRD, *GENERATED)}
        rows[kind] = {"score": fmean((one["micro"] + one["macro"]) / 2 for one in figures.values()), "graphs": figures}
    return {"training": training, "kinds": rows}


def report_one(folder: Path, row: dict[str, Any], device: str) -> dict[str, Any]:
    torch.set_num_threads(1)
    pair, training = row["training"].split("-")[0], row["training"]
    kind = max(KINDS, key=lambda one: row["kinds"][one]["score"])
    policy = candidates(folder, training)[kind]
    targets = {
        graph: {**play(policy, graph, 0, device), "paper_micro": micro, "paper_macro": macro}
        for graph, (micro, macro) in PAPER[pair].items()
    }
    return {**row, "pair": pair, "kind": kind, "source_reward": policy.origin.get("best_mean_reward_of_100"), "targets": targets}


def finished(folder: Path) -> list[str]:
    return sorted(path.name.removesuffix(".last.safetensors") for path in folder.glob("*.last.safetensors"))


def spread(jobs: int, function: Callable[..., Any], argument_lists: list[tuple[Any, ...]]) -> list[Any]:
    """The function of every list of arguments, several at once, each in a process of its own; what is done is printed."""
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
    parser.add_argument("--seeds", default="20-25", help="first-last")
    parser.add_argument("--batch", type=int, default=5)
    parser.add_argument("--observed", choices=("updated", "training"), default="updated")
    parser.add_argument("--jobs", type=int, default=12)
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/policy-search.json"))
    given = parser.parse_args()
    selection = given.folder / "selection.json"
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.action == "train":
        first, last = map(int, given.seeds.split("-"))
        until = time.monotonic() + 60 * given.minutes
        jobs = [
            (given.folder, pair, seed, given.batch, given.observed, given.device, until)
            for seed in range(first, last + 1)
            for pair in given.pairs.split(",")
        ]
        spread(given.jobs, train_one, jobs)
    elif given.action == "select":
        rows = spread(given.jobs, select_one, [(given.folder, training, given.device) for training in finished(given.folder)])
        chosen = {}
        for pair in PAIRS:
            offers = [
                (one["score"], row["training"], kind)
                for row in rows
                for kind, one in row["kinds"].items()
                if row["training"].startswith(f"{pair}-")
            ]
            if offers:
                score, training, kind = max(offers)
                policy = candidates(given.folder, training)[kind]
                policy.origin = {**policy.origin, "selection": {"score": score, "policy": kind, "of": len(offers)}}
                save_policy(policy, given.folder / f"chosen-{pair}.safetensors")
                chosen[pair] = {"training": training, "kind": kind, "score": score, "of": len(offers)}
        write_json(selection, {"chosen": chosen, "rows": sorted(rows, key=lambda row: row["training"])}, compact=True)
        print(json.dumps(chosen))
    else:
        known = json.loads(selection.read_text())
        rows = spread(given.jobs, report_one, [(given.folder, row, given.device) for row in known["rows"]])
        record = {"schema": 1, "benchmark": "policy-search", "machine": describe_machine(given.device), "chosen": known["chosen"]}
        write_json(given.out, {**record, "rows": sorted(rows, key=lambda row: row["training"])}, compact=True)


if __name__ == "__main__":
    main()
