"""A whole job through the page, as a person would do it.

2,000 of Debian's package descriptions in eight sections, 70 labels by keyboard.

    python benchmarks/studio_job.py --out benchmarks/results/studio-job.json

The texts are names with descriptions, one line each where the lists hold no more, from the package lists of this Debian
machine (``apt-cache dumpavail``), 250 of each of the eight sections that hold the most packages, catch-alls left out;
the section is the class, and is not in the table. ``nodewise studio`` runs in a process of its own; Chromium opens the
page, chooses the file, names the classes, and answers as somebody who knows every section and needs no time to
read: so the seconds are those that the page and the studio take. A step lasts from the press of a key to the next
question being ready for one. Then sure predictions are reviewed in the
table: all rows in sight are chosen, wrong ones are left out one by one, the rest is confirmed in bulk.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import torch
from chromium import open_chromium
from machine import write_record
from playwright.sync_api import Page, sync_playwright

CATCH_ALLS = {"libs", "libdevel", "oldlibs", "doc", "devel", "utils", "misc", "debug", "metapackages", "localization"}
SECTIONS, EACH = 8, 250
WATCH = """() => {
    window.steps = [];
    let pressed = null;
    addEventListener("keydown", () => {
        if (document.body.dataset.phase === "ready") pressed = { at: performance.now() };
    }, true);
    new MutationObserver(() => {
        const phase = document.body.dataset.phase;
        if (!pressed) return;
        const since = performance.now() - pressed.at;
        if (phase === "settling" && pressed.shown === undefined) pressed.shown = since;
        if (pressed.shown !== undefined && (phase === "ready" || phase === "idle")) {
            window.steps.push([pressed.shown, since]);
            pressed = null;
        }
    }).observe(document.body, { attributes: true, attributeFilter: ["data-phase"] });
}"""
CHOSEN = """() => [...document.querySelectorAll(".table-row:has(input:checked)")].map((row) =>
    [row.dataset.node, row.children[1].textContent, row.children[3].textContent.replace(/^[0-9]+ */, "")])"""


def read_packages() -> list[dict[str, str]]:
    """Name, description and section of packages, the same ones in the same order for the same lists."""
    listed = subprocess.run(["apt-cache", "dumpavail"], capture_output=True, text=True, check=True).stdout
    found: dict[str, list[dict[str, str]]] = {}
    for record in listed.split("\n\n"):
        fields = dict(re.findall(r"^(Package|Section|Description(?:-en)?): (.*(?:\n .*)*)", record, re.MULTILINE))
        text = fields.get("Description-en", fields.get("Description"))
        section = fields.get("Section", "").rpartition("/")[2]
        if text and section and section not in CATCH_ALLS:
            found.setdefault(section, []).append({"name": fields["Package"], "text": text, "section": section})
    largest = sorted(found, key=lambda section: (-len(found[section]), section))[:SECTIONS]
    rng = np.random.default_rng(0)
    rows = [found[section][index] for section in largest for index in rng.permutation(len(found[section]))[:EACH]]
    return [rows[index] for index in rng.permutation(len(rows))]


def quantiles(values: list[float]) -> dict[str, float]:
    return {
        name: round(float(np.quantile(values, point)), 3) for name, point in (("p50", 0.5), ("p95", 0.95), ("max", 1.0))
    }


def accuracy(export: Path, sections: list[str], among: Path | None = None) -> dict[str, Any]:
    """Of the rows that nobody has labelled, in this export or in another one, how many this one predicts right."""
    rows, other = (
        [*csv.DictReader((path or export).read_text(encoding="utf-8").splitlines())] for path in (export, among)
    )
    judged = [
        row["predicted"] == section
        for row, label, section in zip(rows, other, sections, strict=True)
        if not label["label"]
    ]
    return {"rows": len(judged), "right": round(sum(judged) / max(1, len(judged)), 4)}


class Job:
    """A person at the page."""

    def __init__(self, page: Page, address: str, rows: list[dict[str, str]]) -> None:
        self.page, self._address, self._rows = page, address, rows
        self._sections = {row["name"]: row["section"] for row in rows}
        self._keys: dict[str, str] = {}

    def make(self, table: Path, labels: int) -> dict[str, float]:
        page = self.page
        page.goto(f"{self._address}/new")
        names = list(dict.fromkeys(row["section"] for row in self._rows))
        page.set_input_files("#nodes-file", table)
        page.fill("#classes", ", ".join(names))
        page.fill("#budget", str(labels))
        page.fill("#audit", "0")
        start = time.perf_counter()
        page.click("#create")
        page.wait_for_url("**/s/*")
        made = time.perf_counter() - start
        page.locator("body[data-phase=ready]").wait_for()
        asked = time.perf_counter() - start
        self._keys = {name: str(number) for number, name in enumerate(names, 1)}
        page.evaluate(WATCH)
        page.wait_for_timeout(1000)
        return {"session_made_s": round(made, 2), "first_question_s": round(asked, 2)}

    def label(self, count: int) -> list[list[float]]:
        for step in range(1, count + 1):
            name = self.page.locator("#card h1").inner_text()
            self.page.keyboard.press(self._keys[self._sections[name]])
            self.page.wait_for_function("count => window.steps.length >= count", arg=step)
        found: list[list[float]] = self.page.evaluate("() => window.steps")
        return found

    def map(self) -> float:
        start = time.perf_counter()
        self.page.keyboard.press("g")
        spinner = self.page.locator(".map .note .spinner")
        spinner.wait_for()
        self.page.locator(".map .note", has_text=f"{len(self._rows):,} rows").wait_for()
        took = time.perf_counter() - start
        self.page.keyboard.press("g")
        return took

    def review(self, seconds: float) -> dict[str, Any]:
        """Confirm sure predictions in the table for a while."""
        page = self.page
        page.keyboard.press("l")
        with page.expect_response(re.compile("/table.*filter=confident.*")):
            page.get_by_label("Which rows").select_option("confident")
        page.wait_for_timeout(400)
        start, confirmed, left_out, rounds = time.perf_counter(), 0, 0, 0
        while time.perf_counter() - start < seconds:
            page.get_by_role("button", name="Choose all in sight").click()
            chosen: list[list[str]] = page.evaluate(CHOSEN)
            for node, name, predicted in chosen:
                if self._sections.get(name.split()[0]) != predicted:
                    page.locator(f".table-row[data-node='{node}'] input").uncheck()
                    left_out += 1
            button = page.get_by_role("button", name=re.compile("^Confirm "))
            if not button.count():
                break
            button.click()
            agree = page.locator(".action-dialog").get_by_role("button", name=re.compile(r"^Confirm \d"))
            with page.expect_response(lambda answer: "digest" in (answer.request.post_data or "")) as sent:
                agree.click()
            confirmed += len(sent.value.json()["done"]["nodes"])
            rounds += 1
            page.locator(".action-dialog").get_by_role("button", name="Close", exact=True).last.click()
            page.get_by_role("button", name="Filter again").click()
            page.wait_for_function("() => !document.querySelector('.table-row input:checked')")
            page.wait_for_timeout(400)  # the rows that are sure now
        took = time.perf_counter() - start
        page.keyboard.press("Escape")
        return {
            "rounds": rounds,
            "confirmed": confirmed,
            "left_out": left_out,
            "seconds": round(took, 1),
            "rows_a_minute": round(60 * confirmed / took),
        }

    def export(self, form: str, target: Path) -> Path:
        with self.page.expect_download() as told:
            self.page.keyboard.press("e")
            self.page.locator(f"[role=menu] button[data-export={form}]").click()
        told.value.save_as(target)
        return target


def measure(folder: Path, labels: int, seconds: float) -> dict[str, Any]:
    rows = read_packages()
    table = folder / "packages.csv"
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text"])
        writer.writerows([f"{row['name']}\n{row['text']}"] for row in rows)
    sections = [row["section"] for row in rows]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")}
    command = [sys.executable, "-m", "nodewise", "studio", "--port", "0", "--no-browser"]
    server = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        address = server.stdout.readline().strip().rstrip("/")
        with sync_playwright() as playwright:
            browser = open_chromium(playwright)
            context = browser.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
            context.set_default_timeout(120_000)
            context.add_init_script("localStorage.setItem('nodewise.annotator', 'me')")
            job = Job(context.new_page(), address, rows)
            result: dict[str, Any] = {
                "sections": dict(Counter(sections)),
                "rows": len(rows),
                "labels": labels,
                **job.make(table, labels),
            }
            result["map_s"] = round(job.map(), 2)
            steps = job.label(labels)
            result |= {
                "next_question_s": quantiles([shown / 1e3 for shown, _ in steps]),
                "whole_step_s": quantiles([whole / 1e3 for _, whole in steps]),
                "export": accuracy(job.export("csv", folder / "out.csv"), sections),
            }
            result["sizes_bytes"] = _sizes(job.export("pytorch", folder / "out.pt"), table)
            result["bulk"] = job.review(seconds)
            result["bulk"]["export"] = accuracy(job.export("csv", folder / "bulk.csv"), sections)
            result["bulk"]["same_rows_before"] = accuracy(folder / "out.csv", sections, among=folder / "bulk.csv")
            browser.close()
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()
    return result


def _sizes(exported: Path, table: Path) -> dict[str, int]:
    """Bytes of the table, of the PyTorch export, and of the same with dense features, as it was before."""
    tensors = torch.load(exported, weights_only=True)
    dense = exported.with_name("dense.pt")
    torch.save({**tensors, "x": tensors["x"].to_dense()}, dense)
    return {
        "table": table.stat().st_size,
        "pt": exported.stat().st_size,
        "pt_with_dense_features": dense.stat().st_size,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--labels", type=int, default=70)
    parser.add_argument("--bulk-seconds", type=float, default=30)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    begin = time.time()
    with tempfile.TemporaryDirectory() as folder:
        row = measure(Path(folder), given.labels, given.bulk_seconds)
    print(row)
    write_record(given.out, "studio job", begin, row)


if __name__ == "__main__":
    main()
