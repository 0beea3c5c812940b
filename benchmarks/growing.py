"""A job of 2,000 generated texts that gets 500 more after 50 labels, by the command line.

    python -m benchmarks.growing [--out growing.json]

It says how many of the new rows are predicted right, beside those that were there first, how long the addition took,
and whether all labels are still there.
"""

from __future__ import annotations

import argparse
import csv
import json
import platform
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from nodewise.session import Session

CLASSES = ("sport", "money", "health", "travel")
FIRST, LATER, LABELS = 2000, 500, 50


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


def measure(folder: Path, seed: int = 0) -> dict[str, object]:
    """The job from its first row to the last."""
    rows = texts(FIRST + LATER, seed)
    for name, some in (("first.csv", rows[:FIRST]), ("later.csv", rows[FIRST:])):
        with (folder / name).open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([["text"], *([text] for text, _ in some)])
    job = str(folder / "job.nodewise")
    run("convert", str(folder / "first.csv"), str(folder / "first.npz"), "--knn", "10", "--text", "text")
    run("session", "new", job, str(folder / "first.npz"), "--budget", "60", "--classes", ",".join(CLASSES))
    with Session.open(job) as session:
        for _ in range(LABELS):
            node = session.ask().node
            session.tell(node, rows[node][1])
        labels = session.labels
    seconds = run("session", "add", job, str(folder / "later.csv"))
    with Session.open(job) as session:
        start = time.perf_counter()
        names = session.predict().names
        predicting = time.perf_counter() - start
        kept = session.labels == labels

    def right(first: int, end: int) -> float:
        judged = [node for node in range(first, end) if node not in labels]
        return 100 * sum(names[node] == rows[node][1] for node in judged) / len(judged)

    return {
        "machine": platform.platform(),
        "seed": seed,
        "labels": LABELS,
        "labels_kept": kept,
        "seconds_to_add": round(seconds, 2),
        "seconds_to_predict": round(predicting, 2),
        "accuracy_first_rows": round(right(0, FIRST), 1),
        "accuracy_new_rows": round(right(FIRST, FIRST + LATER), 1),
    }


def main() -> None:
    """Measures, and writes JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="where the figures go; to the screen without it")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = json.dumps(measure(Path(folder)), indent=1)
    if given.out is None:
        sys.stdout.write(text + "\n")
    else:
        given.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
