"""Whether `views` should have members that see several views at once: forms of it compared, and chosen by a rule that
came first.

    python benchmarks/together.py [--runs 20] [--copy 26] [--out benchmarks/results/together.json]

What the file holds is not played again, so the same command goes on.

Today each member is ridge regression on one view, and views meet only in the mixture of what their members predict. A
member with the mean of the views' kernels can weigh a column of one view against one of another.

**The rule.** It was written and committed before any of the forms was played on any graph.

- The graphs are all of the half that settings are chosen on (`halves.json`) up to 10,000 nodes, one copy each with a
  fifth of its nodes left out (seed 26; those that figures are reported on are 0 to 9, those of earlier searches 20 to
  25), and the generated ones on which hardly anything can be learned (`first_questions.py`, seed 6).
- The forms are `FORMS`, eight of them; each adds members to those that there are, unless it says otherwise, and all are
  weighed by leave-one-out as ever. *together*: one more view, all views side by side, so that its inner products are
  the mean of theirs, reduced to its leading 64 columns; *together, whole*: not reduced; *features together*: of the
  views that look at features alone. *kin together*: one more view, features diffused as those of `kin near`, over the
  given edges and the nodes nearest in *together*. *signs*: one more view, the signs of 1,024 fixed directions of
  *together, whole* (their inner products are the arcsine of its own), centred, reduced to 64 columns. *weighed*:
  *together, whole* with each view's kernel times its weight in the mixture that there is; leave-one-out is exact for
  given weights. *weighed alone*: its members take the place of all others. *pooled*: no new member; the members'
  probabilities are mixed, not their predictions.
- All forms see the same labels, chosen once by today's `gain`, once at random: the first, 1, 2 and 5 a class, of the
  same runs.
- J of a graph is (2 × the share predicted right at 5 + at 1 + at 2 labels a class) / 4, among the nodes that were not
  asked; where half the pool does not allow 5, of what there is. A form's score is the mean of the J after `gain` and
  after random choice, then over the graphs of a domain, then over the domains of real graphs: on generated ones, which
  are there to see harm, nothing is to be gained.
- What there is stays unless a form is ahead by at least 0.3, with the lower bound of its 95 % interval over the real
  domains above 0, and no domain, generated kinds among them, is more than 0.5 behind. The highest of those that pass is
  played again on the copies of seed 27 (generated ones: 7), and taken if over both copies together it still passes. It
  is then measured once on the graphs that are reported on.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from closed_form import HALVES, budgets_of
from first_questions import KINDS, generated
from machine import describe_machine
from self_training import MOST_NODES, kept_rows, possible, write_rows

from nodewise.classifiers import make_classifier
from nodewise.classifiers.views.construction import WIDTH, GraphViews, unit_features
from nodewise.classifiers.views.kin import KIN
from nodewise.classifiers.views.posterior import Fit, Posterior, loss_scale
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
from nodewise.datasets import load_graph
from nodewise.environment import Environment, draw_splits, rollout
from nodewise.evaluation import confidence_interval, graph_copies
from nodewise.evaluation.task import default_splits
from nodewise.graph import Graph
from nodewise.graph.knn.neighbours import joined_to_nearest
from nodewise.graph.tensors import GraphTensors
from nodewise.strategies import make_strategy

RESULT = Path(__file__).parent / "results" / "together.json"
COPY, SEED_BEHIND = 26, 20
"""The copies that are played, and by how much the seed of generated graphs is smaller."""

PER_CLASS, WORTH = (1, 2, 5), {1: 1, 2: 1, 5: 2}
DIRECTIONS = 1024
OF_EDGES = ("spectrum", "role")

Labels = tuple[torch.Tensor, torch.Tensor]


class Together:
    """The views of a graph, and those that see several of them at once, each made when first asked for."""

    def __init__(self, views: GraphViews, graph: GraphTensors) -> None:
        self.views, self.graph = views, graph
        self._made: dict[str, GraphViews] = {}

    def with_view(self, name: str) -> GraphViews:
        """The views and one more."""
        if name not in self._made:
            view = torch.from_numpy(np.ascontiguousarray(MADE[name](self), np.float32))[:, None]
            width = max(view.shape[2], self.views.columns.shape[2])
            padded = [
                torch.nn.functional.pad(columns, (0, width - columns.shape[2]))
                for columns in (self.views.columns, view)
            ]
            self._made[name] = GraphViews((*self.views.names, name), torch.cat(padded, 1))
        return self._made[name]

    def side_by_side(self, but: tuple[str, ...] = ()) -> Array:
        """Views side by side: inner products are the mean of theirs."""
        chosen = [number for number, name in enumerate(self.views.names) if name not in but]
        rows: Array = self.views.columns[:, chosen].flatten(1).numpy() / np.float32(len(chosen)) ** np.float32(0.5)
        return rows

    def features_together(self) -> Array:
        """Without features, of all."""
        return narrow(self.side_by_side(OF_EDGES if self.graph.has_features else ()), WIDTH)

    def kin(self, near: Array | None = None) -> Array:
        """Of the nodes nearest in all views, or in others; without features what is diffused is all side by side."""
        near = narrow(self.side_by_side(), WIDTH) if near is None else near
        x = unit_features(self.graph) if self.graph.has_features else self.side_by_side()
        x = narrow(x - x.mean(0, dtype=np.float64).astype(x.dtype), WIDTH)
        joined, adjacency = joined_to_nearest(near, NEAREST), scipy_matrix(self.graph.adjacency)
        if adjacency.nnz:
            joined = (joined + adjacency.astype(np.float32) * (joined.sum() / adjacency.sum())).tocsr()
        ((_, total),) = diffuse(symmetric_propagation(joined), x, {"kin together": KIN})
        return narrow(centred(unit(total)), WIDTH)

    def signs(self) -> Array:
        rows = self.side_by_side()
        directions = np.random.default_rng(0).normal(size=(rows.shape[1], DIRECTIONS)).astype(np.float32)
        return narrow(centred(np.sign(rows @ directions).astype(np.float32)), WIDTH)


MADE: dict[str, Callable[[Together], Array]] = {
    "together": lambda some: narrow(some.side_by_side(), WIDTH),
    "together, whole": Together.side_by_side,
    "features together": Together.features_together,
    "kin together": Together.kin,
    "signs": Together.signs,
}
FORMS = (*MADE, "weighed", "weighed alone", "pooled")


def posterior_of(views: GraphViews, labels: Labels, classes: int) -> Posterior:
    nodes, answers = labels
    posterior = Posterior(views, len(nodes), classes, nodes.shape[1])
    posterior.add_many(nodes, answers)
    return posterior


def weighed_mean(some: Together, first: Fit, labels: Labels, classes: int, alone: bool) -> torch.Tensor:
    """The mean with members whose kernel is the views' kernels, each times its weight: [run, node, class]."""
    views = some.with_view("together, whole")
    if alone:
        views = GraphViews(views.names[-1:], views.columns[:, -1:])
    posterior = posterior_of(views, labels, classes)
    weights = first.weights / first.weights.sum(1, keepdim=True) * first.weights.shape[1]  # their mean is 1
    times = weights.sqrt().repeat_interleave(some.views.columns.shape[2], 1)  # [run, column]
    posterior.rows[-1] *= times[:, None]
    fit = posterior.fit()
    fit.coefficients[-1] *= times.T[..., None]
    return posterior.mean(fit)


def pooled_mean(posterior: Posterior) -> torch.Tensor:
    """The members' probabilities, mixed: [run, node, class]."""
    members, views, classes = posterior.members(), posterior.views, posterior.classes
    rows = posterior.rows.float()
    total = torch.zeros(posterior.runs, len(views.columns), classes)
    centres = torch.stack([torch.full_like(members.share, 1 / classes), members.share])  # [centre, run, class]
    for view in range(len(views.names)):
        columns = views.columns[:, view]
        for ridge in range(members.weights.shape[2]):
            for number, centre in enumerate(centres):
                by_label = members.of_targets[view, ridge] - members.of_ones[view, ridge] * centre[..., None]
                scale, weight = members.scale[number, view, ridge], members.weights[number, view, ridge]
                moved = columns @ (by_label @ rows[view]).mT  # [run, node, class]
                said = centre[:, None] + scale[:, None, None] * moved
                total += weight[:, None, None] * torch.softmax(loss_scale(classes) * said, -1)
    return total


def means(some: Together, labels: Labels, classes: int) -> Iterator[tuple[str, torch.Tensor]]:
    """What is predicted as it is, and in each form."""
    posterior = posterior_of(some.views, labels, classes)
    fit = posterior.fit()
    yield "as it is", posterior.mean(fit)
    for form in MADE:
        own = posterior_of(some.with_view(form), labels, classes)
        yield form, own.mean(own.fit())
    for form in ("weighed", "weighed alone"):
        yield form, weighed_mean(some, fit, labels, classes, form == "weighed alone")
    yield "pooled", pooled_mean(posterior)


Means = Callable[[Together, Labels, int], Iterator[tuple[str, torch.Tensor]]]


def measured(graph: Graph, runs: int, means: Means = means) -> Iterator[dict[str, Any]]:
    """By strategy and labels a class, the share of nodes predicted right among those that were not asked, in percent,
    by form.
    """
    tensors, budgets = GraphTensors(graph), budgets_of(graph, PER_CLASS)
    some = None
    for strategy in ("gain", "random"):
        environment = Environment.of(tensors, make_classifier("views"), runs, budgets[-1])
        splits = draw_splits(tensors, runs, 0, sizes=default_splits(graph))
        rollout(environment, make_strategy(strategy), splits, 0)
        learner: Any = environment.learner
        some = Together(learner.views, tensors) if some is None else some
        nodes, answers = learner.posterior.labels()
        for per, budget in zip(PER_CLASS, budgets, strict=False):
            labels = nodes[:, :budget], answers[:, :budget]
            free = (tensors.y >= 0).repeat(runs, 1).scatter(1, labels[0], False)
            found: dict[str, Any] = {"strategy": strategy, "per_class": per}
            for form, mean in means(some, labels, graph.num_classes):
                right = (possible(mean, labels[1]).argmax(-1) == tensors.y) & free
                found[form] = round(float((100 * right.sum(1) / free.sum(1)).mean()), 3)
            yield found


def played_on(copy: int) -> Iterator[tuple[str, str, Callable[[], Graph]]]:
    """Domain, name and graph."""
    for domain, names in json.loads(HALVES.read_text())["developed_on"].items():
        for name in names:
            graph = load_graph(name)
            if graph.num_nodes <= MOST_NODES:
                yield domain, name, lambda graph=graph: next(islice(graph_copies(graph, copies=copy + 1), copy, None))
    for kind in KINDS:
        yield kind, kind, lambda kind=kind: generated(kind, copy - SEED_BEHIND)


def judged(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Each form's J over the real domains, its lead over what there is with its interval, and the worst domain."""
    found = {}
    for form in ("as it is", *FORMS):
        by_graph: dict[tuple[str, str, int, str], list[tuple[float, float, float]]] = {}
        for row in rows:
            key = (row["domain"], row["graph"], row["copy"], row["strategy"])
            by_graph.setdefault(key, []).append((row[form], row["as it is"], WORTH[row["per_class"]]))
        by_domain: dict[str, dict[str, list[tuple[float, float]]]] = {}
        for (domain, _, _, strategy), values in by_graph.items():
            ours, theirs, worth = np.array(values).T
            pair = float(np.average(ours, weights=worth)), float(np.average(ours - theirs, weights=worth))
            by_domain.setdefault(domain, {}).setdefault(strategy, []).append(pair)
        after = {
            strategy: np.array([np.mean(own[strategy], axis=0) for own in by_domain.values()])
            for strategy in ("gain", "random")
        }
        both = (after["gain"] + after["random"]) / 2
        real = np.array([domain not in KINDS for domain in by_domain])
        lead = confidence_interval(both[real, 1])
        scores = {
            "score": both[real, 0].mean(),
            "lead": lead.mean,
            "half_width": lead.half_width,
            "worst": both[:, 1].min(),
            "after_gain": after["gain"][real, 1].mean(),
            "after_random": after["random"][real, 1].mean(),
        }
        found[form] = {name: round(float(value), 3) for name, value in scores.items()}
        found[form]["worst_domain"] = list(by_domain)[int(both[:, 1].argmin())]  # type: ignore[assignment]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--copy", type=int, default=COPY)
    parser.add_argument("--out", type=Path, default=RESULT)
    given = parser.parse_args()
    machines, rows = kept_rows(given.out)
    done, machine = {(row["graph"], row["copy"]) for row in rows}, describe_machine()
    for domain, name, make in played_on(given.copy):
        if (name, given.copy) in done:
            continue
        told = {"graph": name, "domain": domain, "copy": given.copy}
        for found in measured(make(), given.runs):
            rows.append({**told, **found})
            print(rows[-1], flush=True)
        machines += [machine] if machine not in machines else []
        if len({row["domain"] for row in rows}) > 2:  # an interval needs three
            record = {"benchmark": "together", "seed": 0, "runs": given.runs, "machines": machines}
            write_rows(given.out, {**record, "scores": judged(rows)}, rows)
    print(json.dumps(judged(rows), indent=1))


if __name__ == "__main__":
    main()
