"""What a comparison found: scores by setting and method, with paired tests and ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from nodewise.evaluation.ranks import Ranking, rank_strategies
from nodewise.evaluation.statistics import Interval, PairedComparison, compare_pairs, confidence_interval

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["Comparison", "Metric", "Outcome", "Setting"]

Metric = Literal["micro_f1", "macro_f1"]


@dataclass(frozen=True)
class Outcome:
    """What one method reached in one setting.

    Attributes:
        micro_f1, macro_f1: percent: [run].
        queries: the nodes in the order asked: int64 [run, step].
    """

    strategy: str
    policy: str | None
    micro_f1: npt.NDArray[np.float64]
    macro_f1: npt.NDArray[np.float64]
    queries: npt.NDArray[np.int64]
    seconds: float

    def interval(self, metric: Metric = "micro_f1") -> Interval:
        """Mean and 95 % interval."""
        return confidence_interval(getattr(self, metric))

    def as_dict(self, name: str) -> dict[str, Any]:
        """As a result file holds it."""
        scores = {
            metric: {"mean": mean, "ci95": None if math.isnan(width) else width, "values": [round(v, 4) for v in getattr(self, metric).tolist()]}
            for metric, (mean, width) in (("micro_f1", self.interval("micro_f1")), ("macro_f1", self.interval("macro_f1")))
        }  # fmt: skip
        return {
            "name": name, "strategy": self.strategy, "policy": self.policy, "runs": len(self.micro_f1), "seconds": round(self.seconds, 3), **scores
        }  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """One graph, classifier and budget, and all methods on it, run on the same splits."""

    graph: str
    features: str
    classifier: str
    budget: int
    outcomes: dict[str, Outcome]

    def scores(self, metric: Metric = "micro_f1") -> dict[str, npt.NDArray[np.float64]]:
        """By method: [run] each."""
        return {name: getattr(outcome, metric) for name, outcome in self.outcomes.items()}

    def best(self, metric: Metric = "micro_f1") -> str:
        """The method with the largest mean; the first of those that share it."""
        return max(self.outcomes, key=lambda name: float(getattr(self.outcomes[name], metric).mean()))

    def near_best(self, metric: Metric = "micro_f1") -> frozenset[str]:
        """Methods that are not significantly worse than the best one: paired t-tests against it, Holm-corrected, at 5 %."""
        return frozenset(test.second for test in self.against_best(metric) if not math.isnan(test.t_p) and not test.significant())

    def against_best(self, metric: Metric = "micro_f1") -> list[PairedComparison]:
        """Paired tests of the best method against every other, Holm-corrected together."""
        return compare_pairs(self.scores(metric), self.best(metric))

    @cached_property
    def tests(self) -> list[PairedComparison]:
        """Paired tests of every two methods, Holm-corrected within the setting."""
        return compare_pairs(self.scores())

    def as_dict(self) -> dict[str, Any]:
        """As a result file holds it."""
        return {
            "graph": self.graph, "features": self.features, "classifier": self.classifier, "budget": self.budget, "best": self.best(),
            "not_significantly_worse": sorted(self.near_best()),
            "results": [outcome.as_dict(name) for name, outcome in self.outcomes.items()], "tests": [test.as_dict() for test in self.tests],
        }  # fmt: skip


@dataclass(frozen=True, repr=False)
class Comparison:
    """Every setting of a comparison. In a notebook it shows its table, in a shell its means."""

    settings: tuple[Setting, ...]
    seed: int
    device: str

    @property
    def methods(self) -> list[str]:
        """Names of the methods, in the order given."""
        return list(dict.fromkeys(name for setting in self.settings for name in setting.outcomes))

    @property
    def graphs(self) -> list[str]:
        """Names of the graphs, in the order given."""
        return list(dict.fromkeys(setting.graph for setting in self.settings))

    def ranking(self, domains: Mapping[str, str] | None = None) -> Ranking | None:
        """Average ranks, each graph counting once: its score is the mean over its settings that have every method.

        Budgets and classifiers on one graph share its nodes and splits; counted singly they would make differences look surer than they are.

        Args:
            domains: graph -> domain, where graphs of one domain are to count once; a graph that is not named is a domain of its own.

        Returns:
            None with fewer than two methods, graphs or domains.
        """
        names = self.methods
        whole = [setting for setting in self.settings if set(setting.outcomes) == set(names)]
        blocks: dict[str, dict[str, list[Setting]]] = {}
        for setting in whole:
            blocks.setdefault((domains or {}).get(setting.graph, setting.graph), {}).setdefault(setting.graph, []).append(setting)
        if len(names) < 2 or len(blocks) < 2:
            return None
        return rank_strategies({name: [_mean_score(graphs, name) for graphs in blocks.values()] for name in names})

    def select(self, graph: str | None = None, budget: int | None = None, classifier: str | None = None) -> Sequence[Setting]:
        """The settings that fit, in order."""
        wanted = (("graph", graph), ("budget", budget), ("classifier", classifier))
        return [s for s in self.settings if all(value is None or getattr(s, name) == value for name, value in wanted)]

    def to_dataframe(self, *, runs: bool = False) -> pd.DataFrame:
        """One row for each method in each setting, with means, 95 % intervals and marks; or one a run. Needs pandas.

        Args:
            runs: whether every run is a row of its own.
        """
        from nodewise.evaluation.showing import comparison_frame

        return comparison_frame(self, runs)

    def plot(self, path: str | Path | None = None) -> Figure:
        """Learning curves where a graph has several budgets, else means with their intervals; one panel for each graph and classifier.

        Args:
            path: where to write it, by its ending .png, .svg or .pdf; None: nowhere.
        """
        from nodewise.evaluation.showing import plot_comparison

        return plot_comparison(self, path)

    def __repr__(self) -> str:
        from nodewise.evaluation.showing import comparison_text

        return comparison_text(self)

    def _repr_html_(self) -> str:
        from nodewise.evaluation.showing import comparison_html

        return comparison_html(self)

    def as_dict(self) -> dict[str, Any]:
        """The result file's record, scores in percent."""
        from nodewise import __version__

        ranking = self.ranking()
        return {
            "schema": 1, "kind": "comparison", "nodewise_version": __version__, "seed": self.seed, "device": self.device,
            "settings": [setting.as_dict() for setting in self.settings], "ranking": None if ranking is None else ranking.as_dict(),
        }  # fmt: skip


def _mean_score(graphs: Mapping[str, Sequence[Setting]], name: str) -> float:
    """A method's Micro-F1: the mean over settings of each graph, then over graphs."""
    return float(np.mean([np.mean([setting.outcomes[name].micro_f1.mean() for setting in settings]) for settings in graphs.values()]))
