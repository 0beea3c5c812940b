"""What becomes of the spectrum once it is diffused along the edges: forms of that view, and which others are still
needed beside it, compared by the rule of `constants.py`, on other copies.

    python benchmarks/spectrum_forms.py --device cuda --jobs 14 [--runs 100] [--rows build/spectrum-forms.json]

`kin_forms.py` took the view *near of spectrum* and left out walk, layers, two hops and own, which kin together still
looks for its neighbours in. That, nine views, is *as it is* here.

**The rule** is that of `constants.py`, with its bounds and second copies; it was committed before any of these forms
was played.

- `REST`: kin together whose neighbours are nearest in the views that are left alone, which is cheaper: it passes by the
  bounds for a view that is left out. `CHANGED`: kin together with the spectrum, as it is and diffused, among what its
  neighbours are found in; near of the spectrum diffused further (α 0.05 in 20 steps, 0.02 in 40, by the random walk),
  or of 64 or 128 eigenvectors, in the place of what there is.
- `BESIDE`, one view more: *farther of spectrum*, beside near; *near of role*; *near of both*, of features and spectrum
  side by side; *kin of near spectrum*, the spectrum diffused over the edges and the nearest in that view.
- `LESS`: without one or two of the views.

*Far of spectrum* and *of the rest* held on the second copies; *without spectrum* did not, nor the three together.
``--pair`` plays the first two together on further copies (`PAIR`), by a rule that was committed before: both are taken
if together they are no more than 0.02 behind *far of spectrum* alone there, and no domain more than 0.3.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from constants import games, scored, search, without
from kin_forms import FAR, LESS_FAR, Forms
from more_views import NEAR, diffused, replaced

from nodewise.classifiers.views import construction, kin
from nodewise.classifiers.views import views as views_module
from nodewise.classifiers.views.construction import GraphViews
from nodewise.classifiers.views.products import Array, SparseProduct, mean_row, symmetric_propagation
from nodewise.graph import Graph

FIRST, SECOND = (76, 77, 78, 79), (80, 81, 82, 83)
PAIR = (84, 85, 86, 87), (88, 89, 90, 91)
GONE = ("walk", "layers", "two hops", "own")
VIEW = "near of spectrum"
REST = ("without together of more",)
CHANGED = (
    "together of spectrum, too",
    "far of spectrum",
    "farther of spectrum instead",
    "walk of spectrum",
    "near of spectrum 64",
    "near of spectrum 128",
)
BESIDE = ("farther of spectrum", "near of role", "near of both", "kin of near spectrum")
LESS = (
    "without spectrum",
    "without role",
    "without near",
    "without far",
    "without farther",
    "without farthest",
    "without kin near",
    "without kin together",
    "without far and farthest",
    "without near and farther",
)


class SpectrumForms(Forms):
    """The views of a graph in all forms."""

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.before = self.base  # kin together looks for neighbours in all of these
        if self.adjacency.nnz:
            self.step = symmetric_propagation(self.adjacency)
            self.base = self.with_view(
                VIEW, diffused(self.step, self.columns(self.base)["spectrum"].copy(), NEAR, False)
            )
            self.base = without(self.base, GONE) if self.features else self.base

    def diffused_spectrum(self, form: str) -> Array:
        """The spectrum diffused in another way."""
        columns = self.columns(self.base)
        spectrum, width = columns["spectrum"].copy(), form.removeprefix("near of spectrum ")
        if width.isdigit():
            wider = construction._spectrum(self.adjacency, int(width)).astype(np.float32)
            return diffused(self.step, wider, NEAR, False)
        if form == "far of spectrum":
            return diffused(self.step, spectrum, LESS_FAR, False)
        if form == "walk of spectrum":
            loops = (self.adjacency + sp.eye(len(spectrum), format="csr")).astype(np.float32)
            return diffused(
                SparseProduct(sp.diags(1 / np.asarray(loops.sum(1)).ravel()) @ loops), spectrum, NEAR, False
            )
        if form == "near of role":
            return diffused(self.step, columns["role"].copy(), NEAR, False)
        if form == "kin of near spectrum":
            return self.over(spectrum - mean_row(spectrum), columns[VIEW])
        if form == "near of both":
            return diffused(self.step, np.concatenate([self.x, spectrum], 1), NEAR, False)
        return diffused(self.step, spectrum - mean_row(spectrum), FAR, True)

    def of_kin_together(self, form: str) -> GraphViews:
        """Kin together, its neighbours found in other views."""
        others = (*GONE, kin.TOGETHER) if form in REST else (kin.TOGETHER,)
        among = self.before if form in REST else self.with_view(VIEW, self.columns(self.base)[VIEW], self.before)
        near = self.side_by_side(among, (*others, *(("spectrum", "role") if form in REST else ("role",))))
        return replaced(self.base, {kin.TOGETHER: self.over(self.narrow_x(), near)})

    def views_of(self, form: str) -> GraphViews | None:
        if not self.adjacency.nnz:
            return None
        if form in (*REST, CHANGED[0]):
            return self.of_kin_together(form) if self.features else None
        if form in BESIDE:
            if form == "near of both" and not self.features:
                return None
            return self.with_view(form, self.diffused_spectrum(form))
        if form in CHANGED:
            return self.with_view(VIEW, self.diffused_spectrum(form))
        names = [name for name in form.removeprefix("without ").split(" and ") if name in self.base.names]
        return without(self.base, names) if names else None


def measured(graph: Graph, forms: Iterable[str], runs: int, device: str) -> Iterator[dict[str, Any]]:
    """One graph in all forms; where a form changes nothing it has no row."""
    views_module._TRIED = 16  # as many as the kernels have room for
    every = SpectrumForms(graph)
    for form in forms:
        views = every.base if form == "as it is" else every.joined(form)
        if views is not None:
            yield from scored(graph, views.to(torch.device(device), torch.float32), form, runs, device)


def play(copy: int, number: int, forms: tuple[str, ...], runs: int, device: str) -> tuple[str, str, list[Any]]:
    """One graph of one copy: domain, name, and what was measured."""
    torch.set_num_threads(1)
    domain, name, make = games(copy)[number]
    return domain, name, list(measured(make(), forms, runs, device))


if __name__ == "__main__":
    if "--pair" in sys.argv:
        sys.argv.remove("--pair")
        search(__doc__, "spectrum-pair", play, PAIR, (("far of spectrum", f"far of spectrum + {REST[0]}"),))
    else:
        search(__doc__, "spectrum-forms", play, (FIRST, SECOND), (REST, CHANGED, BESIDE, LESS))
