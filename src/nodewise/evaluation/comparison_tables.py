"""A comparison as tables: means side by side, paired differences, and a long form for other programs."""

from __future__ import annotations

import math

from nodewise.evaluation.comparison import Comparison, Metric, Setting
from nodewise.evaluation.statistics import FEWEST_FOR_INTERVAL, FEWEST_FOR_TEST
from nodewise.evaluation.tables import Entry, Table
from nodewise.ground.events import count

__all__ = ["lead_table", "long_form", "score_table"]

_NAMES = {"micro_f1": "Micro-F1", "macro_f1": "Macro-F1"}


def score_table(comparison: Comparison, metric: Metric = "micro_f1") -> Table:
    """Methods by settings, mean and 95 % interval; the best of each setting marked, and what is not significantly worse.

    Up to four settings are columns; more are rows, since they would not fit beside each other.
    """
    settings, methods = comparison.settings, comparison.methods
    marked = [(setting, setting.best(metric), setting.near_best(metric)) for setting in settings]
    cells = [[_entry(setting, name, metric, best, near) for name in methods] for setting, best, near in marked]
    note = f"{_NAMES[metric]} in percent, {_how_sure(comparison)}"
    headings = [_heading(comparison, setting) for setting in settings]
    if len(settings) > 4:
        rows = tuple((heading, *row) for heading, row in zip(headings, cells, strict=True))
        return Table(_NAMES[metric], ("setting", *methods), rows, (note,))
    rows = tuple((name, *(row[place] for row in cells)) for place, name in enumerate(methods))
    return Table(_NAMES[metric], ("strategy", *headings), rows, (note,))


def lead_table(comparison: Comparison) -> Table:
    """The best method of each setting against every other: the difference in points with its interval, and the tests."""
    rows: list[tuple[str, ...]] = []
    for setting in comparison.settings:
        for test in setting.against_best():
            lead = test.difference.text(sign=True)
            tests = (f"{100 * test.win_rate:.0f} %", _p(test.corrected_p), _p(test.permutation_p))
            rows.append((_heading(comparison, setting), test.first, test.second, lead, *tests))
    columns = ("setting", "best", "against", "lead in points", "runs won", "p (t, Holm)", "p (sign flips)")
    return Table("The best against the others", columns, tuple(rows), text_columns=3)


def long_form(comparison: Comparison) -> tuple[list[str], list[list[object]]]:
    """One row for each setting and method: columns and rows."""
    columns = ["graph", "features", "classifier", "budget", "strategy", "name", "policy", "runs"]
    columns += ["micro_f1", "micro_f1_ci95", "macro_f1", "macro_f1_ci95", "best", "not_significantly_worse", "seconds"]
    rows: list[list[object]] = []
    for setting in comparison.settings:
        best, near = setting.best(), setting.near_best()
        for name, outcome in setting.outcomes.items():
            scores = [None if math.isnan(value) else round(value, 4) for m in ("micro_f1", "macro_f1") for value in outcome.interval(m)]
            rows.append([
                setting.graph, setting.features, setting.classifier, setting.budget, outcome.strategy, name, outcome.policy, len(outcome.micro_f1),
                *scores, int(name == best), int(name in near), round(outcome.seconds, 3),
            ])  # fmt: skip
    return columns, rows


def _entry(setting: Setting, name: str, metric: Metric, best: str, near: frozenset[str]) -> Entry | None:
    if name not in setting.outcomes:
        return None
    return Entry(setting.outcomes[name].interval(metric).text(), "best" if name == best else "near" if name in near else "")


def _how_sure(comparison: Comparison) -> str:
    """What the means and marks rest on, with no more certainty than the runs give."""
    runs = sorted({len(outcome.micro_f1) for setting in comparison.settings for outcome in setting.outcomes.values()})
    over = count(runs[0], "run") if len(runs) == 1 else f"{' or '.join(map(str, runs))} runs"
    means = f"mean ± 95 % interval over {over}" if runs[0] >= FEWEST_FOR_INTERVAL else f"mean over {over}, too few for an interval"
    if runs[0] < FEWEST_FOR_TEST:
        marks = f"Marked: the best mean of a setting; {FEWEST_FOR_TEST} runs or more can tell whether its lead is chance."
    else:
        marks = "Marked: the best mean of a setting, and what is not significantly worse (paired t-test, Holm-corrected within the setting, 5 %)."
    return f"{means}, the same splits for all strategies. {marks}"


def _heading(comparison: Comparison, setting: Setting) -> str:
    """The setting's name, with the budget and the classifier where they tell settings of the comparison apart."""
    parts = [setting.graph]
    if len({other.budget for other in comparison.settings if other.graph == setting.graph}) > 1:
        parts.append(f"{setting.budget} labels")
    if len({other.classifier for other in comparison.settings}) > 1:
        parts.append(setting.classifier)
    return ", ".join(parts)


def _p(value: float) -> str:
    return "–" if math.isnan(value) else "< 0.0001" if value < 1e-4 else f"{value:.4f}"
