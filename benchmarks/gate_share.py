"""How many of `gain`'s questions are random ones while its gate is closed: forms compared, chosen by a rule that came
first, confirmed on other copies.

    python benchmarks/gate_share.py --jobs 2 [--runs 30] [--rows build/gate-share.json]

What the file of rows holds is not played again, so the same command goes on. What the rule looks at is written to
benchmarks/results/gate-share.json.

Goes on from `gate_spread.py`: where a question behind a closed gate is a random one with a chance of one half, and
`gain`'s otherwise, more is right than where all are random, and less is unsafe. The chance is drawn by itself here.

**The rule.** It was written and committed before any of the forms was played on these copies, when the first copies of
`gate_spread.py` had been seen, and in place of one by turns (the first m of every k questions), none of which was
played: who asks for several at once has no turns.

- Graphs, parts, labels a class, runs and the score are those of `gate_spread.py`, on two copies or seeds that no search
  has used (`FIRST`) and two others to confirm (`SECOND`).
- `SHARES`: *p*: from one label a class on, as long as the gate is closed, a question is a random one with chance p.
- `TESTS`: *0.5 at t*: with another threshold, since a gate that is not wholly closed costs less.
- The best form of each group that is ahead of what there is by at least 0.1 is played on the second copies. Taken is
  the one with the highest score there, if it is ahead by at least 0.1 there, too; of two within 0.05 the form with
  the threshold that there is. Then it is measured once on the graphs that are reported on, whatever comes out.

**What became of it.** *0.5 at 1* was taken and built as version 6 of `gain`. Measured once on the graphs that are
reported on it was behind random choice by 7.7 ± 2.8 and 4.2 ± 2.3 at two and five labels a class on tolokers and by 3.5
± 2.5 at five on minesweeper, where no graph was to be behind by more than half a point: it was given up, which departs
from the rule.
"""

from __future__ import annotations

from typing import Any

import constants
import gate_forms
import torch
from constants import search
from gate_forms import told
from gate_spread import games

from nodewise.contracts import Observation
from nodewise.strategies import gain

FIRST, SECOND = (144, 145), (146, 147)
SHARES = ("0.25", "0.35", "0.5", "0.7")
TESTS = ("0.5 at 1", "0.5 at 2", "0.5 at 3")


class Shared(gain.Gain):
    """`gain` that asks some of its own questions while its gate is closed."""

    def __init__(self, form: str, nodes: int) -> None:
        self.form = form
        words, last = form.split(), form.split()[-2:]  # of two forms together the first one's chance
        self.chance, self.threshold = float(words[0]), float(last[1]) if last[0] == "at" else gain.GATE

    def identity(self) -> dict[str, Any]:
        return {"form": self.form}

    def scores(self, observation: Observation) -> torch.Tensor:
        sight = gain._sight(observation)
        scores = gain._settled_scores(sight)
        if int(sight.step) < sight.num_classes:
            return scores
        closed = sight.learner.solution().lead_over_shares < self.threshold
        drawn = observation.uniform("gate", observation.runs) < self.chance
        return torch.where((closed & drawn)[:, None], sight.noise, scores)


def play(copy: int, number: int, forms: tuple[str, ...], runs: int, device: str) -> tuple[str, str, list[Any]]:
    """One graph of one copy: domain, name, and what was measured."""
    torch.set_num_threads(1)
    gate_forms.Gated = Shared  # type: ignore[assignment,misc]
    domain, name, make = games(copy)[number]
    return domain, name, list(gate_forms.measured(make(), forms, runs, device))


if __name__ == "__main__":
    constants.told, constants.games = told, games
    search(__doc__, "gate-share", play, (FIRST, SECOND), (SHARES, TESTS))
