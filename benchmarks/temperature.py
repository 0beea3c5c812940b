"""How sure `views` says it is: forms of its temperature compared, and chosen by a rule that came first.

    python benchmarks/temperature.py [--runs 5] [--out benchmarks/results/temperature.json]

The temperature multiplies predictions before the softmax. It is the one of a grid that the labels' leave-one-out
likelihood asks for, with a prior worth a few labels. Where little can be learned few labels hardly tell a temperature
that is far too high from the right one.

**The rule.** It was written and committed before any of the forms was tried on any graph.

- The graphs are those of `first_questions.py`: twelve of the half that settings are chosen on (one copy each, seed 24)
  and the generated ones on which hardly anything can be learned (seed 4).
- The forms are `FORMS`; all of them see the same labels, chosen by `gain`, two and five a class, and none changes what
  is predicted or asked. *usual N*: the prior's temperature is N. *worth N*: the prior is worth N labels. *low*: the
  grid goes on below 1. *errors k*: of the temperatures whose loss with the prior is within k standard errors of the
  best one's, the lowest; the errors are those of the labels' differences, so the fewer labels, the lower. *gate*: the
  lowest of the grid where the labels are not better predicted by each other than by the shares, as `gain` tests it. *by
  lead*: in between, by the share of three standard errors that the lead over the shares has.
- A form's score is the mean over the domains, each generated kind one, of the Brier score on all nodes that were not
  asked (the squared distance of the probabilities from the truth, summed over the classes).
- The lowest is taken, but what there is stays unless a form is ahead of it by more than 0.002; beside it stand the
  expected calibration error, and the share that is right above 0.9.
- What is taken is then measured once on all graphs by `calibration.py`, whatever comes out.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from calibration import reliability
from closed_form import budgets_of
from first_questions import KINDS, developed_copies, generated
from machine import describe_machine

from nodewise.classifiers import make_classifier
from nodewise.classifiers.views import posterior
from nodewise.classifiers.views.posterior import Members
from nodewise.environment import Environment, draw_splits, rollout
from nodewise.evaluation.task import default_splits
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.files import write_json
from nodewise.strategies import gain, make_strategy

RESULT = Path(__file__).parent / "results" / "temperature.json"
COPY, SEED = 24, 4
USUAL, WORTH = posterior._USUAL_TEMPERATURE, posterior._TEMPERATURE_LABELS
GRID = torch.tensor(posterior._TEMPERATURES)
LOW = torch.cat([torch.tensor([0.25, 0.5, 0.7]), GRID])


def losses(members: Members, grid: torch.Tensor) -> torch.Tensor:
    """Each label's leave-one-out loss by temperature: [temperature, run, label]."""
    predictions = members.left_out.predictions.transpose(1, 2)  # [run, class, label]
    chances = torch.log_softmax(grid.view(-1, 1, 1, 1) * predictions, -2)
    return -(chances * members.targets).sum(-2)


def prior(grid: torch.Tensor, usual: float = USUAL, worth: float = WORTH) -> torch.Tensor:
    return (worth * torch.log(grid / usual).square() / 2)[:, None]


def by_likelihood(grid: torch.Tensor = GRID, usual: float = USUAL, worth: float = WORTH) -> Callable[..., torch.Tensor]:
    """The temperature of the least loss with the prior: [run]."""
    return lambda members: grid[(losses(members, grid).sum(-1) + prior(grid, usual, worth)).argmin(0)]


def by_errors(errors: float, grid: torch.Tensor = GRID) -> Callable[..., torch.Tensor]:
    """The lowest temperature within so many standard errors of the best: [run]."""

    def temperature(members: Members) -> torch.Tensor:
        each = losses(members, grid)
        whole = each.sum(-1) + prior(grid)
        best = whole.argmin(0)
        worse = each - each.gather(0, best[None, :, None].expand(1, -1, each.shape[-1]))
        spread = (worse - worse.mean(-1, keepdim=True)).square().sum(-1).sqrt()  # of the sum over labels
        near = whole - whole.amin(0) <= errors * spread
        return grid[near.to(torch.int64).argmax(0)]

    return temperature


def where_closed(members: Members) -> torch.Tensor:
    return torch.where(members.lead_over_shares() < gain.GATE, GRID[0], by_likelihood()(members))


def by_lead(members: Members) -> torch.Tensor:
    share = (members.lead_over_shares() / 3).clamp(0, 1)
    return GRID[0] ** (1 - share) * by_likelihood()(members) ** share


FORMS: dict[str, Callable[[Members], torch.Tensor]] = {
    "as it is": by_likelihood(),
    "usual 3": by_likelihood(usual=3.0),
    "usual 2": by_likelihood(usual=2.0),
    "worth 2": by_likelihood(worth=2.0),
    "worth 10": by_likelihood(worth=10.0),
    "low": by_likelihood(LOW),
    "errors 0.5": by_errors(0.5),
    "errors 1": by_errors(1.0),
    "low, errors 0.5": by_errors(0.5, LOW),
    "gate": where_closed,
    "by lead": by_lead,
}


def played_on() -> Iterator[tuple[str, str, Graph]]:
    """Domain, name and graph."""
    for kind in KINDS:
        yield kind, kind, generated(kind, SEED)
    yield from developed_copies([COPY])


def measured(graph: Graph, budget: int, runs: int) -> dict[str, dict[str, float]]:
    """Brier score, calibration error and what is right above 0.9, by form."""
    tensors = GraphTensors(graph)
    environment = Environment.of(tensors, make_classifier("views"), runs, budget)
    rollout(environment, make_strategy("gain"), draw_splits(tensors, runs, 0, sizes=default_splits(graph)), 0)
    learner: Any = environment.learner
    fit = learner.solution()
    logits, members = learner.logits() / fit.left_out.said[:, None, None], fit.members()
    free = (tensors.y >= 0) & ~environment.labelled
    truth = torch.nn.functional.one_hot(tensors.y.clamp_min(0), graph.num_classes).float()
    found = {}
    for form, temperature in FORMS.items():
        chances = torch.softmax(logits * temperature(members)[:, None, None], -1)
        brier = (chances - truth).square().sum(-1)[free].mean()
        sure, best = chances.max(-1)
        told = reliability(sure[free].numpy(), (best == tensors.y)[free].numpy())
        right = told["above_0.9"]["right"]
        found[form] = {
            "brier": round(float(brier), 5),
            "error": told["error"],
            "above": told["above_0.9"]["share_of_nodes"],
            **({} if right is None else {"right_above": right}),
        }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULT)
    given = parser.parse_args()
    machine, rows = describe_machine(), []
    for domain, name, graph in played_on():
        for per, budget in zip((2, 5), budgets_of(graph, (2, 5)), strict=False):
            rows.append({"graph": name, "domain": domain, "per_class": per, **measured(graph, budget, given.runs)})
            print(name, per, {form: rows[-1][form]["brier"] for form in FORMS}, flush=True)
    scores = {form: judged([(row["domain"], row[form]) for row in rows]) for form in FORMS}
    record = {"schema": 1, "benchmark": "temperature", "machine": machine, "seed": 0, "runs": given.runs}
    write_json(given.out, {**record, "scores": scores, "rows": rows}, compact=True)
    print(json.dumps(scores, indent=1))


def judged(rows: list[tuple[str, dict[str, float]]]) -> dict[str, float]:
    """The means over the domains."""
    found = {}
    for what in ("brier", "error", "right_above", "above"):
        by_domain: dict[str, list[float]] = {}
        for domain, row in rows:
            if what in row:
                by_domain.setdefault(domain, []).append(row[what])
        found[what] = round(float(np.mean([np.mean(values) for values in by_domain.values()])), 4)
    return found


if __name__ == "__main__":
    main()
