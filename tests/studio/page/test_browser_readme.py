"""What made people stumble who had read the README alone: a CSV, an Excel file, tables of a folder, a notebook."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import nodewise as nw
from tests.studio.browsing import ROOT, Server, expect, make, notes, visit, write_csv

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow
CUT = "element => element.scrollWidth - element.clientWidth"
"""How many pixels of a text are not shown."""


def plain(count: int = 60) -> list[dict[str, str]]:
    """Rows as people have them: a number, a text."""
    return [{"Paper no": str(100 + number), "Abstract": row["text"]} for number, row in enumerate(notes(count))]


def test_the_form_for_a_table_speaks_of_rows_and_never_of_nodes(
    browser: Browser, server: Server, tmp_path: Path
) -> None:
    table = write_csv(tmp_path / "papers.csv", plain())
    with visit(browser, f"{server.address}/new") as seen:
        seen.page.set_input_files("#nodes-file", table)
        form = seen.page.locator("form.creation")
        form.wait_for()
        expect(form).to_contain_text("drawn at random")
        form.locator("details.more summary").click()
        expect(form).to_contain_text("Seed")
        shown = form.inner_text()
        assert not re.search(r"\bnodes?\b", shown), shown


def test_several_tables_chosen_together_are_one_job(browser: Browser, server: Server, tmp_path: Path) -> None:
    rows = plain()
    first = write_csv(tmp_path / "january.csv", rows[:40])
    turned = [{"Abstract": row["Abstract"], "Paper no": row["Paper no"]} for row in rows[40:]]
    second = write_csv(tmp_path / "february.csv", turned)
    other = write_csv(tmp_path / "march.csv", [{"Title": "a", "Year": "1999"}] * 9)
    with visit(browser, f"{server.address}/new", allowed=["400"]) as seen:
        page = seen.page
        page.set_input_files("#nodes-file", [first, other])
        trouble = page.get_by_text("tables are put together where they have the same columns")
        trouble.wait_for()
        expect(trouble).to_contain_text("march.csv has the columns Title, Year")
        page.set_input_files("#nodes-file", [first, second])
        page.locator(".file-name", has_text="60 rows, 2 columns").wait_for()
        page.fill("#classes", "thing, plant")
        page.fill("#name", "papers")
        page.locator("#create").click()
        page.wait_for_url("**/s/papers")
        seen.label("1")
        status = server.get("/status?session=papers")
        assert status["nodes"] == 60 and status["told"] + status["audit"]["labelled"] == 1
        # by their names: february comes before january
        assert server.get("/nodes/0?session=papers")["name"] == "140"
        assert server.get("/nodes/20?session=papers")["name"] == "100"


def test_nothing_in_the_head_of_the_page_is_cut_on_a_small_laptop(browser: Browser, server: Server) -> None:
    make(server, "my abstracts", notes(), classes="thing, reinforcement learning", audit=10, budget=50)
    with visit(browser, f"{server.address}/s/my abstracts") as seen:
        page = seen.page
        seen.ready()
        expect(page.locator("#budget .words")).to_contain_text("of 50 labels · audit 0/10")
        for part in ("#job", "#budget .words", "#name-button .tool-name", "#choices .class .name"):
            for each in page.locator(part).all():
                assert each.evaluate(CUT) <= 0, each.inner_text()
        room = page.locator("#search-field").evaluate("field => field.clientWidth - 45")
        words = page.locator("#search-field").evaluate(
            "field => { const pen = document.createElement('canvas').getContext('2d');"
            " pen.font = getComputedStyle(field).font; return pen.measureText(field.placeholder).width; }"
        )
        assert words <= room


def test_classes_are_counted_by_letters_and_a_slip_is_told_in_plain_words(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="class a, database")
    with visit(browser, f"{server.address}/s/job", allowed=["409"]) as seen:
        page = seen.page
        seen.ready()
        page.keyboard.press("n")
        page.fill("#class-name", "class b")
        page.keyboard.press("Enter")
        page.locator("#choices button[data-label='class b']").wait_for()
        page.evaluate("() => document.activeElement.blur()")
        page.keyboard.press("n")
        page.fill("#class-name", "databse")
        page.keyboard.press("Enter")
        told = page.locator("#telling", has_text="looks like the class 'database' misspelt")
        told.wait_for()
        assert "new_class" not in told.inner_text()


def test_the_full_export_calls_every_column_as_the_file_did(browser: Browser, server: Server, tmp_path: Path) -> None:
    rows = [{**row, "Reader": "ann"} for row in plain()]
    table = write_csv(tmp_path / "papers.csv", rows)
    with visit(browser, f"{server.address}/new") as seen:
        page = seen.page
        page.set_input_files("#nodes-file", table)
        page.locator("#create").click()
        page.wait_for_url("**/s/papers")
        seen.ready()
        page.keyboard.press("e")
        with page.expect_download() as saved:
            page.locator("[data-export='full csv']").first.click()
        saved.value.save_as(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(encoding="utf-8-sig", newline="") as file:
        out = list(csv.DictReader(file))
    assert [{name: row[name] for name in rows[0]} for row in out] == rows


def test_the_report_in_the_page_speaks_of_rows(browser: Browser, server: Server) -> None:
    make(server, "job", notes(), classes="thing, plant", audit=12, budget=12)
    for _ in range(24):
        for query in server.post("/ask", session="job", annotator="me")["queries"]:
            label = "plant" if query["node"] % 2 else "thing"
            server.post("/tell", session="job", annotator="me", labels=[{"node": query["node"], "label": label}])
    with visit(browser, f"{server.address}/s/job", allowed=["409"]) as seen:
        page = seen.page
        page.get_by_role("heading", name="The budget is spent").wait_for()
        words = page.locator(".closing .reasons")
        expect(words).to_contain_text("12 rows drawn at random")
        assert not re.search(r"\bnodes?\b", page.locator("body").inner_text())


def test_a_frame_of_a_notebook_is_labelled_in_the_page_and_known_in_the_cell(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pandas = pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    frame = pandas.DataFrame({"body": [row["text"] for row in notes()]})
    with nw.open_studio(frame, text="body", classes=["thing", "plant"], browser=False) as session:
        with visit(browser, session.address) as seen:
            seen.label("2")
        assert list(session.labels.values()) == ["plant"]
        session.export("labels.csv")
    assert (tmp_path / "labels.csv").read_text(encoding="utf-8").startswith("node,")


def test_a_folder_of_tables_becomes_a_job_in_a_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "months").mkdir()
    for month, rows in (("1 january", plain()[:20]), ("2 february", plain()[20:])):
        write_csv(tmp_path / "months" / f"{month}.csv", rows)
    with nw.open_studio(tmp_path / "months", text="Abstract", browser=False) as session:
        assert session.path.name == "months.nodewise" and session.graph.num_nodes == 60
        assert "stands in the room" in str(session.graph.attributes["text"][0])
    write_csv(tmp_path / "months" / "3 march.csv", [{"Title": "a"}] * 3)
    with pytest.raises(nw.NodewiseError, match="3 march.csv has the columns Title"):
        nw.open_studio(tmp_path / "months", "other.nodewise", text="Abstract", browser=False)


def test_the_readme_names_every_way_in() -> None:
    said = (ROOT / "README.md").read_text(encoding="utf-8")
    begin = said.index("## Label your own data")
    part = said[begin : said.index("\n## ", begin + 5)]
    for way in ("CSV", "Excel", "nw.open_studio(", "nodewise studio"):
        assert way in part, way
