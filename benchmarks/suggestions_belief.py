"""What a model's centre must be better than before it is believed: forms of that, chosen by a rule that came first.

    python benchmarks/suggestions_belief.py [--data FOLDER] [--runs 30] [--minutes 30]

`believed` asked a model's centre to predict the labels better than the classes' shares without each label do. Where
labels are even, as those that `gain` asks for, these shares speak against each label's own class, and a centre that is
nearly 1/C for every node, as that of shuffled answers is, passes.

**The rule.** It was written before any of the forms but the first, which was there, had been played anywhere.

- The graphs are `GRAPHS`, none of them the one that is reported on. The models are `MODELS`, all of them made: those of
  benchmarks/suggestions_choice.py, and one that is wrong in whole neighbourhoods, as real ones are.
- The forms are `FORMS`: which centres a model's must beat, by how many standard errors, and the logarithm that each
  missing one costs. `gain` and `random` both ask without the model here, so all forms have the same labels.
- Each is compared with none on the same labels, at 1, 2, 5 and 10 labels a class.
- First, forms are out for which shuffled answers cost more than a point at 2, 5 or 10 labels a class on any graph, by
  `gain` or `random`; where that leaves none, those within 0.2 points of the least cost stay.
- Then those are out that with the other models at 10 labels a class lie more than 0.1 points below the best.
- Of the rest the one is taken that is best with the other models at 1 and 2 labels a class.
- What is taken is then measured once (`benchmarks/suggestions.py`), whatever comes out.

For want of time it was cut after `gain` on Citeseer alone had been played: fb100-simmons81 and dblpv7 were to be
played, too. 5 forms were tried.

**It took "shares", and was not followed.** Its first step begins at 2 labels a class, where every form passes; at 1 a
class shuffled answers cost 7.3 points on Citeseer with "shares" and 0.9 with "both", which with the other models loses
0.2 points at 1 and 2 labels a class and nothing later (`results/suggestions-belief.json`). A useless model is to cost
nothing beyond chance, and "both" mends a comparison that a centre which says nothing passes, without another constant:
so the learner has "both". That was decided with these figures and the earlier ones of cora-texts (−1.03 ± 0.16 with
"shares" at 14 labels) in sight, before any form but "shares" had been played there.

The learner has that form alone. The others are put in its place here, for whoever plays them again.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from suggestions import asked, begin_games, graph_at, scored
from suggestions_choice import made_answers

from nodewise.classifiers.views import posterior as where_believed
from nodewise.classifiers.views.centres import MODEL_LABELS, MODEL_LEAD
from nodewise.evaluation import write_json
from nodewise.graph.tensors import GraphTensors

RESULTS = Path(__file__).parent / "results" / "suggestions-belief.json"
GRAPHS = ("citeseer", "sbm", "fb100-reed98", "webkb-wisconsin", "airports-europe")
MODELS = ("right 50", "right 67", "clumped", "two", "shuffled")
FORMS = {
    "shares": (False, 1.0, 3.0),
    "both": (True, 1.0, 3.0),
    "both by 2": (True, 2.0, 3.0),
    "both, steep": (True, 1.0, 6.0),
    "both by 2, steep": (True, 2.0, 6.0),
}
"""Whether 1/C must be beaten as well as the shares, by how many standard errors, and what a missing one costs."""
EACH = (1, 2, 5, 10)
STRATEGIES = ("gain", "random")
MOST_COST, FAR_FROM_LEAST, BELOW_BEST = 1.0, 0.2, 0.1


def form_of(name: str) -> Any:
    """What stands in the place of `believed`."""
    both, proof, doubt = FORMS[name]

    def believed(own: Any, shares: Any, targets: Any, scale: float, shared: Any = None) -> torch.Tensor:
        there = targets.sum(1)
        count = there.sum(-1)
        chance = torch.log_softmax(scale * own, -2) if shared is None else shared.log_softmax(scale * own)

        def lead_over(other: torch.Tensor) -> torch.Tensor:
            better = ((chance - other.log()) * targets).sum(-2)
            mean = better.sum(-1, keepdim=True) / count.clamp_min(1)[:, None]
            return better.sum(-1) / (((better - mean).square() * there).sum(-1) + 1).sqrt()

        lead = lead_over(shares)
        if both:
            lead = torch.minimum(lead, lead_over(torch.full_like(shares, 1 / shares.shape[-2])))
        first = MODEL_LEAD / (1 + (count / MODEL_LABELS).square())
        of_own = first + doubt * (lead - proof).clamp_max(0) * (count > 0)
        return torch.cat([of_own.new_zeros(2, len(count)), of_own])[:, None, None]

    return believed


def main() -> None:
    given, record = begin_games(__doc__, RESULTS, 30)
    until, shipped = time.monotonic() + 60 * given.minutes, where_believed.believed
    for name in GRAPHS:
        graph = graph_at(given.data, name)
        tensors, counts = GraphTensors(graph), tuple(each * graph.num_classes for each in EACH)
        for strategy in STRATEGIES:
            if f"{name}, {strategy}, none" in record["scores"] or time.monotonic() > until:
                continue
            labels = asked(tensors, strategy, given.runs, counts[-1])
            found = {f"{name}, {strategy}, none": scored(tensors, None, labels, counts)}
            for model in MODELS:
                answers = made_answers(graph, tensors, model)
                for form in FORMS:
                    where_believed.believed = form_of(form)
                    found[f"{name}, {strategy}, {model}, {form}"] = scored(tensors, answers, labels, counts)
                    where_believed.believed = shipped
            record["scores"] |= {key: averages(values) for key, values in found.items()}
            write_json(given.out, record, compact=True)
            print(name, strategy, flush=True)
    record["means"], record["taken"] = decide(record["scores"])
    write_json(given.out, record, compact=True)
    print(json.dumps({"means": record["means"], "taken": record["taken"]}, indent=1))


def averages(values: dict[str, list[float]]) -> list[float]:
    """Number of labels -> scores of the runs, as the runs' mean at each of `EACH`."""
    return np.array(list(values.values())).mean(1).round(4).tolist()


def decide(scores: dict[str, list[float]]) -> tuple[dict[str, Any], str]:
    """Form -> points above none by kind of model and labels a class, the worst when shuffled; which is taken."""
    games = [key.removesuffix(", none") for key in scores if key.endswith(", none")]

    def above(game: str, model: str, form: str) -> np.ndarray:
        return np.array(scores[f"{game}, {model}, {form}"]) - np.array(scores[f"{game}, none"])

    means = {}
    for form in FORMS:
        shuffled = np.array([above(game, "shuffled", form) for game in games])
        useful = np.array([above(game, model, form) for game in games for model in MODELS[:-1]])
        means[form] = {
            "shuffled": shuffled.mean(0).round(3).tolist(),
            "worst": shuffled.min(0).round(3).tolist(),
            "useful": useful.mean(0).round(3).tolist(),
        }
    cost = {form: -min(means[form]["worst"][1:]) for form in FORMS}
    limit = max(MOST_COST, min(cost.values()) + FAR_FROM_LEAST if min(cost.values()) > MOST_COST else 0)
    left = [form for form in FORMS if cost[form] <= limit]
    best = max(means[form]["useful"][3] for form in left)
    left = [form for form in left if means[form]["useful"][3] >= best - BELOW_BEST]
    return means, max(left, key=lambda form: sum(means[form]["useful"][:2]))


if __name__ == "__main__":
    main()
