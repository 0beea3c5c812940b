"""Which labels `gain`'s gate is tested on: forms compared, chosen by a rule that came first, confirmed on other copies.

    python benchmarks/gate_twins.py --jobs 2 [--runs 30] [--rows build/gate-twins.json]

What the file of rows holds is not played again, so the same command goes on. What the rule looks at is written to
benchmarks/results/gate-twins.json.

The gate asks whether labels are predicted by each other better than by the classes' shares. A label that is the only
one of its class cannot be predicted by others, whatever can be learned; the better its class is told apart from the
others, the surer these are of another one. While labels are few most classes have one, so the test is hardest where
questions found the classes best. *Twins* are labels whose class another label has.

**The rule.** It was written and committed before any of the forms was played.

- The graphs are all of the half that settings are chosen on (`halves.json`) up to 10,000 nodes and the generated kinds
  on which hardly anything can be learned; two copies or seeds that no search has used (`FIRST`), two others to confirm
  (`SECOND`). 1, 2 and 5 labels a class, Micro-F1 on test nodes, the same splits for all, 30 runs.
- `TWINS`: *twins t*: the test is taken over twins alone. For each of them, log p − log q, with p the chance that its
  leave-one-out prediction gives its class and q the share that its class has among the other labels, both among the
  classes that the other labels have; Σ d / √(Σ (d − d̄)² + 1) is compared with t: 1, 1.5 or 2. Without twins the gate
  is closed; *twins t, else open*: open. A label alone of its class says nothing for or against.
- `PLAIN`: *plain 1*, *plain 1.5*: today's test, but each label is predicted by the weights that members have after all
  labels; today its own loss is left out of them. *plain twins 1.5*, *plain twins 2*: both changes.
- The score is that of `gate_forms.py`: J = (2 × Micro-F1 at 5 + at 1 + at 2 labels a class) / 4 after `gain`, the mean
  over domains, generated kinds among them, less what is unsafe.
- The best form of each group that is ahead of what there is by at least 0.1 is played on the second copies. Taken is
  the one with the highest score there, if it is ahead by at least 0.1 there, too; then it is measured once on the
  graphs that are reported on, whatever comes out.

It was known that the gate is closed for a third of the questions on Pubmed (see `gate_forms.py`), which is reported on.
"""

from __future__ import annotations

from typing import Any

import constants
import gate_forms
import torch
from constants import games, search
from gate_forms import told

from nodewise.contracts import Observation
from nodewise.strategies import gain
from nodewise.strategies.sampled import Sight

FIRST, SECOND = (120, 121), (122, 123)
TWINS = ("twins 1", "twins 1.5", "twins 2", "twins 1.5, else open", "twins 2, else open")
PLAIN = ("plain 1", "plain 1.5", "plain twins 1.5", "plain twins 2")


class Tested(gain.Gain):
    """`gain` with its gate tested on other labels, or by other weights."""

    def __init__(self, form: str, nodes: int) -> None:
        self.form = form
        words = form.replace(",", "").split()
        self.threshold = next(float(word) for word in words if word[0].isdigit())
        self.twins, self.plain, self.open = "twins" in words, "plain" in words, "open" in words

    def identity(self) -> dict[str, Any]:
        return {"form": self.form}

    def scores(self, observation: Observation) -> torch.Tensor:
        sight = gain._sight(observation)
        scores = gain._settled_scores(sight)
        if int(sight.step) < sight.num_classes:
            return scores
        return torch.where(self.closed(sight)[:, None], sight.noise, scores)

    def closed(self, sight: Sight) -> torch.Tensor:
        """In which runs nothing shows yet that anything can be learned: bool [run]."""
        fit = sight.learner.solution()
        members, predictions = fit.members(), fit.left_out.predictions  # [run, label, class]
        if self.plain:
            predictions = torch.einsum("cvrk,cvrkal->kla", members.weights, members.predicted)
        targets = members.targets.transpose(1, 2)  # [run, label, class]
        chance = fit.left_out.temperature[:, None, None] * predictions
        others = targets.sum(1, keepdim=True) - targets
        if self.twins:
            chance = chance.masked_fill(others == 0, -torch.inf)
            shares = others / others.sum(-1, keepdim=True).clamp_min(1)
            counted = ((others > 0) & (targets > 0)).any(-1)
        else:
            shares = (others + 1) / (others.sum(-1, keepdim=True) + members.classes)
            counted = torch.ones_like(targets[..., 0], dtype=torch.bool)
        own = torch.log_softmax(chance, -1) - shares.clamp_min(1e-9).log()
        better = torch.where(counted, torch.where(targets > 0, own, 0).sum(-1), 0)
        number = counted.sum(1).clamp_min(1)
        squares = ((better - (better.sum(1) / number)[:, None]).square() * counted).sum(1)
        closed = better.sum(1) / (squares + 1).sqrt() < self.threshold
        return closed & counted.any(1) if self.open else closed


def play(copy: int, number: int, forms: tuple[str, ...], runs: int, device: str) -> tuple[str, str, list[Any]]:
    """One graph of one copy: domain, name, and what was measured."""
    torch.set_num_threads(1)
    gate_forms.Gated = Tested  # type: ignore[assignment,misc]
    domain, name, make = games(copy)[number]
    return domain, name, list(gate_forms.measured(make(), forms, runs, device))


if __name__ == "__main__":
    constants.told = told
    search(__doc__, "gate-twins", play, (FIRST, SECOND), (TWINS, PLAIN))
