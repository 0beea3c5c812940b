"""Makes the pages of ``docs/reproduction`` from result files: every number in them comes from one of these.

    python -m benchmarks.reproduction_page --results benchmarks/results --docs docs

``index.md`` counts what agrees with the paper; every experiment has a page of its own beside it. A file
``NAME.reading.md`` beside ``NAME.json`` is what a person says about the result; it is taken in below the tables, its
numbers filled in (see `readings`). A file ``departures.md`` beside the folder of results becomes ``departures.md`` of
the documents in the same way.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.agreement import agreement_table, compared_cells, far_table, lead_counts
from benchmarks.readings import fill_reading
from nodewise.evaluation.results.tables import to_markdown
from nodewise.experiments.gpa.experiments import EXPERIMENTS
from nodewise.experiments.gpa.figures import draw_figure
from nodewise.experiments.gpa.numbers import paper_statement
from nodewise.experiments.gpa.rendering import render
from nodewise.ground.errors import DownloadError, InputError
from nodewise.ground.events import count

__all__ = ["departures_text", "experiment_text", "index_text", "main", "write_pages"]

Record = Mapping[str, Any]

_INTRODUCTION = """# The paper's experiments, done again

These pages are made from the files in `benchmarks/results` by `python -m benchmarks.reproduction_page`; no number is
typed, those in the sentences below the tables included. Each experiment can be run alone, as its page says, or all of
them by `nodewise reproduce all`. The paper is Hu et al., *Graph Policy Network for Transferable Active Learning on
Graphs*, NeurIPS 2020; its numbers are in `src/nodewise/experiments/gpa`. Differences are ours minus theirs, in
points. All methods of a table meet the same splits; leads are tested in pairs and corrected for how many are tested.
[Departures](../departures.md) lists where the paper, the released code and nodewise differ; [the closed
form](../closed-form.md) has the same tables with nodewise's own classifier and strategy.

**Reddit.** The figures on `reddit1` … `reddit5` were made from copies of these graphs without the posts' word
vectors: the classifier saw structural features, degrees and the like. They are marked so wherever they stand beside
the paper's, and no difference is drawn. The authors' release has the vectors; with a network the same commands fetch
it and redo the tables with the texts (see [the Reddit graphs](../reddit.md)).
"""


def write_pages(results: str | Path, docs: str | Path) -> list[Path]:
    """Writes ``reproduction/index.md``, a page for every experiment beside it, and the pictures into ``figures``.

    Returns:
        The pages, the index first. A page of an experiment without a result is removed.

    Raises:
        InputError: the folder holds no result of an experiment, or a reading quotes what no result gives.
    """
    results, docs = Path(results), Path(docs)
    records, folder = _records(results), docs / "reproduction"
    texts = {"index": index_text(results)}
    texts |= {record["experiment"]: experiment_text(results, record["experiment"]) for record in records}
    folder.mkdir(parents=True, exist_ok=True)
    for record in records:
        if record["figure"]:
            name = record["experiment"]
            _picture(record, results / f"{name}.png", docs / "figures" / f"{name}.png")
    for page in folder.glob("*.md"):
        if page.stem not in texts:
            page.unlink()
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")
    return [folder / f"{name}.md" for name in texts]


def index_text(results: str | Path) -> str:
    """The first page as Markdown: what agrees and what does not, counted, and the list of the others.

    Raises:
        InputError: the folder holds no result of an experiment.
    """
    records = _records(Path(results))
    if not records:
        raise InputError(
            f"{str(results)!r} holds no result of an experiment: run nodewise reproduce all --out {results} first"
        )
    listed = ["| experiment | place in the paper | command |", "| --- | --- | --- |"]
    for record in records:
        name = record["experiment"]
        listed.append(f"| [{record['title']}]({name}.md) | {record['place']} | `nodewise reproduce {name}` |")
    tree = ["```{toctree}", ":hidden:", "", *(record["experiment"] for record in records), "```"]
    return (
        "\n".join([_INTRODUCTION, "## The experiments", "", *listed, "", *tree, "", *_summary(records)]).rstrip() + "\n"
    )


def experiment_text(results: str | Path, name: str) -> str:
    """The page of one experiment as Markdown.

    Raises:
        InputError: its reading quotes what no result gives.
    """
    results = Path(results)
    known = {record["experiment"]: record for record in _records(results)}
    reading = results / f"{name}.reading.md"
    text = fill_reading(reading.read_text(encoding="utf-8"), name, known) if reading.is_file() else ""
    return render(known[name], 1, "../figures/", text).rstrip() + "\n"


def departures_text(results: str | Path, template: str | Path) -> str:
    """The page on what differs between the paper, the released code and nodewise, its numbers filled in."""
    results = Path(results)
    records = {record["experiment"]: record for record in _records(results)}
    measured = results / "departures.json"
    if measured.is_file():
        records["departures"] = json.loads(measured.read_text(encoding="utf-8"))
    return fill_reading(Path(template).read_text(encoding="utf-8"), "departures", records)


def _records(results: Path) -> list[dict[str, Any]]:
    return [record for name in EXPERIMENTS if (record := _read(results / f"{name}.json")) is not None]


def _summary(records: Sequence[Record]) -> list[str]:
    """What agrees and what does not, counted; and what is not at full length."""
    cells, leads = compared_cells(records), lead_counts(records)
    lines: list[str] = []
    if cells:
        counted = (
            f"The paper prints {len(cells)} scores for graphs that were played with its features, Micro and Macro, each"
            f" counted once; {sum(cell.near for cell in cells)} of ours lie within two points."
        )
        lines += ["## Do the scores agree?", "", counted, "", to_markdown(agreement_table(records))]
        if any(not cell.near for cell in cells):
            lines += ["Farther than two points:", "", to_markdown(far_table(records))]
    if leads.rows:
        counted = (
            "Settings in which one is ahead beyond chance (paired t-test, Holm-corrected within the experiment's table,"
            " 5 %):"
        )
        lines += ["## Is GPA ahead of AGE?", "", counted, "", to_markdown(leads)]
    short = [line for record in records for line in _shortcomings(record)]
    absent = [
        f"- {name}: no result yet" for name in EXPERIMENTS if name not in {record["experiment"] for record in records}
    ]
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
        raise InputError(
            f"{str(path)!r} is not the result of an experiment of this version: run nodewise reproduce {path.stem}"
            " again"
        )
    return record


def _picture(record: Record, drawn: Path, target: Path) -> None:
    """Takes the picture that the experiment drew, or draws it again from the record.

    Without the graph that it shows the old one stays.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if drawn.is_file():
        shutil.copyfile(drawn, target)
        return
    try:
        draw_figure(record, target)
    except DownloadError:
        if not target.is_file():
            raise


def main(arguments: Sequence[str] | None = None) -> None:
    """The command of this module."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.reproduction_page", description="Make docs/reproduction from result files."
    )
    parser.add_argument("--results", default="benchmarks/results", help="folder of NAME.json files")
    parser.add_argument("--docs", type=Path, default="docs", help="folder of the documents")
    given = parser.parse_args(arguments)
    try:
        write_pages(given.results, given.docs)
        template = Path(given.results).parent / "departures.md"
        if template.is_file():
            (given.docs / "departures.md").write_text(departures_text(given.results, template), encoding="utf-8")
    except InputError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
