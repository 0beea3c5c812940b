"""A reproduction's record as Markdown: theirs beside ours, the difference, our interval, and what is missing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from nodewise.classifiers import unusual_settings
from nodewise.evaluation.results.tables import Entry, ResultTable, to_markdown
from nodewise.ground.events import count, percent

__all__ = ["graph_title", "lead_table", "p_value", "part_table", "record_tables", "render"]

Record = Mapping[str, Any]
_CLOSING = ("closing_epochs", "convergence")


def render(record: Record, level: int = 1, figures: str = "", reading: str = "") -> str:
    """The whole experiment as Markdown.

    Args:
        level: of its heading.
        figures: the folder that its picture's link names, with a slash at the end.
        reading: what a person says about the result.
    """
    runs = count(record["runs"], "run") + (
        "" if record["runs"] == record["large_runs"] else f", {record['large_runs']} on graphs above 10,000 nodes"
    )
    lines = [
        f"{'#' * level} {record['title']}",
        "",
        f"`nodewise reproduce {record['experiment']}` · {record['place']}",
        "",
        record["about"],
        "",
    ]
    if record.get("rows"):
        lines += [to_markdown(_dataset_table(record))]
    for part in record.get("parts", []):
        if part["settings"]:
            lines += [
                f"{'#' * (level + 1)} {part['title']}",
                "",
                *([part["stand_in"], ""] if part["stand_in"] else []),
                to_markdown(part_table(part)),
            ]
            if any(setting["leads"] for setting in part["settings"]):
                lines += [to_markdown(lead_table(part))]
            lines += [_trained(part)] if part["policies"] else []
            lines += [_age_told(part)] if part.get("age") else []
    if record.get("statements"):
        lines += [to_markdown(_statement_table(record))]
    if record.get("sequences"):
        lines += [to_markdown(_sequence_table(record))]
    if missing := [one for part in record.get("parts", []) for one in part["missing"]] + list(
        record.get("missing", [])
    ):
        lines += ["Left out:", "", *(f"- {one['what']}: {one['why']}" for one in missing), ""]
    if record["figure"]:
        lines += [f"![{record['title']}]({figures}{record['experiment']}.png)", ""]
    if reading:
        lines += [reading.strip(), ""]
    if record.get("parts"):
        end = _unusual(record.get("classifier", {}))
        lines += [
            f"{runs}, seed {record['seed']}, {record['device']}{end}; scores in percent, ± is the 95 % interval.",
            "",
        ]
    return "\n".join(lines)


def record_tables(record: Record) -> list[ResultTable]:
    """Every table of an experiment, as a terminal shows them."""
    tables = [_dataset_table(record)] if record.get("rows") else []
    for part in record.get("parts", []):
        if part["settings"]:
            tables.append(replace(part_table(part), title=part["title"]))
            tables += [lead_table(part)] if any(setting["leads"] for setting in part["settings"]) else []
    tables += [_statement_table(record)] if record.get("statements") else []
    return tables + ([_sequence_table(record)] if record.get("sequences") else [])


def part_table(part: Record) -> ResultTable:
    """Graph, budget and method by row; ours, the paper's and the difference by metric."""
    beside = any(result["paper"] for setting in part["settings"] for result in setting["results"])
    several = len({(setting["graph"], setting["budget"]) for setting in part["settings"]}) > len(
        {setting["graph"] for setting in part["settings"]}
    )
    rows = []
    for setting in part["settings"]:
        best = {metric: max(r[metric]["mean"] for r in setting["results"]) for metric in ("micro_f1", "macro_f1")}
        for index, result in enumerate(setting["results"]):
            graph = "" if index else graph_title(setting)  # named once, in its first row
            cells: list[Entry | str | None] = [graph, *([str(setting["budget"])] if several else []), result["name"]]
            for metric in ("micro_f1", "macro_f1"):
                score = result[metric]
                cells.append(
                    Entry(_score(score["mean"], score["ci95"]), "best" if score["mean"] == best[metric] else "")
                )
                if beside:
                    theirs = (result["paper"] or {}).get(metric)
                    same = setting["features"] != "structural"  # with other features a difference would say nothing
                    cells += [
                        None if theirs is None else f"{theirs:.2f}",
                        f"{score['mean'] - theirs:+.2f}" if theirs is not None and same else None,
                    ]
            rows.append(tuple(cells))
    metrics = [
        name for title in ("Micro-F1", "Macro-F1") for name in ((title, "paper", "difference") if beside else (title,))
    ]
    columns = ("graph", *(("budget",) if several else ()), "method", *metrics)
    return ResultTable("", columns, tuple(rows), text_columns=3 if several else 2)


def lead_table(part: Record) -> ResultTable:
    """The lead of one method over every other, with paired tests, and the lead that the paper prints."""
    rows = []
    for setting in part["settings"]:
        printed = {result["name"]: (result["paper"] or {}).get("micro_f1") for result in setting["results"]}
        for index, test in enumerate(setting["leads"]):
            first, second = printed.get(test["first"]), printed.get(test["second"])
            theirs = (
                "" if first is None or second is None or first == second else f"{first - second:+.2f}"
            )  # the same row leads itself by nothing
            rows.append(
                (
                    "" if index else graph_title(setting),
                    str(setting["budget"]),
                    test["second"],
                    _score(test["difference"], test["ci95"], sign=True),
                    theirs,
                    percent(test["win_rate"]),
                    p_value(test["corrected_p"]),
                    p_value(test["permutation_p"]),
                )
            )
    columns = (
        "graph",
        "budget",
        "against",
        "lead in points",
        "paper's lead",
        "runs won",
        "p (paired t, Holm)",
        "p (sign flips)",
    )
    note = "Micro-F1 on the same splits; Holm's correction is over all rows of this table."
    return ResultTable(f"The lead of {part['against']}", columns, tuple(rows), (note,), text_columns=3)


def _trained(part: Record) -> str:
    """A sentence on the policies."""
    described = [
        f"{name} ({one['episodes']} episodes, batch {one['batch']}, seed {one['seed']})"
        for name, one in part["policies"].items()
        if "episodes" in one
    ]
    return f"Policies: {', '.join(described)}.\n" if described else ""


def _age_told(part: Record) -> str:
    """A sentence on what AGE was played with."""
    described = []
    for one in part["age"]:
        value = (
            f"basef {one['basef']:g}"
            if "basef" in one
            else f"weights {' / '.join(f'{weight:g}' for weight in one['weights'])}"
        )
        where = (
            f"found on {' and '.join(one['sources'])}"
            if one["searched"]
            else ("its authors', not searched" if "basef" in one else "of another budget")
        )
        labels = f" with {one['budget']} labels" if "budget" in one else ""
        described.append(f"{one['name']}{labels}: {value}, {where}")
    return f"{'; '.join(described)}.\n"


def _dataset_table(record: Record) -> ResultTable:
    names = ("nodes", "edges", "features", "classes", "budget")
    rows = []
    for row in record["rows"]:
        for who in ("ours", "paper"):
            numbers = [_number(row[who][name]) for name in names]
            rows.append(
                (
                    row["graph"] if who == "ours" else "",
                    who,
                    *numbers,
                    "; ".join(row["reasons"]) if who == "ours" else "",
                )
            )
    return ResultTable("", ("graph", "", *names, "differences"), tuple(rows), text_columns=2)


def _statement_table(record: Record) -> ResultTable:
    rows = [
        (
            one["what"],
            "" if one["paper"] is None else str(one["paper"]),
            "not reached" if one["ours"] is None else str(one["ours"]),
        )
        for one in record["statements"]
    ]
    return ResultTable("What the text says", ("statement", "paper", "ours"), tuple(rows))


def _sequence_table(record: Record) -> ResultTable:
    scores = {result["name"]: result["micro_f1"] for result in record["parts"][0]["settings"][0]["results"]}
    rows = [
        (
            one["name"],
            _score(scores[one["name"]]["mean"], scores[one["name"]]["ci95"]),
            "" if one["paper_micro_f1"] is None else f"{one['paper_micro_f1']:.2f}",
            percent(one["same_class_in_runs"]),
            percent(one["same_class_in_sequence"]),
            _range(one["same_class_in_other_sequences"]),
            str(one["distinct_classes"]),
            " ".join(map(str, one["sequence"])),
        )
        for one in record["sequences"]
    ]
    columns = (
        "method",
        "Micro-F1",
        "paper",
        "one class twice in a row, in runs",
        "in the sequence",
        "from other seeds",
        "classes",
        "the node chosen most often at each step",
    )
    return ResultTable("What is asked", columns, tuple(rows))


def _unusual(classifier: Record) -> str:
    """The classifier's settings that are not the protocol's, how its training ended first."""
    unusual = unusual_settings("gcn", classifier)
    described = [f", {key} {value}" for key, value in unusual.items() if key not in _CLOSING]
    if "convergence" in unusual:
        described.insert(
            0, f", trained until the loss falls by less than {100 * unusual['convergence']:g} % in ten epochs"
        )
    elif "closing_epochs" in unusual:
        described.insert(0, f", {unusual['closing_epochs']} closing epochs")
    return "".join(described)


def _range(shares: Sequence[float]) -> str:
    return f"{100 * min(shares):.0f} to {100 * max(shares):.0f} %" if shares else ""


def graph_title(setting: Record) -> str:
    """The graph's name, with a word on its features where they are not its own."""
    return f"{setting['graph']} (structural features)" if setting["features"] == "structural" else str(setting["graph"])


def _score(mean: float, width: float | None, sign: bool = False) -> str:
    text = f"{mean:+.2f}" if sign else f"{mean:.2f}"
    return text if width is None else f"{text} ± {width:.2f}"


def p_value(value: float | None) -> str:
    """A p-value as a table shows it."""
    return "–" if value is None or math.isnan(value) else "< 0.0001" if value < 1e-4 else f"{value:.4f}"


def _number(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:,.1f}" if value != int(value) else f"{int(value):,}"
