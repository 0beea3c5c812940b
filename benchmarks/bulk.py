"""How labels that a person gave in bulk should count in `views`: forms of it compared, and chosen by a rule that came
first.

    python benchmarks/bulk.py [--half developed_on] [--minutes 20] [--rows bulk-rows.json]

What the file of rows holds is not played again, so the same command goes on; what is kept in
benchmarks/results/bulk.json are the judgements, and means over each graph's copies and both choices of labels.

Who goes through the predictions that are sure, and confirms those that are right, gives hundreds of labels in a minute.
They were not asked, and not drawn: each is there because it was predicted, and predicted right. So every view that
predicts well where all do looks good, and the classes that are easy look frequent: after 559 such labels the rest of
one job fell from 92.0 to 85.2 % right (docs/studio.md).

**The rule.** It was written and committed before any of the forms was played on these copies. One trial came before it,
of six graphs and five forms, by which the find was made and the forms were named: it is not counted below.

- The graphs are all of the half that settings are chosen on (`halves.json`) up to 10,000 nodes, two copies each with a
  fifth of its nodes left out (seeds 30 and 31; those that figures are reported on are 0 to 9), and, each a domain, the
  generated ones on which hardly anything can be learned (`first_questions.py`, the same seeds). Five labels a class,
  two runs a copy, chosen by `gain` and at random.
- Then a person labels in bulk, in one of three `WAYS`. *sure*: the 500 surest predictions, at most a quarter of the
  nodes, each above 0.9, which is what the studio lists as confident: those that are right. *one class*: the same, but
  only of the class that is predicted most often. *near*: up to 500 neighbours, in the graph, of nodes that are
  labelled, where they are of the same class. Where a way finds no node, it is left out.
- What is measured is the share of right predictions on all nodes that have no label of either kind, in percent: the
  same nodes for every form.
- The forms are `FORMS`, the simplest first. *as it is*: like all others. *without*: not at all. *untested*: not in the
  leave-one-out losses by which members are weighed, stretched and given a temperature. *unshared*: not in the classes'
  shares. *neither*: in neither of both, so that bulk labels only bend the predictions nearby. *quarter*: trusted by a
  quarter (`trust.py`), in the shares whole. *neither, quarter*: both. *level*: all of them together weigh as much as
  the labels that were asked, in losses and shares.
- A form's score is the mean over domains, graphs, ways and both choices of labels. A form that is more than 0.5 behind
  *as it is* in any domain is out. Of the others the highest is taken, or the first in the list that is within 0.1 of
  it; and nothing is changed unless the form's lead over *as it is* has an interval over domains above 0.
- It is then measured once on the other half, copies 0 and 1 (``--half reported_on``).

What came of it: nothing is taken. Where predictions were confirmed no form is better than *without*, on citations by
27 points; where neighbours were labelled some graphs gain 4 points by them, and those on which hardly anything can be
learned as much, by the shares alone. So labels in bulk are of two kinds, and what tells them apart is whether the other
labels knew them already.

**The second rule** (``--second``). It was written when all of that had been seen, and committed before any of its forms
was played.

- Six other copies (seeds 32 to 37) of the same graphs, the same ways, runs and measure.
- The forms are `SECOND`, by the chance that a label in bulk has of its class from the labels that were asked alone.
  *sure out*: a label that had more than 0.9 does not count at all. *known out*: one that was predicted, at whatever
  chance. *sure neither*, *sure quarter*, *sure level*: as above, for the labels that *sure out* leaves out. *surprise*:
  each is trusted by 1 less its chance, at least 0.02, in losses, shares and fit; *surprise, fitted*: in losses and
  shares alone.
- Score, bound of 0.5 and preference among equals as above. The form's lead over *as it is* must be at least 0.3, and
  its interval over copies above 0, each copy's lead being the mean over domains: domains differ in kind, one of them by
  ten times the others, so that an interval over them says little.
- The other half is then played once, copies 0 and 1, and the form is built if its mean lead there is above 0, too.

What came of it: nothing is taken. *sure out* is ahead by 1.2 ± 0.4 over copies, on citations by 26 points where one
class was confirmed, but behind by 3 on twitch and by more where labels hang on nothing: there predictions above 0.9 are
the shares and little else, and labels in bulk teach the shares.

**The third rule** (``--third``), again after all of that and before any of its forms was played. Whether labels hang on
anything is what the gate of `gain` tests, so the forms are those of the second rule that were ahead, *where the gate is
open*: where the labels that were asked predict each other better than the shares do by more standard errors than `gain`
wants; elsewhere *as it is*. Copies 38 to 43; all else as in the second rule. If nothing is taken this time, labels in
bulk stay as they are.

What came of it: nothing is taken. All forms are ahead by more than 1 over copies; the nearest to the bound, *sure
quarter*, is 0.6 behind on one generated graph. Labels in bulk stay as they are, the other half was not played, and
docs/studio.md says what they do.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from closed_form import HALVES, budgets_of
from first_questions import KINDS, generated
from machine import describe_machine

from nodewise.classifiers import make_classifier
from nodewise.classifiers.views.graph_views import GraphViews
from nodewise.classifiers.views.posterior import Members, Posterior, loss_scale, stretched_by
from nodewise.datasets import load_graph
from nodewise.environment import Environment, draw_splits, rollout
from nodewise.evaluation import confidence_interval, graph_copies
from nodewise.evaluation.task import default_splits
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.files import write_json
from nodewise.strategies import make_strategy
from nodewise.strategies.gain import GATE

RESULT = Path(__file__).parent / "results" / "bulk.json"
COPIES = {"developed_on": (30, 31), "reported_on": (0, 1)}
SECOND_COPIES = {"developed_on": tuple(range(32, 38)), "reported_on": (0, 1)}
THIRD_COPIES = {"developed_on": tuple(range(38, 44)), "reported_on": (0, 1)}
RUNS, PER_CLASS, MOST_NODES, MOST_BULK = 2, 5, 10_000, 500
SURE, LEAST_TRUST = 0.9, 0.02
WAYS = ("sure", "one class", "near")
FORMS = ("as it is", "without", "untested", "unshared", "neither", "quarter", "neither, quarter", "level")
SECOND = (
    *("as it is", "sure out", "known out", "sure neither", "sure quarter", "sure level"),
    *("surprise", "surprise, fitted"),
)
GATED = " where the gate is open"
THIRD = ("as it is", *(f"{form}{GATED}" for form in ("sure out", "sure neither", "sure quarter", "sure level")))
BESIDE = 2
"""Columns of a row before its forms, the first of which is *as it is*: how many labels in bulk, right before them."""
MOST_BEHIND, ALIKE, LEAST_SECOND_LEAD = 0.5, 0.1, 0.3


class WeighedPosterior(Posterior):
    """The ridge posterior of one run whose labels have weights of their own.

    Attributes:
        tested: in the leave-one-out losses. shared: in the classes' shares. trusted: in the fit itself: [label].
    """

    tested: torch.Tensor
    shared: torch.Tensor
    trusted: torch.Tensor

    def members(self) -> Members:
        count = int(self.count)
        targets = self.targets[:, :count].float().transpose(1, 2).contiguous()
        self.trust = self.trusted[None] if bool((self.trusted < 1).any()) else None
        of_targets, of_ones, diagonal = self._solved()
        even, tested, weighed = 1 / self.classes, self.tested, targets * self.shared
        total, number = weighed.sum(-1), self.shared.sum()
        share = (total + 1) / (number + self.classes)
        others = (total[..., None] - weighed + 1) / (number - self.shared + self.classes)
        centre = torch.stack([torch.full_like(others, even), others])[:, None, None]
        wanted = targets - centre
        out = wanted - (of_targets - of_ones * centre) / diagonal
        scale = stretched_by(out * tested.sqrt(), wanted * tested.sqrt(), tested.sum())
        predicted = centre - even + scale[..., None, None] * out
        loss = -(torch.log_softmax(loss_scale(self.classes) * predicted, -2) * targets).sum(-2) * tested
        against = loss.sum(-1) / tested.sum() * 8.0 * (tested.sum() / 10).clamp_max(1.0)
        weights = torch.softmax(-against.flatten(0, 2), 0).view_as(against)
        return Members(
            *(targets, tested.sum()[None], of_targets, of_ones, predicted, scale, loss, weights, share),
            *(self._temperatures, None, None, tested[None]),
        )


def predicted(views: GraphViews, nodes: torch.Tensor, labels: torch.Tensor, weights: Any, classes: int) -> torch.Tensor:
    """Each node's class, of one run: [node]."""
    kept = torch.stack(weights).any(0)
    nodes, labels = nodes[kept], labels[kept]
    posterior = WeighedPosterior(views, 1, classes, len(nodes))
    posterior.add_many(nodes[None], labels[None])
    posterior.tested, posterior.shared, posterior.trusted = (each[kept] for each in weights)
    mean = posterior.mean(posterior.fit())[0]
    return mean.masked_fill(~posterior.known_classes(), -1e4).argmax(-1)


def weights_of(form: str, asked: int, chance: torch.Tensor, known: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """How much each label weighs in losses, shares and fit, none in all where it is left out: the asked ones, then
    those in bulk.

    Args:
        form: one of `FORMS` or `SECOND`.
        asked: how many there are.
        chance: of each label in bulk, by the asked ones: [label].
        known: whether it was predicted by them: [label].
    """
    bulk, sure = len(chance), chance > SURE
    level = min(1.0, asked / bulk)
    fixed = {
        "as it is": (1.0, 1.0, 1.0),
        "without": (0.0, 0.0, 0.0),
        "untested": (0.0, 1.0, 1.0),
        "unshared": (1.0, 0.0, 1.0),
        "neither": (0.0, 0.0, 1.0),
        "quarter": (0.25, 1.0, 0.25),
        "neither, quarter": (0.0, 0.0, 0.25),
        "level": (level, level, 1.0),
    }
    surprise, whole = (1 - chance).clamp_min(LEAST_TRUST), torch.ones(bulk)
    if form.startswith("surprise"):
        own = [surprise, surprise, surprise if form == "surprise" else whole]
    elif form in fixed:
        own = [torch.full((bulk,), weight) for weight in fixed[form]]
    else:
        which, kind = form.split()
        some = sure if which == "sure" else known
        some_level = min(1.0, asked / max(1, int(some.sum())))
        changed = (some_level, some_level, 1.0) if kind == "level" else fixed["without" if kind == "out" else kind]
        own = [torch.where(some, weight, whole) for weight in changed]
    return tuple(torch.cat([torch.ones(asked), weights]) for weights in own)


def labelled_in_bulk(way: str, graph: Graph, logits: torch.Tensor, y: torch.Tensor, asked: torch.Tensor) -> Any:
    """The nodes that a person labels in bulk: int64 [node]."""
    free = torch.ones(len(y), dtype=torch.bool)
    free[asked] = False
    chance, best = logits.softmax(-1).max(-1)
    if way == "near":
        label_of = torch.full((len(y),), -1)
        label_of[asked] = y[asked]
        first, second = torch.as_tensor(np.asarray(graph.edge_index)).long()
        near = torch.zeros(len(y), dtype=torch.bool)
        for one, other in ((first, second), (second, first)):
            near[other[(label_of[one] == y[other]) & free[other]]] = True
        return near.nonzero()[:, 0][:MOST_BULK]
    free &= chance > SURE
    if way == "one class" and bool(free.any()):
        free &= best == torch.bincount(best[free]).argmax()
    order = torch.argsort(torch.where(free, -chance, 1.0), stable=True)
    sure = order[: min(MOST_BULK, len(y) // 4, int(free.sum()))]
    return sure[best[sure] == y[sure]]


def listed(half: str, copies: tuple[int, ...]) -> Iterator[tuple[int, str, str]]:
    """Copy, domain and name, the first copies of all first."""
    for copy in copies:
        if half == "developed_on":
            yield from ((copy, kind, kind) for kind in KINDS)
        for domain, names in json.loads(HALVES.read_text())[half].items():
            yield from ((copy, domain, name) for name in names)


def played_on(name: str, copy: int) -> Graph | None:
    """A copy of a graph; None of one that is too large, or too small for five labels a class."""
    if name in KINDS:
        return generated(name, copy)
    graph = load_graph(name)
    if graph.num_nodes > MOST_NODES or not budgets_of(graph, (PER_CLASS,)):
        return None
    part = list(graph_copies(graph, copies=copy + 1))[copy]
    return part if budgets_of(part, (PER_CLASS,)) else None


def measured(graph: Graph, strategy: str, forms: tuple[str, ...]) -> dict[str, list[float]]:
    """By way, means over runs: how many labels in bulk, the percent of right predictions where no label is before them,
    and after them by each form.
    """
    tensors = GraphTensors(graph, "cpu")
    budget = budgets_of(graph, (PER_CLASS,))[0]
    environment = Environment.of(tensors, make_classifier("views"), RUNS, budget)
    rollout(environment, make_strategy(strategy), draw_splits(tensors, RUNS, 0, sizes=default_splits(graph)), 0)
    learner: Any = environment.learner
    nodes, _ = learner.posterior.labels()
    logits, y, leads = learner.logits(), tensors.y, learner.solution().lead_over_shares
    found: dict[str, list[list[float]]] = {way: [] for way in WAYS}
    for way in WAYS:
        for run in range(RUNS):
            asked = nodes[run]
            bulk = labelled_in_bulk(way, graph, logits[run], y, asked)
            free = y >= 0
            free[asked] = free[bulk] = False
            if not len(bulk) or not bool(free.any()):
                continue
            both = torch.cat([asked, bulk])
            before = logits[run].argmax(-1)
            chance = logits[run, bulk].softmax(-1).gather(1, y[bulk][:, None])[:, 0]
            row = [float(len(bulk))]
            for form in ("before", *forms):
                classes = before
                if form not in ("before", "without"):
                    kind = form.removesuffix(GATED) if not form.endswith(GATED) or leads[run] >= GATE else "as it is"
                    weights = weights_of(kind, len(asked), chance, before[bulk] == y[bulk])
                    classes = predicted(learner.views, both, y[both], weights, graph.num_classes)
                row.append(100 * float((classes == y)[free].float().mean()))
            found[way].append(row)
    return {way: np.mean(rows, axis=0).round(2).tolist() for way, rows in found.items() if rows}


def lead_of(column: int, rows: list[dict[str, Any]]) -> float:
    """By how much the form of a column is ahead of what there is: the mean over domains."""
    by_domain: dict[str, list[float]] = {}
    for row in rows:
        for way in row["found"].values():
            by_domain.setdefault(row["domain"], []).append(way[column] - way[BESIDE])
    return float(np.mean([np.mean(leads) for leads in by_domain.values()]))


def judged(rows: list[dict[str, Any]], forms: tuple[str, ...]) -> dict[str, Any]:
    """Each form's score, its lead over what there is with its interval, and the domain farthest behind."""
    domains = sorted({row["domain"] for row in rows if row["found"]})
    by_form: dict[str, Any] = {}
    for column, form in enumerate(forms, BESIDE):
        means = []
        for domain in domains:
            own = [row for row in rows if row["domain"] == domain]
            pairs = [(way[column], way[BESIDE]) for row in own for way in row["found"].values()]
            means.append(np.mean(pairs, axis=0))
        table = np.array(means)
        lead = table[:, 0] - table[:, 1]
        interval = confidence_interval(lead) if len(lead) > 2 else None
        by_form[form] = {
            "score": round(float(table[:, 0].mean()), 3),
            "lead": [round(float(lead.mean()), 3), round(interval.half_width, 3) if interval else None],
            "worst": [domains[int(lead.argmin())], round(float(lead.min()), 3)],
        }
    if len(domains) < 3:  # an interval needs three
        return {"forms": by_form, "taken": None}
    if forms != FORMS:
        copies = sorted({row["copy"] for row in rows})
        for column, form in enumerate(forms, BESIDE):
            leads = [lead_of(column, [row for row in rows if row["copy"] == copy]) for copy in copies]
            own = confidence_interval(np.array(leads)) if len(copies) > 2 else None
            by_form[form]["over_copies"] = [round(float(np.mean(leads)), 3), round(own.half_width, 3) if own else None]
    allowed = [form for form in forms if by_form[form]["worst"][1] >= -MOST_BEHIND]
    most = max(by_form[form]["score"] for form in allowed)
    first = next(form for form in allowed if by_form[form]["score"] >= most - ALIKE)
    lead = by_form[first]["over_copies" if forms != FORMS else "lead"]
    enough = lead[1] is not None and lead[0] > lead[1]
    if forms != FORMS:
        enough = enough and by_form[first]["lead"][0] >= LEAST_SECOND_LEAD
    taken = first if enough else "as it is"
    return {"forms": by_form, "taken": taken}


def summarised(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Means over each graph's copies and both choices of labels, by rule and way."""
    found = []
    for rule, half, domain, graph in dict.fromkeys(
        (row["rule"], row["half"], row["domain"], row["graph"]) for row in rows
    ):
        own = [row["found"] for row in rows if (row["rule"], row["half"], row["graph"]) == (rule, half, graph)]
        means = {
            way: np.mean([each[way] for each in own if way in each], axis=0).round(1).tolist()
            for way in WAYS
            if any(way in each for each in own)
        }
        found.append({"rule": rule, "half": half, "domain": domain, "graph": graph, "found": means})
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", choices=tuple(COPIES), default="developed_on")
    parser.add_argument("--second", action="store_true", help="by the second rule")
    parser.add_argument("--third", action="store_true", help="by the third")
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--rows", type=Path, default=Path("bulk-rows.json"), help="every game, to go on with")
    parser.add_argument("--out", type=Path, default=RESULT)
    given = parser.parse_args()
    record = json.loads(given.rows.read_text()) if given.rows.exists() else {}
    record = {
        "schema": 1,
        "benchmark": "bulk",
        "seed": 0,
        "runs": RUNS,
        "columns": {},
        "rows": [],
        "judged": {},
        **record,
    }
    record["machine"] = describe_machine("cpu")
    rule = "third" if given.third else "second" if given.second else "first"
    rules = {"first": (FORMS, COPIES), "second": (SECOND, SECOND_COPIES), "third": (THIRD, THIRD_COPIES)}
    forms, copies = rules[rule]
    of_rule = {"rule": rule, "half": given.half}
    own = [row for row in record["rows"] if of_rule.items() <= row.items()]
    done = {(row["graph"], row["copy"], row["strategy"]) for row in own}
    end = time.monotonic() + 60 * given.minutes
    for copy, domain, name in listed(given.half, copies[given.half]):
        todo = [each for each in ("gain", "random") if (name, copy, each) not in done]
        if not todo or time.monotonic() > end:
            continue
        graph = played_on(name, copy)
        if graph is None:
            continue
        for strategy in todo:
            row = {**of_rule, "domain": domain, "graph": name, "copy": copy, "strategy": strategy}
            own.append({**row, "found": measured(graph, strategy, forms)})
            record["rows"].append(own[-1])
        record["columns"][rule] = ["bulk", "before", *forms]
        record["judged"][f"{rule}, {given.half}"] = judged(own, forms)
        write_json(given.rows, record, compact=True)
        write_json(given.out, {**record, "rows": summarised(record["rows"])}, compact=True)
        print(name, copy, json.dumps(own[-1]["found"]), flush=True)
    print(json.dumps(record["judged"], indent=1))


if __name__ == "__main__":
    main()
