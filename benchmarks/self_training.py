"""Whether `views` should learn from its own predictions, where leave-one-out says that it helps: forms of it compared,
and chosen by a rule that came first.

    python benchmarks/self_training.py [--runs 20] [--device cuda] [--out benchmarks/results/self-training.json]

What the file holds is not played again, so the same command goes on.

Self-training takes the learner's own predictions as labels of the nodes that it is surest of, and fits once more. A
refit is ridge regression on each view, with the strength and the weight that the view has after the labels, from the
labels and the nodes' predicted classes together; its mean is brought to the spread of the first one, and both are
added.

**The rule.** It was written and committed before any of the forms was played on any graph.

- The graphs are all of the half that settings are chosen on (`halves.json`) up to 10,000 nodes, one copy each with a
  fifth of its nodes left out (seed 25, those that figures are reported on are 0 to 9), and the generated ones on which
  hardly anything can be learned (`first_questions.py`, seed 5).
- The forms are `FORMS`. *half* and *all*: the half of the nodes with the largest margin, or all of them. *4*, *16*:
  their weight together, in labels, for each label. *test t*: only where leave-one-out says that it helps: every label
  is left out of both fits, and so of the predictions that are learned from, and the mean rise of its log probability
  must be above t standard errors.
- All forms see the same labels, chosen by `gain`, two and five a class; those chosen at random stand beside them.
- A form's score is the mean over the domains (each generated kind is one) of the share of nodes predicted right, among
  those that were not asked, after `gain`.
- Self-training with a test fits once more for every label, in every question. So what there is stays unless a form is
  ahead by at least 0.3, with the lower bound of its 95 % interval over domains above 0, and no domain is more than 0.5
  behind. Of those that pass, the highest is taken, and measured once on the graphs that are reported on.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from closed_form import HALVES, budgets_of
from first_questions import KINDS, generated
from machine import describe_machine

from nodewise.classifiers import make_classifier
from nodewise.classifiers.views.construction import GraphViews
from nodewise.classifiers.views.posterior import Posterior
from nodewise.datasets import load_graph
from nodewise.environment import Environment, draw_splits, rollout
from nodewise.evaluation import confidence_interval, graph_copies
from nodewise.evaluation.task import default_splits
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.files import write_json
from nodewise.strategies import make_strategy

RESULT = Path(__file__).parent / "results" / "self-training.json"
COPY, SEED, MOST_NODES = 25, 5, 10_000
LEARNED_FROM = {"half, 4": (0.5, 4.0), "half, 16": (0.5, 16.0), "all, 4": (1.0, 4.0), "all, 16": (1.0, 16.0)}
TESTS = {"": None, ", test 0": 0.0, ", test 1": 1.0}
FORMS = [f"{form}{test}" for form in LEARNED_FROM for test in TESTS]
AT_ONCE = 2**27
"""Numbers in the rows that are weighed at once."""


def played_on() -> Iterator[tuple[str, str, Graph]]:
    """Domain, name and graph."""
    for kind in KINDS:
        yield kind, kind, generated(kind, SEED)
    for domain, names in json.loads(HALVES.read_text())["developed_on"].items():
        for name in names:
            graph = load_graph(name)
            if graph.num_nodes <= MOST_NODES:
                yield domain, name, list(graph_copies(graph, copies=COPY + 1))[COPY]


def fitted(views: GraphViews, nodes: torch.Tensor, labels: torch.Tensor, classes: int) -> Any:
    """A posterior with these labels, [run, label] each, its fit and its mean."""
    posterior = Posterior(views, len(nodes), classes, nodes.shape[1])
    posterior.add_many(nodes, labels)
    fit = posterior.fit()
    return fit, posterior.mean(fit).float()


def possible(mean: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The mean with classes out of question that have no label."""
    known = torch.nn.functional.one_hot(labels, mean.shape[-1]).any(1)
    return mean.masked_fill(~known[:, None], -1e4)


def refitted(
    views: GraphViews,
    fit: Any,
    mean: torch.Tensor,
    nodes: torch.Tensor,
    labels: torch.Tensor,
    form: tuple[float, float],
) -> torch.Tensor:
    """The mean with what the first one predicts learned from, too: [run, node, class]."""
    share, times = form
    classes = mean.shape[-1]
    first = possible(mean, labels).topk(2, -1)
    predicted, margin = first.indices[..., 0], first.values[..., 0] - first.values[..., 1]
    kept = margin >= margin.quantile(1 - share, dim=1, keepdim=True)
    weight = kept.float() * (times * nodes.shape[1] / kept.sum(1, keepdim=True))
    weight.scatter_(1, nodes, 1.0)
    targets = torch.nn.functional.one_hot(predicted.scatter(1, nodes, labels), classes).float()
    centre = torch.nn.functional.one_hot(labels, classes).float().sum(1) + 1
    centre = centre / centre.sum(-1, keepdim=True)
    beside = (targets - centre[:, None]) * weight[..., None]
    again = torch.zeros_like(mean)
    for view in range(views.columns.shape[1]):
        columns = views.columns[:, view].float()
        eye = torch.eye(columns.shape[1], device=columns.device)
        for some in torch.arange(len(mean), device=mean.device).split(max(1, AT_ONCE // columns.numel())):
            gram = columns.T @ (weight[some][..., None] * columns)
            gram += fit.ridges[some, view].float().view(-1, 1, 1) * eye
            solved = torch.linalg.solve(gram, columns.T @ beside[some])
            again[some] += fit.weights[some, view].float().view(-1, 1, 1) * (columns @ solved)
    again += (centre - 1 / classes)[:, None]
    spread = mean.flatten(1).std(1) / again.flatten(1).std(1).clamp_min(1e-9)
    return (mean + again * spread[:, None, None]) / 2


def helped(views: GraphViews, nodes: torch.Tensor, labels: torch.Tensor, classes: int, temperature: Any) -> Any:
    """By form, by how many standard errors labels that were left out are predicted better: of one run."""
    count = len(nodes)
    others = torch.arange(count, device=nodes.device).expand(count, -1)
    others = others[~torch.eye(count, dtype=torch.bool, device=nodes.device)].view(count, -1)
    fit, mean = fitted(views, nodes[others], labels[others], classes)

    def chance(of: torch.Tensor) -> torch.Tensor:
        own = torch.log_softmax(temperature * possible(of, labels[others])[torch.arange(count), nodes], -1)
        return own.gather(1, labels[:, None])[:, 0].clamp_min(np.log(1e-3))

    found = {}
    for name, form in LEARNED_FROM.items():
        rise = chance(refitted(views, fit, mean, nodes[others], labels[others], form)) - chance(mean)
        found[name] = float(rise.mean() / (rise.std() / count**0.5).clamp_min(1e-9))
    return found


def measured(graph: Graph, strategy: str, budget: int, runs: int, device: str) -> dict[str, float]:
    """The share of nodes predicted right among those that were not asked, in percent, by form; first what there is."""
    tensors = GraphTensors(graph, device)
    environment = Environment.of(tensors, make_classifier("views"), runs, budget)
    rollout(environment, make_strategy(strategy), draw_splits(tensors, runs, 0, sizes=default_splits(graph)), 0)
    learner: Any = environment.learner
    views, (nodes, labels) = learner.views, learner.posterior.labels()
    free = (tensors.y >= 0) & ~environment.labelled

    def right(mean: torch.Tensor) -> torch.Tensor:
        return 100 * ((possible(mean, labels).argmax(-1) == tensors.y) & free).sum(1) / free.sum(1)

    fit, mean = fitted(views, nodes, labels, graph.num_classes)
    temperature = fit.left_out.said
    tests = [helped(views, nodes[run], labels[run], graph.num_classes, temperature[run]) for run in range(runs)]
    base = right(mean)
    found = {"as it is": float(base.mean())}
    for name, form in LEARNED_FROM.items():
        trained = right(refitted(views, fit, mean, nodes, labels, form))
        leads = torch.tensor([test[name] for test in tests], device=base.device)
        for test, errors in TESTS.items():
            taken = trained if errors is None else torch.where(leads > errors, trained, base)
            found[f"{name}{test}"] = float(taken.mean())
    return {form: round(value, 3) for form, value in found.items()}


def judged(rows: list[dict[str, Any]], strategy: str) -> dict[str, dict[str, float]]:
    """Each form's mean over the domains, its lead over what there is with its interval, the worst domain."""
    found = {}
    for form in ("as it is", *FORMS):
        by_domain: dict[str, list[tuple[float, float]]] = {}
        for row in rows:
            if row["strategy"] == strategy:
                by_domain.setdefault(row["domain"], []).append((row[form], row[form] - row["as it is"]))
        means = np.array([np.mean(values, axis=0) for values in by_domain.values()])
        lead = confidence_interval(means[:, 1])
        scores = {
            "mean": means[:, 0].mean(),
            "lead": lead.mean,
            "half_width": lead.half_width,
            "worst": means[:, 1].min(),
        }
        found[form] = {name: round(float(value), 3) for name, value in scores.items()}
    return found


def kept_rows(path: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The machines and the rows that a result file holds, none where there is no file."""
    if not path.exists():
        return [], []
    kept = json.loads(path.read_text())
    return kept["machines"], [dict(zip(kept["columns"], row, strict=True)) for row in kept["rows"]]


def write_rows(path: Path, record: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    """A result with its rows as a table: the names of the columns stand once."""
    table = {"columns": list(rows[0]), "rows": [list(row.values()) for row in rows]}
    write_json(path, {"schema": 1, **record, **table}, compact=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, default=RESULT)
    given = parser.parse_args()
    machines, rows = kept_rows(given.out)
    done, machine = {(row["graph"], row["strategy"], row["per_class"]) for row in rows}, describe_machine(given.device)
    for domain, name, graph in played_on():
        for per, budget in zip((2, 5), budgets_of(graph, (2, 5)), strict=False):
            for strategy in ("gain", "random"):
                if (name, strategy, per) in done:
                    continue
                found = measured(graph, strategy, budget, given.runs, given.device)
                rows.append({"graph": name, "domain": domain, "strategy": strategy, "per_class": per, **found})
                machines += [machine] if machine not in machines else []
                print(name, strategy, per, found, flush=True)
        if len({row["domain"] for row in rows}) > 2:  # an interval needs three
            scores = {strategy: judged(rows, strategy) for strategy in ("gain", "random")}
            record = {"benchmark": "self-training", "seed": 0, "runs": given.runs, "machines": machines}
            write_rows(given.out, {**record, "scores": scores}, rows)
    print(json.dumps(scores, indent=1))


if __name__ == "__main__":
    main()
