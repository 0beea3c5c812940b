"""Which views of kin there should be, and whether graphs without features need more views: forms compared by the rule
of `constants.py`, on other copies.

    python benchmarks/kin_forms.py --device cuda --jobs 14 [--runs 100] [--rows build/kin-forms.json]

`constants.py` left the view `kin` out, which the views side by side still held. What the others are compared with, *as
it is*, has it nowhere.

**The rule** is that of `constants.py`, with its bounds and second copies; it was committed before any of these forms
was played.

- `KIN`: *with kin*, the thirteen views that `constants.py` began with; kin near of the 20 nearest nodes; kin together
  of the 5 or 20 nearest, diffused less far (α 0.05 in 20 steps), of all directions, or found twice, the second time
  with the first one among the views side by side.
- `EDGES`, one view more: *kin of spectrum*, the spectrum diffused over the edges and each node's 10 nearest in it;
  *near of spectrum*, diffused along the edges as ``near`` is; *spectrum 96*, of 96 eigenvectors; *kin of all*, as kin
  together with the views of the edges side by side, too (without features, what is diffused is these); and the same
  four on *bare* graphs alone, which have no features and so two views. *spectrum 64*: in place of the 32 eigenvectors.
- `LESS`: without one, two or four of the views that `constants.py` found not to matter one by one.

The script was tried out with three runs on two graphs, webkb-cornell and airports-brazil as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from constants import games, scored, search, without
from more_views import NEAR, added, diffused, replaced

from nodewise.classifiers.views import construction, kin
from nodewise.classifiers.views import views as views_module
from nodewise.classifiers.views.construction import WIDTH, GraphViews, make_views, unit_features
from nodewise.classifiers.views.products import NEAREST, Array, mean_row, narrow, scipy_matrix, symmetric_propagation
from nodewise.graph import Graph
from nodewise.graph.knn.neighbours import joined_to_nearest
from nodewise.graph.tensors import GraphTensors

FIRST, SECOND = (68, 69, 70, 71), (72, 73, 74, 75)
FAR, LESS_FAR = (0.02, 40), (0.05, 20)
KIN = (
    "with kin",
    "near of 20",
    "together of 5",
    "together of 20",
    "together less far",
    "together whole",
    "together twice",
)
MORE = ("kin of spectrum", "near of spectrum", "spectrum 96", "kin of all")
EDGES = (*MORE, *(f"{name}, bare" for name in MORE), "spectrum 64", "spectrum 64, bare")
LESS = (
    "without walk",
    "without layers",
    "without two hops",
    "without own",
    "without walk and layers",
    "without walk and layers and two hops and own",
)


class Forms:
    """The views of a graph in all forms."""

    def __init__(self, graph: Graph) -> None:
        self.tensors = GraphTensors(graph)
        self.whole = make_views(self.tensors)
        self.adjacency = scipy_matrix(self.tensors.adjacency)
        self.features = self.tensors.has_features
        self.base = self.whole
        if self.features:
            x = unit_features(self.tensors)
            self.x = x - mean_row(x)
            less = without(self.whole, ["kin"])
            self.base = replaced(less, {kin.TOGETHER: self.together(less)})

    def columns(self, views: GraphViews) -> dict[str, Array]:
        return {name: views.columns[:, number].numpy() for number, name in enumerate(views.names)}

    def over(self, start: Array, near: Array, how: tuple[float, int] = FAR, nearest: int = NEAREST) -> Array:
        """What is diffused over the edges and the nearest nodes in a view."""
        joined: sp.csr_matrix = joined_to_nearest(np.ascontiguousarray(near), nearest)
        if self.adjacency.nnz:
            joined = (joined + self.adjacency.astype(np.float32) * (joined.sum() / self.adjacency.sum())).tocsr()
        return diffused(symmetric_propagation(joined), start, how, True)

    def side_by_side(self, views: GraphViews, but: Iterable[str] = ()) -> Array:
        chosen = [view for name, view in self.columns(views).items() if name not in but]
        return narrow(np.concatenate(chosen, 1) / np.float32(len(chosen) ** 0.5), WIDTH)

    def narrow_x(self) -> Array:
        return narrow(self.x, WIDTH)

    def together(self, views: GraphViews, form: str = "", also: Iterable[str] = (kin.TOGETHER,)) -> Array:
        """The view of kin in all views of the features, but those of the edges and what is named."""
        near = self.side_by_side(views, ("spectrum", "role", *also))
        start = self.x if form == "together whole" else self.narrow_x()
        nearest = {"together of 5": 5, "together of 20": 20}.get(form, NEAREST)
        return self.over(start, near, LESS_FAR if form == "together less far" else FAR, nearest)

    def of_kin(self, form: str) -> GraphViews:
        if form == "with kin":
            return self.whole
        if form == "near of 20":
            near = self.over(self.x, self.columns(self.base)["near"], nearest=20)
            views = replaced(self.base, {"kin near": near})
            return replaced(views, {kin.TOGETHER: self.together(views)})
        if form == "together twice":
            return replaced(self.base, {kin.TOGETHER: self.together(self.base, also=())})
        return replaced(self.base, {kin.TOGETHER: self.together(self.base, form)})

    def of_edges(self, form: str) -> GraphViews:
        kind, spectrum = form.removesuffix(", bare"), self.columns(self.base)["spectrum"]
        if kind.startswith("spectrum "):
            wider = construction._spectrum(self.adjacency, int(kind.split()[1])).astype(np.float32)
            return self.with_view("spectrum" if kind == "spectrum 64" else kind, wider)
        if kind == "near of spectrum":
            view = diffused(symmetric_propagation(self.adjacency), spectrum.copy(), NEAR, False)
        elif kind == "kin of spectrum":
            view = self.over(spectrum - mean_row(spectrum), spectrum)
        else:
            near = self.side_by_side(self.base, (kin.TOGETHER,))
            view = self.over(narrow(self.x, WIDTH) if self.features else near - mean_row(near), near)
        return self.with_view(kind, view)

    def with_view(self, name: str, view: Array, views: GraphViews | None = None) -> GraphViews:
        """The views with one more, or in the place of the one of that name."""
        before = self.base if views is None else views
        columns, names = before.columns, before.names
        padded = torch.nn.functional.pad(columns, (0, max(0, view.shape[1] - columns.shape[2])))
        wide = GraphViews(names, padded)
        return replaced(wide, {name: view}) if name in names else added(wide, {name: view})

    def views_of(self, form: str) -> GraphViews | None:
        """The views in a form, of several parts, too; None where they are as they are."""
        bare = form.endswith(", bare")
        if form in EDGES:
            return self.of_edges(form) if self.adjacency.nnz and not (bare and self.features) else None
        if not self.features:
            return None
        if form in KIN:
            return self.of_kin(form) if self.adjacency.nnz else None
        names = form.removeprefix("without ").split(" and ")
        return without(self.base, names) if self.adjacency.nnz else None

    def joined(self, form: str) -> GraphViews | None:
        """What a form is whose parts are played together: views changed, then added, then left out."""
        before, found = self.base, None
        for part in sorted(form.split(" + "), key=lambda one: (one.startswith("without "), one in EDGES)):
            changed = self.views_of(part)
            found = changed if changed is not None else found
            self.base = changed if changed is not None else self.base
        self.base = before
        return found


def measured(graph: Graph, forms: Iterable[str], runs: int, device: str) -> Iterator[dict[str, Any]]:
    """One graph in all forms; where a form changes nothing it has no row."""
    views_module._TRIED = 16  # as many as the kernels have room for
    every = Forms(graph)
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
    search(__doc__, "kin-forms", play, (FIRST, SECOND), (KIN, EDGES, LESS))
