"""Labels that may be wrong: accuracy with and without trust, and how many mistakes are found by looking at few labels.

    python benchmarks/trust.py [--runs 100] [--data FOLDER] [--minutes 30]
    python benchmarks/trust.py --page

The rule (`nodewise.classifiers.views.trust`) was chosen on Citeseer, dblpv7, fb100-haverford76, airports-usa and
reddit1401-graph1: 22 variants, 40 runs of 2, 5 and 20 random labels a class, with right labels, 10 and 20 % of them
wrong, and 20 % of two classes' taken for each other. They were: noise and temperature fitted together (3), a fixed rate
of noise (3), the chance of a label divided by the likeliest class's (4), two of these with a gate of four thresholds on
the leave-one-out loss (8), and the same as a power that grows with the labels of the class (4). Taken was the one with
the least harm where labels are right: among the last four the weakest.

Whether a session doubts labels without being asked to is decided by the half of benchmarks/halves.json that is
developed on, by a rule that was written down before that half was played (`DEFAULT_RULE`). What is reported is measured
on the other half, once, without the two graphs of it on which the rule was chosen. In both halves graphs of more than
10,000 or less than 100 nodes are left out, and a number of labels that would be more than half of a graph's nodes.
Labels by random choice are fitted once; those by `gain` are asked one by one with the doubt in the loop. Test nodes are
all others, by their right labels. A mistake is looked for among 20 random labels a class, 50 of them looked at: those
that all others speak against, the least trusted first; beside it in the order of their numbers, which is how they were
listed before.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from machine import describe_machine

from nodewise.classifiers import Views
from nodewise.datasets import load_graph
from nodewise.environment import draw_splits, rollout
from nodewise.environment.protocol import EvaluationProtocol, ProtocolEnvironment, noisy_answers
from nodewise.evaluation import write_json
from nodewise.evaluation.results.statistics import confidence_interval
from nodewise.graph import read_graph
from nodewise.graph.tensors import GraphTensors
from nodewise.strategies import make_strategy

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "trust.json"
PAGE = ROOT / "docs" / "guides" / "trust.md"
HALVES = ROOT / "benchmarks" / "halves.json"
CHOSEN_ON = ("citeseer", "fb100-haverford76")
"""Graphs of the half that is reported on, on which the rule of trust was chosen."""
BY_GAIN = ("cora", "fb100-reed98", "polblogs")
SIZES = (100, 10_000)
MOST_HARM, MOST_HARM_OF_ONE = 0.1, 0.5
DEFAULT_RULE = (
    f"On by default if, over the domains that are developed on, each counting once, and both numbers of labels: labels"
    f" that are right lose at most {MOST_HARM} points on average and at most {MOST_HARM_OF_ONE} in any domain, and with"
    f" 10 % of any class wrong the average gain is above its 95 % interval."
)
LABELS = (5, 20)
LOOKED_AT = 50
NOISE = {
    "0": "none",
    "uniform 10": "10 %, any class",
    "uniform 20": "20 %, any class",
    "two 10": "10 % of two classes",
    "two 20": "20 % of two classes",
}


def noise_of(kind: str, tensors: GraphTensors) -> Any:
    """How often an answer is wrong: a rate, or a table [class, class] that takes the two largest for each other."""
    if kind == "0":
        return 0.0
    name, percent = kind.split()
    if name == "uniform":
        return int(percent) / 100
    table = np.eye(tensors.num_classes)
    first, second = np.argsort(-np.bincount(tensors.y.numpy(), minlength=tensors.num_classes))[:2]
    for one, other in ((first, second), (second, first)):
        table[one, one], table[one, other] = 1 - int(percent) / 100, int(percent) / 100
    return table


def by_chance(tensors: GraphTensors, kind: str, each: int, runs: int) -> dict[str, list[float]]:
    """Percent of the other nodes that are right with and without trust, and what is found by looking at few labels."""
    right = tensors.y.numpy()
    classes, count = tensors.num_classes, each * tensors.num_classes
    answers = noisy_answers(right, classes, noise_of(kind, tensors), 0, range(runs))
    rng = np.random.default_rng(each)
    nodes = np.sort(np.stack([rng.permutation(len(right))[:count] for _ in range(runs)]), 1)
    labels = np.take_along_axis(answers, nodes, 1)
    learner = Views().start(tensors.unlabelled, tensors.prepared_by(Views()), runs, classes, count)
    learner.reset(0)
    learner.add(torch.from_numpy(nodes), torch.from_numpy(labels))
    found: dict[str, list[float]] = {}
    for name, trust in (("without", None), ("with", np.ones(len(right), np.float32))):
        learner.set_trust(trust)
        hits = (learner.logits().argmax(-1).numpy() == right).astype(float)
        np.put_along_axis(hits, nodes, np.nan, 1)
        found[name] = [round(100 * value, 3) for value in np.nanmean(hits, 1).tolist()]
    learner.set_trust(None)
    left_out, doubted = learner.leave_one_out(), learner.label_trust().numpy()
    assert left_out is not None
    chance = np.take_along_axis(left_out.numpy(), labels[..., None], 2)[..., 0]
    against, wrong = left_out.numpy().argmax(-1) != labels, labels != right[nodes]
    found |= {"wrong": wrong.sum(1).tolist(), "by trust": [], "by number": []}
    for run in range(runs):
        listed = np.flatnonzero(against[run])
        order = listed[np.lexsort((chance[run, listed], doubted[run, listed]))]
        found["by trust"].append(int(wrong[run, order[:LOOKED_AT]].sum()))
        found["by number"].append(int(wrong[run, listed[:LOOKED_AT]].sum()))
    return found


def by_gain(tensors: GraphTensors, kind: str, each: int, runs: int) -> dict[str, list[float]]:
    """Micro-F1 on the test nodes after questions by gain, with and without trust."""
    found, splits = {}, draw_splits(tensors, runs, 0)
    budget = each * tensors.num_classes
    for name, trust in (("without", None), ("with", np.ones(tensors.num_nodes, np.float32))):
        protocol = EvaluationProtocol(noise=noise_of(kind, tensors))
        environment = ProtocolEnvironment(tensors, Views(), runs, budget, protocol)
        environment.learner.set_trust(trust)  # type: ignore[attr-defined]
        environment.set_up(0, range(runs), splits.pool)
        rollout(environment, make_strategy("gain"), splits, 0)
        found[name] = [round(100 * float(value), 3) for value in environment.score(splits.test).micro]
    return found


def graphs_of(half: str) -> dict[str, list[str]]:
    """Domain -> its graphs, of one half."""
    listed = json.loads(HALVES.read_text())[half]
    return {domain: [name for name in names if name not in CHOSEN_ON] for domain, names in listed.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path())
    parser.add_argument("--half", choices=("developed_on", "reported_on"), default="developed_on")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--gain-runs", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--page", action="store_true", help="write the tables of the page alone")
    given = parser.parse_args()
    if given.page:
        write_page(json.loads(given.out.read_text()))
        return
    record: dict[str, Any] = {"schema": 1, "seed": 0, "runs": given.runs, "gain_runs": given.gain_runs, "variants": 22}
    record |= {"default_rule": DEFAULT_RULE, "scores": {}}
    if given.out.is_file():
        record = json.loads(given.out.read_text())
    record["machine"] = describe_machine()
    until = time.monotonic() + 60 * given.minutes
    names = [name for listed in graphs_of(given.half).values() for name in listed]
    tasks = [(name, "random", each) for name in names for each in LABELS]
    if given.half == "reported_on":
        tasks += [(name, "gain", 5) for name in BY_GAIN]
    for name, choice, each in tasks:
        file = given.data / f"{name}.npz"
        tensors = GraphTensors(read_graph(file) if file.is_file() else load_graph(name))
        if not SIZES[0] <= tensors.num_nodes <= SIZES[1] or 2 * each * tensors.num_classes > tensors.num_nodes:
            continue
        for kind in NOISE:
            key = f"{name}, {choice}, {each}, {kind}"
            if key in record["scores"] or time.monotonic() > until:
                continue
            play, runs = (by_chance, given.runs) if choice == "random" else (by_gain, given.gain_runs)
            with torch.no_grad():
                record["scores"][key] = summed_up(play(tensors, kind, each, runs))
            write_json(given.out, record, compact=True)
            print(key, flush=True)
    if given.half == "developed_on":
        record["decision"] = decide(record["scores"])
        write_json(given.out, record, compact=True)
        print(json.dumps(record["decision"], indent=1))


def summed_up(found: dict[str, list[float]]) -> dict[str, float]:
    """What is kept of all runs: percent right without trust, what trust adds with its 95 % interval, mistakes found."""
    moved = confidence_interval((np.array(found["with"]) - np.array(found["without"])).tolist())
    means = {name: round(float(np.mean(values)), 3) for name, values in found.items() if name != "with"}
    return {**means, "adds": round(moved.mean, 4), "half_width": round(moved.half_width, 4)}


def change(scores: dict[str, Any], names: list[str], kind: str) -> float | None:
    """What trust adds on average over graphs and numbers of labels; None where nothing was measured."""
    keys = [f"{name}, random, {each}, {kind}" for name in names for each in LABELS]
    moved = [scores[key]["adds"] for key in keys if key in scores]
    return float(np.mean(moved)) if moved else None


def decide(scores: dict[str, Any]) -> dict[str, Any]:
    """What `DEFAULT_RULE` says of what was measured on the half that is developed on."""
    domains = graphs_of("developed_on")
    by_kind = {kind: {domain: change(scores, names, kind) for domain, names in domains.items()} for kind in NOISE}
    by_kind = {
        kind: {name: moved for name, moved in found.items() if moved is not None} for kind, found in by_kind.items()
    }
    right = list(by_kind["0"].values())
    wrong = confidence_interval(list(by_kind["uniform 10"].values()))
    on = np.mean(right) >= -MOST_HARM and min(right) >= -MOST_HARM_OF_ONE and wrong.mean > wrong.half_width
    return {"on": bool(on), "by_domain": by_kind}


def write_page(record: dict[str, Any]) -> None:
    """The tables of the page, from what was measured."""

    def cell(scores: dict[str, float]) -> str:
        return f"{scores['without']:.1f} {scores['adds']:+.1f} ± {scores['half_width']:.1f}"

    graphs = [name for listed in graphs_of("reported_on").values() for name in listed]
    heads = " | ".join(NOISE.values())
    lines = [f"| graph | questions by | labels a class | {heads} |", "| --- | --- | ---: |" + " ---: |" * len(NOISE)]
    tasks = [(name, "random", each) for name in graphs for each in LABELS] + [(name, "gain", 5) for name in BY_GAIN]
    for name, choice, each in tasks:
        rows = [record["scores"].get(f"{name}, {choice}, {each}, {kind}") for kind in NOISE]
        if any(rows):
            cells = " | ".join(cell(scores) if scores else "" for scores in rows)
            lines.append(f"| {name} | {choice} | {each} | {cells} |")
    said = (
        f"Percent right without trust, and what trust adds to it, with the 95 % interval of the difference;"
        f" {record['runs']} runs, with questions by gain {record['gain_runs']}."
    )
    found = [f"| graph | {heads} |", "| --- |" + " ---: |" * len(NOISE)]
    for name in graphs:
        rows = [record["scores"].get(f"{name}, random, 20, {kind}") for kind in NOISE]
        if any(rows):
            cells = [
                f"{one['by trust']:.1f}, {one['by number']:.1f} of {one['wrong']:.1f}" if one and one["wrong"] else ""
                for one in rows
            ]
            found.append(f"| {name} | {' | '.join(cells)} |")
    looked = (
        f"Wrong labels among the first {LOOKED_AT} of the list of likely mistakes, by trust and in the"
        " order of the rows,"
        " of all wrong labels there are; 20 labels a class."
    )
    text, begin, end = PAGE.read_text(), "<!-- figures:begin -->", "<!-- figures:end -->"
    before, after = text.split(begin)[0], text.split(end)[1]
    tables = "\n".join([*decision_lines(record), "", said, "", *lines, "", looked, "", *found])
    PAGE.write_text(f"{before}{begin}\n{tables}\n{end}{after}")


def decision_lines(record: dict[str, Any]) -> list[str]:
    """What the half that is developed on says about the default, as a table."""
    decision, domains = record["decision"], sorted(record["decision"]["by_domain"]["0"])
    lines = [
        f"The default was decided by a rule that was written down first. {record['default_rule']} It says:"
        f" **{'on' if decision['on'] else 'off'}**. What trust adds on that half, in points:",
        "",
        f"| wrong labels | {' | '.join(domains)} | average |",
        "| --- |" + " ---: |" * (len(domains) + 1),
    ]
    for kind, words in NOISE.items():
        found = decision["by_domain"][kind]
        average = confidence_interval(list(found.values()))
        cells = " | ".join(f"{found[domain]:+.2f}" if domain in found else "" for domain in domains)
        lines.append(f"| {words} | {cells} | {average.mean:+.2f} ± {average.half_width:.2f} |")
    return lines


if __name__ == "__main__":
    main()
