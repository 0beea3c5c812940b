"""What a comparison found: scores by setting and method with paired tests and ranks, and its tables for people.

`score_table`, `lead_table` and `time_table` are its tables, `long_form` its rows for other programs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from nodewise.evaluation.results.evaluation import Evaluation, GivenSplits, Metric, amount_of, import_pandas
from nodewise.evaluation.results.plots import colour_of, draw_curves, new_figure, save_picture, tidy_axes
from nodewise.evaluation.results.statistics import (
    FEWEST_FOR_INTERVAL,
    FEWEST_FOR_TEST,
    Interval,
    PairedComparison,
    Ranking,
    compare_pairs,
    rank_strategies,
)
from nodewise.evaluation.results.tables import Entry, ResultTable, to_latex, to_markdown, to_rows
from nodewise.evaluation.scores import LESS_IS_BETTER, NUMBER_KNOWN, SCORES
from nodewise.ground.errors import InputError
from nodewise.ground.events import count, percent
from nodewise.ground.files import write_json

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from nodewise.environment import EvaluationProtocol

__all__ = [
    "Comparison",
    "Setting",
    "explained_table",
    "lead_table",
    "learning_curves",
    "long_form",
    "score_table",
    "time_table",
]

_COLUMNS = 100  # of what is said below a table


@dataclass(frozen=True)
class Setting:
    """One graph, classifier and budget, and all methods on it, run on the same splits."""

    graph: str
    features: str
    classifier: str
    budget: int
    outcomes: dict[str, Evaluation]

    @property
    def protocol(self) -> EvaluationProtocol | None:
        """How it was played, the same for all methods, where not as usual."""
        return next((one.protocol for one in self.outcomes.values()), None)

    @property
    def splits(self) -> GivenSplits | None:
        """Which splits were given in place of the protocol's, the same for all methods."""
        return next((one.splits for one in self.outcomes.values()), None)

    @property
    def amount(self) -> str:
        """The budget in words."""
        return amount_of(self.budget, self.protocol)

    def head(self) -> dict[str, Any]:
        """What tells it from other settings, as files hold it."""
        names = ("graph", "features", "classifier", "budget")
        unusual = {} if self.protocol is None else self.protocol.identity()
        given = {} if self.splits is None else {"splits": self.splits.as_dict()}
        return {**{name: getattr(self, name) for name in names}, **({"protocol": unusual} if unusual else {}), **given}

    def scores(self, metric: Metric | str = "micro_f1") -> dict[str, npt.NDArray[np.float64]]:
        """By method: [run] each."""
        return {name: outcome.values(metric) for name, outcome in self.outcomes.items()}

    def best(self, metric: Metric | str = "micro_f1") -> str:
        """The method with the best mean, the largest or, of a loss or an error, the smallest; the first of equals."""
        sign = -1 if metric in LESS_IS_BETTER else 1
        return max(self.outcomes, key=lambda name: sign * float(self.outcomes[name].values(metric).mean()))

    def near_best(self, metric: Metric | str = "micro_f1") -> frozenset[str]:
        """Methods that are not significantly worse than the best one.

        Paired t-tests against it, Holm-corrected, at 5 %.
        """
        return frozenset(
            test.second for test in self.against_best(metric) if not math.isnan(test.t_p) and not test.significant()
        )

    def against_best(self, metric: Metric | str = "micro_f1") -> list[PairedComparison]:
        """Paired tests of the best method against every other, Holm-corrected together."""
        return compare_pairs(self.scores(metric), self.best(metric))

    @cached_property
    def tests(self) -> list[PairedComparison]:
        """Paired tests of every two methods, Holm-corrected within the setting."""
        return compare_pairs(self.scores())

    def as_dict(self) -> dict[str, Any]:
        """As a result file holds it."""
        return {
            **self.head(),
            "best": self.best(),
            "not_significantly_worse": sorted(self.near_best()),
            "results": [outcome.as_row(name) for name, outcome in self.outcomes.items()],
            "tests": [test.as_dict() for test in self.tests],
        }


@dataclass(frozen=True, repr=False)
class Comparison:
    """Every setting of a comparison. In a notebook it shows its table, in a shell its means.

    Attributes:
        settings: each graph, classifier and budget, with what every method reached there.
        seed: of the splits and of what is random. device: what it was computed on.
        split_records: by graph, what gives its splits, as a file holds them.
        oracle_answers: by graph, where answers may be wrong: what gives them, [run, node].
    """

    settings: tuple[Setting, ...]
    seed: int
    device: str
    split_records: Mapping[str, Callable[[], dict[str, Any]]] = field(default_factory=dict, compare=False)
    oracle_answers: Mapping[str, Callable[[], npt.NDArray[np.int64]]] = field(default_factory=dict, compare=False)

    @property
    def methods(self) -> list[str]:
        """Names of the methods, in the order given."""
        return list(dict.fromkeys(name for setting in self.settings for name in setting.outcomes))

    @property
    def graphs(self) -> list[str]:
        """Names of the graphs, in the order given."""
        return list(dict.fromkeys(setting.graph for setting in self.settings))

    @property
    def further(self) -> list[str]:
        """Names of the further scores that every method of every setting has."""
        held = [list(outcome.further) for setting in self.settings for outcome in setting.outcomes.values()]
        return [name for name in held[0] if all(name in each for each in held)] if held else []

    def ranking(self, domains: Mapping[str, str] | None = None) -> Ranking | None:
        """Average ranks, each graph counting once: its score is the mean over its settings that have every method.

        Budgets and classifiers on one graph share its nodes and splits; counted singly they would make differences look
        surer than they are.

        Args:
            domains: graph -> domain, where graphs of one domain are to count once; a graph that is not named is a
                domain of its own.

        Returns:
            None with fewer than two methods, graphs or domains.
        """
        names = self.methods
        whole = [setting for setting in self.settings if set(setting.outcomes) == set(names)]
        blocks: dict[str, dict[str, list[Setting]]] = {}
        for setting in whole:
            blocks.setdefault((domains or {}).get(setting.graph, setting.graph), {}).setdefault(
                setting.graph, []
            ).append(setting)
        if len(names) < 2 or len(blocks) < 2:
            return None
        return rank_strategies({name: [_mean_score(graphs, name) for graphs in blocks.values()] for name in names})

    def select(
        self, graph: str | None = None, budget: int | None = None, classifier: str | None = None
    ) -> Sequence[Setting]:
        """The settings that fit, in order."""
        wanted = (("graph", graph), ("budget", budget), ("classifier", classifier))
        return [s for s in self.settings if all(value is None or getattr(s, name) == value for name, value in wanted)]

    def chosen(self, graph: str | None = None, budget: int | None = None, classifier: str | None = None) -> Comparison:
        """The comparison of the settings that fit alone."""
        return replace(self, settings=tuple(self.select(graph, budget, classifier)))

    def to_dataframe(self, *, runs: bool = False) -> pd.DataFrame:
        """One row for each method in each setting, with means, 95 % intervals and marks; or one a run. Needs pandas.

        Classifiers' settings, the protocol and the splits have columns where they are not as usual.

        Args:
            runs: whether every run is a row of its own.
        """
        pandas = import_pandas()
        if not runs:
            columns, rows = long_form(self)
            frame = pandas.DataFrame(rows, columns=columns)
            return frame.astype(dict.fromkeys(("best", "not_significantly_worse"), bool))
        unusual = _unusual(self)
        records = [
            {
                "graph": setting.graph,
                "features": setting.features,
                "classifier": setting.classifier,
                "budget": setting.budget,
                "name": name,
                "strategy": outcome.strategy,
                "policy": outcome.policy,
                **{name: outcome.unusual.get(name) for name in unusual},
                "seed": self.seed,
                "run": run,
                "micro_f1": float(outcome.micro_f1[run]),
                "macro_f1": float(outcome.macro_f1[run]),
                **{score: float(values[run]) for score, values in outcome.further.items()},
            }
            for setting in self.settings
            for name, outcome in setting.outcomes.items()
            for run in range(len(outcome.micro_f1))
        ]
        return pandas.DataFrame.from_records(records)

    def to_markdown(self, metric: Metric | str = "micro_f1", caption: str = "") -> str:
        """The table of scores as Markdown, with all that is needed to read it below it.

        Args:
            metric: Micro-F1, Macro-F1 or a further score that the protocol asked for.
            caption: its title; by default the metric's name.
        """
        return to_markdown(explained_table(self, metric, "italics", caption))

    def to_latex(self, metric: Metric | str = "micro_f1", caption: str = "") -> str:
        """The table of scores as LaTeX, for the package booktabs; the caption says all that is needed to read it.

        Args:
            metric: Micro-F1, Macro-F1 or a further score that the protocol asked for.
            caption: how it begins; by default with the metric's name.
        """
        return to_latex(explained_table(self, metric, "underlined", caption))

    def plot(self, path: str | Path | None = None, ax: Axes | None = None) -> Figure:
        """Learning curves where a graph has several budgets, else means with their intervals.

        One panel for each graph and classifier.

        Args:
            path: where to write it, by its ending .png, .svg or .pdf; None: nowhere.
            ax: axes of matplotlib to draw into, where there is one panel: of one graph and classifier.

        Raises:
            InputError: axes were given for several panels.
        """
        panels: dict[tuple[str, str], list[Setting]] = {}
        for setting in self.settings:
            panels.setdefault((setting.graph, setting.classifier), []).append(setting)
        several = len({classifier for _, classifier in panels}) > 1
        if ax is not None and len(panels) > 1:
            shown = "; ".join(f"{graph} with {classifier}" for graph, classifier in panels)
            raise InputError(f"one pair of axes was given for {len(panels)} panels ({shown}): use chosen() for one")
        columns = min(3, len(panels))
        rows = -(-len(panels) // columns)
        figure = new_figure(1 + 4.2 * columns, 3.6 * rows) if ax is None else cast("Figure", ax.figure)
        grid = figure.subplots(rows, columns, squeeze=False).ravel() if ax is None else np.array([ax])
        for axes, ((graph, classifier), settings) in zip(grid, panels.items(), strict=False):
            title = f"{graph}, {classifier}" if several else graph
            if len(settings) > 1:
                methods = list(dict.fromkeys(name for setting in settings for name in setting.outcomes))
                draw_curves(axes, learning_curves(settings, methods), title=title, legend=axes is grid[0])
            else:
                _draw_means(axes, settings[0], self.methods)
                tidy_axes(axes, f"{title}, {settings[0].amount}")
        for axes in grid[len(panels) :]:
            axes.set_axis_off()
        return save_picture(figure, path)

    def export(self, path: str | Path) -> Path:
        """Writes all that somebody else needs to score the same labels: each run's split, queries and scores.

        A JSON file: ``graphs`` holds the splits (a file that ``splits=`` takes), ``settings`` the queries of each
        method in the order asked and its scores, run by run; and the classes that were answered, where some are wrong.
        """
        from nodewise import __version__

        answers = {name: given() for name, given in self.oracle_answers.items()}
        settings = [
            {
                **setting.head(),
                "methods": {
                    name: {
                        "queries": (queries := [row[row >= 0].tolist() for row in outcome.queries]),
                        **(
                            {"answers": [one[asked].tolist() for one, asked in zip(said, queries, strict=True)]}
                            if (said := answers.get(setting.graph)) is not None
                            else {}
                        ),
                        "micro_f1": outcome.micro_f1.tolist(),
                        "macro_f1": outcome.macro_f1.tolist(),
                        **{score: values.tolist() for score, values in outcome.further.items()},
                    }
                    for name, outcome in setting.outcomes.items()
                },
            }
            for setting in self.settings
        ]
        head = {"schema": 1, "kind": "export", "nodewise_version": __version__, "seed": self.seed}
        graphs = {name: record() for name, record in self.split_records.items()}
        write_json(Path(path), {**head, "graphs": graphs, "settings": settings})
        return Path(path)

    def __repr__(self) -> str:
        """The table of Micro-F1 as plain text, with what it rests on below it."""
        table = score_table(self)
        rows = [tuple(cell or "–" for cell in row) for row in (table.columns, *to_rows(table))]
        widths = [max(len(row[index]) for row in rows) for index in range(len(table.columns))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        notes = [line for note in table.notes for line in wrap(note, _COLUMNS)]
        return "\n".join([*lines, *notes, "* the best, = what is not significantly worse"])

    def _repr_html_(self) -> str:
        """The table of Micro-F1: the best in bold, what is not significantly worse in italics."""
        table = score_table(self)
        head = "".join(f"<th style='text-align:left'>{escape(name)}</th>" for name in table.columns)
        body = "".join(f"<tr>{''.join(_cell(cell) for cell in row)}</tr>" for row in table.rows)
        notes = "".join(f"<p>{escape(note)}</p>" for note in _spoken(table))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"

    def as_dict(self) -> dict[str, Any]:
        """The result file's record, scores in percent."""
        from nodewise import __version__

        ranking = self.ranking()
        return {
            "schema": 1,
            "kind": "comparison",
            "nodewise_version": __version__,
            "seed": self.seed,
            "device": self.device,
            "settings": [setting.as_dict() for setting in self.settings],
            "ranking": None if ranking is None else ranking.as_dict(),
        }


def learning_curves(settings: Sequence[Setting], methods: Sequence[str]) -> dict[str, dict[int, Interval]]:
    """Micro-F1 by method, then by budget."""
    return {
        name: {one.budget: one.outcomes[name].interval() for one in settings if name in one.outcomes}
        for name in methods
    }


def _mean_score(graphs: Mapping[str, Sequence[Setting]], name: str) -> float:
    """A method's Micro-F1: the mean over settings of each graph, then over graphs."""
    return float(
        np.mean(
            [np.mean([setting.outcomes[name].micro_f1.mean() for setting in settings]) for settings in graphs.values()]
        )
    )


_NAMES = {"micro_f1": "Micro-F1", "macro_f1": "Macro-F1", **NUMBER_KNOWN}
_NAMES |= {name: name.replace("_", " ") for name in SCORES}
_UNITS = {**dict.fromkeys(_NAMES, " in percent"), "log_loss": " in nats"}


def score_table(comparison: Comparison, metric: Metric | str = "micro_f1") -> ResultTable:
    """Methods by settings, mean and 95 % interval.

    The best of each setting marked, and what is not significantly worse.

    Up to four settings are columns; more are rows, since they would not fit beside each other.
    """
    settings, methods = comparison.settings, comparison.methods
    marked = [(setting, setting.best(metric), setting.near_best(metric)) for setting in settings]
    cells = [[_entry(setting, name, metric, best, near) for name in methods] for setting, best, near in marked]
    name, own = _NAMES.get(metric, metric), "" if metric in _NAMES else " (more counts as better)"
    better = " (less is better)" if metric in LESS_IS_BETTER else own
    note = f"{name}{_UNITS.get(metric, '')}{better}, {_how_sure(comparison)}{_other_classifiers(comparison)}"
    headings = [_heading(comparison, setting) for setting in settings]
    if len(settings) > 4:
        rows = tuple((heading, *row) for heading, row in zip(headings, cells, strict=True))
        return ResultTable(name, ("setting", *methods), rows, (note,))
    rows = tuple((method, *(row[index] for row in cells)) for index, method in enumerate(methods))
    return ResultTable(name, ("strategy", *headings), rows, (note,))


def explained_table(
    comparison: Comparison, metric: Metric | str = "micro_f1", near: str = "italics", caption: str = ""
) -> ResultTable:
    """The table of scores with all that is needed to read it alone: its marks, budgets, classifiers and protocol.

    Args:
        near: how what is not significantly worse is marked; the best is bold.
        caption: its title; by default the metric's name.
    """
    table = score_table(comparison, metric)
    notes = [
        note.replace(
            "Marked: the best mean of a setting, and what", f"Bold: the best mean of a setting; {near}: what"
        ).replace("Marked: the best", "Bold: the best")
        for note in table.notes
    ]
    return replace(table, title=caption or table.title, notes=(*notes, _how_played(comparison)))


def time_table(comparison: Comparison) -> ResultTable:
    """Milliseconds that a query of one run takes with each method, learning and choosing together."""
    rows = []
    for name in comparison.methods:
        cells: list[str | None] = []
        for setting in comparison.settings:
            outcome = setting.outcomes.get(name)
            asked = 0 if outcome is None else int((outcome.queries >= 0).sum())
            cells.append(f"{1000 * outcome.seconds / asked:.3g}" if outcome is not None and asked else None)
        rows.append((name, *cells))
    headings = tuple(_heading(comparison, setting) for setting in comparison.settings)
    note = (
        "Milliseconds of a query of one run, learning and choosing together, where it was played; what a strategy"
        f" prepares once for a graph is part of the first that needs it. {_how_played(comparison)}"
    )
    return ResultTable("Time", ("strategy", *headings), tuple(rows), (note,))


def _how_played(comparison: Comparison) -> str:
    """Budgets, classifiers with their settings, protocol and splits where they are others, and the seed."""
    amounts = list(dict.fromkeys(one.amount for one in comparison.settings))
    learned = dict.fromkeys(
        f"{outcome.learner} on {one.features} features"
        for one in comparison.settings
        for outcome in one.outcomes.values()
    )
    words = dict.fromkeys(one.protocol.words() for one in comparison.settings if one.protocol is not None)
    splits = dict.fromkeys(one.splits.words for one in comparison.settings if one.splits is not None)
    return "; ".join([" or ".join(amounts), *learned, *filter(None, words), *splits, f"seed {comparison.seed}."])


def lead_table(comparison: Comparison) -> ResultTable:
    """The best method of each setting against every other.

    The difference in points with its interval, and the tests.
    """
    rows: list[tuple[str, ...]] = []
    for setting in comparison.settings:
        for test in setting.against_best():
            lead = test.difference.text(sign=True)
            tests = (percent(test.win_rate), _p(test.corrected_p), _p(test.permutation_p))
            rows.append((_heading(comparison, setting), test.first, test.second, lead, *tests))
    columns = ("setting", "best", "against", "lead in points", "runs won", "p (t, Holm)", "p (sign flips)")
    return ResultTable("The best against the others", columns, tuple(rows), text_columns=3)


def long_form(comparison: Comparison) -> tuple[list[str], list[list[object]]]:
    """One row for each setting and method: columns and rows.

    Classifiers' settings, the protocol and the splits have columns where one of them is not as usual; a cell is empty
    where it is.
    """
    unusual = _unusual(comparison)
    columns = ["graph", "features", "classifier", "budget", "strategy", "name", "policy", *unusual, "runs"]
    columns += ["micro_f1", "micro_f1_ci95", "macro_f1", "macro_f1_ci95", "best", "not_significantly_worse", "seconds"]
    further = comparison.further
    columns += [column for name in further for column in (name, f"{name}_ci95")]
    rows: list[list[object]] = []
    for setting in comparison.settings:
        best, near = setting.best(), setting.near_best()
        for name, outcome in setting.outcomes.items():
            scores, more = (
                [None if math.isnan(value) else round(value, 4) for m in metrics for value in outcome.interval(m)]
                for metrics in (("micro_f1", "macro_f1"), further)
            )
            rows.append(
                [
                    setting.graph,
                    setting.features,
                    setting.classifier,
                    setting.budget,
                    outcome.strategy,
                    name,
                    outcome.policy,
                    *(outcome.unusual.get(one) for one in unusual),
                    len(outcome.micro_f1),
                    *scores,
                    int(name == best),
                    int(name in near),
                    round(outcome.seconds, 3),
                    *more,
                ]
            )
    return columns, rows


def _unusual(comparison: Comparison) -> list[str]:
    """What is not as usual for any method of any setting, by the names that `Evaluation.unusual` has."""
    outcomes = [outcome for setting in comparison.settings for outcome in setting.outcomes.values()]
    return list(dict.fromkeys(name for outcome in outcomes for name in outcome.unusual))


def _entry(setting: Setting, name: str, metric: Metric | str, best: str, near: frozenset[str]) -> Entry | None:
    if name not in setting.outcomes:
        return None
    return Entry(
        setting.outcomes[name].interval(metric).text(), "best" if name == best else "near" if name in near else ""
    )


def _how_sure(comparison: Comparison) -> str:
    """What the means and marks rest on, with no more certainty than the runs give."""
    runs = sorted({len(outcome.micro_f1) for setting in comparison.settings for outcome in setting.outcomes.values()})
    over = count(runs[0], "run") if len(runs) == 1 else f"{' or '.join(map(str, runs))} runs"
    means = (
        f"mean ± 95 % interval over {over}"
        if runs[0] >= FEWEST_FOR_INTERVAL
        else f"mean over {over}, too few for an interval"
    )
    if runs[0] < FEWEST_FOR_TEST:
        marks = (
            f"Marked: the best mean of a setting; {FEWEST_FOR_TEST} runs or more can tell whether its lead is chance."
        )
    else:
        marks = (
            "Marked: the best mean of a setting, and what is not significantly worse (paired t-test, Holm-corrected"
            " within the setting, 5 %)."
        )
    return f"{means}, the same splits for all strategies. {marks}"


def _other_classifiers(comparison: Comparison) -> str:
    """Why a strategy stands in another setting than the others: a policy brings the classifier it was trained with."""
    played: dict[str, set[str]] = {}
    for setting in comparison.settings:
        for name in setting.outcomes:
            played.setdefault(name, set()).add(setting.classifier)
    if len({frozenset(names) for names in played.values()}) < 2:
        return ""
    alone = [name for name in played if any(s.outcomes[name].policy for s in comparison.settings if name in s.outcomes)]
    others = "; ".join(f"{name} with {', '.join(sorted(played[name]))}" for name in alone)
    return (
        f" Not all strategies were played with the same classifier ({others}: what a policy was trained with), so their"
        " difference is not the strategy's alone: name one classifier for all."
    )


def _heading(comparison: Comparison, setting: Setting) -> str:
    """The setting's name, with the budget and the classifier where they tell settings of the comparison apart."""
    parts = [setting.graph]
    if len({other.budget for other in comparison.settings if other.graph == setting.graph}) > 1:
        parts.append(setting.amount)
    if len({other.classifier for other in comparison.settings}) > 1:
        parts.append(setting.classifier)
    return ", ".join(parts)


def _p(value: float) -> str:
    return "–" if math.isnan(value) else "< 0.0001" if value < 1e-4 else f"{value:.4f}"


def _draw_means(axes: Axes, setting: Setting, methods: list[str]) -> None:
    names = [name for name in methods if name in setting.outcomes]
    for index, name in enumerate(names):
        mean, width = setting.outcomes[name].interval()
        axes.errorbar(index, mean, np.nan_to_num(width), fmt="o", color=colour_of(methods.index(name)), capsize=3)
    axes.set_xticks(range(len(names)), names, rotation=30 if len(names) > 3 else 0)
    axes.margins(x=0.2)


def _spoken(table: ResultTable) -> list[str]:
    return [
        note.replace("Marked: the best mean of a setting", "Bold: the best mean of a setting") for note in table.notes
    ]


def _cell(cell: Entry | str | None) -> str:
    mark = {"best": "<b>{}</b>", "near": "<i>{}</i>"}.get(cell.mark, "{}") if isinstance(cell, Entry) else "{}"
    text = cell.text if isinstance(cell, Entry) else cell or "–"
    return f"<td style='text-align:left'>{mark.format(escape(text))}</td>"
