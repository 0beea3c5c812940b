"""Writes what was measured of the studio into docs/studio.md, between the two marks there, from the results of
studio_job.py, studio_latency.py, studio.py, studio_team.py and undeclared.py.

python benchmarks/studio_page.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from nodewise.ground.events import percent

RESULTS = Path(__file__).parent / "results"
PAGE = RESULTS.parent.parent / "docs" / "studio.md"
BEGIN, END = "<!-- measured: written by benchmarks/studio_page.py, do not edit -->", "<!-- measured: end -->"


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def where(record: dict[str, Any]) -> str:
    machine = record["machine"]
    return (
        f"{machine['cpu']}, {machine['cores']} cores, load {record['load'][0]} at the end, commit {machine['commit']}"
    )


def job(record: dict[str, Any]) -> list[str]:
    (row,) = record["rows"]
    step, shown, bulk, sizes = row["whole_step_s"], row["next_question_s"], row["bulk"], row["sizes_bytes"]
    cells = [
        ("session made of the table, until the first question", f"{row['first_question_s']:.1f} s"),
        (
            "from a key to the next question on the screen, median and 95th percentile",
            f"{1e3 * shown['p50']:.0f} and {1e3 * shown['p95']:.0f} ms",
        ),
        (
            "a whole step by keyboard, with the half second in which a double press is ignored",
            f"{step['p50']:.2f} and {step['p95']:.2f} s",
        ),
        (
            f"right in the export, of the {row['export']['rows']:,} rows that nobody labelled",
            f"{percent(row['export']['right'], 1)}",
        ),
        ("the map, from the key to the picture", f"{row['map_s']:.1f} s"),
        (
            "sure predictions reviewed and confirmed in the table",
            f"{bulk['rows_a_minute']} rows a minute ({bulk['left_out']} wrong ones left out)",
        ),
        (
            (
                f"right in the export after {bulk['confirmed']} rows in bulk, of the {bulk['export']['rows']:,} others;"
                " of the same rows before"
            ),
            f"{percent(bulk['export']['right'], 1)}; {percent(bulk['same_rows_before']['right'], 1)}",
        ),
        (
            f"the PyTorch export of a table of {sizes['table'] / 1e6:.2f} MB",
            f"{sizes['pt'] / 1e6:.1f} MB; {sizes['pt_with_dense_features'] / 1e6:.1f} MB with dense features",
        ),
    ]
    return [
        (
            f"{row['rows']:,} of Debian's package descriptions in {len(row['sections'])} sections, {row['labels']}"
            " labels through the page in Chromium, by somebody who knows every answer and needs no time to read"
            f" (`benchmarks/studio_job.py`; {where(record)}):"
        ),
        "",
        "| | |",
        "| --- | ---: |",
        *(f"| {what} | {figure} |" for what, figure in cells),
    ]


def load(record: dict[str, Any]) -> list[str]:
    (row,) = record["rows"]
    bulk = f", {row['bulk_answers']['times']} bulk answers among them" if "bulk_answers" in row else ""
    return [
        (
            f"{row['clients']} annotators who answer once a second for {row['during_s']:.0f} s on {row['graph']}, with"
            f" an open page{bulk}, the studio killed at the end (`benchmarks/studio.py`; {where(record)}):"
            f" {row['labels']:,} labels, {row['labels_lost']} lost, {row['errors']} errors; from a label to the next"
            f" question {row['p50_ms']:.0f} ms in the median, {row['p95_ms']:.0f} ms at the 95th percentile."
        ),
    ]


def latency(record: dict[str, Any]) -> list[str]:
    (row,) = record["rows"]

    def line(size: dict[str, Any]) -> str:
        shown, ready = size["key_to_question_ms"], size["key_to_ready_ms"]
        since = f" (commit {size['commit']})" if "commit" in size else ""  # measured by itself
        return (
            f"| {size['rows']:,}{since} | {size['first_question_s']:.1f} s | {shown['p50']:.0f} ms |"
            f" {shown['p95']:.0f} ms | {ready['p50'] / 1e3:.2f} and {ready['p95'] / 1e3:.2f} s |"
        )

    labels = ", ".join(str(number) for number in dict.fromkeys(size["labels"] for size in row["sizes"]))
    return [
        (
            f"From a key to the next question on the screen, with few and with many rows: drawn texts of ten topics,"
            f" {labels} labels each, in Chromium (`benchmarks/studio_latency.py`; {where(record)}). A whole step holds"
            " the half second in which a double press is ignored:"
        ),
        "",
        (
            "| rows | opened until the first question | median | 95th percentile | whole step, median and"
            " 95th percentile |"
        ),
        "| ---: | ---: | ---: | ---: | ---: |",
        *map(line, row["sizes"]),
    ]


def undeclared(record: dict[str, Any]) -> list[str]:
    (row,) = record["rows"]
    (saved, saved_ci), (lost, lost_ci) = row["saved"], row["lost"]
    return [
        (
            f"A class that nobody declared, in {2 * row['seeds']} jobs of {row['rows']} drawn texts, with"
            f" `look_for_classes=10` and without (`benchmarks/undeclared.py`; {where(record)}): its first row is asked"
            f" {abs(saved):.1f} ± {saved_ci:.1f} questions {'sooner' if saved > 0 else 'later'}, and after"
            f" {row['questions']} questions {abs(lost):.2f} ± {lost_ci:.2f} points"
            f" {'fewer' if lost > 0 else 'more'} of the other rows are predicted right: no gain that can be told from"
            " chance, so no job looks for one unless told so."
        ),
    ]


def team(record: dict[str, Any]) -> list[str]:
    (row,) = record["rows"]
    bulk = f"{row['bulk']:,} of them for five rows at once, " if "bulk" in row else ""
    return [
        (
            f"{row['people']} annotators with links of their own, an owner who gave {row['assigned']:,}"
            " rows to people and"
            f" freed {row['released']:,}, and {row['kills']} kills of the studio (`benchmarks/studio_team.py`;"
            f" {where(record)}): {row['answers']:,} answers acknowledged, {bulk}{row['taken_back']:,} taken back,"
            f" {len(row['lost'])} lost; {len(row['seen'])} times somebody saw what they should not."
        ),
    ]


def main() -> None:
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    results = [
        (job, "studio-job"),
        (latency, "studio-latency"),
        (load, "studio-load"),
        (team, "studio-team"),
        (undeclared, "undeclared"),
    ]
    written = [part(read(name)) for part, name in results if (RESULTS / f"{name}.json").exists()]
    parts = "\n\n".join("\n".join(lines) for lines in written)
    PAGE.write_text(f"{before}{BEGIN}\n\n{parts}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
