"""The classifier `views`: nothing is trained, everything follows from the labels in closed form (see `posterior`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from nodewise.classifiers.views.centres import own_centres, placed_centres
from nodewise.classifiers.views.construction import (
    LEADING,
    WIDTH,
    GraphViews,
    leading_columns,
    make_views,
    view_names,
)
from nodewise.classifiers.views.graph_views import first_gains
from nodewise.classifiers.views.kept import SUFFIX, read_views, write_views
from nodewise.classifiers.views.kin import DIRECTIONS
from nodewise.classifiers.views.label_sets import SetMembers, SetPosterior, log_odds
from nodewise.classifiers.views.needs import Needs, check_gpu, graph_sizes, tell_needs, views_needs
from nodewise.classifiers.views.places import Places
from nodewise.classifiers.views.posterior import DUAL_LIMIT, FIRST_RIDGE, RIDGES, Fit, Posterior
from nodewise.classifiers.views.products import LARGE
from nodewise.classifiers.views.trust import TrustedPosterior, doubt
from nodewise.contracts import Capability, Classifier, Learner, Queried
from nodewise.graph import Graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.errors import InputError
from nodewise.ground.events import Reporter, Silent
from nodewise.ground.files import user_cache
from nodewise.ground.locks import one_maker

__all__ = [
    "VIEWS_VERSION",
    "Needs",
    "SetsLearner",
    "Views",
    "ViewsLearner",
    "cached_views",
    "tell_needs",
    "views_needs",
]

VIEWS_VERSION = 3
"""Raised by hand when the views of a graph change, with the versions of `Views` and `Gain`, or what is kept with them
for a first question (`first_gains`: the first ridge, its sampling): kept ones are made anew.
"""

_LEAST_NODES = 2000
"""Graphs smaller than this are worth neither a file nor a word: their views are made in a moment, in a few MB."""

_TRIED = 13
"""Views that the kernels of a GPU were tried with, at most: with more the posterior is computed by torch."""

_NEVER = -1e4
"""The logit of a class that is not predicted: a probability of 0."""

_MOST_PLACED = 1e12
"""The largest number in what is kept of views, which have rows of unit length, and maps of these; but the offset of the
features is as large as they are.
"""

_LEAST_PATIENCE, _PATIENCE = 120.0, 50.0
"""Seconds, and times the estimate, for which another process that makes the same views is waited for."""


@dataclass(frozen=True)
class Views(Classifier):
    """Ridge regression on several views of the graph, weighed by leave-one-out likelihood; one setting for all."""

    name = "views"
    version = 4
    trained = False
    capabilities = frozenset[Capability](
        {
            "grow-classes",
            "relations",
            "weights",
            "leave-one-out",
            "part",
            "foresee",
            "explain",
            "edges-alone",
            "own-centre",
            "label-trust",
            "save",
            "new-rows",
            "several-labels",
            "posterior",
        }
    )

    def bytes_per_run(self, graph: GraphTensors, budget: int) -> int:
        """The inverse for each member, the labelled rows, and predictions of all nodes."""
        classes, views = max(1, graph.num_classes), len(view_names(graph.has_features, True, graph.relations))
        leading = leading_columns(classes)
        members = views * len(RIDGES) * (min(budget, DUAL_LIMIT) ** 2 + 4 * budget * classes + leading**2)
        rows = budget * views * max(WIDTH, leading)
        return 8 * (members + rows) + 4 * graph.num_nodes * (4 * classes + 5 * leading)

    def foresee(self, graph: Graph, reporter: Reporter) -> None:
        """Say what `prepare` will take, and refuse a graph for which the memory is not there."""
        if graph.num_nodes >= _LEAST_NODES:
            tell_needs(graph, reporter)

    def prepare(self, graph: GraphTensors, reporter: Reporter | None = None) -> GraphViews:
        """The views, from the user's cache where they were made before."""
        return _on(graph, cached_views(graph, reporter))

    def start(self, graph: GraphTensors, prepared: GraphViews, runs: int, classes: int, budget: int) -> ViewsLearner:
        """Runs without a label."""
        return ViewsLearner(graph, prepared, runs, classes, budget)

    def restored(
        self, graph: GraphTensors, arrays: Mapping[str, npt.NDArray[Any]], record: Mapping[str, Any], classes: int
    ) -> ViewsLearner:
        """A learner without labels from what `ViewsLearner.saved` gave.

        Raises:
            InputError: it was saved by another version, or does not fit the graph.
        """
        if record.get("version") != VIEWS_VERSION:
            raise InputError(
                f"it holds views of version {record.get('version')!r}, and this nodewise makes version {VIEWS_VERSION}:"
                " fit the labels again"
            )
        columns, names = arrays["columns"], tuple(map(str, record["views"]))
        if columns.dtype != np.float32 or columns.ndim != 3 or columns.shape[:2] != (graph.num_nodes, len(names)):
            raise InputError(f"its views have the shape {list(columns.shape)}, which does not fit its graph")
        known = view_names(graph.has_features, graph.adjacency.entries > 0)  # rows are placed in no others
        if names != known:
            raise InputError(f"its views are {', '.join(names)}, and those of its graph are {', '.join(known)}")
        together = arrays.get(f"place {DIRECTIONS}")
        if together is not None and (together.ndim != 2 or together.shape[1] > WIDTH):
            raise InputError(f"its array 'place {DIRECTIONS}' has the shape {list(together.shape)}, which no view has")
        for name, array in arrays.items():  # products must stay finite
            largest = max(float(array.max(initial=0)), -float(array.min(initial=0)))  # no np.abs: int64's least stays
            if largest > _MOST_PLACED and name != "place offset":
                raise InputError(f"its array {name!r} holds numbers up to {largest:.0e}, which no view has")
        views = GraphViews(names, torch.from_numpy(np.array(columns)), int(record["leading"]))
        kind = SetsLearner if record.get("several") else ViewsLearner
        learner = kind(graph, views, 1, classes, 1)
        start = "place "
        placing = {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
        learner._places = learner.views, Places(names, placing)
        return learner

    def start_several(
        self, graph: GraphTensors, prepared: GraphViews, runs: int, classes: int, budget: int
    ) -> SetsLearner:
        """Runs without a label, whose nodes may have several classes."""
        return SetsLearner(graph, prepared, runs, classes, budget)


class ViewsLearner(Learner):
    """Runs of the closed form over one graph.

    Attributes:
        posterior: the labels and what follows from them.
        several: whether a node may have several classes.
    """

    several = False
    capabilities = frozenset[Capability]({"posterior"})

    def __init__(self, graph: GraphTensors, views: GraphViews, runs: int, classes: int, budget: int) -> None:
        self._graph, self.runs, self._first = graph, runs, classes
        self._known, self._narrow, self._budget = classes, views, budget
        self._own: torch.Tensor | None = None
        self._trusted: tuple[torch.Tensor, torch.Tensor] | None = None
        self._places: tuple[GraphViews, Places] | None = None
        self.views = self._views_for(classes)
        self.posterior = self._new_posterior(self.views, classes)
        self.recordable = budget <= DUAL_LIMIT  # with more labels a solver is used that asks the host
        self._keeps = views.columns.device.type == "cpu"  # a recorded step computes anew what it needs
        self._asker: ViewsLearner | None = None
        self._fit: Fit | None = None
        self._mean: torch.Tensor | None = None
        self._covariances: torch.Tensor | None = None

    @property
    def num_classes(self) -> int:  # type: ignore[override]
        """How many classes there are; 1 where none is known yet."""
        return max(1, self._known)

    def reset(self, seed: int) -> None:
        """Forget all labels, and all classes but those of the start. Nothing here is random."""
        self._known = self._first
        self._widen_views()
        self.posterior.reset(self._known)
        if self._own is not None:
            self.posterior.set_centres(self._own)
        self.forget()

    def _views_for(self, classes: int) -> GraphViews:
        """The views with the columns that so many classes need: those at hand, or wider ones."""
        wanted = leading_columns(classes)
        if wanted <= self._narrow.leading_columns:
            return self._narrow
        return self._narrow.wider(wanted, lambda: _on(self._graph, cached_views(self._graph, leading=wanted)))

    def _widen_views(self) -> bool:
        """Whether the classes there are need other views than those in use; then the labels begin anew."""
        views = self._views_for(self._known)
        if views is self.views:
            return False
        self.views = views
        self.posterior = self._new_posterior(views, self._known)
        return True

    def _new_posterior(self, views: GraphViews, classes: int) -> Posterior:
        """A posterior without labels."""
        if self._trusted is not None:
            trusted = TrustedPosterior(views, self.runs, classes, self._budget, self._own)
            trusted.beforehand, trusted.confirmed = self._trusted
            return trusted
        return _posterior(views, self.runs, classes, self._budget, self._own)

    def set_suggestions(self, answers: npt.NDArray[np.float32] | None) -> None:
        """Take what models say as centres of each node's own (see `centres`): the labels stay, and decide how far.

        Args:
            answers: how sure each model is of each class, [model, node, class], rows of zeros where it says nothing;
                None: what was heard before no longer counts.
        """
        self._own = None if answers is None or not len(answers) else own_centres(self._graph, answers)
        if self._keeps:
            self.posterior.set_centres(self._own)
        else:  # a GPU's kernels know two centres
            nodes, labels = self.posterior.labels()
            self.posterior = self._new_posterior(self.views, self._known)
            self.recordable = self._own is None and self._budget <= DUAL_LIMIT
            self.add(nodes, labels)
        self.forget()

    def set_trust(self, trust: npt.NDArray[np.float32] | None, confirmed: npt.NDArray[np.bool_] | None = None) -> None:
        """Doubt labels that the others contradict (see `trust`), or with None take each as it is; the labels stay.

        Args:
            trust: how far a label of each node is trusted by who gave it, from 0 to 1: [node].
            confirmed: nodes whose labels are not doubted: [node]; None: there are none.

        Raises:
            InputError: the learner is on a GPU, or its nodes may have several classes.
        """
        if trust is None and self._trusted is None:
            return
        if not self._keeps or self.several:
            raise InputError("sets of labels, and labels on a GPU, are not doubted: leave trust out")
        sure = np.zeros(self._graph.num_nodes, bool) if confirmed is None else confirmed
        self._trusted = None if trust is None else (torch.from_numpy(trust.copy()), torch.from_numpy(sure.copy()))
        nodes, labels = self.posterior.labels()
        self.posterior = self._new_posterior(self.views, self._known)
        if nodes.shape[1]:
            self.posterior.reserve(nodes.shape[1])
            self.posterior.add_many(nodes, labels)
        self.forget()

    def label_trust(self) -> torch.Tensor:
        """How far each label is trusted, from 0 to 1, in the order in which labels came: [run, label].

        Where no trust was set, by the same rule, though each counts whole.
        """
        count, fit = int(self.posterior.count), self.solution()
        if self._trusted is not None:
            trust = self.posterior.trust
            return torch.ones(self.runs, count) if trust is None else trust[:, :count]
        chances = torch.softmax(fit.left_out.predictions * fit.left_out.temperature[:, None, None], -1)[:, :count]
        members = fit.members()
        return doubt(members.own_columns(chances), members.targets.transpose(1, 2)[:, :count])

    def add_classes(self, names: Sequence[str]) -> None:
        """More classes; their order does not matter to the others."""
        self._known += len(names)
        nodes, labels = self.posterior.labels()
        if self._widen_views():
            self.add(nodes, labels)
        else:
            self.posterior.widen(self._known)
            if self._own is not None:
                self.posterior.set_centres(self._own)
        self.forget()

    def add(self, nodes: torch.Tensor, labels: torch.Tensor) -> None:
        """More labels: int64 [run, k] each."""
        if self._keeps:
            self.posterior.reserve(nodes.shape[1])
        if nodes.shape[1] > 1 and self._keeps and not int(self.posterior.count):
            self.posterior.add_many(nodes, labels)
        else:
            for column in range(nodes.shape[1]):
                self.posterior.add(nodes[:, column], labels[:, column])
        self.forget()

    def take(self, queried: Queried, step: torch.Tensor) -> None:
        """Bring a posterior that is kept beside another classifier to the labels there are, on a GPU to the newest."""
        if not self._keeps:
            last = (step - 1).clamp_min(0)
            nodes, labels = (table.index_select(1, last)[:, 0] for table in (queried.nodes, queried.labels))
            self.posterior.add(nodes, labels, valid=step > self.posterior.count)
            return
        filled, known = int(queried.mask[0].sum()), int(self.posterior.count)
        nodes, labels = queried.nodes[:, :filled], queried.labels[:, :filled]
        if known > filled or not torch.equal(self.posterior.nodes[:, :known], nodes[:, :known]):
            self.reset(0)
            known = 0
        if filled > known:
            self.add(nodes[:, known:], labels[:, known:])

    def ridge_posterior(self) -> ViewsLearner:
        """Itself: its labels are the classifier's."""
        return self

    def for_asking(self) -> ViewsLearner:
        """The same labels without what models say: `gain` asks by these alone (benchmarks/suggestions_real.py)."""
        if self.posterior.own is None:
            return self
        if self._asker is None or not self._keeps:
            self._asker, posterior = copy(self), copy(self.posterior)
            posterior.set_centres(None)
            self._asker.posterior = posterior
            self._asker.forget()
        return self._asker

    def for_one_question(self) -> ViewsLearner:
        """The same labels, looked at once: what follows from them is computed once, in a recorded step as well."""
        if self._keeps:
            return self
        twin = copy(self)
        twin._keeps = True
        twin.forget()
        return twin

    def fit(self) -> None:
        """Nothing to do: what is needed is computed when it is asked for."""

    def solution(self) -> Fit:
        """Weights, coefficients and leave-one-out predictions from the labels so far."""
        if self._fit is None or not self._keeps:
            self._fit = self.posterior.fit()
        return self._fit

    def mean(self) -> torch.Tensor:
        """The posterior mean of all nodes, less 1/C: [run, node, class]."""
        if self._mean is None or not self._keeps:
            self._mean = self.posterior.mean(self.solution())
        return self._mean

    def covariances(self) -> torch.Tensor:
        """The covariance of the leading columns in each view, with its ridge: [view, run, column, column]."""
        if self._covariances is None or not self._keeps:
            self._covariances = self.posterior.covariances(self.solution().ridges)
        return self._covariances

    def part(self, nodes: torch.Tensor, views: GraphViews | None = None) -> ViewsLearner:
        """The same runs with some of the nodes alone, int64 [node], to look at: the mean of all is not needed for it.

        Args:
            views: the nodes' views, where they are there already.
        """
        twin = copy(self)
        twin.views = self.views.part(nodes) if views is None else views
        twin.posterior = copy(self.posterior)
        twin.posterior.views = twin.views
        if self.posterior.own is not None:
            twin.posterior.own = self.posterior.own[:, nodes]
        twin._keeps = True  # it is looked at once, as it is
        twin._fit, twin._mean = (
            self.solution(),
            self._mean[:, nodes] if self._keeps and self._mean is not None else None,
        )
        return twin

    def saved(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """All that `Views.restored` needs beside graph and labels: named arrays, and JSON."""
        places = self._rows_placed()
        arrays = {"columns": self.views.columns.cpu().numpy()}
        arrays |= {f"place {name}": array for name, array in places.arrays.items()}
        record = {"views": list(self.views.names), "leading": self.views.leading_columns, "version": VIEWS_VERSION}
        return arrays, record

    def new_rows(self, features: Any, joined: Any) -> torch.Tensor:
        """The logits of rows that are not in the graph, [row, class], of one run: see `places`.

        Args:
            features: as the graph's are, [row, feature]; joined: to which nodes, and how strongly, [row, node].
        """
        placed = self._rows_placed().place(features, joined, self.views.columns.numpy())
        views = GraphViews(self.views.names, torch.from_numpy(placed), self.views.leading_columns)
        twin = self.part(torch.zeros(0, dtype=torch.int64), views)
        twin._mean = None
        if self.posterior.own is not None:
            twin.posterior.own = placed_centres(self.posterior.own, joined, self._rows_placed().arrays["degree"])
        return twin.logits()[0]

    def _rows_placed(self) -> Places:
        if self._places is None or self._places[0] is not self.views:
            self._places = self.views, Places.of(self._graph, self.views)
        return self._places[1]

    def logits(self) -> torch.Tensor:
        """The mean times the temperature that the leave-one-out predictions ask for: [run, node, class].

        A class without a label, and for which no model speaks, is predicted for nobody, once another has one.
        """
        return self._logits_of(self.mean() if self._keeps else self.posterior.mean(self.solution()))

    def _logits_of(self, mean: torch.Tensor) -> torch.Tensor:
        logits = mean * self.solution().left_out.said[:, None, None].to(self.views.columns.dtype)
        known = self.posterior.known_classes()
        return logits.masked_fill_((~known & known.any(-1, keepdim=True))[:, None], _NEVER)

    def embedding(self) -> torch.Tensor:
        """The view ``near``, else the first one: [run, node, column]."""
        names = self.views.names
        return self.views.columns[:, names.index("near") if "near" in names else 0].expand(self.runs, -1, -1)

    def leave_one_out(self) -> torch.Tensor | None:
        """The prediction for each label from all the others: [run, label, class]; None without a label."""
        count = int(self.posterior.count)
        if not count:
            return None
        left_out = self.solution().left_out
        return torch.softmax(left_out.predictions[:, :count] * left_out.said[:, None, None], -1)

    def evidence(self, node: int) -> list[tuple[int, float]]:
        """The labelled nodes and how much each speaks for the class that is predicted for a node, the strongest first.

        Of one run.

        Label i adds Σ_v z_vᵀ z_vi b_vi to the node's mean, b its coefficient for the class.
        """
        count = int(self.posterior.count)
        known = self._mean is not None and self._keeps and not self.several
        logits = self._logits_of(self.mean()[:, [node]]) if known else self.part(torch.tensor([node])).logits()
        best = int(logits[0, 0].argmax())
        alike = (self.posterior.rows[:, 0, :count] @ self.views.columns[node].double()[..., None])[..., 0]
        members = self.solution().members()
        column = best if members.shared is None else int(members.shared.column[best])
        amounts = (alike * members.by_label[:, 0, column, :count]).sum(0)
        nodes = self.posterior.nodes[0, :count].tolist()
        return sorted(zip(nodes, amounts.tolist(), strict=True), key=lambda pair: (-pair[1], pair[0]))

    def reach(self, node: int) -> float:
        """How many nodes a label here would decide, of one run: the sum over nodes x of the share of their variance.

        In the heaviest view that is Σ_x cov(node, x)² / ((var(node) + r) var(x)); of very many nodes a sample stands
        for all.
        """
        nodes, solution = self.views.sampled, self.solution()
        heaviest = int(solution.weights[0].argmax())
        covariance = self.covariances()[heaviest, 0]
        columns = self.views.columns[:, heaviest, : self.views.leading_columns]
        own = columns[node]
        across = columns[nodes].T.contiguous() if len(nodes) < len(columns) else self.views.turned(heaviest, 1)
        moved = covariance @ across
        variance = (moved * across).sum(0)
        shares = (own @ moved).square() / (
            (own @ covariance @ own + solution.ridges[0, heaviest]) * variance.clamp_min(1e-9)
        )
        return float(shares.sum()) * len(self.views.columns) / len(nodes)

    def forget(self) -> None:
        """Drop what was computed from the labels: they have changed."""
        self._fit = self._mean = self._covariances = self._asker = None


class SetsLearner(ViewsLearner):
    """Runs of the closed form where a node may have several classes (see `label_sets`).

    Labels are 0 or 1, [run, k, class]; `mean` is what is predicted less the classes' shares.
    """

    several = True

    def __init__(self, graph: GraphTensors, views: GraphViews, runs: int, classes: int, budget: int) -> None:
        super().__init__(graph, views, runs, classes, budget)
        self.recordable = False

    def _new_posterior(self, views: GraphViews, classes: int) -> Posterior:
        """A posterior of sets, by torch alone: no kernel of a GPU knows them."""
        return SetPosterior(views, self.runs, classes, self._budget)

    def set_suggestions(self, answers: npt.NDArray[np.float32] | None) -> None:
        """Refuse what models say.

        Raises:
            InputError: there is something to refuse.
        """
        if answers is not None and len(answers):
            raise InputError("suggestions name one class a node, and here a node may have several: leave them out")

    def saved(self) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """As for one class a node, and that there may be several."""
        arrays, record = super().saved()
        return arrays, {**record, "several": True}

    def _set_members(self) -> SetMembers:
        members = self.solution().members()
        assert isinstance(members, SetMembers)
        return members

    def logits(self) -> torch.Tensor:
        """The log odds that a node has each class: [run, node, class].

        A class without a label is predicted for nobody, once a node is answered.
        """
        members = self._set_members()
        mean = self.mean() if self._keeps else self.posterior.mean(self.solution())
        temperature = members.left_out.temperature[:, None, None].to(mean.dtype)
        odds = log_odds(mean, members.share[:, None].to(mean.dtype), temperature)
        unknown = ~self.posterior.known_classes() & (self.posterior.count > 0)
        return odds.masked_fill(unknown[:, None], _NEVER)

    def thresholds(self) -> torch.Tensor:
        """The log odds from which on a node is given each class: [run, class]."""
        return self._set_members().thresholds.to(self.views.columns.dtype)

    def leave_one_out(self) -> torch.Tensor | None:
        """The chance of each class for each label from all the others: [run, label, class]; None without a label."""
        if not int(self.posterior.count):
            return None
        return torch.sigmoid(self._set_members().left_out_odds.transpose(1, 2))


def _on(graph: GraphTensors, views: GraphViews) -> GraphViews:
    """The views where the graph is."""
    if graph.device.type == "cuda":
        check_gpu(views, graph.device)
    return views.to(graph.device, graph.dtype)


def _posterior(views: GraphViews, runs: int, classes: int, budget: int, own: torch.Tensor | None) -> Posterior:
    few = budget <= DUAL_LIMIT and views.leading_columns == LEADING  # what the kernels hold in registers
    few = few and len(views.names) <= _TRIED
    if views.columns.device.type == "cuda" and views.columns.dtype == torch.float32 and few and own is None:
        from nodewise.classifiers.views.cuda import CudaPosterior

        return CudaPosterior(views, runs, classes, budget)
    return Posterior(views, runs, classes, budget, own)


def cached_views(graph: GraphTensors, reporter: Reporter | None = None, leading: int = LEADING) -> GraphViews:
    """The graph's views, on the CPU: read if they were made before, else made and kept.

    A cache that cannot be used costs time alone.

    Of several processes that need them at the same time one makes them.
    """
    if graph.num_nodes < _LEAST_NODES:
        return make_views(graph, reporter, leading)
    report = reporter or Silent()
    width = "" if leading == LEADING else f"-{leading}"
    path = user_cache() / "views" / f"{graph.fingerprint}-version-{VIEWS_VERSION}{width}{SUFFIX}"
    views = read_views(path, graph.num_nodes, leading)
    if views is not None:
        return views
    nodes, edges, features, stored = graph_sizes(graph)
    patience = _LEAST_PATIENCE + _PATIENCE * views_needs(nodes, edges, features, stored).seconds
    with one_maker(path.with_suffix(".lock"), f"views of {nodes:,} nodes and {edges:,} edges", report, patience):
        views = read_views(path, nodes, leading)
        if views is None:
            tell_needs(graph, report)
            views = make_views(graph, report, leading)
            if nodes >= LARGE:  # where the first question would take seconds
                views = replace(views, first_gains=first_gains(views, RIDGES[FIRST_RIDGE]))
            write_views(path, views)
    return views
