"""A CSV of texts, through `convert --knn`, `session new`, its first questions.

Time and memory of every stage, beside an older state of the code.

    python benchmarks/texts.py [--rows 200000] [--before DIR]

Texts are drawn: 60,000 words by Zipf's law, ten topics that prefer a few hundred words each, 20 to 600 words a text,
110 on average. Each command is a process of its own. With `--before`, the root of a checkout, its commands do the same,
in turns.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from machine import describe_machine

RESULTS = Path(__file__).parent / "results" / "texts.json"


def write_texts(path: Path, rows: int, seed: int = 0) -> None:
    """A table of names, texts and topics."""
    generator = np.random.default_rng(seed)
    size = 60_000
    words = np.array(
        ["".join(generator.choice(list("aeioubcdfghlmnprst"), 2 + number % 7)) + str(number) for number in range(size)]
    )
    usual = 1 / (np.arange(size) + 2.7)
    topics = []
    for _ in range(10):
        weight = usual.copy()
        weight[generator.choice(np.arange(100, 8000), 300, replace=False)] *= 25
        topics.append(np.cumsum(weight / weight.sum()))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", "topic"])
        for row in range(rows):
            topic = int(generator.integers(10))
            length = int(np.clip(generator.lognormal(4.5, 0.6), 20, 600))
            drawn = np.minimum(np.searchsorted(topics[topic], generator.random(length)), size - 1)
            writer.writerow([f"text {row}", " ".join(words[drawn]), f"topic {topic}"])


COMMANDS = """
from nodewise.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
"""

LIBRARY = """
from pathlib import Path
from nodewise.graph import read_graph, write_graph
from nodewise.session import Session
stage, table, graph, job = sys.argv[1:]
if stage.startswith("convert"):
    try:
        from nodewise.graph.knn.knn import graph_from_things
    except ImportError:
        from nodewise.graph.knn import graph_from_things
    write_graph(graph_from_things(Path(table), knn=10, text="text", label="topic"), Path(graph))
elif stage == "session new":
    Session.create(job, read_graph(Path(graph)), source=Path(graph), budget=50).close()
else:
    Session.open(job).ask(1 if "first" in stage else 2)
"""

MEASURED = """
usage = resource.getrusage(resource.RUSAGE_SELF)
print('measured', time.perf_counter() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e6, file=sys.stderr)
"""

STAGES = {
    "convert --knn 10 --text text": "convert {table} {graph} --knn 10 --text text --label topic --quiet",
    "session new": "session new {job} {graph} --budget 50 --quiet",
    "session ask, the first, which makes what the classifier needs": "session ask {job} --json",
    "session ask, in another process": "session ask {job} -k 2 --json",
}


def run(root: Path, folder: Path, code: str, *arguments: str) -> dict[str, Any]:
    """One stage in a process of its own: seconds of wall and processor time, and the highest memory."""
    code = "import resource, sys, time\nbegin = time.perf_counter()\n" + code + MEASURED
    environment = {
        **os.environ,
        "PYTHONPATH": str(root / "src"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "NO_COLOR": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if "measured" not in done.stderr:
        raise SystemExit(f"{arguments} in {root}: {done.stdout[-2000:]} {done.stderr[-2000:]}")
    wall, cpu, peak = map(float, done.stderr.rsplit("measured", 1)[1].split()[:3])
    return {"wall": round(wall, 2), "cpu": round(cpu, 2), "peak_gb": round(peak, 3)}


def through(root: Path, folder: Path, table: Path, names: str, library: bool) -> dict[str, Any]:
    """All stages of one state of the code."""
    graph, job = folder / f"{names}.npz", folder / f"{names}.nodewise"
    stages: dict[str, Any] = {}
    for stage, command in STAGES.items():
        if library:
            stages[stage] = run(root, folder, LIBRARY, stage, str(table), str(graph), str(job))
        else:
            stages[stage] = run(root, folder, COMMANDS, *command.format(table=table, graph=graph, job=job).split())
        print(names, stage, stages[stage], file=sys.stderr, flush=True)
    return stages


def through_studio(folder: Path) -> list[dict[str, Any]]:
    """The session that `convert` and `session new` made, in the studio."""
    from studio_large import use

    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    lines: list[dict[str, Any]] = []
    use(folder / "now.nodewise", lines.append)
    print(*lines, sep="\n", file=sys.stderr, flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--before", type=Path)
    parser.add_argument(
        "--library",
        action="store_true",
        help="the same by calls from Python, where the command line's packages are missing",
    )
    parser.add_argument("--studio", action="store_true", help="the studio on it, too")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    here = Path(__file__).resolve().parent.parent
    record = (
        json.loads(given.out.read_text()) if given.out.is_file() else {"schema": 1, "benchmark": "texts", "runs": []}
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = folder / "texts.csv"
        begin = time.perf_counter()
        write_texts(table, given.rows)
        found: dict[str, Any] = {
            "rows": given.rows,
            "bytes": table.stat().st_size,
            "drawn_in": round(time.perf_counter() - begin, 1),
            "machine": describe_machine(),
            "load_average_before": os.getloadavg()[0],
            "library": given.library,
            "now": through(here, folder, table, "now", given.library),
        }
        if given.studio:
            found["studio"] = through_studio(folder)
        if given.before is not None:
            found["before"] = through(given.before.resolve(), folder, table, "before", given.library)
            found["commit_before"] = subprocess.run(
                ["git", "rev-parse", "--short", "HEAD"], cwd=given.before, capture_output=True, text=True, check=False
            ).stdout.strip()
            for kind in ("wall", "cpu"):
                totals = [sum(stage[kind] for stage in found[state].values()) for state in ("before", "now")]
                found[f"{kind}_ratio"] = round(totals[0] / totals[1], 2)
        found["load_average"] = os.getloadavg()[0]
    record["runs"] = [
        run for run in record["runs"] if (run["rows"], "before" in run) != (given.rows, "before" in found)
    ] + [found]
    print(json.dumps(found, indent=1))
    given.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
