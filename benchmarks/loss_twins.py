"""Which labels the members of `views` are weighed by: forms compared, chosen by a rule that came first, confirmed on
other copies.

    python benchmarks/loss_twins.py --jobs 2 [--runs 20] [--rows build/loss-twins.json]

What the file of rows holds is not played again, so the same command goes on. What the rule looks at is written to
benchmarks/results/loss-twins.json.

Members are weighed by how well they predict each label from all others. A label that is the only one of its class
cannot be predicted by others: a member that tells classes well apart is then surer of another class, and loses more
than one that tells nothing. While labels are few most classes have one. *Twins* are labels whose class another has.

**The rule.** It was written and committed before any of the forms was played.

- The graphs are all of the half that settings are chosen on (`halves.json`) up to 10,000 nodes and the generated kinds
  on which hardly anything can be learned; two copies or seeds that no search has used (`FIRST`), two others to confirm
  (`SECOND`). 1, 2 and 5 labels a class, Micro-F1 on test nodes, the same splits for all, 20 runs, `gain` asking with
  the form.
- `FORMS`: *twins*: members' losses are means over twins alone, and they are weighed as sharply as so many labels ask
  for; without twins all are alike. *twins, sharp*: as sharply as all labels ask for. *twins, known*: as *twins*, and
  a twin's chances are among the classes that the other labels have. *known*: all labels count, those of twins so.
  *twins, stretch*: as *twins*, and members are stretched by what fits twins, too. *half*: labels that are no twins
  count half.
- J of a graph is (2 × Micro-F1 at 5 + at 1 + at 2 labels a class) / 4, the mean of that after `gain` and after random
  choice; a form's score is the mean of its lead over the real domains.
- A form passes if its score is at least 0.1, its lead over graphs and copies above 0 by the 95 % interval, and no
  domain, generated kinds among them, is more than 0.5 behind. The highest that passes is played on the second copies
  and taken if it passes there, too; then it is measured once on the graphs that are reported on, whatever comes out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import constants
import torch
from constants import games, scored, search

from nodewise.classifiers.views import posterior
from nodewise.classifiers.views.construction import make_views
from nodewise.classifiers.views.posterior import Members, Posterior, loss_scale, stretched_by
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors

FIRST, SECOND = (124, 125), (126, 127)
PER_CLASS = (1, 2, 5)
FORMS = ("twins", "twins, sharp", "twins, known", "known", "twins, stretch", "half")
as_it_is = Posterior.members


def reweighed(members: Members, count: torch.Tensor, form: str) -> Members:
    """The members with other losses, and so with other weights."""
    targets, even = members.targets, 1 / members.classes  # [run, class, label]
    others = targets.sum(-1, keepdim=True) - targets
    twin = ((others > 0) & (targets > 0)).any(1).float()  # [run, label]
    predicted, scale, loss = members.predicted, members.scale, members.loss
    if form == "twins, stretch":
        number = (members.number - 1).clamp_min(1)
        shares = (others + 1) / (number + members.classes)
        centre = torch.stack([torch.full_like(shares, even), shares])[:, None, None]
        out = (predicted - (centre - even)) / scale[..., None, None]
        there = targets.sum(1, keepdim=True) * twin[:, None]
        scale = stretched_by(out * there, (targets - centre) * there, twin.sum(1))
        predicted = centre - even + scale[..., None, None] * out
        chance = torch.log_softmax(loss_scale(members.classes) * predicted, -2)
        loss = -(chance * targets).sum(-2)
    if "known" in form:
        scaled = loss_scale(members.classes) * predicted
        chance = torch.log_softmax(scaled.masked_fill((others == 0) & (targets == 0), -1e4), -2)
        of_twins = -(chance * targets).sum(-2)
        loss = torch.where(twin > 0, of_twins, loss)
    worth = torch.ones_like(twin) if form == "known" else (twin + 1) / 2 if form == "half" else twin
    whole = worth.sum(1)  # [run]
    loss = loss * worth * (count / whole.clamp_min(1e-9))[:, None]
    sharp = posterior._sharpness(whole if form not in ("twins, sharp", "half", "known") else count)
    against = torch.where(whole > 0, loss.sum(-1) / count * sharp, 0)
    weights = torch.softmax(-against.flatten(0, 2), 0).view_as(against)
    return replace(members, predicted=predicted, scale=scale, loss=loss, weights=weights)


def measured(graph: Graph, forms: Iterable[str], runs: int, device: str) -> Iterator[dict[str, Any]]:
    """One graph in all forms."""
    views = make_views(GraphTensors(graph)).to(torch.device(device), torch.float32)
    for form in forms:
        try:
            if form != "as it is":
                Posterior.members = lambda self, form=form: reweighed(  # type: ignore[method-assign]
                    as_it_is(self), self.count.float().clamp_min(1.0), form
                )
            yield from scored(graph, views, form, runs, device)
        finally:
            Posterior.members = as_it_is  # type: ignore[method-assign]


def play(copy: int, number: int, forms: tuple[str, ...], runs: int, device: str) -> tuple[str, str, list[Any]]:
    """One graph of one copy: domain, name, and what was measured."""
    torch.set_num_threads(1)
    constants.PER_CLASS = PER_CLASS  # type: ignore[misc]
    domain, name, make = games(copy)[number]
    return domain, name, list(measured(make(), forms, runs, device))


if __name__ == "__main__":
    search(__doc__, "loss-twins", play, (FIRST, SECOND), (FORMS,))
