"""What it costs that `gain` is safe: its gate, and its first question drawn among the best nodes, each taken away.

    python benchmarks/safety_cost.py --jobs 2 [--runs 30] [--rows build/safety-cost.json]

What the file of rows holds is not played again, so the same command goes on. What is told is written to
benchmarks/results/safety-cost.json.

Nothing is chosen here, so there is no rule: the forms are `gain` as it is and without what makes it safe, on copies
that no search has used (`COPIES`) of the graphs of `constants.py`. A trial with other copies (300 to 302) and these
forms came before it.

- *no gate*: no question is a random one. *gate 0.5*: the gate opens at half a standard error.
- *best first*: the first question is the best node, the same in nearly all runs of a graph. *neither*: this without the
  gate, so that hardly anything is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import constants
import numpy as np
import torch
from constants import games, search
from more_views import WORTH, by_labels, judged

from nodewise.strategies import gain

COPIES = (152, 153)
FORMS = ("no gate", "gate 0.5", "best first", "neither")


def play(copy: int, number: int, forms: tuple[str, ...], runs: int, device: str) -> tuple[str, str, list[Any]]:
    """One graph of one copy: domain, name, and what was measured."""
    torch.set_num_threads(1)
    constants.CONSTANTS |= {
        "no gate": (gain, "GATE", -np.inf),
        "gate 0.5": (gain, "GATE", 0.5),
        "best first": (gain, "_FIRST", 1),
    }
    domain, name, make = games(copy)[number]
    spelled = {"best first + no gate" if form == "neither" else form: form for form in forms}
    rows = constants.measured(make(), spelled, runs, device)
    return domain, name, [{**row, "form": spelled[row["form"]]} for row in rows]


def told(rows: list[dict[str, Any]], forms: Iterable[str]) -> list[dict[str, Any]]:
    """Each form's lead over `gain` as it is, at five, two and one labels a class together and each alone."""
    alone = (1.0, 0.0)
    scores = [judged(rows, form, WORTH, alone) | {"at": by_labels(rows, form)} for form in forms]
    return [score | {"passes": False} for score in scores]


if __name__ == "__main__":
    constants.told = told
    search(__doc__, "safety-cost", play, (COPIES, ()), (FORMS,))
