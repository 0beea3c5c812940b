"""What a model's answers are worth: Micro-F1 over the number of labels with and without them.

    python benchmarks/suggestions.py [--runs 20] [--file cora-texts.npz] [--minutes 30]
    python benchmarks/suggestions.py --page

Played on a graph whose file holds a real language model's answers (`model_answer`), with `views`, by `gain` and by
random choice: without the answers; with them; with the same answers shuffled, which is a model that knows nothing; and
with the answers of a model that takes two classes for each other and is right of all others as often as the real one.
All runs of a setting are one batch, on the same splits. Goes on where it was stopped.

The constants `MODEL_LEAD`, `MODEL_LABELS`, `MODEL_PROOF` and `MODEL_DOUBT` were chosen on Citeseer and fb100-reed98
with made answers (right for two of three nodes, with mistakes of each class's own; shuffled; two classes taken for each
other), ten runs each, and `MODEL_LABELS` again on Citeseer with 30; the tables of these had rows of cora-texts beside
them. That `gain` asks by people's labels alone was chosen by benchmarks/suggestions_real.py (before, by made answers,
that it asks with the models: benchmarks/suggestions_choice.py), that a model's centre must beat 1/C as well as the
shares with benchmarks/suggestions_belief.py, which says why its rule was not followed.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from machine import describe_machine

from nodewise.classifiers import Views
from nodewise.datasets import load_graph
from nodewise.environment import Environment, draw_splits, rollout
from nodewise.evaluation import write_json
from nodewise.evaluation.results.statistics import Interval, confidence_interval
from nodewise.graph import Graph, read_graph
from nodewise.graph.tensors import GraphTensors
from nodewise.ground.events import percent
from nodewise.strategies import make_strategy

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "suggestions.json"
PAGE = ROOT / "docs" / "guides" / "suggestions.md"
COUNTS = (0, 7, 14, 35, 70)
MODELS = {
    "none": "without a model",
    "real": "with the language model",
    "shuffled": "answers shuffled",
    "two": "two classes taken for each other",
}


def begin_games(words: str | None, results: Path, runs: int) -> tuple[argparse.Namespace, dict[str, Any]]:
    """The options of a script that plays games until its time is up, and its record: what it left, or a new one."""
    parser = argparse.ArgumentParser(description=words, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path())
    parser.add_argument("--runs", type=int, default=runs)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--out", type=Path, default=results)
    given = parser.parse_args()
    record: dict[str, Any] = {"schema": 1, "seed": 0, "runs": given.runs, "scores": {}}
    if given.out.is_file():
        record = json.loads(given.out.read_text())
    return given, {**record, "machine": describe_machine()}


def graph_at(folder: Path, name: str) -> Graph:
    """A graph by its name, from a folder where it is there."""
    file = folder / f"{name}.npz"
    return read_graph(file) if file.is_file() else load_graph(name)


def answers_of(model: str, real: np.ndarray, y: np.ndarray, classes: int) -> np.ndarray | None:
    """What a model says: [model, node, class]; None where there is none."""
    rng = np.random.default_rng(0)
    said = real.copy()
    if model == "none":
        return None
    if model == "shuffled":
        said = rng.permutation(said)
    if model == "two":
        first, second = rng.permutation(classes)[:2]
        said[y == first], said[y == second] = second, first
    table = np.zeros((1, len(said), classes), np.float32)
    spoken = np.flatnonzero(said >= 0)
    table[0, spoken, said[spoken]] = 1
    return table


class Asked(NamedTuple):
    """What runs asked: the nodes in their order, [run, label], and those that they are scored on, [run, node]."""

    nodes: torch.Tensor
    test: torch.Tensor


def asked(tensors: GraphTensors, strategy: str, runs: int, most: int) -> Asked:
    """What a strategy asks without a model; gain and random choice ask the same with one."""
    environment, splits = Environment.of(tensors, Views(), runs, most), draw_splits(tensors, runs, 0)
    rollout(environment, make_strategy(strategy), splits, 0)
    return Asked(environment.learner.posterior.labels()[0], splits.test)  # type: ignore[attr-defined]


def scored(
    tensors: GraphTensors, answers: np.ndarray | None, runs: Asked, counts: tuple[int, ...] = COUNTS
) -> dict[str, list[float]]:
    """Micro-F1 on the test nodes, in percent, of every run at each number of labels."""
    learner = Views().start(
        tensors.unlabelled, tensors.prepared_by(Views()), len(runs.nodes), tensors.num_classes, max(counts)
    )
    learner.set_suggestions(answers)
    found, done = {}, 0
    for count in counts:
        more = runs.nodes[:, done:count]
        learner.add(more, tensors.y[more])
        done = count
        right = (learner.logits().argmax(-1) == tensors.y).double().gather(1, runs.test)
        found[str(count)] = [round(100 * float(value), 2) for value in right.mean(1)]
    return found


def play(
    tensors: GraphTensors, answers: np.ndarray | None, strategy: str, runs: int, counts: tuple[int, ...] = COUNTS
) -> dict[str, list[float]]:
    """The same where the strategy asks with the model in the learner."""
    environment = Environment.of(tensors, Views(), runs, max(counts))
    environment.learner.set_suggestions(answers)  # type: ignore[attr-defined]
    splits, found = draw_splits(tensors, runs, 0), {}

    def look(done: int) -> None:
        if done in counts:
            found[str(done)] = [round(100 * float(value), 2) for value in environment.score(splits.test).micro]

    with torch.no_grad():
        environment.reset(0, splits)
        look(0)
    rollout(environment, make_strategy(strategy), splits, 0, look)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", type=Path, default=Path("cora-texts.npz"))
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=1e9)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--page", action="store_true", help="write the table of the page alone")
    given = parser.parse_args()
    if given.page:
        write_page(json.loads(given.out.read_text()))
        return
    graph, real = read_graph(given.file), np.load(given.file, allow_pickle=False)["model_answer"].astype(np.int64)
    assert graph.y is not None
    tensors = GraphTensors(graph)
    record: dict[str, Any] = {"schema": 1, "graph": graph.name, "runs": given.runs, "scores": {}}
    if given.out.is_file() and (kept := json.loads(given.out.read_text()))["runs"] == given.runs:
        record = kept
    record |= {"machine": describe_machine(), "model_right": round(100 * float((real == graph.y).mean()), 1)}
    until = time.monotonic() + 60 * given.minutes
    for strategy in ("gain", "random"):
        keys = {f"{strategy} {model}": model for model in MODELS if f"{strategy} {model}" not in record["scores"]}
        if not keys or time.monotonic() > until:
            continue
        labels = asked(tensors, strategy, given.runs, max(COUNTS))
        for key, model in keys.items():
            record["scores"][key] = scored(tensors, answers_of(model, real, graph.y, graph.num_classes), labels)
            write_json(given.out, record, compact=True)
            print(key, flush=True)


def write_page(record: dict[str, Any]) -> None:
    """The table of the page, from what was measured."""
    lines = ["| questions by | model | " + " | ".join(f"{count} labels" for count in COUNTS) + " |"]
    lines.append("| --- | --- |" + " ---: |" * len(COUNTS))
    for strategy in ("gain", "random"):
        for model, words in MODELS.items():
            if f"{strategy} {model}" not in record["scores"]:
                continue
            cells = []
            for count in COUNTS:
                values = record["scores"][f"{strategy} {model}"][str(count)]
                interval = confidence_interval(values)
                cells.append(f"{interval.mean:.1f} ± {interval.half_width:.1f}")
            lines.append(f"| {strategy} | {words} | " + " | ".join(cells) + " |")
    said = (
        f"Micro-F1 in percent on {record['graph']} with a real language model's answers, {record['model_right']} %"
        f" of them right; {record['runs']} runs on the same splits, ± is the 95 % interval."
    )
    text, begin, end = PAGE.read_text(), "<!-- figures:begin -->", "<!-- figures:end -->"
    before, after = text.split(begin)[0], text.split(end)[1]
    table = "\n".join(lines)
    PAGE.write_text(f"{before}{begin}\n{said}\n\n{table}\n\n{differences(record)}\n\n{choices()}\n{end}{after}")


def real_choice() -> str:
    """What the forms added to none with real models' answers on other graphs, as a table."""
    record = json.loads((RESULTS.parent / "suggestions-real.json").read_text())
    right = [right for right, _, plays in record["right"].values() if plays]
    lines = [
        f"With real models' answers on other graphs ({record['runs']} runs,"
        " `benchmarks/results/suggestions-real.json`): classifiers trained on another graph of the same kind, right"
        f" about {min(right):.0f} to {max(right):.0f} % of the nodes; {len(right)} pairs of graphs."
        f" When `gain` asks by what is predicted with the model; *{record['taken']}* was taken. Points above none,"
        " averaged over the pairs, ± is the standard error; on how many pairs a form lies below none by more than"
        " 1.96 standard errors at 5 and at 10 labels a class:",
        "",
        "| form | 1 label a class | 2 labels | 5 labels | 10 labels | pairs below |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for form, found in record["means"].items():
        cells = [
            f"{mean:+.1f} ± {error:.1f}"
            for mean, error in zip(found["above none"], found["standard errors"], strict=True)
        ]
        lines.append(f"| {form} | {' | '.join(cells)} | {', '.join(map(str, found['pairs below none']))} |")
    return "\n".join(lines)


def choices() -> str:
    """What the forms that were tried on other graphs added to none, as tables."""
    tried = {
        "suggestions-choice.json": "`gain` asks by what is predicted with the model: always, never,"
        " with the views weighed by people's labels alone, and so that these take over as labels come",
        "suggestions-belief.json": "what a model's centre must beat: the shares, or 1/C as well (both; taken),"
        " by 1 or 2 standard errors; steep: each that is missing costs twice as much",
    }
    parts = [real_choice()]
    for name, words in tried.items():
        record = json.loads((RESULTS.parent / name).read_text())
        parts.append(
            f"On other graphs with made answers ({record['runs']} runs, `benchmarks/results/{name}`),"
            f" {words}. Points above"
            " none at 1, 2, 5 and 10 labels a class, averaged over the graphs:\n\n| form | answers"
            " shuffled | other models"
            " |\n| --- | --- | --- |"
        )
        for form, means in record["means"].items():
            shuffled, useful = ([f"{value:+.1f}" for value in means[kind]] for kind in ("shuffled", "useful"))
            parts[-1] += f"\n| {form} | {', '.join(shuffled)} | {', '.join(useful)} |"
    return "\n\n".join([*parts, sureness()])


def sureness() -> str:
    """How sure predictions are said to be while a model speaks, by the forms that were tried, as a table."""
    record = json.loads((RESULTS.parent / "suggestions-sure.json").read_text())
    lines = [
        f"How sure predictions are said to be while labels are few ({record['runs']} runs,"
        " `benchmarks/results/suggestions-sure.json`; rule: `benchmarks/suggestions_sure.py`): Brier score,"
        f" less is better, over no, one and two random labels a class; *{record['taken']}* was taken:",
        "",
        "| form | mean | WebKB, last year's classifier | digits, made answers | airports, made answers |"
        " most that shuffled answers cost |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for form, row in record["means"].items():
        cells = [f"{row[key]:.3f}" for key in ("mean", "webkb", "digits", "airports", "shuffled")]
        lines.append(f"| {form} | {' | '.join(cells)} |")
    reported = record["reported"]
    before, now = (reported["scores"][form] for form in ("as it is", record["taken"]))
    words = ", ".join(
        f"{words} {old[1]:.2f} → {new[1]:.2f} where {percent(new[2])} are right (Brier score"
        f" {old[0]:.3f} → {new[0]:.3f})"
        for words, old, new in zip(("no label", "one a class", "two a class"), before, now, strict=True)
    )
    lines += ["", f"On {reported['graph']}, looked at once, the mean probability of what is predicted: {words}."]
    return "\n".join(lines)


def differences(record: dict[str, Any]) -> str:
    """What each model adds to none on the same splits, as a table."""
    lines = ["What each adds to none on the same splits, in points:", ""]
    lines.append("| questions by | model | " + " | ".join(f"{count} labels" for count in COUNTS[1:]) + " |")
    lines.append("| --- | --- |" + " ---: |" * (len(COUNTS) - 1))
    scores = record["scores"]
    for strategy in ("gain", "random"):
        for model, words in MODELS.items():
            key, none = f"{strategy} {model}", f"{strategy} none"
            if model == "none" or key not in scores or none not in scores:
                continue
            moved = [_moved(scores[key], scores[none], count) for count in COUNTS[1:]]
            lines.append(f"| {strategy} | {words} | {_cells(moved)} |")
    before = record.get("asked_with", {})
    for model, found in before.get("scores", {}).items():
        moved = [_moved(found, scores["gain none"], count) for count in COUNTS[1:]]
        lines.append(f"| gain, asked with it (at {before['commit']}) | {MODELS[model]} | {_cells(moved)} |")
    return "\n".join(lines)


def _moved(some: dict[str, list[float]], none: dict[str, list[float]], count: int) -> Interval:
    """What one setting has more than another at a number of labels."""
    return confidence_interval((np.array(some[str(count)]) - np.array(none[str(count)])).tolist())


def _cells(moved: list[Interval]) -> str:
    return " | ".join(f"{one.mean:+.2f} ± {one.half_width:.2f}" for one in moved)


if __name__ == "__main__":
    main()
