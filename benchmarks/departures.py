"""What each departure from the paper is worth: the same runs with one thing changed, paired.

    python benchmarks/departures.py --device cuda --out benchmarks/results/departures.json

docs/departures.md takes its numbers from the result (see benchmarks/departures.md).
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from machine import describe_machine

from nodewise.classifiers import Gcn
from nodewise.contracts import Strategy
from nodewise.datasets import default_budget, default_features, load_graph
from nodewise.evaluation import Evaluation, evaluate, paired_comparison, write_json
from nodewise.experiments.gpa.trainings import age_settings
from nodewise.policy import Policy, load_policy, shipped_policies
from nodewise.policy.policy import StateSettings
from nodewise.strategies import Age, Anrmab, Centrality, Learned, Random

CONVERGED = Gcn(closing_epochs=500, convergence=0.01)


@dataclass(frozen=True)
class Case:
    """A method on a graph, as the protocol has it, and with one thing changed."""

    key: str
    graph: str
    method: str
    strategy: Strategy
    other: Strategy | None = None
    classifier: Gcn | None = None
    features: str | None = None


def policy_for(graph: str) -> Policy:
    """The shipped policy that has not seen the graph."""
    name = {"cora": "citeseer+pubmed", "citeseer": "cora+pubmed"}.get(graph, "cora+citeseer")
    return load_policy(shipped_policies()[name])


def unscaled(policy: Policy) -> Policy:
    """The same weights, reading the divergences as the paper has them."""
    state = replace(policy.settings.state, kl_scaling="none")
    assert isinstance(state, StateSettings)
    other = Policy(replace(policy.settings, state=state))
    other.load_state_dict(policy.state_dict())
    other.origin = policy.origin
    return other


def cases(policies: Path | None = None) -> Iterator[Case]:
    """Every departure that one number can be given for.

    AGE's parameter is looked for in the folder, else among what comes with nodewise.
    """
    for graph in ("cora", "pubmed"):
        learned = Learned(policy_for(graph))
        for method, strategy in (("random", Random()), ("GPA", learned)):
            yield Case("warm-up", graph, method, strategy, classifier=Gcn(warm_up=1))
            yield Case("dropout", graph, method, strategy, classifier=Gcn(dropout=0.0))
        yield Case("observed", graph, "GPA", learned, classifier=Gcn(observed="training"))
        yield Case("kl-none", graph, "GPA", learned, other=Learned(unscaled(policy_for(graph))))
    for graph in ("citeseer", "pubmed"):
        for method, strategy in (("random", Random()), ("GPA", Learned(policy_for(graph)))):
            yield Case("features-raw", graph, method, strategy, features="raw")
    for graph in ("cora", "citeseer", "pubmed"):
        yield Case("pagerank", graph, "centrality", Centrality(), other=Centrality("pagerank"))
    found = age_settings(("cora", "citeseer"), fixed=False, folder=policies)  # the methods of table 2
    assert found is not None
    for graph in ("cora", "pubmed", "coauthor-cs", "coauthor-physics"):
        methods = {
            "random": Random(),
            "AGE": Age(**found.settings),
            "ANRMAB": Anrmab(),
            "GPA": Learned(policy_for(graph)),
        }
        for method, strategy in methods.items():
            yield Case("closing-100", graph, method, strategy, classifier=Gcn(closing_epochs=100))
            yield Case("closing-converged", graph, method, strategy, classifier=CONVERGED)


def measure(case: Case, runs: int, device: str, data_dir: Path | None, known: dict[Any, Evaluation]) -> dict[str, Any]:
    """The difference that the change makes, changed minus plain, on the same splits."""
    graph = load_graph(case.graph, data_dir=data_dir)
    usual = default_features(case.graph)

    def play(strategy: Strategy, classifier: Gcn, features: str) -> Evaluation:
        key = (
            case.graph,
            strategy.name,
            json.dumps(dict(strategy.identity()), sort_keys=True, default=str),
            classifier,
            features,
        )
        if key not in known:
            known[key] = evaluate(
                graph,
                strategy,
                classifier=classifier,
                budget=default_budget(graph),
                runs=runs,
                device=device,
                features=features,
            )
        return known[key]

    plain = play(case.strategy, Gcn(), usual)
    changed = play(case.other or case.strategy, case.classifier or Gcn(), case.features or usual)
    test = paired_comparison(changed.micro_f1, plain.micro_f1, ("changed", "plain"))
    macro = paired_comparison(changed.macro_f1, plain.macro_f1, ("changed", "plain"))
    return {
        "key": case.key,
        "graph": case.graph,
        "method": case.method,
        "plain": plain.micro.mean,
        "changed": changed.micro.mean,
        "difference": test.difference.mean,
        "ci95": test.difference.half_width,
        "p": test.t_p,
        "macro_difference": macro.difference.mean,
        "macro_ci95": macro.difference.half_width,
        "seconds": round(changed.seconds, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what each departure from the paper is worth.")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--only", help="keys, joined by commas")
    parser.add_argument("--graphs", help="graphs, joined by commas")
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/departures.json"))
    given = parser.parse_args()
    rows, known = [], {}  # type: ignore[var-annotated]
    for case in cases():
        wanted = [
            part is None or one in part.split(",") for part, one in ((given.only, case.key), (given.graphs, case.graph))
        ]
        if all(wanted):
            rows.append(measure(case, given.runs, given.device, given.data_dir, known))
            print(json.dumps(rows[-1]), flush=True)
            record = {
                "schema": 1,
                "benchmark": "departures",
                "machine": describe_machine(given.device),
                "runs": given.runs,
                "seed": 0,
            }
            write_json(given.out, {**record, "rows": rows}, compact=True)


if __name__ == "__main__":
    main()
