"""What a person says about a result, with its numbers filled in from the result files when the page is made.

A reading is Markdown in which ``{word arguments}`` stands for a number or a list of graphs; arguments are separated by
``|``, several of a kind by ``;``. Since nothing is typed, no number can be wrong or grow old:

    GPA leads AGE by {lead featured | GPA | AGE} points, beyond chance on {ahead featured | GPA | AGE}.

Graphs are names, or ``featured`` and ``structural``: those of the experiment that were played with their own features,
and the others. ``other:`` before a name is another experiment, ``@50`` after it a budget, ``#2`` its second part. A
last argument ``macro`` takes Macro-F1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nodewise.ground.errors import InputError

__all__ = ["fill_reading"]

Record = Mapping[str, Any]

_PLACEHOLDER = re.compile(r"\{([a-z-]+)(?: ([^{}]*))?\}")
_GRAPH = re.compile(r"(?:(?P<experiment>[\w-]+):)?(?P<graph>[^@#]+)(?:@(?P<budget>\d+))?(?:#(?P<part>\d+))?")


def fill_reading(text: str, experiment: str, records: Mapping[str, Record]) -> str:
    """The reading of an experiment with every number in its place.

    Args:
        text: the reading.
        experiment: whose it is; graphs without a prefix are its own.
        records: result files by experiment.

    Raises:
        InputError: a placeholder names something that no result holds.
    """
    results = _Results(experiment, records)

    def number(match: re.Match[str]) -> str:
        word, given = match.group(1), match.group(2) or ""
        arguments = [argument.strip() for argument in given.split("|")] if given else []
        try:
            return _WORDS[word](results, *arguments)
        except (KeyError, TypeError, ValueError, IndexError, StopIteration) as error:
            raise InputError(
                f"the reading of {experiment} has {match.group(0)}, which no result gives ({type(error).__name__}:"
                f" {error}): mend it, or run the experiment"
            ) from None

    return _PLACEHOLDER.sub(number, text)


class _Results:
    """Result files, as placeholders ask for them."""

    def __init__(self, experiment: str, records: Mapping[str, Record]) -> None:
        self.experiment, self.records = experiment, records

    def settings(self, told: str) -> list[Record]:
        """The settings that a list of graphs stands for."""
        settings: list[Record] = []
        for one in told.split(";"):
            match = _GRAPH.fullmatch(one.strip())
            assert match is not None
            parts = self.records[match["experiment"] or self.experiment]["parts"]
            parts = parts if match["part"] is None else [parts[int(match["part"]) - 1]]
            known = [setting for part in parts for setting in part["settings"]]
            budget = match["budget"]
            fitting = [
                setting
                for setting in known
                if (budget is None or setting["budget"] == int(budget))
                and {
                    "featured": setting["features"] != "structural",
                    "structural": setting["features"] == "structural",
                    "all": True,
                }.get(match["graph"], setting["graph"] == match["graph"])
            ]
            if not fitting:
                raise KeyError(one)
            settings += fitting
        return settings


def _metric(told: str) -> str:
    return {"micro": "micro_f1", "macro": "macro_f1"}[told]


def _names(told: str) -> list[str]:
    return [name.strip() for name in told.split(";")]


def _result(setting: Record, method: str) -> Record:
    return next(result for result in setting["results"] if result["name"] == method)


def _ours(setting: Record, method: str, metric: str) -> float:
    return float(_result(setting, method)[_metric(metric)]["mean"])


def _theirs(setting: Record, method: str, metric: str) -> float:
    return float(_result(setting, method)["paper"][_metric(metric)])


def _gap(setting: Record, method: str, metric: str) -> float:
    if setting["features"] == "structural":
        raise ValueError("no difference is drawn between the paper's figures and ours on structural features")
    return _ours(setting, method, metric) - _theirs(setting, method, metric)


def _signed(value: float) -> str:
    return f"{value:+.1f}".replace("-", "−").replace("+0.0", "0.0").replace("−0.0", "0.0")


def _numbers(texts: Sequence[str]) -> str:
    return " / ".join(texts)


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(texts[:-1]) + (" and " if len(texts) > 1 else "") + texts[-1]


def _places(fitting: Sequence[Record], among: Sequence[Record]) -> str:
    """The graphs' names; where one graph was played with several budgets, these."""
    budgets = len({setting["graph"] for setting in among}) == 1 < len(among)
    if not fitting:
        return "no number of labels" if budgets else "none"
    return (
        f"{_listed([str(one['budget']) for one in fitting])} labels"
        if budgets
        else _listed([str(one["graph"]) for one in fitting])
    )


def _of_each(
    value: Callable[[Record, str, str], float], show: Callable[[float], str]
) -> Callable[[_Results, str, str, str], str]:
    """A number for every graph and method."""

    def word(results: _Results, graphs: str, methods: str, metric: str = "micro") -> str:
        settings = results.settings(graphs)
        return _numbers([show(value(setting, method, metric)) for method in _names(methods) for setting in settings])

    return word


def _farthest(results: _Results, graphs: str, methods: str, metric: str = "micro") -> str:
    """The largest distance from the paper's scores."""
    gaps = [abs(_gap(setting, method, metric)) for setting in results.settings(graphs) for method in _names(methods)]
    return f"{max(gaps):.1f}"


def _leads(
    results: _Results, graphs: str, first: str, second: str, metric: str, value: Callable[[Record, str, str], float]
) -> list[float]:
    return [
        value(setting, first, metric) - value(setting, rival, metric)
        for rival in _names(second)
        for setting in results.settings(graphs)
    ]


def _lead(results: _Results, graphs: str, first: str, second: str, metric: str = "micro") -> str:
    """By how much one method is ahead of another."""
    return _numbers([_signed(lead) for lead in _leads(results, graphs, first, second, metric, _ours)])


def _paper_lead(results: _Results, graphs: str, first: str, second: str, metric: str = "micro") -> str:
    return _numbers([_signed(lead) for lead in _leads(results, graphs, first, second, metric, _theirs)])


def _span(results: _Results, graphs: str, first: str, second: str, metric: str = "micro") -> str:
    """The smallest and the largest lead."""
    leads = _leads(results, graphs, first, second, metric, _ours)
    return f"{_signed(min(leads))} to {_signed(max(leads))}"


def _versus(value: Callable[[Record, str, str], float]) -> Callable[[_Results, str, str, str, str], str]:
    """A method in some settings against another one in others, one by one."""

    def word(results: _Results, graphs: str, method: str, others: str, other: str) -> str:
        pairs = zip(results.settings(graphs), results.settings(others), strict=True)
        return _numbers([_signed(value(one, method, "micro") - value(two, other, "micro")) for one, two in pairs])

    return word


def _told_apart(wanted: int) -> Callable[[_Results, str, str, str], str]:
    """On which graphs a method is ahead of another beyond chance (1), behind (−1), or neither (0).

    Paired tests, corrected.
    """

    def word(results: _Results, graphs: str, first: str, second: str) -> str:
        fitting, among = [], results.settings(graphs)
        for setting in among:
            test = next(one for one in setting["leads"] if {one["first"], one["second"]} == {first, second})
            lead = test["difference"] if test["first"] == first else -test["difference"]
            sure = test["corrected_p"] is not None and test["corrected_p"] < 0.05
            if (0 if not sure else 1 if lead > 0 else -1) == wanted:
                fitting.append(setting)
        return _places(fitting, among)

    return word


def _best(results: _Results, graphs: str, metric: str = "micro") -> str:
    """The method with the largest mean on each graph."""
    best = [
        max(setting["results"], key=lambda result: result[_metric(metric)]["mean"])["name"]
        for setting in results.settings(graphs)
    ]
    return _listed([str(name) for name in best])


def _mean(results: _Results, graphs: str, methods: str, metric: str = "micro") -> str:
    """A method's mean over graphs."""
    settings = results.settings(graphs)
    return _numbers(
        [f"{sum(_ours(s, method, metric) for s in settings) / len(settings):.1f}" for method in _names(methods)]
    )


def _p(results: _Results, graph: str, first: str, second: str) -> str:
    (setting,) = results.settings(graph)
    lead = next(one for one in setting["leads"] if (one["first"], one["second"]) == (first, second))
    return f"{lead['corrected_p']:.2g}"


def _share(key: str) -> Callable[[_Results, str], str]:
    """The case study: how often two queries in a row are of one class."""

    def word(results: _Results, methods: str) -> str:
        known = {one["name"]: one for one in results.records[results.experiment]["sequences"]}
        return _numbers([f"{100 * known[method][key]:.0f} %" for method in _names(methods)])

    return word


def _share_range(results: _Results, method: str) -> str:
    known = next(one for one in results.records[results.experiment]["sequences"] if one["name"] == method)
    values = known["same_class_in_other_sequences"]
    return f"{100 * min(values):.0f} to {100 * max(values):.0f} %"


def _draws(results: _Results) -> str:
    return str(len(results.records[results.experiment]["sequences"][0]["same_class_in_other_sequences"]))


def _printed(results: _Results, method: str) -> str:
    """What the paper prints below the case study's pictures."""
    sequences = results.records[results.experiment]["sequences"]
    return f"{next(one for one in sequences if one['name'] == method)['paper_micro_f1']:.1f}"


def _worth(results: _Results, key: str) -> str:
    """What a departure from the paper is worth, graph by graph, or that nobody has measured it."""
    rows = [row for row in results.records.get("departures", {}).get("rows", []) if row["key"] == key]
    if not rows:
        return "not measured"
    return ", ".join(
        f"{_signed(row['difference'])} ± {row['ci95']:.1f} on {row['graph']} ({row['method']})" for row in rows
    )


def _statement(results: _Results, what: str) -> str:
    told = next(one for one in results.records[results.experiment]["statements"] if one["what"] == what)["ours"]
    return "no tested number" if told is None else str(told)


_WORDS: dict[str, Callable[..., str]] = {
    "score": _of_each(_ours, lambda value: f"{value:.1f}"),
    "paper": _of_each(_theirs, lambda value: f"{value:.1f}"),
    "gap": _of_each(_gap, _signed),
    "farthest": _farthest,
    "lead": _lead,
    "paper-lead": _paper_lead,
    "span": _span,
    "versus": _versus(_ours),
    "paper-versus": _versus(_theirs),
    "ahead": _told_apart(1),
    "level": _told_apart(0),
    "behind": _told_apart(-1),
    "best": _best,
    "mean": _mean,
    "p": _p,
    "share": _share("same_class_in_sequence"),
    "share-runs": _share("same_class_in_runs"),
    "share-range": _share_range,
    "draws": _draws,
    "printed": _printed,
    "names": lambda results, graphs: _places(results.settings(graphs), results.settings(graphs)),
    "statement": _statement,
    "worth": _worth,
}
