"""From the press of a key to the next question, in the page, with few and with many rows.

    python benchmarks/studio_latency.py --out benchmarks/results/studio-latency.json && python benchmarks/studio_page.py

Texts are drawn as in texts.py; each size becomes a session by the library. ``nodewise studio`` runs in a process of its
own, Chromium shows the page, and somebody who knows every topic and needs no time to read answers by keyboard. Two
spans are kept: from the key to the next question on the screen, and to its being ready for a key, half a second later
on purpose (a double press must not label two rows). With ``--folder`` the sessions stay there, and the next
measurement goes on with a copy of them; without it all is made anew, which takes most of the time.
"""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from chromium import open_chromium
from machine import write_record
from playwright.sync_api import Page, sync_playwright
from studio_job import WATCH, quantiles
from texts import write_texts

MAKE = """
import sys
from nodewise.graph.knn.knn import knn_from_table
from nodewise.session import Session
table, file = sys.argv[1:]
graph = knn_from_table(table, 10, text="text", id="id", label="")
with Session.create(file, graph, budget=500, classes=[f"topic {n}" for n in range(10)]) as session:
    session.ask(annotator="the one who makes it")  # what the classifier needs is made, and kept beside the file
    session.release("the one who makes it")
"""
KEYS = {f"topic {number}": str((number + 1) % 10) for number in range(10)}


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")}


def make(folder: Path, rows: int) -> dict[str, Any]:
    """A session of so many rows in a folder of its own, unless it is there already; what it took."""
    folder.mkdir(parents=True, exist_ok=True)
    table, file = folder / "texts.csv", folder / "texts.nodewise"
    if file.exists():
        return {"made_s": None}
    write_texts(table, rows)
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", MAKE, str(table), str(file)], env=environment(), check=True)
    return {"made_s": round(time.perf_counter() - begin, 1)}


def answer(page: Page, topics: dict[str, str], labels: int) -> list[list[float]]:
    """Answer so many questions by keyboard: milliseconds to the next question, and to its being ready."""
    page.locator("body[data-phase=ready]").wait_for()
    page.evaluate(WATCH)
    for step in range(1, labels + 1):
        page.keyboard.press(KEYS[topics[page.locator("#card h1").inner_text()]])
        page.wait_for_function("count => window.steps.length >= count", arg=step)
    found: list[list[float]] = page.evaluate("() => window.steps")
    return found


def measure(folder: Path, rows: int, labels: int) -> dict[str, Any]:
    """One size: a copy of its session is answered, so that every measurement begins without a label."""
    made = make(folder, rows)
    with (folder / "texts.csv").open(encoding="utf-8", newline="") as file:
        topics = {row["id"]: row["topic"] for row in csv.DictReader(file)}
    with ExitStack() as opened:
        copy = Path(opened.enter_context(tempfile.TemporaryDirectory(dir=folder)))
        for part in folder.glob("*.nodewise*"):
            (shutil.copytree if part.is_dir() else shutil.copy)(part, copy / part.name)
        command = [sys.executable, "-m", "nodewise", "studio", "texts.nodewise", "--port", "0", "--no-browser"]
        server = opened.enter_context(
            subprocess.Popen(command, cwd=copy, env=environment(), stdout=subprocess.PIPE, text=True)
        )
        opened.callback(server.terminate)
        assert server.stdout is not None
        address = server.stdout.readline().strip().rstrip("/")
        browser = open_chromium(opened.enter_context(sync_playwright()))
        context = browser.new_context(viewport={"width": 1280, "height": 800})
        context.set_default_timeout(600_000)
        context.add_init_script("localStorage.setItem('nodewise.annotator', 'me')")
        page = context.new_page()
        begin = time.perf_counter()
        page.goto(address)
        page.locator("body[data-phase=ready]").wait_for()
        first = time.perf_counter() - begin
        steps = answer(page, topics, labels)
        browser.close()
    return {
        "rows": rows,
        "labels": labels,
        **made,
        "first_question_s": round(first, 2),
        "key_to_question_ms": quantiles([shown for shown, _ in steps]),
        "key_to_ready_ms": quantiles([ready for _, ready in steps]),
        "busy": round(os.getloadavg()[0], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000, 50_000, 200_000])
    parser.add_argument("--labels", type=int, default=40)
    parser.add_argument("--folder", type=Path, help="keeps the sessions for another measurement")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    begin, sizes = time.time(), []
    with tempfile.TemporaryDirectory() as nowhere:
        for rows in given.rows:
            sizes.append(measure((given.folder or Path(nowhere)) / f"{rows}", rows, given.labels))
            print(sizes[-1], flush=True)
            if given.out is not None:  # also where a larger one is not waited for
                write_record(given.out, "studio latency", begin, {"sizes": sizes})


if __name__ == "__main__":
    main()
