"""Makes ``docs/reproduction.md`` from result files: every number in it comes from one of them.

    python -m nodewise.experiments.gpa.report --results benchmarks/results --out docs/reproduction.md

A file ``NAME.reading.md`` beside ``NAME.json`` is what a person says about the result; it is taken in below the tables.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nodewise.evaluation.tables import Entry, Table, to_markdown
from nodewise.experiments.gpa.experiments import EXPERIMENTS
from nodewise.experiments.gpa.figures import draw_figure
from nodewise.experiments.gpa.numbers import paper_statement
from nodewise.experiments.gpa.rendering import graph_title, p_value, render
from nodewise.ground.errors import InputError
from nodewise.ground.wording import count

__all__ = ["agreement_table", "gpa_table", "main", "write_report"]

Record = Mapping[str, Any]

_INTRODUCTION = """# The paper's experiments, done again

Everything below is made from the files in `benchmarks/results` by `python -m nodewise.experiments.gpa.report`; no number in
a table is typed. The words below the tables are a person's reading of them, numbers quoted from the tables included.
Each experiment can be run alone, as its heading says, or all of them by `nodewise reproduce all`. The paper is Hu et al., *Graph Policy
Network for Transferable Active Learning on Graphs*, NeurIPS 2020; its numbers are in `src/nodewise/evaluation/paper`. Differences are ours
minus theirs, in points. All methods of a table meet the same splits; leads are tested in pairs and corrected for how many are tested.
"""
_NAMES = {"random": "random", "AGE": "AGE", "AGE, weights that change": "AGE, weights that change", "ANRMAB": "ANRMAB", "GPA": "GPA"}
_FEATURED = ("cora", "citeseer", "pubmed", "coauthor-cs", "coauthor-physics")


def write_report(results: str | Path, out: str | Path) -> Path:
    """Writes the report, and the pictures into ``figures`` beside it.

    Raises:
        InputError: the folder holds no result of an experiment.
    """
    results, out = Path(results), Path(out)
    records = [record for name in EXPERIMENTS if (record := _read(results / f"{name}.json")) is not None]
    if not records:
        raise InputError(f"{str(results)!r} holds no result of an experiment: run nodewise reproduce all --out {results} first")
    lines = [_INTRODUCTION, *_summary(records)]
    for record in records:
        name = record["experiment"]
        reading = results / f"{name}.reading.md"
        lines.append(render(record, 2, "figures/", reading.read_text(encoding="utf-8") if reading.is_file() else ""))
        if record["figure"]:
            _picture(record, results / f"{name}.png", out.parent / "figures" / f"{name}.png")
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    return out


def agreement_table(records: Sequence[Record]) -> Table:
    """The methods on the paper's five graphs with features: ours, the paper's, and the difference, where both are there."""
    rows: list[tuple[Entry | str | None, ...]] = []
    for record in records:
        for part in record.get("parts", []):
            for setting in part["settings"]:
                for result in setting["results"]:
                    if (
                        result["paper"]
                        and setting["graph"] in _FEATURED
                        and setting["features"] != "structural"
                        and result["name"] in _NAMES
                    ):
                        score, theirs = result["micro_f1"], result["paper"]["micro_f1"]
                        difference = score["mean"] - theirs
                        width = "" if score["ci95"] is None else f" ± {score['ci95']:.2f}"
                        near = "yes" if abs(difference) <= 2 else "no"
                        row = (f"{score['mean']:.2f}{width}", f"{theirs:.2f}", f"{difference:+.2f}", near)
                        rows.append((record["experiment"], setting["graph"], result["name"], *row))
    columns = ("experiment", "graph", "method", "Micro-F1", "paper", "difference", "within 2 points")
    return Table("", columns, tuple(rows), text_columns=3)


def gpa_table(records: Sequence[Record]) -> Table:
    """GPA's lead over AGE, the paper's best baseline, wherever both were played."""
    rows: list[tuple[Entry | str | None, ...]] = []
    for record in records:
        for part in record.get("parts", []):
            for setting in part["settings"]:
                printed = {result["name"]: (result["paper"] or {}).get("micro_f1") for result in setting["results"]}
                for test in setting["leads"]:
                    if test["first"] == "GPA" and test["second"].startswith("AGE"):
                        theirs = (
                            None if printed["GPA"] is None or printed[test["second"]] is None else printed["GPA"] - printed[test["second"]]
                        )
                        width = "" if test["ci95"] is None else f" ± {test['ci95']:.2f}"
                        p = test["corrected_p"]
                        verdict = "–" if p is None else "neither" if p >= 0.05 else "GPA" if test["difference"] > 0 else "AGE"
                        rows.append((
                            record["experiment"], graph_title(setting), str(setting["budget"]), test["second"], f"{test['difference']:+.2f}{width}",
                            None if theirs is None else f"{theirs:+.2f}", p_value(p), verdict,
                        ))  # fmt: skip
    columns = ("experiment", "graph", "labels", "against", "GPA's lead", "paper's lead", "p, corrected", "better")
    return Table("", columns, tuple(rows), text_columns=4)


def _summary(records: Sequence[Record]) -> list[str]:
    """What agrees and what does not, counted; and what is not at full length."""
    agreement, leads = agreement_table(records), gpa_table(records)
    lines: list[str] = []
    if agreement.rows:
        inside = sum(row[6] == "yes" for row in agreement.rows)
        counted = f"{inside} of {len(agreement.rows)} scores lie within two points of the paper's."
        lines += ["## Do the scores agree?", "", counted, "", to_markdown(agreement)]
    if leads.rows:
        won, lost = (sum(row[7] == who for row in leads.rows) for who in ("GPA", "AGE"))
        counted = (
            f"GPA is significantly better in {won} of {len(leads.rows)} settings, AGE in {lost}; in the others they cannot be told apart."
        )
        lines += ["## Is GPA ahead of AGE?", "", counted, "", to_markdown(leads)]
    short = [line for record in records for line in _shortcomings(record)]
    absent = [f"- {name}: no result yet" for name in EXPERIMENTS if name not in {record["experiment"] for record in records}]
    if short or absent:
        lines += ["## What is not at full length", "", *short, *absent, ""]
    return lines


def _shortcomings(record: Record) -> list[str]:
    full = int(paper_statement("protocol.runs"))
    missing = [one for part in record.get("parts", []) for one in part["missing"]] + list(record.get("missing", []))
    lines = [f"- {record['experiment']}: without {one['what']}: {one['why']}" for one in missing]
    if record.get("parts") and min(record["runs"], record["large_runs"]) < full:
        runs = (
            count(record["runs"], "run")
            if record["runs"] == record["large_runs"]
            else f"{record['runs']} runs, {record['large_runs']} on large graphs"
        )
        lines.insert(0, f"- {record['experiment']}: {runs} in place of {full}")
    return lines


def _read(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if record.get("schema") != 1 or record.get("kind") != "reproduction":
        raise InputError(f"{str(path)!r} is not the result of an experiment of this version: run nodewise reproduce {path.stem} again")
    return record


def _picture(record: Record, drawn: Path, target: Path) -> None:
    """Takes the picture that the experiment drew, or draws it again from the record."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if drawn.is_file():
        shutil.copyfile(drawn, target)
    else:
        draw_figure(record, target)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command of this module."""
    parser = argparse.ArgumentParser(
        prog="python -m nodewise.experiments.gpa.report", description="Make docs/reproduction.md from result files."
    )
    parser.add_argument("--results", default="benchmarks/results", help="folder of NAME.json files")
    parser.add_argument("--out", default="docs/reproduction.md", help="the document to write")
    given = parser.parse_args(arguments)
    try:
        write_report(given.results, given.out)
    except InputError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
