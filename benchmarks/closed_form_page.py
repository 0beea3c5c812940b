"""The page on the closed form: tables from result files, and these from the lines that `closed_form.py` writes.

    python -m benchmarks.closed_form_page [--lines lines.jsonl …] [--copies copies.jsonl …]

Lines go to results/closed-form.json, each in place of what stood there for its graph and budget, with the machine and
the commit that it was measured with; then the pages are made from it.

It fills in docs/closed-form.md and README's table; `closed_form_search_page.py` tells how the setting was searched.
Lines hold every run: intervals and paired leads come from them. Constants come from the code.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.closed_form_result import (
    HALF,
    PER_CLASS,
    copied_at,
    interval,
    is_older,
    machine_of,
    read_result,
    rows_at,
    scores_at,
    summary,
    write_result,
)
from benchmarks.marks import fill
from nodewise.classifiers import Views
from nodewise.classifiers.views import construction, posterior, products, reduction
from nodewise.datasets import load_graph
from nodewise.evaluation.results.plots import new_figure, save_figure
from nodewise.graph.knn import neighbours
from nodewise.graph.tensors import GraphTensors
from nodewise.strategies import gain

HERE = Path(__file__).parent
RESULTS, DOCS = HERE / "results", HERE.parent / "docs"
RESULT = RESULTS / "closed-form.json"
PAPER_GRAPHS = ("cora", "citeseer", "pubmed", "coauthor-cs", "coauthor-physics")
UNCOUNTED = "94b31c9"
"""The commit of the first figures, before the gate's test counted one label more."""
OLDER = "†"


def measured_words(result: dict[str, Any]) -> str:
    """On which machine, at which commit what was measured: the most of it, then what was measured elsewhere."""
    lines = [_measured("Whole graphs", result, "at"), _measured("Copies", result, "copies")]
    return "\n".join(f"- {line}" for line in lines) + f"\n\n{version_words(result)}"


def _measured(what: str, result: dict[str, Any], part: str) -> str:
    """Where whole graphs or copies were measured."""
    places: dict[str, dict[str, list[str]]] = {}
    for name, record in result["graphs"].items():
        for per, at in (record["at"] if part == "at" else copied_at(record)).items():
            place = place_words(machine_of(result, record, at))
            places.setdefault(place, {}).setdefault(name, []).append(per)
    usual = max(places, key=lambda place: sum(map(len, places[place].values())))
    others = []
    for place, budgets_of in sorted(places.items()):
        if place != usual:
            by_budgets: dict[str, list[str]] = {}
            for name, budgets in budgets_of.items():
                by_budgets.setdefault(", ".join(budgets), []).append(name)
            said = [f"{', '.join(names)} at {budgets} labels a class" for budgets, names in by_budgets.items()]
            others.append(f"{' and '.join(said)} on {place}")
    rest = f"; {'; '.join(others)}" if others else ""
    before = ", when the gate's test did not yet count one label more" if usual.endswith(UNCOUNTED) else ""
    return f"{what}: on {usual}{before}{rest}."


def version_words(result: dict[str, Any]) -> str:
    """How many graphs have figures of today's version of `gain`, by budget, on the whole graph and on copies."""
    counts = []
    for per in PER_CLASS:
        rows = list(rows_at(result, per))
        new = sum(not is_older(machine_of(result, record, at)) for _, record, at in rows)
        copied = [(record, copied_at(record)[per]) for _, record, _ in rows if per in copied_at(record)]
        new_copied = sum(not is_older(machine_of(result, record, at)) for record, at in copied)
        of_copies = f" (copies: {new_copied} of {len(copied)})" if copied else ""
        counts.append(f"{new} of {len(rows)} graphs at {per}{of_copies}")
    few = {name: at["runs"]["gain"] for name, _, at in rows_at(result, "5") if at["runs"]["gain"] < 100}
    fewer = f" Fewer than 100 runs: {', '.join(f'{name} ({runs})' for name, runs in few.items())}." if few else ""
    return (
        f"Figures of today's `gain`, version {gain.Gain.version}: {', '.join(counts)} labels a class. What is older is"
        f" marked {OLDER} in the table of all graphs.{fewer}"
    )


def place_words(machine: dict[str, Any]) -> str:
    return f"{'a GPU' if 'gpu' in machine else 'a CPU'} at commit {machine['commit']}"


def main_table(result: dict[str, Any]) -> str:
    out = [
        "| graph | | labels | gain | random | lead | Macro-F1 of gain | gain, copies | random, copies | lead, copies |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, record, at in rows_at(result, "5"):
        chosen, random, lead, macro = at["micro_f1"]["gain"], at["micro_f1"]["random"], at["lead"], at["macro_f1_gain"]
        half = "developed on" if record["half"] == "developed_on" else "reported on"
        copies = record.get("copies", {}).get("at", {}).get("5")
        cells = [*best_marked([chosen, random]), f"{lead[0]:+.1f} ± {lead[1]:.1f}", f"{macro[0]:.1f}"]
        cells[0] += f" {OLDER}" if is_older(machine_of(result, record, at)) else ""
        if copies:
            own = best_marked([copies["gain"], copies["random"]])
            own[0] += f" {OLDER}" if is_older(machine_of(result, record, copies)) else ""
            cells += [*own, f"{copies['lead'][0]:+.1f} ± {copies['lead'][1]:.1f}"]
        out.append(f"| {name} | {half} | {at['labels']} | {' | '.join(cells + [''] * (7 - len(cells)))} |")
    return "\n".join(out)


def best_marked(scores: list[list[float] | float]) -> list[str]:
    """Scores as text, with their intervals where they have one, the best in bold."""
    means = [score[0] if isinstance(score, list) else score for score in scores]
    texts = [f"**{mean:.1f}**" if mean == max(means) else f"{mean:.1f}" for mean in means]
    return [
        f"{text} ± {score[1]:.1f}" if isinstance(score, list) else text
        for text, score in zip(texts, scores, strict=True)
    ]


def lowest_bound(leads: dict[str, list[float]]) -> str:
    """The lowest upper bound of a lead, and whose it is."""
    worst = min(leads, key=lambda name: sum(leads[name]))
    return f"{sum(leads[worst]):+.2f} ({worst})"


def budget_table(result: dict[str, Any]) -> str:
    out = [
        (
            "| labels a class | graphs | mean of gain | mean of random | mean lead | developed on | reported on |"
            " lowest upper bound of a lead | mean lead on copies | lowest upper bound on copies |"
        ),
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- | ---: | --- |",
    ]
    for per in PER_CLASS:
        rows = list(rows_at(result, per))
        if not rows:
            continue
        of_copies = {name: copied_at(record)[per]["lead"] for name, record, _ in rows if per in copied_at(record)}
        leads = {name: at["lead"] for name, _, at in rows}
        means = [np.mean([at["micro_f1"][s][0] for _, _, at in rows]) for s in ("gain", "random")]
        cells = [f"{np.mean([lead[0] for lead in leads.values()]):+.2f}"]
        for half in ("developed_on", "reported_on"):
            cells.append(f"{np.mean([lead[0] for name, lead in leads.items() if HALF[name] == half]):+.2f}")
        cells.append(lowest_bound(leads))
        if of_copies:
            mean = np.mean([lead[0] for lead in of_copies.values()])
            cells += [f"{mean:+.2f} ({len(of_copies)} graphs)", lowest_bound(of_copies)]
        first = f"| {per} | {len(leads)} | {means[0]:.1f} | {means[1]:.1f} |"
        out.append(f"{first} {' | '.join(cells + [''] * (6 - len(cells)))} |")
    return "\n".join(out)


def since_table(result: dict[str, Any]) -> str:
    """How far today's `gain` and random choice are ahead of version 1, on the copies and on whole graphs."""
    older = json.loads((RESULTS / "version-one.json").read_text())
    pers = ("1", "2", "5", "10")
    titles = [*(f"{per} a class" for per in pers), "1, 2 and 5 together", "graphs, at 5"]
    out = ["| | " + " | ".join(titles) + " |", "| --- |" + " ---: |" * len(titles)]
    for where, which in (("copies", "copies"), ("whole graphs", "whole")):
        for number, strategy in enumerate(("gain", "random")):
            ahead: dict[str, dict[str, float]] = {}
            for name, record in result["graphs"].items():
                at = copied_at(record) if which == "copies" else record["at"]
                for per in set(pers) & at.keys() & older[which].get(name, {}).keys():
                    now = at[per][strategy] if which == "copies" else at[per]["micro_f1"][strategy]
                    ahead.setdefault(per, {})[name] = now[0] - older[which][name][per][number]
            together = [
                float(np.mean([ahead[per][name] for per in pers[:3]])) for name in ahead["1"] if name in ahead["5"]
            ]
            cells = [_told(np.array(values)) for values in (*(list(ahead[per].values()) for per in pers), together)]
            out.append(f"| {strategy}, {where} | {' | '.join(cells)} | {len(ahead['5'])} |")
    return "\n".join(out)


def further_table() -> str:
    """Graphs that no search and no half has seen."""
    record = json.loads((RESULTS / "further-graphs.json").read_text())
    pers = ("1", "2", "5", "10")
    out = ["| graph | nodes | classes | " + " | ".join(f"{per} a class" for per in pers) + " |"]
    out.append("| --- | ---: | ---: |" + " ---: |" * len(pers))
    for name, graph in record["graphs"].items():
        at = [f"{one[0]:.1f} ({one[1]:+.1f})".replace("-", "−") for one in graph["at"].values()]
        cells = " | ".join([*at, *[""] * (len(pers) - len(at))])
        out.append(f"| {name} | {graph['nodes']:,} | {graph['classes']} | {cells} |")
    return "\n".join(out)


def _told(values: np.ndarray) -> str:
    mean, half = interval(values)
    return f"{mean:+.2f} ± {half:.2f}".replace("-", "−")


def area_table(result: dict[str, Any]) -> str:
    """The mean over the whole curve instead of one budget: people stop where they like."""
    out = [
        "| | graphs | mean of gain | mean of random | mean lead | lowest lead |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for title, half in (("all", None), ("developed on", "developed_on"), ("reported on", "reported_on")):
        areas = {
            name: own["area"] for name, own in result["graphs"].items() if "area" in own and half in (None, HALF[name])
        }
        ours, random, lead = (np.mean([one[what][0] for one in areas.values()]) for what in ("gain", "random", "lead"))
        worst = min(areas, key=lambda name: areas[name]["lead"][0])
        out.append(
            f"| {title} | {len(areas)} | {ours:.1f} | {random:.1f} | {lead:+.2f} "
            f"| {areas[worst]['lead'][0]:+.2f} ± {areas[worst]['lead'][1]:.2f} ({worst}) |"
        )
    new = [
        name for name, own in result["graphs"].items() if "curve_machine" in own and not is_older(own["curve_machine"])
    ]
    today = f"today's `gain`, version {gain.Gain.version}"
    if len(new) == sum("area" in own for own in result["graphs"].values()):
        return "\n".join([*out, "", f"All curves and areas are of {today}."])
    older = f"Curves and areas of {today}: {', '.join(new) or 'none'}."
    return "\n".join([*out, "", f"{older} All others are of older versions, older than the tables above."])


def behind_words(result: dict[str, Any]) -> str:
    """The graphs on which gain is behind random choice beyond chance, at one, two, five and ten labels a class."""
    out = []
    for per, words in (("1", "one label"), ("2", "two labels"), ("5", "five labels"), ("10", "ten labels")):
        behind = _behind({name: at["lead"] for name, _, at in rows_at(result, per)})
        out.append(f"- At {words} a class `gain` is behind random choice beyond chance on {behind}.")
    return "\n".join([*out, _behind_on_copies(result)])


def _behind_on_copies(result: dict[str, Any]) -> str:
    """The same on copies, by the figures of today's `gain` alone."""
    said, most = [], 0
    for per, words in (("1", "one"), ("2", "two"), ("5", "five"), ("10", "ten")):
        copied = {
            name: (record, copied_at(record)[per])
            for name, record, _ in rows_at(result, per)
            if per in copied_at(record)
        }
        leads = {
            name: at["lead"] for name, (record, at) in copied.items() if not is_older(machine_of(result, record, at))
        }
        most = max(most, len(leads))
        said.append(f"at {words} on {_behind(leads)}")
    return (
        f"- On copies, of the {most} graphs that today's `gain` was played on there, it is behind beyond chance"
        f" {', '.join(said)} (labels a class)."
    )


def _behind(leads: dict[str, list[float]]) -> str:
    found = [f"{name} ({lead[0]:+.1f} ± {lead[1]:.1f})" for name, lead in leads.items() if sum(lead) < 0]
    return ", ".join(found) or "no graph"


def calibration_words(result: dict[str, Any]) -> str:
    """What the result of ``calibration.py`` says, in sentences."""
    record = json.loads((RESULTS / "calibration.json").read_text())
    rows, whole = [row for row in record["rows"] if row["strategy"] == "gain"], record["all"]["gain"]
    above = {row["graph"]: row["above_0.9"]["right"] for row in rows if row["above_0.9"]["share_of_nodes"] > 0.01}
    errors = {row["graph"]: row["error"] for row in rows}
    low, best, worst = (
        min(above, key=above.__getitem__),
        min(errors, key=errors.__getitem__),
        max(errors, key=errors.__getitem__),
    )
    return (
        f"At five labels a class chosen by `gain`, {rows[0]['runs']} runs on each of {len(rows)} shared graphs"
        " (`benchmarks/calibration.py`, `benchmarks/results/calibration.json`; all nodes that were not asked):"
        f" {100 * whole['above_0.9']['right']:.0f} % of the predictions above 0.9 are right, and these are"
        f" {100 * whole['above_0.9']['share_of_nodes']:.0f} % of all; the expected calibration error is"
        f" {whole['error']:.3f} over all graphs together. Graph by graph it is worse, since graphs err in both"
        f" directions: {100 * np.mean(list(above.values())):.0f} % are right above 0.9 in the mean, fewer than 90 % on"
        f" {sum(v < 0.9 for v in above.values())} of the {len(above)}, the fewest on `{low}` ({100 * above[low]:.0f}"
        f" %), and the error is {np.mean(list(errors.values())):.3f} in the mean, between {errors[best]:.3f} (`{best}`)"
        f" and {errors[worst]:.3f} (`{worst}`).\n\n"
        + leave_one_out_words({row["graph"]: row["leave_one_out_minus_true_points"][0] for row in rows})
    )


def leave_one_out_words(bias: dict[str, float]) -> str:
    low, high = min(bias, key=bias.__getitem__), max(bias, key=bias.__getitem__)
    return (
        "The leave-one-out accuracy on the chosen labels lies below the true one on"
        f" {sum(v < 0 for v in bias.values())} of the {len(bias)} graphs, by up to {-bias[low]:.0f} points (`{low}`),"
        f" and above it by up to {bias[high]:.0f} (`{high}`); in the mean it is {np.mean(list(bias.values())):+.0f}"
        " points off. It is no estimate of the accuracy: an audit is."
    )


def paper_table(result: dict[str, Any]) -> str:
    out = [
        "| graph | random, GCN | best of the authors' policies, GCN | random, views | gain, views |"
        " random, views, copies | gain, views, copies |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    rows = json.loads((RESULTS / "reference.json").read_text())["rows"]
    for name in PAPER_GRAPHS:
        with_gcn = {row["policy"]: row["micro_f1"] for row in rows if row["graph"] == name}
        best = max(score for policy, score in with_gcn.items() if policy not in ("random", "centrality"))
        at = result["graphs"][name]["at"]["5"]["micro_f1"]
        copies = copied_at(result["graphs"][name]).get("5")
        of_copies = [copies["random"], copies["gain"]] if copies else []
        cells = best_marked([with_gcn["random"], best, at["random"], at["gain"], *of_copies])
        for place, measured in ((3, result["graphs"][name]["at"]["5"]), (5, copies)):
            if measured and is_older(machine_of(result, result["graphs"][name], measured)):
                cells[place] += f" {OLDER}"
        cells += [""] * (6 - len(cells))
        out.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(out)


EXPERIMENTS = (
    "same-domain",
    "cross-domain",
    "cross-domain-cora-pubmed",
    "cross-domain-citeseer-pubmed",
    "budgets",
    "budgets-cora",
)


def beyond_table(result: dict[str, Any]) -> str:
    """The paper's tables and curves with views and gain: a row for each of their settings that both were played on."""
    out = [
        "| place in the paper | graph | labels | GPA, printed | GPA, here | random, views | gain, views |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for experiment in EXPERIMENTS:
        record = json.loads((RESULTS / f"{experiment}.json").read_text())
        for setting in (setting for part in record["parts"] for setting in part["settings"]):
            known = re.sub(r"^reddit(\d)$", r"reddit1401-graph\1", setting["graph"])
            labels = str(setting["budget"])
            own = scores_at(result, known, labels)
            gpa = next(one for one in setting["results"] if one["name"] == "GPA")
            if own:
                printed = f"{gpa['paper']['micro_f1']:.1f}" if gpa["paper"] else ""
                cells = (
                    record["place"].split(",")[0],
                    setting["graph"],
                    labels,
                    printed,
                    f"{gpa['micro_f1']['mean']:.1f}",
                    f"{own['random']:.1f}",
                    f"{own['gain']:.1f}{f' {OLDER}' if own['older'] else ''}",
                )
                out.append(f"| {' | '.join(cells)} |")
    return "\n".join([*out, "", f"{OLDER}: of an older version of `gain` than today's {gain.Gain.version}."])


def constants_table() -> str:
    """The constants of views and gain, from the code that uses them."""
    views = Views().prepare(GraphTensors(load_graph("wine")))
    named = ", ".join(views.names)
    strengths = ", ".join(f"{ridge:g}" for ridge in posterior.RIDGES)
    rows = (
        ("views of a graph with features", f"{len(views.names)}: {named}"),
        ("directions of the features that are kept before they are diffused", f"{reduction.REDUCED}"),
        ("columns of a view", f"{construction.WIDTH}, or as many as `gain` looks at"),
        ("strengths r of the prior", strengths),
        (
            "sharpness s of the members' weights",
            f"{posterior._SHARPNESS:g}, less while labels are fewer than {posterior._RAMP:g}",
        ),
        (
            "usual temperature of probabilities, and the labels that it is worth",
            f"{posterior._SAID_TEMPERATURE:g}, {posterior._TEMPERATURE_LABELS:g}",
        ),
        ("usual temperature where labels are tested by each other", f"{posterior._USUAL_TEMPERATURE:g}"),
        ("views that `gain` looks at", f"the {gain._VIEWS} with most weight"),
        (
            "nodes that a node is joined to as kin",
            f"the {products.NEAREST} nearest; exactly these up to {neighbours.EXACT:,} nodes",
        ),
        (
            "leading columns of a view that `gain` looks at",
            f"{construction.LEADING}; with more than 25 classes up to {construction.MOST_LEADING}",
        ),
        ("standard errors that open the gate", f"{gain.GATE:g}"),
        ("nodes that the first question is drawn among", f"the {gain._FIRST} best"),
        ("queries a class in which the expected error decides", f"the first {gain._EARLY}, but for the very first"),
        ("candidates that it decides among", f"{gain._CANDIDATES}"),
        ("nodes that it is looked at on, at least", f"{gain._LOOKED_AT:,}, evenly spaced; all where there are fewer"),
    )
    return "\n".join(["| constant | value |", "| --- | --- |", *(f"| {what} | {value} |" for what, value in rows)])


def classes_table() -> str:
    """Many classes: views beside the GCN and the nearest labelled row."""
    record = json.loads((RESULTS / "many-classes.json").read_text())
    out = [
        "| classes | rows | runs | gain, views | random, views | random, GCN | random, nearest row |",
        "| ---: | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in record["rows"]:
        first, second = row["kind"].split(":")
        share = f"texts, {100 * float(second):.0f} % of the words their class's"
        what = share if first == "texts" else f"{first} columns, noise {second}"
        names = ("gain, views", "random, views", "random, gcn", "random, nearest row")
        cells = best_marked([row[name] for name in names if name in row])
        cells = [""] * (len(names) - len(cells)) + cells  # gain was not measured everywhere
        out.append(f"| {row['classes']} | {what} | {row['runs']} | {' | '.join(cells)} |")
    anew = " ".join(f"{', '.join(rows)}: commit {commit}." for commit, rows in _played_at(record["rows"]).items())
    return "\n".join([*out, "", classes_verdict(record["rows"]), "", f"Measured at: {anew}"])


def _played_at(rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Which rows were played at each commit: a number of classes as a whole where all of its rows were."""
    found: dict[str, list[str]] = {}
    for classes in dict.fromkeys(row["classes"] for row in rows):
        own = [row for row in rows if row["classes"] == classes]
        by_commit: dict[str, list[str]] = {}
        for row in own:
            by_commit.setdefault(row["machine"]["commit"], []).append(row["kind"])
        for commit, kinds in by_commit.items():
            what = f"{classes} classes" + ("" if len(kinds) == len(own) else f" ({' and '.join(kinds)})")
            found.setdefault(commit, []).append(what)
    return found


def classes_verdict(rows: list[dict[str, Any]]) -> str:
    """In how many rows `gain` is behind random choice, and `views` behind the others, beyond what chance explains."""

    def behind(name: str, other: str) -> str:
        both = [(np.append(row[name], 0.0)[:2], np.append(row[other], 0.0)[:2]) for row in rows if name in row]
        far = sum(bool(one[0] - two[0] < -np.hypot(one[1], two[1])) for one, two in both)
        return f"{far or 'none'} of {len(both)} rows"

    played = {(row["classes"], row["kind"]): "gain, views" in row for row in rows}
    grid = itertools.product(*(list(dict.fromkeys(row[name] for row in rows)) for name in ("classes", "kind")))
    missing = [
        f"{'`gain` with ' if both in played else ''}{both[0]} classes, {both[1]}"
        for both in grid
        if not played.get(both, False)
    ]
    return (
        f"Beyond chance `gain` is behind random choice in {behind('gain, views', 'random, views')}; at random, `views`"
        f" is behind the GCN in {behind('random, views', 'random, gcn')} and behind the nearest row in"
        f" {behind('random, views', 'random, nearest row')}."
        + (f" Not played: {'; '.join(missing)}." if missing else " All rows of the table were played.")
    )


def draw_curves(result: dict[str, Any]) -> None:
    """Micro-F1 over the number of labels on the paper's graphs."""
    figure = new_figure(10.5, 2.6)
    for number, name in enumerate(PAPER_GRAPHS):
        axis = figure.add_subplot(1, len(PAPER_GRAPHS), number + 1)
        for strategy, style in (("gain", "o-"), ("random", "s--")):
            curve = result["graphs"][name]["curve"][strategy]
            axis.plot([int(count) for count in curve], list(curve.values()), style, markersize=3, label=strategy)
        axis.set_title(name, fontsize=9)
        axis.set_xlabel("labels", fontsize=8)
        axis.tick_params(labelsize=7)
    figure.axes[0].set_ylabel("Micro-F1", fontsize=8)
    figure.axes[0].legend(fontsize=7)
    save_figure(figure, DOCS / "figures" / "closed-form.png")


def readme_block(result: dict[str, Any]) -> str:
    rows = list(rows_at(result, "5"))
    lead = np.mean([at["lead"][0] for _, _, at in rows])
    return "\n".join(
        [
            "## What it reaches",
            "",
            (
                "Micro-F1 with five labels a class, random splits, beside the paper's way (random choice and the best"
                " of the authors' policies with its GCN, 100 runs); the best of a row is bold. A strategy that hardly"
                " draws shares a graph's luck over its runs, so the last two columns are means over ten copies of the"
                f" graph, each with another fifth of its nodes left out, ± over copies ({OLDER}: of an older version of"
                f" `gain` than today's {gain.Gain.version}):"
            ),
            "",
            paper_table(result),
            "",
            (
                f"Over {len(rows)} graphs `gain` leads random choice with the same classifier by {lead:.1f} points on"
                " average. [docs/closed-form.md](docs/closed-form.md) says how it works,"
            ),
            "has every graph, and says which of them its one setting was developed on, and where it falls short.",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=Path, nargs="*", default=[])
    parser.add_argument("--copies", type=Path, nargs="*", default=[])
    given = parser.parse_args()
    if given.lines or given.copies:
        write_result(RESULT, summary(given.lines, given.copies, read_result(RESULT)))
    result = read_result(RESULT)
    draw_curves(result)
    fill(
        DOCS / "closed-form.md",
        {
            "constants": constants_table(),
            "main": main_table(result),
            "measured": measured_words(result),
            "classes": classes_table(),
            "budgets": budget_table(result),
            "paper": paper_table(result),
            "beyond": beyond_table(result),
            "area": area_table(result),
            "calibration": calibration_words(result),
            "behind": behind_words(result),
            "since": since_table(result),
            "further": further_table(),
        },
    )
    fill(HERE.parent / "README.md", {"closed-form": readme_block(result)})


if __name__ == "__main__":
    main()
