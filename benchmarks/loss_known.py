"""Among which classes a left-out label's chances are: forms compared, chosen by a rule that came first, confirmed on
other copies.

    python benchmarks/loss_known.py --jobs 2 [--runs 20] [--rows build/loss-known.json]

What the file of rows holds is not played again, so the same command goes on. What the rule looks at is written to
benchmarks/results/loss-known.json.

Goes on from `loss_twins.py`, which took nothing: *known* was ahead there by 0.093 ± 0.054, at every number of labels,
where 0.1 was asked for, and it costs nothing. A class that no label has is predicted for nobody; when a label is left
out, a class that no other label has is out of the question in the same way.

**The rule.** It was written and committed before any of the forms was played on these copies.

- Graphs, labels a class, runs, J and the score are those of `loss_twins.py`, with `gain`'s gate as `gate_twins.py`
  chose it; three copies or seeds that no search has used (`FIRST`), three others to confirm (`SECOND`).
- `FORMS`: *known*: the chances of a label that is not alone of its class are among the classes that the other labels
  have, in its loss. *known, scaled*: predictions are multiplied there by what so many classes ask for (`loss_scale`).
  *known, tempered*: as *known*, and in the likelihood by which the temperature is fitted, too. *known, stretch*: as
  *known*, and members are stretched by what fits these classes' columns.
- A form passes if its score is at least 0.05, its lead over graphs and copies above 0 by the 95 % interval, and no
  domain, generated kinds among them, is more than 0.3 behind. The highest that passes is played on the second copies
  and taken if it passes there, too; then it is measured once on the graphs that are reported on, whatever comes out.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import constants
import loss_twins
import torch
from constants import games, search
from more_views import WORTH, by_labels, judged

from nodewise.classifiers.views import posterior
from nodewise.classifiers.views.posterior import Members, loss_scale, stretched_by

FIRST, SECOND = (128, 129, 130), (131, 132, 133)
FORMS = ("known", "known, scaled", "known, tempered", "known, stretch")


class Tempered(Members):
    """Members whose temperature is fitted among the classes that can be known, too."""

    @property
    def left_out(self) -> Any:
        there, plain = self.__dict__.get("tempered"), super().left_out
        if there is None:
            others = (self.targets.sum(-1, keepdim=True) - self.targets).transpose(1, 2)  # [run, label, class]
            targets = self.targets.transpose(1, 2)
            twin = ((others > 0) & (targets > 0)).any(-1, keepdim=True)
            possible = plain.predictions.masked_fill(twin & (others <= 0), -1e4)
            grid = self.temperatures
            loss = -(torch.log_softmax(grid.view(-1, 1, 1, 1) * possible, -1) * targets).sum((-1, -2))
            tested = loss + posterior.temperature_prior(grid[:, None])
            there = self.__dict__["tempered"] = plain._replace(temperature=grid[tested.argmin(0)])
        return there


def reweighed(members: Members, count: torch.Tensor, form: str) -> Members:
    """The members with other losses, and so with other weights."""
    targets, even, classes = members.targets, 1 / members.classes, members.classes
    others = targets.sum(-1, keepdim=True) - targets
    twin = ((others > 0) & (targets > 0)).any(1)  # [run, label]
    out_of_question = (twin[:, None] & (others <= 0)).expand_as(targets)
    predicted, scale = members.predicted, members.scale
    if form == "known, stretch":
        shares = (others + 1) / ((members.number - 1).clamp_min(1) + classes)
        centre = torch.stack([torch.full_like(shares, even), shares])[:, None, None]
        out = (predicted - (centre - even)) / scale[..., None, None]
        there = targets.sum(1, keepdim=True) * ~out_of_question
        scale = stretched_by(out * there, (targets - centre) * there, count)
        predicted = centre - even + scale[..., None, None] * out
    factor: Any = loss_scale(classes)
    if form == "known, scaled":
        possible = (~out_of_question).sum(1, keepdim=True)
        factor = posterior._VOTE + torch.log((possible - 1).clamp_min(1).float())
    chance = torch.log_softmax((factor * predicted).masked_fill(out_of_question, -1e4), -2)
    loss = -(chance * targets).sum(-2)
    against = loss.sum(-1) / count * posterior._sharpness(count)
    weights = torch.softmax(-against.flatten(0, 2), 0).view_as(against)
    found = replace(members, predicted=predicted, scale=scale, loss=loss, weights=weights)
    return Tempered(**vars(found)) if form == "known, tempered" else found


def play(copy: int, number: int, forms: tuple[str, ...], runs: int, device: str) -> tuple[str, str, list[Any]]:
    """One graph of one copy: domain, name, and what was measured."""
    torch.set_num_threads(1)
    constants.PER_CLASS = loss_twins.PER_CLASS  # type: ignore[misc]
    loss_twins.reweighed = reweighed
    domain, name, make = games(copy)[number]
    return domain, name, list(loss_twins.measured(make(), forms, runs, device))


def told(rows: list[dict[str, Any]], forms: Iterable[str]) -> list[dict[str, Any]]:
    """What the rule looks at, form by form."""
    found = []
    for form in forms:
        score = judged(rows, form, WORTH, (0.5, 0.5)) | {"at": by_labels(rows, form)}
        mean, half = score["over_graphs"] or (0.0, 0.0)
        passes = score["lead"] >= 0.05 and mean - half > 0 and score["worst"] >= -0.3
        found.append(score | {"passes": bool(passes)})
    return found


if __name__ == "__main__":
    constants.told = told
    search(__doc__, "loss-known", play, (FIRST, SECOND), (FORMS,))
