"""What policies reach on graphs, over 100 runs each: the check of the engine and of every trained policy.

    python benchmarks/transfer.py --policies DIR --out benchmarks/results/transfer.json
    python benchmarks/transfer.py --released DIR --out benchmarks/results/reference.json

With ``--released``, the state dicts of the paper's authors, random and degree are run on the paper's five graphs and
compared with reference figures made by an independent implementation. With ``--policies``, every NAME-SEED.safetensors
is run on the paper's target graphs of NAME.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from machine import describe_machine

from nodewise.datasets import default_budget, default_features, load_graph
from nodewise.evaluation import evaluate, write_json
from nodewise.policy import Policy, import_released, load_policy

# Micro-F1, its 95 % interval and Macro-F1 of an independent implementation of the protocol, 100 runs
REFERENCE = {
    "cora": {
        "random": (66.4, 1.0, 60.0),
        "centrality": (68.0, 0.9, 63.9),
        "cora+citeseer": (73.5, 0.6, 71.4),
        "cora+pubmed": (74.7, 0.5, 72.9),
        "citeseer+pubmed": (73.3, 0.6, 71.2),
        "reddit1+2": (73.5, 0.6, 71.2),
    },
    "citeseer": {
        "random": (59.9, 0.9, 52.9),
        "centrality": (53.1, 1.2, 42.9),
        "cora+citeseer": (66.1, 0.5, 58.7),
        "cora+pubmed": (65.6, 0.5, 57.4),
        "citeseer+pubmed": (65.9, 0.4, 58.0),
        "reddit1+2": (65.9, 0.5, 57.7),
    },
    "pubmed": {
        "random": (68.0, 1.3, 67.2),
        "centrality": (65.5, 0.5, 60.5),
        "cora+citeseer": (78.1, 0.5, 76.6),
        "cora+pubmed": (78.1, 0.7, 75.8),
        "citeseer+pubmed": (78.5, 0.6, 76.6),
        "reddit1+2": (77.8, 0.6, 76.0),
    },
    "coauthor-cs": {
        "random": (84.6, 0.5, 70.2),
        "centrality": (79.3, 0.2, 52.7),
        "cora+citeseer": (88.3, 0.3, 85.7),
        "cora+pubmed": (88.4, 0.3, 85.6),
        "citeseer+pubmed": (87.5, 0.4, 84.6),
        "reddit1+2": (88.5, 0.2, 85.8),
    },
    "coauthor-physics": {
        "random": (81.9, 1.0, 70.8),
        "centrality": (50.4, 0.3, 13.4),
        "cora+citeseer": (86.5, 0.9, 79.9),
        "cora+pubmed": (86.5, 0.8, 80.0),
        "citeseer+pubmed": (87.6, 0.7, 82.0),
        "reddit1+2": (86.1, 0.7, 79.3),
    },
}
# what the paper reports for GPA (tables 2 and of the appendix): Micro-F1, Macro-F1
PAPER = {
    "cora+citeseer": {"pubmed": (77.80, 75.66), "coauthor-physics": (88.08, 82.82), "coauthor-cs": (87.90, 84.99)},
    "cora+pubmed": {"citeseer": (65.76, 57.52), "coauthor-physics": (87.14, 81.04), "coauthor-cs": (88.15, 85.24)},
    "citeseer+pubmed": {"cora": (73.40, 71.22), "coauthor-physics": (87.06, 81.20), "coauthor-cs": (87.00, 83.90)},
}


def run(graph: str, strategy: str | Policy, given: argparse.Namespace) -> dict[str, Any]:
    loaded = load_graph(graph, features=default_features(graph))
    result = evaluate(
        loaded,
        strategy,
        classifier="gcn",
        budget=default_budget(graph),
        runs=given.runs,
        seed=0,
        device=given.device,
        features=default_features(graph),
    )
    return {
        "graph": graph,
        "micro_f1": result.micro.mean,
        "micro_ci95": result.micro.half_width,
        "macro_f1": result.macro.mean,
        "seconds": result.seconds,
    }


def reference(given: argparse.Namespace) -> list[dict[str, Any]]:
    rows = []
    for graph, figures in REFERENCE.items():
        for name, (micro, interval, macro) in figures.items():
            strategy = (
                name if name in ("random", "centrality") else import_released(given.released / f"pretrain_{name}.pkl")
            )
            row = {
                "policy": name,
                **run(graph, strategy, given),
                "reference_micro": micro,
                "reference_ci95": interval,
                "reference_macro": macro,
            }
            row["intervals_apart"] = abs(row["micro_f1"] - micro) / interval
            rows.append(row)
            print(
                f"{graph:<17} {name:<16} {row['micro_f1']:.2f} ± {row['micro_ci95']:.2f} / {row['macro_f1']:.2f}  "
                f" reference {micro} ± {interval} / {macro}   {row['intervals_apart']:.2f} intervals away",
                flush=True,
            )
    mean = sum(row["micro_f1"] - row["reference_micro"] for row in rows) / len(rows)
    print(f"mean signed difference {mean:+.3f}, largest {max(row['intervals_apart'] for row in rows):.2f} intervals")
    return rows


def transfer(given: argparse.Namespace) -> list[dict[str, Any]]:
    rows = []
    for path in sorted(given.policies.glob("*-*.safetensors")):
        if path.name.endswith(".last.safetensors"):
            continue
        name, seed = path.name.removesuffix(".safetensors").rsplit("-", 1)
        policy = load_policy(path)
        for graph, (micro, macro) in PAPER.get(name, {}).items():
            row = {
                "policy": name,
                "seed": int(seed),
                "batch": policy.origin["training"]["batch"],
                "source_reward": policy.origin["best_mean_reward_of_100"],
                "episode": policy.origin["episode"],
                **run(graph, policy, given),
                "paper_micro": micro,
                "paper_macro": macro,
            }
            rows.append(row)
            print(
                f"{name:<16} seed {seed} (source reward {row['source_reward']:.4f})  {graph:<17} {row['micro_f1']:.2f}"
                f" ± {row['micro_ci95']:.2f} / {row['macro_f1']:.2f}   paper {micro} / {macro}",
                flush=True,
            )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policies", type=Path, help="folder of NAME-SEED.safetensors")
    parser.add_argument("--released", type=Path, help="folder of the released state dicts")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    if (given.policies is None) == (given.released is None):
        parser.error("give one of --policies and --released")
    rows = reference(given) if given.released else transfer(given)
    write_json(
        given.out,
        {
            "schema": 1,
            "benchmark": "reference" if given.released else "transfer",
            "machine": describe_machine(given.device),
            "runs": given.runs,
            "seed": 0,
            "rows": rows,
        },
        compact=True,
    )


if __name__ == "__main__":
    main()
