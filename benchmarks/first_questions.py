"""Whether the first questions of `gain` are drawn among its best nodes: forms of it compared, and chosen by a rule that
came first.

    python benchmarks/first_questions.py [--runs 20] [--out benchmarks/results/first-questions.json]

Before the first labels `gain` hardly draws, so all runs on a graph ask the same few nodes, and where little can be
learned the classes of these decide what is predicted: a graph is ahead of random choice or behind it by luck.

**The rule.** It was written before any of these graphs was played with any of the forms.

- The graphs are `DEVELOPED`, of the half that settings are chosen on (`halves.json`), as two copies each with a fifth
  of the nodes left out (seeds 20 and 21; those that figures are reported on are 0 to 9), and the generated `KINDS`, two
  seeds each, on which labels hang on nothing (two uneven classes, four even ones), weakly on the degree, or weakly on
  how rare a node's features are.
- The forms are `FORMS`: the first so many questions, at most as many as there are classes, are drawn among the so many
  best nodes of the pool.
- Each is played with one and two labels a class, on the same splits as random choice.
- A form's score is the mean over the domains (each generated kind is one) of its Micro-F1 at one and at two labels a
  class, less 1 for every graph on which the upper 95 % bound of its lead over random choice, over all runs of its
  copies, is below −0.5 at two a class.
- The highest score is taken, but what there is stays unless a form is ahead of it by more than 0.2.
- What is taken is then measured once on the graphs that are reported on, whatever comes out.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from closed_form import HALVES, budgets_of
from machine import describe_machine

from nodewise.datasets import load_graph
from nodewise.environment.runs import break_ties
from nodewise.evaluation import compare, graph_copies
from nodewise.graph import Graph
from nodewise.ground.files import write_json
from nodewise.strategies import gain
from nodewise.strategies.sampled import Sight

RESULT = Path(__file__).parent / "results" / "first-questions.json"
DEVELOPED = (
    "airports-brazil",
    "airports-europe",
    "airports-usa",
    "chameleon-filtered",
    "digits",
    "reddit1401-graph5",
    "reddit1401-graphforvis",
    "squirrel-filtered",
    "twitch-engb",
    "twitch-es",
    "twitch-ptbr",
    "twitch-ru",
)
KINDS = ("nothing, two uneven", "nothing, four even", "degree", "rarity")
FORMS = {"as it is": (0, 1), "first of 8": (1, 8), "first of 32": (1, 32), "one a class of 8": (10**6, 8)}
"""Questions that are drawn, at most one a class, and nodes that they are drawn among."""

COPIES = (20, 21)


def generated(kind: str, seed: int, nodes: int = 600) -> Graph:
    """A graph on which hardly more than the classes' shares can be learned."""
    draws = np.random.default_rng(seed)
    wanted = draws.pareto(2.5, nodes) + 1  # some nodes have many edges
    edges = draws.choice(nodes, (2, 4 * nodes), p=wanted / wanted.sum())
    edges = np.unique(np.sort(edges[:, edges[0] != edges[1]], axis=0), axis=1)
    degree = np.bincount(edges.ravel(), minlength=nodes)
    words = draws.random(40) ** 2 * 0.4 + 0.01
    x = (draws.random((nodes, 40)) < words).astype(np.float32)
    if kind == "nothing, two uneven":
        y = (draws.random(nodes) < 0.25).astype(int)
    elif kind == "nothing, four even":
        y = draws.integers(0, 4, nodes)
    else:
        rare = -(x @ np.log(words)) / np.maximum(x.sum(1), 1)
        ranked = np.argsort(np.argsort((degree if kind == "degree" else rare) + draws.random(nodes))) / nodes
        y = np.minimum((3 * (0.35 * ranked + 0.65 * draws.random(nodes))).astype(int), 2)
    return Graph.build(edges, num_nodes=nodes, x=x, y=y, name=f"{kind} {seed}")


def scored_by(questions: int, among: int) -> Callable[[Sight], torch.Tensor]:
    """The scores of `gain` where so many questions, at most one a class, are drawn among so many best nodes."""

    def scores_of(sight: Sight) -> torch.Tensor:
        learner, step = sight.learner, int(sight.step)
        covariances = learner.covariances()
        scores = break_ties(gain._scores(learner, covariances, gain._undecided_nodes(learner)), sight)
        usable = scores.masked_fill(~sight.pool, -torch.inf)
        if step < min(questions, sight.num_classes):
            top = usable.topk(min(among, usable.shape[1]), 1)
            chance = sight.noise.gather(1, top.indices).masked_fill(top.values.isinf(), -1.0)
            best = top.indices.gather(1, chance.argmax(1, keepdim=True))
        elif step < gain._EARLY * sight.num_classes:
            best = gain._least_error(learner, covariances, usable)[:, None]
        else:
            return scores
        return scores.scatter(1, best, scores.amax(1, keepdim=True) + 1)

    return scores_of


def played_on() -> Iterator[tuple[str, str, Graph]]:
    """Domain, name and graph, one copy or seed after the other."""
    for kind in KINDS:
        for seed in (0, 1):
            yield kind, kind, generated(kind, seed)
    yield from developed_copies(COPIES)


def developed_copies(seeds: Sequence[int]) -> Iterator[tuple[str, str, Graph]]:
    """Domain, name and copies of these seeds of each graph of `DEVELOPED`."""
    halves = json.loads(HALVES.read_text())["developed_on"]
    domains = {name: domain for domain, names in halves.items() for name in names}
    for name in DEVELOPED:
        copies = list(graph_copies(load_graph(name), copies=max(seeds) + 1))
        for seed in seeds:
            yield domains[name], name, copies[seed]


def use(form: str) -> None:
    """Let `gain` ask in this form from now on."""
    if form != "random":
        gain._settled_scores = scored_by(*FORMS[form])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--out", type=Path, default=RESULT)
    given = parser.parse_args()
    write_json(
        given.out,
        {"schema": 1, "benchmark": "first questions"} | compared(played_on(), FORMS, use, given.runs),
        compact=True,
    )


def compared(
    graphs: Iterable[tuple[str, str, Graph]], forms: Collection[str], use: Callable[[str], None], runs: int
) -> dict[str, Any]:
    """What forms of `gain`, and random choice, reach with one and two labels a class, judged by the rule.

    Args:
        graphs: domain, name and graph; copies of a graph have its name.
        forms: their names. use: lets `gain` play the form of that name, or as it is for ``"random"``.
        runs: on each graph.
    """
    machine = describe_machine()
    scores: dict[str, dict[str, dict[str, list[float]]]] = {}  # by graph, form or random, and labels a class
    domains: dict[str, str] = {}
    for domain, name, graph in graphs:
        domains[name] = domain
        budgets, own = budgets_of(graph, (1, 2)), scores.setdefault(name, {})
        for form in ("random", *forms):
            use(form)
            strategy = "random" if form == "random" else "gain"
            result = compare(graph, [strategy], classifiers=["views"], budgets=budgets, runs=runs, device="cpu")
            for per, setting in zip(("1", "2"), result.settings, strict=False):
                (outcome,) = setting.outcomes.values()
                own.setdefault(form, {}).setdefault(per, []).extend(round(float(v), 3) for v in outcome.micro_f1)
        print(graph.name, {f: [round(float(np.mean(v)), 1) for v in at.values()] for f, at in own.items()}, flush=True)
    return {
        "machine": machine,
        "seed": 0,
        "runs": runs,
        "scores": {form: judged(form, scores, domains) for form in forms},
        "graphs": {
            name: {form: {per: round(float(np.mean(v)), 2) for per, v in at.items()} for form, at in own.items()}
            for name, own in scores.items()
        },
    }


def judged(form: str, scores: dict[str, Any], domains: dict[str, str]) -> dict[str, Any]:
    """A form's score by the rule, and what it is made of."""
    by_domain: dict[str, list[float]] = {}
    behind = []
    for name, own in scores.items():
        by_domain.setdefault(domains[name], []).append(float(np.mean([np.mean(v) for v in own[form].values()])))
        if "2" in own[form]:
            leads = np.array(own[form]["2"]) - np.array(own["random"]["2"])
            if leads.mean() + 1.96 * leads.std(ddof=1) / len(leads) ** 0.5 < -0.5:
                behind.append(name)
    mean = float(np.mean([np.mean(values) for values in by_domain.values()]))
    return {"score": round(mean - len(behind), 2), "mean": round(mean, 2), "behind": behind}


if __name__ == "__main__":
    main()
