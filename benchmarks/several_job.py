"""A whole job of rows with several classes through the page, as a person would do it: 2,000 generated texts.

    python benchmarks/several_job.py --out benchmarks/results/several-job.json
    python benchmarks/several_job.py --page benchmarks/results/several-job.json    for docs/several-labels.md

A text has any number of six topics, also none. ``plain``: of each topic that it has four of its twelve words, beside
six words that say nothing. ``noisy``: two of thirty words, ten that say nothing, and in half of the texts a stray word
of any topic. The second was added because the first is easy: after 75 answers every row was right. Which topics a row
has stands in no table that the studio sees. ``nodewise studio`` runs in a process of its own; Chromium opens the page,
uploads the table, and answers as somebody who knows every row and needs no time to read: a key for each class, or the
one for none of them, then Enter. So the seconds are those that the page and the studio take: from Enter to the next
question on the screen, and until it takes a key, which is half a second later. After some numbers of answers the export
of that moment is scored on the rows that nobody has labelled.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import sys
import tempfile
import time
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from chromium import open_chromium
from machine import write_record
from playwright.sync_api import Page, sync_playwright
from studio_job import quantiles

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.studio.browsing import studio

PAGE = Path(__file__).parents[1] / "docs" / "several-labels.md"
TOPICS = 6
FORMS = {"plain": (12, 4, 6, 0.0), "noisy": (30, 2, 10, 0.5)}
"""Words of a topic, those of them in a text, words that say nothing, the share of texts with a stray one."""
NAMES = [f"topic {letter}" for letter in "abcdef"][:TOPICS]
WATCH = """() => {
    window.steps = [];
    let pressed = null;
    addEventListener("keydown", (event) => {
        if (event.key === "Enter" && document.body.dataset.phase === "ready") pressed = { at: performance.now() };
    }, true);
    new MutationObserver(() => {
        const phase = document.body.dataset.phase;
        const now = performance.now();
        if (pressed && phase === "settling" && pressed.shown === undefined) pressed.shown = now - pressed.at;
        if (pressed?.shown !== undefined && (phase === "ready" || phase === "idle")) {
            window.steps.push([pressed.shown, now - pressed.at]);
            pressed = null;
        }
    }).observe(document.body, { attributes: true, attributeFilter: ["data-phase"] });
}"""


def make_rows(count: int, form: str) -> list[dict[str, Any]]:
    """Texts with the classes that they have."""
    draw = random.Random(0)
    many, said, silent, stray = FORMS[form]
    words = {name: [f"{name[-1]}word{number}" for number in range(many)] for name in NAMES}
    idle = [f"some{number}" for number in range(200)]
    rows = []
    for number in range(count):
        has = [name for name in NAMES if draw.random() < 0.27]
        text = [word for name in has for word in draw.sample(words[name], said)] + draw.sample(idle, silent)
        text += [draw.choice(words[draw.choice(NAMES)])] if draw.random() < stray else []
        draw.shuffle(text)
        rows.append({"name": f"row {number}", "text": " ".join(text), "classes": has})
    return rows


def score(export: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Micro-F1 and the share of exact sets, of the rows that nobody has labelled."""
    hits = named = exact = judged = 0
    for line, row in zip(csv.DictReader(StringIO(export)), rows, strict=True):
        if line["label"]:
            continue
        guess, truth = set(filter(None, line["predicted"].split(";"))), set(row["classes"])
        hits, named = hits + len(guess & truth), named + len(guess) + len(truth)
        exact, judged = exact + (guess == truth), judged + 1
    return {"rows": judged, "micro_f1": round(2 * hits / named, 4), "exact": round(exact / judged, 4)}


def label(page: Page, rows: dict[str, list[str]], until: int, told: int) -> int:
    """Answer questions by keys until so many are answered."""
    while told < until:
        for name in rows[page.locator("#card h1").inner_text()] or ["-"]:
            page.keyboard.press("-" if name == "-" else str(NAMES.index(name) + 1))
        page.keyboard.press("Enter")
        told += 1
        page.wait_for_function("count => window.steps.length >= count", arg=told)
    return told


def run(count: int, points: list[int], form: str) -> dict[str, Any]:
    rows = make_rows(count, form)
    truth = {row["name"]: row["classes"] for row in rows}
    with tempfile.TemporaryDirectory() as folder, studio(Path(folder)) as server, sync_playwright() as playwright:
        table = Path(folder) / "texts.csv"
        with table.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerows([["name", "text"], *([row["name"], row["text"]] for row in rows)])
        browser = open_chromium(playwright)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.add_init_script("localStorage.setItem('nodewise.annotator', 'me')")
        page.goto(f"{server.address}/new")
        page.set_input_files("#nodes-file", table)
        page.locator("#create").wait_for()
        page.fill("#classes", ", ".join(NAMES))
        page.select_option("#several", "true")
        page.fill("#budget", str(points[-1]))
        page.fill("#audit", "0")
        start = time.perf_counter()
        page.click("#create")
        page.wait_for_url("**/s/*")
        page.locator("body[data-phase=ready]").wait_for()
        first = time.perf_counter() - start
        page.evaluate(WATCH)
        told, scores = 0, []
        for point in points:
            told = label(page, truth, point, told)
            export = httpx.get(f"{server.address}/api/v1/export/csv", timeout=300).raise_for_status().text
            scores.append({"answers": told, **score(export, rows)})
            print(scores[-1], flush=True)
        steps: list[list[float]] = page.evaluate("() => window.steps")
        none = server.get("/status")["none"]
        browser.close()
    return {
        "texts": count,
        "classes": TOPICS,
        "classes_a_row": round(float(np.mean([len(row["classes"]) for row in rows])), 3),
        "rows_without_class": sum(not row["classes"] for row in rows),
        "answers_none_of_them": none,
        "first_question_s": round(first, 2),
        "next_question_s": quantiles([shown / 1e3 for shown, _ in steps]),
        "whole_step_s": quantiles([whole / 1e3 for _, whole in steps]),
        "scores": scores,
    }


def write_page(result: Path) -> None:
    """Put what was measured into the guide, between its marks."""
    record = json.loads(result.read_text(encoding="utf-8"))
    (row,) = record["rows"]
    points = [str(each["answers"]) for each in row["plain"]["scores"]]
    lines = [
        "2,000 generated texts, six classes, through the page by keys alone"
        " (`benchmarks/several_job.py`, which says what"
        f" the texts are; {record['machine']['cores']} cores at load {record['load'][0]:.0f}, commit"
        f" {record['machine']['commit']}): Micro-F1 in percent of the rows that nobody has labelled,"
        " after so many answers.",
        "",
        f"| texts | {' | '.join(points)} | from Enter to the next question, median and 95th percentile |",
        f"| --- | {' | '.join('---:' for _ in points)} | ---: |",
    ]
    for form, each in row.items():
        scores = " | ".join(f"{100 * point['micro_f1']:.1f}" for point in each["scores"])
        took = each["next_question_s"]
        lines.append(f"| {form} | {scores} | {took['p50']:.2f} and {took['p95']:.2f} s |")
    text = PAGE.read_text(encoding="utf-8")
    begin, end = "<!-- job:begin -->\n", "<!-- job:end -->"
    before, after = text[: text.index(begin) + len(begin)], text[text.index(end) :]
    PAGE.write_text(before + "\n".join(lines) + "\n" + after, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--answers", type=int, nargs="+", default=[10, 20, 30, 50, 75, 100])
    given = parser.parse_args()
    if given.page is not None:
        write_page(given.page)
        raise SystemExit
    if given.out is None:
        parser.error("--out says where the result goes")
    begin = time.time()
    row = {form: run(given.texts, sorted(given.answers), form) for form in FORMS}
    print(row)
    write_record(given.out, "several job", begin, row)
