"""The paper's tables anew on one GPU, most important first.

AGE's parameters, the cross-domain tables, departures, the rest.

    python benchmarks/paper_tables.py --device cuda --minutes 8 --data-dir DIR --released DIR --out OUT/paper.json
    python benchmarks/paper_tables.py --install OUT/paper.json

The first writes everything that was finished in time into one file, and its last line is a summary as JSON. The second
puts it into the checkout: AGE's parameters where nodewise finds them, results beside the others; then ``python -m
nodewise.experiments.gpa.report`` makes the pages.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import departures
from agreement import compared_cells

from nodewise.experiments.gpa import reproduce, train_missing
from nodewise.ground.files import write_json

ROOT = Path(__file__).parents[1]
CROSS = ("cross-domain", "cross-domain-cora-pubmed", "cross-domain-citeseer-pubmed")
STEPS = (
    ("age", "age-cora,age-citeseer,age-pubmed"),
    *(("reproduce", name) for name in CROSS),
    ("departures", ""),
    ("age", "age-reddit1,age-reddit2"),
    ("reproduce", "budgets"),
    ("reproduce", "budgets-cora"),
    ("reproduce", "case-study"),
    ("age", "age-acmv9,age-citationv1,age-dblpv7,age-twitch-de,age-twitch-engb"),
    ("reproduce", "same-domain"),
)


def data_folder(work: Path, data: Path, released: Path | None) -> Path:
    """One folder with the graphs and the authors' policies."""
    folder = work / "data"
    folder.mkdir(parents=True)
    for path in [*data.glob("*.npz"), *(released.glob("*.pkl") if released is not None else ())]:
        (folder / path.name).symlink_to(path.absolute())
    return folder


def play(given: argparse.Namespace, work: Path, begin: float) -> dict[str, Any]:
    """Everything that is finished when the time is up: files by their place in the checkout."""
    data, policies, results = data_folder(work, given.data_dir, given.released), work / "policies", work / "results"
    policies.mkdir()
    wanted = given.only.split(",") if given.only else [what or kind for kind, what in STEPS]
    for shipped in (ROOT / "benchmarks/policies").iterdir():
        if shipped.name.removesuffix(".json") not in ",".join(wanted).split(
            ","
        ):  # AGE's parameters that are not searched anew
            (policies / shipped.name).symlink_to(shipped)
    files: dict[str, Any] = {}
    seconds: dict[str, float] = {}
    for kind, what in STEPS:
        if (what or kind) not in wanted:
            continue
        if time.monotonic() - begin > 60 * given.minutes - 45:
            break
        started = time.monotonic()
        if kind == "age":
            left = given.minutes - (started - begin) / 60
            train_missing(what.split(","), policies, device=given.device, data_dir=data, minutes=left)
            for name in what.split(","):
                path = policies / f"{name}.json"
                if path.is_file():
                    files[f"benchmarks/policies/{name}.json"] = json.loads(path.read_text())
        elif kind == "reproduce":
            files[f"benchmarks/results/{what}.json"] = reproduce(
                what, results, runs=given.runs, policies=policies, data_dir=data, device=given.device
            )
        else:
            rows, known = [], {}  # type: ignore[var-annotated]
            for case in departures.cases(policies):
                if time.monotonic() - begin < 60 * given.minutes - 45:
                    rows.append(departures.measure(case, given.runs, given.device, data, known))
            record = {
                "schema": 1,
                "benchmark": "departures",
                "machine": departures.describe_machine(given.device),
                "runs": given.runs,
                "seed": 0,
            }
            files["benchmarks/results/departures.json"] = {**record, "rows": rows}
        seconds[f"{kind} {what}".strip()] = round(time.monotonic() - started, 1)
        write_json(given.out, {"schema": 1, "files": files, "seconds": seconds}, compact=True)
        print(json.dumps({"done": f"{kind} {what}".strip(), "seconds": seconds[f"{kind} {what}".strip()]}), flush=True)
    return {"files": files, "seconds": seconds}


def summary(files: dict[str, Any]) -> dict[str, Any]:
    """How near print is: AGE's nine cross-domain cells, GPA's nine, and all cells, Micro and Macro."""
    records = [files[name] for name in (f"benchmarks/results/{one}.json" for one in CROSS) if name in files]
    cells = [
        (record["experiment"], setting["graph"], result)
        for record in records
        for part in record["parts"]
        for setting in part["settings"]
        if setting["features"] != "structural"
        for result in setting["results"]
        if result["paper"]
    ]
    told: dict[str, Any] = {}
    for method in ("AGE", "AGE, fixed weights", "GPA", "GPA, authors' policy"):
        gaps = {
            f"{experiment} {graph}": [
                round(result[metric]["mean"] - result["paper"][metric], 2) for metric in ("micro_f1", "macro_f1")
            ]
            for experiment, graph, result in cells
            if result["name"] == method
        }
        told[method] = {
            "cells": len(gaps),
            "micro within 2": sum(abs(micro) <= 2 for micro, _ in gaps.values()),
            "gaps": gaps,
        }
    counted = compared_cells([record for name, record in files.items() if record.get("kind") == "reproduction"])
    told["all cells"] = {"compared": len(counted), "within 2": sum(cell.near for cell in counted)}
    told["AGE's parameters"] = {
        name.split("age-")[1]: record["budgets"] for name, record in files.items() if "age-" in name
    }
    return told


def install(path: Path) -> None:
    for name, record in json.loads(path.read_text())["files"].items():
        write_json(ROOT / name, record, compact=True)
        print(name)


def main() -> None:
    begin = time.monotonic()
    parser = argparse.ArgumentParser(description="The paper's tables anew on one GPU.")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument(
        "--only", help="steps by what they make, joined by commas, such as cross-domain,departures; all by default"
    )
    parser.add_argument("--data-dir", type=Path, help="folder of NAME.npz files")
    parser.add_argument("--released", type=Path, help="folder of the authors' pretrain_NAME.pkl files")
    parser.add_argument("--out", type=Path, default=Path("paper.json"))
    parser.add_argument("--install", type=Path, metavar="FILE", help="put what an earlier call wrote into the checkout")
    given = parser.parse_args()
    if given.install is not None:
        install(given.install)
        return
    with tempfile.TemporaryDirectory() as work:
        played = play(given, Path(work), begin)
    print(json.dumps({**summary(played["files"]), "seconds": played["seconds"]}))


if __name__ == "__main__":
    main()
