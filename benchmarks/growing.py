"""A job of generated texts that gets 500 more after 50 labels, by the command line, and where the time goes.

    python benchmarks/growing.py [--first 2000 20000]
    python benchmarks/growing.py --page

It says how many of the new rows are predicted right, beside those that were there first, whether all labels are still
there, how long the command took, and, in seconds of the processor inside one process: the addition itself, making the
views of the grown graph anew, and the prediction that follows. *Taken back*: the prediction after an undo, which must be
that of before to the bit.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from machine import write_record

from nodewise.classifiers.views.views import Views
from nodewise.graph.tensors import GraphTensors
from nodewise.session import Session

RESULTS = Path(__file__).parent / "results" / "growing.json"
PAGE = Path(__file__).parents[1] / "docs" / "session.md"
CLASSES = ("sport", "money", "health", "travel")
LATER, LABELS = 500, 50
Found = TypeVar("Found")


def texts(count: int, seed: int) -> list[tuple[str, str]]:
    """Texts with their classes: each word is of its class's own fifty, of another's, or of a hundred that all use."""
    draw, rows = random.Random(seed), []
    for _ in range(count):
        kind = draw.choice(CLASSES)
        words = [
            f"{kind}{draw.randrange(50)}"
            if (where := draw.random()) < 0.25
            else f"{draw.choice(CLASSES)}{draw.randrange(50)}"
            if where < 0.5
            else f"word{draw.randrange(100)}"
            for _ in range(20)
        ]
        rows.append((" ".join(words), kind))
    return rows


def run(*arguments: str) -> float:
    """A command of nodewise; gives its seconds."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "nodewise", *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def timed(action: Callable[[], Found]) -> tuple[float, Found]:
    """Seconds that something took the processor, and what it gave."""
    start = time.process_time()
    found = action()
    return round(time.process_time() - start, 2), found


def measure(folder: Path, first: int, seed: int = 0) -> dict[str, Any]:
    """The job from its first row to the last."""
    rows = texts(first + LATER, seed)
    for name, some in (("first.csv", rows[:first]), ("later.csv", rows[first:])):
        with (folder / name).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([["text"], *([text] for text, _ in some)])
    job, graph = str(folder / "job.nodewise"), str(folder / "first.npz")
    run("convert", str(folder / "first.csv"), graph, "--knn", "10", "--text", "text")
    run("session", "new", job, graph, "--budget", "60", "--classes", ",".join(CLASSES))
    with Session.open(job) as session:
        for _ in range(LABELS):
            node = session.ask().node
            session.tell(node, rows[node][1])
        labels, before = session.labels, session.predict().probabilities
    command = run("session", "add", job, str(folder / "later.csv"))
    with Session.open(job) as session:
        grown, kept = session.graph, session.labels == labels
        session.add_rows([rows[0][0]])  # what is loaded once
        session.undo()
        making, _ = timed(lambda: GraphTensors(grown, "cpu").prepared_by(Views()))  # kept for the session
        predicting, predicted = timed(session.predict)
        again, adding = session.undo(), timed(lambda: session.add_rows([text for text, _ in rows[first:]]))[0]
        assert again.kind == "rows"
        session.undo()
        back, then = timed(session.predict)

    def right(start: int, end: int) -> float:
        judged = [node for node in range(start, end) if node not in labels]
        return round(100 * sum(predicted.names[node] == rows[node][1] for node in judged) / len(judged), 1)

    return {
        "first": first,
        "later": LATER,
        "labels": LABELS,
        "labels_kept": kept,
        "accuracy_first_rows": right(0, first),
        "accuracy_new_rows": right(first, first + LATER),
        "seconds_of_the_command": round(command, 2),
        "cpu_seconds_to_add": adding,
        "cpu_seconds_to_make_views": making,
        "cpu_seconds_to_predict": predicting,
        "cpu_seconds_to_predict_when_taken_back": back,
        "same_to_the_bit_when_taken_back": bool(np.array_equal(then.probabilities, before)),
    }


def table(record: dict[str, Any]) -> str:
    """What was measured, for the page."""
    machine = record["machine"]
    lines = [
        f"`benchmarks/growing.py`, one thread of a machine with {machine['cores']} cores ({machine['cpu']}, load"
        f" {record['load'][0]} at the end), commit {machine['commit']}; {LATER} generated texts after {LABELS} labels."
        " Seconds are the processor's.",
        "",
        "| texts first | labels still there | right, first rows | right, new rows | the addition |"
        " views made anew | predicted | after an undo |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in record["rows"][0]["jobs"]:
        same = "same to the bit" if row["same_to_the_bit_when_taken_back"] else "not the same"
        lines.append(
            f"| {row['first']:,} | {'all' if row['labels_kept'] else 'not all'} | {row['accuracy_first_rows']} % |"
            f" {row['accuracy_new_rows']} % | {row['cpu_seconds_to_add']} s |"
            f" {row['cpu_seconds_to_make_views']} s | {row['cpu_seconds_to_predict']} s | {same},"
            f" {row['cpu_seconds_to_predict_when_taken_back']} s |"
        )
    return "\n".join(lines)


def write_page() -> None:
    """Put the table into the page."""
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition("<!-- growing table -->")
    tail = rest.partition("<!-- end of growing table -->")[2]
    shown = table(json.loads(RESULTS.read_text(encoding="utf-8")))
    PAGE.write_text(f"{head}<!-- growing table -->\n{shown}\n<!-- end of growing table -->{tail}", encoding="utf-8")


def main() -> None:
    """Measures and writes JSON, or writes the page from it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, nargs="+", default=[2000, 20000], help="texts that the job begins with")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--page", action="store_true", help="write the page from the results there are")
    given = parser.parse_args()
    if not given.page:
        begin, rows = time.time(), []
        for first in given.first:
            with tempfile.TemporaryDirectory() as folder:
                os.environ["XDG_CACHE_HOME"] = folder  # nothing that was kept from before
                rows.append(measure(Path(folder), first))
                sys.stdout.write(json.dumps(rows[-1], indent=1) + "\n")
        write_record(given.out, "growing", begin, {"jobs": rows})
    write_page()


if __name__ == "__main__":
    main()
