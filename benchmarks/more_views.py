"""Whether `views` should have more views of the features, or diffuse more of their directions among kin; whether `gain`
should look at how sure the asked node itself is, and when its gate opens: forms compared, chosen by a rule that came
first.

    python benchmarks/more_views.py --device cuda --jobs 12 [--runs 100] [--rows build/more-views.json]

What the file of rows holds is not played again, so the same command goes on. What the rule looks at is written to
benchmarks/results/more-views.json.

Earlier searches (`together.py`, `kin_together.py`) gave all forms the same labels. Here `gain` asks with each form
itself, on more copies and with more runs, so that differences of a quarter of a point can be seen.

**The rule.** It was written and committed before any of the forms was played on the graphs of this page. That *of
features* was ahead on citation graphs and behind by a tenth on a generated kind was known from `kin_together.py`.

- The graphs are all of the half that settings are chosen on (`halves.json`) up to 10,000 nodes, four other copies each
  with a fifth of the nodes left out (seeds 48 to 51), and the generated kinds on which hardly anything can be learned
  (`first_questions.py`, seeds 28 to 31); 1, 2, 5 and 10 labels a class; the share predicted right among the nodes that
  were not asked.
- `VIEWS`, seven forms. *kin 256*: of the features 256 directions, not 64, are diffused among kin. *of features*: one
  more kin view, over the given edges and the nodes nearest in all views of the features together. *both*: these two.
  *centred*: two more views, near and far of features less their means. *rarity*: one more, near of features scaled by
  how rare they are. *all*: *of features*, *centred* and *rarity*. Graphs without features have none of them.
- J of a graph is (2 × the share predicted right at 5 + at 1 + at 2 labels a class) / 4, the mean of that after `gain`
  asking with the form and after random choice; a form's score is the mean over the real domains. A form passes if its
  lead is above 0 by its 95 % interval over graphs and copies that have features, and no domain, generated kinds among
  them, is more than 0.5 behind. Of those that pass the highest is taken, and within 0.05 of it the one that costs
  least: *kin 256* before those with one view more, these before *centred* and *all*.
- `OWN`: from the third question a class on, `gain`'s scores times (1 − Σ p²)^β of the asked node, β a half or 1: a
  label moves predictions by as much as it surprises. A form is taken if its lead in the mean of 5 and 10 labels a class
  over the real domains is at least 0.2, above 0 by its interval over graphs and copies, and no domain is more than 0.5
  behind.
- `GATES`: the gate opens at 1, 1.5 or 2 standard errors. The score is J after `gain`, less 1 for every graph or kind
  whose lead over random choice is below −0.5 at 2, 5 or 10 labels a class in the mean over its copies, divided by the
  number of domains. The highest is taken; what there is stays unless another is ahead by more than 0.1.
- What is taken is measured once on the graphs that are reported on, whatever comes out.

**What became of it.** Trying the script out had shown copy 44 of four of these graphs, with three or four runs, before
the rule was committed; its copies are others. A GPU played the forms by torch, since its kernels know twelve views, and
far slower than was thought: when its time was over, a third of the graphs and copies had their 100 runs. All others
were played on a CPU with 20 runs, after the scores of that third had been looked at; nothing of the rule was changed.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch
from closed_form import budgets_of
from first_questions import KINDS
from machine import describe_machine
from self_training import possible
from together import Labels, Together, kept_rows, played_on, write_rows

from nodewise.classifiers.views import views as views_module
from nodewise.classifiers.views.construction import WIDTH, GraphViews, make_views, unit_features
from nodewise.classifiers.views.kin import KIN
from nodewise.classifiers.views.posterior import Posterior
from nodewise.classifiers.views.products import (
    NEAREST,
    Array,
    centred,
    diffuse,
    narrow,
    scipy_matrix,
    symmetric_propagation,
    unit,
)
from nodewise.classifiers.views.reduction import REDUCED
from nodewise.classifiers.views.views import Views
from nodewise.contracts import Observation
from nodewise.datasets import load_graph
from nodewise.environment import Environment, draw_splits, rollout
from nodewise.evaluation import confidence_interval
from nodewise.evaluation.task import default_splits
from nodewise.graph import Graph
from nodewise.graph.knn.neighbours import joined_to_nearest
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.events import Reporter
from nodewise.ground.files import write_json
from nodewise.strategies import gain, make_strategy

RESULT = Path(__file__).parent / "results" / "more-views.json"
COPIES, PER_CLASS, WORTH = (48, 49, 50, 51), (1, 2, 5, 10), {1: 1, 2: 1, 5: 2, 10: 0}
VIEWS = ("as it is", "kin 256", "of features", "both", "centred", "rarity", "all")
OWN, GATES = {"own ½": 0.5, "own 1": 1.0}, {"gate 1.5": 1.5, "gate 2": 2.0}
COST = {"as it is": 0, "kin 256": 1, "of features": 2, "both": 2, "rarity": 2, "centred": 3, "all": 4}
NEAR, FAR = (0.1, 10), (0.05, 20)


class Given(Views):
    """`views` with views that are there already."""

    def __init__(self, form: str, views: GraphViews) -> None:
        object.__setattr__(self, "form", form)
        object.__setattr__(self, "given", views)

    def identity(self) -> dict[str, Any]:
        return {"form": self.form}  # type: ignore[attr-defined]

    def prepare(self, graph: GraphTensors, reporter: Reporter | None = None) -> GraphViews:
        views: GraphViews = self.given  # type: ignore[attr-defined]
        return views


class Surprised(gain.Gain):
    """`gain` whose scores are multiplied by how much the asked node's label is expected to surprise."""

    def __init__(self, power: float) -> None:
        self.power = power

    def scores(self, observation: Observation) -> torch.Tensor:
        sight = gain._sight(observation)
        chance = torch.softmax(gain._TEMPERATURE * sight.learner.mean(), -1)
        surprise = (1 - chance.square().sum(-1)).clamp_min(0) ** self.power
        settled, late = gain._settled_scores(sight), sight.step >= gain._EARLY * sight.num_classes
        scores, distrusted = torch.where(late, settled * surprise, settled), gain._distrusted(sight)
        return scores if distrusted is None else torch.where(distrusted[:, None], sight.noise, scores)


def diffused(step: Any, x: Array, how: tuple[float, int], end: bool) -> Array:
    """A view of features that are diffused; of unit length before they are centred, where they were so before, too."""
    ((_, total),) = diffuse(step, x, {"view": how})
    return narrow(centred(unit(total) if end else total), WIDTH)


def rare_features(graph: Graph) -> Array:
    """Features times the logarithm of how rare they are, rows of unit length, in their leading directions."""
    assert graph.x is not None
    x = graph.x
    count, dense = graph.num_nodes, isinstance(x, np.ndarray)
    there = (x != 0).sum(0) if dense else np.asarray((x != 0).sum(0)).ravel()
    scale = np.log1p(count / np.maximum(there, 1)).astype(np.float32)
    scaled = replace(graph, x=x * scale if dense else (x.multiply(scale)).tocsr().astype(np.float32))
    return unit_features(GraphTensors(scaled))


def forms_of(graph: Graph) -> dict[str, GraphViews]:
    """The views of a graph in each form."""
    tensors = GraphTensors(graph)
    views = make_views(tensors)
    forms = {"as it is": views}
    if not tensors.has_features:
        return forms
    adjacency = scipy_matrix(tensors.adjacency)
    columns = {name: views.columns[:, number].numpy() for number, name in enumerate(views.names)}
    x = unit_features(tensors)
    less = x - x.mean(0, dtype=np.float64).astype(x.dtype)
    made: dict[str, Array] = {}
    wide, edges = narrow(less.copy(), REDUCED), adjacency.nnz > 0
    kin = {"kin": joined_to_nearest(np.ascontiguousarray(columns["own"]), NEAREST)}
    if edges:
        near = joined_to_nearest(np.ascontiguousarray(columns["near"]), NEAREST)
        kin["kin near"] = (near + adjacency.astype(np.float32) * (near.sum() / adjacency.sum())).tocsr()
    for name, joined in kin.items():
        made[name] = diffused(symmetric_propagation(joined), wide, KIN, True)
    forms["kin 256"] = replaced(views, made)
    some = Together(views, tensors)
    of_features = {"kin of features": some.kin(some.features_together())}
    beside: dict[str, Array] = {}
    if edges:
        step = symmetric_propagation(adjacency)
        beside = {"near centred": diffused(step, less, NEAR, True), "far centred": diffused(step, less, FAR, True)}
        rare = {"near rare": diffused(step, rare_features(graph), NEAR, False)}
    else:
        rare = {"own rare": narrow(centred(rare_features(graph).copy()), WIDTH)}
    forms["of features"] = added(views, of_features)
    forms["both"] = added(forms["kin 256"], of_features)
    forms["centred"] = added(views, beside)
    forms["rarity"] = added(views, rare)
    forms["all"] = added(views, of_features | beside | rare)
    return {form: forms[form] for form in VIEWS}


def replaced(views: GraphViews, made: Mapping[str, Array]) -> GraphViews:
    """The views with some in the place of those of their names."""
    columns = views.columns.clone()
    for name, view in made.items():
        columns[:, views.names.index(name)] = 0
        columns[:, views.names.index(name), : view.shape[1]] = torch.from_numpy(view.astype(np.float32))
    return GraphViews(views.names, columns)


def added(views: GraphViews, made: Mapping[str, Array]) -> GraphViews:
    """The views and some more."""
    columns = torch.zeros(len(views.columns), len(views.names) + len(made), views.columns.shape[2])
    columns[:, : len(views.names)] = views.columns
    for number, view in enumerate(made.values(), len(views.names)):
        columns[:, number, : view.shape[1]] = torch.from_numpy(np.ascontiguousarray(view, np.float32))
    return GraphViews((*views.names, *made), columns)


def asked(
    tensors: GraphTensors, graph: Graph, form: str, views: GraphViews, who: Any, runs: int, budget: int
) -> Labels:
    """The nodes that a strategy asks with these views, and their classes: int64 [run, label] each."""
    environment = Environment.of(tensors, Given(form, views), runs, budget)
    rollout(environment, who, draw_splits(tensors, runs, 0, sizes=default_splits(graph)), 0)
    learner: Any = environment.learner
    nodes, answers = learner.posterior.labels()
    return nodes.clone(), answers.clone()


def right(tensors: GraphTensors, views: GraphViews, labels: Labels) -> float:
    """The share predicted right among the nodes that were not asked, in percent, the mean over runs."""
    nodes, answers = labels
    posterior = Posterior(views, len(nodes), tensors.num_classes, nodes.shape[1])
    posterior.add_many(nodes, answers)
    free = (tensors.y >= 0).repeat(len(nodes), 1).scatter(1, nodes, False)
    hits = (possible(posterior.mean(posterior.fit()), answers).argmax(-1) == tensors.y) & free
    return round(float((100 * hits.sum(1) / free.sum(1)).mean()), 3)


def measured(graph: Graph, runs: int, device: str) -> Iterator[dict[str, Any]]:
    """By form and labels a class what is predicted right after `gain` and after random choice."""
    views_module._TRIED = 0  # all forms by torch, whatever the number of views
    tensors, budgets = GraphTensors(graph, device), budgets_of(graph, PER_CLASS)
    forms = {form: views.to(tensors.device, torch.float32) for form, views in forms_of(graph).items()}
    by_chance = asked(tensors, graph, "as it is", forms["as it is"], make_strategy("random"), runs, budgets[-1])
    played: dict[str, tuple[GraphViews, Any, float]] = {
        **{form: (views, gain.Gain(), 1.0) for form, views in forms.items()},
        **{form: (forms["as it is"], Surprised(power), 1.0) for form, power in OWN.items()},
        **{form: (forms["as it is"], gain.Gain(), gate) for form, gate in GATES.items()},
    }
    for form, (views, who, gate) in played.items():
        gain.GATE = gate
        labels = asked(tensors, graph, form, views, who, runs, budgets[-1])
        for per, budget in zip(PER_CLASS, budgets, strict=False):
            some = [(nodes[:, :budget], answers[:, :budget]) for nodes, answers in (labels, by_chance)]
            after_gain, after_random = (right(tensors, views, one) for one in some)
            yield {"form": form, "per_class": per, "gain": after_gain, "random": after_random}


@lru_cache
def games(copy: int) -> list[tuple[str, str, Callable[[], Graph]]]:
    """Domain, name and graph of everything that is played of a copy."""
    return list(played_on(copy))


def play(copy: int, number: int, runs: int, device: str) -> tuple[str, str, list[dict[str, Any]]]:
    """One graph of one copy: domain, name, and what was measured."""
    torch.set_num_threads(1)
    domain, name, make = games(copy)[number]
    return domain, name, list(measured(make(), runs, device))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--copies", default=",".join(map(str, COPIES)))
    parser.add_argument("--graphs", help="by name, with commas; all without it")
    parser.add_argument("--rows", type=Path, default=Path("build/more-views.json"))
    parser.add_argument("--out", type=Path, default=RESULT)
    given = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    machines, rows = kept_rows(given.rows)
    machine = describe_machine(given.device)
    done = {(row["graph"], row["copy"]) for row in rows}
    wanted = []
    for copy in map(int, given.copies.split(",")):
        for number, (_, name, _) in enumerate(games(copy)):
            chosen = given.graphs is None or name in given.graphs.split(",")
            wanted += [(copy, number)] if chosen and (name, copy) not in done else []
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(play, *one, given.runs, given.device): one for one in wanted}
        for future in as_completed(waiting):
            domain, name, found = future.result()
            told = {"graph": name, "domain": domain, "copy": waiting[future][0], "runs": given.runs}
            rows += [{**told, **row} for row in found]
            machines += [machine] if machine not in machines else []
            record = {"benchmark": "more views", "seed": 0, "machines": machines}
            write_rows(given.rows, record, sorted(rows, key=lambda row: (row["copy"], row["domain"], row["graph"])))
            print(domain, name, waiting[future][0], flush=True)
    counts = sorted(Counter(row["runs"] for row in {(row["graph"], row["copy"]): row for row in rows}.values()).items())
    record = {"schema": 1, "benchmark": "more views", "seed": 0, "machines": machines, "games_by_runs": counts}
    torch.set_num_threads(1)
    costs = {name: making(name) for name in ("cora", "pubmed")}
    write_json(given.out, {**record, "making": costs, **scores_of(rows)}, compact=True)


Right = dict[str, dict[tuple[str, int], dict[int, tuple[float, float]]]]


def making(name: str) -> tuple[float, float]:
    """Seconds of one core that making the views of a graph takes, as they are and with what *both* adds."""
    graph = load_graph(name)
    tensors = GraphTensors(graph)
    begin = time.process_time()
    views = make_views(tensors)
    spent, x = time.process_time() - begin, unit_features(tensors)
    less, columns = x - x.mean(0, dtype=np.float64).astype(x.dtype), views.columns[:, views.names.index("near")]
    joined, more = joined_to_nearest(np.ascontiguousarray(columns.numpy()), NEAREST), 0.0
    for rows, sign in ((less, 2), (narrow(less.copy(), WIDTH), -2)):  # two views with 256 directions in place of 64
        begin = time.process_time()
        diffused(symmetric_propagation(joined), rows, KIN, True)
        more += sign * (time.process_time() - begin)
    some, begin = Together(views, tensors), time.process_time()
    some.kin(some.features_together())
    return round(spent, 2), round(spent + more + time.process_time() - begin, 2)


def domains_of(rows: list[dict[str, Any]], form: str) -> Right:
    """By domain, graph with copy, and labels a class: what was right after `gain` and after random choice."""
    found: Right = {}
    for row in rows:
        if row["form"] == form:
            one = found.setdefault(row["domain"], {}).setdefault((row["graph"], row["copy"]), {})
            one[row["per_class"]] = row["gain"], row["random"]
    return found


def leads(
    rows: list[dict[str, Any]], form: str, worth: Mapping[int, float], after: tuple[float, float]
) -> dict[str, list[float]]:
    """By domain each graph's and copy's lead over what there is, labels a class weighed by what they are worth, and
    what is right after `gain` and after random choice by `after`.
    """
    ours, theirs = domains_of(rows, form), domains_of(rows, "as it is")
    found: dict[str, list[float]] = {}
    for domain, graphs in theirs.items():
        for graph, by_labels in graphs.items():
            own = ours.get(domain, {}).get(graph, by_labels)  # a graph without features has no other form
            counted = [(worth[per], own[per], by_labels[per]) for per in by_labels if worth.get(per)]
            values = [np.dot(np.subtract(one, other), after) for _, one, other in counted]
            found.setdefault(domain, []).append(float(np.average(values, weights=[one[0] for one in counted])))
    return found


def judged(
    rows: list[dict[str, Any]], form: str, worth: Mapping[int, float], after: tuple[float, float]
) -> dict[str, Any]:
    """A form's lead over the real domains, its interval over graphs and copies on which it differs, and the worst
    domain.
    """
    by_domain = {domain: np.array(values) for domain, values in leads(rows, form, worth, after).items()}
    means = {domain: float(values.mean()) for domain, values in by_domain.items()}
    real = [domain for domain in means if domain not in KINDS]
    differing = np.concatenate([by_domain[domain][by_domain[domain] != 0] for domain in real])
    over = confidence_interval(differing) if len(differing) > 2 else None
    worst = min(means, key=lambda domain: means[domain])
    return {
        "form": form,
        "lead": round(float(np.mean([means[domain] for domain in real])), 3),
        "over_graphs": None if over is None else [round(over.mean, 3), round(over.half_width, 3)],
        "worst": round(means[worst], 3),
        "worst_domain": worst,
        "domains": {domain: round(value, 2) for domain, value in means.items()},
    }


def by_labels(rows: list[dict[str, Any]], form: str) -> dict[str, list[float]]:
    """By labels a class the lead over the real domains after `gain`, and after random choice."""
    found = {}
    for per in PER_CLASS[:3]:
        own = [row for row in rows if row["per_class"] == per]
        sides = [leads(own, form, {per: 1}, after) for after in ((1.0, 0.0), (0.0, 1.0))]
        real = [domain for domain in sides[0] if domain not in KINDS]
        found[str(per)] = [round(float(np.mean([np.mean(side[domain]) for domain in real])), 2) for side in sides]
    return found


def gate_score(rows: list[dict[str, Any]], form: str) -> dict[str, Any]:
    """J after `gain`, less 1 for each graph that is behind random choice, by the number of domains."""
    by_domain = domains_of(rows, form)
    values, behind = [], {}
    for graphs in by_domain.values():
        js: list[float] = []
        by_graph: dict[tuple[str, int], list[float]] = {}
        for (graph, _), by_labels in graphs.items():
            counted = [(WORTH[per], one) for per, one in by_labels.items() if WORTH[per]]
            js.append(float(np.average([one[0] for _, one in counted], weights=[worth for worth, _ in counted])))
            for per, (ours, random) in by_labels.items():
                by_graph.setdefault((graph, per), []).append(ours - random)
        values.append(np.mean(js))
        behind |= {
            f"{graph} {per}": round(float(np.mean(one)), 2)
            for (graph, per), one in by_graph.items()
            if per > 1 and np.mean(one) < -0.5
        }
    graphs_behind = {name.rsplit(" ", 1)[0] for name in behind}
    score = float(np.mean(values)) - len(graphs_behind) / len(by_domain)
    return {"form": form, "score": round(score, 3), "right": round(float(np.mean(values)), 3), "behind": behind}


def scores_of(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """What the rule looks at."""
    both, alone = (0.5, 0.5), (1.0, 0.0)
    return {
        "views": [judged(rows, form, WORTH, both) | {"at": by_labels(rows, form)} for form in VIEWS[1:]],
        "own": [judged(rows, form, {5: 1, 10: 1}, alone) for form in OWN],
        "gates": [gate_score(rows, form) for form in ("as it is", *GATES)],
    }


if __name__ == "__main__":
    main()
