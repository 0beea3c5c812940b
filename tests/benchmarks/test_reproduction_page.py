"""The pages on the paper's experiments are what the result files give."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from benchmarks.reproduction_page import departures_text, experiment_text, index_text, main, write_pages
from nodewise.experiments.gpa import EXPERIMENTS
from nodewise.ground.errors import InputError

ROOT = Path(__file__).parents[2]
DOCS, RESULTS = ROOT / "docs", ROOT / "benchmarks" / "results"


def test_the_pages_are_what_the_result_files_give() -> None:
    folder = DOCS / "reproduction"
    texts = {name: experiment_text(RESULTS, name) for name in EXPERIMENTS} | {"index": index_text(RESULTS)}
    here = {page.stem: page.read_text(encoding="utf-8") for page in folder.glob("*.md")}
    assert here == texts, "docs/reproduction is old: run python -m benchmarks.reproduction_page"


def test_the_page_of_departures_is_what_its_template_gives() -> None:
    page = (DOCS / "departures.md").read_text(encoding="utf-8")
    assert page == departures_text(RESULTS, ROOT / "benchmarks" / "departures.md") and "{" not in page


def test_a_page_is_made_for_every_result(tmp_path: Path) -> None:
    results, docs = tmp_path / "results", tmp_path / "docs"
    results.mkdir()
    with pytest.raises(InputError, match="holds no result"):
        write_pages(results, docs)
    record = json.loads((RESULTS / "cross-domain.json").read_text(encoding="utf-8")) | {"runs": 3, "large_runs": 3}
    (results / "cross-domain.json").write_text(json.dumps(record), encoding="utf-8")
    shutil.copy(RESULTS / "budgets-cora.json", results)
    (results / "cross-domain.reading.md").write_text("A person says that this is a test.\n", encoding="utf-8")
    (docs / "reproduction").mkdir(parents=True)
    (docs / "reproduction" / "budgets.md").write_text("of a result that is gone", encoding="utf-8")
    main(["--results", str(results), "--docs", str(docs)])
    pages = {page.stem: page.read_text(encoding="utf-8") for page in (docs / "reproduction").glob("*.md")}
    assert set(pages) == {"index", "cross-domain", "budgets-cora"}
    for setting in record["parts"][0]["settings"]:
        for result in setting["results"]:
            assert f"{result['micro_f1']['mean']:.2f}" in pages["cross-domain"]
    assert "A person says that this is a test." in pages["cross-domain"]
    assert "## Do the scores agree?" in pages["index"] and "## Is GPA ahead of AGE?" in pages["index"]
    assert "- cross-domain: 3 runs in place of 100" in pages["index"] and "- budgets: no result yet" in pages["index"]
    assert "(budgets-cora.md)" in pages["index"] and "(../figures/budgets-cora.png)" in pages["budgets-cora"]
    assert (docs / "figures" / "budgets-cora.png").stat().st_size > 1000
    (results / "budgets.json").write_text('{"schema": 0}', encoding="utf-8")
    with pytest.raises(InputError, match="nodewise reproduce budgets again"):
        write_pages(results, docs)
