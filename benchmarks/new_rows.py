"""Rows that were not in the graph: how well a fitted learner predicts them, how fast, in how much memory.

    python benchmarks/new_rows.py [--runs 5] [--rows 1000000] [--texts cora-texts.npz]
    python benchmarks/new_rows.py --page

A fifth of the rows is held out, five labels a class are drawn among the others. *New*: the held-out rows predicted by a
learner fitted without them. *Inside*: the same rows as nodes of the whole graph, the same labels. Beside them k-NN (the
best of 1, 3, 5, 10 neighbours on the held-out rows themselves, which favours it) and logistic regression on the same
labels. The million rows are digits with noise, in one .npy file, predicted into a CSV file by ``nodewise predict``.
Rows a second are counted in processor time of one thread, so that others' work on the machine does not count.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from machine import write_record

import nodewise as nw

RESULTS = Path(__file__).parent / "results" / "new-rows.json"
PAGE = Path(__file__).parents[1] / "docs" / "guides" / "fitted.md"
_LABELS = 5

_STREAM = """
import sys, time
from pathlib import Path
from nodewise.cli.app import main
begin = time.process_time()
code = main(["predict", sys.argv[1], sys.argv[2], "--out", sys.argv[3], "--quiet"])
assert code == 0, code
highest = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(time.process_time() - begin, highest.split()[1])
"""
"""The command, and its own highest memory: that of `getrusage` begins with what the process that started it had."""


def split(y: Any, seed: int) -> tuple[Any, Any, Any]:
    """Rows that stay, rows held out, and the labelled ones among those that stay."""
    draws = np.random.default_rng(seed)
    order = draws.permutation(len(y))
    out, stay = np.sort(order[: len(y) // 5]), np.sort(order[len(y) // 5 :])
    labelled = [draws.permutation(stay[y[stay] == each])[:_LABELS] for each in np.unique(y)]
    return stay, out, np.sort(np.concatenate(labelled))


def rivals(x: Any, y: Any, labelled: Any, out: Any) -> dict[str, float]:
    """Accuracy of k-NN and logistic regression on the same labels."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.preprocessing import normalize

    x = normalize(x)
    near = [
        KNeighborsClassifier(k, metric="cosine", algorithm="brute").fit(x[labelled], y[labelled]).score(x[out], y[out])
        for k in (1, 3, 5, 10)
    ]
    logistic = LogisticRegression(C=10, max_iter=2000).fit(x[labelled], y[labelled])
    return {"knn": 100 * max(near), "logistic": 100 * logistic.score(x[out], y[out])}


def one_run(
    y: Any, seed: int, whole: nw.Graph, part: Callable[[Any], nw.Graph], predict: Any, x: Any
) -> dict[str, Any]:
    """Figures of one draw."""
    stay, out, labelled = split(y, seed)
    place = {int(node): i for i, node in enumerate(stay)}
    classes = [str(each) for each in np.unique(y)]
    fitted = nw.fit(part(stay), {place[int(i)]: str(y[i]) for i in labelled}, classes=classes)
    inside = nw.fit(whole, {int(i): str(y[i]) for i in labelled}, classes=classes)
    fitted.predict(*predict(out[:1], place)[0], **predict(out[:1], place)[1])  # what is made once
    begin = time.process_time()
    found = fitted.predict(*predict(out, place)[0], **predict(out, place)[1])
    seconds = time.process_time() - begin
    truth = y[out].astype(str)
    right = np.array(found.labels) == truth
    return {
        "new": 100 * right.mean(),
        "inside": 100 * (np.array(inside.predict().labels)[out] == truth).mean(),
        "confidence": 100 * float(found.probabilities.max(1).mean()),
        "unlike": int(found.unlike.sum()),
        "rows_a_second": len(out) / seconds,
        **rivals(x, y, labelled, out),
    }


def digits() -> tuple[Any, ...]:
    graph = nw.load_graph("digits")
    x = np.asarray(graph.x)
    return graph.y, nw.knn_graph(x, 10), lambda stay: nw.knn_graph(x[stay], 10), lambda out, _: ((x[out],), {}), x


def texts(path: Path) -> tuple[Any, ...]:
    with np.load(path, allow_pickle=False) as file:
        held, y = [str(text) for text in file["texts"]], file["y"].astype(int)
    whole = nw.Graph.from_texts(held, k=10)
    return (
        y,
        whole,
        lambda stay: nw.Graph.from_texts([held[i] for i in stay], k=10),
        lambda out, _: (([held[i] for i in out],), {}),
        whole.x,
    )


def cora() -> tuple[Any, ...]:
    graph = nw.load_graph("cora")
    adjacency = graph.adjacency().tocsr()

    def part(stay: Any) -> nw.Graph:
        index = np.full(graph.num_nodes, -1)
        index[stay] = np.arange(len(stay))
        edges = index[graph.edge_index]
        return replace(
            graph, edge_index=edges[:, (edges >= 0).all(0)], num_nodes=len(stay), x=graph.x[stay], y=None, extra={}
        )

    def rows(out: Any, place: dict[int, int]) -> Any:
        near = [[place[int(j)] for j in adjacency[i].indices if int(j) in place] for i in out]
        return (graph.x[out],), {"neighbours": near}

    return graph.y, graph, part, rows, graph.x


def stream(rows: int) -> list[dict[str, Any]]:
    """Seconds and memory of so many rows, and of a hundredth of them, each in a process of its own."""
    graph = nw.load_graph("digits")
    x = np.asarray(graph.x)
    fitted = nw.fit(nw.knn_graph(x, 10), {int(i): int(graph.y[i]) for i in range(100)})
    figures = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fitted.save(folder / "m.fitted")
        for number in (rows // 100, rows):
            held = np.lib.format.open_memmap(folder / "rows.npy", "w+", np.float32, (number, x.shape[1]))
            draws = np.random.default_rng(0)
            for first in range(0, number, 10_000):
                some = slice(first, min(first + 10_000, number))
                chosen = x[draws.integers(0, len(x), some.stop - first)]
                held[some] = np.maximum(chosen + draws.normal(0, 1, chosen.shape), 0)
            held.flush()
            arguments = [folder / "m.fitted", folder / "rows.npy", folder / "out.csv"]
            done = subprocess.run(
                [sys.executable, "-c", _STREAM, *map(str, arguments)], stdout=subprocess.PIPE, text=True, check=True
            )
            seconds, memory = map(float, done.stdout.split())
            written = sum(1 for _ in (folder / "out.csv").open()) - 1
            assert written == number
            figures.append({"rows": number, "rows_a_second": number / seconds, "megabytes": memory / 1024})
    return figures


def page() -> None:
    """Writes the figures into the guide."""
    whole_record = json.loads(RESULTS.read_text(encoding="utf-8"))
    record, machine = whole_record["rows"][0], whole_record["machine"]
    lines = [
        (
            f"Accuracy in percent on a fifth of the rows that was held out, {_LABELS} labels a class drawn"
            f" among the others, mean over {record['runs']} draws. *Inside*: the same rows"
        ),
        (
            "as nodes of the whole graph. k-NN has the best of 1, 3, 5 and 10 neighbours, chosen on the"
            " held-out rows themselves. *Confidence*: the mean probability of the predicted class."
            " *Unlike*:"
        ),
        "held-out rows that were called like nothing seen.",
        "",
        "| rows | new rows | inside the graph | k-NN | logistic regression | confidence | unlike | rows a second |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, runs in record["accuracy"].items():
        mean = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
        cells = [f"{mean[key]:.1f}" for key in ("new", "inside", "knn", "logistic", "confidence", "unlike")]
        lines.append(f"| {name} | {' | '.join(cells)} | {mean['rows_a_second']:,.0f} |")
    lines += ["", "| rows of one file | rows a second | memory at its highest, MB |", "| ---: | ---: | ---: |"]
    lines += [
        f"| {each['rows']:,} | {each['rows_a_second']:,.0f} | {each['megabytes']:,.0f} |" for each in record["stream"]
    ]
    lines += [
        "",
        f"Seconds are processor time of one thread, on a machine with {machine['cores']} cores that others used as well"
        " (`benchmarks/new_rows.py`).",
    ]
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition("<!-- new_rows:begin -->\n")
    after = rest.partition("<!-- new_rows:end -->")[2]
    whole = "\n".join(lines)
    PAGE.write_text(f"{before}<!-- new_rows:begin -->\n{whole}\n<!-- new_rows:end -->{after}", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--texts", type=Path, help="an npz file with texts and y")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--page", action="store_true", help="write the figures into the guide; nothing is measured")
    arguments = parser.parse_args()
    if arguments.page:
        page()
        return
    begin = time.time()
    sets = {"digits": digits, "cora": cora}
    if arguments.texts:
        sets["cora-texts, TF-IDF"] = lambda: texts(arguments.texts)
    accuracy: dict[str, Any] = {}
    for name, make in sets.items():
        y, whole, part, rows, x = make()
        accuracy[name] = [one_run(y, seed, whole, part, rows, x) for seed in range(arguments.runs)]
        print(name, {key: round(float(np.mean([run[key] for run in accuracy[name]])), 1) for key in accuracy[name][0]})
    streamed = stream(arguments.rows)
    print(streamed)
    row = {"runs": arguments.runs, "labels_a_class": _LABELS, "accuracy": accuracy, "stream": streamed}
    write_record(arguments.out, "new_rows", begin, row)


if __name__ == "__main__":
    main()
