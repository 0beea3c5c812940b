"""A classifier of scikit-learn, or one made like those, on the features of nodes or on a view of the graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from nodewise.classifiers.views.construction import view_names
from nodewise.classifiers.views.views import VIEWS_VERSION, cached_views
from nodewise.classifiers.wrapped.labels import LabelKeeper, library_version, plain, qualified
from nodewise.contracts import Capability, Classifier
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.compute import derive_seed
from nodewise.ground.errors import InputError, UnknownNameError
from nodewise.ground.events import Reporter, count
from nodewise.ground.plugins import CallsOthers

__all__ = ["SklearnClassifier"]

_LEAST = 1e-9
"""What a class is given at least, so that its logarithm is a number."""


@dataclass(frozen=True)
class SklearnClassifier(Classifier, CallsOthers):
    """Any classifier of scikit-learn, learned anew from all labels whenever somebody looks.

    Example:
        >>> import nodewise as nw
        >>> from sklearn.ensemble import RandomForestClassifier
        >>> from nodewise.classifiers import SklearnClassifier
        >>> forest = SklearnClassifier(RandomForestClassifier(20), view="near")
        >>> nw.evaluate("wine", "random", classifier=forest, budget=9, runs=2).classifier
        'RandomForestClassifier (near)'

    Attributes:
        estimator: what has ``fit`` and ``predict``, with ``predict_proba`` or ``decision_function`` if it can; a copy
            of it learns. A ``random_state`` that is None follows from the run's seed, any other is kept.
        view: what it sees of a node: ``"features"``, a view by its name such as ``"near"``, or ``"views"``, all of them
            side by side. A graph without features has numbers made of its edges instead, and views of these alone.
        name: what it is called; by default the estimator's class, with the view where it sees one.
    """

    version = 1
    trained = False
    capabilities = frozenset[Capability]({"grow-classes", "relations", "weights"})

    estimator: Any
    view: str = "features"
    name: str = ""

    def __post_init__(self) -> None:
        missing = [each for each in ("fit", "predict", "get_params") if not callable(getattr(self.estimator, each, 0))]
        if missing or isinstance(self.estimator, type):
            raise InputError(
                f"{self.estimator!r} is no estimator as scikit-learn has them: give an object with fit, predict and"
                " get_params, such as RandomForestClassifier()"
            )
        from sklearn.base import RegressorMixin

        if isinstance(self.estimator, RegressorMixin):
            raise InputError(
                f"{self.estimator!r} predicts numbers, and nodes have classes: give a classifier, such as"
                " LogisticRegression()"
            )
        known = ["features", "views", *dict.fromkeys((*view_names(True, True), *view_names(False, True)))]
        if self.view not in known:
            raise UnknownNameError("view", self.view, known)
        kind = type(self.estimator)
        seen = "" if self.view == "features" else f" ({self.view})"
        object.__setattr__(self, "name", self.name or kind.__name__ + seen)
        if self.view != "features":
            object.__setattr__(self, "capabilities", self.capabilities | {"edges-alone"})
        library = library_version(kind)
        if library is None:
            object.__setattr__(self, "code", (kind,))
        views = None if self.view == "features" else f"views {VIEWS_VERSION}"  # other views are other features
        made_by = [version for version in (views, library) if version is not None]
        if made_by:
            object.__setattr__(self, "version", ", ".join([str(type(self).version), *made_by]))

    def identity(self) -> Mapping[str, Any]:
        """The estimator's class and parameters, and what it sees."""
        settings = {key: plain(value) for key, value in sorted(self.estimator.get_params(deep=True).items())}
        return {"estimator": qualified(type(self.estimator)), "settings": settings, "view": self.view}

    def bytes_per_run(self, graph: GraphTensors, budget: int) -> int:
        """Predictions of all nodes, a few times."""
        return 8 * 8 * graph.num_nodes * max(1, graph.num_classes)

    def prepare(self, graph: GraphTensors, reporter: Reporter | None = None) -> npt.NDArray[np.floating[Any]]:
        """What the estimator sees of every node: [node, column]."""
        if self.view == "features":
            return graph.x.cpu().numpy()
        views = cached_views(graph, reporter)
        if self.view == "views":
            return views.flat.cpu().numpy()
        if self.view not in views.names:
            raise InputError(
                f"graph {graph.name!r} has no view {self.view!r}: it has {', '.join(views.names)}; choose one of them"
            )
        return views.columns[:, views.names.index(self.view)].cpu().numpy()

    def start(
        self, graph: GraphTensors, prepared: npt.NDArray[np.floating[Any]], runs: int, classes: int, budget: int
    ) -> _EstimatorLearner:
        """Runs without a label."""
        return _EstimatorLearner(self.estimator, prepared, runs, classes, graph.dtype, graph.device)


class _EstimatorLearner(LabelKeeper):
    """Runs with an estimator each."""

    def __init__(
        self,
        estimator: Any,
        rows: npt.NDArray[np.floating[Any]],
        runs: int,
        classes: int,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        self._estimator, self._rows = estimator, rows
        super().__init__(runs, len(rows), classes, dtype, device)

    def add_classes(self, names: Sequence[str]) -> None:
        """More classes; the estimator learns anew."""
        self.widen(names)

    def compute(self) -> torch.Tensor:
        """The logarithm of each run's probabilities."""
        runs = [
            self._run(run, self.nodes[run].cpu().numpy(), self.labels[run].cpu().numpy()) for run in range(self.runs)
        ]
        return torch.from_numpy(np.stack(runs)).to(self.device, self.dtype)

    def embedding(self) -> torch.Tensor:
        """What the estimator sees: [run, node, column]."""
        return torch.from_numpy(self._rows).to(self.device, self.dtype).expand(self.runs, -1, -1)

    def _run(self, run: int, nodes: npt.NDArray[np.int64], labels: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        chances = np.full((self.num_nodes, self.num_classes), _LEAST)
        present = np.unique(labels)
        if len(present) == 1:  # many estimators refuse to learn a single class
            chances[:, present] = 1.0
        else:
            from sklearn.base import clone

            learned = clone(self._estimator)
            learned.set_params(**self._seeds(learned, run))
            try:
                learned.fit(self._rows[nodes], labels)
                order = np.asarray(getattr(learned, "classes_", present), dtype=np.int64)
                found = _probabilities(learned, self._rows, order)
            except ValueError as error:
                raise InputError(
                    f"{type(learned).__name__} cannot learn from {count(len(labels), 'label')} of"
                    f" {count(len(present), 'class', 'classes')} ({error}): give an estimator that can, with other"
                    " settings or features, or begin with more labels"
                ) from error
            chances[:, order] = np.maximum(found, _LEAST)
        shares: npt.NDArray[np.float64] = np.log(chances / chances.sum(1, keepdims=True))
        return shares

    def _seeds(self, estimator: Any, run: int) -> dict[str, int]:
        """A seed for each random_state that nobody has set, in a pipeline's parts as well."""
        open_ones = [
            key
            for key, value in sorted(estimator.get_params(deep=True).items())
            if value is None and key.rpartition("__")[2] == "random_state"
        ]
        return {key: derive_seed(self.seed, "estimator", run, key) % 2**32 for key in open_ones}


def _probabilities(
    learned: Any, rows: npt.NDArray[np.floating[Any]], classes: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """Chances of the classes that the estimator knows: [node, class]; of one that only decides, 1 and 0."""
    if hasattr(learned, "predict_proba"):
        return np.asarray(learned.predict_proba(rows), dtype=np.float64)
    if hasattr(learned, "decision_function"):
        scores = np.asarray(learned.decision_function(rows), dtype=np.float64)
        if scores.ndim == 1:
            scores = np.stack([-scores / 2, scores / 2], 1)
        if scores.shape[1] == len(classes):
            scores = np.exp(scores - scores.max(1, keepdims=True))
            return np.asarray(scores / scores.sum(1, keepdims=True))
    return np.asarray(np.asarray(learned.predict(rows))[:, None] == classes, dtype=np.float64)
