"""A job of generated texts that gets 500 more after 50 labels, by the command line and in the page.

    python benchmarks/growing.py [--first 2000 20000]
    python benchmarks/growing.py --page

It says how many of the new rows are predicted right, beside those that were there first, whether all labels are still
there, how long the command took, and, in seconds of the processor inside one process: the addition itself, making the
views of the grown graph anew, and the prediction that follows. *Taken back*: the prediction after an undo, which must
be that of before to the bit.

The same job of 2,000 is then done in the page: Chromium uploads the table, answers 50 questions by key as somebody who
knows every text, and adds the later table in the panel of rows. The seconds run from the click to the page saying that
the rows were added, and from there to the export of all predictions; beside them stands what the studio's process took
of the processor.
"""

from __future__ import annotations

import argparse
import csv
import io
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

import httpx
import numpy as np
from machine import write_record

from nodewise.classifiers.views.views import Views
from nodewise.graph.tensors import GraphTensors
from nodewise.session import Session

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.studio.browsing import Server, studio

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


def in_the_page(folder: Path, first: int, seed: int = 0) -> dict[str, Any]:
    """The same job as a person does it with the page."""
    from chromium import open_chromium
    from playwright.sync_api import sync_playwright

    rows = texts(first + LATER, seed)
    kinds = {f"text {number}": kind for number, (_, kind) in enumerate(rows)}
    for name, start, end in (("first.csv", 0, first), ("later.csv", first, first + LATER)):
        with (folder / name).open("w", newline="", encoding="utf-8") as file:
            some = [[f"text {number}", rows[number][0]] for number in range(start, end)]
            csv.writer(file).writerows([["name", "text"], *some])
    with studio(folder) as server, sync_playwright() as playwright:
        browser = open_chromium(playwright)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(300_000)
        page.add_init_script("localStorage.setItem('nodewise.annotator', 'me')")
        page.goto(f"{server.address}/new")
        page.set_input_files("#nodes-file", folder / "first.csv")
        page.fill("#classes", ", ".join(CLASSES))
        page.fill("#budget", "60")
        page.fill("#audit", "0")
        page.click("#create")
        page.wait_for_url("**/s/*")
        for done in range(LABELS):
            page.locator("body[data-phase=ready]").wait_for()
            title = page.locator("#card h1").inner_text()
            page.keyboard.press(str(CLASSES.index(kinds[title]) + 1))
            page.wait_for_function("title => document.querySelector('#card h1').innerText !== title", arg=title)
            assert server.get("/status")["told"] == done + 1
        before = exported(server)
        page.click("#rows-button")
        panel = page.locator("#rows-dialog")
        panel.locator("#add-rows").set_input_files(folder / "later.csv")
        add = panel.get_by_role("button", name=f"Add {LATER} rows")
        add.wait_for()
        begin, used = time.perf_counter(), server.cpu_seconds()
        add.click()
        panel.get_by_text(f"{LATER} rows were added").wait_for()
        added, adding = time.perf_counter() - begin, server.cpu_seconds()
        after = exported(server)
        predicted, predicting = time.perf_counter() - begin - added, server.cpu_seconds()
        browser.close()

    def right(start: int, end: int) -> float:
        judged = [row["predicted"] == rows[node][1] for node, row in enumerate(after) if not row["label"]][start:end]
        return round(100 * sum(judged) / len(judged), 1)

    return {
        "first": first,
        "later": LATER,
        "labels": LABELS,
        "labels_kept": [row["label"] for row in before] == [row["label"] for row in after[:first]]
        and sum(bool(row["label"]) for row in after) == LABELS,
        "accuracy_first_rows": right(0, first - LABELS),
        "accuracy_new_rows": right(first - LABELS, first - LABELS + LATER),
        "seconds_to_add": round(added, 2),
        "seconds_to_export": round(predicted, 2),
        "cpu_seconds_to_add": round(adding - used, 2),
        "cpu_seconds_to_export": round(predicting - adding, 2),
    }


def exported(server: Server) -> list[dict[str, str]]:
    """Every row with its label and what is predicted for it."""
    text = httpx.get(f"{server.address}/api/v1/export/csv", timeout=300).raise_for_status().text
    return list(csv.DictReader(io.StringIO(text)))


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
    (page,) = record["rows"][0]["in_the_page"]
    lines += [
        "",
        f"The job of {page['first']:,} texts in the page, in Chromium:"
        f" {'all' if page['labels_kept'] else 'not all'} labels"
        f" are there, {page['accuracy_first_rows']} % of the first rows and {page['accuracy_new_rows']} %"
        " of the new ones"
        f" are predicted right. The addition took the studio {page['cpu_seconds_to_add']} s of the processor"
        f" ({page['seconds_to_add']} s from the click to the page saying so), the export of all predictions after it"
        f" {page['cpu_seconds_to_export']} s.",
    ]
    return "\n".join(lines)


def write_page(result: Path) -> None:
    """Put the table into the page."""
    text = PAGE.read_text(encoding="utf-8")
    head, _, rest = text.partition("<!-- growing table -->")
    tail = rest.partition("<!-- end of growing table -->")[2]
    shown = table(json.loads(result.read_text(encoding="utf-8")))
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
        with tempfile.TemporaryDirectory() as folder:
            os.environ["XDG_CACHE_HOME"] = folder
            pages = [in_the_page(Path(folder), given.first[0])]
            sys.stdout.write(json.dumps(pages[0], indent=1) + "\n")
        write_record(given.out, "growing", begin, {"jobs": rows, "in_the_page": pages})
    write_page(given.out)


if __name__ == "__main__":
    main()
