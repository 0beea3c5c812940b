"""What a strategy reached on a graph, and how it shows itself: a line, HTML, a data frame, a picture."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import numpy.typing as npt

from nodewise.classifiers import CLASSIFIERS
from nodewise.evaluation.results.plots import colour_of, new_figure, save_picture, tidy_axes
from nodewise.evaluation.results.statistics import Interval, confidence_interval
from nodewise.evaluation.scores import IN_PERCENT, NUMBER_KNOWN
from nodewise.ground.errors import InputError, MissingExtraError, UnknownNameError
from nodewise.ground.events import count

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nodewise.environment import EvaluationProtocol

__all__ = ["Evaluation", "GivenSplits", "Metric", "amount_of", "import_pandas"]

Metric = Literal["micro_f1", "macro_f1"]


@dataclass(frozen=True)
class GivenSplits:
    """Splits that a caller gave in place of the protocol's.

    Attributes:
        words: what they are, for below a table. identity: what tells them from others, as a file holds it.
    """

    words: str
    identity: Mapping[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """As a result file holds it."""
        return {"words": self.words, **self.identity}


@dataclass(frozen=True, repr=False)
class Evaluation:
    """What a strategy reached on a graph, with one classifier and budget.

    Attributes:
        graph: the graph's name.
        features: what was done to the features.
        policy: the policy's name where the strategy is the learned one, else None.
        micro_f1: percent, one value a run: [run].
        macro_f1: percent, one value a run: [run].
        queries: the nodes in the order asked: int64 [run, step]; where the budget counts costs, -1 after a run's last.
        seconds: wall time of the runs; in a comparison what its chunks took, whoever played them.
        further: further scores by name, as the protocol asked for them: [run] each.
        protocol: how it was played, where not as usual.
        splits: which splits were given in place of the protocol's.
        classifier_settings: those that are not the classifier's defaults.
    """

    graph: str
    features: str
    strategy: str
    policy: str | None
    classifier: str
    budget: int
    runs: int
    seed: int
    device: str
    seconds: float
    micro_f1: npt.NDArray[np.float64]
    macro_f1: npt.NDArray[np.float64]
    queries: npt.NDArray[np.int64]
    further: Mapping[str, npt.NDArray[np.float64]] = field(default_factory=dict)
    protocol: EvaluationProtocol | None = None
    splits: GivenSplits | None = None
    classifier_settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def amount(self) -> str:
        """The budget in words."""
        return amount_of(self.budget, self.protocol)

    @property
    def micro(self) -> Interval:
        """Mean Micro-F1 with its 95 % interval."""
        return self.interval("micro_f1")

    @property
    def macro(self) -> Interval:
        """Mean Macro-F1 with its 95 % interval."""
        return self.interval("macro_f1")

    def interval(self, metric: Metric | str = "micro_f1") -> Interval:
        """Mean and 95 % interval of Micro-F1, Macro-F1 or a further score."""
        return confidence_interval(self.values(metric))

    def values(self, metric: Metric | str = "micro_f1") -> npt.NDArray[np.float64]:
        """A score's values: [run].

        Raises:
            UnknownNameError: there is no such score here.
        """
        known = {"micro_f1": self.micro_f1, "macro_f1": self.macro_f1, **self.further}
        if metric not in known:
            raise UnknownNameError("score", metric, known, "The protocol says which are computed.")
        return known[metric]

    @property
    def played(self) -> str:
        """What was played, in words: graph, strategy, classifier, budget, protocol and splits where they are others,
        and runs.
        """
        strategy = f"{self.strategy} {self.policy}" if self.policy else self.strategy
        other = "" if self.protocol is None else self.protocol.words()
        splits = "" if self.splits is None else self.splits.words
        words = (self.graph, strategy, self.learner, self.amount, other, splits, count(self.runs, "run"))
        return ", ".join(filter(None, words))

    @property
    def learner(self) -> str:
        """The classifier's name, with its settings where they are not its defaults: ``"gcn with hidden=32"``."""
        return " with ".join(filter(None, (self.classifier, self._changed())))

    @property
    def unusual(self) -> dict[str, str]:
        """What is not as usual, in words, by name: the classifier's settings, the protocol, the splits."""
        words = {
            "classifier_settings": self._changed(),
            "protocol": "" if self.protocol is None else self.protocol.words(),
            "splits": "" if self.splits is None else self.splits.words,
        }
        return {name: said for name, said in words.items() if said}

    def _changed(self) -> str:
        """The classifier's settings that are not its defaults; those of one's own are told by its name."""
        named = self.classifier_settings if self.classifier in CLASSIFIERS else {}
        return ", ".join(f"{key}={value}" for key, value in named.items())

    @property
    def shown(self) -> dict[str, str]:
        """Every score by its name, mean and interval; what is no percentage with three digits."""
        further = {
            NUMBER_KNOWN.get(name, name): self.interval(name).text(1 if name in IN_PERCENT else 3)
            for name in self.further
        }
        return {"Micro-F1": str(self.micro), "Macro-F1": str(self.macro), **further}

    def costs(self, costs: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """What the queries of each run cost: [run].

        Args:
            costs: of each node: [node].
        """
        each = np.asarray(costs, dtype=np.float64)
        if each.ndim != 1 or len(each) <= int(self.queries.max(initial=-1)):
            raise InputError(f"costs must be one number a node, got shape {list(each.shape)}")
        return np.asarray(np.where(self.queries >= 0, each[self.queries], 0.0).sum(1))

    def to_dataframe(self) -> pd.DataFrame:
        """One row a run: what was run, and its scores in percent. Needs pandas.

        The classifier's settings, the protocol and the splits have columns where they are not as usual.
        """
        names = ("graph", "features", "strategy", "policy", "classifier", "budget", "seed")
        same = {**{name: getattr(self, name) for name in names}, **self.unusual}
        return import_pandas().DataFrame(
            {**same, "run": range(self.runs), "micro_f1": self.micro_f1, "macro_f1": self.macro_f1, **self.further}
        )

    def plot(self, path: str | Path | None = None, ax: Axes | None = None) -> Figure:
        """Every run's Micro-F1 and Macro-F1 as dots, their means and 95 % intervals beside them.

        Args:
            path: where to write it, by its ending .png, .svg or .pdf; None: nowhere.
            ax: axes of matplotlib to draw into; None: a figure of its own.
        """
        figure = new_figure(3.6, 3.6) if ax is None else cast("Figure", ax.figure)
        axes = figure.subplots() if ax is None else ax
        names = ("Micro-F1", "Macro-F1")
        for index, (name, values, interval) in enumerate(
            zip(names, (self.micro_f1, self.macro_f1), (self.micro, self.macro), strict=True)
        ):
            spread = np.linspace(-0.12, 0.12, len(values)) if len(values) > 1 else np.zeros(1)
            axes.plot(index + spread, values, ".", color=colour_of(index), alpha=0.45, markersize=5)
            axes.errorbar(
                index + 0.22,
                interval.mean,
                np.nan_to_num(interval.half_width),
                fmt="o",
                color=colour_of(index),
                capsize=3,
                label=name,
            )
        axes.set_xticks(range(len(names)), names)
        axes.set_xlim(-0.5, 1.6)
        tidy_axes(axes, f"{self.graph}: {self.strategy}, {self.amount}")
        return save_picture(figure, path)

    def __repr__(self) -> str:
        """``Evaluation(digits, random, gcn, 50 labels, 10 runs: Micro-F1 88.1 ± 0.9, Macro-F1 87.9 ± 1.0)``."""
        scores = ", ".join(f"{name} {value}" for name, value in self.shown.items())
        return f"Evaluation({self.played}: {scores})"

    def _repr_html_(self) -> str:
        """A small table; whatever comes from the caller is escaped."""
        rows: dict[str, object] = {
            "graph": self.graph,
            "features": self.features,
            "strategy": self.strategy,
            "policy": self.policy,
            "classifier": self.learner,
            "labels": self.budget,
            "protocol": (self.protocol.words() if self.protocol else "") or None,
            "splits": None if self.splits is None else self.splits.words,
            "runs": self.runs,
            **self.shown,
        }
        cells = "".join(
            f"<tr><th style='text-align:left'>{key}</th><td style='text-align:left'>{escape(str(value))}</td></tr>"
            for key, value in rows.items()
            if value is not None
        )
        return f"<table>{cells}</table>"

    def as_dict(self) -> dict[str, Any]:
        """The result file's record, scores in percent."""
        from nodewise import __version__

        names = ("graph", "features", "strategy", "policy", "classifier", "budget", "runs", "seed", "device", "seconds")
        return {
            "schema": 1,
            "nodewise_version": __version__,
            **{name: getattr(self, name) for name in names},
            **self._settings(),
            **({} if self.protocol is None else {"protocol": self.protocol.identity()}),
            **({} if self.splits is None else {"splits": self.splits.as_dict()}),
            "micro_f1": self._score("micro_f1"),
            "macro_f1": self._score("macro_f1"),
            **{name: self._score(name) for name in self.further},
        }

    def as_row(self, name: str) -> dict[str, Any]:
        """As a comparison's result file holds it, under the method's name."""
        return {
            "name": name,
            "strategy": self.strategy,
            "policy": self.policy,
            **self._settings(),
            "runs": self.runs,
            "seconds": round(self.seconds, 3),
            "micro_f1": self._score("micro_f1", digits=4),
            "macro_f1": self._score("macro_f1", digits=4),
            **{name: self._score(name, digits=4) for name in self.further},
        }

    def _settings(self) -> dict[str, Any]:
        return {"classifier_settings": dict(self.classifier_settings)} if self.classifier_settings else {}

    def _score(self, metric: Metric | str, digits: int | None = None) -> dict[str, Any]:
        mean, width = self.interval(metric)
        values = self.values(metric).tolist()
        return {
            "mean": mean,
            "ci95": None if math.isnan(width) else width,
            "values": values if digits is None else [round(value, digits) for value in values],
        }


def amount_of(budget: int, protocol: EvaluationProtocol | None) -> str:
    """A budget in words: labels, unless a protocol counts costs."""
    return count(budget, "label") if protocol is None else protocol.amount(budget)


def import_pandas() -> Any:
    """pandas' module.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import pandas
    except ImportError:
        raise MissingExtraError("pandas", "pandas") from None
    return pandas
